"""What `memory` found, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.engine.captures import in_short, nothing_measured
from aoe_reports.engine.question import Request
from aoe_reports.formats.capture import Capture
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.rank_spread import MIN_RANKS
from aoe_reports.model.size_units import exact_size, size_words
from aoe_reports.model.texts import N_, Text, count_of, join, say
from aoe_reports.model.topics.memory import FailedAllocation
from aoe_reports.topics.memory.actions import largest_leak, leak_words
from aoe_reports.topics.memory.balance import missing_of
from aoe_reports.topics.memory.gains import MIN_STEPS
from aoe_reports.topics.memory.reading import ReadDevice
from aoe_reports.topics.memory.row_classes import (
    DeviceRow,
    GrowthRow,
    OwnerRow,
    StatementRow,
    device_first,
    device_words,
    where,
)
from aoe_reports.topics.memory.samples import PROFILER_SOURCES
from aoe_reports.topics.rules import MEMORY_DISAGREES, MEMORY_OPEN, MEMORY_UNEXPLAINED

MUCH_UNEXPLAINED = 0.05
"""Owners are named where no more than this part of a sum, or of its changes, is unexplained."""
_INNERMOST = 6
"""So many of the innermost ranges of the host are in a sentence."""
_IN_HEADLINE, _IN_WORDS = 3, 0.01
"""So many owners are in a headline, each with at least this share."""
_WORTH_A_NAME = 0.05
"""Where no owner has this share, none is named."""
_FAR_ABOVE = 0.25
"""Reserved memory is in the headline where at least this part of it was never used."""


def headline_of(
    devices: Sequence[DeviceRow],
    owners: Sequence[OwnerRow],
    growth: Sequence[GrowthRow],
    statements: Sequence[StatementRow],
    failed: Sequence[FailedAllocation],
) -> str:
    """What failed, the highest peak with its largest owners, what is reserved far above use, what grows."""
    failed = [*failed, *_failed_in_logs(statements)]
    said: list[Text | str] = [_of_failed(failed)] if failed else []
    if devices:
        said += _of_peak(max(devices, key=lambda device: device.peak_bytes), owners)
        said += _of_reserve(devices)
        said += _of_growth(devices, growth)
    elif by_logs := _of_logs(statements):
        said.append(by_logs)
    return join(" ", said) if said else ""


def _failed_in_logs(statements: Sequence[StatementRow]) -> Iterator[FailedAllocation]:
    """Failed allocations in logs, each with the other sizes of its line."""
    for mine in lists_by_key(((one.path, one.line), one) for one in statements).values():
        sizes = {one.name: one.size_bytes for one in mine}
        if "failed_allocation_bytes" in sizes:
            yield FailedAllocation(
                size_bytes=sizes["failed_allocation_bytes"],
                reserved_bytes=sizes.get("reserved_bytes"),
                allocated_bytes=sizes.get("allocated_bytes"),
                free_bytes=sizes.get("free_bytes"),
            )


def _of_failed(failed: Sequence[FailedAllocation]) -> Text:
    """The first one."""
    first = failed[0]
    size = say("unknown size") if first.size_bytes is None else size_words(first.size_bytes)
    whole = say("Allocation of {size} failed", size=size)
    reserved, allocated = first.reserved_bytes or None, first.allocated_bytes or None
    known = (
        ("{size} was reserved", reserved),
        ("{size} of it allocated" if reserved else "{size} was allocated", allocated),
        ("{size} left on the device", first.free_bytes),
    )
    parts = [say(words, size=size_words(size)) for words, size in known if size is not None]
    more = (
        count_of(len(failed) - 1, " ({number:,} more failed)", " ({number:,} more failed)") if len(failed) > 1 else ""
    )
    if not parts:
        return say("{failed}{more}.", failed=whole, more=more)
    return say("{failed}: {parts}{more}.", failed=whole, parts=join(", ", parts), more=more)


def _of_peak(device: DeviceRow, owners: Sequence[OwnerRow]) -> Iterator[Text]:
    """How high it is and its largest parts; why these are not named where allocations and the sum contradict each other."""
    peak = say(
        "{device} holds {size} at the time of the snapshot"
        if device.growth_not_judged == "no history"
        else "{device} peaks at {size}{step}",
        device=device_first(device),
        size=size_words(device.peak_bytes),
        step="" if device.step is None else say(" in step {step}", step=device.step),
    )
    mine = [one for one in owners if where(one) == where(device)]
    parts = _largest(mine) if device.adds_up else []
    rest = [] if not device.reserved_bytes else [say("{size} is reserved", size=size_words(device.reserved_bytes))]
    shown = join("; ", [join(", ", parts), *rest] if parts else rest)
    yield say("{peak}: {parts_of_it}.", peak=peak, parts_of_it=shown) if shown else say("{peak}.", peak=peak)
    if mine and not device.adds_up:
        yield _not_named(device)


def _largest(owners: Sequence[OwnerRow]) -> list[Text]:
    """The owners with most of a peak; how small all of them are where that says more."""
    shares = sorted(((one.share or 0, one) for one in owners if not one.is_rest), key=lambda pair: -pair[0])
    named = [pair for pair in shares if pair[0] >= _IN_WORDS][:_IN_HEADLINE]
    if named and named[0][0] < _WORTH_A_NAME:
        return [say("no owner holds more than {share:.1%}", share=named[0][0])]
    return [say("{share:.0%} {owner}", share=share, owner=one.owner) for share, one in named]


def _not_named(device: DeviceRow) -> Text:
    if (device.explained or 0) < 1 - MUCH_UNEXPLAINED:
        return say(
            "Its owners are not named: recorded allocations explain only {share:.1%} of the changes of this sum.",
            share=device.explained or 0,
        )
    return say(
        "Its owners are not named: recorded allocations and this sum contradict each other by {size}.",
        size=size_words(abs(device.unexplained_bytes)),
    )


def _of_reserve(devices: Sequence[DeviceRow]) -> Iterator[Text]:
    """The device that reserves most beyond use, where that is much."""
    most = max(devices, key=lambda device: device.excess_bytes or 0)
    reserved, excess = most.highest_reserved_bytes, most.excess_bytes or 0
    if reserved and excess >= _FAR_ABOVE * reserved:
        yield say(
            "{device} reserves {reserved} then, {excess} more than is in use."
            if most.growth_not_judged == "no history"
            else "{device} reserves up to {reserved}, {excess} more than was ever in use.",
            device=device_first(most),
            reserved=size_words(reserved),
            excess=size_words(excess),
        )


def _of_growth(devices: Sequence[DeviceRow], growth: Sequence[GrowthRow]) -> Iterator[Text]:
    """The largest leak; where growth could not be looked for on any device, why. Nothing where nothing grows."""
    leaks = [one for one in growth if one.meaning == "leak"]
    if leaks:
        most = largest_leak(leaks)
        device = next(one for one in devices if where(one) == where(most))
        yield say("{leak}.", leak=leak_words(most, device))
        return
    grows = {where(one) for one in growth}
    unknown = [
        one.growth_not_judged for one in devices if one.growth_not_judged is not None and where(one) not in grows
    ]
    if unknown:
        some = say(" (on {number} of {all} devices)", number=len(unknown), all=len(devices))
        yield say(_NO_GROWTH[unknown[0]], some="" if len(unknown) == len(devices) else some, steps=MIN_STEPS + 1)


_NO_GROWTH = N_(
    {
        "no history": "Growth is not known{some}: the snapshot has no history, only one state; record one with _record_memory_history().",
        "no levels": "Growth is not known{some}: nothing records how much was allocated in the steps; profile with profile_memory=True.",
        "no steps": "Growth is not known{some}: no steps with times are recorded; profile at least {steps} steps with prof.step().",
        "few steps": "Growth is not known{some}: fewer than {steps} steps are recorded; profile at least {steps}.",
    }
)


def _of_logs(statements: Sequence[StatementRow]) -> Text | str:
    """The largest size of each kind that matters, where nothing but logs is here."""
    largest: dict[str, int] = {}
    for one in statements:
        if one.name in _LOGGED and one.size_bytes is not None:
            largest[one.name] = max(largest.get(one.name, 0), one.size_bytes)
    parts = [say(_LOGGED[name], size=size_words(largest[name])) for name in _LOGGED if name in largest]
    return say("According to its logs: {parts}.", parts=join(", ", parts)) if parts else ""


_LOGGED = N_({"weights_bytes": "{size} of weights", "kv_cache_bytes": "{size} of KV cache"})


def sentences_of(devices: Sequence[DeviceRow], owners: Sequence[OwnerRow]) -> list[str]:
    """What the host ran when memory peaked, of many ranks of the one that peaks highest; what names in the table mean."""
    shown = devices if len(devices) < MIN_RANKS else [max(devices, key=lambda device: device.peak_bytes)]
    of_device = any(device.steps_of == "device" and device.step is not None for device in devices)
    ran: list[str] = [
        say(
            "{device}: the host ran {calls} at the peak.",
            device=device_first(device),
            calls=" > ".join(device.running[-_INNERMOST:]),
        )
        for device in shown
        if device.running
    ]
    meant: list[str] = [
        say(_MEANT["sum"], component=one) for one in sorted({one.component for one in devices}) if "+" in one
    ]
    if any(one.unexplained and one.owner.startswith("released") for one in owners):
        meant.append(say(_MEANT["late"]))
    return [*([_STEPS_OF_DEVICE] if of_device else []), *ran, *meant]


_MEANT = N_(
    {
        "sum": "{component} is the sum over the allocators of the framework and of the graph engine (GE).",
        "late": "GE counts what it has released until its next allocation.",
        "APP": "APP is what the process took from the device directly.",
    }
)
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
    said: list[str] = [
        say("Process memory of {device} peaks at {size}.", device=device_words(most), size=size_words(size))
    ]
    excess = most.excess_bytes or 0
    if 0 < excess < size:
        said.append(
            say(
                "Without the {excess} that allocators reserved and never used, the process would still peak at {rest} or more.",
                excess=size_words(excess),
                rest=size_words(size - excess),
            )
        )
    return [*said, say(_MEANT["APP"])]


def absent(
    asked: Request[Any], nothing: str, captures: Sequence[Capture], steps: Collection[int], devices: Collection[int]
) -> Finding:
    """A finding that nothing matches the request, with the steps and devices that exist."""
    chosen = asked.options
    here = []
    if chosen.device is not None and devices and chosen.device not in devices:
        here.append(say("devices here: {devices}", devices=in_short(sorted(devices))))
    if chosen.step is not None and steps and chosen.step not in steps:
        here.append(say("steps here: {steps}", steps=in_short(sorted(steps))))
    elif chosen.step is not None and not steps and not here:
        here.append(say("no steps with times are recorded here"))
    return nothing_measured(
        asked.inputs, join("; ", [nothing, *here]), captures, rank=chosen.rank, device=chosen.device, step=chosen.step
    )


@dataclass(frozen=True, slots=True)
class OpenEnds:
    """Allocations of one file whose begin or end is not recorded: how many, and their bytes."""

    run: str
    path: str
    before: tuple[int, int]
    kept: tuple[int, int]


def open_ends_of(run: str, read: ReadDevice) -> Iterator[OpenEnds]:
    """Those of the files of a profiler; readers of others say it themselves."""
    for one in read.recordings:
        if one.source in PROFILER_SOURCES and one.events.num_rows:
            before, kept = (missing_of(one.events, name) for name in ("allocated_ns", "released_ns"))
            yield OpenEnds(run, one.path, before, kept)


def findings_of_open_ends(every: Iterable[OpenEnds]) -> Iterator[Finding]:
    """One of each kind for each run."""
    for mine in lists_by_key((one.run, one) for one in every).values():
        for ends, single, several in (
            (
                [(one.path, one.before) for one in mine if one.before[0]],
                "{number:,} allocation ({size}{files}) began before the recording",
                "{number:,} allocations ({size}{files}) began before the recording",
            ),
            (
                [(one.path, one.kept) for one in mine if one.kept[0]],
                "{number:,} allocation ({size}{files}) is not released in the recording",
                "{number:,} allocations ({size}{files}) are not released in the recording",
            ),
        ):
            if ends:
                number, size = (sum(end[place] for _, end in ends) for place in (0, 1))
                files = say(" in {files} files", files=len(ends)) if len(ends) > 1 else ""
                yield MEMORY_OPEN.found(
                    ends[0][0], count_of(number, single, several, size=size_words(size), files=files)
                )


def findings_of(read: ReadDevice) -> Iterator[Finding]:
    """What does not add up."""
    measured = read.memory
    if measured.owners and measured.explained < 1 - MUCH_UNEXPLAINED:
        yield MEMORY_UNEXPLAINED.found(
            _path(read),
            say(
                "recorded allocations and releases explain {share:.1%} of the changes of {component}",
                share=measured.explained,
                component=measured.pool.component,
            ),
        )
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


def _of_sources(read: ReadDevice) -> Iterator[Finding]:
    """Peaks of the same component in two sources, which differ."""
    for name, first, second in read.peak.disagreements:
        yield MEMORY_DISAGREES.found(
            _path(read),
            say(
                "{name}: the peak is {first} in {source}, {second} in {other}",
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
