"""What others than Ascend's profilers record of the memory of devices: PyTorch's snapshot, msMemScope, MindSpore's tracker, logs of servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoe_reports.formats.memory_files.names import LOG, MEMSCOPE, SNAPSHOT, TRACKER

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
    return []


def statements_of(file: FoundFile) -> list[Statement]:
    """What a log says of memory, line by line; raises ReadError where it cannot be read at all."""
    from aoe_reports.formats.memory_files.log_lines import read_statements  # noqa: PLC0415 -- to know a file takes none of it

    return read_statements(file) if states_memory(file) else []


def states_memory(file: FoundFile) -> bool:
    """Whether a file may be asked for statements: a log, also where it is read for the results of a benchmark."""
    return file.name.kind == LOG or (file.name.kind == "record" and file.name.form == "txt")
