"""Rules on communication: the link and the rank that keep the others waiting, all-reduce behind the backward pass, packets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.model.arrays.columns import Ints, codes, exact_sum, has_value, integers
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import say
from aoe_reports.model.topics.communication import AwaitedRank, Link
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.advice.advice import Advice, Evidence, Facts, Rule, microseconds
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.communication.packets import LOST_SHARE, RESENT_NS, small_packets

_LINKS = 3
"""So many slow links are named; `communication` lists all."""


def _slow_calls(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    """Single calls that take many times what others of their type take: what matters before any overlapping."""
    rows = []
    for calls in slow_calls_of(facts, thresholds):
        saving = _within_uncovered(facts, calls.excess_ns)
        evidence = {
            "call": calls.name,
            "step": calls.step,
            "place": calls.place,
            "duration_us": microseconds(calls.duration_ns),
            "median_us": microseconds(calls.median_ns),
            "times_median": round(calls.times, 1),
            "slower_calls": calls.slow,
            "calls": calls.calls,
            "share_of_communication": share_or_zero(saving, facts.shares.communication_not_overlapped_ns or 0),
        }
        rows.append(Advice("slow-call", evidence, _SLOW_CALL, saving, op_type=calls.op_type, op_name=calls.name))
    return rows


_SLOW_CALL = say(
    "Single calls take many times as long as the others of their type: find out what happened then, before you overlap "
    "communication (a rank that came late, packets that were sent again, a group that was set up, or a call that sends far more)"
)


@dataclass(frozen=True, slots=True)
class SlowCalls:
    """The slow calls of one type of communication operator on one device; times in ns."""

    op_type: str | None
    calls: int
    """All calls of the type."""
    slow: int
    median_ns: float
    excess_ns: int
    """What the slow ones take above the median, together."""
    name: str | None
    """The name of the slowest call."""
    step: int | None
    place: int | None
    """Its number among the calls of its type in the step (without steps: in the capture), from 1."""
    duration_ns: int

    @property
    def times(self) -> float:
        """The duration of the slowest call divided by the median."""
        return self.duration_ns / self.median_ns


def slow_calls_of(facts: Facts, thresholds: Thresholds) -> list[SlowCalls]:
    """The few calls of each type that take many times its median and a notable part of the steps, the largest excess first."""
    tasks = facts.tasks
    if tasks is None or "task_type" not in tasks.column_names or "op_type" not in tasks.column_names:
        return []
    least_ns = max(thresholds.least_step_share * (facts.shares.step_ns or 0), 1)
    communicating = np.flatnonzero(is_communication(tasks["task_type"]))
    numbers, words = codes(tasks["op_type"])
    durations, _ = integers(tasks["task_duration_ns"])
    types = []
    for number in np.unique(numbers[communicating]).tolist():
        rows = communicating[numbers[communicating] == number]
        median = float(np.median(durations[rows])) if len(rows) >= thresholds.least_alike else 0.0
        slow = rows[durations[rows] >= thresholds.slow_call_times * median] if median else rows[:0]
        if 0 < len(slow) <= thresholds.odd_shape_share * len(rows):
            op_type = words[number - 1] if number else None
            calls = _slow_calls_of_type(tasks, op_type, rows, slow, median, durations)
            if _within_uncovered(facts, calls.excess_ns) >= least_ns:
                types.append(calls)
    return sorted(types, key=lambda calls: -calls.excess_ns)


def _slow_calls_of_type(
    tasks: pa.Table, op_type: str | None, rows: Ints, slow: Ints, median: float, durations: Ints
) -> SlowCalls:
    slowest = int(slow[durations[slow].argmax()])
    task_steps = step_of_tasks(tasks)
    step = -1 if task_steps is None else int(task_steps[1][slowest])
    beside = rows if step < 0 or task_steps is None else rows[task_steps[1][rows] == step]
    place = None
    if has_value(tasks, "task_start_ns"):
        starts, _ = integers(tasks["task_start_ns"])
        place = int((starts[beside] < starts[slowest]).sum()) + 1
    return SlowCalls(
        op_type=op_type,
        calls=len(rows),
        slow=len(slow),
        median_ns=median,
        excess_ns=exact_sum(durations[slow]) - round(median * len(slow)),
        name=tasks["op_name"][slowest].as_py() if "op_name" in tasks.column_names else None,
        step=step if step >= 0 else None,
        place=place,
        duration_ns=int(durations[slowest]),
    )


def _slow_links(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    del thresholds  # of the run: links are looked at where communication takes a part of the step at all
    slow = [link for link in facts.links if link.slow]
    return [_slow_link(facts, link) for link in slow[:_LINKS]]


def _slow_link(facts: Facts, link: Link) -> Advice:
    evidence = {
        "group": link.group,
        "source_rank": link.source_rank,
        "destination_rank": link.destination_rank,
        "transport": link.transport,
        "bandwidth_gb_per_s": None if link.bandwidth_gb_per_s is None else round(link.bandwidth_gb_per_s, 3),
        "relative_bandwidth": None
        if link.relative_bandwidth_ratio is None
        else round(link.relative_bandwidth_ratio, 4),
        "lost_us": microseconds(link.lost_ns or 0),
        "out_of_line_in": link.slow_in,
        "comparisons": link.compared,
    }
    text = say(
        "This link is slower than comparable links: check the card, the cable or the switch port at its ends, "
        "and what else uses them"
    )
    return Advice("slow-link", evidence, text, _within_uncovered(facts, link.lost_ns or 0))


def _awaited_ranks(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    shortest = int((facts.shares.step_ns or 0) * thresholds.least_step_share)
    found = []
    for one in facts.awaited:
        saving = _within_uncovered(facts, one.longest_ns)
        if one.slow and saving >= shortest:
            text = _AWAITED_ABSENT if one.is_absent else _AWAITED
            found.append(Advice("awaited-rank", _evidence_of(one), text, saving))
    return found


_AWAITED = say(
    "The others wait for this rank before they send: compare its operators and its gaps with "
    "another rank's (uneven data, a slower host, a lower frequency)"
)


_AWAITED_ABSENT = say(
    "This rank waits for one that was not captured: capture that one, too, and compare its operators and its gaps"
)


def _evidence_of(rank: AwaitedRank) -> Evidence:
    return {
        "group": rank.group,
        "awaited_rank": rank.rank,
        "number_in_group": rank.number,
        "operators": rank.operators,
        "of_operators": rank.of_operators,
        "waited_us": microseconds(rank.waited_ns),
        "longest_waited_us": microseconds(rank.longest_ns),
        "always_the_same": rank.is_always_the_same if rank.of_operators > 1 else None,
    }


def _gradient_tail(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    whole = sum(tail.iteration_ns for tail in facts.tails)
    bound = sum(tail.bound_ns for tail in facts.tails)
    if not whole or bound < whole * thresholds.least_step_share:
        return []
    iterations = len(facts.tails)
    evidence: Evidence = {
        "iterations": iterations,
        "iteration_us": microseconds(whole / iterations),
        "all_reduce_us": microseconds(sum(tail.reduce_ns for tail in facts.tails) / iterations),
        "hidden_us": microseconds(sum(tail.hidden_ns for tail in facts.tails) / iterations),
        "tail_us": microseconds(sum(tail.tail_ns for tail in facts.tails) / iterations),
        "source": facts.tails[0].source,
    }
    text = say(
        "All-reduce continues after the end of the backward pass: gradient tuning (AOE_MODE=4) chooses segments "
        "so that more of it overlaps the backward pass; `communication --bank` shows the segments of a bank"
    )
    return [Advice("gradient-tail", evidence, text, bound * facts.shares.steps // iterations)]


def _small_packets(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    shortest = int((facts.shares.step_ns or 0) * thresholds.least_step_share)
    found = []
    for small, fast in small_packets(facts.packets):
        over_links = sum(packet.transit_ns for packet in facts.packets if packet.transport == small.transport)
        saving = _within_uncovered(facts, (small.lost_ns or 0) * min(facts.transit_ns, over_links) // over_links)
        if saving >= shortest:
            evidence = {
                "transport": small.transport,
                "below_bytes": small.most_bytes,
                "packets": small.packets,
                "bytes_share": round(small.bytes_share or 0.0, 6),
                "time_share": round(small.time_share or 0.0, 6),
                "bandwidth_gb_per_s": round(small.gb_per_s or 0.0, 3),
                "fastest_gb_per_s": round(fast.gb_per_s or 0.0, 3),
            }
            found.append(Advice("small-packets", evidence, _LARGER, saving))
    return found


_LARGER = say(
    "Small packets do not reach the rate of larger ones over the same transport: send larger buckets (bucket_cap_mb of "
    "DistributedDataParallel), accumulate gradients, or join collectives"
)


def _resent(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    del thresholds  # 4 s are always too long
    text = say(
        "RDMA packets were lost and sent again after a timeout: look at the switch, the optical modules and the network card, and at "
        "what else uses the network"
    )
    return [
        Advice(
            "rdma-retransmission",
            {"group": operator.group, "operator": operator.op_name, "rdma_us": microseconds(transfer.transit_ns)},
            text,
            _within_uncovered(facts, transfer.transit_ns),
        )
        for operator, transfer in facts.resent[:_LINKS]
    ]


def _within_uncovered(facts: Facts, ns: int) -> int:
    """What communication that ends earlier can save: no more than nothing is computed beside."""
    uncovered = facts.shares.communication_not_overlapped_ns
    return ns if uncovered is None else min(ns, uncovered)


COMMUNICATING_RULES = (
    Rule(
        "slow-call",
        say("single communication operators that take many times as long as others of their type"),
        "One call that waits, or is sent again, may take longer than all others together; overlapping hides none of its cause",
        "own choice",
        ("slow_call_times", "least_alike", "odd_shape_share", "least_step_share"),
        _slow_calls,
    ),
    Rule(
        "slow-link",
        say("a link that is slower than other links with the same work"),
        "A collective operator is as fast as its slowest link",
        say(
            "same as `communication`: below 80% of the bandwidth of comparable links in more than half of the "
            "comparisons (Ascend/msprof-analyze: slow link)"
        ),
        ("least_step_share",),
        _slow_links,
    ),
    Rule(
        "awaited-rank",
        say("a rank that the others wait for before they send"),
        "Collective communication begins when its last rank has come",
        say(
            "same as `communication`: in more than half of the operators, for more than half of the time "
            "(Ascend/msprof-analyze: slow rank)"
        ),
        ("least_step_share",),
        _awaited_ranks,
    ),
    Rule(
        "gradient-tail",
        say("all-reduce after the backward pass"),
        "What is reduced while the backward pass still computes costs nothing",
        say("AOE: gradient tuning (GDAT); step_trace: BP End, reduces"),
        ("least_step_share",),
        _gradient_tail,
    ),
    Rule(
        "small-packets",
        say("packets that are too small for the rate of their transport"),
        "A packet takes time to start, whatever its size",
        say(
            "same as `communication`: at least {share:.0%} of the time of a transport longer than at the rate of larger packets "
            "(Ascend/msprof-analyze, advisor: packets, by fixed limits)",
            share=LOST_SHARE,
        ),
        ("least_step_share",),
        _small_packets,
    ),
    Rule(
        "rdma-retransmission",
        say("RDMA packets that were sent again"),
        "A lost packet is sent again after a timeout of seconds",
        say(
            "same as `communication`: longer than {seconds} s on every rank (Ascend/msprof-analyze, advisor: retransmission)",
            seconds=RESENT_NS // 10**9,
        ),
        (),
        _resent,
    ),
)
