"""The smallest set of causes that explains what moved together: of a run, a rank, an operator type, an operator.

A cause makes every time that it is about longer by the same factor (the ripple effect of Sun et al., "HotSpot", IEEE Access
2018), and what it is about is told by a few labels (Bhagwan et al., "Adtributor", NSDI 2014). Which causes there are is a
matter of the shortest description (Rissanen, 1978): each cause has a price, so has each time that none explains, and what
scatter explains is free. Causes are added as long as that makes the description shorter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from aoe_reports.model.arrays.columns import Floats, Ints, Mask

Labels = tuple[Any, ...]
"""What a time is told by; None stands for every value where it is of a cause."""

PRICE = 4.0
"""Of a cause beside the logarithm of how many could be named (nats)."""
CLEAR_SCORES = 3.0
"""Standard errors from which on a time has clearly moved."""
BEYOND = 2.0
"""So many times what causes explain of a change has to be left of it, for the rest to be told, too."""
ROUNDS = 4
"""In so many rounds the sizes of causes that overlap are settled."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause: what it is about, by how much that is longer (logarithm), and which of the times follow it."""

    labels: Labels
    size: float
    members: tuple[int, ...]
    """What it is about."""
    followers: tuple[int, ...]
    """Members that moved, and that it explains."""


def find_causes(
    labels: Sequence[Labels],
    levels: Sequence[Sequence[int]],
    moved: Floats,
    errors: Floats,
    certain: Mask,
    weights: Floats | None = None,
) -> list[Cause]:
    """The causes of some changes (logarithms) with their standard errors, that which explains most changes first.

    Of the changes that are `certain` each is explained; a cause that explains none of them, or a minor part of some, is not told. `levels` says which labels together may tell a cause; `()` is everything. Of two that are about the same times the first is told.
    `weights` says how much each time is of the whole: many short ones are not most of what a cause is about.
    """
    assert np.isfinite(moved).all(), "changes of what was measured on both sides"
    assert (errors > 0).all()
    if not certain.any():
        return []
    weights = np.ones(len(moved)) if weights is None else weights
    return _Description(_nameable(tuple(labels), tuple(map(tuple, levels))), moved, errors, certain, weights).causes()


@lru_cache(maxsize=16)
def _nameable(labels: tuple[Labels, ...], levels: tuple[tuple[int, ...], ...]) -> dict[tuple[int, ...], Labels]:
    """The possible causes, by the changes that each is about."""
    found: dict[tuple[int, ...], Labels] = {}
    differs = {cell for cell, values in enumerate(zip(*labels, strict=True)) if len(set(values)) > 1}
    # what all times have in common divides nothing: of levels that differ by that alone the first names the causes
    firsts = {tuple(cell for cell in level if cell in differs): level for level in reversed(levels)}
    for level in (one for one in levels if one in set(firsts.values())):
        about: dict[Any, list[int]] = {}
        told_by = itemgetter(*level) if level else len
        for place, value in enumerate(map(told_by, labels)):
            about.setdefault(value, []).append(place)
        for places in about.values():
            named = labels[places[0]]
            found.setdefault(tuple(places), tuple(one if cell in level else None for cell, one in enumerate(named)))
    return found


