"""Statistics, one of each: grouping, comparison, noise, change points, alarm budget; arrays in, dataclasses out."""
