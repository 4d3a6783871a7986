"""What the tasks of a device depend on, from the events of a timeline, as slices for `critical_path`.

Recorded are: the order of each stream and thread, what launched a task (connection or flow), and which entry into a queue a thread of the
host took out (flow), which operator of the forward pass a backward one belongs to (flow). Inferred are: a task that waits for an event
waited for the record that ended last while it did; a call that synchronises returned because of the task that ended last while it ran.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.engine.captures import collect_events_of, only_device_of
from aoe_reports.facts.breakdown import EVENT_COLUMNS as ACTIVITY_COLUMNS
from aoe_reports.facts.breakdown import Activity
from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.facts.event_waits import EVENT_WAITS, begins_like
from aoe_reports.facts.host_calls import KINDS_OF_CALLS
from aoe_reports.facts.launches import clocks_of
from aoe_reports.facts.spans import Spans, chosen_of
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import (
    COMMUNICATION_PROCESSES,
    DEVICE_PROCESS,
    FLOW_CATEGORY,
    HOST_PROCESS,
)
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.spilled import Numbers
from aoe_reports.formats.vendor import TASK_TYPES
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, order_by, places_by, rising
from aoe_reports.model.arrays.intervals import Intervals, union
from aoe_reports.model.findings import Finding
from aoe_reports.model.pictures.path_kinds import KINDS
from aoe_reports.topics.critical_path.facts import POINT, Graph, Slices, graph_of, is_busy, last_before

EVENT_COLUMNS = (*ACTIVITY_COLUMNS, "tid", "stream_id")
"""The columns of events that are looked at."""
_LINKS = ("async_task_queue", "fwdbwd")
"""Flows between threads of the host: an operator that one thread hands to another, the backward operator of a forward one."""
_COMPUTING, _COMMUNICATION, _OTHER = (KINDS.index(kind) for kind in ("computing", "communication", "other task"))
_TASK, _OPERATOR, _PART = range(3)
"""Roles of slices: tasks of the device, operators of communication, their tasks by plane."""
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


_WORDS = ("name", "pid", "type", "thread")


class Dependencies(Activity):
    """Takes the events of one capture, batch after batch, and tells what its devices depended on: 60 bytes a task, 24 a call.

    `every` has the tasks: what devices did is not to be asked here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.every = Spans("start", "end", "connection", "name", "pid", "type", "stream", "thread", "role")
        self.of_host = {
            "launches": Spans("start", "thread"),
            "links": Spans("start", "key", "thread", "arrives"),
            "dequeue": Spans("start", "end", "thread"),
            "synchronisation": Spans("start", "end", "thread"),
            "ranges": Spans("start", "end", "thread"),
        }

    def take(self, events: EventBatch) -> None:
        """Keep what is asked for of some events."""
        super().take(events)
        known = events.whole & (events.words("task_type")[0] > 0)
        self._add_slices(events, known & events.has("process", {DEVICE_PROCESS}), _TASK)
        talks = events.whole & events.has("process", COMMUNICATION_PROCESSES)
        if talks.any():
            plane = self._is_plane.of(events.words("thread"))
            self._add_slices(events, talks & ~plane, _OPERATOR)
            self._add_slices(events, talks & plane, _PART)
        launches = events.whole & events.there("connection_id") & events.has("process", {HOST_PROCESS})
        self._add_launches(events, launches)
        begins = events.has("ph", {"s"})
        self._add_launches(events, events.has("category", {FLOW_CATEGORY}) & begins)
        for number, category in enumerate(_LINKS):
            flows = events.has("category", {category})
            if flows.any():
                self._add_links(events, flows & begins, number, arrives=False)
                self._add_links(events, flows & events.has("ph", {"f"}), number, arrives=True)

    def _keep(self, spans: Spans, events: EventBatch, mask: Mask) -> None:
        if spans is self._operators:  # which tell the number of a device
            super()._keep(spans, events, mask)

    def _add_slices(self, events: EventBatch, mask: Mask, role: int) -> None:
        rows = np.flatnonzero(mask)
        if not len(rows):
            return
        start = events.numbers("start_ns", rows)
        self.every.add(
            start=start,
            end=start + np.maximum(events.numbers("duration_ns", rows), 0),
            connection=events.numbers("connection_id", rows, -1),
            name=self._numbered(events, "name", rows),
            pid=self._numbered(events, "pid", rows),
            type=self._numbered(events, "task_type", rows),
            stream=events.numbers("stream_id", rows, -1),
            thread=self._threads_in(events, rows),
            role=np.full(len(rows), role),
        )

    def _threads_in(self, events: EventBatch, rows: Ints) -> Ints:
        """The threads of some events as numbers of words: those that nothing names by their number."""
        named: Ints = self._numbered(events, "thread", rows).astype(np.int64)
        unnamed = named < 0
        if unnamed.any():
            numbers, words = events.words("tid", rows)
            known = [-1, *(self._numbers[f"Thread {word}"] for word in words)]
            named[unnamed] = np.asarray(known, dtype=np.int64)[numbers][unnamed]
        return named

    def _add_launches(self, events: EventBatch, mask: Mask) -> None:
        """Keep which thread of the host was where, of all that may launch something."""
        rows = np.flatnonzero(mask)
        if len(rows):
            thread = self._threads_in(events, rows)
            self.of_host["launches"].add(start=events.numbers("start_ns", rows), thread=thread)

    def _add_links(self, events: EventBatch, mask: Mask, category: int, *, arrives: bool) -> None:
        rows, key = events.flows(mask, lambda _word: None)
        if len(rows):
            self.of_host["links"].add(
                start=events.numbers("start_ns", rows),
                key=key * len(_LINKS) + category,
                thread=self._threads_in(events, rows),
                arrives=np.full(len(rows), int(arrives)),
            )

    def _add_host(self, events: EventBatch, rows: Ints) -> None:
        super()._add_host(events, rows)
        if not len(rows):
            return
        start = events.numbers("start_ns", rows)
        end = start + events.numbers("duration_ns", rows)
        thread = self._threads_in(events, rows)
        for number, mine in places_by(thread):
            whole = union(start[mine], end[mine])
            self.of_host["ranges"].add(start=whole.starts, end=whole.ends, thread=np.full(len(whole), number))
        kinds = self._kind.of(events.words("name", rows))
        for kind in ("dequeue", "synchronisation"):
            mine = kinds == KINDS_OF_CALLS.index(kind)
            self.of_host[kind].add(start=start[mine], end=end[mine], thread=thread[mine])

    def merge(self, other: Activity) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        super().merge(other)
        if isinstance(other, Dependencies):
            words = np.asarray([*(self._numbers[word] for word in other.words), -1], dtype=np.int64)
            self.every.take(other.every, dict.fromkeys(_WORDS, words))
            for name, columns in self.of_host.items():
                columns.take(other.of_host[name], dict.fromkeys(_WORDS, words))

    @property
    def words(self) -> list[str]:
        """All words, by their numbers."""
        return list(self._numbers)

    def devices(self) -> list[Device]:
        """What each device depended on, by its number; to be asked for once: what was held is let go."""
        host = {name: columns.release() for name, columns in self.of_host.items()}
        every, words = self.every.release(), dict(enumerate(self.words))
        role = every["role"]
        tasks, talk = role == _TASK, role == (_OPERATOR if (role == _OPERATOR).any() else _PART)
        computing = tasks & np.isin(every["type"], _numbers_where(words, COMPUTE_TASKS))
        places = distinct(every["pid"][computing]).tolist() or distinct(every["pid"][talk]).tolist()
        found = []
        for place in places:
            pid = words.get(place)
            mine = np.ones(len(role), dtype=bool)
            if len(places) > 1:
                same = [n for n in distinct(every["pid"]).tolist() if self._same_device(words.get(n), pid)]
                mine = np.isin(every["pid"], same)
            some = chosen_of(every, (tasks & (every["pid"] == place)) | (talk & mine))
            parts = chosen_of(every, (role == _PART) & ~talk & mine)
            told = bool((talk & mine).any()) or not talk.any()
            found.append(self._dependencies(pid, _without_parts(some, parts, words), host, words, told=told))
        return sorted(found, key=lambda device: -1 if device.device_id is None else device.device_id)

    def _dependencies(
        self, pid: str | None, numbers: Numbers, host: Mapping[str, Numbers], words: Mapping[int, str], *, told: bool
    ) -> Device:
        kind = _kinds(numbers, words)
        launches = self.launches_of(numbers)
        step = self.steps_of(numbers, launches)
        launched, known = launches.start, launches.known
        thread, there = _threads_at(host["launches"], launched)
        known &= there
        shift, delay = clocks_of(numbers["start"] - launched, known, is_busy(kind))
        launched = launched + shift
        known &= launched <= numbers["start"]
        threads, lane_of_thread = _threads_of(host, words)
        streams, lane = _lanes_of(numbers, words, len(threads))
        nodes = _Nodes(lane_of_thread, shift)
        cause = np.full(len(lane), -1, dtype=np.int64)
        cause[known] = nodes.launches(thread[known], launched[known])
        nodes.links(host["links"])
        nodes.moments(host["dequeue"]["end"], host["dequeue"]["thread"])
        names, name = _renamed(numbers["name"], words)
        waits = _hits(numbers, words, EVENT_WAITS) & ~is_busy(kind)
        slices = {"lane": lane, "cause": cause, "delay": np.full(len(lane), delay), "name": name, "step": step}  # fmt: skip
        slices["host"] = np.zeros(len(lane), dtype=np.int8)
        times = chosen_of({"start": numbers["start"], "end": numbers["end"], "kind": kind}, ~waits)
        places = nodes.add(**times, **chosen_of(slices, ~waits))
        order = np.argsort(times["end"], kind="stable")
        ended = times["end"][order], places[order]
        records = _hits(numbers, words, _RECORDS)[~waits][order]
        ready = np.maximum(_end_before(numbers, lane, waits), np.where(known, launched, _NEVER)[waits])
        nodes.waits(
            {"ready": ready, "start": numbers["start"][waits], "end": numbers["end"][waits]},
            (ended[0][records], ended[1][records]),
            chosen_of(slices, waits),
        )
        nodes.calls(host["synchronisation"], ended)
        columns = nodes.table()
        graph = graph_of(Slices(**{field: columns[field] for field in _FIELDS}))
        return Device(
            device_id=self.number_of(pid),
            graph=graph,
            names=names,
            step=columns["step"][graph.places],
            lanes=(*threads, *streams),
            at_work=_at_work(host["ranges"], lane_of_thread, shift),
            shift_ns=shift,
            launches_missing=int((is_busy(kind) & ~known).sum()),
            communication_known=told,
        )


