"""The rule on rows that are there twice: in one table, or in several files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import START, TableData
from aoe_reports.formats.spilled_table import parts_of
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, integers
from aoe_reports.model.texts import say
from aoe_reports.rules.rules import DUPLICATE_ROW
from aoe_reports.rules.tables.rows import findings_of_rows


def without_copies(data: TableData) -> TableData:
    """A row that stands there twice would count twice."""
    present = [name for name in data.table.identity if name in data.frame.column_names]
    if not present:
        return data
    mask = ~_copies(data.frame, present)
    if mask.all():
        return data
    message = say("an identical row appears above; this one is left out")
    return data.keep(mask, findings_of_rows(data, DUPLICATE_ROW, message, ~mask))


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
            data = data.keep(mask, (DUPLICATE_ROW.found(str(data.path), message),))  # noqa: PLW2901
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
    if data.span is not None or START not in data.frame.column_names:
        return data.span
    ordered = _differing(data.frame[START])
    return None if ordered is None else (int(ordered[0]), int(ordered[-1]))


def _differing(starts: pa.ChunkedArray) -> Ints | None:
    """The starts in order; None with duplicates or missing values."""
    values, there = integers(starts)
    if not there.all():
        return None
    values.sort()
    return values if (values[1:] > values[:-1]).all() else None


def first_of_each(frame: pa.Table, names: Sequence[str]) -> Mask:
    """The rows that no earlier row equals in these columns."""
    return ~_copies(frame, [name for name in names if name in frame.column_names])


def _copies(frame: pa.Table, names: Sequence[str]) -> Mask:
    """The rows that an earlier row equals in these columns; null equals null."""
    copies = np.zeros(frame.num_rows, dtype=bool)
    time = next((name for name in _TIMES if name in names), None)
    rows = np.arange(frame.num_rows) if time is None else _rows_at_one_time(frame[time])
    if not len(rows):
        return copies  # nearly always: one sort instead of a grouping
    same = frame.select(list(names)).take(rows).unify_dictionaries()
    grouped = same.append_column(_ROW, pa.array(rows)).group_by(list(names))
    copies[rows] = True
    copies[grouped.aggregate([(_ROW, "min")])[f"{_ROW}_min"].to_numpy()] = False
    return copies


def _rows_at_one_time(times: pa.ChunkedArray) -> Ints:
    """The rows whose time another row has, or that have none, in order."""
    tied = _tied_in_order(times)
    if tied is not None:
        return tied
    values, there = integers(times)
    order = np.argsort(values, kind="stable")
    equal = values[order][1:] == values[order][:-1]
    is_suspect = ~there
    is_suspect[order[1:][equal]] = is_suspect[order[:-1][equal]] = True
    return np.flatnonzero(is_suspect)


def _tied_in_order(times: pa.ChunkedArray) -> Ints | None:
    """The rows whose time a row beside them has, in order; None where times do not rise, or one is missing."""
    tied: list[Ints] = []
    begin, last = 0, np.zeros(0, dtype=np.int64)
    for part, there in map(integers, parts_of(times)):
        values = np.concatenate([last, part])
        if not there.all() or (values[1:] < values[:-1]).any():
            return None
        same = begin + np.flatnonzero(values[1:] == values[:-1])
        tied += [same, same + 1]
        begin, last = begin + len(values) - 1, values[-1:]
    return distinct(np.concatenate(tied))


_TIMES = (START, "allocation_ns")
"""Copies have the same time."""
_ROW = "#row"
