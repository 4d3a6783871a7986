"""Captures as files of tables: one database file a part, from the cache or made when a query first needs it, or a database that is named."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path

from aoe_reports.engine.fleet.frozen import freeze
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import CACHE_DAMAGED, CACHE_NOT_USED
from aoe_reports.engine.runs import find_runs, memory_captures, numbered
from aoe_reports.engine.tables.cache import Cache
from aoe_reports.engine.tables.query_process import Attached
from aoe_reports.formats.sources.discovery import discover, refuse_missing
from aoe_reports.formats.sources.objects import ObjectPath, asked_path
from aoe_reports.formats.sources.owned import TemporaryFolder, delete
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.texts import join, say
from aoe_reports.model.version import __version__
from aoe_reports.schema.tables import READING, TABLES

MIN_BYTES = 16 << 20
"""Captures of smaller files are read anew: that takes a second."""
_SETTLED_NS = 2_000_000_000
"""A file that changed within this time may change again without another time: some file systems count in seconds."""
PART_OF = {
    "capture": "capture",
    "source": "capture",
    "task": "task",
    "operator": "task",
    "step": "step",
    "event": "event",
    "event_args": "event_args",
    "memory_event": "memory",
    "memory_sample": "memory",
}
"""The part in which each table is."""
_OF_READING = frozenset({"finding", "loaded"})
"""The tables that say what was read: they are about steps, tasks, events and memory, whatever else a query needs."""

Attach = Callable[[Path], Attached]


class CaptureFiles:
    """The parts of some captures."""

    def __init__(self, paths: Sequence[Path], max_expanded: int | None, cache: Cache | None) -> None:
        """Find the captures. Raises UsageError where there are none, and nothing says why."""
        found = discover(paths, max_expanded=max_expanded)
        self.notes = Notes(list(found.findings), found.unreadable)
        """What is wrong with what was read so far."""
        self._captures = numbered([*find_runs(found), *((capture,) for capture in memory_captures(found))])
        for capture in self._captures:
            self.notes.add(capture.capture.findings)
        if not self._captures and not self.notes.findings:
            raise UsageError(say("no capture below {paths}", paths=join(", ", map(str, paths))))
        self._first = list(self.notes.findings)
        paths_found = (file.path for file in found.files)
        self._found = [path for path in paths_found if not isinstance(path, ObjectPath)]  # an object has its version
        self._found += [path for path in paths if not isinstance(path, ObjectPath) and path.is_file()]  # archives
        self._attached: set[str] = set()
        self._folder: TemporaryFolder | None = None
        self._states = self._states_now()
        self._cache = cache if self._is_worth_keeping() else None
        if self._cache is not None:
            try:
                self._cache.check()
                self._key = self._key_now()
            except AoeReportsError as error:
                self._give_up_cache(error)

    @property
    def is_empty(self) -> bool:
        return not self._captures

    def attach(self, tables: Collection[str], attach: Attach) -> None:
        """Have the files attached that hold some tables; what is wrong with what was read for them is in the notes."""
        parts = {PART_OF[name] for name in tables if name in PART_OF}
        if _OF_READING.intersection(tables):
            parts |= {"capture", "step", "task", "event", "memory"}
        if "event_args" in parts:
            parts |= {"event"}  # which says what is wrong with the files
        for part in sorted(parts - self._attached):
            self.notes.take(self._attach(part, attach))
            self._attached.add(part)

    def discard(self) -> bool:
        """Delete what the cache has of these captures: a part of it is damaged. Returns whether there is a cache."""
        if self._cache is not None:
            for part in set(PART_OF.values()):
                delete(self._cache.folder / f"{self._key}-{part}.duckdb")
        return self._cache is not None

    def _attach(self, part: str, attach: Attach) -> Notes:
        kept = self._cache.find(f"{self._key}-{part}.duckdb") if self._cache is not None else None
        if kept is not None:
            notes, why = _notes_of(attach(kept))
            if notes is not None:
                return notes
            self.notes.add([CACHE_DAMAGED.found(str(kept), say("cannot be used ({why}); read anew", why=why))])
            delete(kept)
        file = self._written(part)
        notes, why = _notes_of(attach(file))
        if notes is None:
            raise AoeReportsError(say("{path}: cannot be read: {why}", path=file, why=why))
        if self._folder is not None and file.parent == self._folder.path:
            delete(file)  # whoever attached it has it open
        return notes

    def _written(self, part: str) -> Path:
        """A new file of a part, in the cache where that can be done."""
        from aoe_reports.engine.tables.loading import write_part  # noqa: PLC0415 -- duckdb
        from aoe_reports.engine.tables.table_database import NOT_WRITTEN  # noqa: PLC0415 -- duckdb

        try:
            self._folder = self._folder or TemporaryFolder(self._cache.folder if self._cache else None)
            file = self._folder.path / (f"{self._key}-{part}.duckdb" if self._cache else f"{part}.duckdb")
            notes = Notes([*self._first] if part == "capture" else [])
            write_part(file, part, self._captures, notes)
            is_kept = self._cache is not None and not notes.unreadable and self._states == self._states_now()
            return self._cache.keep(file) if self._cache is not None and is_kept else file
        except (OSError, *NOT_WRITTEN) as error:
            why = getattr(error, "strerror", None) or error
            if self._cache is None:
                where = "" if self._folder is None else self._folder.path
                raise AoeReportsError(say("{path}: cannot be written: {why}", path=where, why=why)) from error
            self._give_up_cache(why)
        self._folder = None
        return self._written(part)

    def _give_up_cache(self, why: object) -> None:
        assert self._cache is not None
        message = say("the cache is not used: {why}", why=str(why))
        self.notes.add([CACHE_NOT_USED.found(str(self._cache.folder), message)])
        self._cache = None

    def _key_now(self) -> str:
        """A hash of all that the tables depend on: files, options, versions."""
        captures = freeze([capture.capture for capture in self._captures])
        findings = [one.as_fields() for one in self._first]
        key = [__version__, version("duckdb"), str(TABLES), str(READING), self._states, findings, captures]
        return sha256(json.dumps(key).encode()).hexdigest()

    def _states_now(self) -> list[tuple[str, list[int]]]:
        """Where the files are, and what changes with them; a database may have others beside it."""
        beside = [Path(f"{path}{end}") for path in self._found if path.suffix == ".db" for end in ("-wal", "-journal")]
        return [(os.path.abspath(path), _state_of(path)) for path in (*self._found, *beside)]

    def _is_worth_keeping(self) -> bool:
        """Whether the captures are large, all of them could be found, and their files will have another time when they change."""
        size = sum(file.size for capture in self._captures for file in capture.capture.files)
        newest = max((state[1] for _, state in self._states if state), default=0)
        return size >= MIN_BYTES and not self.notes.unreadable and newest < time.time_ns() - _SETTLED_NS


class NamedDatabase:
    """A database that somebody names: `convert` has written it, as a file or as a folder of Parquet files."""

    is_empty = False

    def __init__(self, path: Path) -> None:
        """Keep where it is."""
        self.notes = Notes()
        """What was wrong with what was read into it."""
        self._path = path
        self._is_attached = False

    def discard(self) -> bool:
        """Leave it: it is not ours."""
        return False

    def attach(self, tables: Collection[str], attach: Attach) -> None:
        """Have it attached, once. Raises UsageError where it is none of ours."""
        del tables
        if self._is_attached:
            return
        attached = attach(self._path)
        notes, why = _notes_of(attached)
        if absent := [name for name in TABLES if name not in attached.tables]:
            notes, why = None, why or say("it has no table {name}", name=absent[0])
        if notes is None:
            raise UsageError(say("{path}: no tables of captures that `convert` wrote: {why}", path=self._path, why=why))
        self.notes.take(notes)
        self._is_attached = True


def files_of(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]], *, max_expanded: int | None, cache: Cache | None
) -> CaptureFiles | NamedDatabase:
    """The tables of all captures below some paths, or of one database. Raises UsageError where there are none."""
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    places = [asked_path(path) for path in several]
    named = [place for place in places if _is_database(place)]
    refuse_missing(places)
    if not named:
        return CaptureFiles(places, max_expanded, cache)
    if len(places) > 1:
        raise UsageError(say("{path}: a database is read alone, not with other paths", path=named[0]))
    return NamedDatabase(named[0])


def _is_database(path: Path) -> bool:
    if isinstance(path, ObjectPath):
        return False
    return (path.suffix == ".duckdb" and path.is_file()) or (path / f"{READING.name}.parquet").is_file()


def _state_of(path: Path) -> list[int]:
    try:
        found = path.stat()
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def notes_as_text(notes: Notes) -> str:
    return json.dumps([notes.unreadable, [finding.as_fields() for finding in notes.findings]])


def _notes_of(attached: Attached) -> tuple[Notes | None, str]:
    """(what a file says of its reading, None where it is not whole or not ours; why)."""
    if attached.why or attached.notes is None:
        return None, attached.why or say("it does not say that it is complete")
    try:
        unreadable, fields = json.loads(attached.notes)
        findings = [Finding.from_fields(field) for field in fields]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return None, str(error)
    if not all(map(_is_sound, findings)):
        return None, say("its findings are none")
    return Notes(findings, bool(unreadable)), ""


def _is_sound(finding: Finding) -> bool:
    texts = (finding.rule, finding.path, finding.message)
    numbers = (finding.line, finding.column)
    return (
        finding.severity in SEVERITIES
        and all(isinstance(text, str) for text in texts)
        and all(number is None or type(number) is int for number in numbers)
        and (finding.pointer is None or isinstance(finding.pointer, str))
    )
