"""CaptureDatabase: some captures as tables of DuckDB, each loaded when it is first needed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from aoe_reports.engine.captures import find_runs, label_of
from aoe_reports.engine.loading import LoadedCapture, load_event_args, load_events, load_steps, load_tasks
from aoe_reports.engine.question import Notes
from aoe_reports.engine.table_database import NOT_WRITTEN, TableDatabase
from aoe_reports.formats.discovery import discover
from aoe_reports.formats.objects import asked_path
from aoe_reports.formats.owned import RANDOM, delete, left, make_owned
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.schema.tables import CAPTURE, FINDING, SOURCE, TABLES

_LOADERS = {
    "task": load_tasks,
    "operator": load_tasks,
    "step": load_steps,
    "event": load_events,
    "event_args": load_event_args,
}
_OF_READING = frozenset({"finding", "loaded"})
"""The tables that say what was read: asked for alone, they are about steps and tasks."""


class CaptureDatabase(TableDatabase):
    """Captures as tables (docs/sql.md)."""

    def __init__(self, captures: Sequence[LoadedCapture], notes: Notes, into: Path | None) -> None:
        """Create the tables, with what is known without reading a table of a profiler."""
        super().__init__(TABLES, notes, into)
        self.captures = captures
        self._loaded: set[Any] = set()
        self.insert_rows(CAPTURE, [capture.row for capture in captures])
        self.insert_rows(SOURCE, [row for capture in captures for row in capture.source_rows])

    def load(self, names: Iterable[str] = TABLES) -> None:
        """Load tables that are not loaded yet. Files that cannot be read are findings."""
        wanted = {*names}
        if wanted & _OF_READING:
            wanted |= {"step", "task"}
        if "event_args" in wanted:
            wanted |= {"event"}  # says what is wrong with the files
        loaders = dict.fromkeys(loader for name, loader in _LOADERS.items() if name in wanted)
        for loader in [loader for loader in loaders if loader not in self._loaded]:
            for capture in self.captures:
                with self.notes.where_unreadable(capture.capture.root):
                    self.notes.add(loader(self._connection, capture))
            self._loaded.add(loader)
        self._connection.execute("DELETE FROM finding")
        self.insert_rows(FINDING, [*map(_finding_row, self.findings)])

    def write_parquet(self, folder: Path) -> None:
        """Write each table as a Parquet file of its name into a new folder."""
        folder.mkdir()
        for name in TABLES:
            self._connection.table(name).write_parquet(str(folder / f"{name}.parquet"), compression="zstd")


def open_capture(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    max_expanded: int | None = None,
    into: Path | None = None,
) -> CaptureDatabase:
    """The captures below some paths as tables in memory, or in a new file. Raises UsageError where there are none."""
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    places = [asked_path(path) for path in several]
    found = discover(places, max_expanded=max_expanded)
    notes = Notes(list(found.findings), found.unreadable)
    captures: list[LoadedCapture] = []
    for members in find_runs(found):
        for capture in members:
            notes.add(capture.findings)
            first = 1 + sum(len(one.files) for one in captures)
            captures.append(LoadedCapture(len(captures) + 1, first, label_of(members), capture))
    if not captures and not notes.findings:
        raise UsageError(say("no capture below {paths}", paths=join(", ", map(str, places))))
    return CaptureDatabase(captures, notes, into)


def save_captures(path: Path, to: Path, *, max_expanded: int | None = None) -> Notes:
    """Write all tables of everything below a path: a DuckDB file, or a new folder of Parquet files where the name has no suffix.

    Where there is no capture nothing is written. Returns what is wrong with what was read. Raises AoeReportsError where it cannot be written, UsageError where the name is neither, or the
    folder exists.
    """
    if to.suffix not in {"", ".duckdb"}:
        raise UsageError(say("convert: expected a name that ends with .duckdb, or a folder for Parquet files"))
    if to.is_dir():
        raise UsageError(say("convert: {path} exists; name a new folder", path=to))
    to = Path(os.path.realpath(to))
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        _delete_left(to)
        unfinished, lock = make_owned(to.parent, f".{to.name}-", folder=True)
        try:
            result = unfinished / "capture.duckdb"
            with open_capture(path, max_expanded=max_expanded, into=result) as database:
                if not database.captures:
                    return database.notes
                database.load()
                database.checkpoint()
                if not to.suffix:
                    result = unfinished / "tables"
                    database.write_parquet(result)
            result.replace(to)
        finally:
            delete(unfinished)
            os.close(lock)
    except (OSError, *NOT_WRITTEN) as error:
        why = getattr(error, "strerror", None) or error
        raise AoeReportsError(say("{path}: cannot be written: {why}", path=to, why=why)) from error
    return database.notes


def _delete_left(to: Path) -> None:
    """Delete what killed runs have left of this file."""
    mark = re.compile(re.escape(f".{to.name}-") + RANDOM)
    for place in [place for place in to.parent.iterdir() if mark.fullmatch(place.name)]:
        with left(place) as is_left:
            if is_left:
                delete(place)


def _finding_row(finding: Finding) -> tuple[Any, ...]:
    return (
        finding.severity,
        finding.rule,
        finding.path,
        finding.line,
        finding.column,
        finding.pointer,
        str(finding.message),
    )
