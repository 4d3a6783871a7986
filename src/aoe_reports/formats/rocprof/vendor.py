"""AMD: what rocprof and rocprofv3 write. There are no types of tasks, no steps and no timelines here: what they do not tell is null."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from aoe_reports.formats.capture import Capture, CaptureInfo, Source
from aoe_reports.formats.rocprof.tables import KERNEL_TRACE, RESULTS
from aoe_reports.formats.sources.found import FileName, FoundFile, Writer
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding

writers: frozenset[Writer] = frozenset({"rocprof"})
record_source = "rocprof"
tables: Mapping[str, Table] = {table.name: table for table in (RESULTS, KERNEL_TRACE)}
task_types = TaskTypes()

_KERNEL_TRACE = re.compile(r"^(?:(?P<process>.+)_)?kernel_trace\.csv(?P<packed>\.gz)?$")


def parse_name(name: str, folder: str) -> FileName | None:  # noqa: ARG001 -- no folder has a name of its own
    """`4711_kernel_trace.csv`; users choose what takes the place of the process. `results.csv` is known by its header."""
    found = _KERNEL_TRACE.match(name)
    if found is None:
        return None
    process = found["process"] or ""
    pid = int(process) if re.fullmatch(r"\d{1,10}", process, re.ASCII) else None
    return FileName(KERNEL_TRACE.name, "csv", "rocprof", pid=pid, packed=found["packed"] is not None)


def identify(found: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- its name is enough
    """A table of kernels, which has to be there to be opened."""
    with found.path.open("rb"):
        return replace(found, holds=(found.name.kind,))


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """A capture is a process: of several in one folder each is called like its files."""
    folders: dict[Path, dict[str, list[FoundFile]]] = defaultdict(lambda: defaultdict(list))
    for file in files:
        folders[file.path.parent][_process(file)].append(file)
    captures = []
    for folder, processes in folders.items():
        for process, members in processes.items():
            root = folder if len(processes) == 1 else folder / process
            in_order = tuple(sorted(members, key=lambda file: str(file.path)))
            pid = next((file.name.pid for file in in_order if file.name.pid is not None), None)
            info = CaptureInfo(pid=pid, engine="rocm")
            captures.append(Capture(root, in_order, (), info, profiler="rocprof"))
    return sorted(captures, key=lambda capture: capture.root)


def _process(file: FoundFile) -> str:
    """What the files of one process have in common."""
    found = _KERNEL_TRACE.match(file.path.name)
    return (found["process"] or "kernel_trace") if found else file.path.stem


def tasks(capture: Capture) -> tuple[Source, ...]:
    return tuple(capture.sources(KERNEL_TRACE.name, RESULTS.name))


def steps(capture: Capture) -> tuple[Source, ...]:  # noqa: ARG001 -- of no capture
    """None: nothing here tells of steps."""
    return ()


def events(capture: Capture) -> list[list[FoundFile]]:  # noqa: ARG001 -- of no capture
    """None: no timeline of these profilers is read."""
    return []
