"""What msprof and the Ascend Optimization Engine leave behind: read, checked, stored, compared."""

__version__ = "0.1.0"
