"""What `quality` found, in words: the evidence of each judgement, what to do about it, and the headline."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aoe_reports.engine.captures import in_short
from aoe_reports.model.texts import N_, Text, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.quality.facts import Code, Judgement
from aoe_reports.topics.quality.trimming import steps_in_words

_NAMED = 2
"""So many judgements are in a headline."""
_PARTS = N_(
    {
        "computing": "most of it is computing",
        "communication": "most of it is communication that nothing hides",
        "free": "most of it is free time",
        "": "no single part of the step explains it",
    }
)


def headline_of(told: Mapping[str, Sequence[Judgement]]) -> str:
    """The verdict and what it is made of; of several runs how many have which."""
    if not told:
        return ""
    if len(told) > 1:
        worst = [found[0].effect if found else "note" for found in told.values()]
        return say(
            "Worth reading: {yes:,} of {count:,} runs yes, {but:,} yes, but with care, {no:,} no.",
            yes=worst.count("note"),
            but=worst.count("caution"),
            no=worst.count("no-baseline"),
            count=len(worst),
        )
    (found,) = told.values()
    telling = [one for one in found if one.effect == (found[0].effect if found else "")]
    reasons = join("; ", (evidence_of(one) for one in telling[:_NAMED]))
    more = len(telling) - _NAMED
    rest = "" if more <= 0 else count_of(more, "; {number} more below", "; {number} more below")
    if not found or found[0].effect == "note":
        return say("Worth reading: yes.")
    if found[0].effect == "caution":
        return say("Worth reading: yes, but {reasons}{rest}.", reasons=reasons, rest=rest)
    return say("Worth reading: no, it is no baseline, because {reasons}{rest}.", reasons=reasons, rest=rest)


def ranks_of(judgement: Judgement) -> str | None:
    """The ranks that a judgement is of; null where it is of the run, or no rank is known."""
    known = sorted({rank for rank, _ in judgement.places if rank is not None})
    return in_short(known) if known else None


def evidence_of(judgement: Judgement) -> Text:
    """The numbers that prove a judgement, as a sentence without its stop."""
    if judgement.code in _COUNTED:
        return _COUNTED[judgement.code](judgement.numbers)
    return say(
        _EVIDENCE[judgement.code],
        **{_UNIT.sub("", name): _shown(name, judgement.numbers[name]) for name in judgement.numbers},
    )


_UNIT = re.compile(r"_(?:ns|mhz)$")


def _shown(name: str, value: Any) -> Any:
    """A number of a judgement as a sentence has it: times with their unit, steps and parts of a step in words."""
    if name.endswith("_ns"):
        return _time(value)
    if name == "steps":
        return steps_in_words(value)
    return say(_PARTS[value]) if name == "part" else value


def advice_of(judgement: Judgement) -> Text:
    """What to do about it."""
    return say(_ADVICE[judgement.code])


def _time(ns: float) -> Text:
    (time,), unit = times_in_one_unit(ns)
    return say("{time} {unit}", time=time, unit=unit)


def _of_unequal(one: Any) -> Text:
    return count_of(
        len(one["ranks"]),
        "rank {ranks} lacks a table or a timeline that other ranks have",
        "ranks {ranks} lack a table or a timeline that other ranks have",
        ranks=in_short(one["ranks"]),
    )


def _of_warm_up(one: Any) -> Text:
    numbers, first = one["steps"], say("the first step is warm-up")
    steps = count_of(len(numbers), "step {steps} is warm-up", "steps {steps} are warm-up", steps=in_short(numbers))
    return _of_phase(steps if numbers else first, one)


def _of_tear_down(one: Any) -> Text:
    numbers, last = one["steps"], say("the last step is tear-down")
    steps = count_of(len(numbers), "step {steps} is tear-down", "steps {steps} are tear-down", steps=in_short(numbers))
    return _of_phase(steps if numbers else last, one)


def _of_phase(steps: Text, one: Any) -> Text:
    return say(
        "{steps}: {longest} against {usual} of a usual step ({ratio:.1f} times as long)",
        steps=steps,
        longest=_time(one["longest_ns"]),
        usual=_time(one["usual_ns"]),
        ratio=one["ratio"],
    )


def _of_clock(one: Any) -> Text:
    return say(
        "the cores ran at {lowest:,.0f} to {highest:,.0f} MHz: computing takes up to {lost:.1%} longer than at the highest",
        lowest=one["lowest_mhz"],
        highest=one["highest_mhz"],
        lost=1 / (1 - one["lost"]) - 1,
    )


def _of_missing(one: Any) -> Text:
    return count_of(
        len(one["missing"]),
        "rank {ranks} is missing: {here} of {named} are here",
        "ranks {ranks} are missing: {here} of {named} are here",
        ranks=in_short(one["missing"]),
        here=len(one["here"]),
        named=one["named"],
    )


_COUNTED: dict[Code, Callable[[Any], Text]] = {
    "warm-up": _of_warm_up,
    "tear-down": _of_tear_down,
    "frequency-drop": _of_clock,
    "unequal-ranks": _of_unequal,
    "missing-ranks": _of_missing,
    "one-rank": lambda one: say("rank {here} of {named} alone is here", here=in_short(one["here"]), named=one["named"]),
    "few-steps": lambda one: count_of(
        one["count"],
        "{number} usual step is left: how far steps scatter is not known",
        "{number} usual steps are left: how far steps scatter is not known",
    ),
}
"""Evidence that is more than its numbers in a sentence."""
_SCATTERS = N_(
    "{count} steps of {usual} scatter by {scatter:.1%}: a change below {detectable:.1%} cannot be detected; {part}"
)
_EVIDENCE: dict[Code, str] = N_(
    {
        "unsteady": _SCATTERS,
        "drift": "the step changes by {drift:+.1%} from the first to the last of {count} steps (median {usual}); {part}",
        "scatter": _SCATTERS,
        "varying-work": "{count} steps of {usual} scatter by {scatter:.1%}, and their work differs: there is no usual step",
        "cut-step": "{steps}: {longest} against {usual} of a usual step; it is cut off",
        "outlier-steps": "{steps}: up to {longest} against {usual} of a usual step, in the middle of the capture",
        "compilation": "{steps}: the host compiles operators for up to {time} ({share:.1%} of the step)",
        "frequency-below-rated": "the cores ran at {highest:,.0f} MHz at most, {rated:,.0f} MHz are rated",
        "other-work": "tasks of other processes ran on the device for {time} ({share:.1%} of its time)",
        "outside-steps": "{share:.1%} of computing ({time}) is in no step; a step takes {step} on the host",
        "start-skew": "rank {late} begins step {step} {skew} after rank {early} ({share:.1%} of a step): the others wait for it there",
        "no-common-step": "no step is in all ranks ({count} steps in all)",
        "other-steps": "{common} steps are in all ranks; {steps} not",
        "no-warm-up": "the schedule of the profiler has warmup=0: the first step holds its start",
        "one-step": "there is one step only ({usual}): how far steps scatter is not known",
        "no-steps": "steps are unknown: all time is one sample, warm-up included",
        "no-timeline": "there is no timeline of the device",
        "profiler-level": "profiler level {level}: no operator types, no shapes, no sizes of communication",
        "no-metrics": "no AI Core metrics: what bounds an operator is not known",
        "recording-overhead": "{options}: the host takes longer than without the profiler",
    }
)

_ADVICE: dict[Code, str] = N_(
    {
        "unsteady": "Profile more steps, on a machine that does nothing else; `steps` shows each, `explain` why two captures differ.",
        "drift": "Profile later, when the job is steady; look for what grows: memory, inputs, temperature (`steps`, AI Core Freq in the timeline).",
        "scatter": "Profile more steps: four times as many halve it.",
        "varying-work": "Compare operators with the same inputs (`compare --by shape`), not steps; for serving compare requests.",
        "warm-up": "Leave it out with `--trim`, or profile later: schedule(wait=1, warmup=2, active=5, skip_first=10).",
        "tear-down": "Leave it out with `--trim`, or stop the profiler before the last step, evaluation and checkpoints.",
        "cut-step": "Leave it out with `--trim`; start and stop the profiler between two steps (prof.step()).",
        "outlier-steps": "Look at it by itself (`--step`): a checkpoint, an evaluation, garbage collection? A mean has it in it.",
        "compilation": "Compile beforehand: more steps of warm-up, fixed shapes, or torch_npu.npu.set_compile_mode(jit_compile=False).",
        "frequency-drop": "Look at power and temperature limits of the chip (npu-smi info) and profile again.",
        "frequency-below-rated": "Compare only with captures of the same frequency; a limit may be set on the chip.",
        "other-work": "Profile on a device that nobody else uses (npu-smi info lists its processes).",
        "start-skew": "Profile two steps more and leave out the first: its waits are those of the start of the profiler, not of the job.",
        "outside-steps": "These steps do not cover the work: call prof.step() at the end of each step and stop the profiler after the last one.",
        "unequal-ranks": "Export these ranks again; `check` names what is missing. Until then their times are unknown, not zero.",
        "no-common-step": "Profile the same steps on all ranks: one schedule, prof.step() once a step.",
        "other-steps": "Look at common steps only (`--step`); give all ranks one schedule.",
        "missing-ranks": "Add their captures: whom the ranks wait for, and slow links, may be among them.",
        "one-rank": "Enough for operators and the host; for stragglers and communication profile all ranks.",
        "no-warm-up": "Set warmup=1 or more: schedule(wait=1, warmup=2, active=5).",
        "one-step": "Enough to see where time goes; for a baseline profile five steps or more (active=5).",
        "few-steps": "Profile five usual steps or more (active=5).",
        "no-steps": "Call prof.step() after each step; for inference profile requests behind a warm-up.",
        "no-timeline": "`breakdown`, `critical-path` and causes of idle time need trace_view.json, msprof_*.json or a database.",
        "profiler-level": "For `hotspots` by type or shape, `communication` and `advise` profile at Level1.",
        "no-metrics": "For what bounds operators profile with aic_metrics=PipeUtilization.",
        "recording-overhead": "Compare only with captures that recorded the same; for times of the host switch it off.",
    }
)
