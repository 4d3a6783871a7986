"""In which layer or module of a program the change of a kernel happened, or in how many layers alike.

One location is named if it has at least half of the change, and no other one changed half as much, in either direction: of two runs of the
same program each layer scatters, and a layer that does so a little more is no cause. Layers that changed at least half as much as the one
that changed most are alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from aoe_reports.topics.comparison.waterfall import Cause, Locations, Part, Side, inputs_are_told, of_step
from aoe_reports.topics.locations.facts import TOLD_BY, in_any_block

_Inputs = tuple[str | None, str | None, str | None]
_Time = tuple[Fraction, Fraction]
"""(calls, ns) of a step."""
_Calls = Mapping[_Inputs, Mapping[str | None, _Time]]
"""The calls of one type by inputs and location, null for those without one."""
_NOTHING = Fraction(0), Fraction(0)


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
        with_inputs = inputs_are_told(before.calls or {}, after.calls or {})
        sides = [_Located.of(side, of, with_inputs=with_inputs) for side, of in ((before, before.locations), (after, after.locations))]  # fmt: skip
        if _named_alike(*sides):
            self._sides = sides[0], sides[1]

    def of(self, part: Part) -> Where:
        """Where a part happened; NOWHERE where less than half of its time is attributed, or no location stands out."""
        if self._sides is None or not part.types or part.cause in _OF_HIDING:
            return NOWHERE
        before, after = self._sides
        if not (before.attributes(part.types) and after.attributes(part.types)):
            return NOWHERE
        changes: dict[str | None, Fraction] = defaultdict(Fraction)
        for name in part.types:
            for location, change in _changes(part.cause, before.calls.get(name, {}), after.calls.get(name, {})):
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
    """One side: its calls in a step, by type."""

    told: Locations
    calls: Mapping[str, _Calls]
    times: Mapping[str | None, Fraction]
    """All time of a step by location; ns."""

    @classmethod
    def of(cls, side: Side, locations: Locations, *, with_inputs: bool) -> _Located:
        """Without inputs where one of the sides has not recorded them: then they are no difference."""
        calls: dict[str, dict[_Inputs, dict[str | None, _Time]]] = defaultdict(lambda: defaultdict(dict))
        times: dict[str | None, Fraction] = defaultdict(Fraction)
        for key, located in locations.calls.items():
            mine = calls[key[0] or ""][key[1:] if with_inputs else (None, None, None)]
            for location, (count, total) in located.items():
                known = mine.get(location, _NOTHING)
                mine[location] = known[0] + of_step(side, count), known[1] + of_step(side, total)
                times[location] += of_step(side, total)
        return cls(locations, calls, times)

    def attributes(self, types: Iterable[str]) -> bool:
        """Whether at least half of the time of some types has a location."""
        every = [item for name in types for located in self.calls.get(name, {}).values() for item in located.items()]
        told = sum((total for location, (_, total) in every if location is not None), Fraction(0))
        return 2 * told >= sum((total for _, (_, total) in every), Fraction(0))


def _named_alike(before: _Located, after: _Located) -> bool:
    """Whether at least half of what is attributed is in locations of both sides: frames and scopes name them differently."""
    shared = before.times.keys() & after.times.keys() - {None}
    for side in (before, after):
        told = sum((total for location, total in side.times.items() if location is not None), Fraction(0))
        if 2 * sum((side.times[location] for location in shared), Fraction(0)) < told:
            return False
    return True


def _changes(cause: Cause, before: _Calls, after: _Calls) -> Iterator[tuple[str | None, Fraction]]:
    """What a cause makes of a type in each location: these add up to what it makes of all, where calls stay where they are."""
    for inputs in sorted(before.keys() | after.keys(), key=str):
        mine, others = before.get(inputs, {}), after.get(inputs, {})
        of_same = bool(mine and others)
        if of_same != (cause in _OF_CALLS or cause in _OF_NUMBER):
            continue
        mean = _mean(mine)
        for location in {**mine, **others}:
            (n_before, t_before), (n_after, t_after) = mine.get(location, _NOTHING), others.get(location, _NOTHING)
            unchanged = n_after * (t_before / n_before if n_before else mean)
            if cause in _OF_CALLS:
                yield location, t_after - unchanged
            elif cause in _OF_NUMBER:
                yield location, unchanged - t_before
            else:
                yield location, t_after - t_before


def _mean(calls: Mapping[str | None, _Time]) -> Fraction:
    count = sum((count for count, _ in calls.values()), Fraction(0))
    return sum((total for _, total in calls.values()), Fraction(0)) / count if count else Fraction(0)


def _alike(changes: Mapping[str, Fraction], whole: Fraction) -> list[str]:
    """What changed at least half as much as that which changed most, if it all went one way and is enough of the change."""
    most = max(map(abs, changes.values()), default=Fraction(0))
    near = [one for one, change in changes.items() if 2 * abs(change) >= most]
    together = abs(sum((changes[one] for one in near), Fraction(0)))
    if not all(changes[one] * whole > 0 for one in near) or 2 * together < abs(whole):
        return []
    enough = _ONE if len(near) == 1 else _SEVERAL
    return near if together >= enough * sum(map(abs, changes.values()), Fraction(0)) else []
