"""What the host ran when memory peaked, and its steps, from the events of a timeline or a database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from aoe_reports.facts.event_batch import EventBatch
from aoe_reports.facts.steps import STEP_RANGE, step_of_range
from aoe_reports.model.arrays.columns import Ints, WordMap
from aoe_reports.topics.memory.facts import StepSpan

EVENT_COLUMNS = ("ph", "name", "category", "tid", "start_ns", "duration_ns", "stage_row", "pid")
"""The columns of events that are looked at."""
_CATEGORIES = frozenset({"cpu_op", "python_function", "user_annotation"})
"""Operators, Python frames and modules, and marks of a program."""


class HostRanges:
    """Takes the events of one capture, batch after batch, and keeps its steps and what was open at some moments."""

    def __init__(self, moments: Sequence[int] = ()) -> None:
        """The moments are in ns of the clock of the host."""
        self._moments: Ints = np.unique(np.asarray(moments, dtype=np.int64))
        self._is_step = WordMap(lambda name: name.startswith(STEP_RANGE))
        self.steps: dict[int, StepSpan] = {}
        self._open: list[tuple[str, int, int, str]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need EVENT_COLUMNS."""
        events = EventBatch(batch)
        rows = np.flatnonzero(events.whole & events.there("start_ns") & events.there("duration_ns"))
        if not len(rows):
            return
        for row in events.rows(rows[self._is_step.of(events.words("name", rows))], "name", "start_ns", "duration_ns"):
            if (number := step_of_range(row["name"])) is not None:
                self.steps.setdefault(number, StepSpan(number, row["start_ns"], row["start_ns"] + row["duration_ns"]))
        if not len(self._moments):
            return
        rows = rows[events.has("category", _CATEGORIES)[rows]]
        start, duration = events.numbers("start_ns", rows), events.numbers("duration_ns", rows)
        next_moment = np.append(self._moments, 2**63 - 1)[np.searchsorted(self._moments, start)]
        for row in events.rows(rows[next_moment < start + duration], "name", "start_ns", "duration_ns", "tid"):
            self._open.append((row["name"], row["start_ns"], row["start_ns"] + row["duration_ns"], str(row["tid"])))

    def merge(self, other: HostRanges) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self.steps = other.steps | self.steps
        self._open += other._open

    def open_at(self, moment: int) -> tuple[str, ...]:
        """What was open at one of the moments in the thread in which most was, outermost first; steps are left out."""
        threads: dict[str, list[tuple[int, int, str]]] = {}
        for name, start, end, thread in self._open:
            if start <= moment < end and not name.startswith(STEP_RANGE):
                threads.setdefault(thread, []).append((start, -end, name))
        deepest = max(threads.values(), key=len, default=[])
        return tuple(name for _, _, name in sorted(deepest))
