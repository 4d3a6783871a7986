"""Columns of the frames of a recording, and recordings without a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import event_frame, sample_frame
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.arrays.columns import Ints, Mask, cells_of, column_of, column_of_words
from aoe_reports.model.topics.memory import MemoryRecording


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
