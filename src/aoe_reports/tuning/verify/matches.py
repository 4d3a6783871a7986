"""Which operators of two profiles each claim is about, and which change it claims of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from aoe_reports.model.texts import Text, say
from aoe_reports.tuning.names import shapes_key, type_key
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.sides import Both

SAME_TIME = 2.0
"""A claimed time before tuning and the measured one are of the same thing up to this factor: a tuner measures an operator by
itself, which changes its time, but seldom doubles or halves it."""
CLEARLY_NEARER = 1.1
"""Of two shapes the one is meant whose time is nearer to the claim by this factor; a tuner's time is hardly more exact."""


@dataclass(frozen=True, slots=True)
class Match:
    """What one claim is about."""

    claim: Claim
    groups: list[int]
    """Its operators: all have the same shapes, unless none of them has a recorded shape."""
    others: list[int] = field(default_factory=list)
    """Operators of the claimed name with other shapes; nothing is claimed about these."""
    reason: Text | None = None
    """Why it is about no operator, although its name is in a profile."""


class Matches:
    """Which operators of the profiles each claim is of."""

    def __init__(self, claims: Claims, both: Both, unused: frozenset[str] = frozenset()) -> None:
        """`unused`: names of claimed operators that did not use the bank; no sum counts them."""
        self.both, self._unused = both, unused
        names, kinds = both.words("op_name"), both.words("op_type")
        wanted = {claim.op_name for claim in claims.operators}
        by_name = _by_word(names, wanted, str)
        # a kernel may be claimed by its function, which profilers of kernels give as the type
        by_function = _by_word(kinds, wanted - set(by_name), str)
        named = [by_name.get(claim.op_name) or by_function.get(claim.op_name, []) for claim in claims.operators]
        self._shapes = [shapes_key(shapes or "") for shapes in both.words("input_shapes")]
        meant = [self._meant(claim, groups) for claim, groups in zip(claims.operators, named, strict=True)]
        narrowed = _narrowest(claims, meant)
        self.matches = [
            self._attributed(claim, groups) for claim, groups in zip(claims.operators, narrowed, strict=True)
        ]
        self._counted = _counted([(match.claim, match.groups) for match in self.matches], by_name)
        self.matches = _others_once(self.matches, self._counted)
        self.once = [
            (match.claim, [group for group in match.groups if self._counted[group] is match.claim])
            for match in self.matches
        ]
        """The operators of each claim, each operator at one claim: one may be claimed by its name and by its function."""
        nameless = [kind for m in self.matches if not m.groups and m.reason is None for kind in m.claim.op_types]
        # types of claims whose operators have other names in the profiles, and types that were asked for as a whole
        loose = {type_key(one) for one in (*claims.whole_types, *nameless)}
        self.of_type = _by_word(kinds, loose, type_key)
        self.touched = {g for groups in (*named, *self.of_type.values()) for g in groups}
        unproven = set(claims.unproven)
        self.touched |= {group for group, name in enumerate(names) if name in unproven}

    def _meant(self, claim: Claim, groups: list[int]) -> list[int]:
        if claim.input_shapes is None:
            return groups
        wanted = shapes_key(claim.input_shapes)
        return [group for group in groups if self._shapes[group] == wanted]

    def _attributed(self, claim: Claim, groups: list[int]) -> Match:
        """The claim with the operators of the one shape whose time before tuning is nearest to the claimed one."""
        by_shape: dict[str, list[int]] = {}
        for group in groups:
            by_shape.setdefault(self._shapes[group], []).append(group)
        if len(by_shape) <= 1:
            return Match(claim, groups)
        if claim.before_us is None:
            text = say("only a time after tuning is claimed, and its shapes are not given")
            return Match(claim, [], groups, text)
        means = {shape: mean for shape, mine in by_shape.items() if (mean := self._mean_us(mine))}
        far = sorted((abs(math.log(claim.before_us / mean)), shape) for shape, mean in means.items())
        if len(far) > 1 and (far[0][0] > math.log(SAME_TIME) or far[1][0] - far[0][0] < math.log(CLEARLY_NEARER)):
            return Match(claim, [], groups, _not_attributable(claim.before_us, list(means.values()), far[0][0]))
        if not far:
            return Match(claim, [], groups, say("the profile before tuning contains no calls of it"))
        mine = by_shape[far[0][1]]
        return Match(claim, mine, [group for group in groups if group not in set(mine)])

    def _mean_us(self, groups: Iterable[int]) -> float | None:
        totals, counts = ([int(side[0][group]) for group in groups] for side in (self.both.totals, self.both.counts))
        return sum(totals) / sum(counts) / 1000 if sum(counts) else None

    @property
    def groups(self) -> list[int]:
        """All operators that have a row."""
        return sorted({*self._counted, *(group for match in self.matches for group in match.others)})

    def other_claim(self, claim: Claim, group: int) -> str | None:
        """The name of the claim by which sums count an operator; None where it is this one."""
        counted = self._counted[group]
        return None if counted is claim else counted.op_name

    def change_of(self, claim: Claim, group: int) -> float | None:
        """After/before - 1 of an operator as a claim has it, by the measured time before where it tells none; null: no gain to be measured."""
        if claim.op_name in self._unused:
            return None
        if claim.change is not None or claim.unmeasured:
            return claim.change
        before = self.both.mean(0, group)
        if not before:
            return None
        change = claim.after_us * 1000 / before - 1
        return change if change < 0 else None


