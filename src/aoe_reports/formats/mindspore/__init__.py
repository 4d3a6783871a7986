"""MindSpore's own profiler, as it wrote for MindInsight before it exported through msprof."""
