"""A table of a database that has the very columns of a table of text, by their headers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData, nothing_of
from aoe_reports.formats.sqlite.rules import DB_DAMAGED
from aoe_reports.formats.sqlite.source import CellType, Database, Rows, opened, said_by
from aoe_reports.formats.table import NULL_TOKENS, Match, Table
from aoe_reports.model.arrays.columns import cells_of, column_of
from aoe_reports.model.texts import say

_CELLS: dict[str, CellType] = {"integer": "integer", "size": "integer", "timestamp": "time", "number": "number"}


def read_plain_table(path: Path, table: Table, names: Sequence[str]) -> TableData:
    """The rows of the first of some tables that is there; damage is in the findings."""
    try:
        with opened(path) as database:
            return _read(path, database, table, names)
    except sqlite3.Error as error:
        message = say(
            "the database cannot be read: {why}; {effect}", why=said_by(error), effect=say("none of it is used")
        )
        return nothing_of(path, table, table.match([]), DB_DAMAGED.found(str(path), message))


def _read(path: Path, database: Database, table: Table, names: Sequence[str]) -> TableData:
    stored = next((name for name in names if name in database.tables), names[0])
    match = table.match(database.columns(stored))
    fields = [field for field in match.fields if field.type != "unknown"]
    types: dict[str, CellType] = {field.header: _CELLS.get(field.type, "words") for field in fields}
    needed = {field.header for field in fields if field.needed}
    for column in match.missing:
        raise sqlite3.DatabaseError(say("no column {column} in table {table}", column=column.headers[0], table=stored))
    rows = database.fetch(stored, types, frozenset(needed))
    frame = pa.table({field.name: _column(rows, field.header, types[field.header]) for field in fields})
    return TableData(
        table=table,
        path=path,
        frame=frame,
        match=_whole(match),
        findings=tuple(database.findings),
        rows_read=rows.count,
        rows_reported=int((~rows.good).sum()),
        rows=None if rows.good.all() else rows.good.nonzero()[0],
        is_text=False,
    )


def _whole(match: Match) -> Match:
    """A database has no order of columns."""
    return replace(match, missing=(), doubled=(), unordered=None)


def _column(rows: Rows, header: str, kind: CellType) -> pa.ChunkedArray:
    if kind == "words":
        cells = [None if word in NULL_TOKENS else word for word in rows.words[header]]
        found = cells_of(cells, pa.string()).dictionary_encode()
        return (
            pa.chunked_array([found.filter(pa.array(rows.good))]) if not rows.good.all() else pa.chunked_array([found])
        )
    chosen = rows.cells[header].take(rows.good)
    return column_of(chosen.values, chosen.there)
