"""Whether devices wait for the host, and why: what launches, what the host was in while nothing ran, what waited in queues.

Idle time is the time in which a device neither computes nor communicates, as in `breakdown`. Each moment of it has one cause, the first
that holds: a copy between host and device runs; the stream of what runs next waits for an event; what runs next was launched long enough ago; the host collects garbage, compiles, loads
data, copies or synchronises; the device ran dry while the host synchronised or copied; the launch of what runs next is not known; else the
host was busy with what is not recorded, or launching.

A call holds up only what is launched after it: what another thread launches meanwhile was in that thread's hands before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from aoe_reports.facts.event_waits import waited_for_events
from aoe_reports.facts.host_calls import CallGroup
from aoe_reports.facts.launches import Queue, queue_of
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, distinct_places, is_among, sums_by
from aoe_reports.model.arrays.intervals import Intervals, union
from aoe_reports.model.topics.host import HostWait

WaitCause = Literal[
    "garbage collection",
    "compilation",
    "data loading",
    "copying",
    "synchronisation",
    "launching",
    "event wait",
    "launched",
    "unknown",
]
WAIT_CAUSES: tuple[WaitCause, ...] = get_args(WaitCause)
HOST_CAUSES = WAIT_CAUSES[:6]
"""Those for which the host is to blame; of the others the device, or nobody knows."""
_COPYING, _LAUNCHING, _EVENT_WAIT, _LAUNCHED, _UNKNOWN = (
    WAIT_CAUSES.index(cause) for cause in ("copying", "launching", "event wait", "launched", "unknown")
)
_SYNCHRONISING = WAIT_CAUSES.index("synchronisation")
IN_CALLS: tuple[tuple[WaitCause, CallGroup], ...] = (
    ("garbage collection", "garbage collection"),
    ("compilation", "compilation"),
    ("data loading", "data loading"),
    ("copying", "copy"),
    ("synchronisation", "synchronisation"),
)
"""What calls of a group explain, those first that decide where several are under way."""
NEVER = 2**62
"""When something was launched of which no launch is known."""
LAUNCH_NS = 20_000
"""A launch into a device that does nothing takes up to this long: only what was launched earlier waits for something else.

Half of those of the captures of January 2025 take 12 to 15 us, of a device whose clock is behind 33 us.
"""


@dataclass(frozen=True, slots=True)
class WaitingTime:
    """A step of a device, or all of its time: how long it did nothing for what; ns."""

    step: int | None
    start_ns: int
    end_ns: int
    by_cause: tuple[int, ...]
    """In the order of WAIT_CAUSES; together they are all idle time."""
    launched: Queue | None
    """From launch to begin of what was launched in it; null where no launch is known, or nobody asks for it."""
    tasks: int
    launches_unknown: int

    @property
    def idle_ns(self) -> int:
        """For how long the device did nothing."""
        return sum(self.by_cause)

    @property
    def waited_ns(self) -> int:
        """For how much of that the host is to blame."""
        return sum(self.by_cause[: len(HOST_CAUSES)])

    @property
    def length_ns(self) -> int:
        """How long it lasts."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Busy:
    """What a device did, in the order of the begins: spans, when each was launched (NEVER: not known), in which step."""

    spans: Numbers
    launched: Ints
    step: Ints

    def bounds(self) -> tuple[Ints, Ints]:
        """(the steps in the order of their ends, when what they launched ended)."""
        known = self.step >= 0
        numbers, place = distinct_places(self.step[known])
        ends = np.full(len(numbers), -(2**62), dtype=np.int64)
        np.maximum.at(ends, place, self.spans["end"][known])
        order = np.lexsort((numbers, ends))
        return numbers[order], ends[order]


@dataclass(frozen=True, slots=True)
class HostCalls:
    """When threads that launch, or put into the queue of one that does, were in calls that explain why they launch nothing."""

    holding: Mapping[WaitCause, Intervals]
    """Calls in which nothing is launched; of IN_CALLS, in that order."""
    launching: Mapping[WaitCause, Intervals]
    """Calls that may be part of a launch: compiling and loading data, by threads that launch themselves."""
    waiting_copies: Intervals
    """Copies that return when they are done."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Idle time in pieces, each with one cause, in one gap and one step (-1: behind the last)."""

    start: Ints
    length: Ints
    cause: Ints
    gap: Ints
    step: Ints
    """The place of the step in the order of their ends."""
    gaps: tuple[Ints, Ints]

    def of_host(self) -> Intervals:
        """The idle time for which the host is to blame."""
        mine = self.cause < len(HOST_CAUSES)
        return union(self.start[mine], (self.start + self.length)[mine])


