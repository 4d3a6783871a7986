"""The story of a tuning loop on one page: what was hot, what was tried, what AOE said, what the clock said, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.model.findings import Finding
from aoe_reports.model.report import BarChart, Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.present.reports.rows import shown_columns

SHOWN = 15
"""Operators that are listed or drawn; verify.json has them all."""
SHOWN_FINDINGS = 30

_HOT = (
    Column("op_type", "Operator type"),
    Column("op_name", "Operator"),
    Column("count", "Tasks", "integer"),
    Column("total_us", "Total (us)", "us"),
    Column("share", "Share of the step", "percent"),
    Column("expected_saving_us", "Expected saving (us of a step)", "us"),
)
_SAID = (
    Column("op_type", "Operator type"),
    Column("op_name", "Operator"),
    Column("before_us", "Before (us)", "us"),
    Column("after_us", "After (us)", "us"),
    Column("speed_up", "Speed-up (before/after - 1)", "gain"),
    Column("saved", "Time saved (1 - after/before)", "gain"),
)
_PARTS = (
    Column("part", "Part"),
    Column("saving_us", "Shortens a step by (us)", "us"),
)

VERDICTS = {
    "confirmed": say("Confirmed"),
    "partly": say("Partly"),
    "not-reproduced": say("Not reproduced"),
    "regressed": say("Regressed"),
    "not-comparable": say("Not comparable"),
}
"""How a headline begins; what the verdict is about follows."""


def verified_report(
    plan: Mapping[str, Any],
    claims: Mapping[str, Any],
    *,
    outcome: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    findings: Sequence[Finding],
) -> Report:
    """The page; `claims` are a tuner's, `rows` and `facts` what `verify` found, `outcome` what `tune` left (or nothing)."""
    tuner = str(claims["tuner"])
    sections = [
        _hot(plan),
        _tried(plan, outcome),
        _said(claims, tuner),
        _measured(rows, facts, tuner),
        _reconciled(facts, tuner),
        _next(facts, rows),
        _findings(findings),
    ]
    shown = [section for section in sections if section is not None]
    return Report("Tuning, verified", headline(rows, facts, tuner), shown)


def headline(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], tuner: str) -> str:
    """The verdict, what it is about, and the rest: each part names its subject."""
    subject = facts["verdict_is_about"]
    if subject is None or not rows:
        return say("Not comparable: the profiles do not tell whether anything was gained.")
    step = next(row for row in rows if row["scope"] == "step")
    together = facts["method"]["operators_together"]
    about_step = subject["scope"] == "step"
    parts = [_with_claim(_effect(subject), subject, tuner)]
    other = together if about_step else step
    if other is not None:
        effect = _effect({**other, "scope": "operators" if about_step else "step"})
        parts.append(effect if about_step or other["verdict"] != "partly" else _with_claim(effect, other, tuner))
    return say("{verdict}: {parts}.", verdict=VERDICTS[facts["verdict"]], parts=join("; ", parts))


_EFFECTS = {
    "step": {
        "slower": say("step {size:.1%} slower ({low:+.1%} … {high:+.1%})"),
        "less": say("step takes {size:.1%} less time ({low:+.1%} … {high:+.1%})"),
        "unchanged": say("step unchanged ({low:+.1%} … {high:+.1%})"),
        "unsure": say("step {change:+.1%} (how far it varies is not known)"),
        "unknown": say("step not comparable"),
    },
    "operators": {
        "slower": say("tuned operators {size:.1%} slower ({low:+.1%} … {high:+.1%})"),
        "less": say("tuned operators take {size:.1%} less time ({low:+.1%} … {high:+.1%})"),
        "unchanged": say("tuned operators unchanged ({low:+.1%} … {high:+.1%})"),
        "unsure": say("tuned operators {change:+.1%} (how far they vary is not known)"),
        "unknown": say("tuned operators not comparable"),
    },
}
"""What the clock says of a subject; changes are after/before - 1, so less time is the time saved (1 - after/before)."""


