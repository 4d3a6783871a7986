"""What a waterfall shows: a bar for the step before, one for each part of its change, one for the step after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoe_reports.model.texts import N_, Text

BarKind = Literal["whole", "longer", "shorter", "minor"]
BAR_WORDS = N_({"whole": "the step", "longer": "takes longer", "shorter": "takes less", "minor": "minor difference"})
"""The words for each kind."""


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """One bar, from a time of the step to another; ns."""

    label: Text | str
    start_ns: int
    end_ns: int
    kind: BarKind


@dataclass(frozen=True, slots=True)
class WaterfallPicture:
    """The change of one step, the bars in order."""

    title: Text
    bars: tuple[WaterfallBar, ...]
    whole: Text | str = BAR_WORDS["whole"]
    """What the first and the last bar are of."""
