"""What a device did, from the events of a timeline: computing, communication, both at once, neither; its longest gaps.

Computed from the tasks alone: the profiler's own Overlap Analysis is only summed, to be held against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa

from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.facts.event_waits import is_event_wait, waited_for_events
from aoe_reports.facts.frames import Frame, as_arrow
from aoe_reports.facts.host_calls import (
    COLLECTOR_PROCESS,
    HOST_CALLS,
    KINDS_OF_CALLS,
    HostCall,
    QueueCall,
    number_of_call,
)
from aoe_reports.facts.spans import LongestGaps, RunningUnion, Spans, SpansOf, chosen_of, windows
from aoe_reports.facts.steps import STEP_RANGE, step_of_range
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import (
    COMMUNICATION_PROCESSES,
    DEVICE_PROCESS,
    FLOW_CATEGORY,
    HOST_PROCESS,
    OVERLAP_PROCESS,
    device_bits,
    device_of_process,
    profiled_process,
)
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import (
    Ints,
    LazyWordMap,
    Mask,
    Numbering,
    PlacesAmong,
    WordMap,
    coded_in,
    distinct,
    first_of_each,
    is_among,
    last_until,
    order_by,
    rising,
)
from aoe_reports.model.arrays.intervals import Intervals, covered, union, united
from aoe_reports.model.texts import say
from aoe_reports.model.topics.breakdown import Gap, Parts

EVENT_COLUMNS = (
    "ph", "name", "category", "flow_id", "connection_id", "pid", "process", "thread", "start_ns", "duration_ns", "task_type", "stage_row",
)  # fmt: skip
"""The columns of events that are looked at."""
Cause = Literal["host launched late", "waiting for communication", "waiting for an event", "unknown"] | HostCall
_NOT_HOST = frozenset({DEVICE_PROCESS, OVERLAP_PROCESS, *COMMUNICATION_PROCESSES})
_SYNCHRONISATION = KINDS_OF_CALLS.index("synchronisation")
_OF_SPANS = ("start", "connection", "name")
_OF_TASKS = (*_OF_SPANS, "end", "pid", "thread")
_AT_ONCE = 1 << 15
"""Launches of so many spans are looked up at a time: of 485,000 in a third less time than at once, as memory is used again."""
_MANY_MORE = 4
"""Where so many times more launch than there are spans (those of one window), what launched them is picked out before it is sorted."""
_NOTHING = np.zeros(0, dtype=np.int64)
_PLANE = "Plane"
_LARGE_PRIME = 2**61 - 1
_INT32_LIMIT = 2**31
_SHIFT = 32
_UPPER = 2**_SHIFT
"""The id of a flow is a connection in the upper half of 64 bits, as nearly all are; others are no connection's key."""
_MAX_THREADS = 2**15 - 1


@dataclass(frozen=True, slots=True)
class DeviceBreakdown:
    """One device: all of its time, each step, its longest gaps, and what the profiler itself says."""

    device_id: int | None
    whole: Parts
    steps: dict[int, Parts]
    """By the step that launched a task; while only tasks of another step run, a step is free."""
    outside: int
    """Tasks that no step launched, where there are steps."""
    gaps: list[Gap]
    """The longest, which come first."""
    gap_count: int
    gaps_ns: int
    """How many gaps there are, and how long all of them are together."""
    stated_ns: dict[str, int]
    """Time by thread of the process Overlap Analysis."""
    stated_rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class OfDevice:
    """What there is of one device; `told` says that its communication is known."""

    pid: str | None
    tasks: SpansOf
    talk: SpansOf
    stated: dict[str, list[int]]
    told: bool


@dataclass(frozen=True, slots=True)
class Launches:
    """What launched some spans: when, on which thread of the host (-1: unknown), and whether that is known."""

    start: Ints
    thread: Ints
    known: Mask

    def start_or_0(self) -> Ints:
        """When each span was launched, 0 where that is not known."""
        return np.where(self.known, self.start, 0)


