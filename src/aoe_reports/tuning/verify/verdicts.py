"""A tuner's claims against the clock: what two profiles show of each operator and of the step, with intervals and the noise.

`change` is after/before - 1 everywhere: below 0 is faster. Intervals come from a bootstrap in which steps are the blocks (single
calls, where there are too few steps), widened by what operators that nobody tuned changed between the two profiles: two
captures of the same model differ by more than the steps of one capture do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aoe_reports.model.arrays.columns import has_value, integers
from aoe_reports.model.texts import join, say
from aoe_reports.stats.bootstrap import MIN_VALUES, SEED
from aoe_reports.tuning.names import type_key
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.intervals import (
    LEVEL,
    MIN_CONTROLS,
    RESAMPLES,
    Interval,
    Noise,
    Sample,
    change_of_steps,
    noise_between,
    widened,
)
from aoe_reports.tuning.verify.matches import Match, Matches, why_unmatched
from aoe_reports.tuning.verify.reconciliation import Reconciliation, reconcile, rounded_row
from aoe_reports.tuning.verify.rows import CONFIRMED_PART, DIGITS, Method, Row, StepClaim, Verdict, step_claim
from aoe_reports.tuning.verify.sides import Both, MeasuredSide, both_sides, common_share
from aoe_reports.tuning.verify.uses import Uses

SAME_WORKLOAD_SHARE = 0.5
"""Operator tuning changes neither names nor shapes, so nearly all time is in operators of both profiles; below one half it
is another model."""
SAME_WORK = 1.1
"""How much more work one step may hold than the other and still be held against it: the calls of the same operators vary
by less where steps are steps (data, a last batch). Where an export tells no steps, the whole capture is taken as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The rows, the verdict on the whole, the noise, where the savings went, and signs that the bank was not in use."""

    rows: tuple[Row, ...]
    verdict: Verdict
    subject: Row
    """What the verdict on the whole is about: the step, or all tuned operators as one."""
    noise: Noise
    reconciliation: Reconciliation | None
    """Null where the steps of the two profiles do not hold the same work."""
    signs: tuple[str, ...] = ()
    same_share: float | None = None
    """The part of the time before that operators take which are in both profiles."""
    work_ratio: float | None = None
    """Calls of a step, after/before (median over the common operators, by their time)."""
    step_claims: tuple[StepClaim, ...] = ()
    unattributed: tuple[Row, ...] = ()
    """Claims that cannot be attributed to one shape."""
    method: Method

    @property
    def claims_differ(self) -> bool:
        """Whether the tuner contradicts itself: what confirms one of its claims on the step does not confirm the other."""
        changes = [claim.change for claim in self.step_claims]
        return len(changes) > 1 and min(changes) < 0 and max(changes) > CONFIRMED_PART * min(changes)


@dataclass(frozen=True, slots=True)
class _Evidence:
    claims: Claims
    both: Both
    found: Matches
    sample: Sample
    noise: Noise
    needs_noise: bool
    uses: Uses

    def judged(self, row: Row, change: float, interval: Interval | None, unknown: str) -> Row:
        """The row with its verdict; without one where the noise has to be known, and neither controls nor repeated captures tell it."""
        if self.needs_noise and self.noise.spread is None and not self.both.by_captures:
            text = say(
                "how much two captures differ is not known: expected {controls} operators that no claim is about, "
                "or {captures} captures on each side",
                controls=MIN_CONTROLS,
                captures=MIN_VALUES,
            )
            return row.changed(change, None, text)
        return row.changed(change, interval, unknown)


def verify_claims(
    claims: Claims, before: MeasuredSide, after: MeasuredSide, *, needs_noise: bool = False, uses: Uses | None = None
) -> Verified:
    """Hold what is claimed against two profiles of one device; with `needs_noise` nothing is judged by the steps of two captures alone."""
    both, uses = both_sides(before, after), uses or Uses()
    matches = Matches(claims, both, uses.unused)
    sample = Sample(both, matches.groups)
    evidence = _Evidence(claims, both, matches, sample, noise_between(both, matches.touched), needs_noise, uses)
    rows = []
    for match in matches.matches:
        others = (_unclaimed_row(evidence, match.claim, group) for group in match.others)
        rows += [*_claimed_rows(evidence, match), *sorted(others, key=_by_shapes)]
    together, work = _together(evidence), _work_ratio(both)
    changes = [(group, matches.change_of(claim, group)) for claim, groups in matches.once for group in groups]
    shares = [(group, -change) for group, change in changes if change is not None]
    reconciliation = reconcile(both, shares, matches.touched)
    step_claims = _step_claims(claims, both, reconciliation.claimed_us)
    step = _step_row(evidence, next((one for one in step_claims if one.judged), None), work)
    step = replace(step, reason=step.reason or _left_out(matches) if step.claim == "operators" else step.reason)
    step = _with_use(evidence, step)
    verdict, subject = _overall(step, together, claims, uses)
    return Verified(
        rows=tuple(rounded_row(row, DIGITS) for row in (step, *_type_rows(evidence), *rows)),
        verdict=verdict,
        subject=rounded_row(subject, DIGITS),
        noise=evidence.noise,
        reconciliation=rounded_row(reconciliation, 3) if is_same_work(work) else None,
        signs=() if uses.tell else signs_of(rows, together, both, sorted(sample.place)),
        same_share=common_share(both),
        work_ratio=work,
        step_claims=tuple(rounded_row(one, DIGITS) for one in step_claims),
        unattributed=tuple(
            rounded_row(row, DIGITS)
            for match in matches.matches
            if match.reason is not None
            for row in _claimed_rows(evidence, match)
        ),
        method=Method(
            level=LEVEL,
            resamples=RESAMPLES,
            seed=SEED,
            steps_before=before.blocks,
            steps_after=after.blocks,
            operators_together=None if together is None else rounded_row(together, DIGITS),
        ),
    )


def _by_shapes(row: Row) -> tuple[str, str]:
    return row.op_type or "", row.input_shapes or ""


def _claimed_rows(evidence: _Evidence, match: Match) -> list[Row]:
    claim = match.claim
    row = Row(
        scope="operator",
        op_name=claim.op_name,
        op_type=", ".join(claim.op_types) or None,
        claimed_before_us=claim.before_us,
        claimed_after_us=claim.after_us,
        claimed_change=claim.change,
        claim="unmeasured" if claim.unmeasured else "operators",
    )
    if not match.groups:
        row = replace(row, input_shapes=claim.input_shapes, reason=why_unmatched(match))
        return [_not_used(row) if claim.op_name in evidence.uses.unused else row]
    rows = [_claimed_row(evidence, row, claim, group) for group in match.groups]
    return sorted(rows, key=_by_shapes)


def _claimed_row(evidence: _Evidence, row: Row, claim: Claim, group: int) -> Row:
    row = _measured_row(evidence, row, group)
    change = row.change
    if claim.op_name in evidence.uses.unused:
        return _not_used(row if change is None else _judged_row(evidence, row, change, group))
    if change is None:
        return row
    claimed = evidence.found.change_of(claim, group)
    if claimed is None and not claim.unmeasured:
        why = say("only a time after tuning is claimed, and it is not below the time that was measured before")
        return replace(row, reason=why)
    if claim.before_us is None:
        reason = say("only a time after tuning is claimed: it is compared with the time that was measured before")
        row = replace(row, claimed_change=claimed, reason=reason)
    if (other := evidence.found.other_claim(claim, group)) is not None:
        row = replace(row, reason=say("also claimed as {other}: sums count it once, by that claim", other=other))
    row = _judged_row(evidence, row, change, group)
    filled_in = say("unmeasured claim: AOE fills in a difference of 1 us where it measured no gain")
    return _without_claim(row, filled_in) if claim.unmeasured else row


def _not_used(row: Row) -> Row:
    """A row whose change says nothing of the bank, whatever was measured."""
    reason = say("the log says that it did not use the bank")
    return replace(row, verdict="not-used", reason=reason if row.reason is None else join("; ", (row.reason, reason)))


def _unclaimed_row(evidence: _Evidence, claim: Claim, group: int) -> Row:
    """An operator of a claimed name with other shapes: a gain is not confirmed, but a slow-down counts."""
    row = _measured_row(evidence, Row(scope="operator", op_name=claim.op_name), group)
    if row.change is None:
        return row
    row = _judged_row(evidence, row, row.change, group)
    return _without_claim(row, row.reason or say("nothing is claimed of these shapes"))


def _without_claim(row: Row, reason: str) -> Row:
    return replace(row, verdict="regressed" if row.verdict == "regressed" else "not-comparable", reason=reason)


def _measured_row(evidence: _Evidence, row: Row, group: int) -> Row:
    """The row with what was measured of an operator; without a change, and with the reason, where there is none."""
    both = evidence.both
    before, after = both.mean(0, group), both.mean(1, group)
    row = replace(
        row,
        op_name=both.key(group, "op_name"),
        op_type=both.key(group, "op_type"),
        input_shapes=both.key(group, "input_shapes"),
        measured_before_us=None if before is None else before / 1000,
        measured_after_us=None if after is None else after / 1000,
    )
    if before is None:
        return replace(row, reason=say("the profile before tuning contains no calls with these shapes"))
    if after is None:
        return replace(row, reason=say("the profile after tuning contains no calls with these shapes"))
    if not before:
        return replace(row, reason=say("its duration before tuning was 0"))
    return replace(row, change=after / before - 1)


def _judged_row(evidence: _Evidence, row: Row, change: float, group: int) -> Row:
    noise = None if evidence.noise.spread is None else evidence.noise.of_operators
    interval = widened(change, evidence.sample.change_of_means([group]), evidence.noise.reach(noise))
    few = say("fewer than {least} steps and calls, and the noise is not known", least=MIN_VALUES)
    return evidence.judged(row, change, interval, few)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """An operator of a sum: its calls in a step before, and its claim."""

    group: int
    claim: Claim
    calls: float
    change: float
    """What is claimed of it, after/before - 1."""


def _weighed(evidence: _Evidence) -> list[_Weighed]:
    both = evidence.both
    return [
        _Weighed(group, claim, both.calls(group), change)
        for claim, groups in evidence.found.once
        for group in groups
        if both.counts[0][group] and both.counts[1][group]
        if (change := evidence.found.change_of(claim, group)) is not None
    ]


def _sum_row(evidence: _Evidence, kind: str | None, mine: Sequence[_Weighed], sample: Sample) -> Row | None:
    both = evidence.both
    before, after = (np.asarray([(both.mean(side, one.group) or 0.0) * one.calls for one in mine]) for side in (0, 1))
    totals = [sum(side.tolist()) / 1000 for side in (before, after)]
    if not mine or not totals[0]:
        return None
    change = totals[1] / totals[0] - 1
    interval = sample.change_of_means([one.group for one in mine], [one.calls for one in mine])
    interval = widened(change, interval, evidence.noise.reach(_noise_of_sum(evidence.noise, before)))
    expected = float((before * np.asarray([one.change for one in mine])).sum() / before.sum())
    first, calls = mine[0].claim, sum(one.calls for one in mine)
    alike = all(one.claim == first for one in mine)
    row = Row(
        scope="op_type",
        op_type=kind,
        claimed_before_us=first.before_us * calls if alike and first.before_us is not None else None,
        claimed_after_us=first.after_us * calls if alike else None,
        measured_before_us=totals[0],
        measured_after_us=totals[1],
        claimed_change=expected,
        claim="operators",
    )
    row = evidence.judged(row, change, interval, _too_few_steps())
    apart = _measured_apart(both, [one.group for one in mine])
    return row if apart is None or row.reason else replace(row, reason=apart)


def _measured_apart(both: Both, groups: Sequence[int]) -> str | None:
    """Says that operators of a sum were measured in different captures; None if not."""
    for having in both.captures_with:
        mine = having[list(groups)]
        if (mine != mine[0]).any():
            return say(
                "measured in different captures: each operator counts by the captures that have it ({counts} of {captures})",
                counts=join(", ", [str(int(one.sum())) for one in mine]),
                captures=having.shape[1],
            )
    return None


def _too_few_steps() -> str:
    return say("fewer than {least} steps, and the noise is not known", least=MIN_VALUES)


def _noise_of_sum(noise: Noise, weights: Any) -> float | None:
    """The apparent change of an untouched sum; the noise of its parts is independent."""
    if noise.spread is None:
        return None
    alone = float((weights**2).sum() ** 0.5 / weights.sum())
    return float(np.hypot(noise.drift or 0.0, noise.spread * alone))


def _together(evidence: _Evidence) -> Row | None:
    mine = _weighed(evidence)
    if mine or not evidence.found.of_type:
        return _sum_row(evidence, None, mine, evidence.sample)
    rows = [row for row in _type_rows(evidence) if row.change is not None]
    return max(rows, key=lambda row: row.measured_before_us or 0.0, default=None)


def _type_rows(evidence: _Evidence) -> list[Row]:
    """One row a type: its claimed operators together; of a type tuned as a whole all of its operators in both profiles."""
    by_type: dict[str, list[_Weighed]] = {}
    for one in _weighed(evidence):
        by_type.setdefault(evidence.both.key(one.group, "op_type") or "", []).append(one)
    named = [_sum_row(evidence, kind, mine, evidence.sample) for kind, mine in by_type.items()]
    whole = [
        _whole_type(evidence, kind, groups) for kind, groups in evidence.found.of_type.items() if kind not in by_type
    ]
    rows = [row for row in (*named, *whole) if row is not None]
    return sorted(rows, key=lambda row: (-(row.measured_before_us or 0.0), row.op_type or ""))


def _whole_type(evidence: _Evidence, kind: str, groups: Sequence[int]) -> Row | None:
    """A type whose operators are claimed under other names: their ratio is compared with all its calls."""
    both = evidence.both
    named = [
        c
        for c in evidence.claims.measured
        if c.before_us
        if c.op_name not in evidence.uses.unused
        if type_key(kind) in {type_key(one) for one in c.op_types}
    ]
    common = [group for group in groups if both.counts[0][group] and both.counts[1][group]]
    if not named or not common:
        return None
    claim = Claim(kind, (kind,), sum(one.before_us or 0.0 for one in named), sum(one.after_us for one in named))
    mine = [_Weighed(group, claim, both.calls(group), claim.change or 0.0) for group in common]
    row = _sum_row(evidence, kind, mine, Sample(both, common))
    if row is None:
        return None
    reason = say(
        "{number} claims of operators that have different names in the profiles: their ratio is compared with all calls",
        number=len(named),
    )
    return replace(row, claimed_before_us=claim.before_us, claimed_after_us=claim.after_us, reason=row.reason or reason)


def is_same_work(ratio: float | None) -> bool:
    """Whether steps with this ratio of calls may be held against each other; with no common operator nothing speaks against it."""
    return ratio is None or 1 / SAME_WORK <= ratio <= SAME_WORK


def _work_ratio(both: Both) -> float | None:
    """How many calls of the same operators a step holds, after/before: their median, weighted by time."""
    calls = []
    for side, groups_of, steps_with in zip(both.sides, both.groups_of, both.steps_with, strict=True):
        inside = side.block_of >= 0
        if inside.any() and not both.by_captures:
            calls.append(np.bincount(groups_of[inside], minlength=both.names.count) / side.blocks)
        else:
            calls.append(np.bincount(groups_of, minlength=both.names.count) / steps_with)
    known = np.flatnonzero((calls[0] > 0) & (calls[1] > 0))
    if not len(known):
        return None
    ratios = calls[1][known] / calls[0][known]
    order = np.argsort(ratios, kind="stable")
    reached = np.cumsum(both.totals[0][known][order])
    return float(ratios[order][np.searchsorted(reached, reached[-1] / 2)])


def _step_claims(claims: Claims, both: Both, claimed_us: float | None) -> tuple[StepClaim, ...]:
    """Claims about the step. The first is compared with the step: that on the model itself, if there is one.

    `claimed_us`: what the claims of operators save of a step; null where none is about an operator of the profile.
    """
    found: list[StepClaim] = []
    if claims.model_change is not None:
        found.append(step_claim("model", claims.model_change, judged=True))
    before = both.sides[0].step_us
    if before and claims.measured and claimed_us is not None:
        found.append(step_claim("operators", -claimed_us / before, judged=not found))
    return tuple(found)


def _left_out(matches: Matches) -> str | None:
    """Says that the claim on a step omits claims of operators; null if it does not."""
    counted = [m for m in matches.matches if any(matches.change_of(m.claim, group) is not None for group in m.groups)]
    if len(counted) == len(matches.matches):
        return None
    return say(
        "the claim on the step counts {counted} of {count} claims: the others are unmeasured, claim no gain, did not use the bank, or match no operator of the profile",
        counted=len(counted),
        count=len(matches.matches),
    )


def _step_row(evidence: _Evidence, judged: StepClaim | None, work: float | None) -> Row:
    before, after = (side.step_us for side in evidence.both.sides)
    row = Row(scope="step", measured_before_us=before, measured_after_us=after)
    if judged is not None:
        model_us = evidence.claims.model_us if judged.claim == "model" else None
        first, last = model_us or (None, None)
        row = replace(
            row, claimed_before_us=first, claimed_after_us=last, claimed_change=judged.change, claim=judged.claim
        )
    if not before:
        return replace(row, reason=say("the duration of a step is not known in the profile before tuning"))
    if after is None:
        return replace(row, reason=say("the duration of a step is not known in the profile after tuning"))
    if not is_same_work(work):
        why = say(
            ("a step after tuning contains {work:.3g} times the calls of a step before: the amount of work differs"),
            work=work,
        )
        return replace(row, reason=why)
    change = after / before - 1
    interval = widened(change, change_of_steps(evidence.both), evidence.noise.reach(_noise_of_step(evidence, before)))
    row = evidence.judged(row, change, interval, _too_few_steps())
    if judged is None and row.verdict != "regressed":
        unclaimed = (
            say("no claim is about an operator of the profile before tuning")
            if evidence.claims.operators
            else say("no claim was made that could be confirmed")
        )
        return replace(row, verdict="not-comparable", reason=row.reason or unclaimed)
    return row


def _noise_of_step(evidence: _Evidence, before_us: float) -> float | None:
    """The apparent change of an untouched step: drift and noise of all its operators."""
    noise, both = evidence.noise, evidence.both
    if noise.spread is None:
        return None
    parts = both.totals[0].astype(np.float64) / both.sides[0].shares.steps / 1000 / before_us
    drift = (noise.drift or 0.0) * min(1.0, float(parts.sum()))
    return float(np.hypot(drift, noise.spread * (parts**2).sum() ** 0.5))


def _with_use(evidence: _Evidence, step: Row) -> Row:
    """The row of the step; nothing of the bank was measured where nothing used it."""
    if evidence.uses.nothing_used(evidence.claims):
        return replace(step, verdict="not-used", reason=say("the log says that nothing that was tuned used the bank"))
    if evidence.uses.unused and step.claim == "model" and step.reason is None:
        text = say(
            "the claim is about the whole model, but {unused} of {count} tuned operators did not use the bank",
            unused=len(evidence.uses.unused),
            count=len(evidence.claims.operators),
        )
        return replace(step, reason=text)
    return step


def _overall(step: Row, together: Row | None, claims: Claims, uses: Uses) -> tuple[Verdict, Row]:
    """(the verdict, what it is about): a slower step decides; else the tuned operators as one, else (subgraphs) the step."""
    if step.verdict == "not-used":
        return step.verdict, step
    if step.verdict == "regressed" or not (claims.operators or together is not None):
        return step.verdict, step
    if together is not None and together.verdict != "not-comparable":
        return together.verdict, together
    left = [claim for claim in claims.operators if claim.op_name not in uses.unused]
    return ("not-comparable", together or step) if left else (step.verdict, step)


def signs_of(operators: Sequence[Row], together: Row | None, both: Both, groups: Sequence[int]) -> tuple[str, ...]:
    """What says that the tuned bank was not in use when the second profile was taken."""
    if together is None or together.verdict != "not-reproduced":
        return ()
    rows = [row for row in operators if row.verdict != "not-comparable"]
    far = [row for row in rows if row.claimed_change is not None and (row.ci_low or 0.0) > row.claimed_change]
    if not far or any(row.verdict == "confirmed" for row in rows):
        return ()
    blocks = _block_changes(both, groups)
    if blocks:
        return ()  # other kernels ran: the bank was in use, and brought nothing
    return (
        say(
            "the {count} tuned operators that were measured again are not faster in total, and {far} of them are "
            "certainly not as fast as claimed",
            count=len(rows),
            far=len(far),
        ),
        say("the profiles do not contain block counts, so it is not known whether other kernels ran")
        if blocks is None
        else say("all of them use the same number of blocks as before: the kernels are the same"),
    )


def _block_changes(both: Both, groups: Sequence[int]) -> int | None:
    """How many operators run on another number of blocks than before; null where nothing tells."""
    if not groups or not all(has_value(side.frame, "block_num") for side in both.sides):
        return None
    means = []
    for number, side in enumerate(both.sides):
        blocks, there = integers(side.frame["block_num"])
        of, count = both.groups_of[number], both.names.count
        sums = np.bincount(of, weights=np.where(there, blocks, 0).astype(np.float64), minlength=count)
        means.append(sums / np.maximum(np.bincount(of, minlength=count), 1))
    chosen = list(groups)
    return int((means[0][chosen] != means[1][chosen]).sum())