def _effect(row: Mapping[str, Any]) -> Text:
    said, change, low, high = _EFFECTS[row["scope"]], row["change"], row["ci_low"], row["ci_high"]
    if change is None:
        return said["unknown"]
    if low is None:
        return say(said["unsure"], change=change)
    word = "slower" if low > 0 else "less" if high < 0 else "unchanged"
    return say(said[word], size=abs(change), low=low, high=high)


def _with_claim(effect: Text, row: Mapping[str, Any], tuner: str) -> Text:
    """The effect, and what the tuner claims of the same thing."""
    claimed = row["claimed_change"]
    if claimed is None or row["change"] is None:
        return effect
    return say(
        "{effect}, {tuner} claims {size:.1%} less" if claimed < 0 else "{effect}, {tuner} claims {size:.1%} more",
        effect=effect,
        tuner=tuner,
        size=abs(claimed),
    )


def _hot(plan: Mapping[str, Any]) -> Section:
    sentences = []
    if plan["step_us"] is not None:
        parts = [
            (plan["computing_share"], say("computing")),
            (plan["communication_not_overlapped_share"], say("communication that nothing is computed beside")),
            (plan["free_share"], say("free")),
        ]
        said = join(
            ", ", (say("{share:.1%} {what}", share=share, what=what) for share, what in parts if share is not None)
        )
        sentences.append(say("A step took {step:,.3f} us: {shares}.", step=plan["step_us"], shares=said))
        if plan["bound_saving_us"] is not None:
            sentences.append(
                say("No tuning of operators could save more than {bound:,.3f} us of it.", bound=plan["bound_saving_us"])
            )
    candidates = [one for one in plan["candidates"] if one["kind"] == "operator"]
    shown = candidates[:SHOWN]
    if not shown:
        return Section("What was hot", sentences or [say("The plan chose no operator.")])
    if len(candidates) > len(shown):
        sentences.append(say("The first {shown} of {count} candidates:", shown=len(shown), count=len(candidates)))
    columns = tuple(column for column in _HOT if any(one[column.key] is not None for one in shown))
    return Section("What was hot", sentences, Grid(columns, shown))


def _tried(plan: Mapping[str, Any], outcome: Mapping[str, Any]) -> Section:
    operators = sum(one["kind"] == "operator" for one in plan["candidates"])
    what = []
    if operators:
        what.append(count_of(operators, "{number} operator or types", "{number} operators or types"))
    if any(one["kind"] == "subgraph" for one in plan["candidates"]):
        what.append(say("the model's subgraphs"))
    sentences = [
        say(
            "AOE was asked for {what} ({mode}, {scenario}); left out: {rejected}.",
            what=join(" and ", what) or say("nothing"),
            mode=plan["mode"],
            scenario=plan["scenario"],
            rejected=len(plan["rejected"]),
        )
    ]
    counts = outcome.get("counts")
    if isinstance(counts, dict) and counts:
        said = join(
            ", ",
            (say("{number} {outcome}", number=number, outcome=say(str(status))) for status, number in counts.items()),
        )
        sentences.append(say("What came of it: {said}.", said=said))
    if not outcome:
        sentences.append(
            say("The job was not run by `tune`: what came of each operator is known by AOE's results alone.")
        )
    return Section("What was tried", sentences)


