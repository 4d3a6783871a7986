"""A baseline that somebody chose: a run, a named run, some dates, the nights before the newest. Is the newest level slower?"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from aoe_reports.history.detection.noise import FREEDOM
from aoe_reports.history.detection.verdicts import State
from aoe_reports.history.series.baselines import JudgedSeries, Level, interval
from aoe_reports.model.texts import say

Kind = Literal["segment", "run", "tag", "window", "nights"]
_TEXT = re.compile(r"(?P<kind>run|tag|window|nights):(?P<value>.+)", re.DOTALL)
EXPECTED = say("segment, run:RUN_ID, tag:NAME, window:YYYY-MM-DD..YYYY-MM-DD or nights:N")
MAX_NIGHTS = 10_000


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the newest level is held against."""

    kind: Kind = "segment"
    value: str = ""
    first: str = ""
    last: str = ""
    """Of a window: its first and its last night."""
    nights: int = 0

    def __str__(self) -> str:
        """As it is written on the command line."""
        return f"{self.kind}:{self.value}" if self.value else self.kind


def parse_baseline(text: str) -> Baseline:
    """The baseline that a text says; ValueError says what is wrong with it."""
    if text == "segment":
        return Baseline()
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(say("{text!r}: expected {expected}", text=text, expected=EXPECTED))
    kind, value = found["kind"], found["value"]
    if kind == "nights":
        if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= MAX_NIGHTS:
            raise ValueError(say("{text!r}: expected a number of nights, 1 to {most}", text=text, most=MAX_NIGHTS))
        return Baseline("nights", value, nights=int(value))
    if kind == "window":
        first, _, last = value.partition("..")
        if not (is_date(first) and is_date(last)) or first > last:
            raise ValueError(
                say("{text!r}: expected two dates, the earlier one first: window:2026-01-01..2026-01-31", text=text)
            )
        return Baseline("window", value, first, last)
    return Baseline("run" if kind == "run" else "tag", value)


def is_date(text: str) -> bool:
    """Whether a text is a date such as 2026-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The newest level held against a chosen baseline; without a `baseline` the series has none, or no newer level."""

    baseline: Level | None
    newest: Level | None = None
    since: str | None = None
    """The first night of the newest level."""
    state: State | None = None
    ci_low: float | None = None
    ci_high: float | None = None

    @property
    def before(self) -> float | None:
        """The cost of the baseline."""
        return None if self.baseline is None else self.baseline.cost

    @property
    def after(self) -> float | None:
        """The cost of the newest level."""
        return None if self.newest is None else self.newest.cost

    @property
    def change(self) -> float | None:
        """`after / before - 1`."""
        return None if self.before is None or self.after is None else self.after / self.before - 1


def hold_against(course: JudgedSeries, nights: Collection[str], *, newest: int | None = None) -> BaselineComparison:
    """The newest level of a series, behind the nights of the baseline, against theirs.

    The newest level is that since the last change (`newest`: so many nights), of at least three nights. The threshold is
    that of the search for changes: to look at one place only can raise no more alarms than to look at all of them.
    """
    scatter, parameters = course.scatter, course.parameters
    places = sorted(course.place(night) for night in nights if night in course.nights)
    chosen = [place for place in places if course.count(place, place + 1)]
    if not chosen or course.verdict.reason is not None:
        return BaselineComparison(None)
    base = np.concatenate([course.logs(place, place + 1) for place in chosen])
    steps = [] if newest is not None else [change.steps[-1] for change in course.verdict.changes if change.steps]
    start = max([chosen[-1] + 1, *steps])
    logs = course.logs(start, len(course.nights))
    before = Level(math.exp(scatter.level(base)), len(base), course.nights[chosen[-1]])
    if len(logs) < parameters.least_level:
        return BaselineComparison(before)
    after = Level(math.exp(scatter.level(logs)), len(logs))
    times = np.isfinite(course.costs[start:]) & (course.costs[start:] > 0)
    since = course.nights[start + int(times.argmax())]
    return BaselineComparison(before, after, since, _state(course, before, after), *interval(before, after, scatter))


def _state(course: JudgedSeries, before: Level, after: Level) -> State | None:
    verdict, parameters = course.verdict, course.parameters
    step = math.log(after.cost / before.cost)
    freedom = FREEDOM * max(verdict.nights - len(verdict.changes) - 1, 1)
    square = (step / course.scatter.error(before.nights, after.nights)) ** 2
    proof = freedom * math.log1p(square / freedom)
    certain = max((verdict.memory or 0.0) - 1 / math.sqrt(verdict.nights), 0.0)
    if proof < parameters.budget.threshold(certain) or abs(math.expm1(step)) < parameters.least_effect:
        return None
    return "confirmed" if step > 0 else "improved"
