"""The whole change of a step between two runs, in parts that add up to it to the nanosecond.

Steps are the mean ones of all time of a device: computing, communication that nothing hides, idle time. What differs is put into parts
as exact fractions, and rounded at the end so that their sum is that of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Literal

from aoe_reports.facts.communication import type_of_operator
from aoe_reports.facts.exposed import Exposed, IdleCause

Area = Literal["computing", "communication", "idle"]
CallCause = Literal[
    "slower-calls", "faster-calls", "more-calls", "fewer-calls",
    "changed-shapes", "changed-formats", "changed-data-types", "changed-inputs", "new", "vanished", "fused", "split", "replaced",
]  # fmt: skip
TalkCause = Literal["slower-transfer", "faster-transfer", "more-bytes", "fewer-bytes", "more-waiting", "less-waiting"]
Cause = Literal["side-by-side", "not-told"] | CallCause | TalkCause | IdleCause

INPUTS: tuple[tuple[CallCause, int], ...] = (("changed-shapes", 1), ("changed-formats", 2), ("changed-data-types", 3))
"""What calls of one type may differ in, and where it stands in a key of `calls`."""
CallKey = tuple[str | None, str | None, str | None, str | None]
"""(operator type, shapes, formats, data types) of calls; null where nothing tells."""
_MOST_FUSED = 6
"""More types that lose as many calls as a new one has are no fusion: then many types have that number."""
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Talk:
    """What tables tell of the communication of one kind; ns and bytes, null where they do not."""

    elapsed_ns: int
    wait_ns: int | None
    transit_bytes: int | None


@dataclass(frozen=True, slots=True)
class Side:
    """One device in one run."""

    exposed: Exposed
    steps: int
    """How many steps the time is divided by: at least 1."""
    calls: Mapping[CallKey, tuple[int, int]] | None
    """(count, total ns) of what computes, by key; null where nothing tells calls."""
    talk: Mapping[str, Talk] = field(default_factory=dict)
    """By kind of communication."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the change of a step, in ns, exactly; `before` and `after` are of what it is a part of."""

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
    whole = [_of_step(side, side.exposed.whole.end_to_end_ns) for side in (before, after)]
    change = sum((part.change for part in parts), Fraction(0))
    assert change == whole[1] - whole[0]
    kept = _in_whole_ns([part for part in parts if part.change], round(change))
    ordered = sorted(kept, key=lambda part: (-abs(part.change), part.area, part.cause, part.name))
    start = round(whole[0])
    return Waterfall(start, start + round(change), tuple(ordered))


def without_the_small(waterfall: Waterfall, most: int) -> tuple[list[Part], int, int]:
    """(the largest parts, how many others there are, what these make together in ns)."""
    kept, others = waterfall.parts[:most], waterfall.parts[most:]
    return list(kept), len(others), sum(part.change_ns for part in others)


def _of_step(side: Side, value: int) -> Fraction:
    return Fraction(value, side.steps)


def _in_whole_ns(parts: Sequence[Part], total: int) -> list[Part]:
    """Each part in whole ns, so that they add up to `total`: those that lose most by rounding down are rounded up."""
    down = [floor(part.change) for part in parts]
    order = sorted(range(len(parts)), key=lambda place: (down[place] - parts[place].change, place))
    up = set(order[: total - sum(down)])
    return [replace(part, change_ns=down[place] + (place in up)) for place, part in enumerate(parts)]


# computing


def _computing(before: Side, after: Side) -> Iterator[Part]:
    """What kernels make by themselves, and what they make by running side by side."""
    unions = [_of_step(side, side.exposed.whole.computing_ns) for side in (before, after)]
    if before.calls is None or after.calls is None:
        yield Part("computing", "not-told", "", unions[1] - unions[0], unions[0], unions[1])
        return
    with_inputs = _tells_inputs(before.calls) and _tells_inputs(after.calls)
    yield from _calls(*(_Types.of(side, with_inputs=with_inputs) for side in (before, after)))
    sums = [
        _of_step(side, sum(total for _, total in side.calls.values()))
        for side in (before, after)
        if side.calls is not None
    ]
    beside = [union - total for union, total in zip(unions, sums, strict=True)]
    yield Part("computing", "side-by-side", "", beside[1] - beside[0], beside[0], beside[1])


def _tells_inputs(calls: Iterable[CallKey]) -> bool:
    """Whether any call has its inputs told."""
    return any(word is not None for key in calls for word in key[1:])