def _said(claims: Mapping[str, Any], tuner: str) -> Section:
    operators = sorted(claims["operators"], key=lambda one: (-one["saved"] * one["before_us"], one["op_name"]))
    sentences = (
        [say("These are {tuner}'s own times, of single operators by themselves.", tuner=tuner)] if operators else []
    )
    if claims["model_us"] is not None:
        before, after = claims["model_us"]
        sentences.append(
            say(
                "Of the model it says {before:,.3f} us before and {after:,.3f} us after: time saved (1 - after/before) "
                "{saved:.2%}, speed-up (before/after - 1) {speed_up:.2%}.",
                before=before,
                after=after,
                saved=1 - after / before,
                speed_up=before / after - 1,
            )
        )
    if claims["unproven"]:
        text = say(
            "No claim is counted for {count} operators that an interrupted task changed: {names}.",
            count=len(claims["unproven"]),
            names=join(", ", claims["unproven"][:SHOWN]),
        )
        sentences.append(text)
    if claims["subgraphs"]:
        sentences.append(say("It changed {count} subgraphs.", count=claims["subgraphs"]))
    if len(operators) > SHOWN:
        sentences.append(
            say("The {shown} with the largest saving of {count} operators:", shown=SHOWN, count=len(operators))
        )
    title = say("What {tuner} said", tuner=tuner)
    if not operators:
        return Section(title, sentences or [say("Nothing: no result claims a change.")])
    return Section(title, sentences, Grid(_SAID, operators[:SHOWN]))


def _measured(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], tuner: str) -> Section:
    title = "What the clock said"
    if not rows:
        return Section(title, [say("The profiles cannot be compared; see the findings.")])
    step = [row for row in rows if row["scope"] == "step"]
    kinds = [row for row in rows if row["scope"] == "op_type"]
    operators = [row for row in rows if row["scope"] == "operator"]
    shown = [*step, *kinds[:SHOWN], *operators[:SHOWN]]
    sentences = [_noise_sentence(facts)]
    if len(shown) < len(rows):
        sentences.append(say("{shown} of {count} rows; verify.json has them all.", shown=len(shown), count=len(rows)))
    sentences += _two_claims(facts)
    sentences += [say("A sign that the tuned bank was not in use: {sign}.", sign=sign) for sign in facts["signs"]]
    drawn = [row for row in operators if row["change"] is not None and row["claimed_change"] is not None][:SHOWN]
    chart = _chart(drawn, tuner) if drawn else None
    if chart is not None:
        sentences.append(say("{description}.", description=chart.description))
    return Section(title, sentences, Grid(shown_columns("verify", shown), shown), chart, lines=_how(facts))


def _two_claims(facts: Mapping[str, Any]) -> list[str]:
    """The claim on a step that its verdict is not about."""
    others = [one for one in facts["step_claims"] if not one["judged"]]
    return [
        say(
            "The step is held against AOE's times of the model. Its times of operators come to {change:+.2%} of a step, by the "
            "calls and times of the profile before: another claim, which the step's verdict is not about.",
            change=one["change"],
        )
        for one in others
    ]


def _noise_sentence(facts: Mapping[str, Any]) -> str:
    noise = facts["noise"]
    if noise["drift"] is None:
        return say("The noise between two captures is not known: too few operators were left untouched.")
    return say(
        "Noise: {controls} operators that nobody tuned changed by {drift:+.2%} (median, by time), and by {spread:.2%} (robust "
        "standard deviation) around that.",
        controls=noise["controls"],
        drift=noise["drift"],
        spread=noise["spread"],
    )


def _how(facts: Mapping[str, Any]) -> list[str]:
    method = facts["method"]
    change = say(
        "Change is after/before - 1: below 0 is faster. Times of operators are means of a call, of types and steps those of a "
        "step (types: their tuned operators, equal calls on both sides). Of several operators at once the claim is what "
        "each one's claimed change makes of its measured time: no two times of AOE stand for it."
    )
    intervals = say(
        "Intervals: {level:.0%}, by a bootstrap of {resamples} resamples with steps as blocks ({before} before, {after} after; "
        "fewer than 5: single calls), fixed seed, made wider by the noise between captures.",
        level=method["level"],
        resamples=method["resamples"],
        before=method["steps_before"],
        after=method["steps_after"],
    )
    verdicts = say(
        "Confirmed: faster, and the claim lies in the interval or four fifths of it were measured; partly: faster, and less; "
        "not-reproduced: the interval holds 0; regressed: slower."
    )
    return [change, intervals, verdicts]


