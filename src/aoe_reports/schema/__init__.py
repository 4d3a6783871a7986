"""The tables of a capture database: the one home of their names, types, units, keys and comments."""
