"""What the host ran when memory peaked, and its steps, from the events of a timeline or a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import collect_events_of_file, ranges_at_a_glance
from aoe_reports.engine.question import Notes
from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.facts.steps import STEP_RANGE, step_of_range
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import Ints, WordMap, distinct
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import AllocationCalls
from aoe_reports.topics.memory.churn import is_allocation_call
from aoe_reports.topics.memory.samples import StepSpan

EVENT_COLUMNS = ("ph", "name", "category", "tid", "start_ns", "duration_ns", "stage_row", "pid")
"""The columns of events that are looked at."""
_MODULE = "nn.Module: "
NEVER: Ints = np.zeros(0, dtype=np.int64)
"""No moment at all."""
_CATEGORIES = frozenset({"cpu_op", "python_function", "user_annotation"})
"""Operators, Python frames and modules, and marks of a program."""
_Thread = tuple[str, str]
"""Process and thread."""


class HostRanges:
    """Takes the events of one capture, batch after batch, and keeps its steps and what was open at some moments."""

    def __init__(self, moments: Sequence[int] = (), in_modules: Ints = NEVER) -> None:
        """Times in ns of the clock of the host: at which all that is open is kept, and at which modules are."""
        self._moments: Ints = distinct(np.asarray(moments, dtype=np.int64))
        self._in_modules = distinct(in_modules)
        self._is_step = WordMap(lambda name: name.startswith(STEP_RANGE))
        self.steps: dict[int, StepSpan] = {}
        self._is_module = WordMap(lambda name: name.startswith(_MODULE))
        self._allocates = WordMap(is_allocation_call)
        self._calls: dict[str, tuple[int, int]] = {}
        """(calls that take memory from the device or give it back, ns in them) by name."""
        self._open: list[tuple[str, int, int, _Thread]] = []
        self._modules: list[tuple[int, int, str, _Thread]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need EVENT_COLUMNS."""
        events = EventBatch(batch)
        rows = np.flatnonzero(events.whole & events.there("start_ns") & events.there("duration_ns"))
        if not len(rows):
            return
        for row in events.rows(rows[self._is_step.of(events.words("name", rows))], "name", "start_ns", "duration_ns"):
            if (number := step_of_range(row["name"])) is not None:
                self.steps.setdefault(number, StepSpan(number, row["start_ns"], row["start_ns"] + row["duration_ns"]))
        for row in events.rows(rows[self._allocates.of(events.words("name", rows))], "name", "duration_ns"):
            self._add_call(row["name"], 1, row["duration_ns"])
        rows = rows[events.has("category", _CATEGORIES)[rows]]
        for row in self._rows_at(events, rows, self._moments):
            self._open.append((row["name"], row["start_ns"], row["start_ns"] + row["duration_ns"], _thread(row)))
        modules = rows[self._is_module.of(events.words("name", rows))]
        for row in self._rows_at(events, modules, self._in_modules):
            self._modules.append((row["start_ns"], row["start_ns"] + row["duration_ns"], row["name"], _thread(row)))

    @staticmethod
    def _rows_at(events: EventBatch, rows: Ints, times: Ints) -> list[dict[str, Any]]:
        """Those of some events that are open at any of the times."""
        if not len(times) or not len(rows):
            return []
        start, duration = events.numbers("start_ns", rows), events.numbers("duration_ns", rows)
        following = np.append(times, 2**63 - 1)[np.searchsorted(times, start)]
        return events.rows(rows[following < start + duration], "name", "start_ns", "duration_ns", "pid", "tid")

    def _add_call(self, name: str, calls: int, time: int) -> None:
        known_calls, known_time = self._calls.get(name, (0, 0))
        self._calls[name] = (known_calls + calls, known_time + time)

    def allocation_calls(self) -> tuple[AllocationCalls, ...]:
        """Calls that take memory from the device or give it back, by name, those that take longest first."""
        calls = [AllocationCalls(name=name, calls=count, total_ns=time) for name, (count, time) in self._calls.items()]
        return tuple(sorted(calls, key=lambda call: (-call.total_ns, call.name)))

    def merge(self, other: HostRanges) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        for call in other.allocation_calls():
            self._add_call(call.name, call.calls, call.total_ns)
        self.steps = other.steps | self.steps
        self._open += other._open
        self._modules += other._modules

    def open_at(self, moment: int) -> tuple[str, ...]:
        """What was open at one of the moments in the thread in which most was, outermost first; steps are left out."""
        threads: dict[_Thread, list[tuple[int, int, str]]] = {}
        for name, start, end, thread in self._open:
            if start <= moment < end and not name.startswith(STEP_RANGE):
                threads.setdefault(thread, []).append((start, -end, name))
        deepest = max(threads.values(), key=len, default=[])
        return tuple(name for _, _, name in sorted(deepest))

    def modules(self) -> dict[int, str]:
        """The innermost module that was open at each of the times at which modules are kept, where there was one.

        No thread is known for an allocation. Where several are in modules at a time, it is that of the thread that is in most.
        """
        threads = lists_by_key((thread, (start, -end, name)) for start, end, name, thread in self._modules)
        innermost: dict[int, str] = {}
        for ranges in sorted(threads.values(), key=len):
            for start, end, name in sorted(ranges):
                first, last = np.searchsorted(self._in_modules, [start, -end]).tolist()
                innermost |= dict.fromkeys(self._in_modules[first:last].tolist(), name.removeprefix(_MODULE))
        return innermost


def _thread(row: Mapping[str, Any]) -> _Thread:
    return str(row["pid"]), str(row["tid"])


def steps_of_host(capture: Capture, notes: Notes) -> list[StepSpan]:
    """The steps of the host, where nobody reads its timelines: by a glance at their bytes, a twelfth of the time. Databases are read."""
    steps: dict[int, StepSpan] = {}
    for files in vendor_of(capture.profiler).events(capture):
        for file in files:
            with notes.where_unreadable(file.path):
                steps = {span.number: span for span in _steps_of_file(file)} | steps
    return [*steps.values()]


def _steps_of_file(file: FoundFile) -> Iterator[StepSpan]:
    if file.name.form == "db":
        for part in collect_events_of_file(file, EVENT_COLUMNS, HostRanges)[0]:
            yield from part.steps.values()
        return
    for name, start, end in reversed(ranges_at_a_glance(file, STEP_RANGE)):  # the first of equal numbers counts
        if (number := step_of_range(name)) is not None:
            yield StepSpan(number, start, end)
