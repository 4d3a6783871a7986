"""Ranges of threads, each within the one around it: which is the innermost at some moment, and what is around that."""

from __future__ import annotations

import numpy as np

from aoe_reports.model.arrays.columns import Ints, distinct, distinct_places, rising

NONE = -1


class Nest:
    """Ranges by the place at which they were handed over; those that last no time hold nothing, and are in none.

    A stack of calls has no ranges that cross, but times are rounded. Of two that do the outer one is taken to end where the inner one
    begins, or the inner one where the outer one ends, whichever changes less. `crossing` counts them.
    """

    def __init__(self, start: Ints, end: Ints, thread: Ints) -> None:
        """Put them in order; threads are numbers from 0."""
        rows = np.flatnonzero(end > start)
        order = rows[np.lexsort((-end[rows], start[rows], thread[rows]))]
        self._rows, self._count = order, len(start)
        self._times, ranks = distinct_places(np.concatenate([start[order], end[order]]))
        lane = thread[order].astype(np.int64) * (len(self._times) + 1) + 1
        self._start, self._end = lane + ranks[: len(order)], lane + ranks[len(order) :]
        self._depth, self._parent = _nested(self._start, self._end)
        self.crossing = self._cut(thread[order])

    @property
    def parents(self) -> Ints:
        """The range around each, -1 for none; by place."""
        found = np.full(self._count, NONE, dtype=np.int64)
        found[self._rows] = self._places(self._parent)
        return found

    @property
    def depths(self) -> Ints:
        """How many ranges are around each; by place."""
        found = np.zeros(self._count, dtype=np.int64)
        found[self._rows] = self._depth
        return found

    def innermost(self, thread: Ints, time: Ints) -> Ints:
        """The place of the innermost range at each moment of a thread, -1 for none; the end is no part of a range."""
        if not len(self._rows):
            return np.full(len(time), NONE, dtype=np.int64)
        rank = np.searchsorted(self._times, time, side="right") - 1
        moment = thread.astype(np.int64) * (len(self._times) + 1) + 1 + rank
        found = np.searchsorted(self._start, moment, side="right") - 1
        open_ = np.flatnonzero(found >= 0)
        while len(open_ := open_[self._end[found[open_]] <= moment[open_]]):
            found[open_] = self._parent[found[open_]]
            open_ = open_[found[open_] >= 0]
        return self._places(found)

    def _places(self, found: Ints) -> Ints:
        return np.where(found >= 0, self._rows[np.maximum(found, 0)], NONE) if len(self._rows) else found

    def _cut(self, thread: Ints) -> int:
        """Let no range end behind the one around it; how many did."""
        inner = np.flatnonzero(self._parent >= 0)
        crossing = inner[self._end[inner] > self._end[self._parent[inner]]]
        if not len(crossing):
            return 0
        count = 0
        for number in distinct(thread[crossing]).tolist():
            first, last = np.searchsorted(thread, [number, number + 1]).tolist()
            lane = number * (len(self._times) + 1) + 1
            starts, ends = (self._times[one[first:last] - lane] for one in (self._start, self._end))
            count += _cut_thread(starts, ends)
            self._end[first:last] = np.searchsorted(self._times, ends) + lane
        self._depth, self._parent = _nested(self._start, self._end)
        return count


def _nested(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """(how many ranges are around each, the place of that around it) of ranges by start, the longest first, if none cross."""
    places = np.arange(len(start), dtype=np.int64)
    depth = places - np.searchsorted(rising(end), start, side="right")
    count = len(start) + 1
    levels = rising(depth * count + places)
    near = np.searchsorted(levels, (depth - 1) * count + places) - 1
    above = levels[np.maximum(near, 0)] if len(levels) else levels
    there = (depth > 0) & (near >= 0) & (above // count == depth - 1)
    return depth, np.where(there, above % count, NONE)


def _cut_thread(start: Ints, end: Ints) -> int:
    """The same of one thread, range by range, in place; how often two crossed."""
    starts, ends = start.tolist(), end.tolist()
    stack: list[int] = []
    count = 0
    for place, begin in enumerate(starts):
        while stack and (around := ends[stack[-1]]) < ends[place]:
            if begin < around:
                count += 1
                if ends[place] - around < around - begin:
                    ends[place] = around
                    break
                ends[stack[-1]] = begin
            stack.pop()
        while stack and ends[stack[-1]] <= begin:
            stack.pop()
        stack.append(place)
    end[:] = ends
    return count
