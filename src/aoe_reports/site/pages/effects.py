"""Changes by what they do to their step: their colour and their order."""

from __future__ import annotations

from typing import Any

from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.reports.incidents import matters

MINOR = "minor"
"""The look of what is too small to matter."""


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
