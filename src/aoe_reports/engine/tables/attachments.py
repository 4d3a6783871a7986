"""Files with tables that a query can read: attached read-only, compared with the declarations, seen through views."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from glob import escape
from pathlib import Path

import duckdb

from aoe_reports.engine.tables.query_process import Attached
from aoe_reports.model.texts import say
from aoe_reports.schema.tables import ADDED_LATER, READING

_MAX_NOTES = 1 << 26
"""Characters of what a file says of its reading: some findings of each file."""


class Attachments:
    """The views of a connection to a database in memory, one a table: its rows in all files that hold it, each once.

    Of a file only base tables are read that are exactly as they are declared: a view or a macro of that name in it is not used.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, str]) -> None:
        """Of tables by name, with the statements that create them."""
        self._connection = connection
        self._relations: defaultdict[str, list[str]] = defaultdict(list)
        self._paths: list[str] = []
        connection.execute("ATTACH ':memory:' AS declared; USE declared")
        for statements in {**tables, READING.name: READING.ddl}.values():
            connection.execute(statements)
        connection.execute("USE memory")
        self._declared = self._tables_in("declared")

    def add(self, path: Path) -> Attached:
        """Attach a database file, or a folder of Parquet files named as tables."""
        path = path.absolute()  # else DuckDB may take its beginning for the name of an extension
        self._paths.append(str(path))
        catalog = f"file_{len(self._paths)}"
        try:
            if path.is_dir():
                relations = dict(self._parquet_files(path))
            else:
                self._connection.execute(f"ATTACH {_quoted(str(path))} AS {catalog} (READ_ONLY, TYPE duckdb)")
                relations = {name: f"{catalog}.main.{name}" for name in self._base_tables(catalog)}
            notes = self._notes_in(relations)
            relations |= self._empty_tables(relations)
            self._see(relations)
        except duckdb.OutOfMemoryException:  # which says nothing of the file
            raise
        except (duckdb.Error, ValueError) as error:
            self._connection.execute(f"DETACH DATABASE IF EXISTS {catalog}")
            return Attached(error.args[0] if error.args else type(error).__name__)
        return Attached("", notes, tuple(relations))

    def lock(self) -> None:
        """From now on no other file can be opened, and no setting changed."""
        parquet = [str(Path(path) / f"{name}.parquet") for path in self._paths for name in self._declared]
        allowed = [*parquet, *map(escape, parquet)]  # DuckDB looks at the pattern, and at what fits it
        self._connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, allowed))}]")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _tables_in(self, catalog: str) -> dict[str, str]:
        """The base tables of a database, with the statement that would create each."""
        found = self._connection.execute(
            "SELECT table_name, sql FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main'", [catalog]
        )
        return dict(found.fetchall())

    def _base_tables(self, catalog: str) -> list[str]:
        found = self._tables_in(catalog)
        names = [name for name in self._declared if name in found]
        for name in names:
            if found[name] != self._declared[name]:
                raise ValueError(_another(name))
        return names

    def _parquet_files(self, folder: Path) -> Iterable[tuple[str, str]]:
        for name in self._declared:
            file = folder / f"{name}.parquet"
            if file.is_file():
                relation = f"read_parquet({_quoted(escape(str(file)))}, hive_partitioning = false, filename = false)"
                if self._columns_of(relation) != self._columns_of(f"declared.main.{name}"):
                    raise ValueError(_another(name))
                yield name, relation

    def _empty_tables(self, relations: Mapping[str, str]) -> dict[str, str]:
        """Empty ones for the tables that an earlier version did not write yet, where a file has all others."""
        absent = self._declared.keys() - relations.keys() - {READING.name}
        return {name: f"declared.main.{name}" for name in absent} if absent <= ADDED_LATER else {}

    def _columns_of(self, relation: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._connection.execute(f"DESCRIBE FROM {relation}").fetchall()]

    def _notes_in(self, relations: dict[str, str]) -> str | None:
        """What a file says of its reading, in the one row of the table that is written last."""
        relation = relations.pop(READING.name, None)
        if relation is None:
            return None
        rows = self._connection.execute(
            f"SELECT notes FROM {relation} WHERE length(notes) < {_MAX_NOTES} LIMIT 2"
        ).fetchall()
        return str(rows[0][0]) if len(rows) == 1 else None

    def _see(self, relations: dict[str, str]) -> None:
        for name, relation in relations.items():
            self._relations[name].append(relation)
            every = " UNION ".join(f"FROM {one}" for one in self._relations[name])
            self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS {every}")


def _another(name: str) -> str:
    return say("the table {name} has other columns than in this version", name=name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
