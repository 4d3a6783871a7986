"""Has anything got slower? Each night of a series against the median of its previous nights.

Simple on purpose and stated in every report: a night is out of line when it is further from the median of up to
WINDOW previous nights that were in line than THRESHOLD of it and than SIGMAS robust standard deviations. Runs of one
date are one value (their median), so a re-run of tonight is never its own baseline. A spell of WINDOW nights out of
line is the new normal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import polars as pl

from aoe_reports.analysis.statistics import robust_sigma

State = Literal["confirmed", "improved", "recovered"]

WINDOW = 30
LEAST_NIGHTS = 3
THRESHOLD = 0.05
SIGMAS = 4.0


@dataclass(frozen=True, slots=True)
class Series:
    """The history of one measured time: what it is, and one value (ms) a night in the order of nights."""

    series_id: str
    facts: Mapping[str, Any]
    nights: tuple[str, ...]
    values_ms: tuple[float, ...]
    runs: tuple[str, ...]
    """The newest run of each night."""
    totals_ms: tuple[float, ...]
    """What the calls of one night took together: how much of a step the series is."""


@dataclass(frozen=True, slots=True)
class Change:
    """A series that is out of line in its newest night, or was and is not any more; times in ms."""

    series: Series
    state: State
    since: str
    since_run: str
    before_ms: float
    after_ms: float
    impact_ms: float
    """How much longer all calls of a night take together, against before."""

    @property
    def change(self) -> float:
        """`after / before - 1`: above 0 is slower."""
        return self.after_ms / self.before_ms - 1


FACTS = ("workload", "model", "scope", "op_type", "op_name", "hardware", "source", "rank_id", "device_id")


def series_of(records: pl.DataFrame) -> list[Series]:
    """Records (series_id, night, run_id, timestamp_ns, runtime_ms_mean, total_ms, FACTS) as series, in a stable order."""
    ordered = records.sort("series_id", "night", "timestamp_ns", "run_id")
    nights = ordered.group_by("series_id", "night", maintain_order=True).agg(
        pl.col("runtime_ms_mean").median(), pl.col("total_ms").fill_null(0.0).median(), pl.col("run_id", *FACTS).last()
    )
    columns = ("night", "runtime_ms_mean", "run_id", "total_ms")
    series = nights.group_by("series_id", maintain_order=True).agg(pl.col(*columns), pl.col(*FACTS).last())
    return [
        Series(
            row["series_id"],
            {name: row[name] for name in FACTS},
            *(tuple(row[name]) for name in columns),
        )
        for row in series.sort("workload", "series_id").iter_rows(named=True)
    ]


def find_changes(series: Sequence[Series], tonight: Collection[str]) -> list[Change]:
    """Changes of the series that have a night in `tonight`; the largest impact first."""
    found = [change for one in series if (change := find_change(one, tonight)) is not None]
    order = {"confirmed": 0, "improved": 1, "recovered": 2}
    return sorted(found, key=lambda c: (order[c.state], -abs(c.impact_ms), str(c.series.facts.get("workload"))))


def find_change(series: Series, tonight: Collection[str]) -> Change | None:
    """The change that one series shows up to its newest night in `tonight`; None for none."""
    last = max((i for i, night in enumerate(series.nights) if night in tonight), default=None)
    if last is None:
        return None
    sides = _sides(series.values_ms[: last + 1])
    now = sides[last][0]
    if now == 0:
        return _recovered(series, sides, last, tonight)
    since = last
    while since > 0 and sides[since - 1][0] == now:
        since -= 1
    state: State = "confirmed" if now > 0 else "improved"
    return _change(series, state, sides, since, last)


def _recovered(
    series: Series, sides: Sequence[tuple[int, float]], last: int, tonight: Collection[str]
) -> Change | None:
    """A slow spell that ended within `tonight`."""
    ended = next((i for i in range(last, -1, -1) if sides[i][0] > 0), None)
    if ended is None or series.nights[ended] not in tonight:
        return None
    since = ended
    while since > 0 and sides[since - 1][0] > 0:
        since -= 1
    return _change(series, "recovered", sides, since, ended)


def _change(series: Series, state: State, sides: Sequence[tuple[int, float]], since: int, last: int) -> Change:
    before = sides[since][1]
    after = median(series.values_ms[since : last + 1])
    impact = series.totals_ms[last] * (1 - before / after) if after else 0.0
    return Change(series, state, series.nights[since], series.runs[since], before, after, impact)


def _sides(values: Sequence[float]) -> list[tuple[int, float]]:
    """For each night its side (1 slower than its baseline, -1 quicker, 0 neither or too short) and that baseline."""
    sides: list[tuple[int, float]] = []
    baseline: list[float] = []
    spell: list[float] = []
    for value in values:
        side = _side(value, baseline[-WINDOW:])
        sides.append((side, median(baseline[-WINDOW:]) if baseline else value))
        if side == 0:
            baseline.append(value)
            spell = []
        else:
            spell.append(value)
            if len(spell) >= WINDOW:
                baseline, spell = spell, []
    return sides


def _side(value: float, baseline: Sequence[float]) -> int:
    if len(baseline) < LEAST_NIGHTS:
        return 0
    middle = median(baseline)
    limit = max(THRESHOLD * middle, SIGMAS * robust_sigma(baseline))
    return (value - middle > limit) - (value - middle < -limit)
