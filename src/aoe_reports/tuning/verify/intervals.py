"""Where the change of an operator lies: the bootstrap over steps, and the noise between two captures that widens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from aoe_reports.model.arrays.columns import Ints, integers
from aoe_reports.model.rows import column, row
from aoe_reports.stats.bootstrap import MIN_VALUES, means_drawn, student_quantile, times_drawn, widened_percentiles
from aoe_reports.stats.grouping import sorted_within
from aoe_reports.stats.sample import MAD_TO_SIGMA
from aoe_reports.tuning.verify.sides import Both

LEVEL = 0.99
"""Of the intervals. A tuning job changes dozens of operators: at 0.95 one in twenty would get a wrong verdict by chance."""
RESAMPLES = 2000
MIN_CONTROLS = 5
"""With fewer untouched operators next to nothing is known of how far two captures are apart."""
MAX_CONTROLS = 200
"""The untouched operators with the longest time; short ones vary by more, and weigh nothing."""
LARGE_DRIFT = 0.03
"""From here on untouched operators say that the machine was another one: clock, load, temperature."""
_MAX_CALLS = 60
"""From here on the means of resamples are as good as normally distributed."""
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

Blocks = Literal["steps", "captures", "calls"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a change (after/before - 1) lies, at LEVEL, and what was resampled; null: the noise alone."""

    low: float
    high: float
    blocks: Blocks | None


@row
class Noise:
    """What untouched operators changed by between the two profiles."""

    controls: int = column()
    drift: float | None = column(default=None)
    """Their median change, weighted by time; null with fewer than MIN_CONTROLS."""
    spread: float | None = column(default=None)
    """Robust standard deviation of their changes around the drift."""

    @property
    def of_operators(self) -> float:
        """How far an operator that nobody touched may seem to have changed (one standard deviation)."""
        return float(np.hypot(self.drift or 0.0, self.spread or 0.0))

    def reach(self, deviation: float | None) -> float | None:
        """How far, at LEVEL, noise of this standard deviation may reach: a spread that few controls tell may well be larger.

        A median of deviations tells about as much as half as many values would by their standard deviation (measured: 5 to 200 controls).
        """
        return None if deviation is None else student_quantile(_Z, (self.controls + 1) / 2) * deviation


def noise_between(both: Both, touched: set[int]) -> Noise:
    """What the operators changed by that nobody touched."""
    groups = controls_of(both, touched)
    if len(groups) < MIN_CONTROLS:
        return Noise(controls=len(groups))
    means = [both.totals[side][groups] / both.counts[side][groups] for side in (0, 1)]
    usable = means[0] > 0
    return noise_of_changes(means[1][usable] / means[0][usable] - 1, both.totals[0][groups][usable].astype(np.float64))


def controls_of(both: Both, touched: set[int]) -> Ints:
    """The operators of both profiles that nobody touched; of many, those with the longest time."""
    free = both.common.copy()
    free[list(touched)] = False
    groups: Ints = np.flatnonzero(free)
    if len(groups) > MAX_CONTROLS:
        least = np.sort(both.totals[0][groups])[len(groups) - MAX_CONTROLS]
        groups = groups[both.totals[0][groups] >= least]
    return groups


def noise_of_changes(changes: Any, weights: Any) -> Noise:
    """The noise that changes of untouched operators show."""
    if len(changes) < MIN_CONTROLS:
        return Noise(controls=len(changes))
    order = np.argsort(changes, kind="stable")
    reached = np.cumsum(weights[order])
    drift = float(changes[order][np.searchsorted(reached, reached[-1] / 2)])
    spread = float(np.median(np.abs(changes - drift))) * MAD_TO_SIGMA
    return Noise(controls=len(changes), drift=drift, spread=spread)


