"""The benchmark log record, schema v0.1: shape, payloads, files."""