@dataclass(frozen=True, slots=True)
class _Types:
    """The calls of one step by type: (calls, ns) by inputs."""

    calls: dict[str, dict[CallKey, tuple[Fraction, Fraction]]]

    @classmethod
    def of(cls, side: Side, *, with_inputs: bool) -> _Types:
        """Without inputs where one of the sides has not recorded them: then they are no difference."""
        found: dict[str, dict[CallKey, tuple[Fraction, Fraction]]] = defaultdict(dict)
        for key, (count, total) in (side.calls or {}).items():
            inputs = key if with_inputs else (key[0], None, None, None)
            known = found[key[0] or ""].get(inputs, (Fraction(0), Fraction(0)))
            found[key[0] or ""][inputs] = known[0] + _of_step(side, count), known[1] + _of_step(side, total)
        return cls(dict(found))

    def count(self, name: str) -> Fraction:
        return sum((count for count, _ in self.calls.get(name, {}).values()), Fraction(0))

    def total(self, name: str) -> Fraction:
        return sum((total for _, total in self.calls.get(name, {}).values()), Fraction(0))


def _calls(before: _Types, after: _Types) -> Iterator[Part]:
    every = sorted({*before.calls, *after.calls})
    taken: dict[str, list[Part]] = {name: list(_of_type(name, before, after)) for name in every}
    for cause, sources, target in _exchanged(every, before, after):
        moved = [part for name in (*sources, target) for part in taken[name] if part.cause not in _OF_SAME_CALLS]
        for name in (*sources, target):
            taken[name] = [part for part in taken[name] if part.cause in _OF_SAME_CALLS]
        names = (*sources, target)
        yield Part(
            "computing",
            cause,
            _exchange_words(cause, sources, target),
            sum((part.change for part in moved), Fraction(0)),
            sum(map(before.total, names), Fraction(0)),
            sum(map(after.total, names), Fraction(0)),
            sum(map(before.count, names), Fraction(0)),
            sum(map(after.count, names), Fraction(0)),
        )
    for parts in taken.values():
        yield from parts


_OF_SAME_CALLS = frozenset({"slower-calls", "faster-calls"})


def _of_type(name: str, before: _Types, after: _Types) -> Iterator[Part]:
    """Calls that take longer, their number, and calls with other inputs: together all of the type's change."""
    mine, others = before.calls.get(name, {}), after.calls.get(name, {})
    longer = number = Fraction(0)
    for key in mine.keys() & others.keys():
        (n_before, t_before), (n_after, t_after) = mine[key], others[key]
        unchanged = t_before * n_after / n_before
        longer += t_after - unchanged
        number += unchanged - t_before
    whole = after.total(name) - before.total(name)
    inputs = whole - longer - number
    changes: list[tuple[Cause, Fraction]] = [
        ("slower-calls" if longer > 0 else "faster-calls", longer),
        ("more-calls" if number > 0 else "fewer-calls", number),
        (_changed(mine, others), inputs),
    ]
    for cause, change in changes:
        if change:
            yield Part(
                "computing", cause, name, change,
                before.total(name), after.total(name), before.count(name), after.count(name),
            )  # fmt: skip


def _changed(before: Iterable[CallKey], after: Iterable[CallKey]) -> CallCause:
    """What is other about the inputs of one type."""
    mine, others = set(before), set(after)
    if not mine or not others:
        return "new" if others else "vanished"
    apart = [cause for cause, place in INPUTS if {key[place] for key in mine} != {key[place] for key in others}]
    return apart[0] if len(apart) == 1 else "changed-inputs"


_Exchange = tuple[CallCause, tuple[str, ...], str]
"""(what happened, the types of many, the type of one)."""


def _exchanged(every: Sequence[str], before: _Types, after: _Types) -> Iterator[_Exchange]:
    """Types in whose place others stand: a new type with as many calls as several others lost, and the other way round."""
    change = {name: after.count(name) - before.count(name) for name in every}
    used: set[str] = set()
    for sign, one_side, kind in ((1, before, "fused"), (-1, after, "split")):
        for name in every:
            if name in used or one_side.calls.get(name) or not change[name]:
                continue
            others = [other for other in every if other not in used and change[other] == -change[name]]
            if sign * change[name] > 0 and _PAIR <= len(others) <= _MOST_FUSED:
                used |= {name, *others}
                yield "fused" if kind == "fused" else "split", tuple(others), name
    for name in every:
        gone = [
            other
            for other in every
            if other not in used and other not in after.calls and change[other] == -change[name]
        ]
        if name not in used and name not in before.calls and len(gone) == 1:
            used |= {name, *gone}
            yield "replaced", (gone[0],), name


def _exchange_words(cause: CallCause, others: Sequence[str], one: str) -> str:
    many = " + ".join(others)
    return f"{one} → {many}" if cause == "split" else f"{many} → {one}"


