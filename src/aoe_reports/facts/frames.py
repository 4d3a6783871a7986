"""The questions of the command line to frames that somebody has: Arrow tables, or frames of pandas or polars.

Columns are those of docs/tables.md: times are whole nanoseconds (`*_ns`), and so are the answers. A frame is one thing: of several
ranks, devices or steps choose the rows that are meant before asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.facts.steps import in_order, steps_of
from aoe_reports.model.arrays.columns import keep_where
from aoe_reports.model.errors import UsageError
from aoe_reports.model.groupings import GROUPINGS, KEYS, TELLS, By, ComparedBy
from aoe_reports.model.texts import join, say
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.comparison import Compared, Side, choose_calls, compare_calls
from aoe_reports.stats.grouping import Group, group_tasks, is_communication

_INPUTS = ("input_shapes", "input_formats", "input_data_types")
_WHOLE = {"step", "count", "iteration_id", "rank_id", "device_id", "model_id", "connection_id"}
_OF_STEPS = ("step", "computing_ns", "communication_ns", "communication_not_overlapped_ns", "overlapped_ns", "free_ns")


class Frame(Protocol):
    """Whatever Arrow can read: a pyarrow Table, a DataFrame of pandas or polars, a relation of duckdb."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream of Arrow arrays."""


def rank_hotspots(tasks: Frame, by: By = "op_type", top: int | None = 20, *, all_tasks: bool = False) -> list[Group]:
    """Tasks grouped, the longest total first; a group's key is (op_type, task_type[, op_name[, input_shapes]]).

    `tasks` has a row a task as op_summary and kernel_details do: `task_duration_ns`, `op_type`, `task_type`, and what `by`
    names. Communication counts with `all_tasks` only. Times in ns. Raises UsageError for a frame without these columns, or with missing durations.
    """
    frame = _measured(tasks, "task_duration_ns", TELLS[by])
    if "task_type" in frame.column_names and not all_tasks:
        frame = frame.filter(keep_where(~is_communication(frame["task_type"])))
    wanted = GROUPINGS[by]
    keys = [key for key in wanted if key in frame.column_names]
    groups = group_tasks(frame, keys, top)
    return [
        replace(group, key=tuple(dict(zip(keys, group.key, strict=True)).get(name) for name in wanted))
        for group in groups
    ]


def list_steps(table: Frame) -> list[Step]:
    """Steps by rank, device, model and number, from step_trace (iterations) or step_trace_time (steps); times in ns.

    A column `rank_id` is taken for what it says. Raises UsageError for a frame that is neither.
    """
    traced = "iteration_time_ns" in as_arrow(table).column_names
    frame = _measured(table, *(("iteration_id", "iteration_time_ns") if traced else _OF_STEPS))
    if "rank_id" not in frame.column_names:
        return steps_of(lambda _: None, frame)
    ranks = pc.unique(frame["rank_id"]).to_pylist()
    steps: list[Step] = []
    for rank in ranks:
        mine = pc.is_null(frame["rank_id"]) if rank is None else pc.equal(frame["rank_id"], rank)
        steps += (replace(step, rank_id=rank) for step in steps_of(lambda _: None, frame.filter(mine)))
    return in_order(steps)


def compare_tasks(
    baseline: Frame, candidate: Frame, by: ComparedBy = "op_type", top: int = 20, *, all_tasks: bool = False
) -> Compared:
    """What takes longer (or shorter) in the candidate, by group: the largest change of a total first, with its parts.

    Both have a row a task, as `rank_hotspots` takes them; where both tell `input_shapes`, `input_formats` and
    `input_data_types`, calls with other inputs are told apart from slower ones. Times in ns, candidate - baseline. Whether the
    two may be compared at all (chip, number of steps, …) frames do not tell: `aoe-reports compare` looks at that.
    Raises UsageError for `by="step"` (see `list_steps`) and for frames without the columns.
    """
    if by not in TELLS:
        raise UsageError(say("compare_tasks: by {by!r}; expected one of {names}", by=by, names=join(", ", TELLS)))
    needed = ["task_duration_ns", TELLS[by], *(["task_type"] if by == "communication" else [])]
    sides = [choose_calls(_measured(tasks, *needed), by, all_tasks=all_tasks) for tasks in (baseline, candidate)]
    keys = [key for key in KEYS[by] if all(key in side.column_names for side in sides)]
    wanted = [*keys, *(name for name in _INPUTS if name not in keys), "task_duration_ns"]
    some = [Side(side.select([name for name in wanted if name in side.column_names])) for side in sides]
    return compare_calls(some, keys, top)[0]


def as_arrow(frame: Frame, *needed: str) -> pa.Table:
    """A frame in the types of our own tables: words as int32 dictionaries, whole numbers as int64.

    Raises UsageError where a needed column is absent, and where whole numbers are none.
    """
    if not hasattr(frame, "__arrow_c_stream__"):
        raise UsageError(say("expected a frame of Arrow, pandas or polars, not {name}", name=type(frame).__name__))
    table = pa.table(frame)
    absent = [name for name in needed if name not in table.column_names]
    if absent:
        raise UsageError(
            say("the frame has no column {names}; docs/tables.md names the columns", names=join(", ", absent))
        )
    return pa.table({name: _ours(table[name], name) for name in table.column_names})


def _measured(frame: Frame, *needed: str) -> pa.Table:
    """The same, where every row has its times: a sum of what is there would say too little."""
    table = as_arrow(frame, *needed)
    for name in needed:
        if name.endswith("_ns") and table[name].null_count:
            raise UsageError(
                say(
                    "{name}: {count} of {rows} values are missing",
                    name=name,
                    count=table[name].null_count,
                    rows=table.num_rows,
                )
            )
    return table


def _ours(column: Any, name: str) -> Any:
    """A column in the type that such columns have here; others are left alone."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if name in _WHOLE or name.endswith("_ns"):
        if pa.types.is_floating(kind):  # pandas makes floats of whole numbers among which one is missing
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        try:
            return column.cast(pa.int64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise UsageError(say("{name}: expected whole numbers: {error}", name=name, error=error)) from error
    if not any(is_kind(kind) for is_kind in _WORDS):
        return column
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.string()).dictionary_encode()
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))


_WORDS: Sequence[Any] = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
