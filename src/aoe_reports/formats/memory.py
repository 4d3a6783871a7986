"""Frames of allocations and of samples of memory, as every source of them fills them in, and the sizes that they may have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say
from aoe_reports.schema.table import Table
from aoe_reports.schema.tables import MEMORY_EVENT, MEMORY_SAMPLE

_MAX_SUM = 2.0**62
_OF_THE_RECORDING = frozenset({"capture_id", "rank_id", "device_id", "process_id", "source_id"})
"""Columns that the recording has once, for all of its rows."""


def event_frame(columns: Mapping[str, pa.ChunkedArray | pa.Array], rows: int) -> pa.Table:
    """Allocations with every column of `memory_event`; those that are not given are null."""
    return _frame(MEMORY_EVENT, columns, rows)


def sample_frame(columns: Mapping[str, pa.ChunkedArray | pa.Array], rows: int) -> pa.Table:
    """Samples with every column of `memory_sample`; those that are not given are null."""
    return _frame(MEMORY_SAMPLE, columns, rows)


def _frame(table: Table, columns: Mapping[str, pa.ChunkedArray | pa.Array], rows: int) -> pa.Table:
    zeros = pa.py_buffer(np.zeros(rows, dtype=np.int64))  # shared by all columns, and no memory before it is read
    numbers = pa.Array.from_buffers(pa.int64(), rows, [zeros, zeros])
    places = pa.Array.from_buffers(pa.int32(), rows, [zeros, zeros])
    words = pa.DictionaryArray.from_arrays(places, pa.nulls(0, pa.string()))
    absent = {"BIGINT": numbers, "VARCHAR": words}
    return pa.table(
        {
            column.name: columns.get(column.name, absent[column.type])
            for column in table.columns
            if column.name not in _OF_THE_RECORDING
        }
    )


def refuse_impossible(path: Path, *sizes: np.ndarray[Any, Any]) -> None:
    """Raise ReadError where sizes add up to what no sum of 64 bits can hold."""
    if sum(float(some.sum(dtype=np.float64)) for some in sizes) >= _MAX_SUM:
        raise ReadError(
            path, say("its sizes add up to more than 4 EiB"), say("a recording of the memory of a device was expected")
        )
