"""How ranks split the work of a job: tensor, pipeline, context, expert and data parallel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

ParallelKind = Literal["pp", "tp", "cp", "ep", "dp"]


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """Where a rank is in one of its groups; the groups of one kind have no rank in common, so the lowest names each."""

    kind: ParallelKind
    first: int
    """The lowest rank of the group."""
    place: int
    """Counted from 0; in a group of a pipeline it is the stage."""
    size: int


Places: TypeAlias = Mapping[int, tuple[GroupPlace, ...]]
"""The places of each rank, by rank."""
