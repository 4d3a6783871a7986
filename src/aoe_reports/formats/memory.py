"""Frames of allocations and of samples of memory, as every source of them fills them in, their columns, and the sizes that they may have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.arrays.columns import Ints, Mask, cells_of, column_of, column_of_words
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import MemoryRecording
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


def nothing_recorded(file: FoundFile, source: str) -> MemoryRecording:
    """A recording without an event of a device."""
    events, samples = event_frame({}, 0), sample_frame({}, 0)
    return MemoryRecording(rank_id=file.name.rank_id, device_id=None, source=source, events=events, samples=samples)


def numbers(values: Ints, there: Mask | None = None) -> pa.ChunkedArray:
    """Whole numbers as a column, null where they are not there."""
    return column_of(values.astype(np.int64, copy=False), np.ones(len(values), dtype=bool) if there is None else there)


def constant(value: int | str | None, rows: int) -> pa.ChunkedArray:
    """One value in each row."""
    if isinstance(value, str):
        return words(np.zeros(rows, dtype=np.int32), [value])
    return numbers(np.full(rows, value or 0, dtype=np.int64), np.full(rows, value is not None))


def words(places: np.ndarray[Any, np.dtype[np.signedinteger[Any]]], known: list[str]) -> pa.ChunkedArray:
    """Words by their place among the known ones, null where it is below 0."""
    return column_of_words(places.astype(np.int32, copy=False), places >= 0, cells_of(known, pa.string()))
