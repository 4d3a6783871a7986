"""MindSpore's own profiler: what it wrote for MindInsight, before it exported through msprof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from aoe_reports.formats.capture import Capture, CaptureInfo, Source, by_folder, no_events
from aoe_reports.formats.mindspore.names import COMMUNICATION, UNREAD_KINDS, WRITER, parse_name
from aoe_reports.formats.mindspore.tables import KERNEL_FLOPS, TABLES
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

writers: frozenset[Writer] = frozenset({WRITER})
record_source = WRITER
events = no_events
"""`timeline_display` has the operators of the table, and no other."""
tables: Mapping[str, Table] = TABLES
task_types = TaskTypes(communication=frozenset({COMMUNICATION}))


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- nothing is to be said
    """A table, which has to be there to be opened; or one of the files that are not read. `flops_1.txt` may be anybody's."""
    if file.name.kind == KERNEL_FLOPS.name and not KERNEL_FLOPS.fits(header_of(head_of(file.path))):
        return None
    with file.path.open("rb"):
        return file if file.name.kind in UNREAD_KINDS else replace(file, holds=(file.name.kind,))


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """A capture is what one folder holds of one rank; what is not read belongs to none."""
    read = (file for file in files if file.name.kind not in UNREAD_KINDS)
    return [
        Capture(root, members, (), CaptureInfo(rank_id=members[0].name.rank_id, engine="cann"), profiler=WRITER)
        for root, members in by_folder(read, lambda file: f"rank_{file.name.rank_id}")
    ]


def tasks(capture: Capture) -> tuple[Source, ...]:
    """The operators one by one, else their sums: files of two profiles in one folder are not held against each other."""
    return tuple(capture.sources("output_timeline_data") or capture.sources("aicore_intermediate_type"))


def steps(capture: Capture) -> tuple[Source, ...]:
    """The steps, then what a job of several ranks computed in each of them, whose rows have no numbers."""
    numbered = tuple(capture.sources("step_trace_raw"))
    return (*numbered, *capture.sources("cluster_analyse")) if numbered else ()
