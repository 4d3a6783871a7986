"""What is odd about a session of repeats: their order, a drift, a warm-up, ranks and conditions that differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from aoe_reports.jobs.ab.causes import IN_TURNS
from aoe_reports.jobs.ab.repeats import REQUESTS, Repeat, first_of, given_twice
from aoe_reports.jobs.ab.rules import (
    CONDITIONS_DIFFER,
    DEAD_ROUNDS,
    DRIFT,
    FEW_REPEATS,
    NAMES_IGNORED,
    NO_DIRECTION,
    NOT_IN_TURNS,
    ONE_SIDE,
    ORDER_UNKNOWN,
    RANKS_DIFFER,
    REQUESTS_FAILED,
    VALUES_MISSING,
    WARM_UP,
)
from aoe_reports.jobs.ab.verdicts import Judged, Observed
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.metrics import value_change
from aoe_reports.model.sides import SideFact
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.stats.two_sides import Difference, student

SURE = 0.005
"""How often a drift, or a warm-up, is seen where there is none."""
_NAMED = 3


def remarks(sides: Sequence[Sequence[Repeat]], judged: Judged, facts: Sequence[SideFact]) -> Iterator[Finding]:
    """What whoever relies on the verdicts has to know."""
    where = sides[1][0].path
    if judged.ignored is not None:
        yield NAMES_IGNORED.found(where, judged.ignored)
    yield from given_twice(sides)
    yield from _of_one_side(judged, where)
    yield from _of_values_missing(sides, judged, where)
    if any(row.reason is not None for row in judged.rows):
        few = [row for row in judged.rows if row.reason is not None]
        yield FEW_REPEATS.found(where, few[0].reason or "")
        names = sorted({row.workload for row in few if row.scope == "model"})
        if len(names) > 1:
            text = say(
                "{names} are taken as different benchmarks: --workload NAME makes them repeats of one",
                names=first_of(names),
            )
            yield FEW_REPEATS.found(where, text)
    yield from _of_order(judged, where)
    ranks = {repeat.ranks for side in sides for repeat in side if repeat.captures}
    if len(ranks) > 1:
        every, common = frozenset[int]().union(*ranks), frozenset[int].intersection(*ranks)
        missing = join(", ", map(str, sorted(every - common)[:_NAMED]))
        yield RANKS_DIFFER.found(where, say("not in every repeat: rank {ranks}", ranks=missing))
    for kind in dict.fromkeys(fact.kind for fact in facts):
        words = [
            say("{what}: {before} → {after}", what=f.what, before=f.before, after=f.after)
            for f in facts
            if f.kind == kind
        ]
        yield CONDITIONS_DIFFER.found(where, join("; ", words[:_NAMED]))


def _of_one_side(judged: Judged, where: str) -> Iterator[Finding]:
    names: tuple[list[str], list[str]] = [], []
    for quantity, number in judged.one_side.items():
        names[number].append(" ".join(filter(None, (quantity.workload, quantity.name))))
    lost, added = names
    if lost:
        text = count_of(
            len(lost),
            "{number} quantity of the baseline is not in the candidate: {names}",
            "{number} quantities of the baseline are not in the candidate: {names}",
            names=first_of(lost),
        )
        yield ONE_SIDE.found(where, text)
    if added:
        text = count_of(
            len(added),
            "{number} quantity of the candidate is not in the baseline: {names}",
            "{number} quantities of the candidate are not in the baseline: {names}",
            names=first_of(added),
        )
        yield ONE_SIDE.found(where, text)


def _of_values_missing(sides: Sequence[Sequence[Repeat]], judged: Judged, where: str) -> Iterator[Finding]:
    """Metrics that are not compared, rounds that measured nothing, and requests that failed."""
    unknown = sorted({name for side in sides for repeat in side for name in repeat.no_direction})
    if unknown:
        yield NO_DIRECTION.found(
            where, say("no good direction is known (see --metrics): {names}", names=first_of(unknown))
        )
    every = [repeat for side in sides for repeat in side]
    for name in sorted({name for repeat in every for name in repeat.no_value}):
        dead = [repeat.path for repeat in every if name in repeat.no_value]
        if any(quantity.name == name for repeat in every for quantity in repeat.values):
            text = count_of(
                len(dead),
                "{name} is 0, negative or out of range in {number} repeat ({paths})",
                "{name} is 0, negative or out of range in {number} repeats ({paths})",
                name=name,
                paths=first_of(dead),
            )
            yield DEAD_ROUNDS.found(where, text)
    dead_names = {name for repeat in every for name in repeat.no_value}
    partly = [
        say("{name} ({before} and {after})", name=series.quantity.name, before=counts[0], after=counts[1])
        for series in judged.observed.values()
        if (counts := series.design.counts) != series.repeats and series.quantity.name not in dead_names
    ]
    if partly:
        yield VALUES_MISSING.found(where, say("not in every repeat of both sides: {names}", names=first_of(partly)))
    for name in REQUESTS:
        means = [[repeat.requests[name] for repeat in side if name in repeat.requests] for side in sides]
        if all(means):
            before, after = (fmean(values) for values in means)
            if (after > before) if name == "failed" else (after < before):
                text = say("{name} requests of a repeat: {before:g} → {after:g}", name=name, before=before, after=after)
                yield REQUESTS_FAILED.found(where, text)


def _of_order(judged: Judged, where: str) -> Iterator[Finding]:
    longest = max(judged.observed.values(), key=lambda series: len(series.values))
    if not longest.design.is_enough:
        return
    if not longest.design.in_order:
        yield ORDER_UNKNOWN.found(
            where, say("no times here say in which order the repeats ran; they are taken as independent")
        )
    elif longest.design.interleaving < IN_TURNS:
        yield NOT_IN_TURNS.found(
            where, say("one side ran after the other: measure in turns (A, B, B, A) for narrower intervals")
        )
    first = next((row for row in judged.rows if row.noise == "repeats"), None)
    if first is None:
        return
    quantity = judged.quantities[judged.rows.index(first)]
    difference, index = judged.differences[quantity]
    yield from _of_values(judged.observed[quantity], difference, index, where)


def _of_values(observed: Observed, difference: Difference, index: int, where: str) -> Iterator[Finding]:
    """A drift, and a first repeat that is far slower than its side, in the sign of the values."""
    limit, count = student(max(observed.design.free, 1), SURE), len(observed.design.sides)
    better, name = observed.values[0].better, observed.quantity.name
    drift = float(difference.drift[index])
    if observed.design.has_drift and abs(drift) > limit * float(difference.drift_error[index]):
        change = value_change(math.expm1(drift * (count - 1)), better)
        text = say("{name} drifts by {drift:+.1%} from the first to the last repeat", name=name, drift=change)
        yield DRIFT.found(where, text)
    first = float(difference.residuals[index][0])
    if observed.design.in_order and first > 2 * limit * float(difference.scatter[index]):
        change = value_change(math.expm1(first), better)
        text = say(
            "{name} of the first repeat is {change:+.1%} from the others of its side: leave it out, or warm up before",
            name=name,
            change=change,
        )
        yield WARM_UP.found(where, text)
