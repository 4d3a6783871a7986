"""Whole jobs that go through several rooms: nightly, the night report, verify, demo."""
