"""Where may the level have changed? Optimal partition of many series at once, from prefix sums.

The partition minimises the squared distance to the mean of each segment plus a penalty a change: exact (dynamic
programming over all partitions), for all series of a block together, night by night. It proposes; `detector` disposes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BLOCK = 128
"""Series partitioned together: their sums of one night stay in the cache."""


def partition(values: Floats, lengths: Integers, penalties: Floats, least: int) -> list[list[int]]:
    """The nights at which a new segment starts, a series; `values` (series, nights) are in units of their noise.

    Only the first `lengths` values of a series count. No segment is shorter than `least` nights.
    """
    found: list[list[int]] = []
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        nights = int(lengths[block].max(initial=0))
        found += _partition_block(values[block, :nights], lengths[block], penalties[block], least)
    return found


def _partition_block(values: Floats, lengths: Integers, penalties: Floats, least: int) -> list[list[int]]:
    count, nights = values.shape
    first = np.zeros((nights + 1, count))
    np.cumsum(values.T, axis=0, out=first[1:])
    # a segment costs its squares minus its sum squared over its length; the squares of all nights are in every partition, so
    # the least cost of the first nights is kept without them
    best = np.full((nights + 1, count), np.inf)
    best[0] = -penalties
    previous = np.zeros((nights + 1, count), dtype=np.int32)
    shares = 1.0 / np.arange(nights, 0, -1, dtype=np.float64)[:, None] if nights else np.empty((0, 1))
    room = np.empty((nights, count))
    columns = np.arange(count)
    for end in range(least, nights + 1):
        starts = end - least + 1
        costs = room[:starts]
        np.subtract(first[end], first[:starts], out=costs)
        np.square(costs, out=costs)
        np.multiply(costs, shares[nights - end : nights - end + starts], out=costs)
        np.subtract(best[:starts], costs, out=costs)
        chosen = costs.argmin(axis=0)
        previous[end] = chosen
        best[end] = costs[chosen, columns] + penalties
    return [_walk(previous[:, i], int(lengths[i])) for i in range(count)]


def _walk(previous: NDArray[Any], end: int) -> list[int]:
    changes: list[int] = []
    while end > 0:
        end = int(previous[end])
        if end > 0:
            changes.append(end)
    return changes[::-1]
