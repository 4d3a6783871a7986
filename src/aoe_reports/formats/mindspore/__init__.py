"""MindSpore's own profiler of before 2.3: what MindInsight shows."""
