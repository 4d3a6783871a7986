"""The memory of the devices of a capture by its tables or by a recording beside them. Of timelines steps alone are read, at a glance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.formats.capture import Capture
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, MemoryRecording
from aoe_reports.topics.memory.reading import MemorySteps, memory_by_place
from aoe_reports.topics.memory.samples import PROFILER_SOURCES


def _has_tables(capture: Capture) -> bool:
    return any(capture.sources(kind) for kind in PROFILER_SOURCES)


def measured_memory(
    capture: Capture, steps: Callable[[], MemorySteps] = lambda: MemorySteps({}, "unknown")
) -> tuple[list[DeviceMemory], list[Finding]]:
    """(the memory of each process on each device; what was found in its tables, as warnings). Without tables the recording in its folder counts.

    Damaged tables are not used at all: a peak that misses rows is no change. Times that were measured beside them are right.
    """
    notes = Notes()
    every = memory_recordings(capture, notes) if capture.of_memory or _has_tables(capture) else []
    if not every:
        every = _recorded_beside(capture, notes)
    findings = [replace(one, severity="warning") if one.severity == "error" else one for one in notes.findings]
    if has(notes.findings, "error"):
        return [], findings
    return memory_by_place(every, steps), findings


def _recorded_beside(capture: Capture, notes: Notes) -> list[MemoryRecording]:
    """What the recording of memory in the folder of a capture says, as the memory of its rank; nothing where there are several.

    Recordings without a clock are of no time, and not used.
    """
    read = [(one, [of for of in memory_recordings(one, notes) if of.has_clock]) for one in capture.recordings]
    found = [(one, mine) for one, mine in read if mine]
    if not found:
        return []
    names = ", ".join(one.files[0].path.name for one, _ in found)
    used = say("no table of memory here; {files} is used instead", files=names)
    several = say("no table of memory here, and several recordings of it: {files}; none is used", files=names)
    notes.add([STANDS_IN.found(str(capture.root), used if len(found) == 1 else several)])
    rank = capture.info.rank_id
    mine = found[0][1] if len(found) == 1 else []
    return [replace(one, rank_id=rank if one.rank_id is None else one.rank_id) for one in mine]