_KINDS_OF_NUMBERS = {"kind": np.int8, "host": np.int8, "name": np.int32}
"""Of columns that are not asked for their sums; they are copied a few times."""
_FIELDS = ("start", "end", "lane", "kind", "cause", "delay", "host", "name")


class _Nodes:
    """Slices put together part by part; what is not said of a part is that of a moment of the host."""

    def __init__(self, lane_of_thread: Ints, shift: int) -> None:
        self._parts: list[Numbers] = []
        self._count = 0
        self._lane_of_thread = lane_of_thread
        self._shift = shift

    def add(self, start: Ints, lane: Ints, **columns: Ints) -> Ints:
        """Keep some more; where they stand."""
        count = len(start)
        other = {"kind": POINT, "cause": -1, "delay": 0, "host": 1, "name": -1, "step": -1}
        filled = {
            name: np.full(count, value, dtype=_KINDS_OF_NUMBERS.get(name, np.int64))
            for name, value in other.items()
            if name not in columns
        }
        self._parts.append({"start": start, "end": start, "lane": lane, **filled, **columns})
        self._count += count
        return np.arange(self._count - count, self._count)

    def moments(self, time: Ints, thread: Ints, **columns: Ints) -> Ints:
        """Keep moments of the host, as its clock tells them; where they stand."""
        return self.add(time + self._shift, self._lane_of_thread[thread], **columns)

    def links(self, links: Numbers) -> None:
        """Keep where one thread hands something to another, and where that takes it."""
        leaves, arrives = (chosen_of(links, (links["thread"] >= 0) & (links["arrives"] == value)) for value in (0, 1))
        places = self.moments(leaves["start"], leaves["thread"])
        behind = last_before(
            (leaves["key"], leaves["start"], leaves["arrives"]), (arrives["key"], arrives["start"], arrives["arrives"])
        )
        cause = np.where(behind >= 0, places[behind], -1) if len(places) else behind
        self.moments(arrives["start"], arrives["thread"], cause=cause)

    def calls(self, calls: Numbers, ended: tuple[Ints, Ints]) -> None:
        """Keep when calls that synchronise began, and when they returned; `ended` are (ends in order, places) of tasks."""
        self.moments(calls["start"], calls["thread"])
        cause = _last_within(ended, calls["start"] + self._shift, calls["end"] + self._shift)
        self.moments(calls["end"], calls["thread"], cause=cause)

    def launches(self, thread: Ints, time: Ints) -> Ints:
        """Keep the moments of launches (in the time of the device), each once; where that of each stands."""
        if not len(time):
            return time
        lane = self._lane_of_thread[thread]
        order = order_by(time, lane)
        lanes, times = lane[order], time[order]
        new = np.append(True, (times[1:] != times[:-1]) | (lanes[1:] != lanes[:-1]))
        places = self.add(times[new], lanes[new])
        found = np.empty(len(time), dtype=np.int64)
        found[order] = places[np.cumsum(new) - 1]
        return found

    def waits(self, times: Numbers, records: tuple[Ints, Ints], columns: Numbers) -> None:
        """Keep tasks that wait for a record, as the moment from which they could wait, and that at which they need no longer.

        `times`: when the stream and the launch were ready for each, its begin (exporters until 2023 have only the moment at which
        it need wait no longer), its end.
        """
        ready, start, end = times["ready"], times["start"], times["end"]
        cause = _last_within(records, ready, end)
        record_ends = np.zeros(self._count, dtype=np.int64)
        record_ends[records[1]] = records[0]
        early = (cause >= 0) & (record_ends[cause] <= start) if self._count else cause >= 0
        first = ~early | (ready > _NEVER)
        begin = np.where(early, ready, start)
        self.add(begin[first], **chosen_of(columns, first))
        self.add(end, **{**columns, "cause": cause, "delay": np.zeros(len(end), dtype=np.int64)})

    def table(self) -> dict[str, Ints]:
        """All of them, column by column."""
        return {
            name: np.concatenate(
                [np.zeros(0, dtype=_KINDS_OF_NUMBERS.get(name, np.int64)), *(part[name] for part in self._parts)]
            )
            for name in (*_FIELDS, "step")
        }


