"""How memory grows from step to step, judged by gains: the bytes that each step adds for good."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from aoe_reports.model.arrays.columns import Floats, Ints
from aoe_reports.model.topics.memory import Growing
from aoe_reports.stats.sample import sample_std
from aoe_reports.stats.trend import trend_score
from aoe_reports.stats.two_sides import student

MIN_STEPS = 5
"""Steps that can be judged: fewer do not show whether growth will last."""
MIN_LEAKS, MIN_FILLS = 5, 3
"""Steps that gain memory in a leak and in a cache: fewer are single events, or keep a pace by chance."""
WARM_UP_STEPS, WARM_UP_SHARE = 3, 1 / 3
"""Warm-up takes at most so many steps, and at most this share of the judged ones."""
REGULAR = 1.5
"""A leak keeps its pace: no pause is longer than this times the usual one, and half a step."""
MIN_IRREGULAR, MIN_SHARE, STEADY = 8, 0.5, 0.8
"""A leak without a pace: in at least so many steps, in half of all, and in the later half in at least this part of those of the earlier half."""
SLOWER, FALLING, FALLING_Z = 0.5, 0.8, -2.0
"""Growth slows if its later gains are less than half of the earlier ones; or less than FALLING of them, and gains fall by the score of Mann and
Kendall's test: one series in 40 does so by chance."""
AT_REST = 2.0
"""Growth has come to rest if nothing was gained for so many times the longest pause before."""
NOISE = 3.0
"""A level has grown if it rose by so many times the median of what later steps undo."""
WORTH_SHARE = 0.01
"""Warm-up and caches below 1 % of the pool are left out: they grow no further."""
WORTH_PER_STEP = 1e-6
"""A leak that adds less than a tenth of the pool in 100,000 steps is left out."""
TAIL = 0.025
"""Each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast memory grows, and in which steps, by their indices."""

    meaning: Growing
    bytes_per_step: float
    low: float
    high: float
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Gains:
    """Bytes that each judged step adds for good."""

    sizes: Ints
    noise: float = 0.0
    """Median of what the levels that they come from exceed their lasting part by."""
    unsure: tuple[int, ...] = ()
    """The same of the last steps, of which a later one may still undo some."""

    def paces(self, pool_size: int) -> list[Pace]:
        """Leak, filling cache or warm-up, the latter also before a leak; none where growth is single, irregular or too small."""
        sizes, warm = self.sizes, self._warm
        if len(sizes) < MIN_STEPS:
            return []
        for start in (0, warm):
            leak = _leak(sizes, start)
            if leak is not None and self._bears_out(leak) and leak.bytes_per_step >= WORTH_PER_STEP * pool_size:
                return [*(self._warm_up(leak.bytes_per_step, pool_size) if start else []), leak]
        return self.paces_of_cache(pool_size) if self.is_warm_up or self._slows else []

    def paces_of_cache(self, pool_size: int) -> list[Pace]:
        """Warm-up or a filling cache: for memory that is no leak however it grows."""
        if len(self.sizes) < MIN_STEPS:
            return []
        if self.is_warm_up:
            return self._warm_up(0.0, pool_size)
        return [_filling(self.sizes)] if int(self.sizes.sum()) >= self._worth(pool_size) else []

    @property
    def is_warm_up(self) -> bool:
        """Whether no later step but a single one gains anything."""
        return bool(np.count_nonzero(self.sizes[self._warm :]) <= 1)

    def _bears_out(self, leak: Pace) -> bool:
        """Whether a leak is larger than noise, and goes on in the steps that are not judged."""
        rise = int(self.sizes[leak.first :].sum())
        return rise >= NOISE * self.noise and sum(self.unsure) >= SLOWER * leak.bytes_per_step * len(self.unsure)

    @property
    def _slows(self) -> bool:
        """Whether gains become less, and not only by a large one in warm-up."""
        sizes, later = self.sizes, self.sizes[self._warm :]
        if np.count_nonzero(sizes) < MIN_FILLS or not _is_slowing(sizes):
            return False
        return _is_slowing(later) or _is_at_rest(later) or _is_slowing((sizes > 0).astype(np.float64))

    @property
    def _warm(self) -> int:
        return min(WARM_UP_STEPS, int(len(self.sizes) * WARM_UP_SHARE))

    def _worth(self, pool_size: int) -> float:
        return max(WORTH_SHARE * pool_size, NOISE * self.noise)

    def _warm_up(self, usual: float, pool_size: int) -> list[Pace]:
        """What the first steps gain beyond the usual; measured, so its interval is empty."""
        sizes = self.sizes[: self._warm]
        times = np.flatnonzero(sizes > usual)
        if not len(times) or float((sizes - usual).sum()) < self._worth(pool_size):
            return []
        last = int(times[-1])
        mean = float(sizes[: last + 1].mean())
        return [Pace("warm-up", mean, mean, mean, 0, last)]


