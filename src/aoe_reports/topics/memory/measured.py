"""The memory of the devices of a capture by its tables alone: peaks and their owners. No timeline is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.formats.capture import Capture
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.topics.memory import DeviceMemory
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.memory.facts import StepSpan, StepTimes, device_memory


def measured_memory(capture: Capture, steps: Sequence[Step] = ()) -> tuple[list[DeviceMemory], list[Finding]]:
    """(the memory of each device, by rank and device; what was found in its tables, as warnings).

    Damaged tables are not used at all: a peak that misses rows is no change. Times that were measured beside them are right.
    """
    notes = Notes()
    every = memory_recordings(capture, notes)
    findings = [replace(one, severity="warning") if one.severity == "error" else one for one in notes.findings]
    if has(notes.findings, "error"):
        return [], findings
    recordings = lists_by_key(((one.rank_id, one.device_id), one) for one in every)
    found = []
    for place in sorted(recordings, key=lambda place: tuple(-1 if number is None else number for number in place)):
        memory = device_memory(recordings[place], StepTimes(_spans(steps, *place)))
        if memory is not None:
            found.append(memory)
    return found, findings


def _spans(steps: Sequence[Step], rank_id: int | None, device_id: int | None) -> list[StepSpan]:
    return [
        StepSpan(step.step, step.start_ns, step.start_ns + step.duration_ns)
        for step in steps
        if step.rank_id == rank_id and step.device_id in {None, device_id}
        if step.step is not None and step.start_ns is not None
    ]
