"""Tells what one file is: by its name, and where others may be called so, too, by its head."""

from __future__ import annotations

import csv
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aoe_reports.errors import of_the_system
from aoe_reports.findings import Finding
from aoe_reports.readers.names import (
    ARCHIVE,
    DEVICE_FOLDER,
    FRAMEWORK_FOLDER,
    INFO_KINDS,
    MERGED_FOLDER,
    NO_TABLES,
    FileName,
    Source,
    is_plain_word,
    parse_name,
    tables_of_name,
)
from aoe_reports.tables import TABLES, Table, table_among, table_of_header
from aoe_reports.texts import say

HEAD_BYTES = 64 * 1024
"""How much of a file may be looked at to tell what it is."""

MAX_EXPANDED_BYTES = 1 << 30
"""How far one compressed file may expand unless told otherwise."""

SPARSE_FROM_BYTES = 256 << 20
"""A text of this size that was never written as a whole is not read: a hole costs nothing to make, and hours to read."""

TABLES_OF_TIMELINES = frozenset({"step_trace", "task_time"})
"""Tables whose rows can be told from the timeline of the same name."""


_LOOKED_INTO = frozenset({".csv", ".json", ".jsonl"})
_RECORD = re.compile(r'"runtime_ms_mean"\s*:')
"""Every benchmark log record (schema v0.1) has it; quoted inside of a text, as in a Delta log, it looks otherwise."""
_OUTPUT = re.compile(r'\{\s*"command"\s*:')
"""What a command of ours printed as JSON: rows that are named like fields of records are none."""

_PACKED = say("an archive is not read; unpack it first (of single files, .csv.gz and .json.gz are read as they are)")
"""Sources of files that hold results or records."""

_EXPORT_FOLDERS = frozenset({"summary", "timeline", MERGED_FOLDER, FRAMEWORK_FOLDER})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of ours: where it lies, what its name (or its content) says it is, its size."""

    path: Path
    name: FileName
    size: int
    holds: tuple[str, ...] = ()
    """The tables that can be read from it."""
    max_expanded: int | None = None
    """How far a compressed file may expand, where somebody said it."""


def why(error: Exception) -> str:
    """What the operating system says, without its number."""
    return of_the_system(getattr(error, "strerror", None) or str(error))


def identify(path: Path, *, explicit: bool, findings: list[Finding]) -> FoundFile | None:
    """Tell what a file is by its name, and where that is not enough by its head."""
    name = parse_name(path.name, path.parent.name)
    if name is None and not explicit and path.suffix.lower() not in _LOOKED_INTO:
        if ARCHIVE.search(path.name):
            findings.append(Finding("warning", "archive", str(path), say("{why}; passed over", why=_PACKED)))
        return None
    if name is None and ARCHIVE.search(path.name):
        findings.append(
            Finding("error", "unreadable", str(path), say("{why}; files and folders are read", why=_PACKED))
        )
        return None
    try:
        size = path.stat().st_size
        if not _is_database(name) and is_sparse(path, size):
            findings.append(Finding("error", "sparse-file", str(path), NEVER_WRITTEN))
            return None
        found = _identified(path, name, size, findings)
    except OSError as error:
        if name is not None or explicit:
            message = say("the file cannot be read: {why}", why=why(error))
            findings.append(Finding("error", "unreadable", str(path), message))
        return None
    if found is None and explicit:
        message = say(
            "neither its name nor its content is of a kind that is known here; see `aoe-reports table --list`"
        )
        findings.append(Finding("error", "unknown-file", str(path), message))
    return _with_place(found) if found is not None and found.name.kind not in NO_TABLES else found


def _is_database(name: FileName | None) -> bool:
    """Whether pages that were never written may be in order: a database reads only those that it needs."""
    return name is not None and name.form == "db"


def is_sparse(path: Path, size: int) -> bool:
    """Whether a part of a large file was never written; a file system that does not know says no, and so does one that compresses."""
    if size < SPARSE_FROM_BYTES:
        return False
    with path.open("rb") as file:
        try:
            return os.lseek(file.fileno(), 0, os.SEEK_HOLE) < size
        except OSError:
            return False


NEVER_WRITTEN = say(
    "parts of this file were never written (a sparse file: cut off, or preallocated); nothing of it is used"
)


def _with_place(found: FoundFile) -> FoundFile:
    """The same file with what its folders tell: who wrote it, of which device it is."""
    name, path = found.name, found.path
    if name.source == "torch_npu" and _is_mindspore(path):
        name = replace(name, source="mindspore")
    if name.device_id is None and (folder := DEVICE_FOLDER.fullmatch(path.parent.parent.name)):
        name = replace(name, device_id=int(folder["device"]))
    return found if name is found.name else replace(found, name=name)


def _is_mindspore(path: Path) -> bool:
    return any(part.endswith("_ascend_ms") for part in path.parts)


def _identified(path: Path, name: FileName | None, size: int, findings: list[Finding]) -> FoundFile | None:
    """What a file is: by its name alone where no other file is called so, else by its head."""
    if name is None:
        name = _by_content(_head(path))
        if name is not None and name.kind not in NO_TABLES:
            name = replace(name, other=path.stem)  # a proper name goes before what merely looks like one
        return FoundFile(path, name, size, () if name.kind in NO_TABLES else (name.kind,)) if name else None
    if name.kind in NO_TABLES:
        return FoundFile(path, name, size)  # whether it can be opened is said when it is read
    if name.kind in INFO_KINDS:
        with path.open("rb"):  # say at once that it cannot be read
            return FoundFile(path, name, size)
    if name.form == "db":
        from aoe_reports.readers.database import kinds_of_database  # noqa: PLC0415 -- most captures are text

        holds, damage = kinds_of_database(path)
        findings.extend(damage)
        return FoundFile(path, name, size, tuple(sorted(holds)))
    return _export(path, name, size)


def _export(path: Path, name: FileName, size: int) -> FoundFile | None:
    """An export of msprof or of the framework: one table, several, or a timeline."""
    tables = tables_of_name(path.name)
    doubtful = is_plain_word(name.kind) and not _is_at_home(path, name)
    if size == 0 or not (doubtful or len(tables) > 1 or name.form == "json"):
        with path.open("rb"):
            holds = name.kind in TABLES and (not name.timeline or name.kind in TABLES_OF_TIMELINES)
            return FoundFile(path, name, size, (name.kind,) if holds else ())
    head = _head(path, packed=name.packed)
    if name.form == "json":
        return _json_file(FoundFile(path, name, size), tables, head, doubtful=doubtful)
    table = table_among(tables, _header_of(head))
    if doubtful and not table.fits(_header_of(head)):
        return None
    return FoundFile(path, replace(name, kind=table.name), size, (table.name,))


def _is_at_home(path: Path, name: FileName) -> bool:
    """Whether only an exporter puts a file of such a name there."""
    return name.device_id is not None or name.time is not None or path.parent.name in _EXPORT_FOLDERS


def _json_file(found: FoundFile, tables: Sequence[Table], head: str, *, doubtful: bool) -> FoundFile | None:
    """A timeline has events with a phase (`ph`); a summary in JSON has rows; torch_npu's documents have neither."""
    kind = found.name.kind
    if found.name.timeline and ('"ph"' in head or not _has_header_of(tables, head)):
        if doubtful and '"ph"' not in head:
            return None
        return replace(found, holds=(kind,) if kind in TABLES_OF_TIMELINES else ())
    name = replace(found.name, timeline=False)
    if tables[0].form == "document":
        return replace(found, name=name, holds=tuple(table.name for table in tables))
    fitting = [table for table in tables if _has_header_of([table], head)]
    if doubtful and not fitting:
        return None
    table = (fitting or list(tables))[0]
    return replace(found, name=replace(name, kind=table.name), holds=(table.name,))


