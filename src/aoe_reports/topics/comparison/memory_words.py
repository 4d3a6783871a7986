"""What changed in the memory of devices, in words."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import as_mapping, columns_of, telling_columns
from aoe_reports.model.shares import change_words
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.topics.memory_words import owner_words, signed_size
from aoe_reports.topics.comparison.memory import ComparedMemory, MemoryPeak, PeakPart

MIN_CHANGE = 0.01
"""A peak that changes by less is in no headline."""
_NAMED = 3
_OF_WHOLE = 0.1
"""An owner that makes a smaller part of the change is in no headline."""


def with_memory(headline: str, memory: ComparedMemory) -> str:
    """A headline, and what the largest peak did, where it changed by as much as matters."""
    most = max(memory.peaks, key=lambda peak: (peak.after_bytes, abs(peak.difference_bytes)), default=None)
    if most is None:
        return headline
    if abs(most.difference_bytes) < MIN_CHANGE * most.before_bytes or not most.difference_bytes:
        return _unchanged(most) if memory.is_alone else headline
    named = _named(most, memory.parts)
    words = say(
        "Peak memory{rank}: {change}{owners}."
        if most.measure == "allocated"
        else "Peak reserved memory{rank}: {change}{owners}.",
        rank="" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id),
        change=_change(most),
        owners=join("", (say("; {part}", part=_part(one)) for one in named)),
    )
    return join(" ", [headline, words]) if headline else words


def _unchanged(peak: MemoryPeak) -> Text:
    return say(
        "The highest peak of memory changes by less than {least:.0%}: {before} before, {after} after.",
        least=MIN_CHANGE,
        before=size_words(peak.before_bytes),
        after=size_words(peak.after_bytes),
    )


def _named(peak: MemoryPeak, parts: Sequence[PeakPart]) -> list[PeakPart]:
    """The owners that make most of a change."""
    mine = [part for part in parts if _whose(part) == _whose(peak) and not part.others]
    least = _OF_WHOLE * abs(peak.difference_bytes)
    return [
        part
        for part in mine
        if part.difference_bytes * peak.difference_bytes > 0 and abs(part.difference_bytes) >= least
    ][:_NAMED]


def _whose(one: MemoryPeak | PeakPart) -> tuple[str, int | None, int | None]:
    return one.candidate, one.rank_id, one.device_id


def _change(peak: MemoryPeak) -> Text:
    levels = say("{before} → {after}", before=size_words(peak.before_bytes), after=size_words(peak.after_bytes))
    if peak.ratio is None:
        return levels
    return say(
        "{difference}, {change} ({levels})",
        difference=signed_size(peak.difference_bytes),
        change=change_words(peak.ratio - 1),
        levels=levels,
    )


def _part(part: PeakPart) -> Text:
    return say("{owner} {difference}", owner=owner_words(part), difference=signed_size(part.difference_bytes))


def memory_sections(memory: ComparedMemory) -> list[Section]:
    """The peaks of all devices if any changed or nothing else is compared, and for some of them the owners of the change."""
    if not memory.peaks or not (memory.is_alone or any(peak.difference_bytes for peak in memory.peaks)):
        return []
    peaks = [as_mapping(peak) for peak in memory.peaks]
    parts = [as_mapping(part) | {"name": owner_words(part, "name", part.others)} for part in memory.parts]
    sections = [Section(say("Peak memory"), [], grid=Grid(telling_columns(columns_of(MemoryPeak), peaks), peaks))]
    if parts:
        about = say("Differences add up to that of the peak.")
        grid = Grid(telling_columns(columns_of(PeakPart), parts), parts)
        sections.append(Section(say("Change of the peak by owner"), [about], grid=grid))
    return sections
