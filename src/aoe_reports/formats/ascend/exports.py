"""Tells what an export of msprof or of a framework is: by its name, its folder, and where others may be called so, its head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aoe_reports.formats.ascend.names import (
    DEVICE_FOLDER,
    FRAMEWORK_FOLDER,
    INFO_KINDS,
    MERGED_FOLDER,
    is_plain_word,
    tables_of_name,
)
from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.sources.found import FileName, FoundFile
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.table import Table, table_among
from aoe_reports.model.findings import Finding

TABLES_OF_TIMELINES = frozenset({"step_trace", "task_time"})
"""Tables whose rows can be told from the timeline of the same name."""

_EXPORT_FOLDERS = frozenset({"summary", "timeline", MERGED_FOLDER, FRAMEWORK_FOLDER})


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:
    """What a file of such a name is and holds; None for one that is only called so."""
    if file.holds:  # its header told
        return _with_place(file)
    if file.name.kind in INFO_KINDS:
        with file.path.open("rb"):  # say at once that it cannot be read
            return _with_place(file)
    if file.name.form == "db":
        from aoe_reports.formats.sqlite import kinds_of_database  # noqa: PLC0415 -- most captures are text

        holds, damage = kinds_of_database(file.path)
        findings.extend(damage)
        return _with_place(replace(file, holds=tuple(sorted(holds))))
    export = _export(file)
    return None if export is None else _with_place(export)


def _with_place(file: FoundFile) -> FoundFile:
    """The same file with what its folders tell: who wrote it, of which device it is."""
    name, path = file.name, file.path
    if name.source == "torch_npu" and _is_mindspore(path):
        name = replace(name, source="mindspore")
    if name.device_id is None and (folder := DEVICE_FOLDER.fullmatch(path.parent.parent.name)):
        name = replace(name, device_id=int(folder["device"]))
    return file if name is file.name else replace(file, name=name)


def _is_mindspore(path: Path) -> bool:
    return any(part.endswith("_ascend_ms") for part in path.parts)


def _export(file: FoundFile) -> FoundFile | None:
    """An export of msprof or of the framework: one table, several, or a timeline."""
    path, name = file.path, file.name
    tables = tables_of_name(path.name)
    doubtful = is_plain_word(name.kind) and not _is_at_home(path, name)
    if file.size == 0 or not (doubtful or len(tables) > 1 or name.form == "json"):
        with path.open("rb"):
            holds = name.kind in TABLES and (not name.timeline or name.kind in TABLES_OF_TIMELINES)
            return replace(file, holds=(name.kind,) if holds else ())
    head = head_of(path, packed=name.packed)
    if name.form == "json":
        return _json_file(file, tables, head, doubtful=doubtful)
    table = table_among(tables, header_of(head))
    if doubtful and not table.fits(header_of(head)):
        return None
    return replace(file, name=replace(name, kind=table.name), holds=(table.name,))


def _is_at_home(path: Path, name: FileName) -> bool:
    """Whether only an exporter puts a file of such a name there."""
    return name.device_id is not None or name.time is not None or path.parent.name in _EXPORT_FOLDERS


def _json_file(file: FoundFile, tables: Sequence[Table], head: str, *, doubtful: bool) -> FoundFile | None:
    """A timeline has events with a phase (`ph`); a summary in JSON has rows; torch_npu's documents have neither."""
    fitting = [table for table in tables if _has_header_of(table, head)]
    if file.name.timeline and ('"ph"' in head or not fitting):
        if doubtful and '"ph"' not in head:
            return None
        kind = file.name.kind
        return replace(file, holds=(kind,) if kind in TABLES_OF_TIMELINES else ())
    name = replace(file.name, timeline=False)
    if tables[0].form == "document":
        return replace(file, name=name, holds=tuple(table.name for table in tables))
    if doubtful and not fitting:
        return None
    table = (fitting or list(tables))[0]
    return replace(file, name=replace(name, kind=table.name), holds=(table.name,))


def _has_header_of(table: Table, head: str) -> bool:
    """Whether the head of a JSON summary names the columns that a table must have."""
    keys = head.casefold().replace('" ', '"')  # old exporters wrote blanks before headers
    required = (column for column in table.columns if not column.optional)
    return all(any(f'"{alias.casefold()}' in keys for alias in column.headers) for column in required)
