"""The whole change of a step between two runs, in parts that add up to it to the nanosecond.

Steps are the mean ones of all time of a device: computing, communication that nothing hides, idle time. What differs is put into parts
as exact fractions, and rounded at the end so that their sum is that of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import floor
from typing import Literal

from aoe_reports.stats.comparison import INPUTS
from aoe_reports.stats.comparison import Cause as ComparedCause
from aoe_reports.topics.communication.facts import type_of_operator
from aoe_reports.topics.comparison.exchanges import exchanged
from aoe_reports.topics.comparison.exposed import Exposed, IdleCause

Area = Literal["computing", "communication", "idle"]
CallCause = ComparedCause | Literal["fused", "split", "replaced"]
HiddenCause = Literal["less-hidden", "more-hidden"]
"""More or less of it runs beside something else than what was added or went away explains."""
TalkCause = Literal[
    "slower-transfer", "faster-transfer", "more-bytes", "fewer-bytes", "more-waiting", "less-waiting", "longer-pauses", "shorter-pauses",
]  # fmt: skip
Cause = Literal["not-listed", "not-told"] | CallCause | HiddenCause | TalkCause | IdleCause

CallKey = tuple[str | None, str | None, str | None, str | None]
"""(operator type, what calls of it may differ in: INPUTS) of calls; null where nothing tells."""
LocatedKey = tuple[str | None, str | None, str | None, str | None, str | None]
"""The same, and the location; null for those that nothing tells the location of."""


@dataclass(frozen=True, slots=True)
class CollectiveTime:
    """What tables tell of one communication operator, in all of its calls; ns."""

    elapsed_ns: int
    wait_ns: int
    transit_ns: int
    peer_wait_ns: int | None = None
    """Until the peer that it waited for longest had come, by a timeline: tables are of one plane, and call waiting of others idle time."""


@dataclass(frozen=True, slots=True)
class Locations:
    """Where in the program the calls of one device were launched, by layer, else by module."""

    calls: Mapping[LocatedKey, tuple[int, int]]
    """(count, total ns)."""
    told_by: Mapping[str, str]
    """By location."""
    blocks: Mapping[str, str]
    """The block that the model repeats, of each location in one."""


@dataclass(frozen=True, slots=True)
class Side:
    """One device in one run."""

    exposed: Exposed
    steps: int
    """How many steps the time is divided by: at least 1."""
    steps_known: bool
    calls: Mapping[CallKey, tuple[int, int]] | None
    """(count, total ns) of what computes, by key; null where nothing tells calls."""
    grouped_by: str = "op_type"
    """What the first word of a key is."""
    alone: Mapping[str, int] = field(default_factory=dict)
    """For how long of it nothing else hid it, by that word; ns."""
    talk: Mapping[str, CollectiveTime] = field(default_factory=dict)
    """By operator."""
    bytes_per_call: Mapping[str, Fraction] = field(default_factory=dict)
    """By kind of communication."""
    locations: Locations | None = None
    """Null where nothing tells any."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the change of a step, in ns, exactly; `before` and `after` are what its operator, or its cause, takes of a step."""

    area: Area
    cause: Cause
    name: str
    change: Fraction
    before: Fraction
    after: Fraction
    count_before: Fraction | None = None
    count_after: Fraction | None = None
    change_ns: int = 0
    """The change as people are told it: these add up to that of the step."""
    types: tuple[str, ...] = ()
    """The first words of the keys of the calls that it is about."""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """What a step took before and after, in ns, and the parts of the difference, the largest first."""

    before_ns: int
    after_ns: int
    parts: tuple[Part, ...]

    @property
    def change_ns(self) -> int:
        """Candidate - baseline."""
        return self.after_ns - self.before_ns