def _beside_computing(before: Side, after: Side) -> Iterator[Part]:
    """Communication that nothing hides, and idle time."""
    alike = before.exposed.told_by == after.exposed.told_by
    if alike and before.exposed.whole.free_ns is not None and after.exposed.whole.free_ns is not None:
        yield from _communication(before, after)
        yield from _idle(before, after)
        return
    times = [
        _of_step(side, side.exposed.whole.end_to_end_ns - side.exposed.whole.computing_ns) for side in (before, after)
    ]
    yield Part("idle", "not-told", "", times[1] - times[0], times[0], times[1])


# communication


def _communication(before: Side, after: Side) -> Iterator[Part]:
    """What communication that nothing hides makes, by kind: waiting for ranks, bytes, and how fast they went."""
    sides = [_Exposed.of(side) for side in (before, after)]
    for kind in sorted({*sides[0].ns, *sides[1].ns}):
        yield from _of_kind(kind, before, after, sides)


@dataclass(frozen=True, slots=True)
class _Exposed:
    """Communication of one step that nothing hides, and its calls, by kind."""

    ns: dict[str, Fraction]
    count: dict[str, Fraction]

    @classmethod
    def of(cls, side: Side) -> _Exposed:
        time, count = Counter[str](), Counter[str]()
        for name, alone in side.exposed.communication_ns.items():
            time[_kind(name)] += alone
        for name, calls in side.exposed.communication_calls.items():
            count[_kind(name)] += calls
        return cls(
            {kind: _of_step(side, alone) for kind, alone in time.items()},
            {kind: _of_step(side, calls) for kind, calls in count.items()},
        )


def _kind(name: str) -> str:
    """The kind of an operator; its name where that tells none."""
    kind = type_of_operator(name)
    return name if kind == "other" else kind


def _of_kind(kind: str, before: Side, after: Side, sides: Sequence[_Exposed]) -> Iterator[Part]:
    whole = [side.ns.get(kind, Fraction(0)) for side in sides]
    counts = [side.count.get(kind, Fraction(0)) for side in sides]

    def part(cause: Cause, change: Fraction, of: Sequence[Fraction] = whole) -> Part:
        return Part("communication", cause, kind, change, of[0], of[1], counts[0], counts[1])

    told = [side.talk.get(kind) for side in (before, after)]
    if not (counts[0] and counts[1]):
        yield part("not-told" if counts == [0, 0] else "new" if counts[1] else "vanished", whole[1] - whole[0])
        return
    shares = [share for one in told if (share := _share_of_waiting(one)) is not None]
    waits = [time * share for time, share in zip(whole, shares, strict=False)]
    if len(waits) < len(told):  # only one side tells, or none
        waits = [Fraction(0)] * len(told)
    else:
        more = waits[1] - waits[0]
        yield part("more-waiting" if more > 0 else "less-waiting", more, waits)
    moving = [time - wait for time, wait in zip(whole, waits, strict=True)]
    sizes = [_bytes(side, one) for side, one in zip((before, after), told, strict=True)]
    known = all(sizes)
    amounts = sizes if known else counts
    longer = moving[1] - moving[0] * amounts[1] / amounts[0]
    larger = moving[1] - moving[0] - longer
    if known:
        yield part("slower-transfer" if longer > 0 else "faster-transfer", longer, moving)
        yield part("more-bytes" if larger > 0 else "fewer-bytes", larger, moving)
    else:
        yield part("slower-calls" if longer > 0 else "faster-calls", longer, moving)
        yield part("more-calls" if larger > 0 else "fewer-calls", larger, moving)


def _bytes(side: Side, talk: Talk | None) -> Fraction:
    """What one step sent; 0 where nothing tells."""
    return _of_step(side, (talk.transit_bytes or 0) if talk is not None else 0)


def _share_of_waiting(talk: Talk | None) -> Fraction | None:
    """How much of its operators a kind of communication waits; null where tables do not tell."""
    if talk is None or talk.wait_ns is None or not talk.elapsed_ns:
        return None
    return min(Fraction(talk.wait_ns, talk.elapsed_ns), Fraction(1))


# idle time


IDLE_CAUSES: tuple[IdleCause, ...] = ("host launch", "behind the launch", "synchronisation", "data loading", "compilation", "garbage collection", "unknown")  # fmt: skip


def _idle(before: Side, after: Side) -> Iterator[Part]:
    for cause in IDLE_CAUSES:
        times = [_of_step(side, side.exposed.idle_ns.get(cause, 0)) for side in (before, after)]
        yield Part("idle", cause, "", times[1] - times[0], times[0], times[1])
