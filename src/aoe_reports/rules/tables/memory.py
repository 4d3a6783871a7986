"""Rules on tables of memory: a row without a time that can be tells nothing of what was in use when."""

from __future__ import annotations

import numpy as np

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import Ints, Mask, integers
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import say
from aoe_reports.rules.tables.rows import findings_of_rows
from aoe_reports.rules.tables.streams import EPOCH_NS, ROUND_START_NS

MEMORY_TIME = TABLES.rule(
    "memory-time",
    "error",
    "a time of a table of memory that lost its last digits, as when a spreadsheet saves 1.69512E+15, or is missing; a release before its "
    "allocation: the row is left out",
)
_SAMPLES = frozenset({"npu_mem", "npu_module_mem", "memory_record"})
_EVENTS = "operator_memory"
_TIMES = ("timestamp_ns", "allocation_ns", "release_ns", "active_release_ns")


def without_impossible_times(data: TableData) -> TableData:
    """A table of memory without the rows whose times cannot be."""
    if data.table.name not in {*_SAMPLES, _EVENTS}:
        return data
    times = {name: integers(data.frame[name]) for name in _TIMES if name in data.frame.column_names}
    rounded = np.zeros(data.frame.num_rows, dtype=bool)
    for values, known in times.values():
        rounded |= _rounded(values, known)
    data = _without(data, rounded, say("the time lost its last digits, as in a table that a spreadsheet saved"))
    return _without_missing(data) if data.table.name in _SAMPLES else _without_impossible_spans(data)


def _rounded(values: Ints, known: Mask) -> Mask:
    """Whole tens of seconds in a column where at least half of the times are some: by chance one of 10^9 is."""
    hits = known & (values > EPOCH_NS) & (values % ROUND_START_NS == 0)
    return hits if 2 * hits.sum() >= known.sum() else np.zeros(len(hits), dtype=bool)


def _without_missing(data: TableData) -> TableData:
    if "timestamp_ns" not in data.frame.column_names:
        return data
    _, known = integers(data.frame["timestamp_ns"])
    return _without(data, ~known, say("there is no time"))


def _without_impossible_spans(data: TableData) -> TableData:
    if "allocation_ns" not in data.frame.column_names:
        return data
    allocation, allocated = integers(data.frame["allocation_ns"])
    if "release_ns" not in data.frame.column_names:  # exporters of 2025 leave it to the duration
        return _without(data, ~allocated, say("there is no time of allocation"))
    release, released = integers(data.frame["release_ns"])
    early = allocated & released & (release < allocation)
    missing = ~allocated & ~released
    data = _without(data, early, say("the release is before the allocation"))
    return _without(data, missing[~early], say("there is neither a time of allocation nor one of release"))


def _without(data: TableData, mask: Mask, message: str) -> TableData:
    if not mask.any():
        return data
    message = say("{message}; the row is left out", message=message)
    return data.keep(~mask, findings_of_rows(data, MEMORY_TIME, message, mask))
