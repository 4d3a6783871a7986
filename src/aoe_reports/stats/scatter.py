"""Did the scatter of a series change? Segments of its nights that scatter more or less than the others, where that is proved.

Twice the gain in log likelihood of two scatters over one (Chen and Gupta 1997, "Testing and locating variance changepoints"),
divided by what heavy tails and memory add to its variance. The best split is taken first, then those of its two parts.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from aoe_reports.stats.noise import CLIP, FLOOR, HALF, Floats, Integers, median, running_median, scale, scales
from aoe_reports.stats.partition import partition
from aoe_reports.stats.sample import MAD_TO_SIGMA

MIN_SEGMENT_NIGHTS = 7
"""Nights of a scatter at least: of fewer it is not known."""
EVIDENCE = 25.0
"""Of a change of scatter, in squared standard scores."""
AGAINST = 20.0
"""By how much (twice the log likelihood) a series must be better explained by one scatter than by those of its workload."""
MIN_RATIO = 1.5
"""Of two scatters: what differs by less is told as none."""


def scatter_segments(off: Floats, memory: float) -> list[tuple[int, float]]:
    """(first night, scatter) of each segment of what nights are off their level; a single one where no change is proved."""
    if not may_change(off[None])[0]:
        return [(0, scatter_around(off))]
    starts = [0, *_splits(off, np.square(_clipped(off)), memory)]
    ends = [*starts[1:], len(off)]
    return [(start, scatter_around(off[start:end])) for start, end in zip(starts, ends, strict=True)]


def speaks_against(off: Floats, relative: Floats) -> bool:
    """Whether what nights are off their levels says clearly that they scatter alike, and not as `relative` has it."""
    losses = []
    for weights in (np.ones(len(off)), relative):
        scaled = off / weights
        sigma = scatter_around(scaled)
        squares = np.square(np.minimum(np.abs(scaled) / sigma, CLIP))
        losses.append(float((2 * np.log(sigma * weights) + squares).sum()))
    return losses[1] - losses[0] > AGAINST


def may_change(off: Floats) -> Any:
    """Which series (series, nights) are worth a closer look: most have one scatter, and show it at a glance."""
    count, nights = off.shape
    if nights < 2 * MIN_SEGMENT_NIGHTS:
        return np.zeros(count, dtype=bool)
    distances = np.abs(off)
    usual = scales(np.sort(distances, axis=1), np.full(count, nights))
    gains, _ = _gains(np.square(np.minimum(distances, CLIP * np.maximum(usual, FLOOR)[:, None])))
    return gains.max(axis=1) >= EVIDENCE / 2


def may_have_changed(logs: Floats, lengths: Integers) -> Any:
    """Which series (series, nights), compacted, are worth a closer look; those with gaps are, where they are long enough."""
    nights = logs.shape[1]
    if nights < 2 * MIN_SEGMENT_NIGHTS + 2 * HALF:
        return lengths >= 2 * MIN_SEGMENT_NIGHTS
    distances = np.abs(logs - running_median(logs))[:, HALF:-HALF]
    limits = CLIP * np.maximum(MAD_TO_SIGMA * median(distances), FLOOR)
    gains, _ = _gains(np.square(np.minimum(distances, limits[:, None])))
    return (lengths >= 2 * MIN_SEGMENT_NIGHTS) & ((lengths < nights) | (gains.max(axis=1) >= EVIDENCE / 3))


def off_levels(logs: Floats) -> Floats:
    """What nights are off the median of the seven around them, along the last axis: steps are not in it."""
    middle = running_median(logs)
    middle[..., :HALF], middle[..., -HALF:] = middle[..., HALF, None], middle[..., -HALF - 1, None]
    off: Floats = logs - middle
    return off


def _splits(off: Floats, squares: Floats, memory: float) -> list[int]:
    count = len(off)
    if count < 2 * MIN_SEGMENT_NIGHTS:
        return []
    gains, before = _gains(squares)
    split = int(before[gains.argmax()])
    scatters = scatter_around(off[:split]), scatter_around(off[split:])
    scaled = np.abs(np.concatenate([off[:split] / scatters[0], off[split:] / scatters[1]]))
    kurtosis = float((np.minimum(scaled, 2 * CLIP) ** 4).mean())
    inflation = max((kurtosis - 1) / 2, 1.0) * (1 + memory**2) / (1 - memory**2)
    if gains.max() < EVIDENCE * inflation or max(scatters) < MIN_RATIO * min(scatters):
        return []
    later = _splits(off[split:], squares[split:], memory)
    return [*_splits(off[:split], squares[:split], memory), split, *(split + one for one in later)]


def _gains(squares: Floats) -> tuple[Floats, Integers]:
    """(twice the gain in log likelihood of two scatters over one, nights before) for each place of a change."""
    count = squares.shape[-1]
    before = np.arange(MIN_SEGMENT_NIGHTS, count - MIN_SEGMENT_NIGHTS + 1)
    sums = np.cumsum(squares, axis=-1)
    left, total, after = sums[..., before - 1], sums[..., -1:], count - before
    gains = count * _log(total / count) - before * _log(left / before) - after * _log((total - left) / after)
    return gains, before


def _log(squares: Any) -> Any:
    return np.log(np.maximum(squares, FLOOR**2))


def _clipped(off: Floats) -> Floats:
    """Distances, clipped at CLIP scatters of the nights around: outliers are no scatter."""
    distances = np.abs(off)
    if len(off) <= 2 * MIN_SEGMENT_NIGHTS:
        return distances
    around = median(sliding_window_view(distances, 2 * MIN_SEGMENT_NIGHTS + 1)) * MAD_TO_SIGMA
    limits = CLIP * np.maximum(np.pad(around, MIN_SEGMENT_NIGHTS, mode="edge"), FLOOR)
    return np.asarray(np.minimum(distances, limits))


def scatter_around(off: Floats) -> float:
    """Of nights, those out of line clipped."""
    distances = np.abs(off)
    limit = CLIP * max(scale(distances), FLOOR)
    return max(float(np.sqrt(np.square(np.minimum(distances, limit)).mean())), FLOOR)


MIN_SERIES = 10
"""Whose nights make up the scatter of a workload: of fewer it is not known any sooner than that of one series."""
MIN_NIGHTS = 20
"""Of a workload, below which its usual scatter is not known."""
ERROR, UNEVEN = 1.17, 0.05
"""Of the logarithm of the scatter of a night: times the root of the series, and what nights differ by without a reason. Nights in which series scatter by less than
UNEVEN of what they usually do count as if they did."""
MAX_REPEATED = 0.1
"""Share of nights that repeat the time of the night before: of more, a coarse timer hides how much nights scatter."""


def moves_of(logs: Floats, nights: Integers, lengths: Integers, sigma: Floats, columns: int) -> Floats:
    """What each series is off the night before (series, nights of the table), in its scatter; NaN where it has no two nights."""
    moves = np.full((len(logs), columns), np.nan, dtype=np.float64)
    rows, places = np.nonzero(np.arange(1, logs.shape[1]) < lengths[:, None])
    steps = (logs[:, 1:] - logs[:, :-1]) / (math.sqrt(2) * sigma[:, None])
    moves[rows, nights[rows, places + 1]] = steps[rows, places]
    return moves


def common_scatter(moves: Floats) -> Floats | None:
    """Of each night the scatter of a workload, relative to the least; None where it did not change."""
    measured = np.flatnonzero((~np.isnan(moves)).sum(axis=0) >= MIN_SERIES)
    if len(measured) < MIN_NIGHTS or np.count_nonzero(moves == 0) > MAX_REPEATED * np.count_nonzero(~np.isnan(moves)):
        return None
    logs, errors = _of_nights(moves[:, measured])
    (starts,) = partition((logs / errors)[None], np.array([len(logs)]), np.array([EVIDENCE]), 2)
    edges = [0, *starts, len(logs)]
    levels = [float(np.average(logs[a:b], weights=errors[a:b] ** -2)) for a, b in pairwise(edges)]
    if max(levels) - min(levels) < math.log(MIN_RATIO):
        return None
    relative = np.exp(np.repeat(levels, np.diff(edges)) - min(levels))
    # a night that few series have is as those before it
    places = np.searchsorted(measured, np.arange(moves.shape[1]), side="right") - 1
    return np.asarray(relative[np.maximum(places, 0)])


def _of_nights(moves: Floats) -> tuple[Floats, Floats]:
    series = (~np.isnan(moves)).sum(axis=0)
    median = np.nanmedian if np.isnan(moves).any() else np.median
    scatters = median(np.abs(moves - median(moves, axis=0)), axis=0)
    logs = np.log(np.maximum(scatters, UNEVEN))
    seen = scale(np.abs(np.diff(logs))) / math.sqrt(2)
    # a wider scatter, of one night even, moves series apart in two nights; steps do so in one. The first and the last night
    # are compared with the two nights beside them: a night that scatters less makes no other one do so
    around = np.concatenate([logs[2:3], logs, logs[-3:-2]])
    logs = np.minimum(logs, np.maximum(around[:-2], around[2:]))
    return logs, np.maximum(np.sqrt(ERROR**2 / series + UNEVEN**2), seen)
