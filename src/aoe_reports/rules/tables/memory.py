"""Rules on tables of memory: a row needs a size, and a time that can be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.spilled_table import blocks_of, parts_of
from aoe_reports.model.arrays.columns import Mask, integers, valid
from aoe_reports.model.rules import TABLES, Rule
from aoe_reports.model.texts import say
from aoe_reports.rules.tables.rows import findings_of_rows
from aoe_reports.rules.tables.streams import EPOCH_NS, ROUND_START_NS

MEMORY_TIME = TABLES.rule(
    "memory-time",
    "error",
    "a time of a table of memory that lost its last digits, as when a spreadsheet saves 1.69512E+15, is missing, or is 0; a release before "
    "its allocation: the row is left out",
)
MEMORY_SIZE = TABLES.rule("memory-size", "error", "a row of a table of memory without a size: the row is left out")
_SAMPLES = frozenset({"npu_mem", "npu_module_mem", "memory_record"})
_EVENTS = "operator_memory"
_TIMES = ("timestamp_ns", "allocation_ns", "release_ns", "active_release_ns")
_SIZES = ("total_allocated_bytes", "total_reserved_bytes")
"""The sizes of memory_record: a row has at least one of them. Other tables have one size, without which a row is never read."""


def without_impossible_memory(data: TableData) -> TableData:
    """A table of memory without the rows that have no size, or whose times cannot be."""
    if data.table.name not in {*_SAMPLES, _EVENTS}:
        return data
    rounded, unset = (np.zeros(data.frame.num_rows, dtype=bool) for _ in range(2))
    for name in _TIMES:
        if name in data.frame.column_names:
            rounded |= _rounded(data.frame[name])
            unset |= _unset(data.frame[name])
    data = _without(data, MEMORY_TIME, unset, say("a time of 0 or less is none"))
    message = say("the time lost its last digits, as in a table that a spreadsheet saved")
    data = _without_size(_without(data, MEMORY_TIME, rounded[~unset], message))
    return _without_missing(data) if data.table.name in _SAMPLES else _without_impossible_spans(data)


def _rounded(times: pa.ChunkedArray) -> Mask:
    """Whole tens of seconds in a column where at least half of the times are such: by chance 1 in 10^9 is."""
    hits, known = [], 0
    for values, there in map(integers, parts_of(times)):
        hits.append(there & (values > EPOCH_NS) & (values % ROUND_START_NS == 0))
        known += int(there.sum())
    found = np.concatenate(hits)
    return found if 2 * found.sum() >= known else np.zeros(len(found), dtype=bool)


def _unset(times: pa.ChunkedArray) -> Mask:
    return np.concatenate([there & (values <= 0) for values, there in map(integers, parts_of(times))])


def _without_size(data: TableData) -> TableData:
    if data.table.name != "memory_record" or not {*_SIZES} <= {*data.frame.column_names}:  # not all were read
        return data
    known = np.logical_or.reduce([valid(data.frame[name]) for name in _SIZES])
    return _without(data, MEMORY_SIZE, ~known, say("there is no size"))


def _without_missing(data: TableData) -> TableData:
    if "timestamp_ns" not in data.frame.column_names:
        return data
    return _without(data, MEMORY_TIME, ~valid(data.frame["timestamp_ns"]), say("there is no time"))


def _without_impossible_spans(data: TableData) -> TableData:
    if "allocation_ns" not in data.frame.column_names:
        return data
    if "release_ns" not in data.frame.column_names:  # exporters of 2025 leave it to the duration
        allocated = valid(data.frame["allocation_ns"])
        return _without(data, MEMORY_TIME, ~allocated, say("there is no time of allocation"))
    parts = []
    for block in blocks_of(data.frame, ("allocation_ns", "release_ns")):
        (allocation, allocated), (release, released) = map(integers, block.columns)
        parts.append((allocated & released & (release < allocation), ~allocated & ~released))
    early, missing = (np.concatenate(masks) for masks in zip(*parts, strict=True))
    data = _without(data, MEMORY_TIME, early, say("the release is before the allocation"))
    return _without(data, MEMORY_TIME, missing[~early], say("there is neither a time of allocation nor one of release"))


def _without(data: TableData, rule: Rule, mask: Mask, message: str) -> TableData:
    if not mask.any():
        return data
    message = say("{message}; the row is left out", message=message)
    return data.keep(~mask, findings_of_rows(data, rule, message, mask))
