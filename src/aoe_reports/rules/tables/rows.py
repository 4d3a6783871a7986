"""What the rules on tables share: the values of a column, and findings of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from aoe_reports.formats.ascend.tables.op_summary import TASK_TYPES
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.rules import NEGATIVE_DURATION
from aoe_reports.formats.spilled_table import leave_pages
from aoe_reports.model.arrays.columns import Ints, Mask, codes, column_of, floats, holds_negative, integers
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import TABLES, Rule
from aoe_reports.model.texts import Text, say

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


def without_negative(data: TableData, name: str, header: str, column: int | None, *, needed: bool) -> TableData:
    """Nothing takes less than no time."""
    values = data.frame[name]
    if pa.types.is_list(values.type) or not _has_negative(values):
        return data
    numbers, there = integers(values)
    mask = there & (numbers < 0)
    findings = findings_of_rows(data, NEGATIVE_DURATION, _below_zero(header, needed=needed), mask, column)
    if needed:
        return data.keep(~mask, findings)
    place = data.frame.column_names.index(name)
    frame = data.frame.set_column(place, name, column_of(np.where(mask, 0, numbers), there & ~mask))
    return data.with_frame(frame).with_findings(findings)


def _below_zero(header: str, *, needed: bool) -> Text:
    """That a cell is negative, and what becomes of it."""
    effect = say("the row is left out" if needed else "the cell is empty in the table")
    return say("{header} is negative; {effect}", header=header, effect=effect)


def _has_negative(values: pa.ChunkedArray) -> bool:
    found = holds_negative(values)
    leave_pages()
    return found


NEGATIVE_VALUE = TABLES.rule(
    "negative-value",
    "error",
    "a size, share, number or time stamp below 0; the cell is empty in the table, or the row is left out where it needs the value",
)
_NEVER_NEGATIVE = frozenset({"size", "share", "timestamp", "integer"})


def without_negative_values(data: TableData) -> TableData:
    """Sizes, shares, numbers of things and times of day: the cell is empty where one is below 0; without a needed one the row is left out."""
    for column in data.table.columns:
        if column.type not in _NEVER_NEGATIVE or column.field not in data.frame.column_names or column.name == "count":
            continue
        values = data.frame[column.field]
        is_number = not (pa.types.is_list(values.type) or pa.types.is_dictionary(values.type))
        if not is_number or not _has_negative(values):
            continue
        numbers, there = floats(values) if pa.types.is_floating(values.type) else integers(values)
        mask = there & (numbers < 0)
        place = next((field.position + 1 for field in data.match.fields if field.name == column.field), None)
        message = _below_zero(column.headers[0], needed=column.needed)
        findings = findings_of_rows(data, NEGATIVE_VALUE, message, mask, place)
        if column.needed:
            data = data.keep(~mask, findings)
            continue
        empty = column_of(np.where(mask, numbers.dtype.type(0), numbers), there & ~mask)
        at = data.frame.column_names.index(column.field)
        data = data.with_frame(data.frame.set_column(at, column.field, empty)).with_findings(findings)
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


TASK_TYPE_UNKNOWN = TABLES.rule("task-type-unknown", "warning", "a task type that no known exporter writes")


def task_types(data: TableData) -> Sequence[Finding]:
    """A task type that no exporter is known to write: cells may have changed places, or a byte is damaged."""
    if data.table.name not in {"op_summary", "kernel_details"} or "task_type" not in data.frame.column_names:
        return ()
    numbers, words = codes(data.frame["task_type"])
    strange = [number for number, word in enumerate(words, start=1) if word not in TASK_TYPES]
    found = []
    for number in strange[:EXAMPLES_PER_RULE]:
        rows = np.flatnonzero(numbers == number)
        if len(rows):
            message = say(
                "{count} rows of task type {word!r}, which is unknown; treated as computing",
                count=len(rows),
                word=words[number - 1][:40],
            )
            found.append(TASK_TYPE_UNKNOWN.found(str(data.path), message, data.line(int(rows[0]))))
    return found


SHARE_ROUNDING = 0.0002
_MIN_ROWS_FOR_SHARES = 2


INTERVAL_MISMATCH = TABLES.rule("interval-mismatch", "warning", "stop - start does not equal the duration of the task")


def intervals(data: TableData) -> Sequence[Finding]:
    """What starts and stops lasts from one to the other."""
    parts = ("task_start_ns", "task_stop_ns", "task_duration_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (start, a), (apart, b), (duration, c) = (integers(data.frame[name]) for name in parts)
    apart -= start  # in place: of millions of tasks each such column takes tens of megabytes
    apart -= duration
    off = a & b & c & (np.abs(apart, out=apart) > ROUNDING_NS)
    if off.any():
        off &= apart > _stamp_noise(start)
    return findings_of_rows(data, INTERVAL_MISMATCH, say("stop - start does not equal the duration of the task"), off)


def _stamp_noise(start: Ints) -> Ints:
    """The error of time stamps: 0.25 us each if they went through a float64 of microseconds since 1970."""
    epoch_in_float = 10**18
    return np.where(start > epoch_in_float, 600, ROUNDING_NS)


STATISTIC_ARITHMETIC = TABLES.rule(
    "statistic-arithmetic", "warning", "Min, Avg, Max, Count and total of one row are inconsistent"
)


def statistics(data: TableData) -> Sequence[Finding]:
    """Min <= Avg <= Max, and Count x Avg is the total, within the printed digits."""
    parts = ("count", "total_time_ns", "min_time_ns", "avg_time_ns", "max_time_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (count, total, low, mean, high), masks = zip(*(integers(data.frame[name]) for name in parts), strict=True)
    there = np.logical_and.reduce(masks)
    noise = ROUNDING_NS
    off = there & ((low > mean + noise) | (mean > high + noise) | (np.abs(mean * count - total) > noise * (count + 1)))
    message = say("Min, Avg, Max, Count and total are inconsistent")
    return findings_of_rows(data, STATISTIC_ARITHMETIC, message, off)


SHARE_SUM = TABLES.rule("share-sum", "warning", "the shares of a whole statistic do not add up to 100%")


def shares(data: TableData) -> Sequence[Finding]:
    """Shares of a whole table add up to 1: else a row is missing."""
    if data.table.name not in {"op_statistic", "communication_statistic"} or data.rows_reported:
        return ()
    if "share" not in data.frame.column_names or data.frame.num_rows < _MIN_ROWS_FOR_SHARES:
        return ()
    values, there = floats(data.frame["share"])
    names = [name for name in ("device_id", "model_name") if name in data.frame.column_names]
    keys = [as_integers(data.frame[name])[0] for name in names]
    groups: dict[tuple[int, ...], float] = {}
    for row in range(len(values)):
        key = tuple(int(column[row]) for column in keys)
        groups[key] = groups.get(key, 0.0) + float(values[row])
    if not there.all() or all(abs(whole - 1) <= SHARE_ROUNDING + len(values) * 5e-6 for whole in groups.values()):
        return ()
    off = next(whole for whole in groups.values() if abs(whole - 1) > SHARE_ROUNDING)
    message = say("the shares add up to {share:.4%}: a row is missing or damaged", share=off)
    return [SHARE_SUM.found(str(data.path), message)]
