"""The folders of `msprof op`."""

FOLDER = "OPPROF_"
"""What the name of a folder begins with in which one kernel, or several, were measured."""
SIMULATOR = "simulator"
"""The folder of what a simulator made up: traces and instructions of each core. Nothing in it was measured."""
RAW_FOLDERS = frozenset({"dump", SIMULATOR})
"""What such a folder has beside tables: raw data, and what a simulator made up."""