def _not_attributable(claimed_us: float, means: Sequence[float], distance: float) -> Text:
    why = {"count": len(means), "low": min(means), "high": max(means), "claimed": claimed_us}
    if distance > math.log(SAME_TIME):
        return say(
            "not attributable: its {count} shapes take {low:,.4g} … {high:,.4g} us before tuning, none of them about "
            "the claimed {claimed:,.4g} us",
            **why,
        )
    return say(
        "not attributable: its {count} shapes take {low:,.4g} … {high:,.4g} us before tuning, and several of them "
        "about the claimed {claimed:,.4g} us",
        **why,
    )


def why_unmatched(match: Match) -> Text:
    """Why a claim is of no operator."""
    if match.reason is not None:
        return match.reason
    if match.claim.unnamed:
        return say("the tuner names a configuration and no operator: use --operator NAME with one file of claims")
    if match.claim.input_shapes is not None:
        return say("no operator of this name with these shapes is in either profile")
    return say("no operator of this name is in either profile")


def _counted(pairs: Sequence[tuple[Claim, list[int]]], by_name: Collection[str]) -> dict[int, Claim]:
    """The claim that counts for each operator: one of its own name before one of its function."""
    counted: dict[int, Claim] = {}
    for claim, groups in sorted(pairs, key=lambda pair: pair[0].op_name not in by_name):
        for group in groups:
            counted.setdefault(group, claim)
    return counted


def _others_once(matches: Sequence[Match], claimed: Collection[int]) -> list[Match]:
    seen = set(claimed)
    kept = []
    for match in matches:
        others = [group for group in match.others if group not in seen]
        seen.update(others)
        kept.append(replace(match, others=others))
    return kept


def _narrowest(claims: Claims, meant: Sequence[list[int]]) -> list[list[int]]:
    single = {g for claim, groups in zip(claims.operators, meant, strict=True) if claim.input_shapes for g in groups}
    return [
        groups if claim.input_shapes else [group for group in groups if group not in single]
        for claim, groups in zip(claims.operators, meant, strict=True)
    ]


def _by_word(words: Sequence[str | None], wanted: set[str], key: Callable[[str], str]) -> dict[str, list[int]]:
    """The rows of each word whose key is requested."""
    found: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if word is not None and key(word) in wanted:
            found.setdefault(word, []).append(place)
    return found
