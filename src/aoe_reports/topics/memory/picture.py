"""The picture of the memory of one device: the component whose peak is broken down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoe_reports.model.pictures.memory import (
    DRAWN,
    MAX_PARTS,
    MemoryCurve,
    MemoryPicture,
    MemoryStep,
    OwnerBar,
    PartKind,
    curve_of,
)
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.model.topics.memory import DeviceMemory, Owner
from aoe_reports.model.topics.memory_words import owner_words
from aoe_reports.topics.memory.samples import Samples

if TYPE_CHECKING:
    from aoe_reports.topics.memory.reading import ReadDevice

_VISIBLE = 0.005
"""A smaller part of a peak has no colour of its own."""
_OF_STACKS = frozenset(";(")
"""What a stack has and the name of a module has not."""
PIXELS = 460
"""A curve is drawn by so many columns."""


def picture_of(read: ReadDevice) -> MemoryPicture:
    """Curves of the component, the steps that overlap them, and the owners of its peak."""
    samples, device = read.peak.pool, read.memory
    begin, end = samples.first_ns, samples.last_ns
    steps = (span for span in read.steps.spans if span.end_ns > begin and span.start_ns <= end)
    return MemoryPicture(
        title=_title(device),
        duration_ns=end - begin,
        measure=device.measure,
        has_clock=read.has_clock,
        curves=tuple(_curves(samples, begin, end)),
        steps=tuple(
            MemoryStep(span.number, max(span.start_ns - begin, 0), min(span.end_ns, end) - begin) for span in steps
        ),
        peak_ns=device.peak.at_ns - begin,
        peak_bytes=device.peak.size_bytes,
        parts=parts_of(device.owners),
    )


def _curves(samples: Samples, begin: int, end: int) -> Iterator[MemoryCurve]:
    for measure in DRAWN:
        if samples.has(measure):
            yield curve_of(measure, samples.known(measure), begin, end, PIXELS)


def _title(device: DeviceMemory) -> Text:
    parts = [say("Memory of {component}", component=device.pool.component)]
    if device.rank_id is not None:
        parts.append(say("rank {rank}", rank=device.rank_id))
    if device.device_id is not None:
        parts.append(say("device {device}", device=device.device_id))
    return join(" · ", parts)


def parts_of(owners: Sequence[Owner]) -> tuple[OwnerBar, ...]:
    """The largest owners of a peak, the rest as one, then what was held before and what nothing explains; they add up to it."""
    peak = sum(one.size_bytes for one in owners)
    sizes: dict[str, int] = {}
    for one in owners:
        if one.name is not None and not one.unexplained:
            label = _label(one)
            sizes[label] = sizes.get(label, 0) + one.size_bytes
    named = sorted(sizes.items(), key=lambda item: -item[1])
    shown = [item for item in named[:MAX_PARTS] if item[1] >= _VISIBLE * peak]
    parts = [OwnerBar("owner", label, size) for label, size in shown]
    if rest := named[len(shown) :]:
        label = count_of(len(rest), "{number} more owner", "{number} more owners")
        parts.append(OwnerBar("others", label, sum(size for _, size in rest)))
    parts += [
        OwnerBar(_kind(one), owner_words(one), one.size_bytes) for one in owners if one.name is None or one.unexplained
    ]
    return tuple(part for part in parts if part.size_bytes)


def _kind(owner: Owner) -> PartKind:
    if owner.unexplained:
        return "unexplained"
    return "before" if owner.since_before else "others"


def _label(owner: Owner) -> str:
    """An owner with its module; a stack is too long."""
    is_module = owner.module is not None and not _OF_STACKS.intersection(owner.module)
    return owner_words(owner, "place" if is_module else "name")
