"""Types of kernels in whose place others stand: fused, split, replaced; told by how many calls are lost and gained, and by names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal

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
    for kind, sign in (("fused", 1), ("split", -1)):
        for name, (before, after) in counts.items():
            change = after - before
            if name in used or sign * change <= 0 or (before if sign > 0 else after):
                continue
            others = [
                other
                for other, (first, then) in counts.items()
                if other not in used and other != name and then - first == -change
            ]
            chosen = _together(name, others, abs(change))
            if len(chosen) >= _PAIR:
                used |= {name, *chosen}
                yield "fused" if kind == "fused" else "split", chosen, name
    for name, (before, after) in counts.items():
        gone = [
            other
            for other, (first, then) in counts.items()
            if not then and first and other not in used and _alike(name, other)
        ]
        if name not in used and not before and after and len(gone) == 1:
            used |= {name, *gone}
            yield "replaced", (gone[0],), name


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
