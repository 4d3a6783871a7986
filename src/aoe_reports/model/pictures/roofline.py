"""What a roofline shows: the roofs of a device, and its operators by intensity and by what they reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoe_reports.model.texts import N_, Text

PointKind = Literal["compute", "memory", "cache", "small", "unbounded"]
POINT_WORDS = N_(
    {
        "compute": "bound by compute",
        "memory": "bound by memory",
        "cache": "fed by the cache",
        "small": "too short (launch)",
        "unbounded": "roof not known",
    }
)
"""The words for each kind."""


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """One operator: FLOP per byte, FLOP/s, its part of the device's computing time."""

    label: str
    intensity: float
    flops_per_s: float
    share: float
    kind: PointKind


@dataclass(frozen=True, slots=True)
class RooflineRoof:
    """A peak: a level from the intensity on at which the memory feeds it."""

    label: str
    flops_per_s: float


@dataclass(frozen=True, slots=True)
class RooflinePicture:
    """The roofline of one device, log-log; the slope is there where the bandwidth is known."""

    title: Text
    roofs: tuple[RooflineRoof, ...]
    bytes_per_s: float | None
    points: tuple[RooflinePoint, ...]
    left_out: int = 0
    """Operators that move data without computing, or whose work is not known: they have no place here."""