def lasting_rises(levels: Ints, unsure: int) -> Gains:
    """Gains of levels, one more than steps: rises that no later level undoes.

    The last steps are left out: those that are unsure, and as many as the longest tooth of a saw.
    """
    lasting = np.minimum.accumulate(levels[::-1])[::-1]
    judged = max(0, len(levels) - 1 - max(1, unsure, _longest_tooth(levels)))
    rises = np.diff(lasting)
    return Gains(rises[:judged], float(np.median(levels - lasting)), tuple(rises[judged:].tolist()))


def _longest_tooth(levels: Ints) -> int:
    """Steps from the last level that was no higher than one behind a fall, to that one."""
    lower: list[int] = []
    longest = 0
    values = levels.tolist()
    for index, level in enumerate(values):
        while lower and values[lower[-1]] > level:
            lower.pop()
        if index and level < values[index - 1]:
            longest = max(longest, index - (lower[-1] if lower else -1))
        lower.append(index)
    return longest


def _leak(sizes: Ints, start: int) -> Pace | None:
    """Growth that lasts from a step on to the last judged one."""
    judged = sizes[start:]
    times = np.flatnonzero(judged > 0)
    if len(judged) < MIN_STEPS or len(times) < MIN_LEAKS:
        return None
    amounts = judged[times].astype(np.float64)
    if _is_slowing(amounts):
        return None
    if _keeps_pace(times, len(judged)):
        pause = float(np.diff(times).mean())
        mean, half = (part / pause for part in _interval(amounts))
    elif _lasts(times, len(judged)):
        mean, half = _interval(judged.astype(np.float64))
    else:
        return None
    return Pace("leak", mean, mean - half, mean + half, start, start + len(judged) - 1) if half < mean else None


def _keeps_pace(times: Ints, count: int) -> bool:
    """Whether something is gained every so many steps, to the end."""
    pauses = np.diff(times)
    usual = float(np.median(pauses))
    longest = max(int(times[0]) + 1, int(pauses.max()), count - int(times[-1]))
    return bool(longest <= REGULAR * usual + 0.5 and pauses.min() >= usual / REGULAR - 0.5)


def _lasts(times: Ints, count: int) -> bool:
    """Whether something is gained in many steps without a pace, and at the end as often as at the start."""
    later = np.count_nonzero(times >= count - count // 2)
    is_open = count - int(times[-1]) <= int(np.diff(times).max())
    is_often = len(times) >= max(MIN_IRREGULAR, MIN_SHARE * count)
    return is_often and is_open and bool(later >= STEADY * np.count_nonzero(times < count // 2))


def _is_slowing(sizes: Ints | Floats) -> bool:
    half = len(sizes) // 2
    earlier, later = float(sizes[:half].mean()), float(sizes[-half:].mean())
    return later < SLOWER * earlier or (later < FALLING * earlier and trend_score(sizes) < FALLING_Z)


def _is_at_rest(sizes: Ints) -> bool:
    times = np.flatnonzero(sizes > 0)
    return len(sizes) - int(times[-1]) >= AT_REST * int(np.diff(times, prepend=-1).max())


def _filling(sizes: Ints) -> Pace:
    """Mean growth from the first gain to the last."""
    times = np.flatnonzero(sizes > 0)
    first, last = int(times[0]), int(times[-1])
    mean, half = _interval(sizes[first : last + 1].astype(np.float64))
    return Pace("filling cache", mean, max(0.0, mean - half), mean + half, first, last)


def _interval(values: Floats) -> tuple[float, float]:
    """(mean, half of Student's 95 % interval of it) of at least two values."""
    spread = sample_std(values.tolist()) or 0.0
    return float(values.mean()), student(len(values) - 1, TAIL) * spread / sqrt(len(values))
