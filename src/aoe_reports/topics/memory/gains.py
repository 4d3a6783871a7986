"""How memory grows from step to step, judged by gains: the bytes that each step adds for good."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from aoe_reports.model.arrays.columns import Floats, Ints
from aoe_reports.model.topics.memory import Growing
from aoe_reports.stats.bootstrap import times_drawn, widened_percentiles
from aoe_reports.stats.sample import sample_std
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
SLOWER = 0.5
"""Growth slows if its later gains are less than half of the earlier ones."""
AT_REST = 2.0
"""Growth has come to rest if nothing was gained for so many times the longest pause before."""
NOISE, NOISY = 3.0, 0.9
"""A level has grown if it rose by so many times what later steps undo, in all but a tenth of the steps."""
WORTH_SHARE = 0.01
"""All but leaks is left out below 1 % of the pool."""
WORTH_PER_STEP = 1e-6
"""A leak that adds less than a tenth of the pool in 100,000 steps is left out."""
LEVEL = 0.95
"""Of intervals."""
BLOCKS, RESAMPLES = 12, 1000
"""Gains that come at any time are resampled in so many blocks of steps, so that neighbours stay together."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast memory grows, and in which steps, by their indices."""

    meaning: Growing
    bytes_per_step: float
    low: float
    high: float
    first: int
    last: int
    total: int
    """Bytes gained in these steps."""


@dataclass(frozen=True, slots=True)
class Gains:
    """Bytes that each judged step adds for good."""

    sizes: Ints
    noise: float = 0.0
    """What the levels that they come from exceed their lasting part by, in all but a tenth of the steps."""
    changes: Ints | None = None
    """How the levels change in each judged step, up and down; None where they cannot fall."""
    unsure: tuple[int, ...] = ()
    """The same of the last steps; a later one may still undo some."""

    def paces(self, pool_size: int, steady: Literal["leak", "grows"] = "leak") -> list[Pace]:
        """Growth that lasts, with the warm-up before it; else a filling cache or warm-up. None where growth is single or too small.

        `steady` is what growth is called that keeps its pace; growth without one is no more than growth.
        """
        if len(self.sizes) < MIN_STEPS:
            return []
        for start in (0, self._warm):
            leak = _leak(self.sizes, start, steady)
            if leak is not None and self._bears_out(leak) and _is_worth(leak, pool_size):
                return [*(self._warm_up(leak.bytes_per_step, pool_size) if start else []), leak]
        if self.is_warm_up:
            return self._warm_up(0.0, pool_size)
        if self._slows:
            return [_filling(self.sizes)] if int(self.sizes.sum()) >= self._worth(pool_size) else []
        for start in (0, self._warm):
            growing = _growing(self.sizes, start, self.changes)
            if growing is not None and self._bears_out(growing) and _is_worth(growing, pool_size):
                return [*(self._warm_up(growing.bytes_per_step, pool_size) if start else []), growing]
        return []

    @property
    def is_warm_up(self) -> bool:
        """Whether no later step but a single one gains anything."""
        return bool(np.count_nonzero(self.sizes[self._warm :]) <= 1)

    def _bears_out(self, growth: Pace) -> bool:
        """Whether growth is larger than noise; that which keeps its pace also has to continue in the steps that are not judged."""
        continues = growth.meaning == "grows" or sum(self.unsure) >= SLOWER * growth.bytes_per_step * len(self.unsure)
        return growth.total >= NOISE * self.noise and continues

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
        return [Pace("warm-up", mean, mean, mean, 0, last, int(sizes[: last + 1].sum()))]


def lasting_rises(levels: Ints, unsure: int) -> Gains:
    """Gains of levels, one more than steps: rises that no later level undoes.

    The last steps are left out: those that are unsure, and as many as the longest tooth of a saw.
    """
    lasting = np.minimum.accumulate(levels[::-1])[::-1]
    judged = max(0, len(levels) - 1 - max(1, unsure, _longest_tooth(levels)))
    rises = np.diff(lasting)
    return Gains(
        rises[:judged],
        float(np.quantile(levels - lasting, NOISY)),
        np.diff(levels)[:judged],
        tuple(rises[judged:].tolist()),
    )


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


