"""The critical path: the chain of dependencies that bounds some time, what it consists of, slack, and the time after a change.

Works on slices of time in lanes (streams, threads). A slice begins when all that it depends on has ended: the slice before it in its
lane, and one of another lane (what launched it, what it waited for). Times are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aoe_reports.formats.native import time_slices
from aoe_reports.model.arrays.columns import Ints, Mask, exact_sum, order_by, places_by
from aoe_reports.model.arrays.intervals import Intervals
from aoe_reports.model.pictures.path_kinds import KINDS, Kind

POINT = -1
"""Stands in place of a kind for what takes no time itself: a moment of the host, an end of a wait."""
COMMUNICATION, _LAST_OF_SLICES, _LAUNCH, _HOST, _UNEXPLAINED = (
    KINDS.index(kind) for kind in ("communication", "other task", "launch", "host", "unexplained wait")
)
_NONE = -1
_NO_RANGES = Intervals(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Slices:
    """What happened, each with its lane; `cause` is the place of the slice of another lane that it depends on, -1 for none."""

    start: Ints
    end: Ints
    lane: Ints
    kind: Ints
    """A place in KINDS, or POINT."""
    cause: Ints
    delay: Ints
    """The least time from the end of its cause to its begin."""
    host: Ints
    """1 for a moment of the host."""
    name: Ints
    """By which equal times are put in order, so that the order of a file decides nothing."""

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Graph:
    """Slices in an order in which each stands behind all that it depends on, with the time that each dependency takes."""

    slices: Slices
    places: Ints
    """Where each slice stood when they were handed over."""
    before: Ints
    """The slice before it in its lane, -1 for none."""
    before_ns: Ints
    """From the end of that to its begin, where that is what it began behind; else 0."""
    cause_ns: Ints
    """The same of its cause; else the least delay."""
    by_cause: Mask
    """Whether its cause was ready last: it began behind that."""


@dataclass(frozen=True, slots=True)
class Segments:
    """A path in order of time, one behind the other: times of slices, and times between what a slice began behind and its begin."""

    start: Ints
    end: Ints
    kind: Ints
    """A place in KINDS."""
    place: Ints
    """The slice that each is of, or that it leads to."""

    @property
    def duration(self) -> Ints:
        """How long each is."""
        return self.end - self.start

    @property
    def of_slices(self) -> Mask:
        """Which are times of slices."""
        return self.kind <= _LAST_OF_SLICES

    def __len__(self) -> int:
        return len(self.start)


def graph_of(slices: Slices) -> Graph:
    """Put slices in order and find what each began behind; causes that end only after its begin are left out."""
    order = order_by(slices.start, slices.end, slices.lane, slices.kind != POINT, slices.name)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    cause = np.where(slices.cause >= 0, rank[slices.cause], _NONE)[order] if len(order) else slices.cause
    sorted_ = Slices(
        start=slices.start[order],
        end=slices.end[order],
        lane=slices.lane[order],
        kind=slices.kind[order],
        cause=cause,
        delay=slices.delay[order],
        host=slices.host[order],
        name=slices.name[order],
    )
    start, end = sorted_.start, sorted_.end
    usable = (cause >= 0) & (cause < np.arange(len(order)))
    usable &= end[np.maximum(cause, 0)] <= start
    cause = np.where(usable, cause, _NONE)
    before = _before_in_lane(sorted_)
    by_lane = np.where(before >= 0, end[before], np.iinfo(np.int64).min)
    delay = np.where(usable, np.minimum(sorted_.delay, start - end[cause]), 0)
    by_cause = usable & (end[cause] + delay >= by_lane)
    return Graph(
        slices=Slices(start, end, sorted_.lane, sorted_.kind, cause, delay, sorted_.host, sorted_.name),
        places=order,
        before=before,
        before_ns=np.where((before >= 0) & ~by_cause, start - end[before], 0),
        cause_ns=np.where(by_cause, start - end[cause], delay),
        by_cause=by_cause,
    )


def _before_in_lane(slices: Slices) -> Ints:
    """The slice of the same lane that ended last before each begins (slices of a lane may overlap), -1 for none."""
    found = np.full(len(slices), _NONE, dtype=np.int64)
    for _, mine in places_by(slices.lane):
        start, end = slices.start[mine], slices.end[mine]
        by_end = np.argsort(end, kind="stable")
        ended = np.searchsorted(end[by_end], start, side="right")
        # one of no length has not ended before itself, nor have those behind it that begin and end with it
        moments = start == end
        if moments.any():
            at = np.empty(len(mine), dtype=np.int64)
            at[by_end] = np.arange(len(mine))
            ended[moments] = at[moments]
        found[mine] = np.where(ended > 0, mine[by_end[ended - 1]], _NONE)
    return found


def last_before(some: tuple[Ints, Ints, Ints], others: tuple[Ints, Ints, Ints]) -> Ints:
    """The place of the last of some moments of the same lane before each of others, -1 for none.

    A moment is (lane, time, rank): of equal times the lower rank is before the higher one.
    """
    count = len(some[0])
    lanes, times, ranks = (np.concatenate(pair) for pair in zip(some, others, strict=True))
    order = np.lexsort((np.arange(len(lanes)) < count, ranks, times, lanes))
    position = np.arange(len(order))
    latest = np.maximum.accumulate(np.where(order < count, position, -1))
    asking = np.flatnonzero(order >= count)
    near = order[np.maximum(latest[asking], 0)]
    same = (latest[asking] >= 0) & (lanes[near] == lanes[order[asking]])
    found = np.full(len(others[0]), _NONE, dtype=np.int64)
    found[order[asking] - count] = np.where(same, near, _NONE)
    return found


def path_of(graph: Graph, last: int, begin_ns: int, at_work: Mapping[int, Intervals]) -> Segments:
    """The segments from `begin_ns` to the end of a slice: together they are exactly as long as that.

    `at_work` has by lane when a thread of the host was in a recorded range: other time of the host is unexplained.
    """
    slices = graph.slices
    chain = _chain(graph, last, begin_ns)
    ends = np.minimum(slices.end[chain], slices.end[last])
    starts = np.maximum(slices.start[chain], begin_ns)
    until = np.concatenate([[begin_ns], np.maximum(ends[:-1], begin_ns)])
    launched = np.concatenate([[False], slices.host[chain][:-1] > 0])
    if graph.before[chain[0]] >= 0 or slices.cause[chain[0]] >= 0:  # what it began behind ended before the begin
        first = slices.cause[chain[0]] if graph.by_cause[chain[0]] else graph.before[chain[0]]
        launched[0] = slices.host[first] > 0
    of_host = slices.host[chain] > 0
    device = ~of_host
    parts = [
        Segments(starts[device], ends[device], slices.kind[chain[device]], chain[device]),
        Segments(until[device], starts[device], np.where(launched[device], _LAUNCH, _UNEXPLAINED), chain[device]),
    ]
    on_host = np.flatnonzero(of_host)
    for lane, some in places_by(slices.lane[chain[on_host]]):
        mine = on_host[some]
        parts += _on_host(at_work.get(lane, _NO_RANGES), until[mine], starts[mine], chain[mine])
    start, end, kind, place = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end", "kind", "place")
    )
    there = np.flatnonzero(start < end)
    order = there[np.argsort(start[there], kind="stable")]
    return Segments(start[order], end[order], kind[order], place[order])


def _chain(graph: Graph, last: int, begin_ns: int) -> Ints:
    """The slices from the first that ends after `begin_ns` to the last, each behind which the next one began."""
    behind = np.where(graph.by_cause, graph.slices.cause, graph.before)[: last + 1]
    behind_of = np.where((behind >= 0) & (graph.slices.end[behind] > begin_ns), behind, _NONE).tolist()
    chain, place = [], last
    while place >= 0:
        chain.append(place)
        place = behind_of[place]
    return np.asarray(chain[::-1], dtype=np.int64)


def _on_host(ranges: Intervals, start: Ints, end: Ints, place: Ints) -> tuple[Segments, Segments]:
    """Times of a thread of the host, each leading to a slice: (what of them is in recorded ranges, the rest); some of no length."""
    first = np.searchsorted(ranges.ends, start, side="right")
    count = np.maximum(np.searchsorted(ranges.starts, end) - first, 0)
    owner = np.repeat(np.arange(len(start)), count)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    one = first[owner] + number
    begins, ends = np.maximum(ranges.starts[one], start[owner]), np.minimum(ranges.ends[one], end[owner])
    inside = Segments(begins, ends, np.full(len(owner), _HOST), place[owner])
    # before each range, and behind the last
    behind = np.append(0, ends[:-1])[: len(owner)]
    before_each = np.where(number == 0, start[owner], behind)
    until_last = start.copy()
    until_last[owner[number == count[owner] - 1]] = ends[number == count[owner] - 1]
    rest = Segments(
        np.concatenate([before_each, until_last]),
        np.concatenate([begins, end]),
        np.full(len(owner) + len(start), _UNEXPLAINED),
        np.concatenate([place[owner], place]),
    )
    return inside, rest


def time_by_kind(segments: Segments) -> dict[Kind, int]:
    """How long the segments of each kind are together."""
    return {kind: exact_sum(segments.duration[segments.kind == number]) for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Window:
    """The slices of a graph that begin within some time; places are counted from its first one."""

    first: int
    start: Ints
    end: Ints
    kind: Ints
    before: Ints
    before_ns: Ints
    cause: Ints
    cause_ns: Ints
    floor: Ints
    """What began before the window lets a slice begin no earlier; where nothing is known that it depends on, it begins when it did."""

    def __len__(self) -> int:
        return len(self.start)


def window_of(graph: Graph, begin_ns: int, end_ns: int) -> Window:
    """What begins from one time to another, both among them."""
    slices = graph.slices
    first = int(np.searchsorted(slices.start, begin_ns))
    some = slice(first, max(int(np.searchsorted(slices.start, end_ns, side="right")), first))
    before, cause = graph.before[some], slices.cause[some]
    before_ns, cause_ns = graph.before_ns[some], graph.cause_ns[some]
    floor = np.where((before < 0) & (cause < 0), slices.start[some], np.iinfo(np.int64).min)
    for behind, delay in ((before, before_ns), (cause, cause_ns)):
        outside = (behind >= 0) & (behind < first)
        floor[outside] = np.maximum(floor[outside], slices.end[behind[outside]] + delay[outside])
    return Window(
        first=first,
        start=slices.start[some],
        end=slices.end[some],
        kind=slices.kind[some],
        before=np.maximum(before - first, _NONE),
        before_ns=before_ns,
        cause=np.maximum(cause - first, _NONE),
        cause_ns=cause_ns,
        floor=floor,
    )


def slack_of(window: Window, sinks: Mask, end_ns: int) -> Ints:
    """How much later each slice could end before the last of the sinks ends after `end_ns`; MAX_SLACK where none depends on it."""
    late = late_ends(window, window.end - window.start, np.where(sinks, end_ns, _NEVER))
    slack: Ints = np.minimum(late - window.end, MAX_SLACK)
    return slack


_NEVER = 2**62
MAX_SLACK = 2**60


def ends_after(window: Window, saved_ns: Ints) -> Ints:
    """When each slice ends if each takes `saved_ns` less time."""
    return ends_of(window, window.end - window.start - saved_ns, window.floor)


def is_busy(kind: Ints) -> Mask:
    """Whether slices compute or communicate: what a step consists of."""
    return (kind >= 0) & (kind <= COMMUNICATION)


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
