"""Which steps of a capture are its usual ones, and how far these say the same: from nothing but how long each took."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

import numpy as np

from aoe_reports.model.arrays.columns import Floats
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.bootstrap import student_quantile
from aoe_reports.stats.sample import robust_sigma, sample_std
from aoe_reports.stats.trend import trend_score

MIN_STEPS_FOR_WARM_UP = 3
"""Of two steps nobody knows which is the usual one."""
MIN_STEPS_FOR_TEAR_DOWN = 4
"""The last of three is needed to tell whether the first is warm-up."""
NOTABLE_LENGTH = 0.1
"""A step is unusual if it is longer (or shorter) by this than every usual step that it is held against."""
SIGMAS = 4.0
"""And by so many robust standard deviations of these: where steps scatter by nature, none is unusual for its length."""
_NEAR = 6
"""Tear-down, and steps that are cut off, are held against so many steps next to them, so that a drift makes none."""
MIN_STEPS_FOR_OUTLIERS = 5
OUTLIER_LENGTH, OUTLIER_SIGMAS = 0.5, 8.0
"""A usual step that takes longer by half and by so many robust standard deviations is an outlier, while"""
MAX_OUTLIERS = 0.1
"""at most this share, rounded up, are (what comes every tenth step): more are of another kind of step."""
MIN_STEPS_FOR_SCATTER = 3
"""With fewer steps scatter is next to unknown."""
LEVEL_Z = 1.96
"""The normal quantile of 95 %, both sides."""
MIN_STEPS_FOR_DRIFT = 6
"""Fewer steps rise by chance too often: six in order happen once in 360 times."""
DRIFT_Z = 2.576
"""Mann and Kendall's test, 99 %, both sides."""
MAX_DRIFT_BLOCKS = 200
"""Longer captures are looked at in so many blocks, by their medians."""


@dataclass(frozen=True, slots=True)
class Phases:
    """How many steps of a capture are warm-up and tear-down, and whether the one or the other is a step that is cut off."""

    warm_up: int = 0
    tear_down: int = 0
    cut_head: bool = False
    cut_tail: bool = False


