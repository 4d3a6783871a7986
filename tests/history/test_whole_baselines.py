"""What becomes of the changes of a series while nights go by and people accept or announce some, whole: every number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_series import Values, gauss, stepped
from whole_texts import assert_recorded

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.history.series.baselines import (
    Acceptance,
    ActiveChange,
    Expectation,
    JudgedSeries,
    LevelShift,
    Scatter,
    find_active,
    limit_of,
)
from aoe_reports.history.series.pinned import hold_against

EXPECTED = Path(__file__).with_name("whole_baselines")
NIGHTS = [(date(2026, 1, 1) + timedelta(days=index)).isoformat() for index in range(120)]
PARAMETERS = Parameters()
COURSES: dict[str, Values] = {
    "slower": stepped(gauss(1, 60, 0.004), (30, 0.05)),
    "slower twice": stepped(gauss(2, 70, 0.004), (25, 0.03), (45, 0.04)),
    "slower and back": stepped(gauss(3, 70, 0.004), (25, 0.05), (45, -0.0476)),
    "slower, half of it back": stepped(gauss(4, 70, 0.004), (25, 0.06), (45, -0.03)),
    "slower, and quicker than before": stepped(gauss(5, 70, 0.004), (25, 0.04), (45, -0.08), (58, 0.02)),
    "quicker": stepped(gauss(6, 50, 0.004), (30, -0.05)),
    "quicker, then slower": stepped(gauss(7, 70, 0.004), (25, -0.05), (45, 0.04)),
    "drift": [value * (1 + 0.002 * max(night - 20, 0)) for night, value in enumerate(gauss(8, 80, 0.004))],
    "a spell": stepped(gauss(9, 60, 0.004), (30, 0.05), (34, -0.0476)),
    "noisy": stepped(gauss(10, 90, 0.02, 0.4), (45, 0.05)),
    "few": stepped(gauss(11, 8, 0.004), (4, 0.05)),
    "gaps": [float("nan") if night % 4 == 1 else value for night, value in enumerate(stepped(gauss(12, 80, 0.004), (40, 0.03)))],
    "stairs": stepped(gauss(13, 110, 0.004), *((at, 0.02) for at in (20, 35, 50, 65, 80, 95))),
}  # fmt: skip


def course(values: Values, first: int = 0) -> JudgedSeries:
    """Some nights as the detector sees them, from a first one on."""
    nights = np.array(values[first:])
    (verdict,) = detect_changes(nights, PARAMETERS)
    runs = [f"r{place}" for place in range(first, len(values))]
    scatter = Scatter.of(verdict, PARAMETERS)
    return JudgedSeries(NIGHTS[first : len(values)], nights, verdict, scatter, runs, PARAMETERS)


def words(value: Any) -> str:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return "{" + " ".join(f"{name}={words(one)}" for name, one in value.items() if one not in (None, (), "")) + "}"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def lines(at: str, active: ActiveChange) -> Iterator[str]:
    levels = [words(one) for one in (active.before, active.after, active.change, active.ci_low, active.ci_high)]
    since = [one.since for one in active.shifts]
    yield f"{at}: {active.state} open={active.open} {' '.join(levels)} since {since} | baseline {words(active.baseline)}"
    if active.accepted is not None:
        yield f"  accepted: {words(active.accepted)}"
    for kind in ("every", "withdrawn"):
        yield from (f"  {kind}: {words(one)}" for one in getattr(active, kind))


def kept(active: ActiveChange, found: str, before: Sequence[LevelShift]) -> list[LevelShift]:
    """What a store has after a night: what was told before, and the new changes under their incidents."""
    new = [replace(one, found=found, incident=f"i-{one.since}") for one in active.every if one.found is None]
    return [*before, *new]


def history_of(values: Values) -> Iterator[str]:
    """Night by night with a memory; the first slow-down is accepted after ten nights, another one was announced."""
    stored: list[LevelShift] = []
    accepted: list[Acceptance] = []
    announced = [Expectation(NIGHTS[44], NIGHTS[47], 0.02, 0.06, "e1", "you", "2026-02-01", "larger")]
    for count in range(5, len(values) + 1, 5):
        night = NIGHTS[count - 1]
        found = course(values[:count], max(count - 60, 0))
        yield from lines(f"{night}, with memory", active := find_active(found, stored, accepted))
        yield from (
            lines(f"{night}, announced", find_active(found, stored, accepted, announced)) if count % 3 == 0 else ()
        )
        stored = kept(active, night, stored)
        if active.open and not accepted and active.shifts[-1].since <= NIGHTS[max(count - 10, 0)]:
            accepted = [Acceptance(active.shifts[-1].since, limit_of(active), "a1", "me", "2026-02-01", "known")]
            yield f"  now accepted: {words(accepted[0])}"


def held_of(values: Values) -> Iterator[str]:
    """Its newest level against baselines that somebody chose."""
    found = course(values)
    for name, nights in (
        ("one night", NIGHTS[9:10]), ("a week", NIGHTS[3:10]), ("late", NIGHTS[40:47]), ("nights of others", NIGHTS[110:]),
        ("nearly all", NIGHTS[: len(values) - 2]),
    ):  # fmt: skip
        yield f"{name}: {words(hold_against(found, nights))}"
        yield f"{name}, the newest five: {words(hold_against(found, nights, newest=5))}"


@pytest.mark.parametrize("name", COURSES)
def test_what_becomes_of_changes_is_this(name: str) -> None:
    values = COURSES[name]
    every = [*lines("at once", find_active(course(values))), *history_of(values), *held_of(values)]
    assert_recorded(EXPECTED, {name.replace(", ", "-").replace(" ", "-"): "\n".join(every) + "\n"})
