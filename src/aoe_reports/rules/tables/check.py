"""Tries all rules on a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.findings import Finding
from aoe_reports.rules.tables.copies import without_copies
from aoe_reports.rules.tables.memory import without_impossible_memory
from aoe_reports.rules.tables.rows import (
    intervals,
    shares,
    statistics,
    task_types,
    without_empty_groups,
    without_negative,
    without_negative_values,
)
from aoe_reports.rules.tables.steps import iterations, overlap, overlap_above, rising, step_sum
from aoe_reports.rules.tables.streams import streams


def check_table(data: TableData, *, complete: bool = True) -> TableData:
    """The same table without rows that cannot be, each of them reported, and with what else is odd about it.

    `complete` says that every column was read by which two rows are told apart.
    """
    if data.frame.num_rows == 0:
        return data
    present = set(data.frame.column_names)
    for field in data.match.fields or ():
        if field.type == "duration" and field.name in present:
            data = without_negative(data, field.name, field.header, field.position + 1, needed=field.needed)
    if not data.match.fields:
        for column in data.table.columns:
            if column.type == "duration" and column.field in data.frame.column_names:
                data = without_negative(data, column.field, column.headers[0], None, needed=column.needed)
    data = without_impossible_memory(without_negative_values(data))
    if "count" in data.frame.column_names:
        data = without_empty_groups(data)
    if complete:
        data = without_copies(data)
    for check in _CHECKS:
        data = data.with_findings(list(check(data)))
    return data


_CHECKS: tuple[Callable[[TableData], Sequence[Finding]], ...] = (
    rising,
    overlap,
    overlap_above,
    step_sum,
    intervals,
    statistics,
    shares,
    task_types,
    iterations,
    streams,
)