def sweep_of(busy: Busy, host: HostCalls, copies: Intervals, event_waits: Numbers) -> Sweep:
    """Cut the idle time of a device into pieces of one cause.

    `copies` are tasks that copy to or from the host, `event_waits` those that wait for an event.
    """
    starts, ends, launched = _gaps(busy)
    events = _waited_for_events(busy, (starts, ends), event_waits)
    bounds = busy.bounds()[1]
    # a call that waits for the device: without it, all that follows would have come earlier by as much as it lasts, and no more
    waits = ((_COPYING, host.waiting_copies), (_SYNCHRONISING, host.holding["synchronisation"]))
    dry = [(code, starts + _held(calls, starts - 1, launched)) for code, calls in waits if len(calls)]
    begun = launched + LAUNCH_NS
    sets = [copies, events, *host.holding.values(), *host.launching.values()]
    inside = [times[(starts < times) & (times < ends)] for times in (begun, *(until for _, until in dry))]
    cuts = distinct(np.concatenate([bounds, *inside] + [part for each in sets for part in (each.starts, each.ends)]))
    of = np.searchsorted(starts, cuts) - 1
    idle = (of >= 0) & (cuts < ends[of]) if len(starts) else np.zeros(len(cuts), dtype=bool)
    cuts, of = cuts[idle], of[idle]
    begin, gap = np.insert(starts, of + 1, cuts), np.insert(np.arange(len(starts)), of + 1, of)
    length = np.insert(ends, of, cuts) - begin
    choices = [(_held(copies, begin) > 0, _COPYING), (_held(events, begin) > 0, _EVENT_WAIT)]
    choices += [(begun[gap] <= begin, _LAUNCHED)]
    choices += _in_calls(host, begin, launched[gap])
    choices += [(begin < until[gap], code) for code, until in dry]
    choices += [(launched[gap] == NEVER, _UNKNOWN)]
    cause = np.select([mask for mask, _ in choices], [code for _, code in choices], default=_LAUNCHING)
    until = np.searchsorted(begin, bounds)
    step = np.repeat(np.append(np.arange(len(bounds)), -1), np.diff(until, prepend=0, append=len(begin)))
    return Sweep(begin, length, cause, gap, step, (starts, ends))


def _in_calls(host: HostCalls, begin: Ints, launched: Ints) -> list[tuple[Mask, int]]:
    """(which pieces calls explain that are under way, the cause), by when pieces begin and what runs next was launched."""
    found = []
    for cause, _ in IN_CALLS:
        held = _held(host.holding[cause], begin, launched) > 0
        if cause in host.launching:
            held |= _held(host.launching[cause], begin) > 0
        found.append((held, WAIT_CAUSES.index(cause)))
    return found


def _gaps(busy: Busy) -> tuple[Ints, Ints, Ints]:
    """(where each gap begins, where it ends, when the first of what begins then was launched: NEVER where that is not known)."""
    starts, reach = busy.spans["start"], np.maximum.accumulate(busy.spans["end"])
    first = np.flatnonzero(starts[1:] > reach[:-1]) + 1
    ends, least = starts[first], busy.launched[first]
    together = np.flatnonzero(starts[1:] == starts[:-1])
    if len(together):
        tied = np.flatnonzero(is_among(first, together))
        behind = np.searchsorted(starts, ends[tied], side="right")
        where = np.stack([first[tied], behind], axis=1).reshape(-1)
        least[tied] = np.minimum.reduceat(np.append(busy.launched, NEVER), where)[::2]
    return reach[first - 1], ends, least


def _waited_for_events(busy: Busy, gaps: tuple[Ints, Ints], event_waits: Numbers) -> Intervals:
    """When the streams of what begins behind gaps wait for events."""
    behind = is_among(busy.spans["start"], gaps[1])
    tasks = {name: busy.spans[name][behind] for name in ("start", "pid", "thread")}
    launched = busy.launched[behind]
    starts = gaps[0][np.searchsorted(gaps[1], tasks["start"])]
    return waited_for_events(event_waits, starts, tasks, np.where(launched == NEVER, 0, launched))


