"""What AMD's rocprof and rocprofv3 write: CSV of the kernels that GPUs ran."""
