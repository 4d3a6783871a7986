"""When slices of time end that depend on slices before them, and how late they may: by the compiled library, where it was built for this machine.

Of 400,000 slices that takes 2 to 4 ms, and 390 ms without it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from aoe_reports.formats.native import time_slices
from aoe_reports.model.columns import Ints


class Dependent(Protocol):
    """What each of some slices depends on: each stands behind all that it does."""

    @property
    def before(self) -> Ints:
        """The slice before it in its lane, -1 for none."""

    @property
    def before_ns(self) -> Ints:
        """The least time from the end of that to its begin."""

    @property
    def cause(self) -> Ints:
        """The slice of another lane, -1 for none."""

    @property
    def cause_ns(self) -> Ints:
        """The same of that."""


def ends_of(slices: Dependent, length: Ints, floor: Ints) -> Ints:
    """When each slice ends that takes so long; `floor` is when it begins at the earliest."""
    found = np.empty(len(length), dtype=np.int64)
    return found if _timed(slices, length, floor, found) else _ends(slices, length, floor)


def late_ends(slices: Dependent, length: Ints, late: Ints) -> Ints:
    """How late each slice may end that takes so long; `late` is how late it may for its own sake."""
    found = np.array(late, dtype=np.int64)
    return found if _timed(slices, length, None, found) else _late_ends(slices, length, late)


def _timed(slices: Dependent, length: Ints, floor: Ints | None, found: Ints) -> bool:
    """Whether the library could do it; it writes into `found`."""
    return time_slices((length, slices.before, slices.before_ns, slices.cause, slices.cause_ns), floor, found)


def _ends(slices: Dependent, length: Ints, floor: Ints) -> Ints:
    ends: list[int] = []
    for least, duration, before, before_ns, cause, cause_ns in _rows(floor, length, slices):
        begin = least
        if before >= 0 and (ready := ends[before] + before_ns) > begin:
            begin = ready
        if cause >= 0 and (ready := ends[cause] + cause_ns) > begin:
            begin = ready
        ends.append(begin + duration)
    return np.asarray(ends, dtype=np.int64)


def _late_ends(slices: Dependent, length: Ints, late: Ints) -> Ints:
    ends = late.tolist()
    places = np.arange(len(ends))
    for place, duration, before, before_ns, cause, cause_ns in reversed(_rows(places, length, slices)):
        begin = ends[place] - duration
        if before >= 0:
            ends[before] = min(ends[before], begin - before_ns)
        if cause >= 0:
            ends[cause] = min(ends[cause], begin - cause_ns)
    return np.asarray(ends, dtype=np.int64)


def _rows(first: Ints, length: Ints, slices: Dependent) -> list[tuple[int, ...]]:
    columns = (first, length, slices.before, slices.before_ns, slices.cause, slices.cause_ns)
    return list(zip(*(column.tolist() for column in columns), strict=True))
