"""Spans of time of one capture, as many as there are: unions and their gaps window by window, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from aoe_reports.formats.spilled import Numbers, SpilledColumns
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, rising
from aoe_reports.model.arrays.intervals import Intervals, united

WINDOW_SPANS = 1 << 18
"""About so many spans are looked at at the same time."""
_SAMPLED = 64
"""Every such span tells where windows end."""
EVER = (-(2**63), 2**63 - 1)


class Spans(SpilledColumns):
    """Spans collected batch by batch: a few numbers each, names as numbers."""

    def where(self, chosen: Callable[[Numbers], Mask]) -> Numbers:
        """The spans for which that holds, all at once."""
        return _joined([chosen_of(some, chosen(some)) for some in self.blocks()], self.names)


@dataclass(frozen=True, slots=True)
class SpansOf:
    """The spans of some processes; None: of all."""

    spans: Spans
    pids: Sequence[int] | None = None

    def blocks(
        self, start: int = EVER[0], end: int = EVER[1], only: Collection[str] | None = None
    ) -> Iterator[Numbers]:
        """Those that begin from `start` to before `end`, some at a time; `only` some of their columns."""
        for some in self.spans.blocks(("start", start, end), only and {"start", "pid", *only}):
            mask = np.ones(len(some["start"]), dtype=bool)
            if (start, end) != EVER:
                mask = (some["start"] >= start) & (some["start"] < end)
            if self.pids is not None:
                mask &= np.isin(some["pid"], self.pids)
            yield chosen_of(some, mask)

    def between(self, start: int, end: int) -> Numbers:
        """Those that begin from `start` to before `end`."""
        return _joined(list(self.blocks(start, end)), self.spans.names)

    def whole(self) -> Numbers:
        """All of them."""
        every = self.spans.whole()
        return every if self.pids is None else chosen_of(every, np.isin(every["pid"], self.pids))

    def where(self, chosen: Callable[[Numbers], Mask]) -> Numbers:
        """Those for which that holds."""
        return _joined([chosen_of(some, chosen(some)) for some in self.blocks()], self.spans.names)

    def pids_there(self) -> list[int]:
        """The processes that have any of them, by their numbers."""
        return sorted({pid for some in self.blocks(only=("pid",)) for pid in distinct(some["pid"]).tolist()})


def chosen_of(numbers: Numbers, chosen: Mask | Ints) -> Numbers:
    """Some of the rows of columns; the same where these are all."""
    if chosen.dtype == bool and chosen.all():
        return numbers
    return {name: values[chosen] for name, values in numbers.items()}


def _joined(parts: Sequence[Numbers], names: Sequence[str]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    nothing = np.zeros(0, dtype=np.int64)
    return {name: np.concatenate([part[name] for part in parts]) if parts else nothing for name in names}


def windows(*spans: SpansOf) -> list[tuple[int, int]]:
    """[start, end) of windows one behind the other, with about WINDOW_SPANS beginning in each."""
    count, sampled = 0, []
    for some in (block for span in spans for block in span.blocks(only=("start",))):
        count += len(some["start"])
        sampled.append(some["start"][::_SAMPLED])
    if count <= WINDOW_SPANS:
        return [EVER]
    cuts = distinct(rising(np.concatenate(sampled))[:: max(WINDOW_SPANS // _SAMPLED, 1)]).tolist()
    bounds = [EVER[0], *cuts[1:], EVER[1]]
    return list(pairwise(bounds))


@dataclass(slots=True)
class RunningUnion:
    """The union of intervals that come window by window."""

    _closed: int = 0
    _open: tuple[int, int] | None = None
    start: int | None = None

    def add(self, intervals: Intervals) -> Intervals:
        """Take in what begins behind all of the windows before: the union from the last interval of these on."""
        found = intervals
        if self._open is not None:
            start, end = (np.asarray([value], dtype=np.int64) for value in self._open)
            found = united(Intervals(start, end), intervals)
        if len(found):
            self._open = int(found.starts[-1]), int(found.ends[-1])
            self._closed += found.total - (self._open[1] - self._open[0])
            self.start = int(found.starts[0]) if self.start is None else self.start
        return found

    @property
    def end(self) -> int | None:
        """Where the last interval ends."""
        return None if self._open is None else self._open[1]

    @property
    def total(self) -> int:
        """How long they are together."""
        return self._closed + (self._open[1] - self._open[0] if self._open is not None else 0)


@dataclass(slots=True)
class LongestGaps:
    """The longest times between the intervals of a union, which come window by window; how many there are, how long together."""

    most: int
    count: int = 0
    total: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """(start, end) of the longest, the longest first; of equal ones the earlier."""

    def add(self, intervals: Intervals) -> None:
        """Take in the gaps between some intervals."""
        lengths = intervals.starts[1:] - intervals.ends[:-1]
        self.count += len(lengths)
        self.total += int(lengths.sum())
        found = [
            (int(intervals.ends[place]), int(intervals.starts[place + 1])) for place in _largest(lengths, self.most)
        ]
        self.spans = sorted([*self.spans, *found], key=lambda span: (span[0] - span[1], span[0]))[: self.most]


def _largest(lengths: Ints, count: int) -> list[int]:
    """The places of the largest, which come first; of equal ones the earlier."""
    if not 0 < count < len(lengths):
        every: list[int] = np.argsort(-lengths, kind="stable")[:count].tolist()
        return every
    least = np.partition(lengths, len(lengths) - count)[len(lengths) - count]
    places = np.flatnonzero(lengths >= least)
    longest: list[int] = places[np.argsort(-lengths[places], kind="stable")][:count].tolist()
    return longest
