"""Rules on claims: what AOE says of two times fits them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from aoe_reports.model.texts import join, say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import RESULTS, SAMPLES, WRITER, Task, has_no_time_before, key_of, printed

IMPROVEMENT_TOLERANCE = Decimal("0.01")
"""Points of a percentage: OPAT rounds the last digit, SGAT truncates it (measured on the documented samples)."""

_CLAIM = re.compile(r"-?[0-9]+([.][0-9]+)?%")
"""An improvement as AOE prints it."""


@RESULTS.rule(
    "improvement-mismatch", "error", "AOE computes each claim from its two times: before/after - 1", WRITER
).checked_by
def improvement_mismatch(task: Task) -> Found:
    """A claim is the speed-up of its two times, within the digits of all three."""
    return ((at, text) for at, text, is_other in _unproven(task) if not is_other)


@RESULTS.rule(
    "improvement-convention", "warning", "the documents say 'time reduced' and print a speed-up", SAMPLES
).checked_by
def improvement_convention(task: Task) -> Found:
    """A claim is the speed-up of its two times, not the share of time that was saved."""
    return ((at, text) for at, text, is_other in _unproven(task) if is_other)


@RESULTS.rule(
    "claim-unmeasured", "warning", "AOE fills in a gain of 1 where it changed the bank and measured no gain", WRITER
).checked_by
def claim_unmeasured(task: Task) -> Found:
    """The gain of each modification was measured."""
    columns = task.columns
    if columns.shortest > 0 and not columns.may_be_filled_in:
        return
    for claim in task.claims:
        if claim.part is None or claim.before is None or claim.after is None:
            continue
        if claim.part.unmeasured:
            text = say(
                "{before} before and {after} after differ by exactly 1: AOE fills this in where no gain was measured; "
                "the claim is not counted",
                before=printed(claim.before),
                after=printed(claim.after),
            )
            yield task.place_of(claim, "after"), text
        elif has_no_time_before(claim):
            text = say("{key} is 0: no gain is claimed", key=key_of(claim, "before"))
            yield task.place_of(claim, "before"), text


def _unproven(task: Task) -> Iterator[tuple[str, str, bool]]:
    """(place, message, whether it is the other convention) of each claim that its own times do not bear out."""
    if task.clearly_bears_out_claims():
        return
    for claim in task.claims:
        _, before, after, text = claim
        if not before or not after or text is None or before < 0 or after < 0 or not _CLAIM.fullmatch(text):
            continue
        said = Decimal(text[:-1])
        if _within(said, before, after, speed_up):
            continue
        what = say(
            "states {claim}; {before} before and {after} after give a speed-up (before/after - 1) of {gain}%",
            claim=text[:40],
            before=printed(before),
            after=printed(after),
            gain=f"{speed_up(before, after):.2f}",
        )
        is_other = _within(said, before, after, time_saved)
        if is_other:
            what = join("; ", (what, say("{claim} is the time saved (1 - after/before)", claim=text[:40])))
        yield task.place_of(claim, "improvement"), what, is_other


def speed_up(before: Decimal, after: Decimal) -> Decimal:
    """`before/after - 1`, in percent."""
    return (before / after - 1) * 100


def time_saved(before: Decimal, after: Decimal) -> Decimal:
    """`1 - after/before`, in percent."""
    return (1 - after / before) * 100


def _within(said: Decimal, before: Decimal, after: Decimal, gain: Callable[[Decimal, Decimal], Decimal]) -> bool:
    """Whether a claim fits the two times, whose last printed digits may each be off by half, its own by one."""
    half_before, half_after = _half_digit(before), _half_digit(after)
    low = gain(before - half_before, after + half_after)
    high = gain(before + half_before, max(after - half_after, after / 2))
    tolerance = max(IMPROVEMENT_TOLERANCE, _LAST_DIGIT.get(said.as_tuple().exponent, IMPROVEMENT_TOLERANCE))
    return low - tolerance <= said <= high + tolerance


_LAST_DIGIT: dict[object, Decimal] = {0: Decimal(1), -1: Decimal("0.1")}
"""What the last digit of a claim with none or one behind the point is worth."""


def _half_digit(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_MAX_DIGITS < exponent < 0:
        return Decimal(0)
    return Decimal(5).scaleb(exponent - 1)


_MAX_DIGITS = 100
"""Digits behind the point of a time beyond which half of the last one is nothing."""