def _held(intervals: Intervals, times: Ints, launched: Ints | None = None) -> Ints:
    """The length of the interval around each of some ascending times, 0 for none; with `launched`, only of one that ends by then."""
    if not len(intervals):
        nowhere: Ints = np.broadcast_to(np.int64(0), len(times))  # takes no memory
        return nowhere
    held = np.zeros(len(times), dtype=np.int64)
    first, behind = (np.searchsorted(times, edges) for edges in (intervals.starts, intervals.ends))
    counts = behind - first
    of = np.repeat(np.arange(len(intervals)), counts)
    rows = np.arange(len(of)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    if launched is not None:
        until = intervals.ends[of] <= launched[rows]
        of, rows = of[until], rows[until]
    held[rows] = (intervals.ends - intervals.starts)[of]
    return held


def times_of(busy: Busy, sweep: Sweep, *, queues: bool = True) -> list[WaitingTime]:
    """All of the time of a device, and each of its steps; with the queues of launches, or without."""
    starts, stops = busy.spans["start"], busy.spans["end"]
    span = (int(starts[0]), int(stops.max())) if len(starts) else (0, 0)
    everything = np.ones(len(busy.step), dtype=bool)
    found = [_time(None, span, busy, everything, (sweep.length, sweep.cause), queues=queues)]
    numbers, ends = busy.bounds()
    begin = span[0]
    for place, (number, end) in enumerate(zip(numbers.tolist(), ends.tolist(), strict=True)):
        mine = sweep.step == place
        idle = sweep.length[mine], sweep.cause[mine]
        found.append(_time(number, (begin, end), busy, busy.step == number, idle, queues=queues))
        begin = end
    return found


def _time(
    step: int | None, span: tuple[int, int], busy: Busy, mine: Mask, idle: tuple[Ints, Ints], *, queues: bool
) -> WaitingTime:
    known = mine & (busy.launched != NEVER)
    return WaitingTime(
        step=step,
        start_ns=span[0],
        end_ns=span[1],
        by_cause=_by_cause(*idle),
        launched=_queue(busy, known) if queues else None,
        tasks=int(mine.sum()),
        launches_unknown=int((mine & ~known).sum()),
    )


def _queue(busy: Busy, known: Mask) -> Queue | None:
    start, launched = busy.spans["start"][known], busy.launched[known]
    return queue_of(np.minimum(launched, start, out=launched), start)


def _by_cause(length: Ints, cause: Ints) -> tuple[int, ...]:
    return tuple(sums_by(cause, length, len(WAIT_CAUSES)).tolist())


def longest_waits(busy: Busy, sweep: Sweep, words: Sequence[str], most: int) -> tuple[HostWait, ...]:
    """The gaps in which the device waited longest for the host, the longest first."""
    if not most:
        return ()
    starts, ends = sweep.gaps
    of_host = sweep.cause < len(HOST_CAUSES)
    waited = sums_by(sweep.gap[of_host], sweep.length[of_host], len(starts))
    spans, found = busy.spans, []
    by_end = np.argsort(spans["end"], kind="stable")
    in_order = spans["end"][by_end]
    for place in np.argsort(-waited, kind="stable")[:most].tolist():
        if not waited[place]:
            break
        pieces = slice(*np.searchsorted(sweep.gap, [place, place + 1]).tolist())
        last = by_end[np.searchsorted(in_order, starts[place], side="right") - 1]
        after = int(np.searchsorted(spans["start"], ends[place]))
        by_cause = _by_cause(sweep.length[pieces], sweep.cause[pieces])
        found.append(
            HostWait(
                start_ns=int(starts[place]),
                duration_ns=int(ends[place] - starts[place]),
                step=int(busy.step[after]) if busy.step[after] >= 0 else None,
                waited_ns=int(waited[place]),
                cause=WAIT_CAUSES[int(np.argmax(by_cause))],
                before=_word(words, int(spans["name"][last])),
                after=_word(words, int(spans["name"][after])),
            )
        )
    return tuple(found)


def _word(words: Sequence[str], number: int) -> str | None:
    return words[number] if number >= 0 else None


def step_at(busy: Busy, starts: Ints) -> Ints:
    """The step of the busy span that begins at each moment; -1 where that is of none."""
    if not (busy.step >= 0).any():
        return np.full(len(starts), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(busy.spans["start"], starts), len(busy.step) - 1)
    return np.where(busy.spans["start"][place] == starts, busy.step[place], -1)