def waterfall_of(before: Side, after: Side) -> Waterfall:
    """Why a step takes longer or shorter after than before."""
    parts = [*_computing(before, after), *_beside_computing(before, after)]
    whole = [of_step(side, side.exposed.whole.end_to_end_ns) for side in (before, after)]
    change = sum((part.change for part in parts), Fraction(0))
    assert change == whole[1] - whole[0]
    kept = _in_whole_ns([part for part in parts if part.change], round(change))
    # whole numbers first: to compare fractions takes ten times as long
    ordered = sorted(
        kept, key=lambda part: (-floor(abs(part.change)), -abs(part.change), part.area, part.cause, part.name)
    )
    start = round(whole[0])
    return Waterfall(start, start + round(change), tuple(ordered))


def without_the_small(waterfall: Waterfall, most: int) -> tuple[list[Part], int, int]:
    """(the largest parts, how many others there are, what these make together in ns)."""
    kept, others = waterfall.parts[:most], waterfall.parts[most:]
    return list(kept), len(others), sum(part.change_ns for part in others)


def of_step(side: Side, value: int) -> Fraction:
    return Fraction(value, side.steps)


def sum_of_fractions(numerators: Mapping[int, int]) -> Fraction:
    """The exact sum of fractions whose numerators are already added up by denominator."""
    return sum((Fraction(total, count) for count, total in numerators.items()), Fraction(0))


def _in_whole_ns(parts: Sequence[Part], total: int) -> list[Part]:
    """Each part in whole ns, so that they add up to `total`: those that lose most by rounding down are rounded up."""
    down = [floor(part.change) for part in parts]
    order = sorted(range(len(parts)), key=lambda place: (down[place] - parts[place].change, place))
    up = set(order[: total - sum(down)])
    return [replace(part, change_ns=down[place] + (place in up)) for place, part in enumerate(parts)]


# computing


def _computing(before: Side, after: Side) -> Iterator[Part]:
    """What each kernel's own time makes, and computing that no table lists."""
    unions = [of_step(side, side.exposed.whole.computing_ns) for side in (before, after)]
    if before.calls is None or after.calls is None or before.grouped_by != after.grouped_by:
        yield Part("computing", "not-told", "", unions[1] - unions[0], unions[0], unions[1])
        return
    with_inputs = inputs_are_told(before.calls, after.calls)
    yield from _calls(*(_Types.of(side, with_inputs=with_inputs) for side in (before, after)))
    beside = [
        union - of_step(side, sum(side.alone.values())) for union, side in zip(unions, (before, after), strict=True)
    ]
    yield Part("computing", "not-listed", "", beside[1] - beside[0], beside[0], beside[1])


def inputs_are_told(before: Iterable[CallKey], after: Iterable[CallKey]) -> bool:
    """Whether any call has its inputs told, on both sides."""
    return all(any(word is not None for key in calls for word in key[1:]) for calls in (before, after))


_Calls = tuple[Fraction, Fraction]
"""(how many of a step, what they take together in ns)."""
_NO_CALLS: _Calls = (Fraction(0), Fraction(0))


def both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """(count, total ns) of both together."""
    return one[0] + other[0], one[1] + other[1]


def _of_step(side: Side, calls: tuple[int, int]) -> _Calls:
    return of_step(side, calls[0]), of_step(side, calls[1])


@dataclass(frozen=True, slots=True)
class _Types:
    """The calls of a side by type, and of one step the own time of each type."""

    steps: int
    calls: dict[str, dict[CallKey, tuple[int, int]]]
    """(count, total ns) in all steps, by inputs."""
    every: dict[str, _Calls]
    """All calls of a type in a step, whatever their inputs."""
    alone: dict[str, Fraction]

    @classmethod
    def of(cls, side: Side, *, with_inputs: bool) -> _Types:
        """Without inputs where one of the sides has not recorded them: then they are no difference."""
        found: dict[str, dict[CallKey, tuple[int, int]]] = defaultdict(dict)
        for key, calls in (side.calls or {}).items():
            mine, inputs = found[key[0] or ""], key if with_inputs else (key[0], None, None, None)
            mine[inputs] = both(mine[inputs], calls) if inputs in mine else calls
        every = {name: _of_step(side, reduce(both, calls.values())) for name, calls in found.items()}
        return cls(side.steps, found, every, {name: of_step(side, own) for name, own in side.alone.items()})

    def count(self, name: str) -> Fraction:
        return self.every.get(name, _NO_CALLS)[0]

    def total(self, name: str) -> Fraction:
        return self.every.get(name, _NO_CALLS)[1]

    def own(self, name: str) -> Fraction:
        return self.alone.get(name, Fraction(0))


