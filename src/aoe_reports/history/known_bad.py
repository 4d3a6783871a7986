"""Nights of a baseline that are known to be worse: who compares with them is told, or a regression becomes what is usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aoe_reports.history.baselines import JudgedSeries, Level, LevelShift
from aoe_reports.history.rules import BASELINE_KNOWN_BAD
from aoe_reports.model.changes import SeriesChange
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

Span = tuple[str, str | None]
"""The first night, and the night after the last one; None: up to now."""


def bad_spans(shifts: Sequence[LevelShift], least_effect: float) -> list[Span]:
    """When a series was worse than before: from a slow-down, accepted or not, until the level before it is reached again."""
    found: list[Span] = []
    since, good = None, 0.0
    for shift in shifts:
        if since is None and shift.slower:
            since, good = shift.since, shift.before
        elif since is not None and not shift.slower and shift.after <= good * (1 + least_effect):
            found.append((since, shift.since))
            since = None
    return found if since is None else [*found, (since, None)]


def known_bad(nights: Iterable[str], spans: Sequence[Span]) -> list[str]:
    """Those of some nights that are known to be worse."""
    return [
        night for night in nights if any(night >= since and (until is None or night < until) for since, until in spans)
    ]


def nights_of_level(course: JudgedSeries, shifts: Sequence[LevelShift], level: Level) -> list[str]:
    """The nights of the level before a change: those since the change before it."""
    until = level.until or ""
    since = max((shift.since for shift in shifts if shift.since < until), default="")
    return course.measured(course.place(since), course.place(until))


def measured(course: JudgedSeries, nights: Iterable[str]) -> list[str]:
    """Those of some nights that have a time."""
    known = set(course.measured(0, len(course.nights)))
    return [night for night in nights if night in known]


def known_bad_baselines(rows: Iterable[SeriesChange], baseline: str) -> Iterator[Finding]:
    """That baselines have such nights; of the series of one workload together."""
    found: dict[str, list[SeriesChange]] = {}
    for row in rows:
        if row.baseline is not None and row.baseline.known_bad:
            found.setdefault(row.workload, []).append(row)
    for workload, mine in found.items():
        nights = sorted({night for row in mine if row.baseline is not None for night in row.baseline.known_bad})
        message = say(
            "the baseline ({baseline}) of {count} series has nights that are known to be worse, {first} to {last}: a comparison "
            "with it may hide a regression",
            baseline=baseline,
            count=len(mine),
            first=nights[0],
            last=nights[-1],
        )
        yield BASELINE_KNOWN_BAD.found(workload, message)
