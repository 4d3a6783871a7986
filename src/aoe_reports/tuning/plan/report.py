"""What a tuning plan says to people: where the step goes, what to tune and why, what not and why, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aoe_reports.facts.bounds import StepShares
from aoe_reports.model.report import Report, Section
from aoe_reports.model.rows import Rows
from aoe_reports.model.shares import rounded
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.present.answers import section_of
from aoe_reports.tuning.options import PlanOptions
from aoe_reports.tuning.plan.plan import PlacedCandidate, Plan, Rejected
from aoe_reports.tuning.plan.prior import DEFAULT_SOURCE, Priors

SHOWN_CANDIDATES = 50
SHOWN_REJECTED = 50
_PER_MINUTE = 60


@dataclass(frozen=True, slots=True)
class GradientTail:
    """What of an iteration all-reduce takes behind the backward pass, and what of that could be hidden at most."""

    iteration_us: float
    tail_us: float
    bound_us: float


def plan_report(
    plan: Plan, options: PlanOptions, priors: Priors, shares: StepShares, tail: GradientTail | None = None
) -> Report:
    """The plan (as plan.json has it) and what was known when it was made; `tail`: what backward passes show, if anything."""
    sections = [
        Section("Step time breakdown", _where(plan, shares)),
        _candidates(plan),
        _rejected(plan.rejected),
        Section("How it was ranked", lines=_how(plan, options, priors)) if plan.candidates else None,
        Section("Recommended actions", lines=_what_to_do(plan)),
    ]
    title = say("Tuning plan ({mode}, {scenario})", mode=plan.mode, scenario=plan.scenario)
    said = _gradients(tail) if plan.mode == "gdat" else headline(plan)
    return Report(title, said, [section for section in sections if section is not None])


def headline(plan: Plan) -> str:
    """The plan in one sentence, and what of it is assumed."""
    assumed = _assumed(plan)
    return _expected(plan) if assumed is None else join(" ", (_expected(plan), assumed))


def _assumed(plan: Plan) -> Text | None:
    found = plan.assumed
    if not found:
        return None
    shares = sorted({one.prior["saved_share"] for one in found})
    if not plan.operators:
        return say("Assumed {share:.1%}: no result of subgraph tuning is known.", share=shares[0])
    if len(found) == len(plan.candidates):
        return count_of(
            len({one.op_type for one in found}),
            "Assumed {share:.1%} each: no result of this type is known.",
            "Assumed {share:.1%} each: no result of these types is known.",
            share=shares[0],
        )
    return say(
        "Of this, {assumed:,.3f} us are assumed, {share:.1%} for each of {count} candidates: no result of their types is known.",
        assumed=plan.assumed_saving_us,
        share=shares[0],
        count=len(found),
    )


def _expected(plan: Plan) -> str:
    if plan.mode == "gdat":
        return say("Gradients are tuned as a whole while the training script runs; no operator is chosen.")
    candidates = plan.candidates
    if not candidates:
        return say("Tuning of computing cannot help here: {why}.", why=_why_not(plan))
    expected = plan.expected_saving_us or 0.0
    minutes = sum(candidate.cost_s or 0.0 for candidate in candidates) / _PER_MINUTE
    operators = sum(candidate.kind == "operator" for candidate in candidates)
    several = count_of(operators, "{number} candidate", "{number} candidates")
    said = {"what": several if operators else say("The model's subgraphs"), "expected": expected, "minutes": minutes}
    if plan.step_us is None:
        return say("{what}: expected saving {expected:,.3f} us, for about {minutes:,.1f} minutes of tuning.", **said)
    if not plan.step_us:
        return say(
            "{what}: expected saving {expected:,.3f} us of a step of {step:,.3f} us, for about {minutes:,.1f} "
            "minutes of tuning.",
            step=plan.step_us,
            **said,
        )
    return say(
        "{what}: expected saving {expected:,.3f} us ({share:.2%}) of a step of {step:,.3f} us, for about "
        "{minutes:,.1f} minutes of tuning.",
        share=expected / plan.step_us,
        step=plan.step_us,
        **said,
    )


def _gradients(tail: GradientTail | None) -> str:
    """What gradient tuning could save at most, where backward passes are told."""
    whole = say("Gradients are tuned as a whole while the training script runs; no operator is chosen.")
    if tail is None:
        unknown = say("The possible saving is not known: there is no step_trace with a backward pass.")
        return join(" ", (whole, unknown))
    said = {"iteration": tail.iteration_us, "tail": tail.tail_us, "bound": tail.bound_us}
    if tail.iteration_us:
        said["share"] = tail.bound_us / tail.iteration_us
    text = say(
        (
            "An iteration of {iteration:,.3f} us has {tail:,.3f} us of all-reduce after its backward pass; at most "
            "{bound:,.3f} us ({share:.2%}) of this can be hidden."
        )
        if tail.iteration_us
        else (
            "An iteration of {iteration:,.3f} us has {tail:,.3f} us of all-reduce after its backward pass; at "
            "most {bound:,.3f} us of this can be hidden."
        ),
        **said,
    )
    return join(" ", (whole, text))


def _why_not(plan: Plan) -> str:
    """The reasons against most of the device time."""
    parts = []
    if plan.computing_share is not None:
        parts.append(say("computing takes {share:.1%} of the step", share=plan.computing_share))
    sums = _left_out(plan)
    whole = sum(sums.values())
    if whole:
        word, most = max(sums.items(), key=lambda item: (item[1], item[0]))
        parts.append(say("{share:.0%} of it is left out as {why}", share=most / whole, why=word))
    return join(", and ", parts) or say("no operator was measured")


def _where(plan: Plan, measured: StepShares) -> list[str]:
    if plan.step_us is None:
        return [say("No data gives the duration of a step: shares are of computing, and the overlap is not known.")]
    shares = [
        (plan.computing_share, say("computing")),
        (rounded(measured.share(measured.overlapped_ns)), say("computing overlapped with communication")),
        (plan.communication_not_overlapped_share, say("communication not overlapped by computing")),
        (plan.free_share, say("free")),
    ]
    said = join(
        ", ", (say("{share:.1%} {what}", share=share, what=what) for share, what in shares if share is not None)
    )
    step = say(
        "A step takes {step:,.3f} us (mean of {steps}): {shares}."
        if measured.steps > 1
        else "A step takes {step:,.3f} us: {shares}.",
        step=plan.step_us,
        steps=measured.steps,
        shares=said,
    )
    bound = {"bound": plan.bound_saving_us}
    if plan.bound_saving_share is not None:
        bound["share"] = plan.bound_saving_share
    most = say(
        ("Operator tuning can save at most {bound:,.3f} us of it, {share:.1%}: overlapped or idle time is not gained.")
        if "share" in bound
        else "Operator tuning can save at most {bound:,.3f} us of it: overlapped or idle time is not gained.",
        **bound,
    )
    return [step, most]


def _candidates(plan: Plan) -> Section:
    candidates = plan.candidates
    if not candidates:
        nothing = say("All gradients together." if plan.mode == "gdat" else "Nothing.")
        return Section("Tuning candidates", [nothing])
    rows = plan.placed[:SHOWN_CANDIDATES]
    sentences = [say("Total and tasks are those of the whole profile; bound and expected are per step.")]
    if len(candidates) > len(rows):
        sentences.append(_first(len(rows), len(candidates)))
    return section_of(Rows(type=PlacedCandidate, rows=rows, title="Tuning candidates", sentences=sentences))


def _rejected(rejected: Sequence[Rejected]) -> Section | None:
    if not rejected:
        return None
    sentences = [_first(SHOWN_REJECTED, len(rejected))] if len(rejected) > SHOWN_REJECTED else []
    rows: list[Rejected] = []
    meanings: dict[str, str] = {}
    for one in rejected[:SHOWN_REJECTED]:
        word, meaning, number = _taken_apart(one.reason)
        several = None if number is None else say("({count} operators)", count=number)
        rows.append(replace(one, reason=word, op_name=one.op_name or several))
        meanings.setdefault(word, say("{word}: {meaning}.", word=word, meaning=meaning))
    table = section_of(Rows(type=Rejected, rows=rows, title="Excluded items", sentences=sentences))
    return replace(table, lines=sorted(meanings.values()))


def _taken_apart(reason: str | None) -> tuple[str, str, int | None]:
    """(the reason, its meaning, the number of operators) as `tuning.plan.ranking` combined them."""
    if not isinstance(reason, Text):
        word, _, meaning = str(reason).partition(": ")
        return word, meaning, None
    said = reason.values
    if "source" in said:
        return said["why"], say("{meaning} ({source})", meaning=said["meaning"], source=said["source"]), None
    return said["why"], said["meaning"], said.get("count")


def _first(shown: int, count: int) -> Text:
    return say("The first {shown} of {count}; plan.json has them all.", shown=shown, count=count)


def _how(plan: Plan, options: PlanOptions, priors: Priors) -> list[str]:
    tasks = priors.cost_results
    if tasks:
        cost = count_of(tasks, "median of {number} earlier tuning task", "median of {number} earlier tuning tasks")
    else:
        cost = say("default: {source}", source=DEFAULT_SOURCE)
    lines: list[str] = [
        say("Order: expected saving per step for each second of tuning."),
        say(
            "Expected saving: the time in which only this operator delays the step, multiplied by the time saved "
            "(1 - after/before) by earlier tuning of its type (measured results take precedence over claims; one "
            "default is counted among them), otherwise by the default ({source}); never more than the bound of "
            "the operator or of the step.",
            source=DEFAULT_SOURCE,
        ),
        *([_BY_PATH] if any(candidate.path_saving_us is not None for candidate in plan.candidates) else []),
        say("Tuning takes {seconds:,.1f} s per operator and shape ({how}).", seconds=priors.cost_s, how=cost),
        say("Operators below {share:.3%} of the step are left out (--min-share).", share=options.min_share),
    ]
    if options.budget_s is not None:
        minutes = options.budget_s / _PER_MINUTE
        lines.append(say("Tuning may take at most {minutes:,.1f} minutes (--budget).", minutes=minutes))
    return lines


_BY_PATH = say(
    "Bound by path: how much shorter the step gets on its critical path if the operator saves its bound, or all of its time "
    "where no bound is known; the expected saving is never more."
)


def _shapes_unknown(plan: Plan) -> list[str]:
    """What to do if missing shapes are the main reason for leaving operators out."""
    left_out = _left_out(plan)
    if not any(left_out.values()) or max(left_out, key=lambda word: left_out[word]) != "unknown-shape":
        return []
    share = left_out["unknown-shape"] / sum(left_out.values())
    return [
        say(
            "{share:.0%} of the time of excluded operators is excluded because the export does not record whether their shapes "
            "are static. If the model has static shapes only, run plan again with --assume-static.",
            share=share,
        )
    ]


def _left_out(plan: Plan) -> dict[str, float]:
    """The device time of what is not tuned by the reason's word."""
    sums: dict[str, float] = {}
    for one in plan.rejected:
        word = _taken_apart(one.reason)[0]
        if word != "communication":
            sums[word] = sums.get(word, 0.0) + (one.total_us or 0.0)
    return sums


def _what_to_do(plan: Plan) -> list[str]:
    lines = _shapes_unknown(plan)
    if not plan.candidates and plan.mode != "gdat":
        return [
            *lines,
            say(
                "Nothing to tune: `aoe-reports advise` on the profile shows other possible gains. run.sh refuses "
                "to run."
            ),
        ]
    lines += [
        say("Check the machine: run aoe-reports tune check in this folder."),
        say("Tune: run aoe-reports tune run in this folder, or run.sh if aoe-reports is not available."),
        say("Measure again: remeasure.md describes how (tune writes this file)."),
    ]
    if plan.mode == "both":
        lines.append(
            say(
                "Choose the operators: run aoe-reports plan on the new profile with --after and this folder, "
                "then tune the new plan."
            )
        )
    if plan.soc is None:
        lines.insert(
            0,
            say(
                "The profile does not name the chip: run plan with --soc; otherwise run.sh needs a folder bank/ first."
            ),
        )
    return [
        *lines,
        say("Verify AOE's claim: run aoe-reports verify; adopt what is confirmed: run aoe-reports tune adopt."),
    ]
