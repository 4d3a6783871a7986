"""Engine for JSON documents."""
