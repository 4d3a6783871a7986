"""What could be gained in a profile: rules over plain facts, each with a reason, a source, and a bound on the gain."""