def phases_of(durations: Sequence[int]) -> Phases:
    """Which steps at the begin and at the end are unusual: longer than all usual ones near them, or one that is shorter.

    Warm-up is held against the later half, without its last step; at most half of all are warm-up, at most a fifth tear-down.
    """
    count = len(durations)
    if count < MIN_STEPS_FOR_WARM_UP:
        return Phases()
    usual = _Usual(durations[count // 2 : -1], durations[1:] if count <= MIN_STEPS_FOR_TEAR_DOWN else ())
    warm_up = 0
    while warm_up < count // 2 and usual.is_shorter_than(durations[warm_up]):
        warm_up += 1
    if count < MIN_STEPS_FOR_TEAR_DOWN:
        return Phases(warm_up)
    cut_head = not warm_up and _Usual(durations[1 : 1 + _NEAR]).is_longer_than(durations[0])
    end = count - max(1, count // 5)
    near = _Usual(durations[max(warm_up + cut_head, end - _NEAR) : end])
    tear_down = 0
    while tear_down < count - end and near.is_shorter_than(last := durations[count - 1 - tear_down]):
        if any(abs(duration - last) <= NOTABLE_LENGTH * duration for duration in durations[warm_up:end]):
            break  # what comes again and again, as evaluation does
        tear_down += 1
    cut_tail = not tear_down and near.is_longer_than(durations[-1])
    return Phases(warm_up + cut_head, tear_down + cut_tail, cut_head, cut_tail)


class _Usual:
    """Some steps that others are held against."""

    def __init__(self, durations: Sequence[int], scattering: Sequence[int] = ()) -> None:
        """`scattering` tell how far steps scatter where `durations` is a single one."""
        self._low, self._high = min(durations), max(durations)
        self._middle, self._margin = median(durations), SIGMAS * robust_sigma(scattering or durations)

    def is_shorter_than(self, duration: int) -> bool:
        """Whether all of them are notably shorter."""
        return duration > self._high * (1 + NOTABLE_LENGTH) and duration > self._middle + self._margin

    def is_longer_than(self, duration: int) -> bool:
        """Whether all of them are notably longer."""
        return duration < self._low * (1 - NOTABLE_LENGTH) and duration < self._middle - self._margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """How far some steps say the same; shares are of their median or mean."""

    steps: int
    median_ns: float
    scatter: float | None
    """The sample standard deviation of steps that are no outliers, as a share of their mean."""
    detectable: float | None
    """The smallest difference of the means of two such captures that is not within their 95 % interval."""
    drift: float
    """How much longer (negative: shorter) the last step is than the first, by a line of the median slope; 0 where that may be chance."""
    outliers: tuple[int, ...]
    """Their places."""


def steadiness_of(durations: Sequence[int]) -> Steadiness:
    """How far the usual steps of a capture, in their order, say the same; at least one."""
    outliers = _outliers(durations)
    usual = [one for place, one in enumerate(durations) if place not in outliers]
    spread = sample_std(usual) if len(usual) >= MIN_STEPS_FOR_SCATTER else None
    scatter = None if spread is None else spread * len(usual) / sum(usual) if sum(usual) else 0.0
    return Steadiness(
        steps=len(durations),
        median_ns=median(durations),
        scatter=scatter,
        detectable=None if scatter is None else _detectable(scatter, len(usual)),
        drift=_drift(usual),
        outliers=tuple(sorted(outliers)),
    )


def _detectable(scatter: float, count: int) -> float:
    return student_quantile(LEVEL_Z, 2 * (count - 1)) * scatter * float((2 / count) ** 0.5)


def _outliers(durations: Sequence[int]) -> Collection[int]:
    if len(durations) < MIN_STEPS_FOR_OUTLIERS:
        return frozenset()
    middle = median(durations)
    limit = middle + max(OUTLIER_LENGTH * middle, OUTLIER_SIGMAS * robust_sigma(durations))
    found = {place for place, one in enumerate(durations) if one > limit}
    return found if len(found) <= ceil(MAX_OUTLIERS * len(durations)) else frozenset()


def _drift(durations: Sequence[int]) -> float:
    """Theil and Sen's slope from the first step to the last, where Mann and Kendall's test tells one."""
    if len(durations) < MIN_STEPS_FOR_DRIFT:
        return 0.0
    values = _blocks(durations)
    count = len(values)
    rises = values[None, :] - values[:, None]
    later = np.triu_indices(count, 1)
    if abs(trend_score(values)) < DRIFT_Z:
        return 0.0
    slope = float(np.median(rises[later] / (later[1] - later[0])))
    begin = float(np.median(values - slope * np.arange(count)))
    low, high = float(values.min()), float(values.max())  # a line through steps that do not lie on one may leave them
    first, last = (min(max(one, low), high) for one in (begin, begin + slope * (count - 1)))
    return last / first - 1 if first else 0.0


def _blocks(durations: Sequence[int]) -> Floats:
    values = np.asarray(durations, dtype=np.float64)
    if len(values) <= MAX_DRIFT_BLOCKS:
        return values
    return np.asarray([np.median(part) for part in np.array_split(values, MAX_DRIFT_BLOCKS)])


Place = tuple[int | None, int | None]
"""(rank, device)."""
Unusual = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the steps of warm-up, and of those of tear-down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSeries:
    """The steps of one device in their order, and which of them are not the usual ones."""

    steps: tuple[Step, ...]
    phases: Phases

    @property
    def warm_up(self) -> tuple[Step, ...]:
        """The steps before the usual ones."""
        return self.steps[: self.phases.warm_up]

    @property
    def tear_down(self) -> tuple[Step, ...]:
        """The steps behind the usual ones."""
        return self.steps[len(self.steps) - self.phases.tear_down :]

    @property
    def usual(self) -> tuple[Step, ...]:
        """All others."""
        return self.steps[self.phases.warm_up : len(self.steps) - self.phases.tear_down]

    @property
    def numbers(self) -> Unusual:
        """Those of the steps that are not the usual ones."""
        return step_numbers(self.warm_up), step_numbers(self.tear_down)


def step_numbers(steps: Iterable[Step]) -> tuple[int, ...]:
    """The numbers of some steps that have one, each once, in order."""
    return tuple(sorted({step.step for step in steps if step.step is not None}))


def series_of(steps: Iterable[Step]) -> StepSeries | None:
    """The steps of one device by number; of several models that which takes most time, as steps of others are other work."""
    models = lists_by_key((step.model_id, step) for step in steps)
    if not models:
        return None
    longest = max(models.values(), key=lambda mine: sum(step.duration_ns for step in mine))
    ordered = sorted(longest, key=lambda step: (step.step is None, step.step or 0, step.start_ns or 0))
    return StepSeries(steps=tuple(ordered), phases=phases_of([step.duration_ns for step in ordered]))


def unusual_steps(steps: Iterable[Step]) -> dict[Place, StepSeries]:
    """The devices some of whose steps are warm-up or tear-down, and their steps."""
    by_device = lists_by_key(((step.rank_id, step.device_id), step) for step in steps)
    found = {place: series_of(mine) for place, mine in by_device.items()}
    return {place: one for place, one in found.items() if one is not None and len(one.usual) < len(one.steps)}