def _calls(before: _Types, after: _Types) -> Iterator[Part]:
    every = sorted({*before.calls, *after.calls})
    taken: dict[str, list[Part]] = {name: list(_of_type(name, before, after)) for name in every}
    for cause, others, one in exchanged({name: (before.count(name), after.count(name)) for name in every}):
        names = (*others, one)
        moved = [part for name in names for part in taken[name] if part.cause not in _OF_SAME_CALLS]
        for name in names:
            taken[name] = [part for part in taken[name] if part.cause in _OF_SAME_CALLS]
        many = " + ".join(others)
        yield Part(
            "computing",
            cause,
            f"{one} → {many}" if cause == "split" else f"{many} → {one}",
            sum((part.change for part in moved), Fraction(0)),
            sum(map(before.own, names), Fraction(0)),
            sum(map(after.own, names), Fraction(0)),
            sum(map(before.count, names), Fraction(0)),
            sum(map(after.count, names), Fraction(0)),
            types=names,
        )
    for parts in taken.values():
        yield from parts


_OF_SAME_CALLS = frozenset({"slower-calls", "faster-calls", "less-hidden", "more-hidden"})


def _of_type(name: str, before: _Types, after: _Types) -> Iterator[Part]:
    """Calls that take longer, their number, calls with other inputs, and how much of them is hidden: all of the type's change."""
    mine, others = before.calls.get(name, {}), after.calls.get(name, {})
    owns = before.own(name), after.own(name)
    if not mine or not others:
        # all that nothing hides of it came, or went away: with thousands of names half of the work
        change = owns[1] - owns[0]
        if change:
            cause: Cause = "new" if others else "vanished"
            yield Part("computing", cause, name, change, *owns, before.count(name), after.count(name), types=(name,))
        return
    same = mine.keys() & others.keys()
    scaled = Counter[
        int
    ]()  # a fraction for each denominator, as there are few: one for each key takes most of the time
    for key in same:
        n_before, t_before = mine[key]
        scaled[n_before] += t_before * others[key][0]
    unchanged = sum_of_fractions(scaled) / after.steps
    longer = Fraction(sum(others[key][1] for key in same), after.steps) - unchanged
    number = unchanged - Fraction(sum(mine[key][1] for key in same), before.steps)
    totals = before.total(name), after.total(name)
    inputs = totals[1] - totals[0] - longer - number
    (longer, number, inputs), hidden = unhidden([longer, number, inputs], totals, owns)
    changes: list[tuple[Cause, Fraction]] = [
        ("slower-calls" if longer > 0 else "faster-calls", longer),
        ("more-calls" if number > 0 else "fewer-calls", number),
        (_changed(mine, others), inputs),
        ("less-hidden" if hidden > 0 else "more-hidden", hidden),
    ]
    for cause, change in changes:
        if change:
            yield Part("computing", cause, name, change, *owns, before.count(name), after.count(name), types=(name,))


def unhidden(
    amounts: Sequence[Fraction], totals: Sequence[Fraction], owns: Sequence[Fraction]
) -> tuple[list[Fraction], Fraction]:
    """(what amounts of time make of what nothing hides, what another overlap makes): together they are the change of `owns`.

    The amounts are the change of `totals`. What more is hidden is first of what was added, and what is hidden no longer of what went away:
    only the rest is another overlap. A transfer that outlasts what hides it is slower, even if a smaller share of it is hidden.
    Amounts that make up for each other count with the share that nothing hid before.
    """
    net, hidden = totals[1] - totals[0], (totals[1] - owns[1]) - (totals[0] - owns[0])
    taken = min(abs(net), abs(hidden)) * (1 if net > 0 else -1) if net * hidden > 0 else Fraction(0)
    most = sum((amount for amount in amounts if amount and amount * net > 0), Fraction(0))
    share = _share(totals, owns)
    of_most = (share * (most - net) + net - taken) / most if most else share
    return [amount and amount * (of_most if amount * net > 0 else share) for amount in amounts], taken - hidden