def _without_parts(numbers: Numbers, planes: Numbers, words: Mapping[int, str]) -> Numbers:
    """Spans without tasks of the device that an operator of communication consists of: that has the stream of most of them.

    They have its connection; where operators have none, they stand on its planes, too.
    """
    connection, talks, start, stream = (
        numbers["connection"],
        numbers["role"] != _TASK,
        numbers["start"],
        numbers["stream"],
    )
    if not talks.any():
        return numbers
    linked = np.isin(connection, connection[talks & (connection >= 0)])
    none, one = np.zeros(len(planes["start"]), dtype=np.int64), np.ones(len(start), dtype=np.int64)
    on_planes = last_before((planes["stream"], planes["start"], none), (stream, start, one))
    on_planes = (
        (on_planes >= 0) & (planes["start"][on_planes] == start)
        if len(planes["start"])
        else np.zeros(len(numbers["start"]), dtype=bool)
    )
    parts = ~talks & (linked | on_planes) & (_kinds(numbers, words) != _COMPUTING) & ~_hits(numbers, words, _EVENTS)
    kept = chosen_of(numbers, ~parts)
    talking = kept["role"] != _TASK
    streams = kept["stream"].copy()
    streams[talking] = _streams(chosen_of(numbers, parts), chosen_of(kept, talking))
    return {**kept, "stream": streams}


