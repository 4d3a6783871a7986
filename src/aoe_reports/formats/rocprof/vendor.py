"""AMD: what rocprof and rocprofv3 write. There are no types of tasks, no steps and no timelines here: what they do not tell is null."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from aoe_reports.formats.capture import Capture, CaptureInfo, Source, by_folder, no_events, no_source
from aoe_reports.formats.rocprof.tables import KERNEL_TRACE, RESULTS
from aoe_reports.formats.sources.found import FileName, FoundFile, Writer
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding

writers: frozenset[Writer] = frozenset({"rocprof"})
record_source = "rocprof"
tables: Mapping[str, Table] = {table.name: table for table in (RESULTS, KERNEL_TRACE)}
task_types = TaskTypes()
steps, events = no_source, no_events

_KERNEL_TRACE = re.compile(r"^(?:(?P<process>.+)_)?kernel_trace\.csv(?P<packed>\.gz)?$")


def parse_name(name: str, folder: str) -> FileName | None:  # noqa: ARG001 -- no folder has a name of its own
    """`4711_kernel_trace.csv`; users choose what takes the place of the process. `results.csv` is known by its header."""
    match = _KERNEL_TRACE.match(name)
    if match is None:
        return None
    process = match["process"] or ""
    pid = int(process) if re.fullmatch(r"\d{1,10}", process, re.ASCII) else None
    return FileName(KERNEL_TRACE.name, "csv", "rocprof", pid=pid, packed=match["packed"] is not None)


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- its name is enough
    """A table of kernels, which has to be there to be opened."""
    with file.path.open("rb"):
        return replace(file, holds=(file.name.kind,))


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """A capture is a process: of several in one folder each is called like its files."""
    captures = []
    for root, members in by_folder(files, _process):
        pid = next((file.name.pid for file in members if file.name.pid is not None), None)
        captures.append(Capture(root, members, (), CaptureInfo(pid=pid, engine="rocm"), profiler="rocprof"))
    return captures


def _process(file: FoundFile) -> str:
    """What the files of one process have in common."""
    match = _KERNEL_TRACE.match(file.path.name)
    return (match["process"] or "kernel_trace") if match else file.path.stem


def tasks(capture: Capture) -> tuple[Source, ...]:
    return tuple(capture.sources(KERNEL_TRACE.name, RESULTS.name))
