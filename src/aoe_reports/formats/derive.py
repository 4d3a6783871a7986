"""Adds to what was read of a file the columns that its table derives from others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.rules import NEGATIVE_DURATION
from aoe_reports.formats.table import Derived, Table
from aoe_reports.model.arrays.columns import Mask, integers
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import join, say


def fields_to_read(table: Table, fields: frozenset[str] | None) -> frozenset[str] | None:
    """The fields of a file that have to be read for these columns of its table."""
    if fields is None:
        return None
    return fields.union(*(derived.of for derived in table.derived if derived.column.field in fields))


def with_derived(data: TableData, fields: frozenset[str] | None) -> TableData:
    """The table with the derived columns among `fields` (None: all), and without what only they were made of."""
    for derived in data.table.derived:
        if (fields is None or derived.column.field in fields) and set(derived.of) <= set(data.frame.column_names):
            data = _with_column(data, derived)
    if fields is None:
        return data
    needed = {column.field for column in data.table.columns if column.needed}
    extra = {name for derived in data.table.derived for name in derived.of} - fields - needed
    return data.with_frame(data.frame.drop_columns([name for name in data.frame.column_names if name in extra]))


def _with_column(data: TableData, derived: Derived) -> TableData:
    made = derived.make(*(data.frame[name] for name in derived.of))
    data = data.with_frame(data.frame.append_column(derived.column.field, made))
    if derived.column.type != "duration":
        return data
    values, there = integers(made)
    mask = there & (values < 0)
    return data.keep(~mask, _below_zero(data, derived, mask)) if mask.any() else data


def _below_zero(data: TableData, derived: Derived, mask: Mask) -> tuple[Finding, ...]:
    """A finding for each row that ends before it starts; after EXAMPLES_PER_RULE of them one counts the rest."""
    headers = {column.field: column.headers[0] for column in data.table.columns}
    what = join(" - ", (headers[name] for name in derived.of))
    message = say("{header} is negative; the row is left out", header=what)
    lines = [data.line(int(row)) for row in np.flatnonzero(mask)]
    first = NEGATIVE_DURATION.found(str(data.path), message)
    found = [replace(first, line=line) for line in lines[:EXAMPLES_PER_RULE]]
    if len(lines) > EXAMPLES_PER_RULE:
        rest = say("and {count} more: {message}", count=len(lines) - EXAMPLES_PER_RULE, message=message)
        found.append(replace(first, message=rest, line=lines[EXAMPLES_PER_RULE]))
    return tuple(found)