class Activity:
    """Takes the events of one capture, batch after batch, and tells what its devices did.

    30 bytes a task, 26 one that waits for an event, 18 a launching call and 26 a flow; 22 a call of the host that waits, 10 an entry into a queue: of each kind as many as
    one block has are held, others wait in temporary files.
    """

    def __init__(self, *columns: str) -> None:
        """Keep some more `columns` of tasks: their stream."""
        self._pid_is_device = False
        self._numbers = Numbering()
        self._numbers_of: defaultdict[str, LazyWordMap] = defaultdict(
            lambda: LazyWordMap(self._numbers.__getitem__, -1, np.int32)
        )
        self._tasks, self._operators, self._planes = (Spans(*_OF_TASKS, *columns) for _ in range(3))
        self.event_waits = Spans("start", "end", "name", "pid", "thread")
        self._calls = Spans(*_OF_SPANS, "thread")
        self._flows, self._arrivals = Spans("start", "key", "thread"), Spans("start", "key")
        self.waits: dict[HostCall, Spans] = {kind: Spans("start", "end", "thread", "name") for kind in HOST_CALLS}
        self.queued = Spans("start", "thread")
        self._threads = Numbering()
        self._thread = LazyWordMap(self._number_of_thread, -1, np.int16)
        self._computes = WordMap(COMPUTE_TASKS.__contains__)
        self._waits_for_event = WordMap(is_event_wait)
        self._is_plane = WordMap(lambda thread: thread.startswith(_PLANE))
        self._is_flow = WordMap(FLOW_CATEGORY.__eq__)
        self._kind = WordMap(number_of_call, -1, np.int8)
        self._is_step = WordMap(lambda name: name.startswith(STEP_RANGE))
        self.emptying: set[int] = set()
        self._steps: dict[int, tuple[int, int]] = {}
        self._stated: dict[tuple[str | None, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need the columns that are looked at."""
        self.take(EventBatch(batch))

    def take(self, events: EventBatch) -> None:
        """Keep what is asked for of some events."""
        self._pid_is_device |= events.pid_is_device
        of_device = events.whole & events.has("process", {DEVICE_PROCESS})
        if of_device.any():
            kinds = events.words("task_type")
            self._keep(self._tasks, events, of_device & self._computes.of(kinds))
            self._keep(self.event_waits, events, of_device & self._waits_for_event.of(kinds))
        talks = events.whole & events.has("process", COMMUNICATION_PROCESSES)
        if talks.any():
            plane = self._is_plane.of(events.words("thread"))
            self._keep(self._operators, events, talks & ~plane)
            self._keep(self._planes, events, talks & plane)
        self._add_host(events, np.flatnonzero(events.whole & ~events.has("process", _NOT_HOST)))
        self._keep_launches(
            events, events.whole & events.there("connection_id") & events.has("process", {HOST_PROCESS})
        )
        flows = ~events.whole & self._is_flow.of(events.words("category"))
        if flows.any():
            self._keep_flows(events, flows)
        self._add_stated(events, np.flatnonzero(events.whole & events.has("process", {OVERLAP_PROCESS})))

    def _keep(self, spans: Spans, events: EventBatch, mask: Mask) -> None:
        rows = np.flatnonzero(mask)
        if not len(rows):
            return
        start = events.numbers("start_ns", rows)
        more = {"stream": events.numbers("stream_id", rows, -1)} if "stream" in spans.names else {}
        if "connection" in spans.names:
            more["connection"] = _narrowed(events.numbers("connection_id", rows, -1))
        spans.add(
            start=start,
            name=self._numbered(events, "name", rows),
            end=start + events.numbers("duration_ns", rows),
            pid=self._numbered(events, "pid", rows),
            thread=self._thread_of(events, rows),
            **more,
        )

    def _keep_launches(self, events: EventBatch, linked: Mask) -> None:
        """Keep the host's calls that launch: those that wait launch nothing that computes or communicates."""
        rows = np.flatnonzero(linked)
        if len(rows):
            rows = rows[self._kind.of(events.words("name", rows)) != _SYNCHRONISATION]
        if not len(rows):
            return
        self._calls.add(
            start=events.numbers("start_ns", rows),
            connection=_narrowed(events.numbers("connection_id", rows)),
            name=self._numbered(events, "name", rows),
            thread=self._thread_of(events, rows),
        )

    def _keep_flows(self, events: EventBatch, flows: Mask) -> None:
        rows, flow = events.flows(flows & events.has("ph", {"s", "f"}), _wrapped)
        start, key = (
            events.numbers("start_ns", rows),
            np.where(flow & (_UPPER - 1) == 0, flow >> _SHIFT, flow + _LARGE_PRIME),
        )
        leaves = events.has("ph", {"s"}).take(rows)
        if leaves.any():
            thread = self._thread_of(events, rows[leaves])
            self._flows.add(start=start[leaves], key=_narrowed(key[leaves]), thread=thread)
        if not leaves.all():
            self._arrivals.add(start=start[~leaves], key=_narrowed(key[~leaves]))

    def _numbered(self, events: EventBatch, name: str, rows: Ints) -> Any:
        """The words of a column as numbers that are the same in every batch; -1 for none."""
        return self._numbers_of[name].of(events.words(name, rows))

    def _thread_of(self, events: EventBatch, rows: Ints) -> Any:
        """Threads as numbers that are the same in every batch; -1 for none, and for those beyond all reason."""
        return self._thread.of(events.words("thread", rows))

    def _number_of_thread(self, word: str) -> int:
        number = self._threads[word]
        return number if number < _MAX_THREADS else -1

    def _add_host(self, events: EventBatch, rows: Ints) -> None:
        """Keep of the host's calls those that say what it waited for, and who fed the queue of whom."""
        if not len(rows):
            return
        name = events.words("name", rows)
        self._add_calls(
            "garbage collection", events, rows[coded_in(events.words("process", rows), {COLLECTOR_PROCESS})]
        )
        for row in events.rows(rows[self._is_step.of(name)], "name", "start_ns", "duration_ns"):
            if (step := step_of_range(row["name"])) is not None:
                self._steps.setdefault(step, (row["start_ns"], row["start_ns"] + row["duration_ns"]))
        kinds = self._kind.of(name)
        for number, kind in enumerate(KINDS_OF_CALLS):
            self._add_calls(kind, events, rows[kinds == number])

    def _add_calls(self, kind: HostCall | QueueCall, events: EventBatch, rows: Ints) -> None:
        if not len(rows):
            return
        start, thread = events.numbers("start_ns", rows), self._thread_of(events, rows)
        if kind == "dequeue":
            self.emptying.update(distinct(thread).tolist())
        elif kind == "enqueue":
            self.queued.add(start=start, thread=thread)
        else:
            end = start + events.numbers("duration_ns", rows)
            self.waits[kind].add(start=start, end=end, thread=thread, name=self._numbered(events, "name", rows))

    def _add_stated(self, events: EventBatch, rows: Ints) -> None:
        for row in events.rows(rows, "pid", "thread", "duration_ns"):
            entry = self._stated[(row["pid"], row["thread"] or "")]
            entry[0] += row["duration_ns"]
            entry[1] += 1

    @property
    def steps_on_host(self) -> dict[int, tuple[int, int]]:
        """When each step began and ended on the host, by its number."""
        return self._steps

    def step_of_tasks(self) -> Ints | None:
        """The step that launched each task that computes, in the order of the events, -1 for none; None where there are no steps."""
        if not self._steps:
            return None
        return np.concatenate([_NOTHING, *(self.steps_of(some) for some in self._tasks.blocks())])

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self._pid_is_device |= other._pid_is_device
        words = _narrow([*map(self._numbers.__getitem__, other._numbers), -1])
        places = self._places_of(other)
        pairs = [(self._tasks, other._tasks), (self._operators, other._operators), (self._planes, other._planes)]
        pairs += [
            (self.event_waits, other.event_waits),
            (self._calls, other._calls),
            (self._flows, other._flows),
            (self._arrivals, other._arrivals),
        ]
        pairs += [(self.queued, other.queued), *((self.waits[kind], other.waits[kind]) for kind in self.waits)]
        for mine, theirs in pairs:
            mine.take(theirs, {"name": words, "pid": words, "thread": places})
        self.emptying |= {int(places[thread]) for thread in other.emptying}
        for step, span in other._steps.items():
            self._steps.setdefault(step, span)
        for key, (time_ns, rows) in other._stated.items():
            entry = self._stated[key]
            entry[0] += time_ns
            entry[1] += rows

    def _places_of(self, other: Activity) -> Any:
        """Our numbers of threads by those of another one, and last that of none."""
        threads = map(self._threads.__getitem__, other._threads)
        return np.asarray([*(place if place < _MAX_THREADS else -1 for place in threads), -1], dtype=np.int16)

    def of_devices(self) -> list[OfDevice]:
        """What there is of each device, by its number."""
        talk = self._operators if len(self._operators) else self._planes
        places = SpansOf(self._tasks).pids_there() or SpansOf(talk).pids_there()
        if len(places) == 1:
            stated = {thread: entry for (_, thread), entry in sorted(self._stated.items(), key=str)}
            return [OfDevice(self.word(places[0]), SpansOf(self._tasks), SpansOf(talk), stated, told=True)]
        found = []
        for place in places:
            pid = self.word(place)
            same = [number for number in SpansOf(talk).pids_there() if self._same_device(self.word(number), pid)]
            stated = {
                thread: entry
                for (of, thread), entry in sorted(self._stated.items(), key=str)
                if self._same_device(of, pid)
            }
            told = not len(talk) or len(same) > 0
            found.append(OfDevice(pid, SpansOf(self._tasks, [place]), SpansOf(talk, same), stated, told=told))
        return sorted(found, key=lambda device: -1 if (number := self.number_of(device.pid)) is None else number)

    def break_down(
        self, gaps: int = 10, left_out: Mapping[int | None, Collection[int]] = MappingProxyType({})
    ) -> list[DeviceBreakdown]:
        """What each device did, by its number; the `gaps` longest gaps of each.

        `left_out` are steps by device: what they launched is in nothing but what the profiler states.
        """
        words = dict(enumerate(self._numbers.words))
        return [
            self._device(device, words, gaps, sorted(left_out.get(self.number_of(device.pid), ())))
            for device in self.of_devices()
        ]

    def _device(self, device: OfDevice, words: dict[int, str], gaps: int, left_out: Sequence[int]) -> DeviceBreakdown:
        whole, steps, outside = TimeSplit(gaps), defaultdict[int, TimeSplit](TimeSplit), 0
        for window in windows(device.tasks, device.talk):
            tasks, talk = device.tasks.between(*window), device.talk.between(*window)
            own, others = self.steps_of(tasks), self.steps_of(talk)
            if left_out:
                kept, heard = ~np.isin(own, left_out), ~np.isin(others, left_out)
                tasks, own, talk, others = chosen_of(tasks, kept), own[kept], chosen_of(talk, heard), others[heard]
            whole.add(tasks, talk)
            if not self._steps:
                continue
            for number in sorted({*distinct(own).tolist(), *distinct(others).tolist()} - {-1}):
                steps[number].add(chosen_of(tasks, own == number), chosen_of(talk, others == number))
            outside += int((own < 0).sum() + (others < 0).sum())
        return DeviceBreakdown(
            device_id=self.number_of(device.pid),
            whole=whole.parts(told=device.told),
            steps={number: steps[number].parts(told=device.told) for number in sorted(steps)},
            outside=outside,
            gaps=self._gaps(whole.gaps.spans, device, words),
            gap_count=whole.gaps.count,
            gaps_ns=whole.gaps.total,
            stated_ns={thread: entry[0] for thread, entry in device.stated.items()},
            stated_rows={thread: entry[1] for thread, entry in device.stated.items()},
        )

    def number_of(self, pid: str | None) -> int | None:
        """The number of the device that a process stands for, where the events tell it."""
        if self._pid_is_device:
            return int(pid) if pid and pid.isdecimal() else None
        others = {of for of, _ in self._stated} | set(map(self.word, SpansOf(self._operators).pids_there()[:1]))
        return device_of_process(pid, others)

    def word(self, number: int) -> str | None:
        """The word that stands under a number."""
        return self._numbers.words[number] if number >= 0 else None

    def _same_device(self, other: str | None, pid: str | None) -> bool:
        process = profiled_process(pid)
        if process is None or pid is None or other is None:
            return False
        if self._pid_is_device:
            return other == pid
        return profiled_process(other) == process > 0 and device_bits(other) == device_bits(pid)

    def steps_of(self, spans: Numbers, launches: Launches | None = None) -> Ints:
        """The step that launched each span (where no launch is known: in which it began), by its launch if that is at hand; -1 outside of all."""
        return self._launched_in(spans, self._steps, launches)

    def not_of_steps(self, spans: Numbers, left_out: Collection[int]) -> Mask:
        """Which spans none of some steps launched."""
        if not left_out:
            return np.ones(len(spans["start"]), dtype=bool)
        return ~np.isin(self.steps_of(spans), sorted(left_out))

    def _launched_in(
        self, spans: Numbers, ranges: Mapping[int, tuple[int, int]], launches: Launches | None = None
    ) -> Ints:
        """The number of the range of the host in which each span was launched (else: in which it began); -1 outside of all."""
        nowhere: Ints = np.broadcast_to(np.int64(-1), len(spans["start"]))  # takes no memory
        if not ranges or not len(spans["start"]):
            return nowhere
        begun = spans["start"].copy()
        launches = launches or self.launches_of(spans)
        begun[launches.known] = launches.start[launches.known]
        ordered = sorted((start, end, number) for number, (start, end) in ranges.items())
        starts, ends, numbers = (np.asarray(part, dtype=np.int64) for part in zip(*ordered, strict=True))
        place = np.searchsorted(starts, begun, side="right") - 1
        inside = (place >= 0) & (begun < ends[place])
        return np.where(inside, numbers[place], nowhere)

    def first_tasks(self, ranges: Mapping[int, tuple[int, int]]) -> dict[int | None, dict[int, int]]:
        """When the first task that each range of the host launched began, by its number, for each device."""
        found: dict[int | None, dict[int, int]] = {}
        for device in self.of_devices():
            firsts = found.setdefault(self.number_of(device.pid), {})
            for some in device.tasks.blocks():
                numbers = self._launched_in(some, ranges)
                for number in distinct(numbers[numbers >= 0]).tolist():
                    first = int(some["start"][numbers == number].min())
                    firsts[number] = min(first, firsts.get(number, first))
        return found

    def launches_of(self, spans: Numbers) -> Launches:
        """What launched each span: the call of its connection, else its flow.

        Of several calls of a connection it is the last one before the span.
        """
        calls = self._calls
        if len(calls) > _MANY_MORE * len(spans["start"]):
            mine = calls.where(lambda some: np.isin(some["connection"], spans["connection"]))
        else:
            mine = calls.whole(("start", "connection", "thread"))
        mine = chosen_of(mine, np.argsort(mine["start"], kind="stable"))
        mine = chosen_of(mine, np.argsort(mine["connection"], kind="stable"))
        connections, firsts = first_of_each(mine["connection"])
        places, count = PlacesAmong(connections), len(spans["start"])
        start: Ints = np.zeros(count, dtype=np.int64)
        thread: Ints = np.full(count, -1, dtype=np.int16)
        known = np.zeros(count, dtype=bool)
        for part in (slice(begin, begin + _AT_ONCE) for begin in range(0, count, _AT_ONCE)):
            at, there = places.of(spans["connection"][part])
            known[part] = there = there & (spans["connection"][part] >= 0)
            at = at[there]
            first, behind = firsts[at], firsts[at + 1]
            # the clocks of host and device may be apart: a call that seems to begin behind its task is the next best one
            place = np.maximum(last_until(mine["start"], spans["start"][part][there], first, behind), first)
            start[part][there], thread[part][there] = mine["start"][place], mine["thread"][place]
        others = np.flatnonzero(~known)
        flows = self._flows_to(spans["start"][others])
        start[others], thread[others], known[others] = flows.start, flows.thread, flows.known
        return Launches(start, thread, known)

    def _flows_to(self, starts: Ints) -> Launches:
        """The flow that ends where a task starts."""
        if not len(starts):
            return Launches(_NOTHING, _NOTHING, np.zeros(0, dtype=bool))
        if len(self._arrivals) > _MANY_MORE * len(starts):
            moments_wanted = rising(starts)
            arrived = self._arrivals.where(lambda some: is_among(some["start"], moments_wanted))
            keys_wanted = rising(arrived["key"])
            begun = self._flows.where(lambda some: is_among(some["key"], keys_wanted))
        else:
            arrived, begun = self._arrivals.whole(), self._flows.whole()
        moments, keys = arrived["start"], arrived["key"]
        sources, begins = begun["key"], begun["start"]
        if not len(sources) or not len(moments):
            nothing = np.zeros(len(starts), dtype=np.int64)
            return Launches(nothing, nothing - 1, np.zeros(len(starts), dtype=bool))
        # where several flows end at one time, or begin under one key, the first: the order of the file decides nothing
        by_time, by_key = order_by(moments, keys), order_by(sources, begins, begun["thread"])
        moments, keys, sources = moments[by_time], keys[by_time], sources[by_key]
        end = np.minimum(np.searchsorted(moments, starts), len(moments) - 1)
        source = np.minimum(np.searchsorted(sources, keys[end]), len(sources) - 1)
        known = (moments[end] == starts) & (sources[source] == keys[end])
        begun_by = by_key[source]
        return Launches(begins[begun_by].astype(np.int64), begun["thread"][begun_by].astype(np.int64), known)

    def _gaps(self, spans: Sequence[tuple[int, int]], device: OfDevice, words: dict[int, str]) -> list[Gap]:
        if not spans:
            return []
        starts, ends = (np.sort(np.asarray(part, dtype=np.int64)) for part in zip(*spans, strict=True))
        tasks = device.tasks.where(lambda some: is_among(some["start"], ends) | is_among(some["end"], starts))
        talk = device.talk.where(lambda some: _touching(some, starts, ends))
        behind = [_first_of(np.flatnonzero(tasks["start"] == end), tasks, words) for _, end in spans]
        after = chosen_of(tasks, np.asarray(behind, dtype=np.int64))
        launched = self.launches_of(after)
        event_waits = self.event_waits.where(lambda some: _touching(some, starts, ends))
        near = GapContext(
            tasks=tasks,
            talk=talk,
            communication=union(talk["start"], talk["end"]) if device.told else None,
            steps=self.steps_of(tasks),
            calls=self._calls.where(lambda some: np.isin(some["connection"], after["connection"])),
            flows=self._flows.where(lambda some: np.isin(some["start"], launched.start[launched.known])),
            words=words,
            threads=self.launching_threads(launched.thread[launched.known]),
            event_waits=event_waits,
            waited_for_events=waited_for_events(
                event_waits, np.asarray([start for start, _ in spans], dtype=np.int64), after, launched.start_or_0()
            ),
            waits={kind: calls.where(lambda some: _touching(some, starts, ends)) for kind, calls in self.waits.items()},
        )
        launches = [
            int(launch) if there else None for launch, there in zip(launched.start, launched.known, strict=True)
        ]
        return [self._gap(span, near, task, launch) for span, task, launch in zip(spans, behind, launches, strict=True)]

    def _gap(self, span: tuple[int, int], near: GapContext, after: int, launched: int | None) -> Gap:
        """One gap; `after` is the task behind it, launched then."""
        (start, end), tasks, words = span, near.tasks, near.words
        before = _first_of(np.flatnonzero(tasks["end"] == start), tasks, words)
        talked = None if near.communication is None else covered(near.communication, start, end)
        call, thread, late = None, -1, None
        if launched is not None:
            call, thread = near.call_of(int(tasks["connection"][after]), launched)
            late = launched - start
        cause = _cause(end - start, late, talked or 0)
        waited = None
        if launched is not None and cause == "host launched late":
            waited = self._wait_in((start, end), thread, launched, near)
        kind, host_call, host_call_ns = waited or (cause, None, None)
        event_wait, event_wait_ns = None, None
        if cause != "waiting for communication" and (found := near.event_wait(span, after)) is not None:
            event_wait, event_wait_ns = found
            kind, host_call, host_call_ns = "waiting for an event", None, None
        step = int(near.steps[after])
        return Gap(
            start_ns=start,
            duration_ns=end - start,
            communication_ns=talked,
            before=words.get(int(tasks["name"][before])),
            after=words.get(int(tasks["name"][after])),
            step=step if step >= 0 else None,
            cause=say(kind),
            launch=call,
            launched_after_ns=late,
            communication=_longest_in(near.talk, start, end, words) if talked else None,
            host_call=host_call,
            host_call_ns=host_call_ns,
            event_wait=event_wait,
            event_wait_ns=event_wait_ns,
        )

    def launching_threads(self, launchers: Ints) -> set[int]:
        """Threads that launch, and those that put something into the queue of one of them."""
        threads = set(distinct(launchers).tolist())
        if threads & self.emptying:
            threads |= {thread for some in self.queued.blocks() for thread in distinct(some["thread"]).tolist()}
        return threads - {-1}

    def _wait_in(
        self, gap: tuple[int, int], thread: int, launched: int, near: GapContext
    ) -> tuple[HostCall, str | None, int] | None:
        """(kind of the calls in which the launching host spent at least half of a gap, the longest of them, how long).

        A thread that launches what others put into a queue is late because they are: in a gap the queue is empty, so who
        entered something last before the launch entered that task. Of other threads that launch, those calls held it up that ended
        before: the one that reads a value, and then starts the thread of the backward pass.
        """
        (start, end), until = gap, launched
        threads = [thread] if thread >= 0 else []
        if thread in self.emptying:
            until, fed = self._entered_last(launched)
            threads += sorted(fed)
        before = sorted(near.threads) if threads else []
        best: tuple[HostCall, str | None, int] | None = None
        for kind, waits in near.waits.items():
            calls = chosen_of(waits, (waits["start"] < end) & (waits["end"] > start))
            if not len(calls["start"]):  # nearly always
                continue
            if kind != "garbage collection":  # which blocks all threads of the process
                over = np.isin(calls["thread"], before) & (calls["end"] <= until)
                calls = chosen_of(calls, np.isin(calls["thread"], threads) | over)
            if not len(calls["start"]):
                continue
            spent = covered(union(calls["start"], calls["end"]), start, end)
            if spent * 2 >= end - start and (best is None or spent >= best[2]):
                best = kind, _longest_in(calls, start, end, near.words), spent
        return best

    def _entered_last(self, launched: int) -> tuple[int, set[int]]:
        """(when something was entered into a queue last until then, the threads that did)."""
        latest, threads = 0, set[int]()
        for some in self.queued.blocks():
            until = some["start"][some["start"] <= launched]
            if len(until) and (last := int(until.max())) >= latest:
                latest, threads = last, threads if last == latest else set()
                threads.update(some["thread"][some["start"] == last].tolist())
        return latest, threads


@dataclass(frozen=True, slots=True, kw_only=True)
class GapContext:
    """What stands around some gaps, and what launched the tasks behind them."""

    tasks: Numbers
    talk: Numbers
    communication: Intervals | None
    """When there was communication, as far as it touches a gap; null where that cannot be told."""
    steps: Ints
    calls: Numbers
    flows: Numbers
    words: dict[int, str]
    threads: Collection[int]
    """Those of the host that launch, or put into a queue."""
    event_waits: Numbers
    """Tasks that waited for events, on any stream."""
    waited_for_events: Intervals
    """When the stream of the task behind a gap did, within that gap."""
    waits: Mapping[HostCall, Numbers]
    """Calls of the host in which it waits, by their kinds."""

    def call_of(self, connection: int, start: int) -> tuple[str | None, int]:
        """(name of the call under a connection that began then, its thread); of a flow only the thread is known."""
        calls = self.calls
        mine = np.flatnonzero((calls["connection"] == connection) & (calls["start"] == start))
        if len(mine) and connection >= 0:
            place = _first_of(mine, calls, self.words)
            return self.words.get(int(calls["name"][place])), int(calls["thread"][place])
        threads = self.flows["thread"][self.flows["start"] == start]
        return None, int(threads.max()) if len(threads) and threads.min() == threads.max() else -1

    def event_wait(self, gap: tuple[int, int], after: int) -> tuple[str | None, int] | None:
        """(the longest task that waited for an event in a gap, how long all did), if the stream of the task behind it did so for at least half of it."""
        (start, end), waits = gap, self.event_waits
        waited = covered(self.waited_for_events, start, end)
        if not waited or waited * 2 < end - start:
            return None
        same = (waits["thread"] == self.tasks["thread"][after]) & (waits["pid"] == self.tasks["pid"][after])
        waits = chosen_of(waits, same & (waits["start"] < end) & (waits["end"] > start))
        return _longest_in(waits, start, end, self.words), waited


def _touching(spans: Numbers, starts: Ints, ends: Ints) -> Mask:
    """Which spans have some time in common with one of some gaps, which are by time."""
    place = np.minimum(np.searchsorted(ends, spans["start"], side="right"), len(ends) - 1)
    return (starts[place] < spans["end"]) & (spans["start"] < ends[place])


def _wrapped(word: str) -> int | None:
    """The id of a flow as a number of 61 bits: it may be longer, and that two of a capture are alike by this is next to impossible."""
    return int(word) % _LARGE_PRIME if word.isascii() and word.isdecimal() else None


def _narrowed(numbers: Ints) -> Ints:
    """Whole numbers in half the memory where they are small enough."""
    return numbers.astype(np.int32) if len(numbers) and numbers.max() < _INT32_LIMIT else numbers


def _narrow(numbers: list[int]) -> Any:
    """Numbers of words, of which there are never more than 32 bits tell apart, in half the memory."""
    return np.asarray(numbers, dtype=np.int32)


def _first_of(places: Ints, spans: Numbers, words: dict[int, str]) -> int:
    """One of several spans: that of the first name, so that the order of the file decides nothing."""
    named: list[int] = places.tolist()
    return min(named, key=lambda place: (words.get(int(spans["name"][place]), ""), int(spans["connection"][place])))


def _longest_in(spans: Numbers, start: int, end: int, words: dict[int, str]) -> str | None:
    """The name of the span that covers most of some time: of several the longest, then the first by name."""
    inside = np.minimum(spans["end"], end) - np.maximum(spans["start"], start)
    most = np.flatnonzero(inside == inside.max())
    lengths = (spans["end"] - spans["start"])[most]
    return min((words.get(int(number), "") for number in spans["name"][most[lengths == lengths.max()]]), default=None)


def _cause(length: int, late: int | None, talked: int) -> Cause:
    """What explains more of a gap: the host, whose launching call began after it did, or communication."""
    if late is not None and late > 0 and (late >= talked or talked * 2 < length):
        return "host launched late"
    return "waiting for communication" if talked * 2 >= length and talked else "unknown"


class TimeSplit:
    """Parts time between tasks and communication, which come window by window; with the longest gaps in computing."""

    def __init__(self, gaps: int = 0) -> None:
        self._computing, self._communication, self._either = RunningUnion(), RunningUnion(), RunningUnion()
        self._tasks = self._operators = 0
        self.gaps = LongestGaps(gaps)

    def add(self, tasks: Numbers, talk: Numbers) -> None:
        """Take in what begins in one window."""
        computing, communication = union(tasks["start"], tasks["end"]), union(talk["start"], talk["end"])
        self.gaps.add(self._computing.add(computing))
        self._communication.add(communication)
        self._either.add(united(computing, communication))
        self._tasks += len(tasks["start"])
        self._operators += len(talk["start"])

    def parts(self, *, told: bool) -> Parts:
        """The parts of the time from the first start to the last end."""
        return _parts(
            (self._either.start or 0, self._either.end or 0),
            (self._computing.total, self._communication.total, self._either.total),
            (self._tasks, self._operators),
            told=told,
        )


def part_time(
    computing: Intervals, communication: Intervals, tasks: int, operators: int, *, told: bool = True
) -> Parts:
    """Part the time from the first start to the last end; `told` says that the device's communication is known."""
    either = united(computing, communication)
    span = (int(either.starts[0]), int(either.ends[-1])) if len(either) else (0, 0)
    return _parts(span, (computing.total, communication.total, either.total), (tasks, operators), told=told)


def _parts(span: tuple[int, int], times: tuple[int, int, int], counts: tuple[int, int], *, told: bool) -> Parts:
    """Of the time of a span how long was computing, communication and either; counts of tasks and of operators."""
    (start, end), (computing, talked, busy), (tasks, operators) = span, times, counts
    if not told:
        return Parts(start_ns=start, end_ns=end, tasks=tasks, intervals=tasks, computing_ns=computing)
    return Parts(
        start_ns=start,
        end_ns=end,
        tasks=tasks,
        intervals=tasks + operators,
        computing_ns=computing,
        communication_ns=talked,
        overlapped_ns=computing + talked - busy,
        communication_not_overlapped_ns=busy - computing,
        free_ns=end - start - busy,
    )


def break_down_events(events: Iterable[pa.RecordBatch] | Frame, *, gaps: int = 10) -> list[DeviceBreakdown]:
    """What each device did, from the events of one timeline (EVENT_COLUMNS of them); times in ns.

    Batches (`Profile.events`) take memory of a fixed size; a frame of Arrow, pandas or polars will do, too.
    """
    activity = Activity()
    if hasattr(events, "__arrow_c_stream__") and not isinstance(events, pa.RecordBatchReader):
        events = as_arrow(cast("Frame", events), *EVENT_COLUMNS).to_batches()
    for batch in cast("Iterable[pa.RecordBatch]", events):
        activity.add(batch)
    return activity.break_down(gaps)
