"""Takes the events of a capture in, and tells of each device whether it waits for its host: launches, queues, calls, copies, kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aoe_reports.facts.breakdown import EVENT_COLUMNS as ACTIVITY_COLUMNS
from aoe_reports.facts.breakdown import Activity, OfDevice
from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.facts.host_calls import CALL_GROUPS, COLLECTOR_PROCESS, CallGroup, host_call, number_of_group
from aoe_reports.facts.host_waits import (
    IN_CALLS,
    NEVER,
    Busy,
    HostCalls,
    WaitCause,
    WaitingTime,
    longest_waits,
    step_at,
    sweep_of,
    times_of,
)
from aoe_reports.facts.launches import Queue, clocks_of, queue_of
from aoe_reports.facts.spans import Spans, SpansOf, chosen_of
from aoe_reports.formats.ascend.tables.timelines import DEVICE_PROCESS
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, Mask, WordMap, coded_in, distinct, distinct_rows, exact_sum, order_by
from aoe_reports.model.arrays.intervals import Intervals, covered_each, union
from aoe_reports.model.topics.host import Calls, HostWait

HOST_COLUMNS = (*ACTIVITY_COLUMNS, "stream_id")
"""The columns of events that are looked at."""

_COPY_TASK = re.compile(r"mem_?cpy.*|pcie_dma.*", re.ASCII | re.IGNORECASE)
"""Tasks of a device that copy, by name or type; exports of 2023 do not tell whereto."""
_WITHIN_DEVICE = re.compile(r"sdma.*", re.ASCII | re.IGNORECASE)
"""Types of tasks that do not copy to or from the host, whatever they are called: the device's own engine for copies."""
_TASK_QUEUE = "async_task_queue"
_MAY_LAUNCH: frozenset[WaitCause] = frozenset({"compilation", "data loading"})
"""In such calls of a thread it may launch, too: what compiles and executes, what transforms samples on the device."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Tasks of a device that copy to or from the host; ns."""

    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class Kernels:
    """The computing tasks of a device in the order of their begins, for who looks for sequences."""

    start: Ints
    end: Ints
    name: Ints
    stream: Ints
    step: Ints

    def of_step(self, step: int) -> Kernels:
        """Those that one step launched."""
        mine = self.step == step
        return Kernels(self.start[mine], self.end[mine], self.name[mine], self.stream[mine], self.step[mine])


@dataclass(frozen=True, slots=True)
class WaitingDevice:
    """One device and its host."""

    device_id: int | None
    whole: WaitingTime
    steps: tuple[WaitingTime, ...]
    """From the last end of the step before to their own: together they are all that steps last."""
    waits: tuple[HostWait, ...]
    calls: tuple[Calls, ...]
    task_queue: Queue | None
    """Of torch_npu, from an operator's entry to when a thread takes it out; null where nothing tells it."""
    copies: Copies
    kernels: Kernels
    shift_ns: int
    """How much later host times are than they stand in the file, less than 0 for earlier."""
    early: int
    """Tasks that begin before their launch all the same; they count as if they had begun with it."""
    groups: frozenset[CallGroup]
    """The groups of calls of which any is recorded."""
    communication_known: bool
    """Whether it can be told which communication is this device's; else it counts as idle time."""


