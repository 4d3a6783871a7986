"""The story of a tuning loop on one page: what was hot, what was tried, what AOE said, what the clock said, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aoe_reports.jobs.verify_answer import VerifyFacts, regressed_rows
from aoe_reports.model.findings import Finding
from aoe_reports.model.report import BarChart, Grid, Report, Section
from aoe_reports.model.rows import Column, Rows, as_mapping, column, columns_of, row
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.present.answers import section_of
from aoe_reports.tuning.plan.folder import TunedOutcome
from aoe_reports.tuning.plan.plan import Plan
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.reconciliation import Reconciliation
from aoe_reports.tuning.verify.rows import PASSED, Method, Row, Verdict

SHOWN = 15
"""Operators that are listed or drawn; verify.json has them all."""
SHOWN_FINDINGS = 30
NAMED = 3
"""Regressed operators that a headline names."""

_HOT = (
    Column("op_type", "Operator type"),
    Column("op_name", "Operator"),
    Column("count", "Tasks", "integer"),
    Column("total_us", "Total", "us"),
    Column("share", "Share of the step", "percent"),
    Column("expected_saving_us", "Expected saving, per step", "us"),
)


@row
class _Claimed:
    op_name: str = column("Operator")
    op_type: str = column("Operator type", before="op_name")
    before_us: float | None = column("Before", "us")
    after_us: float = column("After", "us")
    speed_up: float | None = column("Speed-up (before/after - 1)", "gain")
    saved: float | None = column("Time saved (1 - after/before)", "gain")
    remark: str | None = column("Remark", default=None)


@row
class _Saving:
    part: str = column("Component")
    saving_us: float = column("Step time saved", "us")


VERDICTS = {
    "confirmed": say("Confirmed"),
    "partly": say("Partly"),
    "not-reproduced": say("Not reproduced"),
    "regressed": say("Regressed"),
    "not-comparable": say("Not comparable"),
    "not-used": say("Bank not used"),
}
"""How a headline begins; what the verdict is about follows."""
VERDICTS_EXPLAINED = say(
    "Confirmed: faster, and the claim lies in the interval or four fifths of the claim were measured; "
    "partly: faster, but by less; not-reproduced: the interval includes 0; regressed: slower."
)
_NOT_USED_EXPLAINED = say(
    "Not-used: CANN's log says that the bank was not used, so the measurement says nothing of it."
)


@dataclass(frozen=True, slots=True)
class Page:
    """What the page shows: the plan, what a tuner claims, what `tune run` left (or nothing), what `verify` found."""

    plan: Plan
    claims: Claims
    tuner: str
    outcome: TunedOutcome | None
    rows: Sequence[Row]
    facts: VerifyFacts
    findings: Sequence[Finding]


def verified_report(page: Page) -> Report:
    """The whole page."""
    sections = [
        _hot(page.plan),
        _tried(page.plan, page.outcome),
        claims_section(page.claims, page.tuner),
        _measured(page.rows, page.facts, page.tuner),
        savings_section(page.facts.reconciliation, page.tuner),
        Section("Next steps", lines=next_steps(page.facts, page.rows)),
        findings_section(page.findings),
    ]
    shown = [section for section in sections if section is not None]
    return Report("Tuning, verified", headline(page.rows, page.facts, page.tuner), shown)


def headline(rows: Sequence[Row], facts: VerifyFacts, tuner: str, *, with_step: bool = True) -> str:
    """The verdict, what it is about, and the rest: each part names its subject."""
    subject = facts.verdict_is_about
    if subject is None or facts.method is None or not rows:
        return say("Not comparable: the profiles do not show whether there was a gain.")
    parts = [_with_claim(_effect(subject), subject, tuner), *_regressed(rows)]
    if facts.verdict == "not-comparable" and subject.scope == "step" and any(row.scope == "operator" for row in rows):
        parts.insert(0, say("no claimed operator can be compared"))
    if subject.scope == "step":
        together = facts.method.operators_together
        if together is not None:
            parts.append(_effect(replace(together, scope="operators")))
    elif with_step:
        step = next(row for row in rows if row.scope == "step")
        parts.append(_with_claim(_effect(step), step, tuner) if step.verdict == "partly" else _effect(step))
    parts += [] if facts.bank_use is None else facts.bank_use.sentences()
    parts += _unmeasured(rows)
    return say("{verdict}: {parts}.", verdict=VERDICTS[facts.verdict], parts=join("; ", parts))


def _unmeasured(rows: Sequence[Row]) -> list[Text]:
    count = len({row.op_name for row in rows if row.claim == "unmeasured"})
    return [count_of(count, "{number} claim is unmeasured", "{number} claims are unmeasured")] if count else []


def _regressed(rows: Sequence[Row]) -> list[Text]:
    found = regressed_rows(rows)
    if not found:
        return []
    named = [say("{name} ({change:+.1%})", name=one.op_name or one.op_type, change=one.change) for one in found[:NAMED]]
    names = join(", ", named)
    if len(found) > NAMED:
        return [say("regressed: {names} and {count} more", names=names, count=len(found) - NAMED)]
    return [say("regressed: {names}", names=names)]


_EFFECTS = {
    "step": {
        "slower": say("step {size:.1%} slower ({low:+.1%} … {high:+.1%})"),
        "less": say("step takes {size:.1%} less time ({low:+.1%} … {high:+.1%})"),
        "unchanged": say("step unchanged ({low:+.1%} … {high:+.1%})"),
        "unsure": say("step {change:+.1%} (variation unknown)"),
        "unknown": say("step not comparable"),
    },
    "operators": {
        "slower": say("tuned operators {size:.1%} slower ({low:+.1%} … {high:+.1%})"),
        "less": say("tuned operators take {size:.1%} less time ({low:+.1%} … {high:+.1%})"),
        "unchanged": say("tuned operators unchanged ({low:+.1%} … {high:+.1%})"),
        "unsure": say("tuned operators {change:+.1%} (variation unknown)"),
        "unknown": say("tuned operators not comparable"),
    },
}
"""What the clock says of a subject; changes are after/before - 1, so less time is the time saved (1 - after/before)."""


def _effect(row: Row) -> Text:
    said, change, low, high = _EFFECTS[row.scope], row.change, row.ci_low, row.ci_high
    if change is None:
        return said["unknown"]
    if low is None or high is None:
        return say(said["unsure"], change=change)
    word = "slower" if low > 0 else "less" if high < 0 else "unchanged"
    return say(said[word], size=abs(change), low=low, high=high)


_NOTHING = 0.0005
"""Less is 0.0% as it is printed, which is neither less nor more."""


def _with_claim(effect: Text, row: Row, tuner: str) -> Text:
    claimed = row.claimed_change
    if claimed is None or row.change is None:
        return effect
    if abs(claimed) < _NOTHING:
        return say("{effect}, {tuner} claims under 0.1%", effect=effect, tuner=tuner)
    return say(
        "{effect}, {tuner} claims {size:.1%} less" if claimed < 0 else "{effect}, {tuner} claims {size:.1%} more",
        effect=effect,
        tuner=tuner,
        size=abs(claimed),
    )


def _hot(plan: Plan) -> Section:
    sentences = []
    if plan.step_us is not None:
        parts = [
            (plan.computing_share, say("computing")),
            (plan.communication_not_overlapped_share, say("communication not overlapped by computing")),
            (plan.free_share, say("free")),
        ]
        said = join(
            ", ", (say("{share:.1%} {what}", share=share, what=what) for share, what in parts if share is not None)
        )
        sentences.append(say("A step took {step:,.3f} us: {shares}.", step=plan.step_us, shares=said))
        if plan.bound_saving_us is not None:
            sentences.append(
                say("Operator tuning could save at most {bound:,.3f} us of it.", bound=plan.bound_saving_us)
            )
    candidates = plan.operators
    shown = [as_mapping(candidate) for candidate in candidates[:SHOWN]]
    if not shown:
        return Section("Hotspots", sentences or [say("The plan chose no operator.")])
    if len(candidates) > len(shown):
        sentences.append(say("The first {shown} of {count} candidates:", shown=len(shown), count=len(candidates)))
    columns = tuple(column for column in _HOT if any(one[column.key] is not None for one in shown))
    return Section("Hotspots", sentences, Grid(columns, shown))


def _tried(plan: Plan, outcome: TunedOutcome | None) -> Section:
    operators = len(plan.operators)
    what = []
    if operators:
        what.append(count_of(operators, "{number} operator or types", "{number} operators or types"))
    if len(plan.candidates) > operators:
        what.append(say("the model's subgraphs"))
    sentences = [
        say(
            "AOE was asked to tune {what} ({mode}, {scenario}); left out: {rejected}.",
            what=join(" and ", what) or say("nothing"),
            mode=plan.mode,
            scenario=plan.scenario,
            rejected=len(plan.rejected),
        )
    ]
    if outcome is not None and outcome.counts:
        counts = outcome.counts.items()
        said = (say("{number} {outcome}", number=number, outcome=say(str(status))) for status, number in counts)
        sentences.append(say("Tuning results: {said}.", said=join(", ", said)))
    if outcome is None:
        sentences.append(
            say("The job was not run by `tune run`: the result of each operator is known only from AOE's results.")
        )
    return Section("Tuning attempts", sentences)


def claims_section(claims: Claims, tuner: str) -> Section:
    operators = sorted(
        map(_claimed, claims.operators), key=lambda one: (-(one.saved or 0.0) * (one.before_us or 0.0), one.op_name)
    )
    sentences = [say("These are {tuner}'s own times, measured on single operators.", tuner=tuner)] if operators else []
    if claims.model_us is not None:
        before, after = claims.model_us
        sentences.append(
            say(
                "For the model, AOE reports {before:,.3f} us before and {after:,.3f} us after: time saved (1 - "
                "after/before) {saved:.2%}, speed-up (before/after - 1) {speed_up:.2%}.",
                before=before,
                after=after,
                saved=1 - after / before,
                speed_up=before / after - 1,
            )
        )
    if claims.unproven:
        text = say(
            "No claim is counted for {count} operators that an interrupted task changed: {names}.",
            count=len(claims.unproven),
            names=join(", ", claims.unproven[:SHOWN]),
        )
        sentences.append(text)
    if unmeasured := [claim.op_name for claim in claims.operators if claim.unmeasured]:
        text = count_of(
            len(unmeasured),
            "Unmeasured: AOE filled in the gain of {number} operator (a difference of exactly 1 us); it is not counted: {names}.",
            "Unmeasured: AOE filled in the gains of {number} operators (differences of exactly 1 us); they are not counted: {names}.",
            names=join(", ", unmeasured[:SHOWN]),
        )
        sentences.append(text)
    if claims.subgraphs:
        sentences.append(say("AOE changed {count} subgraphs.", count=claims.subgraphs))
    if len(operators) > SHOWN:
        sentences.append(
            say("The {shown} with the largest saving of {count} operators:", shown=SHOWN, count=len(operators))
        )
    title = say("Claims by {tuner}", tuner=tuner)
    if not operators:
        return Section(title, sentences or [say("Nothing: no result claims a change.")])
    cells = [as_mapping(operator) for operator in operators[:SHOWN]]
    columns = tuple(one for one in columns_of(_Claimed) if one.key != "remark" or unmeasured)
    return Section(title, sentences, Grid(columns, cells))


def _claimed(claim: Claim) -> _Claimed:
    return _Claimed(
        op_name=claim.op_name,
        op_type=", ".join(claim.op_types),
        before_us=claim.before_us,
        after_us=claim.after_us,
        speed_up=None if claim.before_us is None or claim.unmeasured else claim.before_us / claim.after_us - 1,
        saved=None if claim.change is None else -claim.change,
        remark=say("unmeasured") if claim.unmeasured else None,
    )


def _measured(rows: Sequence[Row], facts: VerifyFacts, tuner: str) -> Section:
    title = "Measured results"
    if not rows or facts.method is None:
        return Section(title, [say("The profiles cannot be compared; see the findings.")])
    step, kinds, operators = ([row for row in rows if row.scope == scope] for scope in ("step", "op_type", "operator"))
    shown = [*step, *kinds[:SHOWN], *operators[:SHOWN]]
    sentences = [noise_sentence(facts)]
    if len(shown) < len(rows):
        sentences.append(
            say("{shown} of {count} rows; verify.json contains all of them.", shown=len(shown), count=len(rows))
        )
    sentences += _two_claims(facts)
    if facts.bank_use is not None and (told := facts.bank_use.sentences()):
        logs = join(", ", facts.bank_use.logs)
        sentences.append(say("By CANN's log ({logs}): {told}.", logs=logs, told=join("; ", told)))
    sentences += [say("A sign that the tuned bank was not in use: {sign}.", sign=sign) for sign in facts.signs]
    drawn = [row for row in operators if row.change is not None and row.claimed_change is not None][:SHOWN]
    lines = _how(facts.method)
    lines += [_NOT_USED_EXPLAINED] if any(row.verdict == "not-used" for row in rows) else []
    table = Rows(type=Row, rows=shown, title=title, sentences=sentences)
    if not drawn:
        return replace(section_of(table), lines=lines)
    chart = _chart(drawn, tuner)
    sentences.append(say("{description}.", description=chart.description))
    return replace(section_of(table), chart=chart, lines=lines)


def _two_claims(facts: VerifyFacts) -> list[str]:
    others = [claim for claim in facts.step_claims if not claim.judged]
    return [
        say(
            "The step verdict is based on AOE's times of the model. AOE's times of operators amount to "
            "{change:+.2%} of a step, using the calls and times of the profile before tuning; this is a separate "
            "claim, and the step verdict is not based on it.",
            change=other.change,
        )
        for other in others
    ]


def noise_sentence(facts: VerifyFacts) -> str:
    noise = facts.noise
    if noise is None or noise.drift is None:
        return say("The noise between two captures is not known: too few operators were not tuned.")
    return say(
        "Noise: {controls} operators that were not tuned changed by {drift:+.2%} (median, weighted by time), "
        "with a spread of {spread:.2%} (robust standard deviation) around it.",
        controls=noise.controls,
        drift=noise.drift,
        spread=noise.spread,
    )


def _how(method: Method) -> list[str]:
    change = say(
        "Change is after/before - 1: below 0 is faster. Times of operators are means per call; times of types "
        "and steps are per step (types: their tuned operators, equal calls on both sides). For several operators "
        "together, the claim applies the claimed change of each operator to its measured time; AOE gives no pair "
        "of times for it."
    )
    intervals = say(
        "Intervals: {level:.0%}, from a bootstrap with {resamples} resamples and steps as blocks ({before} "
        "before, {after} after; with fewer than 5: single calls), fixed seed, widened by the noise between "
        "captures.",
        level=method.level,
        resamples=method.resamples,
        before=method.steps_before,
        after=method.steps_after,
    )
    return [change, intervals, VERDICTS_EXPLAINED]


def _chart(rows: Sequence[Row], tuner: str) -> BarChart:
    labels = [str(row.op_name) for row in rows]
    claimed = [-(row.claimed_change or 0.0) for row in rows]
    measured = [-(row.change or 0.0) for row in rows]
    ends = [None if row.ci_low is None or row.ci_high is None else (-row.ci_high, -row.ci_low) for row in rows]
    description = count_of(
        len(rows),
        "Time saved (1 - after/before) of {number} operator: claimed {claimed_low:.1%} to {claimed_high:.1%}, measured "
        "{measured_low:.1%} to {measured_high:.1%}",
        "Time saved (1 - after/before) of {number} operators: claimed {claimed_low:.1%} to {claimed_high:.1%}, measured "
        "{measured_low:.1%} to {measured_high:.1%}",
        claimed_low=min(claimed),
        claimed_high=max(claimed),
        measured_low=min(measured),
        measured_high=max(measured),
    )
    lines = {
        say("claimed by {tuner}", tuner=tuner): [100 * saved for saved in claimed],
        "measured": [100 * saved for saved in measured],
    }
    intervals = [None if both is None else (100 * both[0], 100 * both[1]) for both in ends]
    unit = say("time saved, 1 - after/before (%)")
    return BarChart("Claimed and measured", labels, lines, unit, description, {"measured": intervals})


def savings_section(parts: Reconciliation | None, tuner: str) -> Section | None:
    if parts is None:
        return None
    signed = [
        (say("Less device time in tuned operators"), parts.operators_us),
        (say("Less time in other operators"), parts.others_us),
        (say("Hidden by overlap"), None if parts.hidden_by_overlap_us is None else 0.0 - parts.hidden_by_overlap_us),
        (say("Less communication"), parts.communication_us),
        (say("Less free time"), parts.free_us),
        (say("Unexplained"), parts.unexplained_us),
        (say("Reduction of step time"), parts.step_saving_us),
    ]
    rows = [_Saving(part=part, saving_us=value) for part, value in signed if value is not None]
    if parts.claimed_us is None:
        claimed = say("No claim of {tuner} is about an operator of the profile before tuning.", tuner=tuner)
    else:
        claimed = say(
            "The claims of {tuner} add up to {claimed:,.3f} us per step, based on the calls and times of the profile "
            "before tuning.",
            tuner=tuner,
            claimed=parts.claimed_us,
        )
    return Section("Breakdown of the savings", [claimed], Grid(columns_of(_Saving), [as_mapping(one) for one in rows]))


_NOT_IN_USE = say(
    "Make sure that the tuned bank is in use (TUNE_BANK_PATH, compiled again: remeasure.md), then measure and "
    "verify again."
)
_ADVICE: dict[Verdict, str] = {
    "confirmed": say("Put the bank into use: run aoe-reports tune adopt."),
    "partly": say(
        "The bank is useful, but the gain is smaller than AOE claims: run aoe-reports tune adopt, or tune again."
    ),
    "regressed": say(
        "Leave the bank in use as it is; the rows marked regressed name the operators to leave out of a new plan."
    ),
    "not-reproduced": say("Leave the bank in use as it is. More steps in both profiles make intervals narrower."),
    "not-comparable": say("Measure both profiles with the same model, machine, CANN version and profiler options."),
    "not-used": _NOT_IN_USE,
}


def advice_of(facts: VerifyFacts, advice: Mapping[Verdict, str]) -> str:
    """What to do, by the verdict; no gain is put into use for which an operator pays that nobody accepts."""
    if facts.verdict in PASSED and facts.regressed:
        return say(
            "Tune again without the regressed operators, or accept that they are slower (--accept-regressed): {names}.",
            names=join(", ", facts.regressed[:SHOWN]),
        )
    return advice[facts.verdict]


def rule_of(facts: VerifyFacts) -> str:
    """The rule that the verdict has to pass, and whether it does."""
    return say(
        "Rule: {rule} (--accept {accept}): passed."
        if facts.accepted
        else "Rule: {rule} (--accept {accept}): not passed.",
        rule=facts.rule,
        accept=facts.accept,
    )


def next_steps(facts: VerifyFacts, rows: Sequence[Row]) -> list[str]:
    """Whether the rule is met, and what to do."""
    lines: list[str] = [rule_of(facts), _NOT_IN_USE if facts.signs else advice_of(facts, _ADVICE)]
    parts = facts.reconciliation
    hidden = None if parts is None else parts.hidden_by_overlap_us
    if parts is not None and hidden is not None and hidden > parts.operators_us / 2 > 0:
        lines.append(say("Most of the operator savings are hidden by overlap: the step now waits for communication."))
    slower = [str(row.op_name) for row in rows if row.scope == "operator" and row.verdict == "regressed"]
    if slower:
        lines.append(say("Slower than before: {names}.", names=join(", ", slower[:SHOWN])))
    return lines


def findings_section(findings: Sequence[Finding]) -> Section | None:
    if not findings:
        return None
    several = len(findings) > SHOWN_FINDINGS
    sentences = [say("The first {shown} of {count}.", shown=SHOWN_FINDINGS, count=len(findings))] if several else []
    return Section("Findings", sentences, lines=[finding.as_text() for finding in findings[:SHOWN_FINDINGS]])
