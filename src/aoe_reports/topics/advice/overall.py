"""Rules on whole steps: where to look first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aoe_reports.facts.bounds import StepShares
from aoe_reports.model.arrays.columns import codes
from aoe_reports.model.documents import Json
from aoe_reports.model.texts import N_, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.advice.advice import Advice, Evidence, Facts, Rule, microseconds
from aoe_reports.topics.advice.communicating import slow_calls_of
from aoe_reports.topics.advice.thresholds import Thresholds

_NAMED = 3
"""How many examples evidence names."""


def headline(shares: StepShares, advice: Sequence[Advice]) -> str:
    """What the steps of a device went on, in one sentence, and where to look first."""
    computing = shares.share(shares.computing_ns)
    if computing is None:
        return _OF_MEMORY if shares.source == "memory" else _WITHOUT_STEPS
    if shares.free_ns is None:
        return say(
            "computing takes {computing} of the step; how much of the rest is communication is not known",
            computing=_percent(computing),
        )
    communication = shares.share(shares.communication_not_overlapped_ns) or 0.0
    free = shares.share(shares.free_ns) or 0.0
    largest = max(communication, free)
    said = say(
        _PARTS[communication >= free, largest > computing], computing=_percent(computing), share=_percent(largest)
    )
    explained = _explained(shares, advice, said) if communication >= free else None
    if explained is not None:
        return explained
    if largest > computing:
        return say("{parts}: look at the former first", parts=said)
    if not advice:
        return say("{parts}: computing has the largest share, and no particular problem was found", parts=said)
    return say("{parts}: computing has the largest share; look at its operators first", parts=said)


_OF_MEMORY = say("only memory was recorded: effects are bytes, and no time is known")
_WITHOUT_STEPS = say(
    "the duration of a step is not known (no step table, no task times): bounds are based on the operators' own time"
)
_PARTS = N_(
    {
        (True, True): "communication that is not overlapped takes {share} of the step; computing takes {computing}",
        (True, False): "computing takes {computing} of the step; communication that is not overlapped takes {share}",
        (False, True): "free time takes {share} of the step; computing takes {computing}",
        (False, False): "computing takes {computing} of the step; free time takes {share}",
    }
)
"""By whether there is more communication than free time, and whether there is more of that than of computing: the largest first."""


def _explained(shares: StepShares, advice: Sequence[Advice], said: str) -> str | None:
    """The same where single calls, or a rank that was not captured, explain most of the communication; None where nothing does."""
    whole_ns = shares.communication_not_overlapped_ns or 0
    slow = next((one for one in advice if one.rule == "slow-call"), None)
    if slow is not None and (slow.saving_ns or 0) * 2 > whole_ns:
        return say(
            "{parts}; most of the communication is single calls: {call} takes {times} times as long as the median of its type",
            parts=said,
            call=slow.op_name or slow.op_type,
            times=f"{slow.evidence['times_median']:,.0f}",
        )
    absent = next((one.evidence for one in advice if "absent_rank" in one.evidence), None)
    if absent is not None:
        (waited, whole), unit = times_in_one_unit(*(_ns(absent[name]) for name in ("waited_us", "communication_us")))
        rank, number, group = (absent[name] for name in ("absent_rank", "number_in_group", "group"))
        if rank is None and number is not None:
            from aoe_reports.topics.communication.words import number_in_group

            rank = number_in_group(str(number), None if group is None else str(group))
        return say(
            "{parts}: {waited} of {whole} {unit} of the communication is waiting for a rank that was not captured"
            if rank is None
            else "{parts}: {waited} of {whole} {unit} of the communication is waiting for rank {rank}, which was not captured",
            parts=said,
            waited=waited,
            whole=whole,
            unit=unit,
            rank=rank,
        )
    return None


def _ns(us: Json) -> float:
    return us * 1e3 if isinstance(us, int | float) else 0.0


def _percent(part: float) -> str:
    return f"{part:.1%}"


def _said(facts: Facts) -> Evidence:
    shares = facts.shares
    parts = {
        "computing_share": shares.computing_ns,
        "communication_not_overlapped_share": shares.communication_not_overlapped_ns,
        "overlapped_share": shares.overlapped_ns,
        "free_share": shares.free_ns,
    }
    return {
        "step_us": None if shares.step_us is None else round(shares.step_us, 3),
        **{name: None if (part := shares.share(ns)) is None else round(part, 6) for name, ns in parts.items()},
        "steps": shares.steps,
        "source": shares.source,
    }


def _communication(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    uncovered = facts.shares.communication_not_overlapped_ns
    if uncovered is not None:  # what single calls explain is advised on by itself
        slow_ns = sum(one.excess_ns for one in slow_calls_of(facts, thresholds))
        uncovered = max(0, uncovered - slow_ns)
    part = facts.shares.share(uncovered)
    if uncovered is None or part is None or part < thresholds.least_step_share:
        return []
    text = say(
        "Communication blocks the step: overlap it with computing (smaller buckets, gradients sent during the "
        "backward pass), send less data, or find the rank or link that the others wait for"
    )
    return [Advice("communication-not-overlapped", _said(facts), text, uncovered)]


def _free(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    free = facts.shares.free_ns
    part = facts.shares.share(free)
    if free is None or part is None or part < thresholds.least_step_share:
        return []
    gap = _longest_gap(facts)
    evidence: Evidence = {**_said(facts), **gap}
    text = say(
        "The device has nothing to do: the host launches late (data loading, Python, synchronising calls, "
        "compilation of new shapes); `host` divides this time by what the host did and names the calls"
    )
    if gap.get("cause_of_longest_gap") == "waiting for an event":
        text = say(
            "In the longest gap a stream waits for an event (EVENT_WAIT, NOTIFY_WAIT), not for the host: `critical-path` names "
            "the task of another stream that it waits for, `host` divides all of this time by cause"
        )
    after = gap.get("task_behind_longest_gap")
    return [Advice("free-time", evidence, text, free, op_name=after if isinstance(after, str) else None)]


def _longest_gap(facts: Facts) -> Evidence:
    """The longest time without a task; of gaps between the tasks of a table only the task behind is known."""
    if facts.gaps and facts.gaps[0].free_ns:
        gap = facts.gaps[0]
        return {
            "longest_gap_us": microseconds(gap.free_ns),
            "task_before_longest_gap": gap.before,
            "task_behind_longest_gap": gap.after,
            "cause_of_longest_gap": gap.cause,
        }
    idle, tasks = facts.idle_ns, facts.tasks
    if idle is None or tasks is None or "op_name" not in tasks.column_names or not idle.any():
        return {}
    longest = int(idle.max())
    numbers, words = codes(tasks["op_name"])
    names = sorted({words[number - 1] for number in numbers[idle == longest] if number})
    return {"longest_gap_us": microseconds(longest), "task_behind_longest_gap": names[0] if names else None}


def _slow_rank(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    """The rank that has most to do by itself: the others wait for it in communication."""
    known = [rank for rank in facts.ranks if rank.free_ns is not None and rank.step_ns and rank.rank_id is not None]
    if len(known) < 2:  # noqa: PLR2004 -- one rank is not slower than any
        return []
    own = {rank.rank_id: (rank.computing_ns + (rank.free_ns or 0)) / rank.steps for rank in known}
    slowest = max(sorted(own, key=lambda rank: rank or 0), key=lambda rank: own[rank])
    least = min(own.values())
    apart = own[slowest] - least
    if facts.shares.rank_id != slowest or not facts.shares.step_ns:
        return []
    part = apart / (facts.shares.step_ns / facts.shares.steps)
    if part < thresholds.least_step_share:
        return []
    others = float(np.median(sorted(own.values())))
    evidence = {
        "rank_id": slowest,
        "computing_and_free_us": microseconds(own[slowest]),
        "least_of_all_ranks_us": microseconds(least),
        "median_of_all_ranks_us": microseconds(others),
        "ranks": len(own),
        "source": facts.shares.source,
    }
    text = say(
        "The other ranks wait for this one in their communication: compare its operators and its gaps "
        "with another rank's"
    )
    return [Advice("slow-rank", evidence, text, int(apart * facts.shares.steps))]


OVERALL_RULES = (
    Rule(
        "communication-not-overlapped",
        say("communication not overlapped by computing"),
        "While only communication runs, the cores are idle; no operator that is made faster changes that",
        "torch_npu: step_trace_time, Communication(Not Overlapped)",
        ("least_step_share",),
        _communication,
    ),
    Rule(
        "free-time",
        say("the device neither computes nor communicates"),
        "Free time is the host's: faster operators make it longer, not the step shorter",
        "torch_npu: step_trace_time, Free",
        ("least_step_share",),
        _free,
    ),
    Rule(
        "slow-rank",
        say("one rank has more work than the others"),
        "Collective communication ends when its last rank has come: what one rank takes longer all ranks wait",
        say("CANN 6.0.RC1, msprof export summary: slow nodes (atlasprofiling_16_0139)"),
        ("least_step_share",),
        _slow_rank,
    ),
)
