"""What the rules on tables share: the values of a column, and findings of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import Ints, Mask, codes, floats, integers
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import say

ROUNDING_NS = 10
"""Printed times carry binary noise and three decimals of a microsecond: sums of a few may be off by this much."""


def as_integers(column: pa.ChunkedArray) -> tuple[Ints, Mask]:
    """(integers that differ where the values of a column do, where there is a value)."""
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        numbers, _ = codes(column)
        return numbers, numbers > 0
    if pa.types.is_floating(column.type):
        values, there = floats(column)
        return values.view(np.int64), there
    return integers(column)


def findings_of_rows(
    data: TableData, rule: Rule, message: str, mask: Mask, column: int | None = None
) -> tuple[Finding, ...]:
    """A finding for each row of `mask`; after EXAMPLES_PER_RULE of them one line counts the rest."""
    rows = np.flatnonzero(mask)
    found = [
        rule.found(str(data.path), placed(data, message, int(row)), data.line(int(row)), column)
        for row in rows[:EXAMPLES_PER_RULE]
    ]
    if len(rows) > EXAMPLES_PER_RULE:
        line = data.line(int(rows[EXAMPLES_PER_RULE]))
        rest = say("and {count} more: {message}", count=len(rows) - EXAMPLES_PER_RULE, message=message)
        found.append(rule.found(str(data.path), rest, line, column))
    return tuple(found)


def placed(data: TableData, message: str, row: int) -> str:
    """The message with the row's number and its table, where no line tells the place."""
    if data.is_text:
        return message
    return say("{table}, row {row}: {message}", table=data.table.name, row=data.row(row), message=message)
