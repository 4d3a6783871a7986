"""msServiceProfiler: tables of a service in one folder. It tells of no tasks and steps of a device; PROF_* beside it do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from aoe_reports.formats.capture import Capture, CaptureInfo, no_events, no_source
from aoe_reports.formats.msserviceprofiler.tables import FILES, SPAN, SPANS
from aoe_reports.formats.sources.found import FileName, FoundFile, Writer
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding

_WRITER = "msserviceprofiler"
writers: frozenset[Writer] = frozenset({_WRITER})
record_source = _WRITER
tables: Mapping[str, Table] = {table.name: table for table in (*FILES.values(), SPAN)}
task_types = TaskTypes()
tasks, steps, events = no_source, no_source, no_events


def parse_name(name: str, folder: str) -> FileName | None:
    """`request.csv`; in `span_info` users chose the names."""
    stem, dot, suffix = name.rpartition(".")
    table = SPAN if folder == SPANS else FILES.get(stem)
    return FileName(table.name, "csv", _WRITER) if table is not None and dot and stem and suffix == "csv" else None


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- nothing is to be said
    """A table whose header tells; anybody's request.csv may be called so."""
    kind = file.name.kind
    return replace(file, holds=(kind,)) if tables[kind].fits(header_of(head_of(file.path))) else None


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """A capture is what one folder holds, and its spans; nothing in it was measured on a device."""
    folders: dict[Path, list[FoundFile]] = defaultdict(list)
    for file in files:
        folder = file.path.parent
        folders[folder.parent if folder.name == SPANS else folder].append(file)
    return [
        Capture(
            folder,
            tuple(sorted(members, key=lambda file: str(file.path))),
            (),
            CaptureInfo(engine="cann"),
            profiler=_WRITER,
            measures=False,
            of_service=True,
        )
        for folder, members in sorted(folders.items())
    ]