class _Description:
    """Changes, as described by causes."""

    def __init__(
        self, named: Mapping[tuple[int, ...], Labels], moved: Floats, errors: Floats, certain: Mask, weights: Floats
    ) -> None:
        self.moved, self.errors, self.certain, self.weights = moved, errors, certain, weights
        self.price = PRICE + math.log(len(named))
        self.alone = {places[0]: name for places, name in named.items() if len(places) == 1}
        self.names = [name for places, name in named.items() if len(places) > 1]
        self.about = [np.array(places) for places in named if len(places) > 1]
        self.places = np.concatenate([*self.about, np.empty(0, dtype=np.int64)])
        self.first = np.cumsum([0, *map(len, self.about)][:-1], dtype=np.int64)
        """Where the places of each cause begin in `places`."""
        self.sizes: dict[int, float] = {}
        self.beside: dict[int, dict[int, Ints]] = {}
        """For each cause that is told, those that are about some of the same times, in their order: which of its members."""
        self.settled: dict[int, tuple[Floats, float]] = {}
        """For each cause, what was left for it when its size was looked for."""
        self.worth = np.full(len(self.about), np.nan)
        """Of each cause that could be told, in what was left when `looked_at`; NaN where that is not known."""
        self.looked_at = np.full(len(moved), np.nan)
        self.dropped: set[int] = set()

    def causes(self) -> list[Cause]:
        """What makes the description shortest."""
        while (best := self._best()) is not None:
            self._add(best)
            self._settle()
            for number in [size for size in self.sizes if self._worth(size) <= 0 or not self._is_common(size)]:
                self._remove(number)
                self.dropped.add(number)
        self._drop_minor()
        found = map(self._cause, sorted(self.sizes, key=self._worth, reverse=True))
        return [*found, *self._told_alone()]

    def _drop_minor(self) -> None:
        """Drop causes that explain no certain change, or only the minor part of some."""
        for number in list(self.sizes):
            followers = list(self._cause(number).followers)
            moved = self.moved[followers][self.certain[followers]]
            if not (abs(self.sizes[number]) * (1 + BEYOND) >= np.abs(moved)).any():
                self._remove(number)

    def _add(self, number: int) -> None:
        self.sizes[number] = 0.0
        mine = self.about[number]
        place_in = np.full(len(self.moved), -1)
        place_in[mine] = np.arange(len(mine))
        self.beside[number] = {}
        for other in self.sizes:
            members = place_in[self.about[other]]
            shared = members >= 0
            if shared.any():
                self.beside[number][other] = members[shared]
                self.beside[other][number] = np.flatnonzero(shared)

    def _remove(self, number: int) -> None:
        del self.sizes[number]
        for other in self.beside.pop(number):
            if other != number:
                del self.beside[other][number]

    def _told_alone(self) -> list[Cause]:
        """Certain changes that causes do not explain, the clearest first."""
        left = self._left()
        is_beyond = np.abs(left) > np.maximum(BEYOND * np.abs(self.moved - left), CLEAR_SCORES * self.errors)
        places = [place for place in np.flatnonzero(is_beyond & self.certain).tolist() if place in self.alone]
        places.sort(key=lambda place: -abs(left[place] / self.errors[place]))
        return [Cause(self.alone[place], float(left[place]), (place,), (place,)) for place in places]

    def _left(self) -> Floats:
        left = self.moved.copy()
        for number, size in self.sizes.items():
            left[self.about[number]] -= size
        return left

    def _left_for(self, number: int, *, with_itself: bool = False) -> Floats:
        """What the other causes leave unexplained of a cause's changes."""
        left: Floats = self.moved[self.about[number]]
        for other, members in self.beside[number].items():
            if other != number or with_itself:
                left[members] -= self.sizes[other]
        return left

    def _costs(self, left: Floats, errors: Floats) -> Floats:
        return np.minimum(np.square(left / errors) / 2, self.price)

    def _size(self, mine: Floats, errors: Floats) -> float:
        """The size with the lowest cost: common to most members, or to most that clearly moved."""
        clear = np.abs(mine) > CLEAR_SCORES * errors
        sizes = [_center(mine, errors), *([_center(mine[clear], errors[clear])] if clear.any() else [])]
        return min(sizes, key=lambda size: float(self._costs(mine - size, errors).sum()))

    def _worth(self, number: int) -> float:
        """The gain in description length by a cause."""
        return self._gain(self._left_for(number), self.errors[self.about[number]], self.sizes[number])

    def _gain(self, mine: Floats, errors: Floats, size: float) -> float:
        return float((self._costs(mine, errors) - self._costs(mine - size, errors)).sum()) - self.price

    def _best(self) -> int | None:
        """The cause that explains most of the rest; only causes with a changed rest are evaluated again."""
        if not self.about:
            return None
        left = self._left()
        clear = np.abs(left) > CLEAR_SCORES * self.errors
        differs = np.logical_or.reduceat((left != self.looked_at)[self.places], self.first)
        may_be = np.add.reduceat(clear[self.places], self.first, dtype=np.int64) > 1
        may_be[[*self.sizes, *self.dropped]] = False
        self.worth[differs] = np.nan
        for number in np.flatnonzero(may_be & np.isnan(self.worth)).tolist():
            mine, errors = left[self.about[number]], self.errors[self.about[number]]
            self.worth[number] = self._gain(mine, errors, self._size(mine, errors))
        self.looked_at = left
        worth = np.where(may_be, self.worth, -np.inf)
        best = int(np.argmax(worth))
        return best if worth[best] > 0 else None

    def _settle(self) -> None:
        for _ in range(ROUNDS):
            for number in self.sizes:
                mine = self._left_for(number)
                before = self.settled.get(number)
                if before is None or not np.array_equal(before[0], mine):
                    self.settled[number] = mine, self._size(mine, self.errors[self.about[number]])
                self.sizes[number] = self.settled[number][1]

    def _cause(self, number: int) -> Cause:
        members = self.about[number]
        before, now = self._left_for(number), self._left_for(number, with_itself=True)
        errors = self.errors[members]
        followers = members[self._costs(now, errors) < self._costs(before, errors)]
        return Cause(self.names[number], self.sizes[number], tuple(members.tolist()), tuple(followers.tolist()))

    def _is_common(self, number: int) -> bool:
        """Whether most members follow a cause, by number and by weight."""
        cause = self._cause(number)
        followers, members = (self.weights[list(some)].sum() for some in (cause.followers, cause.members))
        return 2 * len(cause.followers) > len(cause.members) and bool(2 * followers > members)


def _center(values: Floats, errors: Floats) -> float:
    order = np.argsort(values, kind="stable")
    weights = np.cumsum((1 / np.square(errors))[order])
    return float(values[order][np.searchsorted(weights, weights[-1] / 2)])
