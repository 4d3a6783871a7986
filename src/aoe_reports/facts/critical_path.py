"""The critical path: the chain of dependencies that bounds some time, what it consists of, slack, and the time after a change.

Works on slices of time in lanes (streams, threads). A slice begins when all that it depends on has ended: the slice before it in its
lane, and one of another lane (what launched it, what it waited for). Times are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.model.columns import Ints, Mask
from aoe_reports.model.intervals import Intervals
from aoe_reports.model.path_kinds import KINDS, Kind

POINT = -1
"""Stands in place of a kind for what takes no time itself: a moment of the host, an end of a wait."""
COMMUNICATION = KINDS.index("communication")
"""Its place in KINDS."""
_NONE = -1


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
class Segment:
    """Some time of a path: of a slice, or between what it began behind and its begin."""

    start_ns: int
    end_ns: int
    kind: Kind
    place: int
    """The slice that it is of, or that it leads to."""

    @property
    def duration_ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.start_ns


def graph_of(slices: Slices) -> Graph:
    """Put slices in order and find what each began behind; causes that end only after its begin are left out."""
    order = np.lexsort((slices.name, slices.kind != POINT, slices.lane, slices.end, slices.start))
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
    place = np.arange(len(slices))
    return last_before((slices.lane, slices.end, place), (slices.lane, slices.start, place))


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


def path_of(graph: Graph, last: int, begin_ns: int, at_work: Mapping[int, Intervals]) -> list[Segment]:
    """The segments from `begin_ns` to the end of a slice, in order of time: together they are exactly as long as that.

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
    at_host = _AtWork(at_work, np.where(of_host, slices.lane[chain], _NONE), until, starts)
    rows = zip(
        chain.tolist(),
        until.tolist(),
        starts.tolist(),
        ends.tolist(),
        slices.kind[chain].tolist(),
        of_host.tolist(),
        launched.tolist(),
        strict=True,
    )
    found: list[Segment] = []
    for number, (place, ready, start, end, kind, on_host, by_host) in enumerate(rows):
        if on_host:
            found += _on_host(at_host.ranges(number), ready, start, place)
        elif ready < start:
            found.append(Segment(ready, start, "launch" if by_host else "unexplained wait", place))
        if start < end:
            found.append(Segment(start, end, KINDS[kind], place))
    return found


class _AtWork:
    """The recorded ranges of threads of the host that reach into some times, all of which are looked up at once."""

    def __init__(self, at_work: Mapping[int, Intervals], lanes: Ints, begins: Ints, ends: Ints) -> None:
        first = np.zeros(len(lanes), dtype=np.int64)
        behind = np.zeros(len(lanes), dtype=np.int64)
        self._ranges: dict[int, tuple[list[int], list[int]]] = {}
        for lane in set(lanes.tolist()) & set(at_work):
            ranges, rows = at_work[lane], lanes == lane
            first[rows] = np.searchsorted(ranges.ends, begins[rows], side="right")
            behind[rows] = np.searchsorted(ranges.starts, ends[rows])
            self._ranges[lane] = ranges.starts.tolist(), ranges.ends.tolist()
        self._lanes, self._first, self._behind = lanes.tolist(), first.tolist(), behind.tolist()

    def ranges(self, number: int) -> list[tuple[int, int]]:
        """The ranges that reach into one of the times: not clipped to it."""
        known = self._ranges.get(self._lanes[number])
        if known is None:
            return []
        here = slice(self._first[number], self._behind[number])
        return list(zip(known[0][here], known[1][here], strict=True))


def _chain(graph: Graph, last: int, begin_ns: int) -> Ints:
    """The slices from the first that ends after `begin_ns` to the last, each behind which the next one began."""
    behind = np.where(graph.by_cause, graph.slices.cause, graph.before)[: last + 1].tolist()
    ends = graph.slices.end
    chain = [last]
    while (place := behind[chain[-1]]) >= 0 and ends[place] > begin_ns:
        chain.append(place)
    return np.asarray(chain[::-1], dtype=np.int64)


def _on_host(ranges: Sequence[tuple[int, int]], start: int, end: int, place: int) -> list[Segment]:
    """Time of a thread of the host: that in recorded ranges, and the rest."""
    found: list[Segment] = []
    if start >= end:
        return found
    now = start
    for begin, until in ranges:
        begin, until = max(begin, start), min(until, end)  # noqa: PLW2901 -- clipped
        if begin > now:
            found.append(Segment(now, begin, "unexplained wait", place))
        found.append(Segment(begin, until, "host", place))
        now = until
    if now < end:
        found.append(Segment(now, end, "unexplained wait", place))
    return found


def time_by_kind(segments: Sequence[Segment]) -> dict[Kind, int]:
    """How long the segments of each kind are together."""
    found = dict.fromkeys(KINDS, 0)
    for segment in segments:
        found[segment.kind] += segment.duration_ns
    return found


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
    late = np.where(sinks, end_ns, _NEVER).tolist()
    rows = zip(
        range(len(window) - 1, -1, -1),
        (window.end - window.start)[::-1].tolist(),
        window.before[::-1].tolist(),
        window.before_ns[::-1].tolist(),
        window.cause[::-1].tolist(),
        window.cause_ns[::-1].tolist(),
        strict=True,
    )
    for place, length, before, before_ns, cause, cause_ns in rows:
        begin = late[place] - length
        if before >= 0:
            late[before] = min(late[before], begin - before_ns)
        if cause >= 0:
            late[cause] = min(late[cause], begin - cause_ns)
    slack: Ints = np.minimum(np.asarray(late, dtype=np.int64) - window.end, MAX_SLACK)
    return slack


_NEVER = 2**62
MAX_SLACK = 2**60


def some_of(window: Window, chosen: Mask) -> Window:
    """A window of some of its slices: they no longer depend on others."""
    rank = np.where(chosen, np.cumsum(chosen) - 1, _NONE)
    before, cause = (np.where(behind >= 0, rank[behind], _NONE)[chosen] for behind in (window.before, window.cause))
    return Window(
        first=window.first,
        start=window.start[chosen],
        end=window.end[chosen],
        kind=window.kind[chosen],
        before=before,
        before_ns=window.before_ns[chosen],
        cause=cause,
        cause_ns=window.cause_ns[chosen],
        floor=window.floor[chosen],
    )


def ends_after(window: Window, saved_ns: Ints) -> Ints:
    """When each slice ends if each takes `saved_ns` less time."""
    ends: list[int] = []
    rows = zip(
        window.floor.tolist(),
        (window.end - window.start - saved_ns).tolist(),
        window.before.tolist(),
        window.before_ns.tolist(),
        window.cause.tolist(),
        window.cause_ns.tolist(),
        strict=True,
    )
    for floor, length, before, before_ns, cause, cause_ns in rows:
        begin = floor
        if before >= 0 and (ready := ends[before] + before_ns) > begin:
            begin = ready
        if cause >= 0 and (ready := ends[cause] + cause_ns) > begin:
            begin = ready
        ends.append(begin + length)
    return np.asarray(ends, dtype=np.int64)


def is_busy(kind: Ints) -> Mask:
    """Whether slices compute or communicate: what a step consists of."""
    return (kind >= 0) & (kind <= COMMUNICATION)
