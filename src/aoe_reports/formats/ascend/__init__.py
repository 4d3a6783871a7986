"""Whose files these are: names, captures and tables of the Ascend profilers."""
