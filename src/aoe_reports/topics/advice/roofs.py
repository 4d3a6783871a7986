"""Rules on how near operators come to what the chip can do, and on computing that slows down beside communication."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aoe_reports.facts.bounds import STATES, OperatorBounds, State, cap_saving
from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.documents import Json
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import say
from aoe_reports.topics.advice.advice import MAX_ROWS, Advice, Facts, Rule, microseconds, tuned
from aoe_reports.topics.advice.computing import CONVERSIONS
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.communication.contention import MIN_CALLS
from aoe_reports.topics.roofline.facts import NEAR, RoofBound, Roofed

_FAR: dict[RoofBound | None, str] = {
    "compute": say(
        "More computing than moving data, and far from the peak: try a tuned tiling (AOE), or aligned shapes (multiples of 16); a smaller data type "
        "has a higher peak and may gain more than this bound"
    ),
    "memory": say(
        "It moves more than it computes, and slower than the memory can: try a tuned tiling (AOE), or larger contiguous blocks; fused with its "
        "neighbours it moves less and may gain more than this bound"
    ),
    "cache": say(
        "A cache holds a part of what it reads, and it is far from the peak all the same: try a tuned tiling (AOE) that keeps more in cache"
    ),
    "small": say(
        "Each call is so short that neither computing nor memory bounds it, but starting it: fuse it with its neighbours, launch a graph, or give it "
        "more work at once; tuning gains little"
    ),
    None: say("Neither computing nor memory bounds it as far as is known: look at its tiling and at its counters"),
}

_TUNED: frozenset[RoofBound] = frozenset({"compute", "memory", "cache"})
"""The bounds for which a tuned tiling is what to try."""


def _far(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Operators far from the roof, as far as it is certain, those first that could gain most."""
    for one, saving in _known(facts, thresholds):
        if (one.roof_share or 0.0) < NEAR and (one.words[0] or "").casefold() not in CONVERSIONS:
            text = (
                tuned(_FAR[one.bound], _state(facts, one), _name(facts, one))
                if one.bound in _TUNED
                else _FAR[one.bound]
            )
            yield _advice(facts, "far-from-roof", one, saving, text)


