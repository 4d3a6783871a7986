"""StoreDatabase: a store of nights as tables of DuckDB, each loaded when it is first needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.question import Notes, Stream
from aoe_reports.engine.tables.query_process import Limits, started
from aoe_reports.engine.tables.sql import SqlOptions
from aoe_reports.engine.tables.table_database import NOT_WRITTEN, TableDatabase, insert_frame, insert_rows, whole_or_not
from aoe_reports.formats.records.metrics import metrics_in
from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.history.options import AlarmOptions, HistoryOptions, RegressionOptions
from aoe_reports.history.runs.listing import list_history
from aoe_reports.history.runs.stored_advice import listed_rows
from aoe_reports.model.arrays.columns import column_of, scalar
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.history.changes import MEMORY
from aoe_reports.model.options import declared
from aoe_reports.model.texts import say
from aoe_reports.schema import store_tables as schema
from aoe_reports.schema.table import Table
from aoe_reports.store import History
from aoe_reports.store.layout import HEADER_COLUMNS, RANK_KIND, headers_of

if TYPE_CHECKING:
    from aoe_reports.history.changes.regressions import Regressions

_KINDS = {"record": "record", "rank_record": RANK_KIND, "run_finding": "finding"}
"""The tables whose columns are columns of the store, with the kind of its rows."""
_STORED = {"mean_ms": "runtime_ms_mean", "std_ms": "runtime_ms_std", "column_number": "column"}
"""What these columns are called in the store, where they have another name there."""
_NUMBER = "record_id"
_FACTS = ("engine", "engine_version", "hardware_config", "runtime_config")
_ROWS_AT_ONCE = 50_000
_Cells = tuple[Any, ...]


class StoreDatabase(TableDatabase):
    """A store as tables (docs/sql.md), as it is when it is opened."""

    def __init__(self, history: History, alarms: AlarmOptions, into: Path | None) -> None:
        """Create the tables, all empty."""
        super().__init__(schema.STORE_TABLES, into)
        self.notes = Notes()
        self.history = history
        self._alarms = alarms
        self._loaded: set[str] = set()
        for table in self.tables.values():
            self._connection.execute(table.ddl)

    def load(self, names: Iterable[str] = schema.STORE_TABLES) -> None:
        """Load tables that are not loaded yet. Rows that cannot be used are left out with a LeftOutWarning. Raises StoreError."""
        wanted = {*names} - self._loaded
        for table in [table for table in self.tables.values() if table.name in wanted]:
            with whole_or_not(self._connection):
                self._fill(table)
            self._loaded.add(table.name)

    def _fill(self, table: Table) -> None:
        if table.name in _KINDS:
            names = [name for name in table.names if name != _NUMBER]
            for rows in _numbered(self.history, _KINDS[table.name], [_STORED.get(name, name) for name in names]):
                frame = rows.rename_columns([*names, _NUMBER]).select([*table.names])
                insert_frame(self._connection, table, frame)
            return
        cells = _ROWS[table.name](self)
        while some := [*islice(cells, _ROWS_AT_ONCE)]:
            insert_rows(self._connection, table, some)

    def checkpoint(self) -> None:
        """Write what is not in the file yet: closing does it, too, but says nothing where the disk is full."""
        self._connection.execute("CHECKPOINT")

    @cached_property
    def regressions(self) -> Regressions:
        """What `regressions --all` answers; its findings become those of the database."""
        from aoe_reports.history.changes.regressions import find_regressions  # noqa: PLC0415 -- polars

        alarms = {one.name: getattr(self._alarms, one.name) for one in declared(AlarmOptions)}
        answer = find_regressions(self.history, RegressionOptions(every=True, **alarms))
        self.notes.add(answer.findings)
        return answer


def _numbered(history: History, kind: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Rows file by file, the last column their number, from 1: the same one whichever columns are read."""
    first = 1
    for rows in history.coded_rows(kind, columns):
        numbers = np.arange(first, first + rows.num_rows)
        yield rows.append_column(_NUMBER, column_of(numbers, np.ones(rows.num_rows, dtype=bool)))
        first += rows.num_rows


def _runs(database: StoreDatabase) -> Iterator[_Cells]:
    rows = database.history.rows("run", (*HEADER_COLUMNS, *_FACTS))
    facts = {row["run_id"]: {name: row[name] for name in _FACTS} for row in rows.to_pylist()}
    for run in headers_of(rows):
        known = {"kind": run.run_kind, "members": len(run.members), "rows_read": run.rows, **facts[run.run_id]}
        yield _cells(schema.RUN, run, known)


