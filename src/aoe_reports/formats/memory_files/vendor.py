"""Recordings of memory: they have no tasks, steps or timelines of a device, and are no runs by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from aoe_reports.formats.capture import Capture, CaptureInfo, by_folder, no_events, no_source
from aoe_reports.formats.memory_files.names import MINDSPORE, MSMEMSCOPE, SERVER, TORCH, parse_name
from aoe_reports.formats.memory_files.tables import TABLES
from aoe_reports.formats.sources.found import FoundFile, Writer
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding

__all__ = [
    "events",
    "group",
    "identify",
    "parse_name",
    "record_source",
    "steps",
    "tables",
    "task_types",
    "tasks",
    "writers",
]

writers: frozenset[Writer] = frozenset({TORCH, MSMEMSCOPE, MINDSPORE, SERVER})
record_source = "memory"
tables: Mapping[str, Table] = TABLES
task_types = TaskTypes()
tasks, steps, events = no_source, no_source, no_events


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- nothing is to be said
    """A table whose header is known, as any file may be called memory_block.csv; another file where it can be opened."""
    kind = file.name.kind
    if kind not in TABLES or file.name.form == "db":
        with file.path.open("rb"):
            return file
    return replace(file, holds=(kind,)) if TABLES[kind].fits(header_of(head_of(file.path))) else None


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """Each file is a capture: another dump, snapshot or log in its folder may be of another run."""
    return [
        Capture(
            root,
            members,
            (),
            CaptureInfo(rank_id=members[0].name.rank_id),
            profiler=members[0].name.source,
            measures=False,
            of_memory=True,
        )
        for root, members in by_folder(files, lambda file: file.path.name)
    ]
