"""What a change does to its step: how it is worded, and whether it is large enough to be coloured."""

from __future__ import annotations

from typing import Any

from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.reports.incidents import matters

SMALLEST = 0.0001
"""Shares below have no digits that anybody reads."""
MINOR = "minor"
"""The look of what is too small to matter."""


def share_words(share: float | None) -> str:
    """A signed share with two significant digits; empty for none."""
    if share is None:
        return ""
    if abs(share) < SMALLEST:
        return f"< {SMALLEST:.2%}"
    exponent = int(f"{100 * share:.1e}".partition("e")[2])  # as rounded: 0.0999 has that of 0.1
    return f"{100 * share:+,.{max(0, 1 - exponent)}f}%"


def look_of(row: SeriesChange) -> str:
    """The class of the colour of a change: worse, better, or too small to matter; empty where nothing changed."""
    if row.change is None:
        return ""
    if not matters(row):
        return MINOR
    return "slower-word" if loss(row.change, row.better) > 0 else "quicker-word"


def by_effect_on_step(row: SeriesChange) -> tuple[Any, ...]:
    """Sort key: what changed first, of that what matters, of that the largest effect on the step; an unknown one after known ones."""
    return row.state is None, not matters(row), row.step_share is None, -abs(row.step_share or 0.0)
