"""What a chart of a pipeline shows: a lane for each stage, what it did in one step, and how much of the step it waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoe_reports.model.texts import N_, Text

PieceKind = Literal["forward", "backward", "computing", "waiting", "sending"]
PIECE_WORDS = N_(
    {
        "forward": "forward",
        "backward": "backward",
        "computing": "computing",
        "waiting": "waits to receive",
        "sending": "sends",
    }
)
"""The words for each kind."""


@dataclass(frozen=True, slots=True)
class PipelinePiece:
    """A stretch of one lane, since the begin of the step; ns."""

    kind: PieceKind
    start_ns: int
    end_ns: int
    busy_ns: int
    """How much of it is what the kind says: gaps of less than a pixel are within."""


@dataclass(frozen=True, slots=True)
class PipelineLane:
    """One stage; its three times add up to the step."""

    rank_id: int
    busy_ns: int
    waiting_ns: int
    rest_ns: int
    pieces: tuple[PipelinePiece, ...]


@dataclass(frozen=True, slots=True)
class PipelinePicture:
    """One step of a pipeline; without lanes the title says why there is none."""

    title: Text
    lines: tuple[Text, ...] = ()
    """What is said above the lanes."""
    duration_ns: int = 0
    lanes: tuple[PipelineLane, ...] = ()
