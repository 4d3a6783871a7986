"""TableDatabase: declared tables in DuckDB, each loaded when it is first needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import duckdb
import pyarrow as pa

from aoe_reports.engine.question import Notes
from aoe_reports.engine.tables.query import names_of
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.model.arrays.columns import cells_of
from aoe_reports.model.findings import Finding, in_order
from aoe_reports.schema.table import Table

MEMORY_LIMIT = "1GB"
"""DuckDB writes what exceeds it into a temporary folder."""
NOT_WRITTEN = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""What DuckDB raises where the disk is full."""
_NAMING = frozenset({"query", "query_table"})
"""The functions that name tables in a text."""


class TableDatabase(ABC):
    """Tables that are declared in `schema`; use it in a `with`, or close it."""

    notes: Notes
    """What is wrong with what was read so far."""

    def __init__(self, tables: Mapping[str, Table], into: Path | None = None) -> None:
        """Open a database in memory, or a new file."""
        self.tables = tables
        self._folder = TemporaryFolder()
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(self._folder.path),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:" if into is None else str(into), config=config)
        self._connection.execute("SET enable_progress_bar = false")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back its memory and its files."""
        self._connection.close()
        self._folder.remove()

    @property
    def findings(self) -> list[Finding]:
        """What is wrong with what was read so far, in a stable order."""
        return in_order(self.notes.findings)

    def sql(self, query: str, params: object = None) -> duckdb.DuckDBPyRelation:
        """The rows of a query, as DuckDB's relation (`fetchall`, `to_arrow_table`, `pl`, `df`); tables that it names are loaded first.

        Raises UsageError for anything but one SELECT, duckdb.Error where it is wrong.
        """
        named = names_of(query)
        self.load(self.tables if named.table_functions & _NAMING else {path[-1].lower() for path in named.tables})
        return self._connection.sql(query, params=params)

    @abstractmethod
    def load(self, names: Iterable[str]) -> None:
        """Load tables that are not loaded yet."""


@contextmanager
def whole_or_not(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """What is inserted meanwhile stays only if all of it could be."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def insert_frame(connection: duckdb.DuckDBPyConnection, table: Table, frame: pa.Table) -> None:
    """Add rows to a table, whose columns have the names of the table's."""
    connection.register("frame", frame)
    try:
        connection.execute(f"INSERT INTO {table.name} BY NAME FROM frame")
    finally:
        connection.unregister("frame")


_CELLS = {"VARCHAR": pa.string(), "DOUBLE": pa.float64()}


def insert_rows(connection: duckdb.DuckDBPyConnection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Add rows that have every column of a table, in its order."""
    if rows:
        cells = zip(table.columns, zip(*rows, strict=True), strict=True)
        columns = {column.name: cells_of(values, _CELLS.get(column.type, pa.int64())) for column, values in cells}
        insert_frame(connection, table, pa.table(columns))
