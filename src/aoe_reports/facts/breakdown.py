"""What a device did, from the events of a timeline: computing, communication, both at once, neither; its longest gaps.

Computed from the tasks alone: the profiler's own Overlap Analysis is only summed, to be held against it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa

from aoe_reports.facts.frames import Frame, as_arrow
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
from aoe_reports.model.columns import Ints, Mask, bits, codes, integers, keep_where, whole_numbers, words_in
from aoe_reports.model.intervals import Intervals, covered, union, united

EVENT_COLUMNS = (
    "ph", "name", "category", "flow_id", "connection_id", "pid", "process", "thread", "start_ns", "duration_ns", "task_type", "stage_row",
)  # fmt: skip
"""The columns of events that are looked at."""
Cause = Literal["host launched late", "synchronisation", "data loading", "waiting for communication", "unknown"]
HostCall = Literal["synchronisation", "data loading"]
_NOT_HOST = frozenset({DEVICE_PROCESS, OVERLAP_PROCESS, *COMMUNICATION_PROCESSES})
_PLANE = "Plane"
_LARGE_PRIME = 2**61 - 1
_INT32_LIMIT = 2**31
_SHIFT = 32
_UPPER = 2**_SHIFT
"""The id of a flow is a connection in the upper half of 64 bits, as nearly all are; others are no connection's key."""
_MAX_THREADS = 2**15 - 1


_SYNCHRONISES = re.compile(
    r"(?:AscendCL|Runtime|)@?(?:\w*Synchronize\w*|StreamSyncTaskFinish|MemCopySync|aclrtMemcpy)",
    re.ASCII,
)
"""Calls of AscendCL and of the Runtime that return when the device is done: synchronising, and copying without Async."""
_LOADS = re.compile(r"(?:AscendCL@)?acltdt\w+|GetNext.*|.*dataloader.*", re.ASCII | re.IGNORECASE | re.DOTALL)
"""The range that PyTorch's DataLoader records around its `__next__`, such ranges of users, channels of data to graphs."""
_FRAME = re.compile(r"\.py\(\d+\): ")
"""What a Python frame is called: where stacks are recorded frames stand around the ranges that are always there."""


@lru_cache(maxsize=1 << 16)
def host_call(name: str) -> HostCall | Literal["enqueue", "dequeue"] | None:
    """What a call of the host says of why it launches nothing; null where it says nothing of that."""
    if name.startswith(("Enqueue", "enqueue")):
        return "enqueue"
    if name.startswith(("Dequeue", "dequeue")):
        return "dequeue"
    if _SYNCHRONISES.fullmatch(name):
        return "synchronisation"
    return "data loading" if _LOADS.fullmatch(name) and not _FRAME.search(name) else None


@dataclass(frozen=True, slots=True)
class Parts:
    """What some time of a device was spent on, in ns; what is communication is null where that cannot be told."""

    start_ns: int
    end_ns: int
    tasks: int
    """Tasks that compute."""
    intervals: int
    """Intervals that the unions were made of, communication among them."""
    computing_ns: int
    communication_ns: int | None
    overlapped_ns: int | None
    communication_not_overlapped_ns: int | None
    free_ns: int | None

    @property
    def end_to_end_ns(self) -> int:
        """From the first start to the last end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Gap:
    """Time between two tasks in which nothing computed; times in ns."""

    start_ns: int
    duration_ns: int
    communication_ns: int | None
    """For how much of it communication ran."""
    before: str | None
    after: str | None
    step: int | None
    """The step of the task behind it."""
    cause: Cause
    launch: str | None
    """The host's call that launched the task behind the gap."""
    launched_after_ns: int | None
    """How long after the gap's begin that call began; negative: before."""
    communication: str | None
    """The communication operator that ran longest in it."""
    host_call: str | None = None
    """Where such calls make up the cause: the one that the launching host was in for the longest of it."""
    host_call_ns: int | None = None
    """For how much of it the host was in calls of that kind."""


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


