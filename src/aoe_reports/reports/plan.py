"""What a tuning plan says to people: where the step goes, what to tune and why, what not and why, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.reports.names import counted
from aoe_reports.reports.report import Column, Grid, Report, Section
from aoe_reports.reports.rows import shown_columns

SHOWN_CANDIDATES = 50
SHOWN_REJECTED = 50
_PER_MINUTE = 60

_REJECTED = (
    Column("op_type", "Operator type"),
    Column("op_name", "Operator"),
    Column("total_us", "Total (us)", "us"),
    Column("reason", "Reason"),
)


def plan_report(plan: Mapping[str, Any], facts: Mapping[str, Any]) -> Report:
    """The plan (as plan.json has it) and what was known when it was made."""
    sections = [
        Section("Where the step goes", _where(plan, facts)),
        _candidates(plan),
        _rejected(plan["rejected"]),
        Section("How it was ranked", lines=_how(facts)) if plan["candidates"] else None,
        Section("What to do", lines=_what_to_do(plan)),
    ]
    title = f"Tuning plan ({plan['mode']}, {plan['scenario']})"
    said = _gradients(facts) if plan["mode"] == "gdat" else headline(plan)
    return Report(title, said, [section for section in sections if section is not None])


def headline(plan: Mapping[str, Any]) -> str:
    """The plan in one sentence."""
    if plan["mode"] == "gdat":
        return "Gradients are tuned as a whole while the training script runs; no operator is chosen."
    candidates = plan["candidates"]
    if not candidates:
        return f"Tuning compute cannot help here: {_why_not(plan)}."
    expected = sum(candidate["expected_saving_us"] or 0.0 for candidate in candidates)
    share = _of_step(expected, plan)
    minutes = sum(candidate["cost_s"] or 0.0 for candidate in candidates) / _PER_MINUTE
    operators = sum(candidate["kind"] == "operator" for candidate in candidates)
    what = counted(operators, "candidate") if operators else "The model's subgraphs"
    whole = "" if plan["step_us"] is None else f" of a step of {plan['step_us']:,.3f} us"
    return f"{what}: expected {expected:,.3f} us{share}{whole}, for about {minutes:,.1f} minutes of tuning."


def _gradients(facts: Mapping[str, Any]) -> str:
    """What gradient tuning could save at most, where backward passes are told."""
    tail = facts.get("gradients")
    whole = "Gradients are tuned as a whole while the training script runs; no operator is chosen"
    if tail is None:
        return f"{whole}. What that could save is not known: no step_trace with a backward pass."
    share = f" ({tail['bound_us'] / tail['iteration_us']:.2%})" if tail["iteration_us"] else ""
    return (
        f"{whole}. An iteration of {tail['iteration_us']:,.3f} us has {tail['tail_us']:,.3f} us of all-reduce behind its backward "
        f"pass, of which at most {tail['bound_us']:,.3f} us{share} can be hidden."
    )


def _why_not(plan: Mapping[str, Any]) -> str:
    """What speaks against most of the device time."""
    parts = []
    if plan["computing_share"] is not None:
        parts.append(f"computing is {plan['computing_share']:.1%} of the step")
    sums: dict[str, float] = {}
    for one in plan["rejected"]:
        word = str(one["reason"]).partition(":")[0]
        if word != "communication":
            sums[word] = sums.get(word, 0.0) + (one["total_us"] or 0.0)
    whole = sum(sums.values())
    if whole:
        word, most = max(sums.items(), key=lambda item: (item[1], item[0]))
        parts.append(f"{most / whole:.0%} of it is left out as {word}")
    return ", and ".join(parts) or "no operator was measured"


def _of_step(saving_us: float, plan: Mapping[str, Any]) -> str:
    return f" ({saving_us / plan['step_us']:.2%})" if plan["step_us"] else ""


def _where(plan: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    if plan["step_us"] is None:
        return ["Nothing tells how long a step is: shares are of computing, and what runs beside what is not known."]
    shares = [
        (plan["computing_share"], "computing"),
        (facts["overlapped_share"], "of it beside communication"),
        (plan["communication_not_overlapped_share"], "communication that nothing is computed beside"),
        (plan["free_share"], "free"),
    ]
    said = ", ".join(f"{share:.1%} {what}" for share, what in shares if share is not None)
    mean = f" (mean of {facts['steps']})" if facts["steps"] > 1 else ""
    bound = f"No tuning of operators can save more than {plan['bound_saving_us']:,.3f} us of it"
    if plan["bound_saving_share"] is not None:
        bound += f", {plan['bound_saving_share']:.1%}"
    return [
        f"A step takes {plan['step_us']:,.3f} us{mean}: {said}.",
        f"{bound}: what is overlapped or idle is not gained.",
    ]


def _candidates(plan: Mapping[str, Any]) -> Section:
    candidates = plan["candidates"]
    if not candidates:
        nothing = "All gradients together." if plan["mode"] == "gdat" else "Nothing."
        return Section("What to tune", [nothing])
    rows = [{"position": place, **one} for place, one in enumerate(candidates, start=1)][:SHOWN_CANDIDATES]
    sentences = ["Total and tasks are those of the whole profile; bound and expected are us of one step."]
    if len(candidates) > len(rows):
        sentences.append(f"The first {len(rows)} of {len(candidates)}; plan.json has them all.")
    return Section("What to tune", sentences, Grid(shown_columns("plan", rows), rows))


def _rejected(rejected: Sequence[Mapping[str, Any]]) -> Section | None:
    if not rejected:
        return None
    shown = rejected[:SHOWN_REJECTED]
    sentences = (
        [f"The first {len(shown)} of {len(rejected)}; plan.json has them all."] if len(rejected) > len(shown) else []
    )
    rows: list[dict[str, Any]] = []
    meanings: dict[str, str] = {}
    for one in shown:
        word, _, meaning = str(one["reason"]).partition(": ")
        text, _, number = meaning.rpartition(" (") if _SEVERAL.search(meaning) else (meaning, "", "")
        rows.append({**one, "reason": word, "op_name": one["op_name"] or (f"({number}" if number else None)})
        meanings.setdefault(word, f"{word}: {text}.")
    columns = tuple(column for column in _REJECTED if any(row[column.key] is not None for row in rows))
    return Section("What is left out", sentences, Grid(columns, rows), lines=sorted(meanings.values()))


_SEVERAL = re.compile(r" \(\d+ operators\)\Z")


def _how(facts: Mapping[str, Any]) -> list[str]:
    cost = (
        f"median of {counted(facts['cost_results'], 'earlier tuning task')}"
        if facts["cost_results"]
        else f"default: {facts['default_source']}"
    )
    lines = [
        "Order: expected saving of a step for each second of tuning.",
        (
            "Expected saving: the time in which an operator alone keeps the step waiting, times the time saved (1 - after/before) "
            "that earlier tuning of its type brought (measured before claimed, one default counted among them), else times the "
            f"default ({facts['default_source']}); never more than the operator's bound or the step's."
        ),
        f"Tuning takes {facts['cost_s']:,.1f} s an operator and shape ({cost}).",
        f"Operators below {facts['min_share']:.3%} of the step are left out (--min-share).",
    ]
    if facts["budget_s"] is not None:
        lines.append(f"Tuning is to take no more than {facts['budget_s'] / _PER_MINUTE:,.1f} minutes (--budget).")
    return lines


def _what_to_do(plan: Mapping[str, Any]) -> list[str]:
    if not plan["candidates"] and plan["mode"] != "gdat":
        return ["Nothing to tune: `aoe-reports advise` on the profile says what else could be gained. run.sh refuses."]
    lines = [
        "Look whether the machine can: aoe-reports preflight in this folder.",
        "Tune: aoe-reports tune in this folder; without aoe-reports, run.sh.",
        "Measure again: remeasure.md says how (tune writes it).",
    ]
    if plan["mode"] == "both":
        lines.append(
            "Choose the operators: aoe-reports plan of the new profile with --after and this folder; tune that one."
        )
    if plan["soc"] is None:
        lines.insert(0, "The profile does not name the chip: plan with --soc, else run.sh wants a folder bank/ first.")
    return [*lines, "Hold AOE's claim against the clock: aoe-reports verify; what is confirmed: aoe-reports adopt."]
