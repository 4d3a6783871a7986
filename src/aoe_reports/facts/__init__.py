"""Facts of a capture: arrays in, dataclasses out; no files."""
