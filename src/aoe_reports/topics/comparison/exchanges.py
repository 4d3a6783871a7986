"""Types of kernels in whose place others stand: fused, split, replaced.

They are told by how many calls are lost and gained, by names, and by the sequences that fused operators are known to replace.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.topics.host.fused_operators import FUSED_OPERATORS, FusedOperator, base_type

Exchange = tuple[Literal["fused", "split", "replaced"], tuple[str, ...], str]
"""(what happened, the types of many, the type of one)."""
_MIN_CALLS = 3
"""Of fewer calls a step types lose and gain as many by chance, unless their names tell that they belong together."""
_MAX_PEERS = 3
"""Of more types that lose as many calls as a new one has nothing tells which of them are in it, unless names do."""
_PAIR = 2
_VERSION = re.compile(r"(?:v?\d+)?$", re.IGNORECASE)
_MIN_LETTERS = 3


def exchanged(counts: Mapping[str, tuple[Fraction, Fraction]]) -> Iterator[Exchange]:
    """What happened to types, by (calls before, calls after) of a step; each type is in one exchange at most."""
    used: set[str] = set()
    changes = {name: after - before for name, (before, after) in counts.items()}
    alike = lists_by_key((change, name) for name, change in changes.items())
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
    ended = _Stems(name for name, (before, after) in counts.items() if before and not after)
    for name, (before, after) in counts.items():
        if name in used or before or not after:
            continue
        gone = [other for other in ended.alike(name) if other not in used]
        if len(gone) == 1:
            used |= {name, *gone}
            yield "replaced", (gone[0],), name


def _known(one: str, gains: Iterable[tuple[str, Fraction]], calls: Fraction) -> tuple[str, ...]:
    """The types that make up a sequence which the type is known to replace, if they gain as many calls as it has, and no others."""
    same = _FUSED.get(_stem(base_type(one)), ())
    gained = {name: gain for name, gain in gains if gain > 0 and name != one} if same else {}
    for known in same:
        left = dict(gained)
        chosen = dict.fromkeys(_fitting(step, left, calls) for step in known.sequence if not step.endswith("?"))
        more = dict.fromkeys(_fitting(step, left, calls) for step in known.sequence if step.endswith("?"))
        names = tuple(name for name in {**chosen, **more} if name is not None)
        if None not in chosen and not any(left[name] for name in names):
            return names
    return ()


def _fitting(step: str, left: dict[str, Fraction], calls: Fraction) -> str | None:
    """A type that may be a step of a sequence, whose calls are taken; null where none has so many left."""
    types = step.removesuffix("?").split("|")
    found = next((name for name in left if {name, base_type(name)} & {*types} and left[name] >= calls), None)
    if found is not None:
        left[found] -= calls
    return found


def _together(one: str, others: list[str], calls: Fraction) -> tuple[str, ...]:
    """Which of some types are in one: those in its name, else all of a few."""
    folded = one.casefold()
    named = tuple(other for other in others if len(stem := _stem(other)) >= _MIN_LETTERS and stem in folded)
    if len(named) >= _PAIR:
        return named
    return tuple(others) if _PAIR <= len(others) <= _MAX_PEERS and calls >= _MIN_CALLS else ()


class _Stems:
    """Types by their stems, to find versions of one: MatMulV2 and MatMulV3, Sort and SortWithIndex."""

    def __init__(self, names: Iterable[str]) -> None:
        """Sort types by their stems; those of too few letters are versions of none."""
        self._names: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if len(_stem(name)) >= _MIN_LETTERS:
                self._names[_stem(name)].append(name)
        self._sorted = sorted(self._names)

    def alike(self, one: str) -> Collection[str]:
        """The types, other than this one, whose stem begins with its stem, or is the beginning of it."""
        stem = _stem(one)
        if len(stem) < _MIN_LETTERS:
            return ()
        begun = (stem[:length] for length in range(_MIN_LETTERS, len(stem)))
        longer = takewhile(lambda other: other.startswith(stem), self._sorted[bisect_left(self._sorted, stem) :])
        stems = [*(other for other in begun if other in self._names), *longer]
        return [name for other in stems for name in self._names[other] if name != one]


@lru_cache(maxsize=1 << 16)
def _stem(name: str) -> str:
    """A type without its version, in lower case."""
    return _VERSION.sub("", name, count=1).casefold()


def _by_type(fused: Iterable[FusedOperator]) -> dict[str, list[FusedOperator]]:
    """Fused operators by what their type is called: npu_rms_norm is RmsNorm."""
    return lists_by_key(
        (operator.api.rpartition(".")[2].removeprefix("npu_").replace("_", ""), operator) for operator in fused
    )


_FUSED = _by_type(FUSED_OPERATORS)
