"""Types of kernels in whose place others stand: fused, split, replaced.

They are told by how many calls are lost and gained, by names, and by the sequences that fused operators are known to replace.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Literal

from aoe_reports.facts.fused_operators import FUSED_OPERATORS, FusedOperator, base_type

Exchange = tuple[Literal["fused", "split", "replaced"], tuple[str, ...], str]
"""(what happened, the types of many, the type of one)."""
_LEAST_CALLS = 3
"""Of fewer calls a step types lose and gain as many by chance, unless their names tell that they belong together."""
_MOST = 3
"""Of more types that lose as many calls as a new one has nothing tells which of them are in it, unless names do."""
_PAIR = 2
_VERSION = re.compile(r"(?:v?\d+)?$", re.IGNORECASE)
_LEAST_LETTERS = 3


def exchanged(counts: Mapping[str, tuple[Fraction, Fraction]]) -> Iterator[Exchange]:
    """What happened to types, by (calls before, calls after) of a step; each type is in one exchange at most."""
    used: set[str] = set()
    changes = {name: after - before for name, (before, after) in counts.items()}
    alike: dict[Fraction, list[str]] = defaultdict(list)
    for name, change in changes.items():
        alike[change].append(name)
    for kind, sign in (("fused", 1), ("split", -1)):
        for name, (before, after) in counts.items():
            change = changes[name]
            if name in used or sign * change <= 0 or (before if sign > 0 else after):
                continue
            others = [other for other in alike.get(-change, ()) if other not in used]
            gains = ((one, -sign * other) for one, other in changes.items() if one not in used)
            chosen = _known(name, gains, abs(change)) or _together(name, others, abs(change))
            if len(chosen) >= _PAIR:
                used |= {name, *chosen}
                yield "fused" if kind == "fused" else "split", chosen, name
    ended = [name for name, (before, after) in counts.items() if before and not after]
    for name, (before, after) in counts.items():
        if name in used or before or not after:
            continue
        gone = [other for other in ended if other not in used and _alike(name, other)]
        if len(gone) == 1:
            used |= {name, *gone}
            yield "replaced", (gone[0],), name


def _known(one: str, gains: Iterable[tuple[str, Fraction]], calls: Fraction) -> tuple[str, ...]:
    """The types that make up a sequence which the type is known to replace, if they gain as many calls as it has, and no others."""
    same = [known for known in FUSED_OPERATORS if _api(known) == _stem(base_type(one))]
    gained = {name: gain for name, gain in gains if gain > 0 and name != one} if same else {}
    for known in same:
        left = dict(gained)
        chosen = dict.fromkeys(_fitting(step, left, calls) for step in known.sequence if not step.endswith("?"))
        more = dict.fromkeys(_fitting(step, left, calls) for step in known.sequence if step.endswith("?"))
        names = tuple(name for name in {**chosen, **more} if name is not None)
        if None not in chosen and not any(left[name] for name in names):
            return names
    return ()


def _api(known: FusedOperator) -> str:
    """A fused operator as its type is called."""
    return known.api.rpartition(".")[2].removeprefix("npu_").replace("_", "")


def _fitting(step: str, left: dict[str, Fraction], calls: Fraction) -> str | None:
    """A type that may be a step of a sequence, whose calls are taken; null where none has so many left."""
    types = step.removesuffix("?").split("|")
    found = next((name for name in left if {name, base_type(name)} & {*types} and left[name] >= calls), None)
    if found is not None:
        left[found] -= calls
    return found


def _together(one: str, others: list[str], calls: Fraction) -> tuple[str, ...]:
    """Which of some types are in one: those in its name, else all of a few."""
    named = tuple(other for other in others if len(_stem(other)) >= _LEAST_LETTERS and _stem(other) in one.casefold())
    if len(named) >= _PAIR:
        return named
    return tuple(others) if _PAIR <= len(others) <= _MOST and calls >= _LEAST_CALLS else ()


def _alike(one: str, other: str) -> bool:
    """Whether two types are versions of one: MatMulV2 and MatMulV3, Sort and SortWithIndex."""
    stems = sorted((_stem(one), _stem(other)), key=len)
    return one != other and len(stems[0]) >= _LEAST_LETTERS and stems[1].startswith(stems[0])


def _stem(name: str) -> str:
    """A type without its version, in lower case."""
    return _VERSION.sub("", name, count=1).casefold()
