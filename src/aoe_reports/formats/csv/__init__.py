"""Engine for CSV: bytes to typed tables."""