def _share(totals: Sequence[Fraction], owns: Sequence[Fraction]) -> Fraction:
    """How much of some time nothing hid before; of what was not there before, after."""
    place = 0 if totals[0] else 1
    return owns[place] / totals[place] if totals[place] else Fraction(0)


def _changed(before: Iterable[CallKey], after: Iterable[CallKey]) -> CallCause:
    """What is other about the inputs of one type that is called on both sides."""
    mine, others = set(before), set(after)
    apart = [
        cause
        for place, cause in enumerate(INPUTS.values(), start=1)
        if {key[place] for key in mine} != {key[place] for key in others}
    ]
    return apart[0] if len(apart) == 1 else "changed-inputs"


# communication


def _beside_computing(before: Side, after: Side) -> Iterator[Part]:
    """Communication that nothing hides, and idle time."""
    alike = before.exposed.told_by == after.exposed.told_by
    if alike and before.exposed.whole.free_ns is not None and after.exposed.whole.free_ns is not None:
        yield from _communication(before, after)
        yield from _idle(before, after)
        return
    times = [
        of_step(side, side.exposed.whole.end_to_end_ns - side.exposed.whole.computing_ns) for side in (before, after)
    ]
    yield Part("idle", "not-told", "", times[1] - times[0], times[0], times[1])


def _communication(before: Side, after: Side) -> Iterator[Part]:
    """What communication that nothing hides makes, by kind: waiting, bytes and how fast they went, pauses, and what hides it."""
    # waits of a timeline on one side only would look like more, or fewer, pauses
    planes = all(any(talk.peer_wait_ns is not None for talk in side.talk.values()) for side in (before, after))
    names = [_names_by_kind(side) for side in (before, after)]
    for kind in sorted({*names[0], *names[1]}):
        mine, others = names[0].get(kind, set()), names[1].get(kind, set())
        # operators that are the same on both sides are held against each other one by one
        groups = [{name} for name in sorted(mine)] if mine == others else [mine | others]
        sides = [[_Kind.of(kind, group, side, planes=planes) for group in groups] for side in (before, after)]
        alone = [sum((one.alone for one in side), Fraction(0)) for side in sides]
        calls = [sum((one.calls for one in side), Fraction(0)) for side in sides]
        for cause, change in _changes(*sides):
            yield Part("communication", cause, kind, change, alone[0], alone[1], calls[0], calls[1])


def _names_by_kind(side: Side) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name in side.exposed.communication:
        found[_kind(name)].add(name)
    return found


@dataclass(frozen=True, slots=True)
class _Kind:
    """Operators of one kind in a step: (all of their time, what nothing hides), and waiting, transfer and the rest."""

    calls: Fraction
    whole: tuple[Fraction, Fraction]
    parts: tuple[Fraction, ...] | None
    """Of all of their time; none where tables do not tell of every operator."""
    size: Fraction
    """Bytes; 0 where nothing tells."""

    @property
    def alone(self) -> Fraction:
        """What nothing hides."""
        return self.whole[1]

    @classmethod
    def of(cls, kind: str, names: set[str], side: Side, *, planes: bool) -> _Kind:
        ran = {name: one for name, one in side.exposed.communication.items() if name in names}
        calls = of_step(side, sum(one.calls for one in ran.values()))
        whole = tuple(
            of_step(side, sum(getattr(one, name) for one in ran.values())) for name in ("total_ns", "alone_ns")
        )
        told = {name: talk for name in ran if (talk := side.talk.get(name)) is not None and talk.elapsed_ns}
        parts = None
        if ran and len(told) == len(ran):
            shares = {name: _shares(talk, planes=planes) for name, talk in told.items()}
            parts = tuple(
                sum((of_step(side, one.total_ns) * shares[name][place] for name, one in ran.items()), Fraction(0))
                for place in range(3)
            )
        return cls(calls, (whole[0], whole[1]), parts, calls * side.bytes_per_call.get(kind, Fraction(0)))


