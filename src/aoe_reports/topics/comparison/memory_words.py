"""What changed in the memory of devices, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aoe_reports.model.pictures.waterfall import WaterfallPicture, bars_of
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import as_mapping, columns_of, telling_columns
from aoe_reports.model.shares import change_words
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.topics.memory_words import owner_words, signed_size
from aoe_reports.topics.comparison.memory import PROCESS, ComparedMemory, MemoryPeak, PeakPart

MIN_CHANGE = 0.01
"""A peak that changes by less is in no headline."""
_NAMED = 3
_OF_WHOLE = 0.1
"""An owner that makes a smaller part of the change is in no headline."""


def with_memory(headline: str, memory: ComparedMemory) -> str:
    """A headline, and what the largest peak did, what is reserved and the process, where each changed by as much as matters."""
    peaks = [peak for peak in memory.peaks if peak.component != PROCESS]
    most = _highest(peaks)
    if most is None:
        return headline
    said = (_peak_words(most, memory.parts), _reserved_words(peaks), _process_words(memory))
    words = [words for words in said if words]
    if memory.is_alone and not words:
        words = [_unchanged(most)]
    return join(" ", [headline, *words] if headline else words)


def _highest(peaks: Iterable[MemoryPeak]) -> MemoryPeak | None:
    return max(peaks, key=lambda peak: (peak.after_bytes, abs(peak.difference_bytes)), default=None)


def picture_of_memory(memory: ComparedMemory) -> WaterfallPicture | None:
    """The waterfall of the highest peak whose owners are known; None where none of them changed."""
    known = {_whose(part) for part in memory.parts}
    most = _highest(peak for peak in memory.peaks if _whose(peak) in known)
    if most is None:
        return None
    parts = [
        (owner_words(part, "place", part.others), part.difference_bytes)
        for part in memory.parts
        if _whose(part) == _whose(most)
    ]
    change = _change(most.before_bytes, most.after_bytes)
    title = say("Peak memory{rank}: {change}", rank=_on_rank(most), change=change)
    return WaterfallPicture(title, bars_of(most.before_bytes, parts), "bytes")


def _peak_words(peak: MemoryPeak, parts: Sequence[PeakPart]) -> Text | None:
    if not _matters(peak.difference_bytes, peak.before_bytes):
        return None
    return say(
        "Peak memory{rank}: {change}{owners}."
        if peak.measure == "allocated"
        else "Peak reserved memory{rank}: {change}{owners}.",
        rank=_on_rank(peak),
        change=_change(peak.before_bytes, peak.after_bytes),
        owners=join("", (say("; {part}", part=_part(one)) for one in _named(peak, parts))),
    )


def _reserved_words(peaks: Sequence[MemoryPeak]) -> Text | None:
    """The reserve that changed most, where it changed otherwise than what is allocated."""
    changes = [
        (peak.reserved_after_bytes - peak.reserved_before_bytes, peak)
        for peak in peaks
        if peak.measure == "allocated"
        and peak.reserved_before_bytes is not None
        and peak.reserved_after_bytes is not None
    ]
    changed, peak = max(changes, key=lambda change: abs(change[0]), default=(0, peaks[0]))
    before, after = peak.reserved_before_bytes or 0, peak.reserved_after_bytes or 0
    if not (_matters(changed, before) and _matters(changed - peak.difference_bytes, before)):
        return None
    return say("Highest reserved memory{rank}: {change}.", rank=_on_rank(peak), change=_change(before, after))


def _process_words(memory: ComparedMemory) -> Text | None:
    """The process that changed most beside what its allocator reserved, with the components that did."""
    reserved = {
        _whose(peak): (peak.reserved_after_bytes or 0) - (peak.reserved_before_bytes or 0)
        for peak in memory.peaks
        if peak.component != PROCESS
    }
    beside = [
        (peak.difference_bytes - reserved[_whose(peak)], peak) for peak in memory.peaks if peak.component == PROCESS
    ]
    changed, peak = max(beside, key=lambda change: abs(change[0]), default=(0, None))
    if peak is None or not (
        _matters(peak.difference_bytes, peak.before_bytes) and _matters(changed, peak.before_bytes)
    ):
        return None
    return say(
        "Memory of the process{rank}: {change}{owners}.",
        rank=_on_rank(peak),
        change=_change(peak.before_bytes, peak.after_bytes),
        owners=join("", (say("; {part}", part=_part(one)) for one in _named(peak, memory.parts))),
    )


def _matters(difference: int, before: int) -> bool:
    return bool(difference) and abs(difference) >= MIN_CHANGE * before


def _on_rank(peak: MemoryPeak) -> Text | str:
    rank = "" if peak.rank_id is None else say(" on rank {rank}", rank=peak.rank_id)
    if peak.process_id is None:
        return rank
    return join("", (rank, say(" (process {process})", process=peak.process_id)))


def _unchanged(peak: MemoryPeak) -> Text:
    return say(
        "The highest peak of memory changes by less than {least:.0%}: {before} before, {after} after.",
        least=MIN_CHANGE,
        before=size_words(peak.before_bytes),
        after=size_words(peak.after_bytes),
    )


def _named(peak: MemoryPeak, parts: Sequence[PeakPart]) -> list[PeakPart]:
    """The owners that make most of a change."""
    mine = [
        part for part in parts if (_whose(part), part.component) == (_whose(peak), peak.component) and not part.others
    ]
    least = _OF_WHOLE * abs(peak.difference_bytes)
    return [
        part
        for part in mine
        if part.difference_bytes * peak.difference_bytes > 0 and abs(part.difference_bytes) >= least
    ][:_NAMED]


def _whose(one: MemoryPeak | PeakPart) -> tuple[str, int | None, int | None, int | None]:
    return one.candidate, one.rank_id, one.device_id, one.process_id


def _change(before: int, after: int) -> Text:
    levels = say("{before} → {after}", before=size_words(before), after=size_words(after))
    if not before:
        return levels
    return say(
        "{difference}, {change} ({levels})",
        difference=signed_size(after - before),
        change=change_words(after / before - 1),
        levels=levels,
    )


def _part(part: PeakPart) -> Text:
    owner = owner_words(part, "name" if part.component == PROCESS else "use")
    return say("{owner} {difference}", owner=owner, difference=signed_size(part.difference_bytes))


def memory_sections(memory: ComparedMemory) -> list[Section]:
    """The peaks of all devices if any changed or nothing else is compared, and for some of them the owners of the change."""
    if not memory.peaks or not (memory.is_alone or any(_has_changed(peak) for peak in memory.peaks)):
        return []
    peaks = [as_mapping(peak) for peak in memory.peaks]
    parts = [as_mapping(part) | {"name": owner_words(part, "name", part.others)} for part in memory.parts]
    sections = [Section(say("Peak memory"), [], grid=Grid(telling_columns(columns_of(MemoryPeak), peaks), peaks))]
    if parts:
        about = say("Differences add up to that of the peak.")
        grid = Grid(telling_columns(columns_of(PeakPart), parts), parts)
        sections.append(Section(say("Change of the peak by owner"), [about], grid=grid))
    return sections


def _has_changed(peak: MemoryPeak) -> bool:
    return bool(peak.difference_bytes) or peak.reserved_before_bytes != peak.reserved_after_bytes