def _near(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    """Operators that stand so near the roof that tuning them does not pay."""
    text = say(
        "It reaches most of what the chip can do: tuning it gains no more than this bound and will not pay; doing less of it (fusing, caching, a "
        "smaller data type) may"
    )
    least = thresholds.repeated_share * facts.shares.computing_ns
    if facts.roof is None:
        return
    for one in [one for one in facts.roof.known if one.total_ns >= least][:MAX_ROWS]:
        if one.is_near:
            yield _advice(facts, "near-roof", one, _saving(one), text)


def _known(facts: Facts, thresholds: Thresholds) -> list[tuple[Roofed, int]]:
    """The operators whose roof is known and which are worth a row, each with what it would gain at its roof."""
    if facts.roof is None:
        return []
    least = thresholds.least_operator_share * facts.shares.computing_ns
    found = [(one, _saving(one)) for one in facts.roof.known if one.roof_share is not None and not one.is_above]
    return sorted((pair for pair in found if pair[1] and pair[1] >= least), key=lambda pair: -pair[1])[:MAX_ROWS]


def _saving(one: Roofed) -> int:
    """The time above that at the roof, of which only what is certain counts: an upper bound; of short calls, which are fused, all."""
    if one.bound == "small":
        return one.total_ns
    return round(one.total_ns * max(1.0 - (one.least_share or 0.0), 0.0))


def _advice(facts: Facts, rule: str, one: Roofed, saving: int, text: str) -> Advice:
    peaks = facts.roof.peaks if facts.roof is not None else None
    evidence: dict[str, Json] = {
        "share_of_roof": _rounded(one.roof_share),
        "share_of_compute_peak": _rounded(one.compute_share),
        "share_of_bandwidth": _rounded(one.memory_share),
        "bounded_by": one.bound,
        "mean_us": microseconds(one.mean_ns),
        "chip": None if peaks is None else peaks.chip,
        "source": facts.table,
    }
    return Advice(
        rule=rule,
        evidence=evidence,
        advice=text,
        saving_ns=cap_saving(saving, facts.shares),
        op_type=one.words[0],
        op_name=_name(facts, one),
        input_shapes=one.words[2],
        count=one.count,
        total_ns=one.total_ns,
    )


def _name(facts: Facts, one: Roofed) -> str | None:
    """The name of the longest of the operators with the same type and shapes; null where there is none."""
    bounds = facts.bounds
    if bounds is None:
        return None
    names = [
        (-int(bounds.total_ns[group]), bounds.key(group, "op_name") or "") for group in _groups(bounds, one).tolist()
    ]
    return min(names)[1] or None if names else None


def _state(facts: Facts, one: Roofed) -> State:
    """Whether the shapes of the operators with the same type and shapes are known before the run."""
    bounds = facts.bounds
    if bounds is None:
        return "unknown"
    states = {STATES[number] for number in bounds.state[_groups(bounds, one)].tolist()}
    return states.pop() if len(states) == 1 else "mixed" if "dynamic" in states else "unknown"


def _groups(bounds: OperatorBounds, one: Roofed) -> Ints:
    chosen = np.ones(len(bounds.count), dtype=bool)
    for name, word in zip(("op_type", "task_type", "input_shapes"), one.words[:3], strict=True):
        numbers, words = bounds.key_codes(name)
        chosen &= numbers == (0 if word is None else words.index(word) + 1 if word in words else -1)
    return np.flatnonzero(chosen)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _contended(facts: Facts, thresholds: Thresholds) -> list[Advice]:
    """Computing that takes longer while communication runs."""
    found = facts.contention
    if (
        found is None
        or not found.lost_ns
        or found.lost_ns < thresholds.least_operator_share * facts.shares.computing_ns
    ):
        return []
    worst = found.operators[0]
    evidence: dict[str, Json] = {
        "lost_us": microseconds(found.lost_ns),
        "slower_operators": found.slower,
        "share_beside_communication": share_or_zero(found.beside_ns, found.computing_ns),
        "alone_median_us": microseconds(worst.alone_median_ns),
        "beside_median_us": microseconds(worst.beside_median_ns),
        "calls_beside": worst.beside,
        "source": facts.table,
    }
    text = say(
        "Kernels share memory with collectives that run beside them: move collectives beside operators that need little of it, change how HCCL runs "
        "them (HCCL_OP_EXPANSION_MODE, HCCL_ALGO), or use larger buckets"
    )
    return [
        Advice(
            "contention",
            evidence,
            text,
            cap_saving(found.lost_ns, facts.shares),
            op_type=worst.op_type,
            op_name=worst.op_name,
        )
    ]


ROOF_RULES = (
    Rule(
        "far-from-roof",
        say("an operator that is far from what the chip can do"),
        "What is computed, and what is moved, takes a certain time at the peaks of the chip; the rest can be gained",
        say("same as `roofline`: FLOPs and bytes by formula, peaks of CANN's platform_config"),
        ("least_operator_share",),
        _far,
    ),
    Rule(
        "near-roof",
        say("an operator that reaches at least {share:.0%} of what the chip can do", share=NEAR),
        "No tiling is faster than the peaks of the chip",
        say("same as `roofline`: FLOPs and bytes by formula, peaks of CANN's platform_config"),
        ("repeated_share",),
        _near,
    ),
    Rule(
        "contention",
        say("operators that are slower beside communication"),
        "Collectives read and write the memory that kernels need",
        say(
            "same as `communication --contention`: medians of at least {least} calls each (Ascend/msinsight: BandwidthContentionAnalyzer)",
            least=MIN_CALLS,
        ),
        ("least_operator_share", "least_step_share"),
        _contended,
    ),
)
