"""What `memory` found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from aoe_reports.model.findings import Finding
from aoe_reports.model.rank_spread import MIN_RANKS
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.topics.memory import Owner
from aoe_reports.topics.memory.memory import DeviceRow, OwnerRow
from aoe_reports.topics.memory.reading import ReadDevice
from aoe_reports.topics.rules import MEMORY_UNEXPLAINED

_INNERMOST = 6
"""So many of the innermost ranges of the host are in a sentence."""
_MUCH_UNEXPLAINED = 0.05


def name_of(owner: Owner) -> str:
    """An owner as people read it."""
    if owner.unexplained:
        return say("unexplained")
    if owner.name is None:
        return say("held since before the recording")
    return owner.name


def headline_of(devices: Sequence[DeviceRow], owners: Sequence[OwnerRow]) -> str:
    """The highest peak, and the largest parts of it."""
    if not devices:
        return ""
    most = max(devices, key=lambda device: device.peak_bytes)
    where = (most.run, most.rank_id, most.device_id)
    mine = [one for one in owners if (one.run, one.rank_id, one.device_id) == where]
    peak = say(
        "{device} peaks at {size}{step}", device=_named(most), size=size_words(most.peak_bytes), step=_step_of(most)
    )
    parts = [say("{share:.0%} {owner}", share=one.share, owner=one.owner) for one in mine[:_IN_HEADLINE]]
    rest = [say("{size} is reserved", size=size_words(most.reserved_bytes))] if most.reserved_bytes else []
    told = join("; ", [join(", ", parts), *rest] if parts else rest)
    return say("{peak}: {told}.", peak=peak, told=told) if told else say("{peak}.", peak=peak)


_IN_HEADLINE = 3


def _named(device: DeviceRow) -> Text:
    if device.rank_id is not None:
        return say("Rank {rank}", rank=device.rank_id)
    if device.device_id is not None:
        return say("Device {device}", device=device.device_id)
    return say("The device")


def _step_of(device: DeviceRow) -> str:
    return "" if device.step is None else say(" in step {step}", step=device.step)


def sentences_of(devices: Sequence[DeviceRow]) -> list[str]:
    """What the host ran when memory peaked; of many ranks of the one that peaks highest."""
    shown = devices if len(devices) < MIN_RANKS else [max(devices, key=lambda device: device.peak_bytes)]
    return [
        say("{device} ran then: {calls}.", device=_named(device), calls=" > ".join(device.running[-_INNERMOST:]))
        for device in shown
        if device.running
    ]


def findings_of(read: ReadDevice) -> Iterator[Finding]:
    """What does not add up."""
    found = read.memory
    if found.owners and found.explained < 1 - _MUCH_UNEXPLAINED:
        yield MEMORY_UNEXPLAINED.found(
            _path(read),
            say(
                "recorded allocations and releases explain {share:.1%} of the changes of {component}",
                share=found.explained,
                component=found.peak_pool,
            ),
        )


def _path(read: ReadDevice) -> str:
    paths = [one.path for one in read.recordings if one.events.num_rows] or [one.path for one in read.recordings]
    return str(PurePath(paths[0]))
