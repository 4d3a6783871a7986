"""Peaks of memory before and after: the change of each device, and of some of them by owner, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, Level
from aoe_reports.model.topics.memory_changes import Holder, changes_by_holder, sizes_by_holder
from aoe_reports.model.topics.memory_words import MEASURE_WORDS, kind_words

_MAX_SHARE = 10
"""Owners that change by more than so many times the whole cancel each other: they are no share of it."""


@row
class MemoryPeak:
    """The highest memory of a device before and after, of one measure of one component, and the highest reserved memory of that component."""

    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    component: str = column("Component")
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
    """What an owner adds to the change of a peak: the parts of a device add up to it, byte for byte.

    They are given of the ranks with the largest and the median peak of the candidate.
    """

    position: int = column("#", "integer")
    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
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


_Place = tuple[int | None, int | None]
_Pair = tuple[DeviceMemory, DeviceMemory]


def compare_memory(
    baseline: MeasuredRun, candidates: Iterable[MeasuredRun], top: int, findings: list[Finding]
) -> ComparedMemory:
    """Every candidate against the baseline; nothing where memory is not recorded on both sides."""
    compared = ComparedMemory([], [], baseline.of_memory)
    for candidate in candidates:
        pairs = [pair for pair in _paired(baseline, candidate) if _is_comparable(pair, candidate, findings)]
        compared.peaks.extend(_peak(baseline.label, candidate.label, pair) for pair in pairs)
        for pair in _largest_and_median([pair for pair in pairs if pair[1].measure == "allocated"]):
            compared.parts.extend(_parts(baseline.label, candidate.label, pair, top))
    return compared


def _paired(baseline: MeasuredRun, candidate: MeasuredRun) -> list[_Pair]:
    """The same ranks, else devices; a single device of each side whatever its number."""
    if len(baseline.memory) == len(candidate.memory) == 1:
        return [(baseline.memory[0], candidate.memory[0])]
    before = {_place(device): device for device in baseline.memory}
    return [(before[_place(device)], device) for device in candidate.memory if _place(device) in before]


def _place(device: DeviceMemory) -> _Place:
    return device.rank_id, None if device.rank_id is not None else device.device_id


def _is_comparable(pair: _Pair, candidate: MeasuredRun, findings: list[Finding]) -> bool:
    from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN

    before, after = (
        say("{measure} memory of {component}", measure=say(MEASURE_WORDS[one.measure]), component=one.pool.component)
        for one in pair
    )
    if before == after:
        return True
    message = say("memory is not compared: the baseline records {before}, this {after}", before=before, after=after)
    findings.append(COMPARABILITY_UNKNOWN.found(candidate.label, message))
    return False


def _peak(baseline: str, candidate: str, pair: _Pair) -> MemoryPeak:
    before, after = pair
    sizes = before.peak.size_bytes, after.peak.size_bytes
    return MemoryPeak(
        baseline=baseline,
        candidate=candidate,
        rank_id=after.rank_id,
        device_id=after.device_id,
        component=after.pool.component,
        measure=after.measure,
        before_bytes=sizes[0],
        after_bytes=sizes[1],
        difference_bytes=sizes[1] - sizes[0],
        ratio=round(sizes[1] / sizes[0], 6) if sizes[0] else None,
        reserved_before_bytes=_size(before.pool.reserved),
        reserved_after_bytes=_size(after.pool.reserved),
    )


def _size(level: Level | None) -> int | None:
    return None if level is None else level.size_bytes


def _largest_and_median(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs with the largest and the (lower) median peak after; of one or two all."""
    ordered = sorted(pairs, key=lambda pair: -pair[1].peak.size_bytes)
    return ordered if len(ordered) < 3 else [ordered[0], ordered[len(ordered) // 2]]  # noqa: PLR2004 -- two are shown


def _parts(baseline: str, candidate: str, pair: _Pair, top: int) -> Iterator[PeakPart]:
    changes = changes_by_holder(_sizes_of(pair[0]), _sizes_of(pair[1]), top)
    whole = sum(change.difference_bytes for change in changes)
    for position, change in enumerate(changes, start=1):
        yield PeakPart(
            position=position,
            baseline=baseline,
            candidate=candidate,
            rank_id=pair[1].rank_id,
            device_id=pair[1].device_id,
            **change.holder._asdict(),
            used_for=kind_words(change.holder),
            others=change.others,
            before_bytes=change.before_bytes,
            after_bytes=change.after_bytes,
            difference_bytes=change.difference_bytes,
            share=_share(change.difference_bytes, whole),
        )


def _sizes_of(device: DeviceMemory) -> dict[Holder, int]:
    """What each holder has of a peak; what no owner is known of is unexplained."""
    sizes = sizes_by_holder(device.owners)
    unexplained = Holder(unexplained=True)
    rest = device.peak.size_bytes - sum(sizes.values())
    return {**sizes, unexplained: sizes.get(unexplained, 0) + rest} if rest else sizes


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole and abs(part) <= abs(whole) * _MAX_SHARE else None