def _metrics(database: StoreDatabase) -> Iterator[_Cells]:
    from aoe_reports.history.series.metrics import metric_series_id  # noqa: PLC0415 -- polars

    read = lru_cache(maxsize=4096)(metrics_in)
    names = ("run_id", "source", "scope", "series_id", "metrics")
    for rows in _numbered(database.history, "record", names):
        some = rows.filter(pc.not_equal(rows["metrics"], scalar("{}")))
        cells = zip(*(some[name].to_pylist() for name in (_NUMBER, *names)), strict=True)
        for number, run_id, source, scope, series_id, text in cells:
            has_series = source == "foreign" or scope == MEMORY
            for one in read(text):
                series = metric_series_id(series_id, one.name) if has_series else None
                yield number, run_id, one.name, one.value, one.told.unit, one.told.better, series


def _advice(database: StoreDatabase) -> Iterator[_Cells]:
    for row in listed_rows(database.history, (), None):
        yield _cells(schema.ADVICE, row, {"run_id": row.run})


def _verdicts(database: StoreDatabase) -> Iterator[_Cells]:
    found = database.regressions
    labels = found.detected.judged.histories.labels
    for row in found.rows:
        known = {"model": labels[found.places[row.series_id]].model, "is_new": row.new, "is_ended": row.ended}
        known["acknowledgement_id"] = None if row.acknowledged is None else row.acknowledged.id
        yield _cells(schema.VERDICT, row, known)


def _changes(database: StoreDatabase) -> Iterator[_Cells]:
    for row in database.regressions.rows:
        for change in row.moves:
            yield _cells(schema.CHANGE, change, {"series_id": row.series_id})


def _acknowledgements(database: StoreDatabase) -> Iterator[_Cells]:
    said: Sequence[Mapping[str, Any]] = list_history(database.history, "acks", HistoryOptions()).mappings()
    revoked = {name for row in said if row["state"] == "revoked" for name in row.get("ids") or ()}
    for row in said:
        name = row.get("id")
        known = {**row, "acknowledgement_id": name, "run_id": row.get("run"), "is_revoked": name in revoked}
        yield tuple(map(known.get, schema.ACKNOWLEDGEMENT.names))


_ROWS: Mapping[str, Callable[[StoreDatabase], Iterator[_Cells]]] = {
    "run": _runs,
    "metric": _metrics,
    "advice": _advice,
    "verdict": _verdicts,
    "change": _changes,
    "acknowledgement": _acknowledgements,
}


def _cells(table: Table, row: object, known: Mapping[str, Any]) -> _Cells:
    cells = [
        (column.type, known[column.name] if column.name in known else getattr(row, column.name))
        for column in table.columns
    ]
    return tuple(None if kind == "BIGINT" and not isinstance(value, int) else value for kind, value in cells)


_ALARMS = AlarmOptions()


def open_store(
    uri: str | os.PathLike[str], alarms: AlarmOptions = _ALARMS, *, into: Path | None = None
) -> StoreDatabase:
    """A store as tables in memory, or in a new file; `alarms` as those of `regressions`. Raises StoreError where there is none."""
    return StoreDatabase(History.open(str(uri)), alarms, into)


@contextmanager
def query_store(uri: str, query: str, chosen: SqlOptions, alarms: AlarmOptions = _ALARMS) -> Iterator[Stream]:
    """The rows of a query over a store. Raises UsageError where the query is wrong or not allowed."""
    with started(query, schema.STORE_TABLES.values(), Limits(chosen.max_memory, chosen.deadline)) as process:
        folder = TemporaryFolder()
        file = folder.path / "store.duckdb"
        try:
            with open_store(uri, alarms, into=file) as database:
                database.load(process.tables())
                database.checkpoint()
        except NOT_WRITTEN as error:
            raise AoeReportsError(say("{path}: cannot be written: {why}", path=file, why=error)) from error
        if why := process.attach(file).why:
            raise AoeReportsError(say("{path}: cannot be read: {why}", path=file, why=why))
        columns, batches = process.rows()
        yield Stream(command="sql", inputs=(uri,), batches=batches, notes=database.notes, schema=columns)
