"""Whether devices wait for the host, and why: what launches, what the host was in while nothing ran, what waited in queues.

Idle time is the time in which a device neither computes nor communicates, as in `breakdown`. Each moment of it has one cause, the first
that holds: a copy between host and device runs; what runs next is launched already; the host collects garbage, compiles, loads data, copies
or synchronises; the device ran dry while the host synchronised or copied; the launch of what runs next is not known; else the host was
busy with what is not recorded, or launching.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from aoe_reports.facts.breakdown import EVENT_COLUMNS as ACTIVITY_COLUMNS
from aoe_reports.facts.breakdown import Activity, OfDevice
from aoe_reports.facts.host_calls import CALL_GROUPS, COLLECTOR_PROCESS, CallGroup, call_group
from aoe_reports.facts.launches import Queue, clocks_of, queue_of
from aoe_reports.facts.spans import Spans, SpansOf, chosen_of
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import DEVICE_PROCESS
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.columns import (
    Ints,
    Mask,
    bits,
    coded_in,
    codes,
    exact_sum,
    integers,
    keep_where,
    whole_numbers,
    words_in,
)
from aoe_reports.model.intervals import Intervals, covered_each, union

HOST_COLUMNS = (*ACTIVITY_COLUMNS, "stream_id")
"""The columns of events that are looked at."""
WaitCause = Literal[
    "garbage collection",
    "compilation",
    "data loading",
    "copying",
    "synchronisation",
    "launching",
    "launched",
    "unknown",
]
WAIT_CAUSES: tuple[WaitCause, ...] = get_args(WaitCause)
HOST_CAUSES = WAIT_CAUSES[:6]
"""Those for which the host is to blame; of the others the device, or nobody knows."""
_COPYING, _LAUNCHING, _LAUNCHED, _UNKNOWN = (
    WAIT_CAUSES.index(cause) for cause in ("copying", "launching", "launched", "unknown")
)
_SYNCHRONISING = WAIT_CAUSES.index("synchronisation")
_IN_CALLS: tuple[tuple[WaitCause, CallGroup], ...] = (
    ("garbage collection", "garbage collection"),
    ("compilation", "compilation"),
    ("data loading", "data loading"),
    ("copying", "copy"),
    ("synchronisation", "synchronisation"),
)
"""What calls of a group explain, those first that decide where several are under way."""
_COPY_TASK = re.compile(r"mem_?cpy.*|pcie_dma.*", re.ASCII | re.IGNORECASE)
"""Tasks of a device that copy to or from the host, by name or type; those of communication are called SDMA."""
_TASK_QUEUE = "async_task_queue"
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class Wait:
    """One time in which a device did nothing; ns."""

    start_ns: int
    duration_ns: int
    step: int | None
    by_cause: tuple[int, ...]
    """In the order of WAIT_CAUSES; together they are the duration."""
    before: str | None
    after: str | None

    @property
    def waited_ns(self) -> int:
        """For how much of it the host is to blame."""
        return sum(self.by_cause[: len(HOST_CAUSES)])

    @property
    def cause(self) -> WaitCause:
        """The cause of most of it, of equal ones the first."""
        return WAIT_CAUSES[int(np.argmax(self.by_cause))]


@dataclass(frozen=True, slots=True)
class WaitingTime:
    """A step of a device, or all of its time: how long it did nothing for what; ns."""

    step: int | None
    start_ns: int
    end_ns: int
    by_cause: tuple[int, ...]
    """In the order of WAIT_CAUSES; together they are all idle time."""
    launched: Queue | None
    """From launch to begin of what was launched in it; null where no launch is known."""
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
class Calls:
    """Calls of the host of one group and name; ns."""

    group: CallGroup
    name: str
    operator: str | None
    """The operator that was launched by the queue's thread meanwhile, where calls say that."""
    calls: int
    total_ns: int
    longest_ns: int
    first_step: int
    """How many of them began in the first step."""
    steps: int
    """In how many steps any began."""
    waited_ns: int
    """For how long the device waited for the host while any was under way."""


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


