"""Captures and results as runs of records."""
