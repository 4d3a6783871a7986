"""The tasks of a device, whoever wrote them: the columns that a table of tasks has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints, Mask, SomeRows, integers

_WORDS = pa.dictionary(pa.int32(), pa.string())
_NUMBERS = pa.int64()

TASK_COLUMNS: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("op_name", "op_type", "task_type", "op_state", "model_name"), _WORDS),
    **dict.fromkeys(("input_shapes", "input_data_types", "input_formats", "hf32_eligible"), _WORDS),
    **dict.fromkeys(("output_shapes", "output_data_types", "output_formats"), _WORDS),
    **dict.fromkeys(("task_start_ns", "task_duration_ns", "task_wait_ns"), _NUMBERS),
    **dict.fromkeys(("device_id", "model_id", "stream_id", "task_id", "context_id", "step"), _NUMBERS),
    **dict.fromkeys(("block_num", "mix_block_num"), _NUMBERS),
}
"""What questions may ask of tasks, with the type that it always has; counters are there where an export has them."""

CALLS = "calls"
"""The column that tells how many tasks a row stands for, where tasks that are alike are one row."""


def filled_up(frame: pa.Table, columns: Collection[str]) -> tuple[pa.Table, frozenset[str]]:
    """(the tasks with every one of these columns, null where the export has none; the columns that it has not)."""
    missing = sorted(name for name in columns if name in TASK_COLUMNS and name not in frame.column_names)
    # shared by all, and no memory before somebody reads it
    zeros = pa.py_buffer(np.zeros(frame.num_rows, dtype=np.int64))
    for name in missing:
        kind = TASK_COLUMNS[name]
        numbers = kind.index_type if pa.types.is_dictionary(kind) else kind
        nulls = pa.Array.from_buffers(numbers, frame.num_rows, [zeros, zeros])
        if numbers != kind:
            nulls = pa.DictionaryArray.from_arrays(nulls, pa.nulls(0, kind.value_type))
        frame = frame.append_column(pa.field(name, kind), pa.chunked_array([nulls]))
    return frame, frozenset(missing)


def calls_of(tasks: pa.Table | SomeRows) -> Ints | None:
    """How many tasks each row stands for; None where each is one."""
    return integers(tasks[CALLS])[0] if CALLS in tasks.column_names else None


def count_of_tasks(tasks: pa.Table, rows: Mask | None = None) -> int:
    """How many tasks some rows (None: all) stand for."""
    calls = calls_of(tasks)
    if calls is None:
        return tasks.num_rows if rows is None else int(rows.sum())
    return int(calls.sum() if rows is None else calls[rows].sum())
