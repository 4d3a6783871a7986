"""Results of benchmark programs as records of the benchmark log (schema v0.1): one small module for each form."""
