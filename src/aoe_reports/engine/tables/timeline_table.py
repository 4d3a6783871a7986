"""Fills `event` from a timeline in one pass of SQL, where every event is as exporters write them.

A timeline of 400 MB takes 7.0 CPU s and 280 MB so, in batches through numpy 8.5 CPU s and 410 MB. Anything out of the ordinary is an
OddFileError: then the events are read as all other questions read them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from aoe_reports.formats.trace.events import with_findings
from aoe_reports.formats.trace.json_list import has_both_ends
from aoe_reports.formats.trace.scan import glance_at
from aoe_reports.formats.trace.shape import Names, OddFileError, TimelineLook
from aoe_reports.formats.trace.sql import INEXACT, ODD, TIMED, events_of, frame_columns
from aoe_reports.model.findings import Finding
from aoe_reports.schema.tables import EVENT

FRAME = {"phase": "ph", "is_copy": "stage_row"}
"""What the frame of events calls columns of `event` that it names otherwise."""
OF_FILE = ("capture_id", "rank_id", "source_id", "event_number")
"""The columns of `event` that say where an event is from."""
READ = tuple(FRAME.get(name, name) for name in EVENT.names if name not in OF_FILE)
"""The columns of the frame that `event` is made of, in its order."""


def insert_plain(connection: duckdb.DuckDBPyConnection, path: Path, ids: dict[str, Any]) -> list[Finding]:
    """Insert the events of a plain timeline; `ids` are $capture, $rank and $source. Returns what is wrong with the file as a whole.

    Raises OddFileError, and leaves the table as it was.
    """
    if not has_both_ends(path) or not (glance := glance_at(path)).bare_numbers:
        raise OddFileError
    names, of_file = glance.names, {"source": ids["source"]}
    for _ in range(2):  # again where the first look has missed a name
        try:
            _insert(connection, path, names, ids)
            look = _look(connection, of_file)
        except (duckdb.Error, UnicodeError, OddFileError) as error:
            connection.execute("DELETE FROM event WHERE source_id = $source", of_file)
            raise OddFileError from error
        if look.names == names:
            connection.execute("DELETE FROM event WHERE source_id = $source AND phase = 'M'", of_file)
            return list(with_findings(path, look).findings)
        connection.execute("DELETE FROM event WHERE source_id = $source", of_file)
        names = look.names
    raise OddFileError


def _insert(connection: duckdb.DuckDBPyConnection, path: Path, names: Names, ids: dict[str, Any]) -> None:
    for table, named in (("named_process", names.processes), ("named_thread", names.threads)):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} (key VARCHAR, label VARCHAR)")
        if named:
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", list(named.items()))  # noqa: S608 -- of constants
    with path.open("rb") as file:
        connection.execute(_query(f"/dev/fd/{file.fileno()}"), ids)


def _query(source: str) -> str:
    """Metadata stays until the look is taken, with the name that it gives as its process; an odd event has no phase."""
    steps, columns = frame_columns(set(READ))
    events = TIMED.replace("{events}", events_of(source))
    # below the joins: beside them DuckDB would hold all rows to number them
    steps.append(
        {"number": "CAST(sum(CASE WHEN ph = 'M' THEN 0 ELSE 1 END) OVER (ROWS UNBOUNDED PRECEDING) AS BIGINT)"}
    )
    for step in steps:
        events = f"(SELECT *{''.join(f', {text} AS {name}' for name, text in step.items())} FROM {events})"  # noqa: S608 -- of constants
    keys = {name: columns[name] for name in ("process", "thread")}
    columns |= {
        "ph": f"CASE WHEN NOT ({ODD} OR coalesce({INEXACT}, false)) THEN ph END",
        "process": "CASE WHEN ph = 'M' THEN args ->> '$.name' ELSE named_process.label END",
        "thread": "named_thread.label",
        "start_ns": "start",
        "duration_ns": "duration",
    }
    return f"""
        INSERT INTO event SELECT $capture, $rank, $source, number, {", ".join(columns[name] for name in READ)} FROM {events}
        LEFT JOIN named_process ON named_process.key = {keys["process"]} LEFT JOIN named_thread ON named_thread.key = {keys["thread"]}
    """  # noqa: S608 -- of constants


def _look(connection: duckdb.DuckDBPyConnection, of_file: dict[str, Any]) -> TimelineLook:
    """The look at a file by its rows, metadata among them. Raises OddFileError where one of them is odd."""
    phases = dict(
        connection.execute("SELECT phase, count(*) FROM event WHERE source_id = $source GROUP BY 1", of_file).fetchall()
    )
    if not all(phase and len(phase) == 1 and phase.isascii() and phase.isalpha() for phase in phases):
        raise OddFileError
    copies = connection.execute("SELECT count(*) FROM event WHERE source_id = $source AND is_copy", of_file).fetchone()
    metadata = "SELECT name, pid, tid, process FROM event WHERE source_id = $source AND phase = 'M' ORDER BY rowid"
    names = Names()
    for row in connection.execute(metadata, of_file).fetchall():
        names.learn(*row)
    return TimelineLook(events=sum(phases.values()), phases=phases, stage_rows=copies[0] if copies else 0, names=names)
