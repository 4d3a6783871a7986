"""The memory of the devices of a capture by its tables alone: peaks and their owners, and what grows. No timeline is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.formats.capture import Capture
from aoe_reports.model.arrays.columns import integers
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, MemoryRecording
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.memory.facts import device_memory
from aoe_reports.topics.memory.samples import PROFILER_SOURCES, StepSpan, StepTimes

StepSpans = Mapping[int | None, Sequence[StepSpan]]
"""When the steps of each device began and ended; None: of any device, where tables name none."""


def has_memory(capture: Capture) -> bool:
    """Whether a capture has tables of memory, or recordings of it in its folder, or is one."""
    return capture.of_memory or bool(capture.recordings) or _has_tables(capture)


def _has_tables(capture: Capture) -> bool:
    return any(capture.sources(kind) for kind in PROFILER_SOURCES)


def measured_memory(
    capture: Capture, spans: StepSpans = MappingProxyType({})
) -> tuple[list[DeviceMemory], list[Finding]]:
    """(the memory of each device, by rank and device; what was found in its tables, as warnings). Without tables the recording in its folder counts.

    Damaged tables are not used at all: a peak that misses rows is no change. Times that were measured beside them are right.
    """
    notes = Notes()
    every = memory_recordings(capture, notes) if capture.of_memory or _has_tables(capture) else []
    if not every:
        every = _recorded_beside(capture, notes)
    findings = [replace(one, severity="warning") if one.severity == "error" else one for one in notes.findings]
    if has(notes.findings, "error"):
        return [], findings
    recordings = lists_by_key(((one.rank_id, one.device_id), one) for one in every)
    found = []
    for place in sorted(recordings, key=lambda place: tuple(-1 if number is None else number for number in place)):
        memory = device_memory(recordings[place], StepTimes(spans.get(place[1], spans.get(None, ()))))
        if memory is not None:
            found.append(memory)
    return found, findings


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


def spans_of_steps(steps: Sequence[Step]) -> list[StepSpan]:
    """The times of the steps of one device, where they have any."""
    return [
        StepSpan(step.step, step.start_ns, step.start_ns + step.duration_ns)
        for step in steps
        if step.step is not None and step.start_ns is not None
    ]


def spans_of_tasks(tasks: pa.Table) -> list[StepSpan]:
    """The times of steps by the tasks of one device: from the first task of a step to that of the next; none where tasks name no step."""
    known = step_of_tasks(tasks)
    if known is None or "task_start_ns" not in tasks.column_names:
        return []
    steps, (starts, timed), (durations, _) = (
        known[1],
        *(integers(tasks[name]) for name in ("task_start_ns", "task_duration_ns")),
    )
    chosen = timed & (steps >= 0)
    if not chosen.any():
        return []
    numbers, places = np.unique(steps[chosen], return_inverse=True)
    first = np.full(len(numbers), np.iinfo(np.int64).max)
    np.minimum.at(first, places, starts[chosen])
    order = np.argsort(first, kind="stable")
    ends = [*first[order][1:].tolist(), int((starts + durations)[chosen].max())]
    return [
        StepSpan(int(number), int(start), end)
        for number, start, end in zip(numbers[order].tolist(), first[order].tolist(), ends, strict=True)
    ]
