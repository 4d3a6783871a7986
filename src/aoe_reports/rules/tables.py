"""Is what one table says possible? Rows that cannot be are kept out and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.ascend.tables.op_summary import TASK_TYPES
from aoe_reports.formats.csv.summary import START, TableData
from aoe_reports.model.columns import Ints, Mask, codes, column_of, floats, integers, words_in
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.texts import join, say

ROUNDING_NS = 10
"""Printed times carry binary noise and three decimals of a microsecond: sums of a few may be off by this much."""
STEP_SUM_NS = 1_000
"""Stage is the difference of two float64 of microseconds since 1970, which are right to 0.25 us each."""
SHARE_ROUNDING = 0.0002
_MIN_ROWS_FOR_SHARES = 2


def check_table(data: TableData, *, complete: bool = True) -> TableData:
    """The same table without rows that cannot be, each of them reported, and with what else is odd about it.

    `complete` says that every column was read by which two rows are told apart.
    """
    if data.frame.num_rows == 0:
        return data
    present = set(data.frame.column_names)
    for field in data.match.fields or ():
        if field.type == "duration" and field.name in present:
            data = _without_negative(data, field.name, field.header, field.position + 1, needed=field.needed)
    if not data.match.fields:
        for column in data.table.columns:
            if column.type == "duration" and column.field in data.frame.column_names:
                data = _without_negative(data, column.field, column.headers[0], None, needed=column.needed)
    data = _without_negative_values(data)
    if "count" in data.frame.column_names:
        data = _without_empty_groups(data)
    if complete:
        data = _without_copies(data)
    for check in _CHECKS:
        data = data.with_findings(list(check(data)))
    return data


def _without_negative(data: TableData, name: str, header: str, column: int | None, *, needed: bool) -> TableData:
    """Nothing takes less than no time."""
    values = data.frame[name]
    if pa.types.is_list(values.type):
        return data
    numbers, there = integers(values)
    mask = there & (numbers < 0)
    if not mask.any():
        return data
    message = say(
        "{header} is negative; the row is left out"
        if needed
        else "{header} is negative; the cell is empty in the table",
        header=header,
    )
    findings = _each(data, "negative-duration", message, mask, column)
    if needed:
        return data.keep(~mask, findings)
    place = data.frame.column_names.index(name)
    frame = data.frame.set_column(place, name, column_of(np.where(mask, 0, numbers), there & ~mask))
    return data.with_frame(frame).with_findings(findings)


_NEVER_NEGATIVE = frozenset({"size", "share", "timestamp", "integer"})


def _without_negative_values(data: TableData) -> TableData:
    """Sizes, shares, numbers of things and times of day: the cell is empty where one is below 0."""
    for column in data.table.columns:
        if column.type not in _NEVER_NEGATIVE or column.field not in data.frame.column_names or column.name == "count":
            continue
        values = data.frame[column.field]
        if pa.types.is_list(values.type) or pa.types.is_dictionary(values.type):
            continue
        of_floats = pa.types.is_floating(values.type)
        numbers, there = floats(values) if of_floats else integers(values)
        mask = there & (numbers < 0)
        if mask.any():
            place = next((field.position + 1 for field in data.match.fields if field.name == column.field), None)
            message = say("{header} is negative; the cell is empty in the table", header=column.headers[0])
            told = _each(data, "negative-value", message, mask, place)
            empty = column_of(np.where(mask, numbers.dtype.type(0), numbers), there & ~mask)
            at = data.frame.column_names.index(column.field)
            data = data.with_frame(data.frame.set_column(at, column.field, empty)).with_findings(told)
    return data


def _without_empty_groups(data: TableData) -> TableData:
    numbers, there = integers(data.frame["count"])
    mask = there & (numbers <= 0)
    if not mask.any() or not any(column.name == "count" and column.needed for column in data.table.columns):
        return data
    return data.keep(~mask, _each(data, "implausible-count", say("Count is not above 0; the row is left out"), mask))


def _without_copies(data: TableData) -> TableData:
    """A row that stands there twice would count twice."""
    present = [name for name in data.table.identity if name in data.frame.column_names]
    if not present:
        return data
    mask = ~_copies(data.frame, present)
    if mask.all():
        return data
    message = say("an identical row appears above; this one is left out")
    return data.keep(mask, _each(data, "duplicate-row", message, ~mask))


def without_copies_between(tables: Sequence[TableData]) -> list[TableData]:
    """Tables of several files without the tasks that an earlier file holds already: copies would count twice."""
    if not tables:
        return []
    names = [name for name in tables[0].table.identity if all(name in data.frame.column_names for data in tables)]
    if "task_start_ns" not in names:
        return list(tables)
    whole = pa.concat_tables([data.frame.select(names) for data in tables], promote_options="permissive")
    first = first_of_each(whole, names)
    if first.all():
        return list(tables)
    kept, start = [], 0
    for data in tables:
        mask = first[start : start + data.frame.num_rows]
        start += data.frame.num_rows
        if not mask.all():
            message = say(
                "{count} of these rows also appear in another file of this kind; they are left out here",
                count=int((~mask).sum()),
            )
            data = data.keep(mask, (Finding("error", "duplicate-row", str(data.path), message),))  # noqa: PLW2901
        kept.append(data)
    return kept


def cannot_repeat(tables: Sequence[TableData]) -> bool:
    """Whether no row of some tables can stand there twice, since no two start at one time: else that is looked at."""
    if len(tables) == 1 and tables[0].rows_differ:
        return True
    spans = [_span_of_starts(data) for data in tables if data.frame.num_rows]
    known = sorted(span for span in spans if span is not None)
    return len(known) == len(spans) and all(one[1] < other[0] for one, other in pairwise(known))


def _span_of_starts(data: TableData) -> tuple[int, int] | None:
    """The first and the last start of a table in which each is another one; None where that is not known."""
    if data.span is not None or START not in data.frame.column_names:
        return data.span
    starts, there = integers(data.frame[START])
    ordered = np.sort(starts)
    return (int(ordered[0]), int(ordered[-1])) if there.all() and (np.diff(ordered) > 0).all() else None


def first_of_each(frame: pa.Table, names: Sequence[str]) -> Mask:
    """The rows that no earlier row equals in these columns."""
    return ~_copies(frame, [name for name in names if name in frame.column_names])


def _copies(frame: pa.Table, names: Sequence[str]) -> Mask:
    """Rows that an earlier row equals in all these columns."""
    columns = [_as_integers(frame[name]) for name in names]
    mixed = np.zeros(frame.num_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for values, there in columns:
            mixed = (mixed * np.uint64(0x9E3779B97F4A7C15)) ^ (np.where(there, values, -1).astype(np.uint64))
    _, first, groups, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
    copies = np.zeros(frame.num_rows, dtype=bool)
    if (counts == 1).all():
        return copies
    seen: dict[int, set[tuple[Any, ...]]] = {}
    for row in np.flatnonzero(counts[groups] > 1):
        key = tuple((int(values[row]), bool(there[row])) for values, there in columns)
        earlier = seen.setdefault(int(first[groups[row]]), set())
        copies[row] = key in earlier
        earlier.add(key)
    return copies


def _as_integers(column: pa.ChunkedArray) -> tuple[Ints, Mask]:
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        numbers, _ = codes(column)
        return numbers, numbers > 0
    if pa.types.is_floating(column.type):
        values, there = floats(column)
        return values.view(np.int64), there
    return integers(column)


def _each(
    data: TableData, rule: str, message: str, mask: Mask, column: int | None = None, severity: Severity = "error"
) -> tuple[Finding, ...]:
    """A finding for each row of `mask`; after EXAMPLES_PER_RULE of them one line counts the rest."""
    rows = np.flatnonzero(mask)
    found = [
        Finding(severity, rule, str(data.path), _placed(data, message, int(row)), data.line(int(row)), column)
        for row in rows[:EXAMPLES_PER_RULE]
    ]
    if len(rows) > EXAMPLES_PER_RULE:
        line = data.line(int(rows[EXAMPLES_PER_RULE]))
        rest = say("and {count} more: {message}", count=len(rows) - EXAMPLES_PER_RULE, message=message)
        found.append(Finding(severity, rule, str(data.path), rest, line, column))
    return tuple(found)


def _placed(data: TableData, message: str, row: int) -> str:
    """The message with the row's number and its table, where no line tells the place."""
    if data.is_text:
        return message
    return say("{table}, row {row}: {message}", table=data.table.name, row=data.row(row), message=message)


