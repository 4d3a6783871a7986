"""The computing tasks of a table as those of a timeline, for who looks for sequences: in the order in which the device ran them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.host_activity import Kernels
from aoe_reports.facts.idle import STEP_COLUMNS, shares_of_tasks, step_of_tasks
from aoe_reports.facts.sequences import FoundSequence, find_sequences
from aoe_reports.model.columns import codes, distinct, has_value, integers, keep_where
from aoe_reports.stats.grouping import is_communication

SEQUENCE_COLUMNS = frozenset(
    {"op_name", "op_type", "task_type", "stream_id", "task_start_ns", "task_duration_ns", "device_id", *STEP_COLUMNS}
)
"""The columns of tasks that are looked at; null where an export lacks them."""


@dataclass(frozen=True, slots=True)
class TaskSequences:
    """What the tasks of one device repeat."""

    found: Sequence[FoundSequence]
    words: Sequence[str]
    """The names of its tasks."""
    length_ns: int
    """From the first begin to the last end, step by step."""
    has_streams: bool


def sequences_of_tasks(tasks: pa.Table, step: int | None = None) -> TaskSequences | None:
    """The sequences among the tasks of a device (SEQUENCE_COLUMNS of them), or of one step; null where tasks have no times, or none is left.

    Without streams all tasks are taken for those of one.
    """
    told = step_of_tasks(tasks)
    if step is not None:
        mine = np.zeros(tasks.num_rows, dtype=bool) if told is None else told[1] == step
        tasks = tasks.filter(keep_where(mine))
        told = step_of_tasks(tasks)
    start, timed = integers(tasks["task_start_ns"])
    if not len(start) or not timed.all():
        return None
    length = shares_of_tasks(tasks, None, None).step_ns
    duration, _ = integers(tasks["task_duration_ns"])
    computes = ~is_communication(tasks["task_type"])
    names, words = codes(tasks["op_name"])
    streams, on_stream = integers(tasks["stream_id"])
    steps = np.zeros(len(start), dtype=np.int64) if told is None else told[1]
    order = np.flatnonzero(computes)[np.argsort(start[computes], kind="stable")]
    kernels = Kernels(
        start[order],
        (start + duration)[order],
        names[order].astype(np.int64) - 1,
        np.where(on_stream, streams, -1)[order],
        steps[order],
    )
    known = [*words]
    count = 1 if told is None else max(len(distinct(steps[steps >= 0])), 1)
    found = find_sequences(kernels, known, _types(tasks), count)
    return TaskSequences(found, known, length or 0, has_value(tasks, "stream_id"))


def _types(tasks: pa.Table) -> dict[str, str]:
    """The type of each operator by its name, where it has one only."""
    (names, name_words), (types, type_words) = codes(tasks["op_name"]), codes(tasks["op_type"])
    pairs = distinct(names.astype(np.int64) * (len(type_words) + 1) + types)
    name_of, type_of = np.divmod(pairs, len(type_words) + 1)
    known = (name_of > 0) & (type_of > 0)
    alone, counts = np.unique(name_of[known], return_counts=True)
    only = dict(zip(alone.tolist(), counts.tolist(), strict=True))
    told = zip(name_of[known].tolist(), type_of[known].tolist(), strict=True)
    return {name_words[name - 1]: type_words[kind - 1] for name, kind in told if only[name] == 1}
