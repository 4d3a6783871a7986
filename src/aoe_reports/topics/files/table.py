"""One kind of table or timeline from everything below a path, under canonical names and units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.question import Answer, Notes, ReadOptions, Stream
from aoe_reports.formats.rules import NOTHING_FOUND
from aoe_reports.model.errors import UsageError
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.formats.table import Table
    from aoe_reports.topics.files.profiles import Profile

_ROWS_AT_ONCE = 50_000


@row
class TableKind:
    """A kind of table or timeline that can be read."""

    kind: str = column("Kind")
    title: str = column("Content")
    source: str = column("Written by")
    files: str = column("Files")
    vintages: str = column("Header versions")


def list_tables() -> Answer:
    """Every kind that can be read, one row each: tables, then timelines."""
    return Answer(
        command="table", title="Tables", inputs=(), findings=(), tables=(Rows(type=TableKind, rows=_kinds()),)
    )


def stream_table(kind: str, path: Path, options: ReadOptions) -> Stream:
    """The rows of one kind below a path; nothing is read before the first batch. Raises UsageError for an unknown kind."""
    from aoe_reports.formats.vendor import TABLES
    from aoe_reports.topics.files.profiles import read_profile, timeline_of_kind

    if kind not in TABLES and timeline_of_kind(kind) is None:
        names = join(", ", (known.kind for known in _kinds()))
        raise UsageError(say("table: unknown kind {kind!r}; expected one of {names}", kind=kind, names=names))
    notes = Notes()
    batches = _batches(kind, read_profile(path, max_expanded=options.max_expanded), notes)
    return Stream(command="table", inputs=(str(path),), batches=batches, notes=notes)


def _batches(kind: str, profile: Profile, notes: Notes) -> Iterator[pa.RecordBatch]:
    from aoe_reports.topics.files.profiles import timeline_of_kind

    timeline = timeline_of_kind(kind)
    if timeline is None:
        frame = profile.frame(kind)
        empty = not frame.column_names
        yield from frame.to_batches(max_chunksize=_ROWS_AT_ONCE)
    else:
        empty = timeline not in profile.timelines
        yield from profile.events(timeline)
    notes.take(Notes(profile.findings, profile.unreadable))
    if empty and not notes.findings:
        notes.add([NOTHING_FOUND.found(str(profile.path), say("no {kind} here", kind=kind))])


def _kinds() -> list[TableKind]:
    from aoe_reports.formats.ascend.tables import TIMELINES
    from aoe_reports.formats.vendor import TABLES

    rows = [
        TableKind(
            kind=table.name,
            title=say(table.title),
            source="msprof, torch_npu" if table.source == "both" else table.source,
            files=", ".join(_files(table)),
            vintages=", ".join(sorted({date for date, _ in table.vintages})),
        )
        for table in TABLES.values()
    ]
    rows += [
        TableKind(
            kind=name if name not in TABLES else f"{name}_events",
            title=say("timeline: {title}", title=say(kind.title)),
            source=kind.source,
            files=", ".join(f"{word}*.json" for word in kind.file_kinds),
            vintages="",
        )
        for name, kind in TIMELINES.items()
    ]
    return rows


def _files(table: Table) -> list[str]:
    if table.called:
        return list(table.called)
    forms = ("csv", "json") if table.form == "csv" else ("json",)
    return [f"{word}*.{form}" for word in table.file_kinds for form in forms]