class HostActivity(Activity):
    """Takes the events of one capture, batch after batch: what `Activity` does, all calls by group, streams, copies, the task queue."""

    def __init__(self) -> None:
        super().__init__("stream")
        self.calls: dict[CallGroup, Spans] = {group: Spans("start", "end", "thread", "name") for group in CALL_GROUPS}
        self.taken_out = Spans("start", "end", "thread", "name")
        self.entries = Spans("start", "key", "leaves")
        self.copies = Spans("start", "end", "pid")
        self._copies_by_name, self._copies_by_type = WordMap(_is_copy), WordMap(_is_copy)
        self._within = WordMap(lambda word: _WITHIN_DEVICE.fullmatch(word) is not None)
        self._group = WordMap(number_of_group, -1, np.int8)
        self._takes_out = WordMap(lambda name: name.startswith("Dequeue"))

    def take(self, events: EventBatch) -> None:
        """Keep what is asked for of some events."""
        super().take(events)
        self._add_copies(events, np.flatnonzero(events.whole & events.has("process", {DEVICE_PROCESS})))
        flows = ~events.whole & events.has("category", {_TASK_QUEUE})
        if flows.any():
            for leaves, phase in enumerate(("s", "f")):
                rows, key = events.flows(flows & events.has("ph", {phase}), lambda _word: None)
                start = events.numbers("start_ns", rows)
                self.entries.add(start=start, key=key, leaves=np.full(len(rows), leaves))

    def _add_copies(self, events: EventBatch, rows: Ints) -> None:
        if not len(rows):
            return
        rows = rows[~self._computes.of(events.words("task_type", rows))]  # nearly all compute
        kind = events.words("task_type", rows)
        copies = self._copies_by_name.of(events.words("name", rows)) | self._copies_by_type.of(kind)
        rows = rows[copies & ~self._within.of(kind)]
        if len(rows):
            start = events.numbers("start_ns", rows)
            end = start + events.numbers("duration_ns", rows)
            self.copies.add(start=start, end=end, pid=self._numbered(events, "pid", rows))

    def _add_host(self, events: EventBatch, rows: Ints) -> None:
        super()._add_host(events, rows)
        if not len(rows):
            return
        name = events.words("name", rows)
        self._keep_calls(self.taken_out, events, rows[self._takes_out.of(name)])
        groups, collects = self._group.of(name), coded_in(events.words("process", rows), {COLLECTOR_PROCESS})
        some = np.flatnonzero((groups >= 0) | collects)
        rows, groups, collects = rows[some], groups[some], collects[some]
        self._keep_calls(self.calls["garbage collection"], events, rows[collects])
        for number, group in enumerate(CALL_GROUPS):
            self._keep_calls(self.calls[group], events, rows[~collects & (groups == number)])

    def _keep_calls(self, spans: Spans, events: EventBatch, rows: Ints) -> None:
        if not len(rows):
            return
        start = events.numbers("start_ns", rows)
        spans.add(
            start=start,
            end=start + np.maximum(events.numbers("duration_ns", rows), 0),
            thread=self._thread_of(events, rows),
            name=self._numbered(events, "name", rows),
        )

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        super().merge(other)
        if isinstance(other, HostActivity):
            words = np.asarray([*map(self._numbers.__getitem__, other.words), -1], dtype=np.int64)
            threads = self._places_of(other)
            numbers = {"name": words, "pid": words, "thread": threads}
            pairs = [(self.taken_out, other.taken_out), (self.entries, other.entries), (self.copies, other.copies)]
            pairs += [*((self.calls[group], other.calls[group]) for group in self.calls)]
            for mine, theirs in pairs:
                mine.take(theirs, numbers)

    @property
    def words(self) -> tuple[str, ...]:
        """All words, by their numbers."""
        return tuple(self._numbers)

    def waiting_devices(
        self, most: int, calls_of_step: int | None = None, *, queues: bool = True
    ) -> list[WaitingDevice]:
        """How long each device did nothing, for what, by its number.

        With the `most` longest waits of each, calls of one step or of all, and the queues of launches.
        """
        host = _Host(
            calls={group: _every(spans) for group, spans in self.calls.items()},
            taken_out=_every(self.taken_out),
            steps=dict(sorted(self.steps_on_host.items(), key=lambda step: step[1])),
            words=self.words,
        )
        entries = _every(self.entries)
        listed = host if calls_of_step is None else host.of_step(calls_of_step)
        return [self._waiting(device, host, listed, entries, most, queues=queues) for device in self.of_devices()]

    def _waiting(
        self, device: OfDevice, host: _Host, listed: _Host, entries: Numbers, most: int, *, queues: bool
    ) -> WaitingDevice:
        tasks = _in_order(device.tasks.whole())
        talk = device.talk.whole() if device.told else {}
        spans = _in_order(_below(tasks, talk)) if talk and len(talk["start"]) else tasks
        launches = self.launches_of(spans)
        step = self.steps_of(spans, launches)
        shift, _ = clocks_of(spans["start"] - launches.start, launches.known, np.ones(len(step), dtype=bool))
        begun = launches.start  # and changed in place: it is asked for no more
        begun += shift
        early = int((launches.known & (begun > spans["start"])).sum())
        begun[~launches.known] = NEVER
        launching = distinct(launches.thread[launches.known])
        launchers, threads = set(launching.tolist()) - {-1}, self.launching_threads(launching)
        busy = Busy(spans, begun, step)
        copies = SpansOf(self.copies, device.tasks.pids).whole()
        moved = host.moved(shift)
        calls = moved.of_threads(threads, launchers)
        sweep = sweep_of(busy, calls, union(copies["start"], copies["end"]), self.event_waits.whole())
        times = times_of(busy, sweep, queues=queues)
        return WaitingDevice(
            device_id=self.number_of(device.pid),
            whole=times[0],
            steps=tuple(times[1:]),
            waits=longest_waits(busy, sweep, host.words, most),
            calls=listed.moved(shift).listed(sweep.of_host(), threads),
            task_queue=_task_queue(entries),
            copies=Copies(len(copies["start"]), exact_sum(copies["end"] - copies["start"])),
            kernels=Kernels(
                tasks["start"], tasks["end"], tasks["name"], tasks["stream"], step_at(busy, tasks["start"])
            ),
            shift_ns=shift,
            early=early,
            groups=frozenset(group for group, calls in host.calls.items() if len(calls["start"])),
            communication_known=device.told,
        )


