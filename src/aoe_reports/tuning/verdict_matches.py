"""Which operators of two profiles each claim is about, and which change it claims of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from aoe_reports.model.texts import Text, say
from aoe_reports.tuning.names import shapes_key, type_key
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verdict_sides import Both


class Matches:
    """Which operators of the profiles each claim is of."""

    def __init__(self, claims: Claims, both: Both) -> None:
        self.both = both
        names, kinds = both.words("op_name"), both.words("op_type")
        wanted = {claim.op_name for claim in claims.operators}
        by_name = _by_word(names, wanted, str)
        # a kernel may be claimed by its function, which profilers of kernels give as the type
        by_function = _by_word(kinds, wanted - set(by_name), str)
        named = [by_name.get(claim.op_name) or by_function.get(claim.op_name, []) for claim in claims.operators]
        self._shapes = both.words("input_shapes")
        meant = [self._meant(claim, groups) for claim, groups in zip(claims.operators, named, strict=True)]
        self.of_claim = _narrowest(claims, meant)
        self.pairs = list(zip(claims.operators, self.of_claim, strict=True))
        self._counted = _counted(self.pairs, by_name)
        self.once = [
            (claim, [group for group in groups if self._counted[group] is claim]) for claim, groups in self.pairs
        ]
        """As `pairs`, with each operator at one claim: one may be claimed by its name and by its function."""
        self.ambiguous = {claim for claim, groups in self.pairs if claim.before_us is None and len(groups) > 1}
        """Claims of one time, of operators that have several shapes, each with its own."""
        nameless = [kind for claim, groups in self.pairs if not groups for kind in claim.op_types]
        # types of claims whose operators have other names in the profiles, and types that were asked for as a whole
        loose = {type_key(one) for one in (*claims.whole_types, *nameless)}
        self.of_type = _by_word(kinds, loose, type_key)
        self.touched = {g for groups in (*named, *self.of_type.values()) for g in groups}
        unproven = set(claims.unproven)
        self.touched |= {group for group, name in enumerate(names) if name in unproven}

    def _meant(self, claim: Claim, groups: list[int]) -> list[int]:
        """Those of the shapes that are claimed."""
        if claim.input_shapes is None:
            return groups
        wanted = shapes_key(claim.input_shapes)
        return [group for group in groups if shapes_key(self._shapes[group] or "") == wanted]

    def other_claim(self, claim: Claim, group: int) -> str | None:
        """The name of the claim by which sums count an operator; None where it is this one."""
        counted = self._counted[group]
        return None if counted is claim else counted.op_name

    def change_of(self, claim: Claim, group: int) -> float | None:
        """After/before - 1 of an operator as a claim has it, by the measured time before where it tells none; null: it claims no gain."""
        if claim.change is not None:
            return claim.change
        before = self.both.mean(0, group)
        if not before or claim in self.ambiguous:
            return None
        change = claim.after_us * 1000 / before - 1
        return change if change < 0 else None

    def why_unmatched(self, claim: Claim) -> Text:
        """Why a claim is of no operator."""
        if claim.input_shapes is not None:
            return say("no operator of this name with these shapes is in either profile")
        return say("no operator of this name is in either profile")

    def why_no_change(self, claim: Claim) -> Text:
        """Why a claim that tells no time before says nothing that could be measured."""
        if claim in self.ambiguous:
            return say("only a time after tuning is claimed, and it is not said of which shapes")
        return say("only a time after tuning is claimed, and it is not below the time that was measured before")


def _counted(pairs: Sequence[tuple[Claim, list[int]]], by_name: Collection[str]) -> dict[int, Claim]:
    """The claim that each operator counts by: one of its own name goes before one of its function."""
    counted: dict[int, Claim] = {}
    for claim, groups in sorted(pairs, key=lambda pair: pair[0].op_name not in by_name):
        for group in groups:
            counted.setdefault(group, claim)
    return counted


def _narrowest(claims: Claims, meant: Sequence[list[int]]) -> list[list[int]]:
    """The operators of each claim: what is claimed of single shapes goes before what is claimed of all that an operator has."""
    single = {g for claim, groups in zip(claims.operators, meant, strict=True) if claim.input_shapes for g in groups}
    return [
        groups if claim.input_shapes else [group for group in groups if group not in single]
        for claim, groups in zip(claims.operators, meant, strict=True)
    ]


def _by_word(words: Sequence[str | None], wanted: set[str], key: Callable[[str], str]) -> dict[str, list[int]]:
    """The places of each word of which the key is wanted."""
    found: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if word is not None and key(word) in wanted:
            found.setdefault(word, []).append(place)
    return found
