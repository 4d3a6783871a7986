"""The folders of `msprof op`."""

FOLDER = "OPPROF_"
"""What the name of a folder begins with in which one kernel, or several, were measured."""
RAW_FOLDERS = frozenset({"dump", "simulator"})
"""What such a folder has beside tables: raw data, and what a simulator made up."""
