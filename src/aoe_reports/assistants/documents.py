"""What a call is answered with: tables of plain values, cut into pages that have room in an assistant's context."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aoe_reports.model.classes import is_record
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.values import for_terminal

MAX_PAGE = 20_000
"""Characters of a page as ASCII JSON: 8,000 tokens at 2.5 characters each."""
MAX_ROWS_SIZE = 12_000
"""Characters of the tables of a page: questions follow one another, and all their answers stay in the context."""
MAX_ROW = 4000
"""Characters of a row as ASCII JSON: longer cells are cut."""
MAX_ROWS = 2000
"""Of a table: further rows are only counted."""
MAX_TEXT = 400
"""Characters of a cell: names of operators and sentences are shorter."""
FIRST_ROWS = 3
"""Of each table, before any goes on: the first page shows what every table has at its top."""
MAX_PATH = 4096
"""Characters of a path, which another call needs whole."""
_PATHS = frozenset({"path", "run"})


class RefusedError(Exception):
    """A call that is not answered; its text is for the assistant."""


def size_of(value: Json) -> int:
    """Characters of a value as ASCII JSON."""
    return len(json.dumps(value))


def neutral(text: str, limit: int = MAX_TEXT) -> str:
    r"""A text of at most `limit` characters whose control characters are spelled out, such as `\u001b`."""
    kept = for_terminal(text[:limit])
    return kept if len(text) <= limit else f"{kept}… ({len(text):,} characters)"


def plain(value: Any, limit: int = MAX_TEXT) -> Json:
    """A value as JSON has it: no control characters, NaN and infinities null, nine significant digits."""
    if is_record(type(value)):
        value = as_mapping(value)
    if isinstance(value, Mapping):
        return {neutral(str(key), 60): plain(inner, limit) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, limit) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value if isinstance(value, bool | int) or value is None else neutral(str(value), limit)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as lists under their columns; `same` has the values that all rows share."""

    key: str
    columns: list[str]
    rows: list[list[Json]]
    total: int
    same: JsonObject


@dataclass(frozen=True, slots=True)
class Document:
    """A whole answer, before it is cut into pages."""

    answers: str
    headline: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    reasons: Sequence[str] = ()


def plain_table(key: str, rows: Sequence[Any], total: int | None = None) -> Table:
    """A table of rows with the same keys, without the columns that are empty; `total` if there are more than these rows."""
    cells = [_cells(row) for row in rows[:MAX_ROWS]]
    names = [name for name in (cells[0] if cells else ()) if any(row[name] not in (None, [], "") for row in cells)]
    same = {name: cells[0][name] for name in names if len(cells) > 1 and all(r[name] == cells[0][name] for r in cells)}
    columns = [name for name in names if name not in same]
    return Table(key, columns, [[row[name] for name in columns] for row in cells], total or len(rows), same)


def _cells(row: Any) -> JsonObject:
    row = as_mapping(row) if is_record(type(row)) else row
    cells = {name: plain(value, MAX_PATH if name in _PATHS else MAX_TEXT) for name, value in row.items()}
    if size_of(cells) <= MAX_ROW:
        return cells
    limit = MAX_ROW // 6 // len(cells)  # six characters of ASCII are one character at most
    return {name: _cut(cell, limit) for name, cell in cells.items()}


def _cut(cell: Json, limit: int) -> Json:
    text = cell if isinstance(cell, str) else json.dumps(cell)
    return cell if size_of(text) <= 6 * limit else f"{text[:limit]}…"


def page_of(document: Document, start: int) -> tuple[JsonObject, int]:
    """(as many rows from one on as there is room for, the row that the next page starts with; 0 if this is the last)."""
    tables: dict[str, Any] = {table.key: {"total": table.total} for table in document.tables}
    page: JsonObject = {
        "answers": document.answers,
        "headline": document.headline,
        "reasons": [*document.reasons],
        "notes": [*document.notes],
        "tables": tables,
    }
    room, end = min(MAX_ROWS_SIZE, MAX_PAGE - size_of(page)), start
    for table, number in islice(_in_order(document.tables), start, None):
        shown, row = tables[table.key], table.rows[number]
        head: dict[str, Any] = {"from": number + 1, "columns": table.columns, "same": table.same, "rows": []}
        room -= size_of(row) + 2 + (0 if "rows" in shown else size_of(head) + 100)
        if room < 0 and end > start:
            return page, end
        if "rows" not in shown:
            shown |= head
        shown["rows"].append(row)
        end += 1
    return page, 0


def _in_order(tables: Sequence[Table]) -> Iterator[tuple[Table, int]]:
    """The rows of an answer, by table and number: the first of each table, then the others."""
    for begin, end in ((0, FIRST_ROWS), (FIRST_ROWS, None)):
        for table in tables:
            yield from ((table, number) for number in range(len(table.rows))[begin:end])
