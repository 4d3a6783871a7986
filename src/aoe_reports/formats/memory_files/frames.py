"""The frames of a recording: the columns of the tables `memory_event` and `memory_sample`, null where a source has none."""

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

_MOST_TOGETHER = 2.0**62
_GIVEN_LATER = frozenset({"capture_id", "source_id"})
_TYPES = {"BIGINT": pa.int64(), "VARCHAR": pa.dictionary(pa.int32(), pa.string())}


def frame_of(table: Table, rows: int, columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """The columns of a table, in its order; those that are not given are null, and take no memory but for the first of a type."""
    types = {column.name: _TYPES[column.type] for column in table.columns if column.name not in _GIVEN_LATER}
    assert columns.keys() <= types.keys()
    nothing = {kind: pa.nulls(rows, kind) for kind in set(types.values())}
    return pa.table({name: columns.get(name, nothing[kind]) for name, kind in types.items()})


def nothing_recorded(file: FoundFile, source: str) -> MemoryRecording:
    """A recording without an event of a device."""
    events, samples = frame_of(MEMORY_EVENT, 0, {}), frame_of(MEMORY_SAMPLE, 0, {})
    return MemoryRecording(rank_id=file.name.rank_id, device_id=None, source=source, events=events, samples=samples)


def refuse_impossible(path: Path, *sizes: Ints) -> None:
    """Raise ReadError where sizes add up to what no sum of 64 bits can hold."""
    if sum(float(some.sum(dtype=np.float64)) for some in sizes) >= _MOST_TOGETHER:
        raise ReadError(
            path, say("its sizes add up to more than 4 EiB"), say("a recording of the memory of a device was expected")
        )


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
