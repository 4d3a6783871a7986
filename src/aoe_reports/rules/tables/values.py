"""Rules on single values: those that cannot be are left out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.rules import NEGATIVE_DURATION
from aoe_reports.model.arrays.columns import column_of, floats, holds_negative, integers
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import say
from aoe_reports.rules.tables.rows import findings_of_rows


def without_negative(data: TableData, name: str, header: str, column: int | None, *, needed: bool) -> TableData:
    """Nothing takes less than no time."""
    values = data.frame[name]
    if pa.types.is_list(values.type) or not holds_negative(values):
        return data
    numbers, there = integers(values)
    mask = there & (numbers < 0)
    message = say(
        "{header} is negative; the row is left out"
        if needed
        else "{header} is negative; the cell is empty in the table",
        header=header,
    )
    findings = findings_of_rows(data, NEGATIVE_DURATION, message, mask, column)
    if needed:
        return data.keep(~mask, findings)
    place = data.frame.column_names.index(name)
    frame = data.frame.set_column(place, name, column_of(np.where(mask, 0, numbers), there & ~mask))
    return data.with_frame(frame).with_findings(findings)


NEGATIVE_VALUE = TABLES.rule(
    "negative-value", "error", "a size, share, number or time stamp below 0; the cell is empty in the table"
)
_NEVER_NEGATIVE = frozenset({"size", "share", "timestamp", "integer"})


def without_negative_values(data: TableData) -> TableData:
    """Sizes, shares, numbers of things and times of day: the cell is empty where one is below 0."""
    for column in data.table.columns:
        if column.type not in _NEVER_NEGATIVE or column.field not in data.frame.column_names or column.name == "count":
            continue
        values = data.frame[column.field]
        is_number = not (pa.types.is_list(values.type) or pa.types.is_dictionary(values.type))
        if not is_number or not holds_negative(values):
            continue
        numbers, there = floats(values) if pa.types.is_floating(values.type) else integers(values)
        mask = there & (numbers < 0)
        place = next((field.position + 1 for field in data.match.fields if field.name == column.field), None)
        message = say("{header} is negative; the cell is empty in the table", header=column.headers[0])
        told = findings_of_rows(data, NEGATIVE_VALUE, message, mask, place)
        empty = column_of(np.where(mask, numbers.dtype.type(0), numbers), there & ~mask)
        at = data.frame.column_names.index(column.field)
        data = data.with_frame(data.frame.set_column(at, column.field, empty)).with_findings(told)
    return data


IMPLAUSIBLE_COUNT = TABLES.rule("implausible-count", "error", "a count of tasks that is not above 0")


def without_empty_groups(data: TableData) -> TableData:
    """A group has at least one task."""
    numbers, there = integers(data.frame["count"])
    mask = there & (numbers <= 0)
    if not mask.any() or not any(column.name == "count" and column.needed for column in data.table.columns):
        return data
    return data.keep(
        ~mask, findings_of_rows(data, IMPLAUSIBLE_COUNT, say("Count is not above 0; the row is left out"), mask)
    )