def _streams(parts: Numbers, operators: Numbers) -> Ints:
    """The stream of each operator: of most of the parts that have its connection, else of those that begin while it runs."""
    order = np.argsort(parts["start"], kind="stable")
    start, end = parts["start"][order], operators["end"]
    first, behind = np.searchsorted(start, operators["start"]), np.searchsorted(start, end)
    by_connection = np.argsort(parts["connection"], kind="stable")
    connection = parts["connection"][by_connection]
    linked = np.searchsorted(connection, operators["connection"])
    unlinked = np.searchsorted(connection, operators["connection"], side="right")
    found = operators["stream"].copy()
    for place in range(len(operators["start"])):
        mine = by_connection[linked[place] : unlinked[place]]
        if operators["connection"][place] < 0 or not len(mine):
            mine = order[first[place] : behind[place]]
        if len(mine):
            streams, counts = np.unique(parts["stream"][mine], return_counts=True)
            found[place] = streams[np.argmax(counts)]
    return found


def _kinds(numbers: Numbers, words: Mapping[int, str]) -> Ints:
    """What each span does: computes, communicates, or neither."""
    computes = np.isin(numbers["type"], _numbers_where(words, COMPUTE_TASKS))
    talks = np.isin(numbers["type"], _numbers_where(words, TASK_TYPES.communication)) | (numbers["role"] != _TASK)
    kinds: Ints = np.where(talks, _COMMUNICATION, np.where(computes, _COMPUTING, _OTHER)).astype(np.int8)
    return kinds


def _numbers_where(words: Mapping[int, str], wanted: frozenset[str]) -> list[int]:
    return [number for number, word in words.items() if word in wanted]


