"""Tables and results as benchmark log records."""
