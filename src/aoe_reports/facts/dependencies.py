"""What the tasks of a device depend on, from the events of a timeline, as slices for `critical_path`.

Recorded are: the order of each stream and thread, what launched a task (connection or flow), and which entry into a queue a thread of the
host took out (flow), which operator of the forward pass a backward one belongs to (flow). Inferred are: a task that waits for an event
waited for the record that ended last while it did; a call that synchronises returned because of the task that ended last while it ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from aoe_reports.facts.breakdown import EVENT_COLUMNS as ACTIVITY_COLUMNS
from aoe_reports.facts.breakdown import Activity, HostCall, Spans
from aoe_reports.facts.critical_path import KINDS, POINT, Graph, Slices, graph_of, is_busy, last_before
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import COMMUNICATION_PROCESSES, DEVICE_PROCESS
from aoe_reports.formats.vendor import TASK_TYPES
from aoe_reports.model.columns import Ints, Mask, bits, codes, integers, keep_where, valid, whole_numbers, words_in
from aoe_reports.model.intervals import Intervals, union

EVENT_COLUMNS = (*ACTIVITY_COLUMNS, "stream_id")
"""The columns of events that are looked at."""
_LINKS = ("async_task_queue", "fwdbwd")
"""Flows between threads of the host: an operator that one thread hands to another, the backward operator of a forward one."""
_COMPUTING, _COMMUNICATION, _OTHER = (KINDS.index(kind) for kind in ("computing", "communication", "other task"))
_LATE_LAUNCHES = 100
"""One in so many launches may seem to be quicker than the clocks of host and device allow: those are mistaken, and left out."""
_PLANE = "Plane"
_TASK, _OPERATOR, _PART = range(3)
"""Roles of slices: tasks of the device, operators of communication, their tasks by plane."""
_WAITS = ("event wait", "notify wait", "stream wait event")
_RECORDS = ("event record", "notify record")
_EVENTS = ("event",)
"""What names or types of tasks begin with, in lower case without underscores."""


@dataclass(frozen=True, slots=True)
class Device:
    """What one device did and what it depended on, in the time of its own clock."""

    device_id: int | None
    graph: Graph
    names: tuple[str, ...]
    """That of a slice is at its `name`, which is -1 for those of the host."""
    step: Ints
    """The step that launched each slice, -1 for none."""
    at_work: Mapping[int, Intervals]
    """When each thread of the host was in a recorded range, by its lane."""
    lanes: tuple[str, ...]
    """The threads and streams, by lane."""
    shift_ns: int
    """How much later host times are than they stand in the file, less than 0 for earlier: tasks seem to begin before they are launched."""
    launches_missing: int
    """Tasks that compute or communicate of which no launch is known."""
    communication_known: bool
    """Whether it can be told which communication is this device's."""


