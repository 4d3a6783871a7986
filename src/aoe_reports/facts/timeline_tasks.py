"""The tasks of devices as a timeline of a whole device shows them: names, types and times, without shapes or operator types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from aoe_reports.facts.breakdown import Activity
from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import (
    COMMUNICATION_PROCESSES,
    DEVICE_PROCESS,
    OVERLAP_PROCESS,
    device_of_process,
)
from aoe_reports.formats.tasks import CALLS
from aoe_reports.model.arrays.columns import Ints, codes, column_of, distinct, integers, occurring, words_in
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.stats.alike import AlikeTasks

_RELATED = frozenset({OVERLAP_PROCESS, *COMMUNICATION_PROCESSES})
_WORDS = pa.dictionary(pa.int32(), pa.string())
_KEPT = {
    "name": ("op_name", _WORDS),
    "task_type": ("task_type", _WORDS),
    "stream_id": ("stream_id", pa.int64()),
    "task_id": ("task_id", pa.int64()),
    "start_ns": ("task_start_ns", pa.int64()),
    "duration_ns": ("task_duration_ns", pa.int64()),
    "pid": ("pid", _WORDS),
}
_ONLY_FOR = {
    "stream_id": ("stream_id",),
    "task_id": ("task_id",),
    "start_ns": ("task_start_ns", "task_stop_ns"),
    "pid": ("device_id",),
}
"""Columns of events that are kept only where one of these columns of tasks is wanted."""

_OWN = frozenset({"stream_id", "task_id", "task_start_ns", "task_stop_ns", "step"})
"""What each task has of its own: those of which it is wanted are not alike."""


def event_columns(wanted: Collection[str] | None) -> frozenset[str]:
    """The columns of events that are looked at for some columns of tasks (None: all), without what tells the steps."""
    return frozenset({"ph", "process", "stage_row", "name", "start_ns", "duration_ns", *_kept(wanted)})


def _kept(wanted: Collection[str] | None) -> dict[str, tuple[str, pa.DataType]]:
    """(column of tasks, its type) by the column of events that is kept for it."""
    if wanted is not None and CALLS in wanted:
        if own := _OWN.intersection(wanted):
            raise KeyError(", ".join(sorted(own)))
        told_by = {name for name, column in (("name", "op_name"), ("pid", "device_id")) if column in wanted}
        return {name: kept for name, kept in _KEPT.items() if name in {*told_by, "task_type", "duration_ns"}}
    return {
        name: kept
        for name, kept in _KEPT.items()
        if wanted is None or name not in _ONLY_FOR or not set(_ONLY_FOR[name]).isdisjoint(wanted)
    }


_MAX_FRESH = 64
"""So many batches, each of which has its own words, are held before they are joined."""
_MAX_FRESH_ALIKE = 32
"""The same of tasks of which those that are alike become one."""


class _Starts:
    """Tells of the starts of tasks whether two tasks may be one that stands there twice, and holds none of them.

    Exporters write tasks nearly in the order of time: all tasks of a batch then start before those of the next.
    """

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []
        self._differ = True

    def add(self, events: EventBatch, tasks: Ints) -> None:
        """Take in some tasks as they stand in the file: those in these rows."""
        values = events.numbers("start_ns", tasks)
        known = bool(events.there("start_ns").take(tasks).all() and events.has_word("name").take(tasks).all())
        if not (values[1:] > values[:-1]).all():
            order = np.argsort(values, kind="stable")
            values = values[order]
            again = np.flatnonzero(values[1:] == values[:-1])
            if len(again) > _MAX_AGAIN or _has_copies(events, tasks[order], values, again):
                self._differ = False
        self._differ = self._differ and known and int(values[0]) >= 0
        self._spans.append((int(values[0]), int(values[-1])))

    def merge(self, other: _Starts) -> None:
        self._differ &= other._differ
        self._spans += other._spans

    def differ(self) -> bool:
        """Whether each name and start is known, and no task can stand there twice."""
        return self._differ and all(one[1] < other[0] for one, other in pairwise(sorted(self._spans)))


_MAX_AGAIN = 1000
"""So many tasks of a batch that start together with another one are compared with it; of more nothing is known."""


def _has_copies(events: EventBatch, tasks: Ints, starts: Ints, again: Ints) -> bool:
    """Whether two of the tasks that start together are called the same, and take the same time."""
    some = distinct(np.concatenate([again, again + 1]))
    rows = tasks[some]
    names, durations = events.words("name", rows)[0], events.numbers("duration_ns", rows)
    told = {*zip(starts[some].tolist(), names.tolist(), durations.tolist(), strict=True)}
    return len(told) < len(some)


class TimelineTasks:
    """Takes the events of one timeline, batch after batch, and holds the tasks of its devices: 44 bytes each, 16 of those always.

    Where `calls` are wanted, tasks that are alike in what else is wanted are one row: all have a name and none stands there twice where
    they `differ`; else nothing can be made of them.
    """

    def __init__(self, activity: Activity | None = None, wanted: Collection[str] | None = None) -> None:
        """With what tells the steps, if these are wanted: they are the calls of the host that launched the tasks."""
        self._kept = _kept(wanted)
        self._stops, self._of_steps = (wanted is None or name in wanted for name in ("task_stop_ns", "step"))
        keys = [name for name, kind in self._kept.values() if pa.types.is_dictionary(kind)]
        self._alike = AlikeTasks(keys) if wanted is not None and CALLS in wanted else None
        self._parts: list[pa.Table] = []
        self._fresh = 0
        self._related: set[str] = set()
        self._starts = _Starts()
        self.activity = activity

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need `event_columns` of what is wanted, and for steps those of `breakdown`."""
        events = EventBatch(batch)
        if self.activity is not None:
            self.activity.take(events)
        if "pid" in self._kept:
            related = np.flatnonzero(events.whole & events.has("process", _RELATED))
            self._related.update(codes(occurring(events.column("pid", related)))[1])
        tasks = np.flatnonzero(events.whole & events.has("process", {DEVICE_PROCESS}) & events.has_word("task_type"))
        if len(tasks):
            self._parts.append(pa.table({name: events.column(event, tasks) for event, (name, _) in self._kept.items()}))
            self._starts.add(events, tasks)
            self._fresh += 1
            if self._fresh == (_MAX_FRESH if self._alike is None else _MAX_FRESH_ALIKE):
                self._join()

    def _join(self) -> None:
        """Make one of the parts that are batches."""
        fresh, self._fresh = self._parts[len(self._parts) - self._fresh :], 0
        del self._parts[len(self._parts) - len(fresh) :]
        if self._alike is None:
            columns = {name: _joined(fresh, name, kind).combine_chunks() for name, kind in self._kept.values()}
            self._parts.append(pa.table(columns))
        elif fresh:
            self._alike.add(pa.concat_tables(fresh))

    def holds(self, wanted: Collection[str] | None) -> bool:
        """Whether it holds all that is wanted."""
        steps, stops = (wanted is None or name in wanted for name in ("step", "task_stop_ns"))
        of_steps = self.activity is not None and self._of_steps
        held = (of_steps or not steps) and (self._stops or not stops)
        return held and _kept(wanted).keys() <= self._kept.keys()

    def merge(self, other: TimelineTasks) -> None:
        """Take in what another one has of the same timeline: of events behind its own."""
        if self.activity is not None and other.activity is not None:
            self.activity.merge(other.activity)
        if self._alike is not None and other._alike is not None:
            self._join()
            other._join()
            self._alike.merge(other._alike)
        self._parts += other._parts
        self._related |= other._related
        self._starts.merge(other._starts)

    def differ(self) -> bool:
        """Whether it is known, whatever is held, that no task stands there twice."""
        return self._starts.differ()

    def frame(self) -> pa.Table:
        """A row a task, with those columns of `task_time` that are wanted, in the order of the file; null is a device that its process does not tell.

        To be asked for once: what was held is let go.
        """
        if self._alike is not None:
            self._join()
            return self._with_devices(self._alike.frame())
        columns = {}
        for name, kind in self._kept.values():  # one after the other: no two are there twice at the same time
            give_back()  # what the events took (of 4 GB 100 MB), and the column before in its parts
            column = _joined(self._parts, name, kind)
            self._parts = [part.drop_columns([name]) for part in self._parts]
            # the words of a batch are those of all its events; those of processes only tell devices
            columns[name] = occurring(column) if pa.types.is_dictionary(kind) and name != "pid" else column
            del column
        self._parts.clear()
        frame = pa.table(columns)
        if self._stops:
            stop, _ = integers(frame["task_start_ns"])
            stop += integers(frame["task_duration_ns"])[0]
            frame = frame.append_column("task_stop_ns", column_of(stop, np.ones(len(stop), dtype=bool)))
        frame = self._with_devices(frame)
        launched_in = self.activity.step_of_tasks() if self.activity is not None and self._of_steps else None
        if launched_in is None:
            return frame
        step = np.full(frame.num_rows, -1, dtype=np.int64)
        step[words_in(frame["task_type"], COMPUTE_TASKS)] = launched_in
        return frame.append_column("step", column_of(step, step >= 0))

    def _with_devices(self, frame: pa.Table) -> pa.Table:
        if "pid" not in frame.column_names:
            return frame
        return frame.drop_columns(["pid"]).append_column("device_id", self._devices(frame["pid"]))

    def _devices(self, pid: pa.ChunkedArray) -> pa.ChunkedArray:
        numbers, pids = codes(pid)
        devices = [None, *(device_of_process(pid, self._related) for pid in pids)]
        known = np.asarray([device is not None for device in devices], dtype=bool)[numbers]
        return column_of(np.asarray([device or 0 for device in devices], dtype=np.int64)[numbers], known)


def _joined(parts: Sequence[pa.Table], name: str, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of all parts, with one dictionary."""
    chunks = [chunk for part in parts for chunk in part[name].chunks]
    return pa.table({name: pa.chunked_array(chunks, kind)}).unify_dictionaries()[name]
