"""Where may the level have changed? Optimal partition of many series at once, from prefix sums.

The partition minimises the squared distance to the mean of each segment plus a penalty a change: exact (dynamic
programming over all partitions), for all series of a block together, night by night. It proposes; `detector` disposes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from aoe_reports.stats.noise import Floats, Integers

BLOCK = 256
"""Series partitioned together: their sums of one night stay in the cache."""
THREADS = 2
"""Blocks at once: numpy lets other threads run while it counts; more wait for the memory."""


def partition(values: Floats, lengths: Integers, penalties: Floats, least: int) -> list[list[int]]:
    """The nights at which a new segment starts, a series; `values` (series, nights) are in units of their noise.

    Only the first `lengths` values of a series count. No segment is shorter than `least` nights.
    """

    def of_block(start: int) -> list[list[int]]:
        block = slice(start, start + BLOCK)
        nights = int(lengths[block].max(initial=0))
        return _partition_block(values[block, :nights], lengths[block], penalties[block], least)

    starts = range(0, len(values), BLOCK)
    with ThreadPoolExecutor(THREADS) as pool:
        return [changes for block in pool.map(of_block, starts) for changes in block]  # in order, however many threads


def _partition_block(values: Floats, lengths: Integers, penalties: Floats, least: int) -> list[list[int]]:
    count, nights = values.shape
    first = np.zeros((nights + 1, count))
    np.cumsum(values.T, axis=0, out=first[1:])
    # a segment costs its squares minus its sum squared over its length; the squares of all nights are in every partition, so
    # the least cost of the first nights is kept without them
    best = np.full((nights + 1, count), np.inf)
    best[0] = -penalties
    shares = 1.0 / np.arange(nights, 0, -1, dtype=np.float64)[:, None] if nights else np.empty((0, 1))
    room = np.empty((nights, count))
    for end in range(least, nights + 1):
        starts = end - least + 1
        costs = room[:starts]
        np.subtract(first[end], first[:starts], out=costs)
        np.square(costs, out=costs)
        np.multiply(costs, shares[nights - end : nights - end + starts], out=costs)
        np.subtract(best[:starts], costs, out=costs)
        np.add(costs.min(axis=0), penalties, out=best[end])
    return [_walk(first[:, i], best[:, i], int(lengths[i]), least) for i in range(count)]


def _walk(first: Floats, best: Floats, end: int, least: int) -> list[int]:
    """The changes of the cheapest partition, from the last; starts are computed again for these ends only."""
    changes: list[int] = []
    while end >= least:
        starts = end - least + 1
        shares = 1.0 / np.arange(end, least - 1, -1, dtype=np.float64)
        end = int((best[:starts] - np.square(first[end] - first[:starts]) * shares).argmin())
        if end > 0:
            changes.append(end)
    return changes[::-1]


def two_steps(values: Floats, least: int) -> Floats:
    """The three levels, of at least so many nights each, that explain values best by least squares."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    nights = np.arange(len(sums))
    first, second = nights[:, None], nights[None, :]
    lengths = (first, second - first, len(values) - second)
    parts = (sums[first], sums[second] - sums[first], sums[-1] - sums[second])
    allowed = (lengths[0] >= least) & (lengths[1] >= least) & (lengths[2] >= least)
    gains = sum(np.square(part) / np.maximum(length, 1) for part, length in zip(parts, lengths, strict=True))
    one, two = np.unravel_index(int(np.where(allowed, gains, -np.inf).argmax()), allowed.shape)
    edges = (0, int(one), int(two), len(values))
    return np.concatenate([np.full(end - begin, values[begin:end].mean()) for begin, end in pairwise(edges)])
