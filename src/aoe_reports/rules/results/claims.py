"""Rules on modifications and their times: possible, faster than before, borne out, and together what the model saves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from aoe_reports.formats.aoe.operators import is_tunable
from aoe_reports.formats.aoe.results import TuningResult, types_of
from aoe_reports.model.texts import join, say
from aoe_reports.rules.found import Found, listed
from aoe_reports.rules.results.document import DOCS, RESULTS, SAMPLES, WRITER, claims_of, printed

IMPROVEMENT_TOLERANCE = Decimal("0.01")
"""Points of a percentage: OPAT rounds the last digit, SGAT truncates it (measured on the documented samples)."""
PARTS_TOLERANCE = Decimal("1.1")
"""How many times larger one of two savings may be before it is worth a word."""
MAX_KEY_DIGITS = 20
"""Of an unsigned 64-bit number."""

_CLAIM = re.compile(r"-?[0-9]+([.][0-9]+)?%")
"""An improvement as AOE prints it."""
_LISTS = say("torch_npu's list of 112 types, Operator List of CANN 9.0")


@RESULTS.rule("non-positive-time", "error", "every operator takes time", DOCS).checked_by
def non_positive_time(task: TuningResult) -> Found:
    """Every time is above 0."""
    text = "{key} is {value}; expected a time above 0"
    for claim in claims_of(task):
        if claim.before is not None and claim.before <= 0 and not claim.has_no_time_before:
            yield claim.place("before"), say(text, key=claim.key("before"), value=printed(claim.before))
        if claim.after is not None and claim.after <= 0:
            yield claim.place("after"), say(text, key=claim.key("after"), value=printed(claim.after))


@RESULTS.rule("not-faster", "warning", "only a better policy is stored", DOCS).checked_by
def not_faster(task: TuningResult) -> Found:
    """What was modified is faster than before; the model as a whole may take as long."""
    for claim in claims_of(task):
        before, after = claim.before, claim.after
        if before is None or after is None or after < before or before <= 0:
            continue
        if after > before or claim.part is not None:
            text = "after tuning {after}, before {before}: not faster"
            yield claim.place("after"), say(text, after=printed(after), before=printed(before))


@RESULTS.rule(
    "improvement-mismatch", "error", "AOE computes each claim from its two times: before/after - 1", WRITER
).checked_by
def improvement_mismatch(task: TuningResult) -> Found:
    """A claim is the speed-up of its two times, within the digits of all three."""
    return ((at, text) for at, text, is_other in _unproven(task) if not is_other)


@RESULTS.rule(
    "improvement-convention", "warning", "the documents say 'time reduced' and print a speed-up", SAMPLES
).checked_by
def improvement_convention(task: TuningResult) -> Found:
    """A claim is the speed-up of its two times, not the share of time that was saved."""
    return ((at, text) for at, text, is_other in _unproven(task) if is_other)


@RESULTS.rule(
    "claim-unmeasured", "warning", "AOE fills in a gain of 1 where it changed the bank and measured no gain", WRITER
).checked_by
def claim_unmeasured(task: TuningResult) -> Found:
    """The gain of each modification was measured."""
    for claim in claims_of(task):
        if claim.part is None or claim.before is None or claim.after is None:
            continue
        if claim.part.unmeasured:
            text = say(
                "{before} before and {after} after differ by exactly 1: AOE fills this in where no gain was measured; "
                "the claim is not counted",
                before=printed(claim.before),
                after=printed(claim.after),
            )
            yield claim.place("after"), text
        elif claim.has_no_time_before:
            yield claim.place("before"), say("{key} is 0: no gain is claimed", key=claim.key("before"))


def _unproven(task: TuningResult) -> Iterator[tuple[str, str, bool]]:
    """(place, message, whether it is the other convention) of each claim that its own times do not bear out."""
    for claim in claims_of(task):
        before, after, text = claim.before, claim.after, claim.improvement
        if not before or not after or text is None or before < 0 or after < 0 or not _CLAIM.fullmatch(text):
            continue
        said = Decimal(text[:-1])
        if _within(said, before, after, _speed_up):
            continue
        what = say(
            "states {claim}; {before} before and {after} after give a speed-up (before/after - 1) of {gain}%",
            claim=text[:40],
            before=printed(before),
            after=printed(after),
            gain=f"{_speed_up(before, after):.2f}",
        )
        is_other = _within(said, before, after, _time_saved)
        if is_other:
            what = join("; ", (what, say("{claim} is the time saved (1 - after/before)", claim=text[:40])))
        yield claim.place("improvement"), what, is_other


def _speed_up(before: Decimal, after: Decimal) -> Decimal:
    return (before / after - 1) * 100


def _time_saved(before: Decimal, after: Decimal) -> Decimal:
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
_MAX_DIGITS = 100
"""Digits behind the point of a time beyond which half of the last one is nothing."""


def _half_digit(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_MAX_DIGITS < exponent < 0:
        return Decimal(0)
    return Decimal(5).scaleb(exponent - 1)


@RESULTS.rule("repo-key", "error", "a 64-bit hash in decimal digits", DOCS).checked_by
def repo_key(task: TuningResult) -> Found:
    """The key of a subgraph is an unsigned 64-bit number."""
    for part in task.modifications if task.kind == "sgat" else ():
        name = part.name
        is_number = name.isascii() and name.isdecimal() and len(name) <= MAX_KEY_DIGITS
        if not is_number or int(name) >= 2**64:
            yield f"{part.pointer}/repo_key", say("repo_key {name!r} is not an unsigned 64-bit number", name=name[:60])


@RESULTS.rule("op-type-unknown", "info", "types outside the list cannot be tuned", _LISTS).checked_by
def op_type_unknown(task: TuningResult) -> Found:
    """Every type of operator stands in the published lists of those that AOE tunes."""
    written = {op_type for part in task.modifications for op_type in part.op_type}
    names = {name for op_type in written for name in types_of(op_type)}  # a list may be written as one text
    unknown = sorted(name for name in names if not is_tunable(name))
    if unknown:
        text = "not in the published (incomplete) lists of operators that AOE tunes: {names}"
        shown = listed([name[:60] for name in unknown])
        yield f"{task.segment_pointer}/repo_modified_operators", say(text, names=shown)


@RESULTS.rule(
    "parts-and-whole", "info", "operators overlap and repeat; a gain from elsewhere would show here", SAMPLES
).checked_by
def parts_and_whole(task: TuningResult) -> Found:
    """What the modifications save together is about what the model saves."""
    if task.model_baseline_ms is None or task.model_result_ms is None:
        return
    best: dict[str, Decimal] = {}
    for m in task.modifications:
        if m.before is None or m.after is None or not 0 < m.after < m.before:
            return  # wrong in another way: a sum would mean nothing
        if m.unmeasured:
            continue
        saved = (m.before - m.after) / (1000 if m.unit == "us" else 1)
        best[m.name] = max(saved, best.get(m.name, saved))  # of several modes only one can be in use
    parts, whole = sum(best.values(), Decimal(0)), task.model_baseline_ms - task.model_result_ms
    low, high = sorted((parts, whole))
    if low > 0 and high > low * PARTS_TOLERANCE:
        text = say(
            "the modified subgraphs save {parts} ms in total, the model {whole} ms"
            if task.kind == "sgat"
            else "the modified operators save {parts} ms in total, the model {whole} ms",
            parts=_ms(parts),
            whole=_ms(whole),
        )
        yield task.segment_pointer, text


def _ms(value: Decimal) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