class Dependencies(Activity):
    """Takes the events of one capture, batch after batch, and tells what its devices depended on: 130 bytes a task, 24 a call."""

    def __init__(self) -> None:
        super().__init__()
        self.every = Spans()
        self.of_host = {"links": Spans(), "taken": Spans(), "ranges": Spans()}

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need EVENT_COLUMNS."""
        super().add(batch)
        frame = pa.Table.from_batches([batch])
        if pa.types.is_integer(frame.schema.field("pid").type):
            frame = frame.set_column(frame.column_names.index("pid"), "pid", frame["pid"].cast(pa.string()))
        whole = words_in(frame["ph"], {"X"}) & ~bits(frame["stage_row"])
        self._add_slices(frame, whole & words_in(frame["process"], {DEVICE_PROCESS}) & valid(frame["task_type"]), _TASK)
        talks = whole & words_in(frame["process"], COMMUNICATION_PROCESSES)
        if talks.any():
            numbers, words = codes(frame["thread"])
            plane = np.asarray([False, *(word.startswith(_PLANE) for word in words)])[numbers]
            self._add_slices(frame, talks & ~plane, _OPERATOR)
            self._add_slices(frame, talks & plane, _PART)
        for number, category in enumerate(_LINKS):
            flows = words_in(frame["category"], {category})
            if flows.any():
                self._add_links(frame, flows & words_in(frame["ph"], {"s"}), number, arrives=False)
                self._add_links(frame, flows & words_in(frame["ph"], {"f"}), number, arrives=True)

    def _add_slices(self, frame: pa.Table, mask: Mask, role: int) -> None:
        if not mask.any():
            return
        some = frame.filter(keep_where(mask))
        start, _ = integers(some["start_ns"])
        duration, _ = integers(some["duration_ns"])
        connection, linked = integers(some["connection_id"])
        stream, there = integers(some["stream_id"])
        self.every.add(
            start=start,
            end=start + duration,
            connection=np.where(linked, connection, -1),
            name=self._numbered(some["name"]),
            pid=self._numbered(some["pid"]),
            type=self._numbered(some["task_type"]),
            stream=np.where(there, stream, -1),
            thread=self._numbered(some["thread"]),
            role=np.full(len(start), role),
        )

    def _add_links(self, frame: pa.Table, mask: Mask, category: int, *, arrives: bool) -> None:
        if not mask.any():
            return
        some = frame.filter(keep_where(mask))
        start, there = integers(some["start_ns"])
        key, known = whole_numbers(some["flow_id"].combine_chunks(), there, lambda _word: None)
        usable = there & known
        self.of_host["links"].add(
            start=start[usable],
            key=key[usable] * len(_LINKS) + category,
            thread=self._thread_of(some)[usable],
            arrives=np.full(int(usable.sum()), int(arrives)),
        )

    def _add_host(self, frame: pa.Table, mask: Mask) -> None:
        super()._add_host(frame, mask)
        if not mask.any():
            return
        some = frame.filter(keep_where(mask))
        start, _ = integers(some["start_ns"])
        duration, _ = integers(some["duration_ns"])
        self._add_ranges(start, start + duration, self._thread_of(some))

    def _add_ranges(self, start: Ints, end: Ints, thread: Ints) -> None:
        for number in np.unique(thread).tolist():
            whole = union(start[thread == number], end[thread == number])
            self.of_host["ranges"].add(start=whole.starts, end=whole.ends, thread=np.full(len(whole), number))

    def _add_calls(self, kind: HostCall | Literal["enqueue", "dequeue"], calls: pa.Table) -> None:
        super()._add_calls(kind, calls)
        if kind == "dequeue":
            start, _ = integers(calls["start_ns"])
            duration, _ = integers(calls["duration_ns"])
            self.of_host["taken"].add(start=start + duration, thread=self._thread_of(calls))

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        super().merge(other)
        if isinstance(other, Dependencies):
            numbers = self._numbers_of(other)
            self.every.take(other.every, {**numbers, "type": numbers["name"], "thread": numbers["name"]})
            for name, spans in self.of_host.items():
                spans.take(other.of_host[name], numbers)

    def devices(self) -> list[Device]:
        """What each device depended on, by its number."""
        every, words = self.every, dict(enumerate(self._numbers))
        role = every["role"]
        tasks, talk = role == _TASK, role == (_OPERATOR if (role == _OPERATOR).any() else _PART)
        computing = tasks & np.isin(every["type"], _numbers_where(words, COMPUTE_TASKS))
        places = np.unique(every["pid"][computing]).tolist() or np.unique(every["pid"][talk]).tolist()
        found = []
        for place in places:
            pid = words.get(place)
            of_device = talk
            if len(places) > 1:
                same = [n for n in np.unique(every["pid"]).tolist() if self._same_device(words.get(n), pid)]
                of_device = talk & np.isin(every["pid"], same)
            some = every.where((tasks & (every["pid"] == place)) | of_device)
            parts = every.where((role == _PART) & ~of_device)
            told = bool(of_device.any()) or not talk.any()
            found.append(self._dependencies(pid, _without_parts(some, parts, words), words, told=told))
        return sorted(found, key=lambda device: -1 if device.device_id is None else device.device_id)

    def _dependencies(self, pid: str | None, some: Spans, words: Mapping[int, str], *, told: bool) -> Device:
        kind = _kinds(some, words)
        launched, known, thread = self._launches_with_threads(some)
        shift, delay = _clocks(some["start"] - launched, known, is_busy(kind))
        launched += shift
        known &= launched <= some["start"]
        threads, lane_of_thread = _ranked(self._threads)
        streams, lane_of_slice = _lanes_of(some, words, len(threads))
        nodes = _Nodes()
        launches = np.full(len(some), -1, dtype=np.int64)
        launches[known] = nodes.launches(lane_of_thread[thread[known]], launched[known])
        self._add_links_to(nodes, lane_of_thread, shift)
        taken = self.of_host["taken"]
        nodes.add(start=taken["start"] + shift, lane=lane_of_thread[taken["thread"]])
        names, name = _renamed(some["name"], words)
        waits = _hits(some, words, _WAITS) & ~is_busy(kind)
        slices = {
            "lane": lane_of_slice, "cause": launches, "delay": np.full(len(some), delay), "name": name,
            "step": self._step_of(some), "host": np.zeros(len(some), dtype=np.int64),
        }  # fmt: skip
        run = {key: values[~waits] for key, values in slices.items()}
        places = nodes.add(start=some["start"][~waits], end=some["end"][~waits], kind=kind[~waits], **run)
        ends, order = some["end"][~waits], np.argsort(some["end"][~waits], kind="stable")
        records = order[_hits(some, words, _RECORDS)[~waits][order]]
        ready = np.maximum(_end_before(some, lane_of_slice), np.where(known, launched, _NEVER))[waits]
        nodes.waits(
            (ready, some["start"][waits], some["end"][waits]),
            (ends[records], places[records]),
            {key: values[waits] for key, values in slices.items()},
        )
        calls = self._waits["synchronisation"]
        begin, end, lane = calls["start"] + shift, calls["end"] + shift, lane_of_thread[calls["thread"]]
        nodes.add(start=begin, lane=lane)
        nodes.add(start=end, lane=lane, cause=_last_within((ends[order], places[order]), begin, end))
        columns = nodes.table()
        graph = graph_of(Slices(**{field: columns[field] for field in _FIELDS}))
        return Device(
            device_id=self._device_of(pid),
            graph=graph,
            names=names,
            step=columns["step"][graph.places],
            lanes=(*threads, *streams),
            at_work=self._at_work(lane_of_thread, shift),
            shift_ns=shift,
            launches_missing=int((is_busy(kind) & ~known).sum()),
            communication_known=told,
        )

    def _launches_with_threads(self, some: Spans) -> tuple[Ints, Mask, Ints]:
        """(when each span was launched, where that is known; by which thread)."""
        launched, known = self._launches(some)
        starts = np.concatenate([self._calls["start"], self._flows["start"]])
        threads = np.concatenate([self._calls["thread"], self._flows["thread"]]).astype(np.int64)
        order = np.lexsort((threads, starts))
        if not len(order):
            return launched, known, np.full(len(launched), -1, dtype=np.int64)
        starts, threads = starts[order], threads[order]
        place = np.minimum(np.searchsorted(starts, launched), len(starts) - 1)
        known &= (starts[place] == launched) & (threads[place] >= 0)
        return launched.astype(np.int64), known, threads[place]

    def _add_links_to(self, nodes: _Nodes, lane_of_thread: Ints, shift: int) -> None:
        """Points where one thread hands something to another, and where that takes it."""
        links = self.of_host["links"]
        usable = links["thread"] >= 0
        start, lane, key = links["start"] + shift, lane_of_thread[links["thread"]], links["key"]
        leaves, arrives = usable & (links["arrives"] == 0), usable & (links["arrives"] == 1)
        places = nodes.add(start=start[leaves], lane=lane[leaves])
        none, one = np.zeros(int(leaves.sum()), dtype=np.int64), np.ones(int(arrives.sum()), dtype=np.int64)
        behind = last_before((key[leaves], start[leaves], none), (key[arrives], start[arrives], one))
        cause = np.where(behind >= 0, places[behind], -1) if len(places) else behind
        nodes.add(start=start[arrives], lane=lane[arrives], cause=cause)

    def _at_work(self, lane_of_thread: Ints, shift: int) -> dict[int, Intervals]:
        """When each thread was in a recorded range, by its lane."""
        ranges = self.of_host["ranges"]
        found = {}
        for thread in np.unique(ranges["thread"]).tolist():
            mine = ranges["thread"] == thread
            found[int(lane_of_thread[thread])] = union(ranges["start"][mine] + shift, ranges["end"][mine] + shift)
        return found


_FIELDS = ("start", "end", "lane", "kind", "cause", "delay", "host", "name")


class _Nodes:
    """Slices put together part by part; what is not said of a part is that of a moment of the host."""

    def __init__(self) -> None:
        self._parts = Spans()
        self._count = 0

    def add(self, start: Ints, lane: Ints, **columns: Ints) -> Ints:
        """Keep some more; where they stand."""
        count = len(start)
        other = {"kind": POINT, "cause": -1, "delay": 0, "host": 1, "name": -1, "step": -1}
        filled = {name: np.full(count, value, dtype=np.int64) for name, value in other.items()}
        self._parts.add(**{"start": start, "end": start, "lane": lane, **filled, **columns})
        self._count += count
        return np.arange(self._count - count, self._count)

    def launches(self, lane: Ints, time: Ints) -> Ints:
        """Keep the moments of launches, each once; where that of each stands."""
        if not len(time):
            return time
        order = np.lexsort((lane, time))
        lanes, times = lane[order], time[order]
        new = np.append(True, (times[1:] != times[:-1]) | (lanes[1:] != lanes[:-1]))
        places = self.add(start=times[new], lane=lanes[new])
        found = np.empty(len(time), dtype=np.int64)
        found[order] = places[np.cumsum(new) - 1]
        return found

    def waits(self, times: tuple[Ints, Ints, Ints], records: tuple[Ints, Ints], columns: Mapping[str, Ints]) -> None:
        """Keep tasks that wait for a record, as the moment from which they could wait, and that at which they need no longer.

        `times`: when the stream and the launch were ready for each, its begin (exporters until 2023 have only the moment at which
        it need wait no longer), its end.
        """
        ready, start, end = times
        cause = _last_within(records, ready, end)
        record_ends = np.zeros(self._count, dtype=np.int64)
        record_ends[records[1]] = records[0]
        early = (cause >= 0) & (record_ends[cause] <= start) if self._count else cause >= 0
        first = ~early | (ready > _NEVER)
        begin = np.where(early, ready, start)
        self.add(start=begin[first], **{name: values[first] for name, values in columns.items()})
        self.add(start=end, **{**columns, "cause": cause, "delay": np.zeros(len(end), dtype=np.int64)})

    def table(self) -> dict[str, Ints]:
        """All of them, column by column."""
        return {name: self._parts[name] for name in (*_FIELDS, "step")}


def _without_parts(some: Spans, planes: Spans, words: Mapping[int, str]) -> Spans:
    """Spans without tasks of the device that an operator of communication consists of: that has the stream of most of them.

    They have its connection; where operators have none, they stand on its planes, too.
    """
    connection, talks, start, stream = some["connection"], some["role"] != _TASK, some["start"], some["stream"]
    if not talks.any():
        return some
    linked = np.isin(connection, connection[talks & (connection >= 0)])
    on_planes = last_before((planes["stream"], planes["start"], planes["stream"]), (stream, start, stream + 1))
    on_planes = (
        (on_planes >= 0) & (planes["start"][on_planes] == start) if len(planes) else np.zeros(len(some), dtype=bool)
    )
    parts = ~talks & (linked | on_planes) & (_kinds(some, words) != _COMPUTING) & ~_hits(some, words, _EVENTS)
    kept = some.where(~parts)
    operators = np.flatnonzero(kept["role"] != _TASK)
    kept["stream"][operators] = _streams(some.where(parts), kept.where(operators))
    return kept


def _streams(parts: Spans, operators: Spans) -> Ints:
    """The stream of each operator: of most of the parts that have its connection, else of those that begin while it runs."""
    order = np.argsort(parts["start"], kind="stable")
    start, end = parts["start"][order], operators["end"]
    first, behind = np.searchsorted(start, operators["start"]), np.searchsorted(start, end)
    by_connection = np.argsort(parts["connection"], kind="stable")
    connection = parts["connection"][by_connection]
    linked = np.searchsorted(connection, operators["connection"])
    unlinked = np.searchsorted(connection, operators["connection"], side="right")
    found = operators["stream"].copy()
    for place in range(len(operators)):
        mine = by_connection[linked[place] : unlinked[place]]
        if operators["connection"][place] < 0 or not len(mine):
            mine = order[first[place] : behind[place]]
        if len(mine):
            streams, counts = np.unique(parts["stream"][mine], return_counts=True)
            found[place] = streams[np.argmax(counts)]
    return found


def _kinds(some: Spans, words: Mapping[int, str]) -> Ints:
    """What each span does: computes, communicates, or neither."""
    computes = np.isin(some["type"], _numbers_where(words, COMPUTE_TASKS))
    talks = np.isin(some["type"], _numbers_where(words, TASK_TYPES.communication)) | (some["role"] != _TASK)
    return np.where(talks, _COMMUNICATION, np.where(computes, _COMPUTING, _OTHER))


def _numbers_where(words: Mapping[int, str], wanted: frozenset[str]) -> list[int]:
    return [number for number, word in words.items() if word in wanted]


def _hits(some: Spans, words: Mapping[int, str], beginnings: tuple[str, ...]) -> Mask:
    """Which tasks of the device have a name or a type that begins so."""
    named = [n for n, word in words.items() if word.replace("_", " ").casefold().startswith(beginnings)]
    hits: Mask = (some["role"] == _TASK) & (np.isin(some["name"], named) | np.isin(some["type"], named))
    return hits


def _clocks(lags: Ints, known: Mask, busy: Mask) -> tuple[int, int]:
    """(by how much the host's clock is to be moved, the least time that a launch takes then).

    No task begins before it is launched; of those of many launches the least may be mistaken.
    """
    told = np.sort(lags[known & busy] if (known & busy).any() else lags[known])
    least = int(told[(len(told) - 1) // _LATE_LAUNCHES]) if len(told) else 0
    return min(least, 0), max(least, 0)


def _ranked(numbers: Mapping[str, int]) -> tuple[list[str], Ints]:
    """(words in order, the place of each by its number, and last one for none)."""
    words = sorted(numbers)
    places = np.full(max(numbers.values(), default=-1) + 2, len(words), dtype=np.int64)
    for place, word in enumerate(words):
        places[numbers[word]] = place
    return words, places


def _renamed(numbers: Ints, words: Mapping[int, str]) -> tuple[tuple[str, ...], Ints]:
    """(names in order, the place of each; that of none is the empty name)."""
    used = np.unique(numbers)
    texts = [words.get(number, "") for number in used.tolist()]
    names = sorted(set(texts))
    place = {name: number for number, name in enumerate(names)}
    known = np.asarray([place[text] for text in texts], dtype=np.int64)
    return tuple(names), known[np.searchsorted(used, numbers)] if len(used) else numbers


def _lanes_of(some: Spans, words: Mapping[int, str], first: int) -> tuple[list[str], Ints]:
    """(streams, and threads of what is on none; the lane of each span, counted from `first`)."""
    streams = np.unique(some["stream"][some["stream"] >= 0])
    alone = some["stream"] < 0
    threads, thread = _renamed(np.where(alone, some["thread"], -1), words)
    lane = np.where(alone, len(streams) + thread, np.searchsorted(streams, some["stream"]))
    return [*(f"Stream {number}" for number in streams.tolist()), *threads], lane + first


_NEVER = -(2**62)


def _end_before(some: Spans, lane: Ints) -> Ints:
    """When the span before each in its lane ended; _NEVER where there is none."""
    none = np.zeros(len(some), dtype=np.int64)
    before = last_before((lane, some["end"], none), (lane, some["start"], none))
    return np.where(before >= 0, some["end"][before], _NEVER) if len(some) else none


def _last_within(some: tuple[Ints, Ints], start: Ints, end: Ints) -> Ints:
    """The place of what ended last within each of some times, -1 for none; `some` are (ends in order, places)."""
    ends, places = some
    if not len(ends):
        return np.full(len(start), -1, dtype=np.int64)
    near = np.searchsorted(ends, end, side="right") - 1
    return np.where((near >= 0) & (ends[np.maximum(near, 0)] > start), places[np.maximum(near, 0)], -1)
