"""The story of a tuning loop on one page: what was hot, what was tried, what AOE said, what the clock said, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.findings import Finding
from aoe_reports.reports.report import BarChart, Column, Grid, Report, Section
from aoe_reports.reports.rows import shown_columns

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

HEADLINES = {
    "confirmed": "Confirmed: the clock shows the gain that AOE claims",
    "partly": "Partly: a gain is measured, and less than AOE claims",
    "not-reproduced": "Not reproduced: the clock does not show the gain that AOE claims",
    "regressed": "Regressed: it is slower than before",
    "not-comparable": "Not comparable: the profiles do not tell whether anything was gained",
}


def verified_report(
    plan: Mapping[str, Any],
    claims: Mapping[str, Any],
    outcome: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
    findings: Sequence[Finding],
) -> Report:
    """The page; `claims` are AOE's, `rows` and `facts` what `verify` found, `outcome` what `tune` left (or nothing)."""
    sections = [
        _hot(plan),
        _tried(plan, outcome),
        _said(claims),
        _measured(rows, facts),
        _reconciled(facts),
        _next(facts, rows),
        _findings(findings),
    ]
    return Report("Tuning, verified", headline(rows, facts), [section for section in sections if section is not None])


def headline(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> str:
    """The verdict, and the step in numbers."""
    text = HEADLINES[facts["verdict"]]
    step = next((row for row in rows if row["scope"] == "step"), None)
    if step is None or step["change"] is None:
        return f"{text}."
    between = "" if step["ci_low"] is None else f", between {step['ci_low']:+.1%} and {step['ci_high']:+.1%}"
    return f"{text}. The step takes {step['change']:+.1%} (after/before - 1{between})."


def _hot(plan: Mapping[str, Any]) -> Section:
    sentences = []
    if plan["step_us"] is not None:
        parts = [
            (plan["computing_share"], "computing"),
            (plan["communication_not_overlapped_share"], "communication that nothing is computed beside"),
            (plan["free_share"], "free"),
        ]
        said = ", ".join(f"{share:.1%} {what}" for share, what in parts if share is not None)
        sentences.append(f"A step took {plan['step_us']:,.3f} us: {said}.")
        if plan["bound_saving_us"] is not None:
            sentences.append(f"No tuning of operators could save more than {plan['bound_saving_us']:,.3f} us of it.")
    candidates = [one for one in plan["candidates"] if one["kind"] == "operator"]
    shown = candidates[:SHOWN]
    if not shown:
        return Section("What was hot", sentences or ["The plan chose no operator."])
    if len(candidates) > len(shown):
        sentences.append(f"The first {len(shown)} of {len(candidates)} candidates:")
    columns = tuple(column for column in _HOT if any(one[column.key] is not None for one in shown))
    return Section("What was hot", sentences, Grid(columns, shown))


def _tried(plan: Mapping[str, Any], outcome: Mapping[str, Any]) -> Section:
    operators = sum(one["kind"] == "operator" for one in plan["candidates"])
    what = [f"{operators} operator{'s' if operators != 1 else ''} or types"] if operators else []
    what += ["the model's subgraphs"] if any(one["kind"] == "subgraph" for one in plan["candidates"]) else []
    asked = " and ".join(what) or "nothing"
    sentences = [f"AOE was asked for {asked} ({plan['mode']}, {plan['scenario']}); left out: {len(plan['rejected'])}."]
    counts = outcome.get("counts")
    if isinstance(counts, dict) and counts:
        said = ", ".join(f"{number} {status}" for status, number in counts.items())
        sentences.append(f"What came of it: {said}.")
    if not outcome:
        sentences.append("The job was not run by `tune`: what came of each operator is known by AOE's results alone.")
    return Section("What was tried", sentences)


def _said(claims: Mapping[str, Any]) -> Section:
    operators = sorted(claims["operators"], key=lambda one: (-one["saved"] * one["before_us"], one["op_name"]))
    sentences = ["These are AOE's own times, of single operators by themselves."] if operators else []
    if claims["model_us"] is not None:
        before, after = claims["model_us"]
        sentences.append(f"Of the model it says {before:,.3f} us before and {after:,.3f} us after.")
    if claims["subgraphs"]:
        sentences.append(f"It changed {claims['subgraphs']} subgraphs.")
    if len(operators) > SHOWN:
        sentences.append(f"The {SHOWN} with the largest saving of {len(operators)} operators:")
    if not operators:
        return Section("What AOE said", sentences or ["Nothing: no result claims a change."])
    return Section("What AOE said", sentences, Grid(_SAID, operators[:SHOWN]))


def _measured(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> Section:
    title = "What the clock said"
    if not rows:
        return Section(title, ["The profiles cannot be compared; see the findings."])
    step = [row for row in rows if row["scope"] == "step"]
    kinds = [row for row in rows if row["scope"] == "op_type"]
    operators = [row for row in rows if row["scope"] == "operator"]
    shown = [*step, *kinds[:SHOWN], *operators[:SHOWN]]
    sentences = [_noise_sentence(facts)]
    if len(shown) < len(rows):
        sentences.append(f"{len(shown)} of {len(rows)} rows; verify.json has them all.")
    sentences += [f"A sign that the tuned bank was not in use: {sign}." for sign in facts["signs"]]
    drawn = [row for row in operators if row["change"] is not None and row["claimed_change"] is not None][:SHOWN]
    chart = _chart(drawn) if drawn else None
    if chart is not None:
        sentences.append(f"{chart.description}.")
    return Section(title, sentences, Grid(shown_columns("verify", shown), shown), chart, lines=_how(facts))


def _noise_sentence(facts: Mapping[str, Any]) -> str:
    noise = facts["noise"]
    if noise["drift"] is None:
        return "The noise between two captures is not known: too few operators were left untouched."
    return (
        f"Noise: {noise['controls']} operators that nobody tuned changed by {noise['drift']:+.2%} (median, by time), and by "
        f"{noise['spread']:.2%} (robust standard deviation) around that."
    )


def _how(facts: Mapping[str, Any]) -> list[str]:
    method = facts["method"]
    change = (
        "Change is after/before - 1: below 0 is faster. Times of operators are means of a call, of types and steps those of a "
        "step (types: their tuned operators, equal calls on both sides)."
    )
    intervals = (
        f"Intervals: {method['level']:.0%}, by a bootstrap of {method['resamples']} resamples with steps as blocks "
        f"({method['steps_before']} before, {method['steps_after']} after; fewer than 5: single calls), fixed seed, made wider "
        "by the noise between captures."
    )
    verdicts = (
        "Confirmed: faster, and the claim lies in the interval or four fifths of it were measured; partly: faster, and less; "
        "not-reproduced: the interval holds 0; regressed: slower."
    )
    return [change, intervals, verdicts]


def _chart(rows: Sequence[Mapping[str, Any]]) -> BarChart:
    """Time saved as claimed and as measured, operator by operator."""
    labels = [str(row["op_name"]) for row in rows]
    claimed = [-row["claimed_change"] for row in rows]
    measured = [-row["change"] for row in rows]
    ends = [(-row["ci_high"], -row["ci_low"]) if row["ci_low"] is not None else None for row in rows]
    description = (
        f"Time saved (1 - after/before) of {len(rows)} operator{'s' if len(rows) != 1 else ''}: claimed "
        f"{min(claimed):.1%} to {max(claimed):.1%}, measured {min(measured):.1%} to {max(measured):.1%}"
    )
    lines = {"claimed by AOE": claimed, "measured": measured}
    return BarChart(
        "Claimed and measured", labels, lines, "time saved (1 - after/before)", description, {"measured": ends}
    )


def _reconciled(facts: Mapping[str, Any]) -> Section | None:
    parts = facts["reconciliation"]
    if parts is None:
        return None
    signed = [
        ("Tuned operators take less device time", parts["operators_us"]),
        ("Other operators take less", parts["others_us"]),
        ("Hidden by overlap", None if parts["hidden_by_overlap_us"] is None else -parts["hidden_by_overlap_us"]),
        ("Communication takes less", parts["communication_us"]),
        ("Less free time", parts["free_us"]),
        ("Unexplained", parts["unexplained_us"]),
        ("The step is shorter by", parts["step_saving_us"]),
    ]
    rows = [{"part": part, "saving_us": value} for part, value in signed if value is not None]
    claimed = (
        f"AOE's claims come to {parts['claimed_us']:,.3f} us of a step, by the calls and times of the profile before."
    )
    return Section("Where the savings went", [claimed], Grid(_PARTS, rows))


def _next(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Section:
    verdict, parts = facts["verdict"], facts["reconciliation"] or {}
    lines = [f"Rule: {facts['rule']} (--accept {facts['accept']}): {'passed' if facts['accepted'] else 'not passed'}."]
    if facts["signs"]:
        lines.append(
            "See to it that the tuned bank is in use (TUNE_BANK_PATH, compiled anew: remeasure.md), measure and verify again."
        )
    elif verdict == "confirmed":
        lines.append("Put the bank into use: aoe-reports adopt.")
    elif verdict == "partly":
        lines.append("The bank is worth having, and less than AOE says: aoe-reports adopt, or tune again.")
    elif verdict == "regressed":
        lines.append(
            "Leave the bank in use as it is; the rows marked regressed name the operators to leave out of a new plan."
        )
    elif verdict == "not-reproduced":
        lines.append("Leave the bank in use as it is. More steps in both profiles make intervals narrower.")
    else:
        lines.append("Measure both profiles with the same model, machine, CANN version and profiler options.")
    hidden, saved = parts.get("hidden_by_overlap_us"), parts.get("operators_us")
    if hidden is not None and saved and saved > 0 and hidden > saved / 2:
        lines.append("Most of what operators save is hidden by overlap: communication is what the step waits for now.")
    slower = [str(row["op_name"]) for row in rows if row["scope"] == "operator" and row["verdict"] == "regressed"]
    if slower:
        lines.append(f"Slower than before: {', '.join(slower[:SHOWN])}.")
    return Section("What to do next", lines=lines)


def _findings(findings: Sequence[Finding]) -> Section | None:
    if not findings:
        return None
    sentences = [f"The first {SHOWN_FINDINGS} of {len(findings)}."] if len(findings) > SHOWN_FINDINGS else []
    return Section("Findings", sentences, lines=[finding.as_text() for finding in findings[:SHOWN_FINDINGS]])