def _is_copy(word: str) -> bool:
    return _COPY_TASK.fullmatch(word) is not None


def _every(spans: Spans) -> Numbers:
    return SpansOf(spans).whole()


def _in_order(spans: Numbers) -> Numbers:
    order = order_by(spans["start"], spans["end"])
    return spans if (order[1:] > order[:-1]).all() else chosen_of(spans, order)


def _below(tasks: Numbers, talk: Numbers) -> Numbers:
    return {name: np.concatenate([tasks[name].astype(np.int64), talk[name]]) for name in tasks}


@dataclass(frozen=True, slots=True)
class _Host:
    """What is recorded of the host."""

    calls: Mapping[CallGroup, Numbers]
    taken_out: Numbers
    steps: Mapping[int, tuple[int, int]]
    words: Sequence[str]

    def moved(self, shift: int) -> _Host:
        """The same in the time of the device."""
        if not shift:
            return self
        return _Host(
            calls={group: _moved(calls, shift) for group, calls in self.calls.items()},
            taken_out=_moved(self.taken_out, shift),
            steps={step: (start + shift, end + shift) for step, (start, end) in self.steps.items()},
            words=self.words,
        )

    def of_step(self, step: int) -> _Host:
        """The same with the calls that began in one step alone."""
        begin, end = self.steps.get(step, (0, 0))
        calls = {
            group: chosen_of(calls, (calls["start"] >= begin) & (calls["start"] < end))
            for group, calls in self.calls.items()
        }
        return replace(self, calls=calls)

    def of_threads(self, threads: set[int], launchers: set[int]) -> HostCalls:
        """When some threads, of which some launch themselves, were in calls that explain waits; garbage collection stops all of them."""
        holding = {
            cause: _when(self.calls[group], threads - launchers if cause in _MAY_LAUNCH else threads)
            for cause, group in IN_CALLS
        }
        launching = {cause: _when(self.calls[group], launchers) for cause, group in IN_CALLS if cause in _MAY_LAUNCH}
        copies = self.calls["copy"]
        names = [n for n in distinct(copies["name"]).tolist() if n >= 0]
        waits = [n for n in names if host_call(self.words[n]) == "synchronisation"]
        holding["garbage collection"] = _when(self.calls["garbage collection"], None)
        return HostCalls(holding, launching, _when(chosen_of(copies, np.isin(copies["name"], waits)), threads))

    def listed(self, waits: Intervals, threads: set[int]) -> tuple[Calls, ...]:
        """The calls by group and name (compilation: and operator), the longest waits first; devices wait for these threads."""
        found = []
        for group, calls in self.calls.items():
            operator = self._operators(calls) if group == "compilation" else np.full(len(calls["start"]), -1)
            blames = _of_any(calls, threads) | (group == "garbage collection")
            (names, operators), place = distinct_rows(calls["name"], operator)
            order = np.argsort(place, kind="stable")
            bounds = np.cumsum(np.bincount(place, minlength=len(names))).tolist()
            for name, of, begin, end in zip(names.tolist(), operators.tolist(), [0, *bounds], bounds, strict=False):
                mine = order[begin:end]
                those = chosen_of(calls, mine[blames[mine]])
                intervals = union(those["start"], those["end"])
                waited = exact_sum(covered_each(waits, intervals.starts, intervals.ends))
                found.append(self._calls(group, name, of, chosen_of(calls, mine), waited))
        return tuple(
            sorted(found, key=lambda one: (-one.waited_ns, -one.total_ns, one.group, one.name, one.operator or ""))
        )

    def _calls(self, group: CallGroup, name: int, operator: int, numbers: Numbers, waited: int) -> Calls:
        places = self._step_places(numbers["start"])
        lengths, steps = numbers["end"] - numbers["start"], len(self.steps)
        return Calls(
            group=group,
            name=self.words[name] if name >= 0 else "",
            operator=self.words[operator].partition("@")[2] or None if operator >= 0 else None,
            calls=len(lengths),
            total_ns=exact_sum(lengths),
            longest_ns=int(lengths.max()),
            calls_per_step=round(len(lengths) / steps, 6) if steps else None,
            first_step_calls=int((places == 0).sum()) if steps else None,
            steps=len(distinct(places[places >= 0])) if steps else None,
            waited_ns=waited,
        )

    def _operators(self, calls: Numbers) -> Ints:
        """The operator that the thread of each call was launching out of the queue then, -1 where nothing says."""
        out = self.taken_out
        found: Ints = np.full(len(calls["start"]), -1, dtype=np.int64)
        for thread in distinct(calls["thread"]).tolist():
            mine, theirs = np.flatnonzero(calls["thread"] == thread), chosen_of(out, out["thread"] == thread)
            if not len(theirs["start"]):
                continue
            theirs = chosen_of(theirs, np.argsort(theirs["start"], kind="stable"))
            near = np.searchsorted(theirs["start"], calls["start"][mine], side="right") - 1
            inside = (near >= 0) & (theirs["end"][near] >= calls["end"][mine])
            found[mine[inside]] = theirs["name"][near[inside]]
        return found

    def _step_places(self, times: Ints) -> Ints:
        """The place of the step in which each moment is, -1 for none."""
        if not self.steps:
            return np.full(len(times), -1, dtype=np.int64)
        starts, ends = (np.asarray(part, dtype=np.int64) for part in zip(*self.steps.values(), strict=True))
        place = np.searchsorted(starts, times, side="right") - 1
        return np.where((place >= 0) & (times < ends[place]), place, -1)