def _is_worth(pace: Pace, pool_size: int) -> bool:
    if pace.meaning == "leak":
        return pace.bytes_per_step >= WORTH_PER_STEP * pool_size
    return pace.total >= WORTH_SHARE * pool_size


def _leak(sizes: Ints, start: int, meaning: Growing) -> Pace | None:
    """Growth at a pace, or in most steps, from a step on to the last judged one."""
    judged = sizes[start:]
    times = np.flatnonzero(judged > 0)
    if len(judged) < MIN_STEPS or len(times) < MIN_LEAKS or _is_slowing(judged[times]):
        return None
    if _keeps_pace(times, len(judged)):
        return _pace(meaning, judged, start, _of_pauses(judged, times))
    return _pace(meaning, judged, start, _of_blocks(judged)) if _lasts(times, len(judged)) else None


def _growing(sizes: Ints, start: int, changes: Ints | None) -> Pace | None:
    """Growth without a pace that does not come to rest: its interval is above 0.

    So is that of the changes up and down: where both are by chance, a part of the rises lasts, too.
    """
    judged = sizes[start:]
    if len(judged) < MIN_STEPS or np.count_nonzero(judged) < MIN_LEAKS or _is_at_rest(judged):
        return None
    if changes is not None and _of_blocks(changes[start:])[1] <= 0:
        return None
    return _pace("grows", judged, start, _of_blocks(judged))


def _pace(meaning: Growing, judged: Ints, start: int, interval: tuple[float, float, float]) -> Pace | None:
    """None where the interval holds 0."""
    mean, low, high = interval
    return Pace(meaning, mean, low, high, start, start + len(judged) - 1, int(judged.sum())) if low > 0 else None


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
    return later < SLOWER * earlier


def _is_at_rest(sizes: Ints) -> bool:
    times = np.flatnonzero(sizes > 0)
    return len(sizes) - int(times[-1]) >= AT_REST * int(np.diff(times, prepend=-1).max())


def _filling(sizes: Ints) -> Pace:
    """Mean growth from the first gain to the last."""
    times = np.flatnonzero(sizes > 0)
    first, last = int(times[0]), int(times[-1])
    gained = sizes[first : last + 1]
    mean, half = float(gained.mean()), _half_interval(gained.astype(np.float64))
    return Pace("filling cache", mean, max(0.0, mean - half), mean + half, first, last, int(gained.sum()))


def _of_pauses(judged: Ints, times: Ints) -> tuple[float, float, float]:
    """(bytes a step, their interval) of gains that keep a pace: the ratio of amounts to pauses; both may vary."""
    pauses = np.diff(times, prepend=times[0]).astype(np.float64)
    pauses[0] = pauses[1:].mean()
    amounts = judged[times].astype(np.float64)
    pause = float(pauses.mean())
    ratio = float(amounts.mean()) / pause
    half = _half_interval(amounts - ratio * pauses) / pause
    return ratio, ratio - half, ratio + half


def _of_blocks(judged: Ints) -> tuple[float, float, float]:
    """(bytes a step, their interval) of gains that come at any time: a bootstrap of blocks of steps."""
    parts = np.array_split(judged, min(BLOCKS, len(judged)))
    sums = np.asarray([part.sum() for part in parts], dtype=np.float64)
    times = times_drawn(0, len(parts), RESAMPLES)
    drawn = times @ sums / (times @ np.asarray([len(part) for part in parts]))
    low, high = widened_percentiles(drawn, len(parts), level=LEVEL) or (0.0, 0.0)
    return float(judged.mean()), low, high


def _half_interval(values: Floats) -> float:
    """Half of Student's interval of the mean of at least two values."""
    return student(len(values) - 1, (1 - LEVEL) / 2) * (sample_std(values.tolist()) or 0.0) / sqrt(len(values))
