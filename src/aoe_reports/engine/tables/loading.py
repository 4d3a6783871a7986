"""Fills the tables of a capture database: one function for the tables that one reading gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import collect_events_of_file, read_steps_noting, read_tasks
from aoe_reports.engine.memory import memory_files
from aoe_reports.engine.question import Notes
from aoe_reports.engine.runs import LoadedCapture
from aoe_reports.engine.tables.capture_files import PART_OF, notes_as_text
from aoe_reports.engine.tables.table_database import MEMORY_LIMIT, insert_rows, whole_or_not
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.tasks import TASK_COLUMNS, filled_up
from aoe_reports.formats.vendor import TASK_TYPES
from aoe_reports.model.arrays.columns import column_of
from aoe_reports.model.findings import Finding, in_order
from aoe_reports.model.version import __version__
from aoe_reports.schema import tables as schema
from aoe_reports.schema.table import Table

_FIELDS = frozenset(TASK_COLUMNS)


def write_part(file: Path, part: str, captures: Sequence[LoadedCapture], notes: Notes) -> None:
    """Write a part of some captures as a new database file. What is found is added to the notes; a file that cannot be read is a finding."""
    with duckdb.connect(str(file), config={"memory_limit": MEMORY_LIMIT}) as connection:
        tables = [schema.TABLES[name] for name, place in PART_OF.items() if place == part]
        with whole_or_not(connection):  # one transaction: a comment that is one itself is written to the disk at once
            for table in (*tables, schema.LOADED, schema.FINDING, schema.READING):
                connection.execute(table.ddl)
        for capture in captures:
            with notes.where_unreadable(capture.capture.root):
                _LOADERS[part](connection, capture, notes)
        insert_rows(connection, schema.FINDING, [*map(_finding_row, in_order(notes.findings))])
        insert_rows(connection, schema.READING, [(__version__, notes_as_text(notes))])
        connection.execute("CHECKPOINT")  # closing does it, too, but says nothing where the disk is full


def load_capture(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `capture` and `source` with what is known without reading a table of a profiler."""
    del notes
    insert_rows(connection, schema.CAPTURE, [loaded.row])
    insert_rows(connection, schema.SOURCE, loaded.source_rows)


