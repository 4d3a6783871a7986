"""What a chart of memory shows: how much was allocated, reserved and active over time, and who held it at the peak."""

from __future__ import annotations

from dataclasses import dataclass
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
class MemoryPart:
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
    parts: tuple[MemoryPart, ...] = ()


def curve_of(measure: Measure, at_ns: Ints, size_bytes: Ints, duration_ns: int, most: int) -> MemoryCurve:
    """A curve of `most` columns of pixels, each with its first, least, greatest and last size, so that no peak is lost.

    Times are since the begin of the picture and rise.
    """
    places = np.arange(len(at_ns))
    if len(places) > 4 * most:
        pixels = at_ns * most // max(duration_ns, 1)
        first = np.flatnonzero(np.diff(pixels, prepend=pixels[0] - 1))
        last = np.append(first[1:], len(places)) - 1
        by_size = np.lexsort((places, size_bytes, pixels))
        places = np.unique(np.concatenate((first, last, by_size[first], by_size[last])))
    return MemoryCurve(measure, at_ns[places], size_bytes[places])
