"""Peaks of memory before and after: the change of each device, and of some of them by owner, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, Level, Owner
from aoe_reports.model.topics.memory_changes import Holder, changes_by_holder, sizes_by_holder
from aoe_reports.model.topics.memory_words import MEASURE_WORDS, kind_words
from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN

_MAX_SHARE = 10
"""Owners that change by more than so many times the whole cancel each other: they are no share of it."""


@row
class MemoryPeak:
    """The highest memory of a device before and after, of one measure of one component, and the highest reserved memory of that component.

    Beside it that of the process, to which components of CANN belong, too.
    """

    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    process_id: int | None = column("Process", "integer")
    """Of the candidate, where several processes use the device."""
    component: str = column("Component")
    """`process`: all that the process held."""
    measure: str = column("Measure", "word")
    """What it is the peak of: reserved memory, where what is allocated is not recorded."""
    before_bytes: int = column("Peak before", "size")
    after_bytes: int = column("Peak after", "size")
    difference_bytes: int = column("Difference", "size")
    ratio: float | None = column("Ratio", "ratio")
    reserved_before_bytes: int | None = column("Reserved before", "size")
    reserved_after_bytes: int | None = column("Reserved after", "size")


@row
class PeakPart:
    """What an owner adds to the change of a peak: the parts of a component on a device add up to it, byte for byte.

    They are given of the ranks with the largest and the median peak of the candidate; those of the process are components.
    """

    position: int = column("#", "integer")
    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    process_id: int | None = column("Process", "integer")
    component: str = column("Component")
    """Of whose peak it is a part."""
    name: str | None = column("Owner")
    kind: str | None = column()
    used_for: str | None = column("Used for", "word")
    """The kind in words."""
    module: str | None = column("Module")
    since_before: bool = column()
    """Held since before the recording."""
    unexplained: bool = column()
    """The part of a peak that no recorded allocation explains."""
    others: int = column()
    """The number of owners that this row sums up; 0 where it is one owner."""
    before_bytes: int = column("Before", "size")
    after_bytes: int = column("After", "size")
    difference_bytes: int = column("Difference", "size")
    share: float | None = column("Share of the change", "percent")


class MeasuredRun(Protocol):
    """A run as far as its memory is compared."""

    @property
    def label(self) -> str:
        """Its name."""

    @property
    def memory(self) -> Sequence[DeviceMemory]:
        """Of its devices."""

    @property
    def of_memory(self) -> bool:
        """Whether only its memory is recorded."""


@dataclass(frozen=True, slots=True)
class ComparedMemory:
    """The peaks of all devices of some pairs of runs, and the owners of some of them."""

    peaks: list[MemoryPeak]
    parts: list[PeakPart]
    is_alone: bool = False
    """Whether nothing else is compared, so that a peak that stayed the same is worth a sentence."""


PROCESS = "process"
_Place = tuple[int | None, int | None]
_Pair = tuple[DeviceMemory, DeviceMemory]
_Sizes = dict[Holder, int]


def compare_memory(
    baseline: MeasuredRun, candidates: Iterable[MeasuredRun], top: int, findings: list[Finding]
) -> ComparedMemory:
    """Every candidate against the baseline; nothing where memory is not recorded on both sides."""
    compared = ComparedMemory([], [], baseline.of_memory)
    for candidate in candidates:
        pairs = [pair for pair in _paired(baseline, candidate, findings) if _is_comparable(pair, candidate, findings)]
        shown = _largest_and_median([pair for pair in pairs if pair[1].measure == "allocated"])
        for pair in pairs:
            compared.peaks.extend(_peaks(baseline.label, candidate.label, pair))
        for pair in shown:
            peaks = _peaks(baseline.label, candidate.label, pair)
            for peak, before, after in zip(peaks, *map(_holders, pair), strict=False):
                compared.parts.extend(_parts(peak, before, after, top))
    return compared


def _paired(baseline: MeasuredRun, candidate: MeasuredRun, findings: list[Finding]) -> list[_Pair]:
    """The same ranks, else devices; a single device of each side whatever its number.

    Processes of a device have other numbers in each run: the first of one side is paired with the first of the other, in the order in which they
    begin to use memory.
    """
    before, after = (lists_by_key((_place(one), one) for one in side.memory) for side in (baseline, candidate))
    if len(before) == len(after) == 1:
        before = dict(zip(after, before.values(), strict=True))
    pairs: list[_Pair] = []
    for place, mine in after.items():
        theirs = before.get(place, [])
        if theirs and len(theirs) != len(mine):
            findings.append(_other_processes(candidate, place, len(theirs), len(mine)))
            continue
        pairs += zip(sorted(theirs, key=_begin), _numbered(sorted(mine, key=_begin)), strict=False)
    return pairs


def _numbered(processes: list[DeviceMemory]) -> list[DeviceMemory]:
    """The processes of a device; where there is one its number says nothing."""
    return processes if len(processes) > 1 else [replace(one, process_id=None) for one in processes]


def _begin(device: DeviceMemory) -> tuple[int, int]:
    return device.pool.first_ns, device.process_id or 0


def _other_processes(candidate: MeasuredRun, place: _Place, before: int, after: int) -> Finding:
    rank, device = place
    return COMPARABILITY_UNKNOWN.found(
        candidate.label,
        say(
            "memory of {place} is not compared: {before} processes use it in the baseline, {after} in this",
            place=say("device {device}", device=device) if rank is None else say("rank {rank}", rank=rank),
            before=before,
            after=after,
        ),
    )


def _place(device: DeviceMemory) -> _Place:
    return device.rank_id, None if device.rank_id is not None else device.device_id


def _is_comparable(pair: _Pair, candidate: MeasuredRun, findings: list[Finding]) -> bool:
    before, after = (
        say("{measure} memory of {component}", measure=say(MEASURE_WORDS[one.measure]), component=one.pool.component)
        for one in pair
    )
    if before == after:
        return True
    message = say("memory is not compared: the baseline records {before}, this {after}", before=before, after=after)
    findings.append(COMPARABILITY_UNKNOWN.found(candidate.label, message))
    return False


def _peaks(baseline: str, candidate: str, pair: _Pair) -> list[MemoryPeak]:
    """That of the component whose peak is taken apart, and that of the process, where it is another one and both sides record it."""
    before, after = pair
    found = [(after.pool.component, after.measure, before.peak, after.peak)]
    if before.process is not None and after.process is not None and after.pool.scope == "allocator":
        found.append((PROCESS, "reserved", before.process, after.process))
    reserved = _size(before.pool.reserved), _size(after.pool.reserved)
    return [
        MemoryPeak(
            baseline=baseline,
            candidate=candidate,
            rank_id=after.rank_id,
            device_id=after.device_id,
            process_id=after.process_id,
            component=component,
            measure=measure,
            before_bytes=first.size_bytes,
            after_bytes=last.size_bytes,
            difference_bytes=last.size_bytes - first.size_bytes,
            ratio=round(last.size_bytes / first.size_bytes, 6) if first.size_bytes else None,
            reserved_before_bytes=None if component == PROCESS else reserved[0],
            reserved_after_bytes=None if component == PROCESS else reserved[1],
        )
        for component, measure, first, last in found
    ]


def _size(level: Level | None) -> int | None:
    return None if level is None else level.size_bytes


def _largest_and_median(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs with the largest and the (lower) median peak after; of one or two all."""
    ordered = sorted(pairs, key=lambda pair: -pair[1].peak.size_bytes)
    return ordered if len(ordered) < 3 else [ordered[0], ordered[len(ordered) // 2]]  # noqa: PLR2004 -- two are shown


def _parts(peak: MemoryPeak, before: _Sizes, after: _Sizes, top: int) -> Iterator[PeakPart]:
    changes = changes_by_holder(before, after, top)
    whole = sum(change.difference_bytes for change in changes)
    for position, change in enumerate(changes, start=1):
        yield PeakPart(
            position=position,
            baseline=peak.baseline,
            candidate=peak.candidate,
            rank_id=peak.rank_id,
            device_id=peak.device_id,
            process_id=peak.process_id,
            component=peak.component,
            **change.holder._asdict(),
            used_for=kind_words(change.holder),
            others=change.others,
            before_bytes=change.before_bytes,
            after_bytes=change.after_bytes,
            difference_bytes=change.difference_bytes,
            share=_share(change.difference_bytes, whole),
        )


def _holders(device: DeviceMemory) -> list[_Sizes]:
    """What each holder has of the peaks of a device, that of the process last."""
    sizes = [_sizes_of(device.owners, device.peak)]
    return sizes if device.process is None else [*sizes, _sizes_of(device.process_parts, device.process)]


def _sizes_of(owners: Sequence[Owner], peak: Level) -> _Sizes:
    """What each holder has of a peak; what no owner is known of is unexplained."""
    sizes = sizes_by_holder(owners)
    unexplained = Holder(unexplained=True)
    rest = peak.size_bytes - sum(sizes.values())
    return {**sizes, unexplained: sizes.get(unexplained, 0) + rest} if rest else sizes


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole and abs(part) <= abs(whole) * _MAX_SHARE else None
