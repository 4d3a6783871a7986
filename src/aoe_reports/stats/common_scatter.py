"""Did the scatter of a whole workload change? Of its series together two nights tell what takes one series weeks.

What nights are off the night before, in the scatter of each series, less what the series of a night have in common: a step of all of
them is no scatter. The median of a night over all series follows the scatter, whatever spikes some of them have; a single night in
which series moved apart is one of steps, by unlike sizes or of some of them. The logarithms are partitioned into levels
(`stats/partition`; Inclan and Tiao 1994, "Use of cumulative sums of squares for retrospective detection of changes of variance", say
why scatters are compared by ratios).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from aoe_reports.stats.noise import Floats, Integers, scale
from aoe_reports.stats.partition import partition
from aoe_reports.stats.scatter import EVIDENCE, MIN_RATIO

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
    """(logarithm of the scatter, its error) of each night; nights that differ by more than chance have larger errors."""
    series = (~np.isnan(moves)).sum(axis=0)
    median = np.nanmedian if np.isnan(moves).any() else np.median
    scatters = median(np.abs(moves - median(moves, axis=0)), axis=0)
    logs = np.log(np.maximum(scatters, UNEVEN))
    seen = scale(np.abs(np.diff(logs))) / math.sqrt(2)
    # a wider scatter, of one night even, moves series apart in two nights; steps do so in one. The first and the last night
    # are held against the two nights beside them: a night that scatters less makes no other one do so
    around = np.concatenate([logs[2:3], logs, logs[-3:-2]])
    logs = np.minimum(logs, np.maximum(around[:-2], around[2:]))
    return logs, np.maximum(np.sqrt(ERROR**2 / series + UNEVEN**2), seen)
