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
    """Records (series_id, night, run_id, timestamp_ns, runtime_ms_mean, total_ns, FACTS) as series, in a stable order."""
    ordered = records.sort("series_id", "night", "timestamp_ns", "run_id")
    nights = ordered.group_by("series_id", "night", maintain_order=True).agg(
        pl.col("runtime_ms_mean").median(),
        pl.coalesce(pl.col("total_ns") / 1e6, pl.col("runtime_ms_mean")).median().alias("total_ms"),
        pl.col("run_id", *FACTS).last(),
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
    judged = _judged(series.values_ms[: last + 1])
    now = judged[last].side
    if now == 0:
        return _recovered(series, judged, last, tonight)
    state: State = "confirmed" if now > 0 else "improved"
    return _change(series, state, judged, _began(judged, last), last)


def _recovered(series: Series, judged: Sequence[_Judged], last: int, tonight: Collection[str]) -> Change | None:
    """A slow spell that ended within `tonight`, back at the old level."""
    ended = next((i for i in range(last, -1, -1) if judged[i].side > 0), None)
    if ended is None or judged[ended].new_normal or series.nights[ended] not in tonight:
        return None
    return _change(series, "recovered", judged, _began(judged, ended), ended)


def _began(judged: Sequence[_Judged], night: int) -> int:
    """The first night of the spell that a night belongs to."""
    while night > 0 and judged[night - 1].side == judged[night].side and not judged[night - 1].new_normal:
        night -= 1
    return night


def _change(series: Series, state: State, judged: Sequence[_Judged], since: int, last: int) -> Change:
    before = judged[since].baseline
    after = median(series.values_ms[since : last + 1])
    impact = series.totals_ms[last] * (1 - before / after) if after else 0.0
    return Change(series, state, series.nights[since], series.runs[since], before, after, impact)


@dataclass(frozen=True, slots=True)
class _Judged:
    """One night held against its baseline."""

    side: int
    """1 slower, -1 quicker, 0 neither (or too short a baseline)."""
    baseline: float
    new_normal: bool = False
    """Whether the spell has lasted so long that it is the baseline from here on."""


def _judged(values: Sequence[float]) -> list[_Judged]:
    judged: list[_Judged] = []
    baseline: list[float] = []
    spell: list[float] = []
    for value in values:
        side = _side(value, baseline[-WINDOW:])
        if side == 0 or (judged and judged[-1].side != side):
            spell = []
        middle = median(baseline[-WINDOW:]) if baseline else value
        if side == 0:
            baseline.append(value)
        else:
            spell.append(value)
        new_normal = len(spell) >= WINDOW
        if new_normal:
            baseline, spell = spell, []
        judged.append(_Judged(side, middle, new_normal))
    return judged


def _side(value: float, baseline: Sequence[float]) -> int:
    if len(baseline) < LEAST_NIGHTS:
        return 0
    middle = median(baseline)
    if middle <= 0:
        return 0
    limit = max(THRESHOLD * middle, SIGMAS * robust_sigma(baseline))
    return (value - middle > limit) - (value - middle < -limit)
