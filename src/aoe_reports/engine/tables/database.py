"""CaptureDatabase: some captures as tables of DuckDB, each loaded when it is first needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import duckdb

from aoe_reports.engine.question import Notes
from aoe_reports.engine.tables.attachments import Attachments
from aoe_reports.engine.tables.cache import MAX_BYTES, CacheOptions, cache_in
from aoe_reports.engine.tables.capture_files import CaptureFiles, NamedDatabase, files_of, notes_as_text
from aoe_reports.engine.tables.table_database import NOT_WRITTEN, TableDatabase, insert_rows
from aoe_reports.formats.sources.owned import delete, delete_left, make_owned
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__
from aoe_reports.schema.tables import READING, TABLES


class CaptureDatabase(TableDatabase):
    """Captures as tables (docs/sql.md)."""

    def __init__(self, files: CaptureFiles | NamedDatabase) -> None:
        """Of files that are attached when a table of them is first needed."""
        super().__init__(TABLES)
        self._files = files
        self.notes = files.notes
        self._attachments = Attachments(self._connection, {table.name: table.ddl for table in TABLES.values()})

    @property
    def is_empty(self) -> bool:
        return self._files.is_empty

    def load(self, names: Iterable[str] = TABLES) -> None:
        """Load tables that are not loaded yet. Files that cannot be read are findings."""
        self._files.attach({*names}, self._attachments.add)

    def write_database(self, file: Path) -> None:
        """Write all tables into a new database file."""
        connection = self._connection
        connection.execute("ATTACH $file AS written", {"file": str(file)})
        connection.execute("USE written")
        for table in (*TABLES.values(), READING):
            connection.execute(table.ddl)
        for name in TABLES:
            connection.execute(f"INSERT INTO {name} FROM memory.main.{name}")
        insert_rows(connection, READING, [self._reading])
        connection.execute("USE memory")
        connection.execute("DETACH written")

    def write_parquet(self, folder: Path) -> None:
        """Write each table as a Parquet file of its name into a new folder."""
        folder.mkdir()
        self._connection.execute(READING.ddl)
        insert_rows(self._connection, READING, [self._reading])
        for name in (*TABLES, READING.name):
            rows = self._connection.sql(f"FROM {name}")
            rows.write_parquet(str(folder / f"{name}.parquet"), compression="zstd")

    @property
    def _reading(self) -> tuple[str, str]:
        return (__version__, notes_as_text(self.notes))


def open_capture(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    max_expanded: int | None = None,
    cache: str | PathLike[str] | bool = True,
    max_cache: int = MAX_BYTES,
) -> CaptureDatabase:
    """The captures below some paths as tables, or the tables of a database that `convert` wrote.

    What is read of large captures is kept in a folder (`cache`; False: nowhere). Raises UsageError where there is no capture.
    """
    kept = cache_in(None if isinstance(cache, bool) else cache, max_cache) if cache is not False else None
    return CaptureDatabase(files_of(paths, max_expanded=max_expanded, cache=kept))


def save_captures(path: Path, to: Path, chosen: CacheOptions) -> Notes:
    """Write all tables of everything below a path: a DuckDB file, or a new folder of Parquet files where the name has no suffix.

    Where there is no capture nothing is written. Returns what is wrong with what was read. Raises AoeReportsError where it cannot be written, UsageError where the name is neither, or the
    folder exists.
    """
    if to.suffix not in {"", ".duckdb"}:
        raise UsageError(say("convert: expected a name that ends with .duckdb, or a folder for Parquet files"))
    if to.is_dir():
        raise UsageError(say("convert: {path} exists; name a new folder", path=to))
    to = Path(os.path.realpath(to))
    files = files_of(path, max_expanded=chosen.max_expanded, cache=chosen.chosen_cache)
    with CaptureDatabase(files) as database:
        if not database.is_empty:
            database.load()
            try:
                _write(database, to)
            except (OSError, *NOT_WRITTEN) as error:
                why = getattr(error, "strerror", None) or error
                raise AoeReportsError(say("{path}: cannot be written: {why}", path=to, why=why)) from error
            except duckdb.OutOfMemoryException as error:
                raise AoeReportsError(say("there is not enough memory")) from error
            except duckdb.Error as error:  # what is read is damaged, or was never ours
                files.discard()
                raise AoeReportsError(say("{path}: cannot be read: {why}", path=path, why=error)) from error
        return database.notes


def _write(database: CaptureDatabase, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    delete_left(to.parent, f".{to.name}-")
    unfinished, lock = make_owned(to.parent, f".{to.name}-", folder=True)
    try:
        result = unfinished / ("capture.duckdb" if to.suffix else "tables")
        (database.write_database if to.suffix else database.write_parquet)(result)
        result.replace(to)
    finally:
        delete(unfinished)
        os.close(lock)
