"""What a waterfall shows: a bar for the time or size before, one for each part of its change, one for what it is after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aoe_reports.model.texts import N_, Text, say

BarKind = Literal["whole", "longer", "shorter", "minor"]
BarUnit = Literal["ns", "bytes"]
BAR_WORDS: Final[Mapping[BarUnit, Mapping[BarKind, str]]] = {
    "ns": N_({"whole": "the step", "longer": "takes longer", "shorter": "takes less", "minor": "minor difference"}),
    "bytes": N_({"whole": "the peak", "longer": "holds more", "shorter": "holds less", "minor": "minor difference"}),
}
"""The words for each kind."""


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """One bar, from one level to another, in the unit of its picture."""

    label: Text | str
    start: int
    end: int
    kind: BarKind


@dataclass(frozen=True, slots=True)
class WaterfallPicture:
    """One change, the bars in order."""

    title: Text
    bars: tuple[WaterfallBar, ...]
    unit: BarUnit = "ns"
    whole: Text | None = None
    """What the first and the last bar are of, where BAR_WORDS does not say it."""


def bars_of(before: int, parts: Iterable[tuple[Text | str, int]]) -> tuple[WaterfallBar, ...]:
    """The level before, each (label, difference) from where the one before ends, the level after."""
    bars, reached = [WaterfallBar(say("before"), 0, before, "whole")], before
    for label, difference in parts:
        kind: BarKind = "longer" if difference > 0 else "shorter"
        bars.append(WaterfallBar(label, reached, reached + difference, kind))
        reached += difference
    return (*bars, WaterfallBar(say("after"), 0, reached, "whole"))
