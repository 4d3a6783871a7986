"""What can be asked of captures: one module a question."""