def _rising(data: TableData) -> Sequence[Finding]:
    """Iterations end one after the other."""
    name = data.table.rising
    if name is None or name not in data.frame.column_names:
        return ()
    values, there = integers(data.frame[name])
    keys = [_as_integers(data.frame[key])[0] for key in ("device_id", "model_id") if key in data.frame.column_names]
    falls = np.zeros(len(values), dtype=bool)
    same = np.ones(max(len(values) - 1, 0), dtype=bool)
    for key in keys:
        same &= key[1:] == key[:-1]
    falls[1:] = same & there[1:] & there[:-1] & (values[1:] <= values[:-1])
    message = say("this row ends before the one above it: rows are out of order, or one is damaged")
    return _each(data, "not-monotonic", message, falls, severity="warning")


def _overlap(data: TableData) -> Sequence[Finding]:
    """Communication = Overlapped + Communication(Not Overlapped)."""
    parts = ("communication_ns", "overlapped_ns", "communication_not_overlapped_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    whole, overlapped, alone = (integers(data.frame[name])[0] for name in parts)
    off = _of_one_rank(data) & (np.abs(whole - overlapped - alone) > ROUNDING_NS)
    message = say("Communication is not Overlapped + Communication(Not Overlapped)")
    return _each(data, "overlap-sum", message, off, severity="warning")


def _step_sum(data: TableData) -> Sequence[Finding]:
    """Stage + Bubble is the whole step: Computing + Communication(Not Overlapped) + Free."""
    names = ("stage_ns", "bubble_ns", "computing_ns", "communication_not_overlapped_ns", "free_ns")
    if not set(names) <= set(data.frame.column_names):
        return ()
    (stage, bubble, *parts), masks = zip(*(integers(data.frame[name]) for name in names), strict=True)
    there = _of_one_rank(data) & np.logical_and.reduce(masks)
    off = there & (np.abs(stage + bubble - sum(parts)) > STEP_SUM_NS)
    message = say("Stage + Bubble is not Computing + Communication(Not Overlapped) + Free: one of them is wrong")
    return _each(data, "step-sum", message, off, severity="warning")


def _of_one_rank(data: TableData) -> Mask:
    """The rows that add up: one of a pipeline stage holds the largest value of its ranks in each column by itself."""
    if "type" not in data.frame.column_names:
        return np.ones(data.frame.num_rows, dtype=bool)
    return words_in(data.frame["type"], {"rank"})


def _intervals(data: TableData) -> Sequence[Finding]:
    """What starts and stops lasts from one to the other."""
    parts = ("task_start_ns", "task_stop_ns", "task_duration_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (start, a), (stop, b), (duration, c) = (integers(data.frame[name]) for name in parts)
    off = a & b & c & (np.abs(stop - start - duration) > _stamp_noise(start))
    return _each(
        data, "interval-mismatch", say("stop - start does not equal the duration of the task"), off, severity="warning"
    )


def _stamp_noise(start: Ints) -> Ints:
    """How far stamps may be off: those that went through a float64 of microseconds since 1970 by 0.25 us each."""
    epoch_in_float = 10**18
    return np.where(start > epoch_in_float, 600, ROUNDING_NS)


def _statistics(data: TableData) -> Sequence[Finding]:
    """Min <= Avg <= Max, and Count x Avg is the total, within the printed digits."""
    parts = ("count", "total_time_ns", "min_time_ns", "avg_time_ns", "max_time_ns")
    if not set(parts) <= set(data.frame.column_names):
        return ()
    (count, total, low, mean, high), masks = zip(*(integers(data.frame[name]) for name in parts), strict=True)
    there = np.logical_and.reduce(masks)
    noise = ROUNDING_NS
    off = there & ((low > mean + noise) | (mean > high + noise) | (np.abs(mean * count - total) > noise * (count + 1)))
    message = say("Min, Avg, Max, Count and total are inconsistent")
    return _each(data, "statistic-arithmetic", message, off, severity="warning")


def _shares(data: TableData) -> Sequence[Finding]:
    """Shares of a whole table add up to 1: else a row is missing."""
    if data.table.name not in {"op_statistic", "communication_statistic"} or data.rows_reported:
        return ()
    if "share" not in data.frame.column_names or data.frame.num_rows < _MIN_ROWS_FOR_SHARES:
        return ()
    values, there = floats(data.frame["share"])
    names = [name for name in ("device_id", "model_name") if name in data.frame.column_names]
    keys = [_as_integers(data.frame[name])[0] for name in names]
    groups: dict[tuple[int, ...], float] = {}
    for row in range(len(values)):
        key = tuple(int(column[row]) for column in keys)
        groups[key] = groups.get(key, 0.0) + float(values[row])
    if not there.all() or all(abs(whole - 1) <= SHARE_ROUNDING + len(values) * 5e-6 for whole in groups.values()):
        return ()
    off = next(whole for whole in groups.values() if abs(whole - 1) > SHARE_ROUNDING)
    message = say("the shares add up to {share:.4%}: a row is missing or damaged", share=off)
    return [Finding("warning", "share-sum", str(data.path), message)]


def _task_types(data: TableData) -> Sequence[Finding]:
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
            found.append(Finding("warning", "task-type-unknown", str(data.path), message, data.line(int(rows[0]))))
    return found


def _iterations(data: TableData) -> Sequence[Finding]:
    """Iterations are counted one by one: a gap is one that is missing."""
    if data.table.name != "step_trace" or "iteration_id" not in data.frame.column_names:
        return ()
    names = [name for name in ("device_id", "model_id") if name in data.frame.column_names]
    numbers: dict[tuple[Any, ...], list[int]] = {}
    keys = [data.frame[name].to_pylist() for name in names]
    for row, number in enumerate(data.frame["iteration_id"].to_pylist()):
        numbers.setdefault(tuple(key[row] for key in keys), []).append(number)
    found = []
    for mine in numbers.values():
        there = sorted(set(mine))
        gaps = [(a + 1, b - 1) for a, b in pairwise(there) if b > a + 1]
        if gaps:
            words = join(
                ", ",
                (str(a) if a == b else say("{first} to {last}", first=a, last=b) for a, b in gaps[:EXAMPLES_PER_RULE]),
            )
            message = say(
                "iterations {numbers} between {first} and {last} are missing",
                numbers=words,
                first=there[0],
                last=there[-1],
            )
            found.append(Finding("warning", "step-missing", str(data.path), message))
        if there[0] > 1:
            message = say(
                "the first iteration here is number {number}: earlier ones were not recorded", number=there[0]
            )
            found.append(Finding("info", "step-missing", str(data.path), message))
    return found


_CHECKS: tuple[Callable[[TableData], Sequence[Finding]], ...] = (
    _rising,
    _overlap,
    _step_sum,
    _intervals,
    _statistics,
    _shares,
    _task_types,
    _iterations,
)
