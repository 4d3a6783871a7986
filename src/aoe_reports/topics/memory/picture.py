"""The picture of the memory of one device: the component whose peak is taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aoe_reports.model.pictures.memory import (
    MEASURES,
    Measure,
    MemoryCurve,
    MemoryPicture,
    MemoryStep,
    curve_of,
    parts_of,
)
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.topics.memory import DeviceMemory, MemoryRecording
from aoe_reports.topics.memory.facts import Samples, StepSpan, pool_to_explain, samples_of

PIXELS = 460
"""A curve is drawn by so many columns."""
_PEAKS: tuple[Measure, ...] = ("allocated", "reserved", "active")
"""A peak is one of the first of these that is recorded."""


def picture_of(
    device: DeviceMemory, recordings: Sequence[MemoryRecording], steps: Iterable[StepSpan] = ()
) -> MemoryPicture:
    """Curves of the component, the steps that overlap them, and the owners of its peak."""
    samples = pool_to_explain(samples_of(recordings))
    begin, end = int(samples.times[0]), int(samples.times[-1])
    return MemoryPicture(
        title=_title(device, samples),
        duration_ns=end - begin,
        measure=next(measure for measure in _PEAKS if samples.has(measure)),
        has_clock=all(one.has_clock for one in recordings),
        curves=tuple(_curves(samples, begin, end)),
        steps=tuple(
            MemoryStep(span.number, max(span.start_ns - begin, 0), min(span.end_ns, end) - begin)
            for span in steps
            if span.end_ns > begin and span.start_ns <= end
        ),
        peak_ns=device.peak.at_ns - begin,
        peak_bytes=device.peak.size_bytes,
        parts=parts_of(device.owners),
    )


def _curves(samples: Samples, begin: int, end: int) -> Iterable[MemoryCurve]:
    for measure in MEASURES:
        values, known = samples.measures[measure]
        if known.any():
            yield curve_of(measure, samples.times[known] - begin, values[known], end - begin, PIXELS)


def _title(device: DeviceMemory, samples: Samples) -> Text:
    """Whose memory it is."""
    parts = [say("Memory of {component}", component=samples.component)]
    if device.rank_id is not None:
        parts.append(say("rank {rank}", rank=device.rank_id))
    if device.device_id is not None:
        parts.append(say("device {device}", device=device.device_id))
    return join(" · ", parts)
