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


def identify(found: FoundFile, findings: list[Finding]) -> FoundFile | None:
    """What a file of such a name is and holds; None for one that is only called so."""
    if found.holds:  # its header told
        return _with_place(found)
    if found.name.kind in INFO_KINDS:
        with found.path.open("rb"):  # say at once that it cannot be read
            return _with_place(found)
    if found.name.form == "db":
        from aoe_reports.formats.sqlite import kinds_of_database  # noqa: PLC0415 -- most captures are text

        holds, damage = kinds_of_database(found.path)
        findings.extend(damage)
        return _with_place(replace(found, holds=tuple(sorted(holds))))
    export = _export(found)
    return None if export is None else _with_place(export)


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


def _export(found: FoundFile) -> FoundFile | None:
    """An export of msprof or of the framework: one table, several, or a timeline."""
    path, name = found.path, found.name
    tables = tables_of_name(path.name)
    doubtful = is_plain_word(name.kind) and not _is_at_home(path, name)
    if found.size == 0 or not (doubtful or len(tables) > 1 or name.form == "json"):
        with path.open("rb"):
            holds = name.kind in TABLES and (not name.timeline or name.kind in TABLES_OF_TIMELINES)
            return replace(found, holds=(name.kind,) if holds else ())
    head = head_of(path, packed=name.packed)
    if name.form == "json":
        return _json_file(found, tables, head, doubtful=doubtful)
    table = table_among(tables, header_of(head))
    if doubtful and not table.fits(header_of(head)):
        return None
    return replace(found, name=replace(name, kind=table.name), holds=(table.name,))


def _is_at_home(path: Path, name: FileName) -> bool:
    """Whether only an exporter puts a file of such a name there."""
    return name.device_id is not None or name.time is not None or path.parent.name in _EXPORT_FOLDERS


def _json_file(found: FoundFile, tables: Sequence[Table], head: str, *, doubtful: bool) -> FoundFile | None:
    """A timeline has events with a phase (`ph`); a summary in JSON has rows; torch_npu's documents have neither."""
    fitting = [table for table in tables if _has_header_of(table, head)]
    if found.name.timeline and ('"ph"' in head or not fitting):
        if doubtful and '"ph"' not in head:
            return None
        kind = found.name.kind
        return replace(found, holds=(kind,) if kind in TABLES_OF_TIMELINES else ())
    name = replace(found.name, timeline=False)
    if tables[0].form == "document":
        return replace(found, name=name, holds=tuple(table.name for table in tables))
    if doubtful and not fitting:
        return None
    table = (fitting or list(tables))[0]
    return replace(found, name=replace(name, kind=table.name), holds=(table.name,))


def _has_header_of(table: Table, head: str) -> bool:
    """Whether the head of a JSON summary names the columns that a table must have."""
    keys = head.casefold().replace('" ', '"')  # old exporters wrote blanks before headers
    required = (column for column in table.columns if not column.optional)
    return all(any(f'"{alias.casefold()}' in keys for alias in column.headers) for column in required)