def _chart(rows: Sequence[Mapping[str, Any]], tuner: str) -> BarChart:
    """Time saved as claimed and as measured, operator by operator."""
    labels = [str(row["op_name"]) for row in rows]
    claimed = [-row["claimed_change"] for row in rows]
    measured = [-row["change"] for row in rows]
    ends = [(-row["ci_high"], -row["ci_low"]) if row["ci_low"] is not None else None for row in rows]
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
    lines = {say("claimed by {tuner}", tuner=tuner): claimed, "measured": measured}
    return BarChart(
        "Claimed and measured", labels, lines, "time saved (1 - after/before)", description, {"measured": ends}
    )


def _reconciled(facts: Mapping[str, Any], tuner: str) -> Section | None:
    parts = facts["reconciliation"]
    if parts is None:
        return None
    signed = [
        (say("Tuned operators take less device time"), parts["operators_us"]),
        (say("Other operators take less"), parts["others_us"]),
        (say("Hidden by overlap"), None if parts["hidden_by_overlap_us"] is None else -parts["hidden_by_overlap_us"]),
        (say("Communication takes less"), parts["communication_us"]),
        (say("Less free time"), parts["free_us"]),
        (say("Unexplained"), parts["unexplained_us"]),
        (say("The step is shorter by"), parts["step_saving_us"]),
    ]
    rows = [{"part": part, "saving_us": value} for part, value in signed if value is not None]
    claimed = say(
        "{tuner}'s claims come to {claimed:,.3f} us of a step, by the calls and times of the profile before.",
        tuner=tuner,
        claimed=parts["claimed_us"],
    )
    return Section("Where the savings went", [claimed], Grid(_PARTS, rows))


def _next(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Section:
    verdict, parts = facts["verdict"], facts["reconciliation"] or {}
    lines = [
        say(
            "Rule: {rule} (--accept {accept}): passed."
            if facts["accepted"]
            else "Rule: {rule} (--accept {accept}): not passed.",
            rule=facts["rule"],
            accept=facts["accept"],
        )
    ]
    if facts["signs"]:
        lines.append(
            say(
                "See to it that the tuned bank is in use (TUNE_BANK_PATH, compiled anew: remeasure.md), measure and verify again."
            )
        )
    elif verdict == "confirmed":
        lines.append(say("Put the bank into use: aoe-reports adopt."))
    elif verdict == "partly":
        lines.append(say("The bank is worth having, and less than AOE says: aoe-reports adopt, or tune again."))
    elif verdict == "regressed":
        lines.append(
            say(
                "Leave the bank in use as it is; the rows marked regressed name the operators to leave out of a new plan."
            )
        )
    elif verdict == "not-reproduced":
        lines.append(say("Leave the bank in use as it is. More steps in both profiles make intervals narrower."))
    else:
        lines.append(say("Measure both profiles with the same model, machine, CANN version and profiler options."))
    hidden, saved = parts.get("hidden_by_overlap_us"), parts.get("operators_us")
    if hidden is not None and saved and saved > 0 and hidden > saved / 2:
        lines.append(
            say("Most of what operators save is hidden by overlap: communication is what the step waits for now.")
        )
    slower = [str(row["op_name"]) for row in rows if row["scope"] == "operator" and row["verdict"] == "regressed"]
    if slower:
        lines.append(say("Slower than before: {names}.", names=join(", ", slower[:SHOWN])))
    return Section("What to do next", lines=lines)


def _findings(findings: Sequence[Finding]) -> Section | None:
    if not findings:
        return None
    several = len(findings) > SHOWN_FINDINGS
    sentences = [say("The first {shown} of {count}.", shown=SHOWN_FINDINGS, count=len(findings))] if several else []
    return Section("Findings", sentences, lines=[finding.as_text() for finding in findings[:SHOWN_FINDINGS]])
