"""The memory of the devices of a capture by its tables alone: peaks and their owners, and what grows. No timeline is read."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.formats.capture import Capture
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import DeviceMemory
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.memory.facts import StepSpan, StepTimes, device_memory


def measured_memory(capture: Capture, steps: Sequence[Step], notes: Notes) -> list[DeviceMemory]:
    """The memory of each device whose memory was recorded, by rank and device."""
    recordings = lists_by_key(((one.rank_id, one.device_id), one) for one in memory_recordings(capture, notes))
    found = []
    for place in sorted(recordings, key=lambda place: tuple(-1 if number is None else number for number in place)):
        rank_id, device_id = place
        spans = [
            StepSpan(step.step, step.start_ns, step.start_ns + step.duration_ns)
            for step in steps
            if step.rank_id == rank_id and step.device_id in {None, device_id}
            if step.step is not None and step.start_ns is not None
        ]
        memory = device_memory(recordings[place], StepTimes(spans))
        if memory is not None:
            found.append(memory)
    return found
