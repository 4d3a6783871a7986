"""Sets of time: unions of intervals [start, end) in whole nanoseconds, as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Ints, exact_sum


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals that neither touch nor overlap, by time."""

    starts: Ints
    ends: Ints

    @property
    def total(self) -> int:
        """How long they are together."""
        return exact_sum(self.ends - self.starts)

    def __len__(self) -> int:
        return len(self.starts)


def union(starts: Ints, ends: Ints) -> Intervals:
    """The time that any of some intervals covers; what touches becomes one."""
    if not len(starts):
        return Intervals(starts, ends)
    if (starts[1:] < starts[:-1]).any():
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], ends[order]
        del order  # there may be millions
        np.maximum.accumulate(reach, out=reach)
    else:
        reach = np.maximum.accumulate(ends)
    begins = np.flatnonzero(np.append(True, starts[1:] > reach[:-1]))
    return Intervals(starts[begins], reach[np.append(begins[1:], len(starts)) - 1])


def united(intervals: Intervals, other: Intervals) -> Intervals:
    """The time that either covers."""
    if not len(intervals) or not len(other):
        return other if len(other) else intervals
    return union(np.concatenate([intervals.starts, other.starts]), np.concatenate([intervals.ends, other.ends]))


def common(intervals: Intervals, other: Intervals) -> Intervals:
    """The time that both cover."""
    first = np.searchsorted(other.ends, intervals.starts, side="right")
    counts = np.maximum(np.searchsorted(other.starts, intervals.ends) - first, 0)
    of = np.repeat(np.arange(len(intervals)), counts)
    rows = np.arange(len(of)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    return Intervals(
        np.maximum(intervals.starts[of], other.starts[rows]), np.minimum(intervals.ends[of], other.ends[rows])
    )


def without(intervals: Intervals, other: Intervals) -> Intervals:
    """The time that the first covers and the second does not."""
    return common(intervals, Intervals(np.append(-(2**63), other.ends), np.append(other.starts, 2**63 - 1)))


def covered(intervals: Intervals, start: int, end: int) -> int:
    """How much of the time from `start` to `end` is covered."""
    inside = np.minimum(intervals.ends, end) - np.maximum(intervals.starts, start)
    return int(inside[inside > 0].sum())


def covered_each(intervals: Intervals, starts: Ints, ends: Ints) -> Ints:
    """How much of each time from a start to its end is covered."""
    sums = np.append(np.int64(0), np.cumsum(intervals.ends - intervals.starts))

    def until(times: Ints) -> Ints:
        place = np.searchsorted(intervals.starts, times, side="right")
        last = np.maximum(place - 1, 0)
        beyond = np.maximum(intervals.ends[last] - times, 0)
        return np.where(place > 0, sums[place] - beyond, 0)

    if not len(intervals):
        return np.zeros(len(starts), dtype=np.int64)
    return until(ends) - until(starts)