@dataclass(frozen=True, slots=True)
class WaitingDevice:
    """One device and its host."""

    device_id: int | None
    whole: WaitingTime
    steps: tuple[WaitingTime, ...]
    """From the last end of the step before to their own: together they are all that steps last."""
    waits: tuple[Wait, ...]
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
        super().__init__()
        self.calls: dict[CallGroup, Spans] = {group: Spans("start", "end", "thread", "name") for group in CALL_GROUPS}
        self.taken_out = Spans("start", "end", "thread", "name")
        self.entries = Spans("start", "key", "leaves")
        self.kernels = Spans("start", "end", "name", "stream", "pid")
        self.copies = Spans("start", "end", "pid")

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need HOST_COLUMNS."""
        super().add(batch)
        frame = pa.Table.from_batches([batch])
        if pa.types.is_integer(frame.schema.field("pid").type):
            frame = frame.set_column(frame.column_names.index("pid"), "pid", frame["pid"].cast(pa.string()))
        whole = words_in(frame["ph"], {"X"}) & ~bits(frame["stage_row"])
        of_device = whole & words_in(frame["process"], {DEVICE_PROCESS})
        if of_device.any():
            self._add_kernels(frame.filter(keep_where(of_device)))
        flows = ~whole & words_in(frame["category"], {_TASK_QUEUE})
        if flows.any():
            self._add_entries(frame, flows & words_in(frame["ph"], {"s"}), leaves=0)
            self._add_entries(frame, flows & words_in(frame["ph"], {"f"}), leaves=1)

    def _add_kernels(self, some: pa.Table) -> None:
        start, _ = integers(some["start_ns"])
        duration, _ = integers(some["duration_ns"])
        stream, there = integers(some["stream_id"])
        computes = words_in(some["task_type"], COMPUTE_TASKS)
        columns = {
            "start": start,
            "end": start + duration,
            "name": self._numbered(some["name"]),
            "stream": np.where(there, stream, -1),
            "pid": self._numbered(some["pid"]),
        }
        self.kernels.add(**chosen_of(columns, computes))
        copies = (_named(some["name"], _COPY_TASK) | _named(some["task_type"], _COPY_TASK)) & ~computes
        if copies.any():
            self.copies.add(**chosen_of({name: columns[name] for name in self.copies.names}, copies))

    def _add_entries(self, frame: pa.Table, mask: Mask, leaves: int) -> None:
        if not mask.any():
            return
        some = frame.select(["start_ns", "flow_id"]).filter(keep_where(mask))
        start, there = integers(some["start_ns"])
        key, known = whole_numbers(some["flow_id"].combine_chunks(), there, lambda _word: None)
        usable = there & known
        self.entries.add(start=start[usable], key=key[usable], leaves=np.full(int(usable.sum()), leaves))

    def _add_host(self, frame: pa.Table, mask: Mask) -> None:
        super()._add_host(frame, mask)
        if not mask.any():
            return
        frame = frame.select(["name", "process", "thread", "start_ns", "duration_ns"]).filter(keep_where(mask))
        numbers, words = codes(frame["name"])
        groups = {word: group for word in words if (group := call_group(word)) is not None}
        collects = words_in(frame["process"], {COLLECTOR_PROCESS})
        self._keep_calls(self.calls["garbage collection"], frame, collects)
        for group in sorted(set(groups.values())):
            those = [word for word, found in groups.items() if found == group]
            self._keep_calls(self.calls[group], frame, ~collects & coded_in((numbers, words), those))
        out = [word for word in words if word.startswith("Dequeue")]
        self._keep_calls(self.taken_out, frame, coded_in((numbers, words), out))

    def _keep_calls(self, spans: Spans, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.select(["name", "thread", "start_ns", "duration_ns"]).filter(keep_where(mask))
        start, _ = integers(some["start_ns"])
        duration, _ = integers(some["duration_ns"])
        spans.add(
            start=start,
            end=start + np.maximum(duration, 0),
            thread=self._thread_of(some),
            name=self._numbered(some["name"]),
        )

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        super().merge(other)
        if isinstance(other, HostActivity):
            words = np.asarray([*map(self._numbers.__getitem__, other.words), -1], dtype=np.int64)
            threads = self._places_of(other)
            numbers = {"name": words, "pid": words, "thread": threads}
            pairs = [(self.taken_out, other.taken_out), (self.entries, other.entries), (self.kernels, other.kernels)]
            pairs += [(self.copies, other.copies), *((self.calls[group], other.calls[group]) for group in self.calls)]
            for mine, theirs in pairs:
                mine.take(theirs, numbers)

    @property
    def words(self) -> tuple[str, ...]:
        """All words, by their numbers."""
        return tuple(self._numbers)

    def waiting_devices(self, most: int) -> list[WaitingDevice]:
        """How long each device did nothing, for what, by its number; with the `most` longest waits of each."""
        host = _Host(
            calls={group: _every(spans) for group, spans in self.calls.items()},
            taken_out=_every(self.taken_out),
            steps=dict(sorted(self.steps_on_host.items(), key=lambda step: step[1])),
            words=self.words,
        )
        entries = _every(self.entries)
        return [self._waiting(device, host, entries, most) for device in self.of_devices()]

    def _waiting(self, device: OfDevice, host: _Host, entries: Numbers, most: int) -> WaitingDevice:
        spans = _below(device.tasks.between(*_EVER), device.talk.between(*_EVER) if device.told else None)
        order = np.lexsort((spans["end"], spans["start"]))
        spans = chosen_of(spans, order)
        launches, step = self.launches_of(spans), self._step_of(spans)
        shift, _ = clocks_of(spans["start"] - launches.start, launches.known, np.ones(len(order), dtype=bool))
        begun = launches.start + shift
        threads = set((np.flatnonzero(np.bincount(launches.thread[launches.known] + 1)) - 1).tolist())
        if threads & self.emptying:
            threads |= {thread for some in self.queued.blocks() for thread in np.unique(some["thread"]).tolist()}
        busy = _Busy(spans, np.where(launches.known, begun, _NEVER), step)
        copies = SpansOf(self.copies, device.tasks.pids).between(*_EVER)
        sweep = _sweep(busy, host.moved(shift), frozenset(threads), union(copies["start"], copies["end"]))
        times = _times_of(busy, sweep)
        kernels = SpansOf(self.kernels, device.tasks.pids).between(*_EVER)
        by_start = np.lexsort((kernels["end"], kernels["start"]))
        kernels = chosen_of(kernels, by_start)
        return WaitingDevice(
            device_id=self.number_of(device.pid),
            whole=times[0],
            steps=tuple(times[1:]),
            waits=_longest(busy, sweep, host.words, most),
            calls=host.moved(shift).listed(sweep.of_host()),
            task_queue=_task_queue(entries),
            copies=Copies(len(copies["start"]), exact_sum(copies["end"] - copies["start"])),
            kernels=Kernels(
                kernels["start"], kernels["end"], kernels["name"], kernels["stream"], _step_at(busy, kernels["start"])
            ),
            shift_ns=shift,
            early=int((launches.known & (begun > spans["start"])).sum()),
            groups=frozenset(group for group, calls in host.calls.items() if len(calls["start"])),
            communication_known=device.told,
        )


_EVER = (-(2**63), 2**63 - 1)


def _every(spans: Spans) -> Numbers:
    return SpansOf(spans).between(*_EVER)


def _named(column: pa.ChunkedArray, pattern: re.Pattern[str]) -> Mask:
    numbers, words = codes(column)
    return np.asarray([False, *(pattern.fullmatch(word) is not None for word in words)])[numbers]


def _below(tasks: Numbers, talk: Numbers | None) -> Numbers:
    if talk is None:
        return tasks
    return {name: np.concatenate([tasks[name].astype(np.int64), talk[name]]) for name in tasks}


@dataclass(frozen=True, slots=True)
class _Busy:
    """What a device did, in the order of the begins: spans, when each was launched (_NEVER: not known), in which step."""

    spans: Numbers
    launched: Ints
    step: Ints

    @property
    def union(self) -> Intervals:
        return union(self.spans["start"], self.spans["end"])

    def bounds(self) -> tuple[Ints, Ints]:
        """(the steps in the order of their ends, when what they launched ended)."""
        known = self.step >= 0
        numbers, place = np.unique(self.step[known], return_inverse=True)
        ends = np.full(len(numbers), -(2**62), dtype=np.int64)
        np.maximum.at(ends, place.reshape(-1), self.spans["end"][known])
        order = np.lexsort((numbers, ends))
        return numbers[order], ends[order]


@dataclass(frozen=True, slots=True)
class _Sweep:
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

    def listed(self, waits: Intervals) -> tuple[Calls, ...]:
        """The calls by group and name (compilation: and operator), the longest waits first."""
        found = []
        for group, calls in self.calls.items():
            operator = self._operators(calls) if group == "compilation" else np.full(len(calls["start"]), -1)
            pairs, place = np.unique(np.stack([calls["name"], operator]), axis=1, return_inverse=True)
            for number, (name, of) in enumerate(pairs.T.tolist()):
                mine = chosen_of(calls, place.reshape(-1) == number)
                found.append(self._calls(group, name, of, mine, waits))
        return tuple(
            sorted(found, key=lambda one: (-one.waited_ns, -one.total_ns, one.group, one.name, one.operator or ""))
        )

    def _calls(self, group: CallGroup, name: int, operator: int, mine: Numbers, waits: Intervals) -> Calls:
        places = self._step_places(mine["start"])
        under_way = union(mine["start"], mine["end"])
        lengths = mine["end"] - mine["start"]
        return Calls(
            group=group,
            name=self.words[name] if name >= 0 else "",
            operator=self.words[operator].partition("@")[2] or None if operator >= 0 else None,
            calls=len(lengths),
            total_ns=exact_sum(lengths),
            longest_ns=int(lengths.max()),
            first_step=int((places == 0).sum()),
            steps=len(np.unique(places[places >= 0])),
            waited_ns=exact_sum(covered_each(waits, under_way.starts, under_way.ends)),
        )

    def _operators(self, calls: Numbers) -> Ints:
        """The operator that the thread of each call was launching out of the queue then, -1 where nothing says."""
        out = self.taken_out
        found: Ints = np.full(len(calls["start"]), -1, dtype=np.int64)
        for thread in np.unique(calls["thread"]).tolist():
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


def _moved(spans: Numbers, shift: int) -> Numbers:
    return {name: values + shift if name in {"start", "end"} else values for name, values in spans.items()}


def _sweep(busy: _Busy, host: _Host, threads: frozenset[int], copies: Intervals) -> _Sweep:
    """Cut the idle time of a device into pieces of one cause."""
    one = busy.union
    starts, ends = one.ends[:-1], one.starts[1:]
    launched, calls = (
        _launched(busy, ends),
        {
            cause: _of_threads(host.calls[group], None if cause == "garbage collection" else threads)
            for cause, group in _IN_CALLS
        },
    )
    bounds = busy.bounds()[1]
    sets = [copies, *calls.values()]
    cuts = _in_order(
        np.concatenate([starts, ends, launched, bounds, *(part for each in sets for part in (each.starts, each.ends))])
    )
    gap = np.searchsorted(starts, cuts, side="right") - 1
    idle = (gap >= 0) & (cuts < ends[gap]) if len(starts) else np.zeros(len(cuts), dtype=bool)
    begin, gap = cuts[idle], gap[idle]
    length = np.append(cuts[1:], cuts[-1:])[idle] - begin
    dry = starts[gap]
    choices = [(_is_in(copies, begin), _COPYING), (launched[gap] <= begin, _LAUNCHED)]
    choices += [(_is_in(calls[cause], begin), WAIT_CAUSES.index(cause)) for cause, _ in _IN_CALLS]
    # a call that waits for the device returns when it is done: what the device lacks then, the host could have launched before
    choices += [
        (_is_in(calls["synchronisation"], dry - 1), _SYNCHRONISING),
        (_is_in(calls["copying"], dry - 1), _COPYING),
    ]
    choices += [(launched[gap] == _NEVER, _UNKNOWN)]
    cause = np.select([mask for mask, _ in choices], [code for _, code in choices], default=_LAUNCHING)
    step = np.searchsorted(bounds, begin, side="right")
    return _Sweep(begin, length, cause, gap, np.where(step < len(bounds), step, -1), (starts, ends))


def _in_order(times: Ints) -> Ints:
    """Moments in order, each once (numpy's `unique` takes several times as long for as many)."""
    times = np.sort(times)
    return times[np.append(True, times[1:] != times[:-1])] if len(times) else times


def _launched(busy: _Busy, ends: Ints) -> Ints:
    """When the first of what begins at the end of each gap was launched; _NEVER where that is not known."""
    first = np.searchsorted(busy.spans["start"], ends)
    behind = np.searchsorted(busy.spans["start"], ends, side="right")
    if not len(ends):
        return first
    where = np.stack([first, behind], axis=1).reshape(-1)
    padded = np.append(busy.launched, _NEVER)
    least: Ints = np.minimum.reduceat(padded, where)[::2]
    return least


def _of_threads(calls: Numbers, threads: frozenset[int] | None) -> Intervals:
    mine = calls if threads is None else chosen_of(calls, np.isin(calls["thread"], sorted(threads)))
    return union(mine["start"], mine["end"])


def _is_in(intervals: Intervals, times: Ints) -> Mask:
    """Which moments are in one of the intervals."""
    if not len(intervals):
        return np.zeros(len(times), dtype=bool)
    place = np.searchsorted(intervals.starts, times, side="right") - 1
    return (place >= 0) & (times < intervals.ends[np.maximum(place, 0)])


def _times_of(busy: _Busy, sweep: _Sweep) -> list[WaitingTime]:
    """All of the time of a device, and each of its steps."""
    one = busy.union
    span = (int(one.starts[0]), int(one.ends[-1])) if len(one) else (0, 0)
    everything = np.ones(len(busy.step), dtype=bool)
    found = [_time(None, span, busy, everything, sweep.length, sweep.cause)]
    numbers, ends = busy.bounds()
    begin = span[0]
    for place, (number, end) in enumerate(zip(numbers.tolist(), ends.tolist(), strict=True)):
        mine = sweep.step == place
        found.append(_time(number, (begin, end), busy, busy.step == number, sweep.length[mine], sweep.cause[mine]))
        begin = end
    return found


def _time(step: int | None, span: tuple[int, int], busy: _Busy, mine: Mask, length: Ints, cause: Ints) -> WaitingTime:
    known = mine & (busy.launched != _NEVER)
    start, launched = busy.spans["start"][known], busy.launched[known]
    sums = np.zeros(len(WAIT_CAUSES), dtype=np.int64)
    np.add.at(sums, cause, length)
    return WaitingTime(
        step=step,
        start_ns=span[0],
        end_ns=span[1],
        by_cause=tuple(sums.tolist()),
        launched=queue_of(np.minimum(launched, start), start),
        tasks=int(mine.sum()),
        launches_unknown=int((mine & ~known).sum()),
    )


def _longest(busy: _Busy, sweep: _Sweep, words: Sequence[str], most: int) -> tuple[Wait, ...]:
    """The gaps in which the device waited longest for the host, the longest first."""
    starts, ends = sweep.gaps
    sums = np.zeros((len(WAIT_CAUSES), len(starts)), dtype=np.int64)
    np.add.at(sums, (sweep.cause, sweep.gap), sweep.length)
    waited = sums[: len(HOST_CAUSES)].sum(axis=0)
    spans, found = busy.spans, []
    by_end = np.argsort(spans["end"], kind="stable")
    for place in np.lexsort((starts, -waited))[:most].tolist():
        if not waited[place]:
            break
        last = by_end[np.searchsorted(spans["end"][by_end], starts[place], side="right") - 1]
        after = int(np.searchsorted(spans["start"], ends[place]))
        found.append(
            Wait(
                start_ns=int(starts[place]),
                duration_ns=int(ends[place] - starts[place]),
                step=int(busy.step[after]) if busy.step[after] >= 0 else None,
                by_cause=tuple(sums[:, place].tolist()),
                before=_word(words, int(spans["name"][last])),
                after=_word(words, int(spans["name"][after])),
            )
        )
    return tuple(found)


def _word(words: Sequence[str], number: int) -> str | None:
    return words[number] if number >= 0 else None


def _step_at(busy: _Busy, starts: Ints) -> Ints:
    """The step of the busy span that begins at each moment; -1 where that is of none."""
    if not len(starts):
        return starts
    place = np.minimum(np.searchsorted(busy.spans["start"], starts), max(len(busy.step) - 1, 0))
    return np.where(busy.spans["start"][place] == starts, busy.step[place], -1)


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