def _when(calls: Numbers, threads: set[int] | None) -> Intervals:
    mine = calls if threads is None else chosen_of(calls, _of_any(calls, threads))
    return union(mine["start"], mine["end"])


def _of_any(calls: Numbers, threads: set[int]) -> Mask:
    return np.isin(calls["thread"], np.asarray(sorted(threads), dtype=np.int64))  # no list: of none numpy makes floats


def _moved(spans: Numbers, shift: int) -> Numbers:
    return {name: values + shift if name in {"start", "end"} else values for name, values in spans.items()}


def _task_queue(entries: Numbers) -> Queue | None:
    """The queue of torch_npu: of each number the first entry, and the first time it is taken out from then on."""
    enters, leaves = (chosen_of(entries, entries["leaves"] == value) for value in (0, 1))
    if not len(enters["key"]) or not len(leaves["key"]):
        return None
    order = np.lexsort((enters["start"], enters["key"]))
    keys, first = np.unique(enters["key"][order], return_index=True)
    begun = enters["start"][order][first]
    out = chosen_of(leaves, np.lexsort((leaves["start"], leaves["key"])))
    numbers, where = np.unique(out["key"], return_index=True)
    place = np.minimum(np.searchsorted(numbers, keys), len(numbers) - 1)
    ended = out["start"][where][place]
    paired = (numbers[place] == keys) & (ended >= begun)
    return queue_of(begun[paired], ended[paired])