def load_tasks(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `task` and `operator` with the tasks that questions read."""

    def each(file: FoundFile, data: TableData) -> TableData:
        number = loaded.source_of(file)
        counts = (number, "task", data.rows_read, data.frame.num_rows, data.rows_reported)
        insert_rows(connection, schema.LOADED, [counts])
        return _with_source(data, number)

    sets, tables = read_tasks(loaded.capture, _FIELDS, by_type=False, all_tasks=True, each=each)
    with whole_or_not(connection):
        for tasks in sets:
            _insert_tasks(connection, loaded.number, tasks)
    notes.add(finding for data in tables for finding in data.findings)


def _with_source(data: TableData, number: int) -> TableData:
    """The rows with the file, the row and the line that each comes from."""
    count = data.frame.num_rows
    known = np.ones(count, dtype=bool)
    rows = np.arange(count, dtype=np.int64) if data.rows is None else data.rows
    lines = rows + 2 if data.lines is None else data.lines.take(rows)
    frame = data.frame.append_column("source_id", column_of(np.full(count, number, dtype=np.int64), known))
    frame = frame.append_column("source_row", column_of(rows + 1, known))
    return data.with_frame(frame.append_column("source_line", column_of(lines, known & data.is_text)))


_OPERATOR = {"name": "op_name", "type": "op_type", "state": "op_state"} | {
    name: name for name in schema.OPERATOR.names if name.startswith(("input_", "output_"))
}
"""The columns of `operator`, and what readers call them."""


def _insert_tasks(connection: duckdb.DuckDBPyConnection, capture: int, tasks: TaskSet) -> None:
    same = " AND ".join(f"operator.{name} IS NOT DISTINCT FROM frame.{field}" for name, field in _OPERATOR.items())
    fields = ", ".join(f"{field} AS {name}" for name, field in _OPERATOR.items())
    order = ", ".join(f"{name} NULLS FIRST" for name in _OPERATOR)
    connection.register("frame", filled_up(tasks.frame, _FIELDS)[0])
    connection.execute(f"""
        INSERT INTO operator
        SELECT (SELECT count(*) FROM operator) + row_number() OVER (ORDER BY {order}), *
        FROM (SELECT DISTINCT {fields} FROM frame EXCEPT SELECT * EXCLUDE (operator_id) FROM operator)
    """)
    connection.execute(
        f"""
        INSERT INTO task
        SELECT $capture, $rank, frame.device_id, model_id, step, stream_id, task_id, context_id, task_type,
            CASE WHEN task_type IN $communication THEN 'communication'
                WHEN task_type IS NULL OR task_type IN $compute THEN 'compute' ELSE 'other' END,
            operator_id, task_start_ns, task_duration_ns, task_start_ns + task_duration_ns, task_wait_ns, block_num, mix_block_num,
            source_id, source_row, source_line
        FROM frame JOIN operator ON {same}
        ORDER BY source_id, source_row
        """,
        {
            "capture": capture,
            "rank": tasks.rank_id,
            "communication": sorted(TASK_TYPES.communication),
            "compute": sorted(TASK_TYPES.compute),
        },
    )
    connection.unregister("frame")


def load_steps(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `step` from the best source of steps."""
    steps = read_steps_noting(loaded.capture, notes.findings)
    _, *names = schema.STEP.names
    insert_rows(connection, schema.STEP, [(loaded.number, *(getattr(step, name) for name in names)) for step in steps])


def load_memory(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `memory_event` and `memory_sample` with what every file records, each file whole."""
    for file in memory_files(loaded.capture, notes):
        source, counts = loaded.source_of(file.file), Counter[str]()
        with whole_or_not(connection):
            for recording in file.recordings:
                ids = {
                    "capture_id": loaded.number,
                    "rank_id": recording.rank_id,
                    "device_id": recording.device_id,
                    "process_id": recording.process,
                    "source_id": source,
                }
                for table, frame in (
                    (schema.MEMORY_EVENT, recording.events),
                    (schema.MEMORY_SAMPLE, recording.samples),
                ):
                    _insert_memory(connection, table, frame, ids)
                    counts[table.name] += frame.num_rows
        rows = [(source, table, read, counts[table], reported) for table, (read, reported) in file.rows.items()]
        insert_rows(connection, schema.LOADED, rows)


def _insert_memory(
    connection: duckdb.DuckDBPyConnection, table: Table, frame: pa.Table, ids: dict[str, int | None]
) -> None:
    """Rows of one recording, with the numbers that are the same in all of them."""
    columns = [f"${name}::BIGINT" if name in ids else name for name in table.names]
    connection.register("frame", frame)
    connection.execute(f"INSERT INTO {table.name} SELECT {', '.join(columns)} FROM frame", ids)
    connection.unregister("frame")


def load_events(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `event` from every timeline, and every database that has events; one that cannot be read costs no other."""
    columns = f"$capture, $rank, $source, $before + row_number() OVER (), {', '.join(_READ)}"
    for file in loaded.event_files:
        ids = {"capture": loaded.number, "rank": loaded.capture.info.rank_id, "source": loaded.source_of(file)}
        with notes.where_unreadable(file.path):
            notes.add(_insert_events(file, _READ, partial(_Inserted, connection, "event", columns, ids)))
        counted = "SELECT $source, 'event', count(*), count(*), 0 FROM event WHERE source_id = $source"
        connection.execute(f"INSERT INTO loaded {counted}", {"source": ids["source"]})


_FRAME = {"phase": "ph", "is_copy": "stage_row"}
"""What the frame of events calls columns of `event` that have another name there."""
_READ = tuple(
    _FRAME.get(name, name)
    for name in schema.EVENT.names
    if name not in {"capture_id", "rank_id", "source_id", "event_number"}
)
"""The columns of the frame that `event` takes, in its order."""


class _Inserted:
    """The rows of a file in a table: a collector of its events. A new one deletes what another has inserted.

    It needs no transaction, which would hold all rows in memory.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: str, columns: str, ids: dict[str, Any]) -> None:
        self._connection, self._ids, self._before = connection, ids, 0
        self._insert = f"INSERT INTO {table} SELECT {columns} FROM batch"
        connection.execute(f"DELETE FROM {table} WHERE source_id = $source", {"source": ids["source"]})

    def add(self, batch: pa.RecordBatch) -> None:
        self._connection.register("batch", batch)
        self._connection.execute(self._insert, {**self._ids, "before": self._before})
        self._connection.unregister("batch")
        self._before += batch.num_rows


def _insert_events(file: FoundFile, read: Sequence[str], new: Callable[[], _Inserted]) -> list[Finding]:
    """Insert all events of a file or none. Returns what is wrong with it."""
    try:
        return collect_events_of_file(file, read, new, in_full=True)[1]
    except BaseException:
        new()
        raise


def load_event_args(connection: duckdb.DuckDBPyConnection, loaded: LoadedCapture, notes: Notes) -> None:
    """Fill `event_args` as `load_events` fills `event`, which says what is wrong with the files."""
    columns = "$source, $before + row_number() OVER (), args"
    for file in loaded.event_files:
        ids = {"source": loaded.source_of(file)}
        with notes.where_unreadable(file.path):
            _insert_events(file, ["args"], partial(_Inserted, connection, "event_args", columns, ids))
    connection.execute("DELETE FROM event_args WHERE args IS NULL")


def _finding_row(finding: Finding) -> tuple[Any, ...]:
    one = finding
    return (one.severity, one.rule, one.path, one.line, one.column, one.pointer, str(one.message))


_LOADERS: dict[str, Callable[[duckdb.DuckDBPyConnection, LoadedCapture, Notes], None]] = {
    "capture": load_capture,
    "task": load_tasks,
    "step": load_steps,
    "event": load_events,
    "event_args": load_event_args,
    "memory": load_memory,
}
"""What fills the tables of each part."""