def _kind(name: str) -> str:
    """The kind of an operator; its name where that tells none."""
    kind = type_of_operator(name)
    return name if kind == "other" else kind


def _shares(talk: CollectiveTime, *, planes: bool) -> tuple[Fraction, Fraction, Fraction]:
    """How much of an operator is waiting (on any of its planes, or on the one of its table), transfer, and neither."""
    waited = max(talk.wait_ns, (talk.peer_wait_ns or 0) if planes else 0)
    wait = min(Fraction(waited, talk.elapsed_ns), Fraction(1))
    transit = min(Fraction(talk.transit_ns, talk.elapsed_ns), 1 - wait)
    return wait, transit, 1 - wait - transit


def _changes(before: Sequence[_Kind], after: Sequence[_Kind]) -> list[tuple[Cause, Fraction]]:
    """What the change of operators of one kind that nothing hides consists of: those of one place are held against each other."""
    seen: dict[_Words, Fraction] = defaultdict(Fraction)
    for one, other in zip(before, after, strict=True):
        if not (one.calls and other.calls):
            cause: Cause = "not-told" if one.calls == other.calls else "new" if other.calls else "vanished"
            return [(cause, other.alone - one.alone)]
        amounts = list(_amounts_of(one, other))
        changes, hidden = unhidden(
            [change for _, change in amounts], (one.whole[0], other.whole[0]), (one.alone, other.alone)
        )
        for (words, _), change in zip(amounts, changes, strict=True):
            seen[words] += change
        seen["less-hidden", "more-hidden"] += hidden
    return [(words[0] if change > 0 else words[1], change) for words, change in seen.items()]


_Words = tuple[Cause, Cause]
"""What more of something is called, and what less."""


def _amounts_of(before: _Kind, after: _Kind) -> Iterator[tuple[_Words, Fraction]]:
    calls = (before.calls, after.calls)
    if before.parts is None or after.parts is None:
        yield from _amounts(before.whole[0], after.whole[0], calls, (_LONGER, _MORE))
        return
    known = bool(before.size and after.size)
    sizes = (before.size, after.size) if known else calls
    yield ("more-waiting", "less-waiting"), after.parts[0] - before.parts[0]
    speed: _Words = ("slower-transfer", "faster-transfer")
    yield from _amounts(
        before.parts[1], after.parts[1], sizes, (speed, ("more-bytes", "fewer-bytes") if known else _MORE)
    )
    yield ("longer-pauses", "shorter-pauses"), after.parts[2] - before.parts[2]


_LONGER: _Words = ("slower-calls", "faster-calls")
_MORE: _Words = ("more-calls", "fewer-calls")


def _amounts(
    before: Fraction, after: Fraction, amounts: tuple[Fraction, Fraction], words: tuple[_Words, _Words]
) -> Iterator[tuple[_Words, Fraction]]:
    """What a time makes by how long each of it takes, and by its amount."""
    longer = after - before * amounts[1] / amounts[0]
    yield words[0], longer
    yield words[1], after - before - longer


# idle time


IDLE_CAUSES: tuple[IdleCause, ...] = ("host launch", "behind the launch", "synchronisation", "data loading", "compilation", "garbage collection", "waiting for an event", "unknown")  # fmt: skip


def _idle(before: Side, after: Side) -> Iterator[Part]:
    for cause in IDLE_CAUSES:
        times = [of_step(side, side.exposed.idle_ns.get(cause, 0)) for side in (before, after)]
        yield Part("idle", cause, "", times[1] - times[0], times[0], times[1])
