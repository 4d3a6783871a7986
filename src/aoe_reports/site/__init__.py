"""The static dashboard: page models from plain data, charts, templates, and their words. It touches no store and no disk."""

from __future__ import annotations

FORMAT = 1
"""Of the folder: goes up when pages of an older version cannot stay beside newer ones."""
