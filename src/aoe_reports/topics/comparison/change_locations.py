"""In which layer or module of a program the change of a kernel happened, or in how many layers alike.

One location is named if it has at least half of the change, and no other one changed half as much, in either direction: of two runs of the
same program each layer scatters, and a layer that does so a little more is no cause. Layers that changed at least half as much as the one
that changed most are alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from aoe_reports.topics.comparison.waterfall import (
    Cause,
    LocatedKey,
    Locations,
    Part,
    Side,
    both,
    inputs_are_told,
    sum_of_fractions,
)
from aoe_reports.topics.locations.facts import TOLD_BY, in_any_block

_Inputs = tuple[str | None, ...]
_Time = tuple[int, int]
"""(count, total ns) in all steps."""
_Calls = Mapping[_Inputs, Mapping[str | None, _Time]]
"""The calls of one type by inputs and location, null for those without one."""


@dataclass(frozen=True, slots=True)
class Where:
    """In which layer or module a part of a change happened; or in how many layers alike, of those that the kernel runs in.

    Of layers alike `location` is the module that they have in common, as it is called in all of them (`DecoderLayer_*/Attention`).
    """

    location: str | None = None
    told_by: str | None = None
    layers_changed: int | None = None
    layers: int | None = None


NOWHERE = Where()
_OF_CALLS: frozenset[Cause] = frozenset({"slower-calls", "faster-calls"})
_OF_NUMBER: frozenset[Cause] = frozenset({"more-calls", "fewer-calls"})
_OF_HIDING: frozenset[Cause] = frozenset({"less-hidden", "more-hidden"})
"""What hides a kernel is no matter of where it was launched."""
_ONE, _SEVERAL = Fraction(1, 3), Fraction(3, 4)
"""One location, or several, need so much of all changes, whichever way they go: where everything scatters one is always the first."""


class ChangeLocations:
    """Tells where the parts of a change happened; to be asked for kernels only."""

    def __init__(self, before: Side, after: Side) -> None:
        """Of one device in two runs."""
        self._sides: tuple[_Located, _Located] | None = None
        if before.locations is None or after.locations is None or before.grouped_by != after.grouped_by:
            return
        self._with_inputs = inputs_are_told(before.calls or {}, after.calls or {})
        sides = _Located.of(before.steps, before.locations), _Located.of(after.steps, after.locations)
        if _named_alike(*sides):
            self._sides = sides

    def of(self, part: Part) -> Where:
        """Where a part happened; NOWHERE where less than half of its time is attributed, or no location stands out."""
        if self._sides is None or not part.types or part.cause in _OF_HIDING:
            return NOWHERE
        before, after = self._sides
        if not (before.attributes(part.types) and after.attributes(part.types)):
            return NOWHERE
        changes: dict[str | None, Fraction] = defaultdict(Fraction)
        for name in part.types:
            calls = [side.by_inputs(name, with_inputs=self._with_inputs) for side in (before, after)]
            for location, change in _changes(part.cause, calls[0], calls[1], (before.steps, after.steps)):
                changes[location] += change
        whole = sum(changes.values(), Fraction(0))
        if whole * part.change <= 0:  # calls moved between locations: that is no change of theirs
            return NOWHERE
        return self._chosen({name: change for name, change in changes.items() if name is not None}, whole)

    def _chosen(self, changes: Mapping[str, Fraction], whole: Fraction) -> Where:
        blocks = {location: block for side in self._sides or () for location, block in side.told.blocks.items()}
        of_blocks: dict[str, Fraction] = defaultdict(Fraction)
        for location, change in changes.items():
            of_blocks[blocks.get(location, location)] += change
        for found in (changes, of_blocks):
            alike = _alike(found, whole)
            if len(alike) == 1:
                return Where(alike[0], self._told_by(one for one in changes if alike[0] in {one, blocks.get(one)}))
        if alike and {*alike} <= {*blocks.values()}:
            told_by = self._told_by(one for one in changes if blocks.get(one) in alike)
            common = _common(changes, alike, blocks)
            return Where(common, told_by, len(alike), len({blocks[one] for one in changes if one in blocks}))
        return NOWHERE

    def _told_by(self, locations: Iterable[str]) -> str:
        told = {word for location in locations for side in self._sides or () for word in side.told.told_by.get(location, "").split(", ")}  # fmt: skip
        return ", ".join(word for word in TOLD_BY if word in told)


def _common(changes: Mapping[str, Fraction], alike: Iterable[str], blocks: Mapping[str, str]) -> str | None:
    """The module that has at least half of the change of each block, as it is called in all of them; null where these differ."""
    names = set()
    for block in alike:
        mine = {one: change for one, change in changes.items() if blocks.get(one) == block}
        most = max(mine, key=lambda one: (abs(mine[one]), one))
        is_enough = most != block and 2 * abs(mine[most]) >= abs(sum(mine.values(), Fraction(0)))
        names.add(in_any_block(most, block) if is_enough else None)
    return names.pop() if len(names) == 1 else None


@dataclass(frozen=True, slots=True)
class _Located:
    """One side: its calls by type."""

    steps: int
    told: Locations
    calls: Mapping[str, Sequence[tuple[LocatedKey, _Time]]]
    times: Mapping[str | None, int]
    """All time by location; ns."""

    @classmethod
    def of(cls, steps: int, locations: Locations) -> _Located:
        calls: dict[str, list[tuple[LocatedKey, _Time]]] = defaultdict(list)
        times = Counter[str | None]()
        for key, time in locations.calls.items():
            calls[key[0] or ""].append((key, time))
            times[key[-1]] += time[1]
        return cls(steps, locations, calls, times)

    def attributes(self, types: Iterable[str]) -> bool:
        """Whether at least half of the time of some types has a location."""
        every = [(key[-1], total) for name in types for key, (_, total) in self.calls.get(name, ())]
        told = sum(total for location, total in every if location is not None)
        return 2 * told >= sum(total for _, total in every)

    def by_inputs(self, name: str, *, with_inputs: bool) -> _Calls:
        """The calls of a type; without inputs where one of the sides has not recorded them: then they are no difference."""
        found: dict[_Inputs, dict[str | None, _Time]] = defaultdict(dict)
        for key, time in self.calls.get(name, ()):
            mine, location = found[key[1:-1] if with_inputs else ()], key[-1]
            mine[location] = both(mine[location], time) if location in mine else time
        return found


def _named_alike(before: _Located, after: _Located) -> bool:
    """Whether at least half of what is attributed is in locations of both sides: frames and scopes name them differently."""
    shared = before.times.keys() & after.times.keys() - {None}
    for side in (before, after):
        told = sum(total for location, total in side.times.items() if location is not None)
        if 2 * sum(side.times[location] for location in shared) < told:
            return False
    return True


def _changes(
    cause: Cause, before: _Calls, after: _Calls, steps: tuple[int, int]
) -> Iterator[tuple[str | None, Fraction]]:
    """What a cause makes of a type in each location in a step: these add up to what it makes of all, where calls stay where they are."""
    of_same = cause in _OF_CALLS or cause in _OF_NUMBER
    was, became = Counter[str | None](), Counter[str | None]()
    unchanged: dict[str | None, Counter[int]] = defaultdict(Counter)
    """What the calls after would take at the mean of those before: numerators by denominator."""
    for inputs in {**before, **after}:
        mine, others = before.get(inputs, {}), after.get(inputs, {})
        if bool(mine and others) != of_same:
            continue
        every = reduce(both, mine.values(), (0, 0))
        for location, (_, total) in mine.items():
            was[location] += total
        for location, (count, total) in others.items():
            became[location] += total
            n_before, t_before = mine.get(location, every)
            unchanged[location][n_before] += count * t_before
    for location in {**was, **became}:
        start, end = Fraction(was[location], steps[0]), Fraction(became[location], steps[1])
        if of_same:
            same = sum_of_fractions(unchanged[location]) / steps[1]
            start, end = (same, end) if cause in _OF_CALLS else (start, same)
        yield location, end - start


def _alike(changes: Mapping[str, Fraction], whole: Fraction) -> list[str]:
    """What changed at least half as much as that which changed most, if it all went one way and is enough of the change."""
    most = max(map(abs, changes.values()), default=Fraction(0))
    near = [one for one, change in changes.items() if 2 * abs(change) >= most]
    together = abs(sum((changes[one] for one in near), Fraction(0)))
    if not all(changes[one] * whole > 0 for one in near) or 2 * together < abs(whole):
        return []
    enough = _ONE if len(near) == 1 else _SEVERAL
    return near if together >= enough * sum(map(abs, changes.values()), Fraction(0)) else []
