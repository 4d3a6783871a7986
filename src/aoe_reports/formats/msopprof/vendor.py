"""`msprof op` (msOpProf): one kernel in a folder `OPPROF_*`. It tells of no steps, and there is no timeline of a device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from aoe_reports.formats.capture import Capture, CaptureInfo, Source, by_folder, no_events, no_source
from aoe_reports.formats.msopprof.tables import FILES, FOLDER, OP_BASIC_INFO
from aoe_reports.formats.sources.found import FileName, FoundFile, Writer
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding

writers: frozenset[Writer] = frozenset({"msopprof"})
record_source = "msopprof"
tables: Mapping[str, Table] = {table.name: table for table in FILES.values()}
task_types = TaskTypes()
steps, events = no_source, no_events

_NAME = re.compile(rf"^(?P<what>{'|'.join(FILES)})(?:_(?P<time>\d{{8,20}}))?\.csv$", re.ASCII)
_FOLDER = re.compile(rf"{FOLDER}(?P<time>\d{{14,17}})_", re.ASCII)


def parse_name(name: str, folder: str) -> FileName | None:  # noqa: ARG001 -- of several kernels each has a folder below
    """`PipeUtilization.csv`; of several kernels the names have a time."""
    match = _NAME.match(name)
    return FileName(FILES[match["what"]].name, "csv", "msopprof", time=match["time"]) if match else None


def identify(file: FoundFile, findings: list[Finding]) -> FoundFile | None:  # noqa: ARG001 -- nothing is to be said
    """A table; elsewhere than in a folder of this tool anybody's Memory.csv may be called so, and its header has to tell."""
    at_home = any(part.startswith(FOLDER) for part in file.path.parts)
    if not at_home and not tables[file.name.kind].fits(header_of(head_of(file.path))):
        return None
    with file.path.open("rb"):
        return replace(file, holds=(file.name.kind,))


def group(files: Iterable[FoundFile]) -> list[Capture]:
    """A capture is what one folder holds: one kernel."""
    captures = []
    for folder, members in by_folder(files):
        times = [found["time"] for part in folder.parts if (found := _FOLDER.match(part))]
        info, time = CaptureInfo(engine="cann"), times[-1] if times else None
        captures.append(Capture(folder, members, (), info, profiler="msopprof", named_time=time))
    return captures


def tasks(capture: Capture) -> tuple[Source, ...]:
    return tuple(capture.sources(OP_BASIC_INFO.name))
