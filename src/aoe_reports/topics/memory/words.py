"""What `memory` found, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.model.findings import Finding
from aoe_reports.model.rank_spread import MIN_RANKS
from aoe_reports.model.size_units import exact_size, size_words
from aoe_reports.model.texts import N_, Text, count_of, join, say
from aoe_reports.topics.memory.balance import missing_of
from aoe_reports.topics.memory.memory import DeviceRow, GrowthRow, OwnerRow, StatementRow
from aoe_reports.topics.memory.reading import ReadDevice
from aoe_reports.topics.memory.samples import PROFILER_SOURCES
from aoe_reports.topics.rules import MEMORY_DISAGREES, MEMORY_OPEN, MEMORY_UNEXPLAINED

_INNERMOST = 6
"""So many of the innermost ranges of the host are in a sentence."""
_MUCH_UNEXPLAINED = 0.05


def headline_of(
    devices: Sequence[DeviceRow],
    owners: Sequence[OwnerRow],
    growth: Sequence[GrowthRow],
    statements: Sequence[StatementRow],
) -> str:
    """The highest peak, and the largest parts of it; what leaks."""
    if not devices:
        return _of_logs(statements)
    most = max(devices, key=lambda device: device.peak_bytes)
    where = (most.run, most.rank_id, most.device_id)
    mine = [one for one in owners if (one.run, one.rank_id, one.device_id) == where and one.share >= _IN_WORDS]
    peak = say(
        "{device} peaks at {size}{step}", device=_named(most), size=size_words(most.peak_bytes), step=_step_of(most)
    )
    parts = [
        say("{share:.0%} {owner}", share=one.share, owner=one.owner)
        for one in sorted(mine, key=lambda one: -one.share)[:_IN_HEADLINE]
    ]
    rest = [say("{size} is reserved", size=size_words(most.reserved_bytes))] if most.reserved_bytes else []
    parts_of_it = join("; ", [join(", ", parts), *rest] if parts else rest)
    first = (
        say("{peak}: {parts_of_it}.", peak=peak, parts_of_it=parts_of_it) if parts_of_it else say("{peak}.", peak=peak)
    )
    leaks = [one for one in growth if one.meaning == "leak"]
    return join(" ", [first, _of_leak(leaks)]) if leaks else first


def _of_logs(statements: Sequence[StatementRow]) -> str:
    """The largest of each size of those that matter, where nothing but logs is here."""
    largest: dict[str, int] = {}
    for one in statements:
        if one.name in _LOGGED and one.size_bytes is not None:
            largest[one.name] = max(largest.get(one.name, 0), one.size_bytes)
    parts = [say(_LOGGED[name], size=size_words(largest[name])) for name in _LOGGED if name in largest]
    return say("By its logs: {parts}.", parts=join(", ", parts)) if parts else ""


_LOGGED = N_(
    {
        "weights_bytes": "{size} of weights",
        "kv_cache_bytes": "{size} of KV cache",
        "failed_allocation_bytes": "an allocation of {size} failed",
    }
)


def _of_leak(leaks: Sequence[GrowthRow]) -> Text:
    """The largest leak, by its owner where one is known."""
    owned = [one for one in leaks if not one.is_all]
    most = max(owned or leaks, key=lambda one: one.bytes_per_step)
    return say(
        "{owner} keeps {size} more each step, from step {first} to {last}.",
        owner=most.owner,
        size=size_words(most.bytes_per_step),
        first=most.first_step,
        last=most.last_step,
    )


_IN_HEADLINE = 3
_IN_WORDS = 0.01


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
    of_device = any(device.steps_of == "device" and device.step is not None for device in devices)
    ran: list[str] = [
        say("{device} ran then: {calls}.", device=_named(device), calls=" > ".join(device.running[-_INNERMOST:]))
        for device in shown
        if device.running
    ]
    return [_STEPS_OF_DEVICE, *ran] if of_device else ran


_STEPS_OF_DEVICE = say(
    "Steps are those of the device, as no host step is recorded: the host allocates earlier than the device computes, so a peak may belong to the next step."
)


def sentences_of_process(devices: Sequence[DeviceRow]) -> list[str]:
    """How large a device would have to be, by the process that holds most."""
    held = [device for device in devices if device.process_bytes is not None]
    if not held:
        return []
    most = max(held, key=lambda device: device.process_bytes or 0)
    size = most.process_bytes or 0
    said: list[str] = [say("{device} holds {size} at most.", device=_named(most), size=size_words(size))]
    excess = most.excess_bytes or 0
    if 0 < excess < size:
        said.append(
            say(
                "Without the {excess} that allocators reserved beyond what was ever in use, {rest} would be within reach.",
                excess=size_words(excess),
                rest=size_words(size - excess),
            )
        )
    return said


def findings_of(read: ReadDevice) -> Iterator[Finding]:
    """What does not add up."""
    measured = read.memory
    if measured.owners and measured.explained < 1 - _MUCH_UNEXPLAINED:
        yield MEMORY_UNEXPLAINED.found(
            _path(read),
            say(
                "recorded allocations and releases explain {share:.1%} of the changes of {component}",
                share=measured.explained,
                component=measured.pool.component,
            ),
        )
    yield from _of_open_ends(read)
    yield from _of_sources(read)
    parts = sum(part.size_bytes for part in measured.process_parts if not part.unexplained)
    if measured.process is not None and parts > measured.process.size_bytes:
        yield MEMORY_DISAGREES.found(
            _path(read),
            say(
                "components hold {parts} in all, the process {process}",
                parts=exact_size(parts),
                process=exact_size(measured.process.size_bytes),
            ),
        )


def _of_open_ends(read: ReadDevice) -> Iterator[Finding]:
    """Allocations whose begin or end is not recorded."""
    for one in read.recordings:
        if one.source not in PROFILER_SOURCES:
            continue  # whose readers say it
        before, kept = (missing_of(one.events, name) for name in ("allocated_ns", "released_ns"))
        if before[0]:
            yield MEMORY_OPEN.found(
                one.path,
                count_of(
                    before[0],
                    "{number:,} allocation ({size}) began before the recording",
                    "{number:,} allocations ({size}) began before the recording",
                    size=size_words(before[1]),
                ),
            )
        if kept[0]:
            yield MEMORY_OPEN.found(
                one.path,
                count_of(
                    kept[0],
                    "{number:,} allocation ({size}) is not released in the recording",
                    "{number:,} allocations ({size}) are not released in the recording",
                    size=size_words(kept[1]),
                ),
            )


def _of_sources(read: ReadDevice) -> Iterator[Finding]:
    """Peaks of the same component in two sources, which differ."""
    for name, first, second in read.peak.disagreements:
        yield MEMORY_DISAGREES.found(
            _path(read),
            say(
                "{name}: at most {first} by {source}, {second} by {other}",
                name=name,
                first=exact_size(first[1]),
                source=first[0],
                second=exact_size(second[1]),
                other=second[0],
            ),
        )


def _path(read: ReadDevice) -> str:
    paths = [one.path for one in read.recordings if one.events.num_rows] or [one.path for one in read.recordings]
    return paths[0]
