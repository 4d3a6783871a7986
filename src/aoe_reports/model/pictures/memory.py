"""What a chart of memory shows: how much was allocated, reserved and active over time, and who held it at the peak."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.texts import Text
from aoe_reports.model.topics.memory import Measure

DRAWN: tuple[Measure, ...] = ("reserved", "active", "allocated")
"""Measures in the order in which they are drawn."""
PartKind = Literal["owner", "others", "before", "unexplained"]
MAX_PARTS = 6
"""So many owners have a colour of their own; the rest are one part."""


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """One measure over time: each size holds until the next time."""

    measure: Measure
    at_ns: Ints
    """Since the begin of the picture, not falling."""
    size_bytes: Ints


@dataclass(frozen=True, slots=True)
class MemoryStep:
    """A step, since the begin of the picture."""

    number: int | None
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class OwnerBar:
    """Who holds part of the peak."""

    kind: PartKind
    label: Text | str
    size_bytes: int
    """Below 0 where what is known is more than the recorded peak."""


@dataclass(frozen=True, slots=True)
class MemoryPicture:
    """The memory of one component of one device; the sizes of all parts add up to the peak."""

    title: Text
    duration_ns: int
    measure: Measure = "allocated"
    """What the peak is a peak of."""
    has_clock: bool = True
    """False: times are numbers of events."""
    curves: tuple[MemoryCurve, ...] = ()
    steps: tuple[MemoryStep, ...] = ()
    peak_ns: int = 0
    """Since the begin of the picture."""
    peak_bytes: int = 0
    parts: tuple[OwnerBar, ...] = ()


def curve_of(
    measure: Measure, blocks: Iterable[tuple[Ints, ...]], begin_ns: int, end_ns: int, most: int
) -> MemoryCurve:
    """A curve of `most` columns of pixels, each with its first, least, greatest and last size, so that no peak is lost.

    Blocks of (times, sizes) follow each other; times rise, from the begin of the picture to its end.
    """
    parts, rows = [], 0
    for at_ns, size_bytes in blocks:
        rows += len(at_ns)
        parts.append(
            (at_ns, size_bytes) if len(at_ns) <= 4 * most else _thinned(at_ns, size_bytes, begin_ns, end_ns, most)
        )
    at_ns, size_bytes = map(np.concatenate, zip(*parts, strict=True))
    if rows > 4 * most:
        at_ns, size_bytes = _thinned(at_ns, size_bytes, begin_ns, end_ns, most)
    return MemoryCurve(measure, at_ns - begin_ns, size_bytes)


def _thinned(at_ns: Ints, size_bytes: Ints, begin_ns: int, end_ns: int, most: int) -> tuple[Ints, Ints]:
    """(times, sizes) that show in a picture."""
    edges = [begin_ns - (begin_ns - end_ns) * column // most for column in range(most + 1)]
    bounds = np.unique(np.append(np.searchsorted(at_ns, edges), [0, len(at_ns)])).tolist()
    chosen: set[int] = set()
    for first, end in pairwise(bounds):
        sizes = size_bytes[first:end]
        chosen |= {first, first + int(sizes.argmin()), first + int(sizes.argmax()), end - 1}
    places = np.array(sorted(chosen))
    return at_ns[places], size_bytes[places]
