"""What msServiceProfiler tells of a service (MindIE, vLLM-Ascend, SGLang): its requests and batches."""