class Sample:
    """Sums of each step of some operators on both sides, and the same resamples of steps for all of them."""

    def __init__(self, both: Both, groups: Sequence[int]) -> None:
        self.both, self.place = both, {group: i for i, group in enumerate(groups)}
        self.by_steps = all(side.blocks >= MIN_VALUES for side in both.sides)
        self._sums: list[tuple[Any, Any]] = []
        self._calls: tuple[_Calls, _Calls] | None = None
        self._weights: list[Any] = []
        if not self.by_steps:
            return
        chosen = np.full(both.names.count, -1, dtype=np.int64)
        chosen[list(groups)] = np.arange(len(groups))
        for number, side in enumerate(both.sides):
            rows = np.flatnonzero((chosen[both.groups_of[number]] >= 0) & (side.block_of >= 0))
            at = chosen[both.groups_of[number][rows]] * side.blocks + side.block_of[rows]
            durations = integers(side.frame["task_duration_ns"])[0][rows].astype(np.float64)
            size = len(groups) * side.blocks
            totals = np.bincount(at, weights=durations, minlength=size).reshape(len(groups), side.blocks)
            counts = np.bincount(at, minlength=size).reshape(len(groups), side.blocks).astype(np.float64)
            self._sums.append((totals, counts))
            self._weights.append(times_drawn(number, side.blocks, RESAMPLES))

    def change_of_means(self, groups: Sequence[int], scale: Sequence[float] | None = None) -> Interval | None:
        """Where the change of the mean time of a call lies; of several operators, of their sum over equal calls."""
        if not groups:
            return None
        if not self.by_steps:
            return self._by_calls(groups[0]) if len(groups) == 1 else None
        places = [self.place[group] for group in groups]
        size = self._blocks_of(places)
        if size < MIN_VALUES:
            return None
        weigh = np.asarray(scale if scale is not None else [1.0] * len(groups))
        sides = []
        for (totals, counts), weights in zip(self._sums, self._weights, strict=True):
            above, below = weights @ totals[places].T, weights @ counts[places].T
            with np.errstate(divide="ignore", invalid="ignore"):
                sides.append((above / below) @ weigh)
        with np.errstate(divide="ignore", invalid="ignore"):
            changes = sides[1] / sides[0] - 1
        return percentiles(changes, size, "captures" if self.both.by_captures else "steps")

    def _blocks_of(self, places: Sequence[int]) -> int:
        """How many blocks measure some operators: all steps, or the captures that contain them."""
        if not self.both.by_captures:
            return min(side.blocks for side in self.both.sides)
        return min(int((counts[places] > 0).sum(axis=1).min()) for _, counts in self._sums)

    def _by_calls(self, group: int) -> Interval | None:
        means, sizes = [], []
        for number, side in enumerate(self._calls_of_sides()):
            values = side.of(self.place[group])
            if len(values) < MIN_VALUES:
                return None
            sizes.append(len(values))
            means.append(means_drawn(number, values, RESAMPLES, most=_MAX_CALLS))
        return percentiles(means[1] / means[0] - 1, min(sizes), "calls")

    def _calls_of_sides(self) -> tuple[_Calls, _Calls]:
        if self._calls is None:
            places = np.full(self.both.names.count, -1, dtype=np.int64)
            places[list(self.place)] = list(self.place.values())
            before, after = (
                _Calls(places[groups_of], integers(side.frame["task_duration_ns"])[0], len(self.place))
                for groups_of, side in zip(self.both.groups_of, self.both.sides, strict=True)
            )
            self._calls = (before, after)
        return self._calls


class _Calls:
    def __init__(self, place_of: Ints, durations: Ints, count: int) -> None:
        mine = place_of >= 0
        if mine.any():
            self._values, self._starts = sorted_within(place_of[mine], durations[mine], count)
        else:
            self._values, self._starts = durations[:0], np.zeros(count, dtype=np.int64)

    def of(self, place: int) -> Any:
        """The durations of one operator."""
        end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._values)
        return self._values[self._starts[place] : end].astype(np.float64)


def percentiles(changes: Any, size: int, blocks: Blocks) -> Interval | None:
    """Where resampled changes lie, made wider for few blocks."""
    ends = widened_percentiles(changes, size, level=LEVEL)
    return None if ends is None else Interval(*ends, blocks)


def change_of_steps(both: Both) -> Interval | None:
    """Where the change of the mean step lies; null with too few steps on a side."""
    sizes = [len(side.step_ns) for side in both.sides]
    if min(sizes) < MIN_VALUES:
        return None
    means = [
        times_drawn(number, size, RESAMPLES) @ np.asarray(side.step_ns, dtype=np.float64) / size
        for number, (side, size) in enumerate(zip(both.sides, sizes, strict=True))
    ]
    return percentiles(means[1] / means[0] - 1, min(sizes), "captures" if both.by_captures else "steps")


def widened(change: float, interval: Interval | None, reach: float | None) -> Interval | None:
    """An interval with how far the noise between two captures reaches in it; of that alone where nothing could be resampled."""
    if interval is None:
        return None if reach is None else Interval(change - reach, change + reach, None)
    apart = reach or 0.0
    low = change - float(np.hypot(max(change - interval.low, 0.0), apart))
    high = change + float(np.hypot(max(interval.high - change, 0.0), apart))
    return Interval(low, high, interval.blocks)
