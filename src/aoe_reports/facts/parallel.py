"""The layout of a job: which group and which stage of a pipeline each rank belongs to, as far as files tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.parallel import GroupPlace, ParallelKind, Places


@dataclass(frozen=True, slots=True)
class Layout:
    """The groups and stages of the ranks of a run; empty where no file tells of any."""

    places: Places = field(default_factory=dict)
    stages: Mapping[int, int] = field(default_factory=dict)
    """The stage of each rank, counted from 0."""
    numbers: Mapping[tuple[ParallelKind, int], int] = field(default_factory=dict)
    """The number of each group by its kind and lowest rank: groups of one kind are counted from 0 in the order of these ranks."""

    def groups(self, kind: ParallelKind) -> dict[int, list[int]]:
        """The ranks of each group of one kind, by its number."""
        found = lists_by_key((self.numbers[kind, place.first], rank) for rank, place in self._of_kind(kind))
        return dict(sorted(found.items()))

    def _of_kind(self, kind: ParallelKind) -> Iterator[tuple[int, GroupPlace]]:
        return ((rank, place) for rank, places in sorted(self.places.items()) for place in places if place.kind == kind)


def layout_of(told: Iterable[Places], stages: Iterable[Mapping[int, int]] = ()) -> Layout:
    """The layout of a run by all that tells of it; of what tells of one rank, the first is believed.

    `stages` are what tables of stages tell: they are asked where no group is a pipeline.
    """
    places: dict[int, tuple[GroupPlace, ...]] = {}
    for one in told:
        for rank, mine in one.items():
            places.setdefault(rank, mine)
    numbers: dict[tuple[ParallelKind, int], int] = {}
    counted = Counter[ParallelKind]()
    for kind, first in sorted({(place.kind, place.first) for mine in places.values() for place in mine}):
        numbers[kind, first] = counted[kind]
        counted[kind] += 1
    by_groups = {rank: place.place for rank, mine in places.items() for place in mine if place.kind == "pp"}
    return Layout(places, by_groups or next(filter(None, stages), {}), numbers)