def _has_header_of(tables: Sequence[Table], head: str) -> bool:
    """Whether the head of a JSON summary names the columns that one of these tables must have."""
    keys = head.casefold().replace('" ', '"')  # old exporters wrote blanks before headers
    columns = [[column for column in table.columns if not column.optional] for table in tables]
    return any(
        all(any(f'"{alias.casefold()}' in keys for alias in column.headers) for column in required)
        for required in columns
    )


def _head(path: Path, *, packed: bool = False) -> str:
    """The beginning of a file as text."""
    with path.open("rb") as file:
        data = file.read(HEAD_BYTES)
    if packed:
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, HEAD_BYTES)
        except zlib.error:
            data = b""  # what is wrong with it is said when it is read
    return data.decode("utf-8-sig", errors="replace").lstrip()


def _header_of(head: str) -> list[str]:
    try:
        return next(csv.reader([head.split("\n", 1)[0].replace("\0", "").replace("\r", "")]), [])
    except csv.Error:
        return []


def _by_content(text: str) -> FileName | None:
    """Tell a table by its header, an AOE result or gradient bank by its words; None for what is neither."""
    if '"basic"' in text and '"tuning_name"' in text:  # however it begins: a damaged one may lack its first bracket
        return FileName("sgat" if '"SGAT"' in text else "opat", "json", "aoe")
    if text.startswith(("[", "{")):
        if '"modelhash"' in text and '"gradientSize"' in text:
            return FileName("gdat", "json", "aoe")
        is_record = _RECORD.search(text) and not _OUTPUT.match(text)
        return FileName("record", "json", "foreign") if is_record else None
    table = table_of_header(_header_of(text))
    if table is None:
        return None
    sources: dict[str, Source] = {"torch_npu": "torch_npu", "aoe": "aoe"}
    return FileName(table.name, "csv", sources.get(table.source, "msprof"))