def _hits(numbers: Numbers, words: Mapping[int, str], beginnings: tuple[str, ...]) -> Mask:
    """Which tasks of the device have a name or a type that begins so."""
    named = [n for n, word in words.items() if begins_like(word, beginnings)]
    hits: Mask = (numbers["role"] == _TASK) & (np.isin(numbers["name"], named) | np.isin(numbers["type"], named))
    return hits


def _threads_of(host: Mapping[str, Numbers], words: Mapping[int, str]) -> tuple[list[str], Ints]:
    """(the threads of the host in order, the place of each by the number of its name, and last one for none)."""
    numbers = distinct(np.concatenate([table["thread"] for table in host.values()])).tolist()
    threads = sorted(words[number] for number in numbers if number >= 0)
    place = {thread: number for number, thread in enumerate(threads)}
    return threads, np.asarray([*(place.get(words[number], -1) for number in range(len(words))), -1], dtype=np.int64)


def _threads_at(launches: Numbers, times: Ints) -> tuple[Ints, Mask]:
    """(the thread of the call or flow that began at each time, whether there is one)."""
    order = order_by(launches["start"], launches["thread"])
    if not len(order):
        return np.full(len(times), -1, dtype=np.int64), np.zeros(len(times), dtype=bool)
    starts, threads = launches["start"][order], launches["thread"][order]
    place = np.minimum(np.searchsorted(starts, times), len(starts) - 1)
    return threads[place], (starts[place] == times) & (threads[place] >= 0)


def _at_work(ranges: Numbers, lane_of_thread: Ints, shift: int) -> dict[int, Intervals]:
    """When each thread was in a recorded range, by its lane."""
    found = {}
    for thread, mine in places_by(ranges["thread"]):
        found[int(lane_of_thread[thread])] = union(ranges["start"][mine] + shift, ranges["end"][mine] + shift)
    return found


def _renamed(numbers: Ints, words: Mapping[int, str]) -> tuple[tuple[str, ...], Ints]:
    """(names in order, the place of each; that of none is the empty name)."""
    there = np.zeros(len(words) + 1, dtype=bool)  # none, -1, is the last
    there[numbers] = True
    used = np.flatnonzero(there)
    texts = [words.get(number, "") for number in used.tolist()]
    names = sorted(set(texts))
    place = {name: number for number, name in enumerate(names)}
    known: Ints = np.zeros(len(there), dtype=np.int32)
    known[used] = [place[text] for text in texts]
    return tuple(names), known[numbers]


def _lanes_of(numbers: Numbers, words: Mapping[int, str], first: int) -> tuple[list[str], Ints]:
    """(streams, and threads of what is on none; the lane of each span, counted from `first`)."""
    streams = distinct(numbers["stream"][numbers["stream"] >= 0])
    alone = numbers["stream"] < 0
    threads, thread = _renamed(np.where(alone, numbers["thread"], -1), words)
    lane = np.where(alone, len(streams) + thread, np.searchsorted(streams, numbers["stream"]))
    return [*(f"Stream {number}" for number in streams.tolist()), *threads], lane + first


_NEVER = -(2**62)


def _end_before(numbers: Numbers, lane: Ints, waits: Mask) -> Ints:
    """When the span of its lane that ended last before each of those that wait began had ended; _NEVER where there is none."""
    found = np.full(len(lane), _NEVER, dtype=np.int64)
    for _, mine in places_by(lane):
        ends, asking = rising(numbers["end"][mine]), mine[waits[mine]]
        behind = np.searchsorted(ends, numbers["start"][asking])
        found[asking] = np.where(behind > 0, ends[behind - 1], _NEVER)
    return found[waits]


def _last_within(some: tuple[Ints, Ints], start: Ints, end: Ints) -> Ints:
    """The place of what ended last within each of some times, -1 for none; `some` are (ends in order, places)."""
    ends, places = some
    if not len(ends):
        return np.full(len(start), -1, dtype=np.int64)
    near = np.searchsorted(ends, end, side="right") - 1
    return np.where((near >= 0) & (ends[np.maximum(near, 0)] > start), places[np.maximum(near, 0)], -1)


def dependencies_of(
    files: Sequence[FoundFile], capture: Capture
) -> tuple[list[tuple[int | None, Device]], list[Finding]]:
    """(the devices in one export, all of its slices, each with its number; what is wrong with the files)."""
    collected, findings = collect_events_of(files, EVENT_COLUMNS, Dependencies)
    devices = collected.devices()
    alone = only_device_of(files[0], capture) if len(devices) == 1 else None
    return [(alone if device.device_id is None else device.device_id, device) for device in devices], findings
