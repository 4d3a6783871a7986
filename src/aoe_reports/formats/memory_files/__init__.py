"""What others than Ascend's profilers record of the memory of devices: PyTorch's snapshot, msMemScope, MindSpore's tracker and plan of graphs, logs of servers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoe_reports.formats.memory_files.names import GRAPHS, LOG, MEMSCOPE, SNAPSHOT, TRACKER, log_name

if TYPE_CHECKING:
    from aoe_reports.formats.sources.found import FoundFile
    from aoe_reports.model.topics.memory import MemoryRecording, Statement


def recordings_of(file: FoundFile) -> list[MemoryRecording]:
    """What a file of one of these kinds records, a recording for each device; raises ReadError where it cannot be read at all."""
    if file.name.kind == SNAPSHOT:
        from aoe_reports.formats.memory_files.snapshot import read_snapshot  # noqa: PLC0415 -- to know a file takes no pyarrow

        return read_snapshot(file)
    if file.name.kind == MEMSCOPE:
        from aoe_reports.formats.memory_files.memscope import read_memscope  # noqa: PLC0415 -- as above

        return read_memscope(file)
    if file.name.kind == TRACKER:
        from aoe_reports.formats.memory_files.tracker import read_tracker  # noqa: PLC0415 -- as above

        return read_tracker(file)
    if file.name.kind == GRAPHS:
        from aoe_reports.formats.memory_files.graphs import read_graphs  # noqa: PLC0415 -- as above

        return read_graphs(file)
    return []


def statements_of(file: FoundFile) -> list[Statement]:
    """What a log says of memory, line by line; raises ReadError where it cannot be read at all."""
    from aoe_reports.formats.memory_files.log_lines import read_statements  # noqa: PLC0415 -- to know a file takes none of it

    return read_statements(file) if file.name.kind == LOG else []


def as_log(file: FoundFile) -> FoundFile:
    """A text with results of a benchmark or a tuner as a log, since the server may have printed into it, too; any other file as it is."""
    is_text = file.name.source in {"foreign", "tuner"} and file.name.form == "txt"
    return replace(file, name=log_name(file.path.name)) if is_text else file