@dataclass(slots=True)
class _Spans:
    """Spans of time collected batch by batch: a few numbers each, names as numbers."""

    columns: dict[str, list[Ints]] = field(default_factory=lambda: defaultdict(list))

    def add(self, **columns: Ints) -> None:
        for name, values in columns.items():
            self.columns[name].append(values)

    def __getitem__(self, name: str) -> Ints:
        parts = self.columns[name]
        if len(parts) != 1:
            self.columns[name] = parts = [np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)]
        return parts[0]

    def take(self, other: _Spans, numbers: Mapping[str, Any]) -> None:
        """Add the spans of another, which numbers words otherwise: `numbers` has ours by theirs, and last that of none."""
        for name, parts in other.columns.items():
            self.columns[name] += [numbers[name][part] if name in numbers else part for part in parts]
        other.columns.clear()

    def where(self, mask: Mask | Ints) -> _Spans:
        some = _Spans()
        some.add(**{name: self[name][mask] for name in list(self.columns)})
        return some

    def __len__(self) -> int:
        return len(self["start"])


Numbers = _Spans | dict[str, Ints]
"""Columns of spans."""


class Activity:
    """Takes the events of one capture, batch after batch, and tells what its devices did.

    Holds 28 bytes a task, 18 a launching call and 26 a flow; 22 a call of the host that waits, 10 an entry into a queue.
    """

    def __init__(self) -> None:
        self._pid_is_device = False
        self._numbers: dict[str, int] = {}
        self._tasks, self._operators, self._planes = _Spans(), _Spans(), _Spans()
        self._calls, self._flows, self._arrivals = _Spans(), _Spans(), _Spans()
        self._waits: dict[HostCall, _Spans] = {"synchronisation": _Spans(), "data loading": _Spans()}
        self._queued = _Spans()
        self._threads: dict[str, int] = {}
        self._emptying: set[int] = set()
        self._synchronising: set[str] = set()
        self._steps: dict[int, tuple[int, int]] = {}
        self._stated: dict[tuple[str | None, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need EVENT_COLUMNS."""
        frame = pa.Table.from_batches([batch])
        if pa.types.is_integer(frame.schema.field("pid").type):  # only a database's, which has devices in their place
            self._pid_is_device = True
            frame = frame.set_column(frame.column_names.index("pid"), "pid", frame["pid"].cast(pa.string()))
        whole = words_in(frame["ph"], {"X"}) & ~bits(frame["stage_row"])
        of_device = whole & words_in(frame["process"], {DEVICE_PROCESS}) & words_in(frame["task_type"], COMPUTE_TASKS)
        self._keep(self._tasks, frame, of_device)
        talks = whole & words_in(frame["process"], COMMUNICATION_PROCESSES)
        if talks.any():
            numbers, words = codes(frame["thread"])
            plane = np.asarray([False, *(word.startswith(_PLANE) for word in words)])[numbers]
            self._keep(self._operators, frame, talks & ~plane)
            self._keep(self._planes, frame, talks & plane)
        self._add_host(frame, whole & ~words_in(frame["process"], _NOT_HOST))
        _, linked = integers(frame["connection_id"])
        if linked.any():
            calls = whole & linked & words_in(frame["process"], {HOST_PROCESS})
            if self._synchronising:  # these launch nothing that computes or communicates
                calls &= ~words_in(frame["name"], self._synchronising)
            self._keep(self._calls, frame, calls)
        flows = words_in(frame["category"], {FLOW_CATEGORY})
        if flows.any():
            self._keep_flows(self._flows, frame, flows & words_in(frame["ph"], {"s"}))
            self._keep_flows(self._arrivals, frame, flows & words_in(frame["ph"], {"f"}))
        self._add_stated(frame, whole & words_in(frame["process"], {OVERLAP_PROCESS}))

    def _keep(self, spans: _Spans, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.filter(keep_where(mask))
        start, _ = integers(some["start_ns"])
        connection, linked = integers(some["connection_id"])
        connection[~linked] = -1
        columns = {
            "start": start,
            "connection": _narrowed(connection),
            "name": self._numbered(some["name"]),
        }
        if spans is self._calls:
            columns["thread"] = self._thread_of(some)
        else:
            duration, _ = integers(some["duration_ns"])
            columns |= {"end": start + duration, "pid": self._numbered(some["pid"])}
        spans.add(**columns)

    def _keep_flows(self, spans: _Spans, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.filter(keep_where(mask))
        start, there = integers(some["start_ns"])
        flow, known = whole_numbers(some["flow_id"].combine_chunks(), there, _wrapped)
        key = np.where(flow & (_UPPER - 1) == 0, flow >> _SHIFT, flow + _LARGE_PRIME)
        usable = there & known
        columns: dict[str, Ints] = {"start": start[usable], "key": _narrowed(key[usable])}
        if spans is self._flows:
            columns["thread"] = self._thread_of(some)[usable]
        spans.add(**columns)

    def _numbered(self, column: pa.ChunkedArray) -> Any:
        """Words as numbers that are the same in every batch; -1 for none."""
        numbers, words = codes(column)
        known = [self._numbers.setdefault(word, len(self._numbers)) for word in words]
        return _narrow([-1, *known])[numbers]

    def _thread_of(self, some: pa.Table) -> Any:
        """Threads as numbers that are the same in every batch; -1 for none, and for those beyond all reason."""
        numbers, words = codes(some["thread"])
        known = [min(self._threads.setdefault(word, len(self._threads)), _MAX_THREADS) for word in words]
        return np.asarray([-1, *(number if number < _MAX_THREADS else -1 for number in known)], dtype=np.int16)[numbers]

    def _add_host(self, frame: pa.Table, mask: Mask) -> None:
        """Keep of the host's calls those that say what it waited for, and who fed the queue of whom."""
        if not mask.any():
            return
        some = frame.select(["name", "thread", "start_ns", "duration_ns"]).filter(keep_where(mask))
        numbers, words = codes(some["name"])
        kinds = dict(zip(words, map(host_call, words), strict=True))
        self._add_steps(some, words_in(some["name"], [word for word in words if word.startswith(STEP_RANGE)]))
        self._synchronising.update(word for word, kind in kinds.items() if kind == "synchronisation")
        for kind in sorted({kind for kind in kinds.values() if kind is not None}):
            hits = [number for number, word in enumerate(words, start=1) if kinds[word] == kind]
            self._add_calls(kind, some.filter(keep_where(np.isin(numbers, hits))))

    def _add_calls(self, kind: HostCall | Literal["enqueue", "dequeue"], calls: pa.Table) -> None:
        start, _ = integers(calls["start_ns"])
        thread = self._thread_of(calls)
        if kind == "dequeue":
            self._emptying.update(np.unique(thread).tolist())
        elif kind == "enqueue":
            self._queued.add(start=start, thread=thread)
        else:
            duration, _ = integers(calls["duration_ns"])
            name = self._numbered(calls["name"])
            self._waits[kind].add(start=start, end=start + duration, thread=thread, name=name)

    def _add_steps(self, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.filter(keep_where(mask)).select(["name", "start_ns", "duration_ns"])
        for row in some.to_pylist():
            if (step := step_of_range(row["name"])) is not None:
                self._steps.setdefault(step, (row["start_ns"], row["start_ns"] + row["duration_ns"]))

    def _add_stated(self, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        for row in frame.filter(keep_where(mask)).select(["pid", "thread", "duration_ns"]).to_pylist():
            entry = self._stated[(row["pid"], row["thread"] or "")]
            entry[0] += row["duration_ns"]
            entry[1] += 1

    def step_of_tasks(self) -> Ints | None:
        """The step that launched each task that computes, in the order of the events, -1 for none; None where there are no steps."""
        return self._step_of(self._tasks) if self._steps else None

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self._pid_is_device |= other._pid_is_device
        words = _narrow([*(self._numbers.setdefault(word, len(self._numbers)) for word in other._numbers), -1])
        threads = [min(self._threads.setdefault(word, len(self._threads)), _MAX_THREADS) for word in other._threads]
        places = np.asarray([*(place if place < _MAX_THREADS else -1 for place in threads), -1], dtype=np.int16)
        pairs = [(self._tasks, other._tasks), (self._operators, other._operators), (self._planes, other._planes)]
        pairs += [(self._calls, other._calls), (self._flows, other._flows), (self._arrivals, other._arrivals)]
        pairs += [(self._queued, other._queued), *((self._waits[kind], other._waits[kind]) for kind in self._waits)]
        for mine, theirs in pairs:
            mine.take(theirs, {"name": words, "pid": words, "thread": places})
        self._emptying |= {int(places[thread]) for thread in other._emptying}
        self._synchronising |= other._synchronising
        for step, span in other._steps.items():
            self._steps.setdefault(step, span)
        for key, (time_ns, rows) in other._stated.items():
            entry = self._stated[key]
            entry[0] += time_ns
            entry[1] += rows

    def break_down(self, gaps: int = 10) -> list[DeviceBreakdown]:
        """What each device did, by its number; the `gaps` longest gaps of each."""
        words = dict(zip(self._numbers.values(), self._numbers, strict=True))
        talk = self._operators if len(self._operators) else self._planes
        places = np.unique(self._tasks["pid"]).tolist() or np.unique(talk["pid"]).tolist()
        if len(places) == 1:
            stated = {thread: entry for (_, thread), entry in sorted(self._stated.items(), key=str)}
            return [self._device(words.get(places[0]), self._tasks, talk, words, stated, gaps, told=True)]
        found = []
        for place in places:
            pid = words.get(place)
            same = [n for n in np.unique(talk["pid"]).tolist() if self._same_device(words.get(n), pid)]
            mine = talk.where(np.isin(talk["pid"], same))
            stated = {
                thread: entry
                for (of, thread), entry in sorted(self._stated.items(), key=str)
                if self._same_device(of, pid)
            }
            tasks = self._tasks.where(self._tasks["pid"] == place)
            told = not len(talk) or len(mine) > 0
            found.append(self._device(pid, tasks, mine, words, stated, gaps, told=told))
        return sorted(found, key=lambda device: -1 if device.device_id is None else device.device_id)

    def _device(
        self,
        pid: str | None,
        tasks: _Spans,
        talk: _Spans,
        words: dict[int, str],
        stated: dict[str, list[int]],
        gaps: int,
        *,
        told: bool,
    ) -> DeviceBreakdown:
        own, others = self._step_of(tasks), self._step_of(talk)
        steps = {
            number: _parts(tasks.where(own == number), talk.where(others == number), told=told)
            for number in sorted(self._steps)
            if (own == number).any() or (others == number).any()
        }
        computing = union(tasks["start"], tasks["end"])
        lengths = computing.starts[1:] - computing.ends[:-1]
        return DeviceBreakdown(
            device_id=self._device_of(pid),
            whole=_parts(tasks, talk, told=told),
            steps=steps,
            outside=int((own < 0).sum() + (others < 0).sum()) if self._steps else 0,
            gaps=self._gaps(_longest(computing, lengths, gaps), tasks, talk, own, words, told=told),
            gap_count=len(lengths),
            gaps_ns=int(lengths.sum()),
            stated_ns={thread: entry[0] for thread, entry in stated.items()},
            stated_rows={thread: entry[1] for thread, entry in stated.items()},
        )

    def _device_of(self, pid: str | None) -> int | None:
        if self._pid_is_device:
            return int(pid) if pid and pid.isdecimal() else None
        others = {of for of, _ in self._stated} | {self._word(number) for number in self._operators["pid"][:1].tolist()}
        return device_of_process(pid, others)

    def _word(self, number: int) -> str | None:
        return next((word for word, known in self._numbers.items() if known == number), None)

    def _same_device(self, other: str | None, pid: str | None) -> bool:
        process = profiled_process(pid)
        if process is None or pid is None or other is None:
            return False
        if self._pid_is_device:
            return other == pid
        return profiled_process(other) == process > 0 and device_bits(other) == device_bits(pid)

    def _step_of(self, spans: Numbers) -> Ints:
        """The step that launched each span (where no launch is known: in which it began); -1 outside of all."""
        nowhere: Ints = np.broadcast_to(np.int64(-1), len(spans["start"]))  # takes no memory
        if not self._steps or not len(spans["start"]):
            return nowhere
        begun = spans["start"].copy()
        launched, known = self._launches(spans)
        begun[known] = launched[known]
        ordered = sorted((start, end, number) for number, (start, end) in self._steps.items())
        starts, ends, numbers = (np.asarray(part, dtype=np.int64) for part in zip(*ordered, strict=True))
        place = np.searchsorted(starts, begun, side="right") - 1
        inside = (place >= 0) & (begun < ends[place])
        return np.where(inside, numbers[place], nowhere)

    def _launches(self, spans: Numbers) -> tuple[Ints, Mask]:
        """(when each span was launched, where that is known): by the call of its connection, else by its flow.

        Of several calls of a connection it is the last one before the span.
        """
        mine = np.isin(self._calls["connection"], spans["connection"])
        connections = np.concatenate([self._calls["connection"][mine], spans["connection"]])
        times = np.concatenate([self._calls["start"][mine], spans["start"]])
        count = len(times) - len(spans["start"])
        order = np.lexsort((np.arange(len(times)) >= count, times, connections))
        found, there = np.zeros(len(times), dtype=np.int64), np.zeros(len(times), dtype=bool)
        place = np.arange(len(order))
        calls = order < count
        before = np.maximum.accumulate(np.where(calls, place, -1))
        behind = np.minimum.accumulate(np.where(calls, place, len(order))[::-1])[::-1]
        # the clocks of host and device may be apart: a call that seems to begin behind its task is the next best one
        for near in (behind, before):
            call = order[np.clip(near, 0, max(len(order) - 1, 0))]
            same = (call < count) & (connections[call] == connections[order]) & (connections[order] >= 0)
            found[order[same]], there[order[same]] = times[call[same]], True
        launched, known = found[count:], there[count:]
        by_flow, arrived = self._flows_to(spans["start"])
        return np.where(known, launched, by_flow), known | arrived

    def _flows_to(self, starts: Ints) -> tuple[Ints, Mask]:
        """(begin of the flow that ends where a task starts, whether there is one)."""
        mine = np.isin(self._arrivals["start"], starts)
        moments, keys = self._arrivals["start"][mine], self._arrivals["key"][mine]
        theirs = np.isin(self._flows["key"], keys)
        sources, begins = self._flows["key"][theirs], self._flows["start"][theirs]
        if not len(sources):
            return np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=bool)
        # where several flows end at one time, or begin under one key, the first: the order of the file decides nothing
        by_time, by_key = np.lexsort((keys, moments)), np.lexsort((begins, sources))
        moments, keys, sources, begins = moments[by_time], keys[by_time], sources[by_key], begins[by_key]
        end = np.minimum(np.searchsorted(moments, starts), len(moments) - 1)
        source = np.minimum(np.searchsorted(sources, keys[end]), len(sources) - 1)
        return begins[source], (moments[end] == starts) & (sources[source] == keys[end])

    def _gaps(
        self,
        spans: Sequence[tuple[int, int]],
        tasks: _Spans,
        talk: _Spans,
        steps: Ints,
        words: dict[int, str],
        *,
        told: bool,
    ) -> list[Gap]:
        communication = union(talk["start"], talk["end"])
        behind = [_first_of(np.flatnonzero(tasks["start"] == end), tasks, words) for _, end in spans]
        launches, known = self._launches(tasks.where(np.asarray(behind, dtype=np.int64)))
        return [
            self._gap(span, after, (tasks, talk, steps), words, launched, talked)
            for span, after, launched, talked in zip(
                spans,
                behind,
                [int(launch) if there else None for launch, there in zip(launches, known, strict=True)],
                [covered(communication, *span) if told else None for span in spans],
                strict=True,
            )
        ]

    def _gap(
        self,
        span: tuple[int, int],
        after: int,
        of_device: tuple[_Spans, _Spans, Ints],
        words: dict[int, str],
        launched: int | None,
        talked: int | None,
    ) -> Gap:
        """One gap; `after` is the task behind it, launched then, and communication ran in it for so long, where that is known."""
        (start, end), (tasks, talk, steps) = span, of_device
        before = _first_of(np.flatnonzero(tasks["end"] == start), tasks, words)
        call, thread, late = None, -1, None
        if launched is not None:
            call, thread = self._call_of(int(tasks["connection"][after]), launched, words)
            late = launched - start
        cause = _cause(end - start, late, talked or 0)
        waited = None
        if launched is not None and cause == "host launched late":
            waited = self._wait_in(start, end, thread, launched, words)
        kind, host_call, host_call_ns = waited or (cause, None, None)
        return Gap(
            start_ns=start,
            duration_ns=end - start,
            communication_ns=talked,
            before=words.get(int(tasks["name"][before])),
            after=words.get(int(tasks["name"][after])),
            step=int(steps[after]) if steps[after] >= 0 else None,
            cause=kind,
            launch=call,
            launched_after_ns=late,
            communication=_longest_in(talk, start, end, words) if talked else None,
            host_call=host_call,
            host_call_ns=host_call_ns,
        )

    def _call_of(self, connection: int, start: int, words: dict[int, str]) -> tuple[str | None, int]:
        """(name of the call under a connection that began then, its thread); of a flow only the thread is known."""
        calls = self._calls
        mine = np.flatnonzero((calls["connection"] == connection) & (calls["start"] == start))
        if len(mine) and connection >= 0:
            place = _first_of(mine, calls, words)
            return words.get(int(calls["name"][place])), int(calls["thread"][place])
        threads = self._flows["thread"][self._flows["start"] == start]
        return None, int(threads.max()) if len(threads) and threads.min() == threads.max() else -1

    def _wait_in(
        self, start: int, end: int, thread: int, launched: int, words: dict[int, str]
    ) -> tuple[HostCall, str | None, int] | None:
        """(kind of the calls in which the launching host spent at least half of a gap, the longest of them, how long).

        A thread that launches what others put into a queue is late because they are: in a gap the queue is empty, so who
        entered something last before the launch entered that task.
        """
        threads = [thread] if thread >= 0 else []
        if thread in self._emptying and len(self._queued):
            entered = np.where(self._queued["start"] <= launched, self._queued["start"], -1)
            last = entered == entered.max()
            threads += sorted(set(self._queued["thread"][last].tolist())) if entered.max() >= 0 else []
        best: tuple[HostCall, str | None, int] | None = None
        for kind, spans in self._waits.items():
            mine = np.flatnonzero(np.isin(spans["thread"], threads) & (spans["start"] < end) & (spans["end"] > start))
            calls = spans.where(mine)
            if not len(calls):
                continue
            spent = covered(union(calls["start"], calls["end"]), start, end)
            if spent * 2 >= end - start and (best is None or spent >= best[2]):
                best = kind, _longest_in(calls, start, end, words), spent
        return best


def _longest(computing: Intervals, lengths: Ints, count: int) -> list[tuple[int, int]]:
    """(start, end) of the longest gaps, the longest first."""
    return [(int(computing.ends[place]), int(computing.starts[place + 1])) for place in _largest(lengths, count)]


def _largest(lengths: Ints, count: int) -> list[int]:
    """The places of the largest, which come first; of equal ones the earlier."""
    if not 0 < count < len(lengths):
        every: list[int] = np.argsort(-lengths, kind="stable")[:count].tolist()
        return every
    least = np.partition(lengths, len(lengths) - count)[len(lengths) - count]
    places = np.flatnonzero(lengths >= least)
    longest: list[int] = places[np.argsort(-lengths[places], kind="stable")][:count].tolist()
    return longest


def _wrapped(word: str) -> int | None:
    """The id of a flow as a number of 61 bits: it may be longer, and that two of a capture are alike by this is next to impossible."""
    return int(word) % _LARGE_PRIME if word.isascii() and word.isdecimal() else None


def _narrowed(numbers: Ints) -> Ints:
    """Whole numbers in half the memory where they are small enough."""
    return numbers.astype(np.int32) if len(numbers) and numbers.max() < _INT32_LIMIT else numbers


def _narrow(numbers: list[int]) -> Any:
    """Numbers of words, of which there are never more than 32 bits tell apart, in half the memory."""
    return np.asarray(numbers, dtype=np.int32)


def _first_of(places: Ints, spans: _Spans, words: dict[int, str]) -> int:
    """One of several spans: that of the first name, so that the order of the file decides nothing."""
    named: list[int] = places.tolist()
    return min(named, key=lambda place: (words.get(int(spans["name"][place]), ""), int(spans["connection"][place])))


def _longest_in(spans: _Spans, start: int, end: int, words: dict[int, str]) -> str | None:
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


def _parts(tasks: _Spans, talk: _Spans, *, told: bool) -> Parts:
    return part_time(
        union(tasks["start"], tasks["end"]), union(talk["start"], talk["end"]), len(tasks), len(talk), told=told
    )


def part_time(
    computing: Intervals, communication: Intervals, tasks: int, operators: int, *, told: bool = True
) -> Parts:
    """Part the time from the first start to the last end; `told` says that the device's communication is known."""
    either = united(computing, communication)
    start, end = (int(either.starts[0]), int(either.ends[-1])) if len(either) else (0, 0)
    if not told:
        return Parts(
            start_ns=start,
            end_ns=end,
            tasks=tasks,
            intervals=tasks,
            computing_ns=computing.total,
            communication_ns=None,
            overlapped_ns=None,
            communication_not_overlapped_ns=None,
            free_ns=None,
        )
    busy = either.total
    return Parts(
        start_ns=start,
        end_ns=end,
        tasks=tasks,
        intervals=tasks + operators,
        computing_ns=computing.total,
        communication_ns=communication.total,
        overlapped_ns=computing.total + communication.total - busy,
        communication_not_overlapped_ns=busy - computing.total,
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
