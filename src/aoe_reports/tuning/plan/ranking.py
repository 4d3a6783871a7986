"""What is worth tuning: operators ranked by what a step could get shorter per second of tuning, the rest with a reason.

An operator is expected to save its prior share of the time in which it alone keeps the step waiting: what communication or
another operator runs beside is not gained, nor is idle time. No saving exceeds the bounds of the operator and of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from aoe_reports.facts.bounds import ACLNN, BOUNDS, STATES, OperatorBounds, StepShares, cap_saving
from aoe_reports.formats.aoe.operators import is_dumped, is_tunable
from aoe_reports.model.arrays.columns import Ints, Mask, codes, distinct, exact_sum, has_value, integers, keep_where
from aoe_reports.model.arrays.intervals import Intervals, union
from aoe_reports.model.shares import rounded
from aoe_reports.model.texts import Text, join, say
from aoe_reports.stats.grouping import is_communication
from aoe_reports.tuning.options import PlanOptions
from aoe_reports.tuning.plan.measured import PathBounds
from aoe_reports.tuning.plan.plan import Candidate, Rejected
from aoe_reports.tuning.plan.prior import KnownOperators, Prior, Priors

CORE_TASKS = frozenset({"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "KERNEL_AICORE", "KERNEL_AIVEC"})
"""Task types of what runs on AI Core and vector core; AOE tunes nothing else."""

RANKED_BY = ("task_type", "op_type", "task_start_ns", "task_duration_ns")
"""The columns of tasks that ranking looks at beside the bounds of operators."""

Why = Literal[
    "communication", "ai-cpu", "not-ai-core", "dynamic-shape", "unknown-shape", "unknown-type", "unknown-name", "aclnn",
    "type-not-tunable", "banked", "failed-before", "near-roof", "overlapped", "below-threshold", "beyond-top", "beyond-budget", "after-subgraphs",
    "subgraphs-first",
]  # fmt: skip

REASONS: dict[Why, str] = {
    "communication": say("AOE does not tune the operators that perform communication"),
    "ai-cpu": say("it runs on the AI CPU; AOE tunes AI Core and vector core operators"),
    "not-ai-core": say("it runs neither on AI Core nor on vector core"),
    "dynamic-shape": say("its shape is dynamic; AOE tunes static shapes only"),
    "unknown-shape": say(
        "the export does not record whether its shape is static (--assume-static treats it as static)"
    ),
    "unknown-type": say("the export does not contain its type"),
    "unknown-name": say("the export does not contain its name"),
    "aclnn": say("it runs through aclnn; torch_npu dumps no graph of it for AOE"),
    "type-not-tunable": say("torch_npu dumps no graphs of this type for AOE"),
    "banked": say("it is in a bank; AOE skips it (--repeat-tune tunes it again)"),
    "failed-before": say("its earlier tuning failed"),
    "near-roof": say("it reaches 80% or more of what the chip can do (see `roofline`); tuning can gain little"),
    "overlapped": say("it runs in parallel with other work, so less than --min-share of the step waits for it"),
    "below-threshold": say("it takes less than --min-share of the step"),
    "beyond-top": say("it ranks below the --top candidates"),
    "beyond-budget": say("tuning it would exceed --budget"),
    "after-subgraphs": say("operators are chosen from the profile after subgraph tuning (plan --after)"),
    "subgraphs-first": say("subgraphs are tuned, not operators"),
}
"""Why an operator is not to be tuned, in the words of the plan."""

_ORDER: tuple[Why, ...] = tuple(REASONS)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in order, what is left out, and types of which nobody has documented that AOE tunes them."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    undocumented: tuple[str, ...] = ()
    in_bank: tuple[str, ...] = ()
    """Types of candidates of which the bank has entries, of which shapes it does not say."""


@dataclass(frozen=True, slots=True)
class _Classes:
    bounds: OperatorBounds
    first: Ints
    """One operator of each class, for its words."""
    why: Ints
    """Place of the reason in _ORDER, -1 for none."""
    count: Ints
    total: Ints
    saving: Ints
    exposed: Any
    shapes: Ints
    """How many operators (shapes) are one class."""
    unbounded: Ints
    """How many of them have no known bound: no counter says what they need, and `saving` is all of their time."""


def exposed_times(frame: pa.Table, bounds: OperatorBounds, shares: StepShares) -> Any:
    """The time of each operator (ns) in which it alone keeps the step waiting; float64, one an operator.

    What communication runs beside is counted task by task where tasks tell when they ran, else every operator has the
    same part of it; operators that run beside each other share the time that they take together.
    """
    durations, _ = integers(bounds.tasks["task_duration_ns"])
    alone = durations
    if "task_type" in frame.column_names and has_value(frame, "task_start_ns"):
        starts, there = integers(frame["task_start_ns"])
        lengths, _ = integers(frame["task_duration_ns"])
        talking = is_communication(frame["task_type"])
        if there.all() and talking.any():
            busy = union(starts[talking], starts[talking] + lengths[talking])
            alone = durations - _inside(integers(bounds.tasks["task_start_ns"])[0], durations, busy)
    exposed = bounds.sums(alone).astype(np.float64)
    whole, limit = float(exposed.sum()), float(shares.bound_saving_ns)
    return exposed * min(1.0, limit / whole) if whole > 0 else exposed


def _inside(starts: Ints, durations: Ints, busy: Intervals) -> Ints:
    begins, ends = busy.starts, busy.ends
    before = np.concatenate([[0], np.cumsum(ends - begins)])

    def covered(times: Ints) -> Ints:
        place = np.searchsorted(begins, times, side="right")
        last = np.maximum(place - 1, 0)
        within: Ints = np.where(place > 0, np.minimum(times, ends[last]) - begins[last], 0)
        total: Ints = before[last] * (place > 0) + within
        return total

    found = np.zeros(len(starts), dtype=np.int64)
    for first in range(0, len(starts), _AT_ONCE):  # what stands between is eight times as large as the result
        some = slice(first, first + _AT_ONCE)
        found[some] = covered(starts[some] + durations[some]) - covered(starts[some])
    return found


_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Measured:
    """One device: its tasks, what its operators are bounded by, their `exposed_times`, where its steps went."""

    frame: pa.Table
    bounds: OperatorBounds | None
    exposed: Any
    shares: StepShares
    paths: PathBounds | None = None
    """What the critical paths of its steps give up, where a timeline tells."""
    near_roof: Mask | None = None
    """Which operators reach so much of what the chip can do that little is to be gained; null where that is not known."""


def rank_operators(device: Measured, options: PlanOptions, known: KnownOperators, priors: Priors) -> Ranking:
    """The plan's candidates and what it leaves out."""
    bounds, shares = device.bounds, device.shares
    spoken = sorted(_communication(device.frame, shares), key=_rejection_order)
    if bounds is None or options.mode == "gdat":
        return Ranking((), tuple(spoken))
    classes = _classes(bounds, device.exposed, _reasons(device, bounds, options, known))
    least = options.min_share * (shares.step_ns or shares.computing_ns)
    if options.mode in {"sgat", "both"}:
        return _subgraphs(classes, shares, options, priors, spoken, least)
    chosen, rejected = _chosen(classes, device, options, priors, least=least)
    types = sorted({candidate.op_type for candidate in chosen if candidate.op_type})
    return Ranking(
        tuple(chosen),
        tuple(sorted([*_left_out(classes, known, least), *rejected, *spoken], key=_rejection_order)),
        tuple(one for one in types if not is_tunable(one)),
        tuple(one for one in types if known.bank_types.get(one)) if not options.repeat_tune else (),
    )


def _chosen(
    classes: _Classes, device: Measured, options: PlanOptions, priors: Priors, *, least: float
) -> tuple[list[Candidate], list[Rejected]]:
    """(operators worth tuning, operators that could be tuned but are not worth it or exceed the budget)."""
    whole_types = options.scenario == "pytorch"
    groups, members = _merged(classes, np.flatnonzero(classes.why < 0), whole_types=whole_types)
    small = groups.total < least
    hidden = ~small & (groups.exposed < least)
    worth = np.flatnonzero(~small & ~hidden).tolist()
    found = [_candidate(groups, i, device, priors, by_type=whole_types) for i in worth]
    chosen, left = _within(sorted(found, key=_order), options)
    rejected = [
        Rejected(op_name=c.op_name, op_type=c.op_type, total_us=c.total_us, reason=_because_of(why)) for c, why in left
    ]
    rejected += [one for i in np.flatnonzero(hidden) for one in _summed(classes, members[i], "overlapped")]
    rejected += _summed(classes, [m for i in np.flatnonzero(small) for m in members[i]], "below-threshold")
    return chosen, rejected


def _order(candidate: Candidate) -> tuple[Any, ...]:
    """Largest saving of a step per second of tuning first."""
    saving, cost = candidate.expected_saving_us or 0.0, candidate.cost_s or 1.0
    return (-saving / cost, -saving, candidate.op_type or "", candidate.op_name or "")


def _rejection_order(one: Rejected) -> tuple[Any, ...]:
    return (-(one.total_us or 0.0), one.op_type or "", one.op_name or "", one.reason or "")


def _because_of(why: Why) -> Text:
    return say("{why}: {meaning}", why=why, meaning=REASONS[why])


def _communication(frame: pa.Table, shares: StepShares) -> list[Rejected]:
    if "task_type" in frame.column_names:
        talking = is_communication(frame["task_type"])
        if talking.any():
            spoken = frame.filter(keep_where(talking))
            durations, _ = integers(spoken["task_duration_ns"])
            numbers, words = (
                codes(spoken["op_type"]) if "op_type" in spoken.column_names else (np.zeros(len(durations), int), [])
            )
            return [
                Rejected(
                    op_type=words[number - 1] if number else None,
                    total_us=exact_sum(durations[numbers == number]) / 1000,
                    reason=_because_of("communication"),
                )
                for number in distinct(numbers).tolist()
            ]
    told = (shares.communication_not_overlapped_ns or 0) + (shares.overlapped_ns or 0)
    return [Rejected(total_us=told / 1000, reason=_because_of("communication"))] if told else []


def _reasons(device: Measured, bounds: OperatorBounds, options: PlanOptions, known: KnownOperators) -> Ints:
    """The first reason (place in _ORDER) against each operator, -1 for none."""
    why: Ints = np.full(bounds.names.count, -1, dtype=np.int64)

    def against(name: Why, mask: Mask) -> None:
        why[(why < 0) & mask] = _ORDER.index(name)

    cores = {word.upper() for word in CORE_TASKS}
    against("ai-cpu", _where(bounds, "task_type", lambda word: word.upper().startswith("AI_CPU")))
    against("not-ai-core", _where(bounds, "task_type", lambda word: word.upper() not in cores))
    if options.scenario == "pytorch":
        against("aclnn", _where(bounds, "op_name", lambda word: word.startswith(ACLNN)))
    against("dynamic-shape", (bounds.state == STATES.index("dynamic")) | (bounds.state == STATES.index("mixed")))
    if not options.assume_static:
        against("unknown-shape", bounds.state == STATES.index("unknown"))
    against("unknown-type", ~_where(bounds, "op_type", bool))
    if options.scenario == "pytorch":
        against("type-not-tunable", ~_where(bounds, "op_type", is_dumped))
    else:
        against("unknown-name", ~_where(bounds, "op_name", bool))
    if not options.repeat_tune:
        against("banked", _where(bounds, "op_name", known.banked.__contains__))
    against("failed-before", _where(bounds, "op_name", known.failed.__contains__))
    if device.near_roof is not None:
        against("near-roof", device.near_roof)
    return why


def _where(bounds: OperatorBounds, key: str, fits: Any) -> Mask:
    """The operators whose word under a key fits; never one without a word."""
    numbers, words = bounds.key_codes(key)
    mask = np.asarray([False, *(bool(fits(word)) for word in words)], dtype=bool)
    found: Mask = mask[numbers]
    return found


def _classes(bounds: OperatorBounds, exposed: Any, why: Ints) -> _Classes:
    alike, _ = bounds.alike(("op_type", "op_name"))
    mixed = alike * (len(_ORDER) + 1) + (why + 1)
    present, first, of = np.unique(mixed, return_index=True, return_inverse=True)
    size = len(present)
    unbounded = (bounds.bound == BOUNDS.index("unknown")) & (bounds.saving_ns >= bounds.total_ns)
    return _Classes(
        bounds=bounds,
        first=first.astype(np.int64),
        why=why[first],
        count=_added(bounds.count, of, size),
        total=_added(bounds.total_ns, of, size),
        saving=_added(bounds.saving_ns, of, size),
        exposed=np.bincount(of, weights=exposed, minlength=size),
        shapes=np.bincount(of, minlength=size).astype(np.int64),
        unbounded=_added(unbounded.astype(np.int64), of, size),
    )


def _added(values: Ints, of: Ints, size: int) -> Ints:
    sums: Ints = np.zeros(size, dtype=np.int64)
    np.add.at(sums, of, values)
    return sums


def _merged(classes: _Classes, chosen: Ints, *, whole_types: bool) -> tuple[_Classes, list[list[int]]]:
    """(classes, merged by type where required; the classes that each consists of)."""
    if not whole_types:
        return _some(classes, chosen), [[int(place)] for place in chosen]
    numbers, _ = classes.bounds.key_codes("op_type")
    of_type = numbers[classes.first[chosen]]
    present, of = np.unique(of_type, return_inverse=True)
    size = len(present)
    first = np.zeros(size, dtype=np.int64)
    first[of[::-1]] = classes.first[chosen][::-1]
    part = _some(classes, chosen)
    whole = _Classes(
        bounds=classes.bounds,
        first=first,
        why=np.full(size, -1),
        count=_added(part.count, of, size),
        total=_added(part.total, of, size),
        saving=_added(part.saving, of, size),
        exposed=np.bincount(of, weights=part.exposed, minlength=size),
        shapes=_added(part.shapes, of, size),
        unbounded=_added(part.unbounded, of, size),
    )
    return whole, [chosen[of == place].tolist() for place in range(size)]


def _some(classes: _Classes, chosen: Ints) -> _Classes:
    names = ("first", "why", "count", "total", "saving", "exposed", "shapes", "unbounded")
    return replace(classes, **{name: getattr(classes, name)[chosen] for name in names})


def _candidate(groups: _Classes, place: int, device: Measured, priors: Priors, *, by_type: bool) -> Candidate:
    bounds, shares, first = groups.bounds, device.shares, int(groups.first[place])
    op_type = bounds.key(first, "op_type") or ""
    prior = priors.of_type(op_type)
    total, exposed, shapes = int(groups.total[place]), float(groups.exposed[place]), int(groups.shapes[place])
    bound = cap_saving(int(groups.saving[place]), shares)
    op_name = None if by_type else bounds.key(first, "op_name")
    hoped = prior.saved_share * exposed
    expected = min(hoped, float(bound))
    path_us = _path_saving_us(device, op_type, op_name, bound, total)
    on_path = expected if path_us is None else min(expected, path_us * 1000 * shares.steps)
    one_shape = shapes == 1
    return Candidate(
        kind="operator",
        op_name=op_name,
        op_type=op_type,
        input_shapes=bounds.key(first, "input_shapes") if one_shape else None,
        input_data_types=bounds.only_word(first, "input_data_types") if one_shape else None,
        input_formats=bounds.only_word(first, "input_formats") if one_shape else None,
        output_data_types=bounds.only_word(first, "output_data_types") if one_shape else None,
        count=int(groups.count[place]),
        total_us=total / 1000,
        share=rounded(shares.share(min(total, shares.computing_ns))),
        bound_by=bounds.operator(first).bound_by if one_shape else None,
        bound_saving_us=None if groups.unbounded[place] else round(shares.per_step_us(bound), 3),
        path_saving_us=path_us,
        expected_saving_us=round(on_path / shares.steps / 1000, 3),
        prior=prior.as_document(),
        cost_s=round(priors.cost_s * shapes, 3),
        reason=_because(prior, total, exposed, bounded=expected < hoped, by_path=on_path < expected),
    )


def _path_saving_us(device: Measured, op_type: str, op_name: str | None, bound: int, total: int) -> float | None:
    """What the critical path of a step gets shorter by if an operator saves its bound; never more than the bound."""
    if device.paths is None:
        return None
    saved = device.paths.saving_ns(op_type, op_name, bound, total) / 1000
    return round(min(saved, device.shares.per_step_us(bound)), 3)


def _because(prior: Prior, total: int, exposed: float, *, bounded: bool, by_path: bool = False) -> Text:
    """Why so much is expected, in a sentence."""
    where = {
        "measured": say("measured earlier for operators of this type ({count} results)", count=prior.results),
        "claimed": say("claimed earlier by AOE for operators of this type ({count} results)", count=prior.results),
        "default": say("default: no result of its type is known"),
    }[prior.source]
    parts = [say("time saved {share:.1%} ({where})", share=prior.saved_share, where=where)]
    if total and exposed < (1 - _SLACK) * total:
        parts.append(say("{share:.0%} of its time overlaps other work", share=1 - exposed / total))
    if bounded:
        parts.append(say("limited to its bound"))
    if by_path:
        parts.append(say("limited to what the critical path gives up"))
    return join("; ", parts)


_SLACK = 0.005
"""Less is not worth a word: it is shown as 0 %."""


def _within(
    candidates: Sequence[Candidate], options: PlanOptions
) -> tuple[list[Candidate], list[tuple[Candidate, Why]]]:
    """(what fits into the requested number and time, what does not and why)."""
    chosen: list[Candidate] = []
    left: list[tuple[Candidate, Why]] = []
    spent = 0.0
    for candidate in candidates:
        cost = candidate.cost_s or 0.0
        if options.top is not None and len(chosen) >= options.top:
            left.append((candidate, "beyond-top"))
        elif options.budget_s is not None and spent + cost > options.budget_s:
            left.append((candidate, "beyond-budget"))
        else:
            chosen.append(candidate)
            spent += cost
    return chosen, left


def _left_out(classes: _Classes, known: KnownOperators, least: float) -> list[Rejected]:
    """Operators with a reason against them: large ones by name, the others summed by type and reason."""
    found = []
    rest: dict[Why, list[int]] = {}
    for number, why in enumerate(_ORDER):
        mine = np.flatnonzero(classes.why == number)
        if not len(mine):
            continue
        heavy = mine[classes.total[mine] >= least]
        for place in heavy.tolist():
            name = classes.bounds.key(int(classes.first[place]), "op_name")
            kind = classes.bounds.key(int(classes.first[place]), "op_type")
            source = (known.banked if why == "banked" else known.failed).get(name or "", "")
            reason = _because_of(why)
            if why in {"banked", "failed-before"} and source:
                reason = say("{why}: {meaning} ({source})", why=why, meaning=REASONS[why], source=source)
            found.append(Rejected(op_name=name, op_type=kind, total_us=int(classes.total[place]) / 1000, reason=reason))
        rest[why] = mine[classes.total[mine] < least].tolist()
    return [*found, *(one for why, places in rest.items() for one in _summed(classes, places, why))]


def _summed(classes: _Classes, places: Sequence[int], why: Why) -> list[Rejected]:
    """Operators of one reason summed by type; a single one keeps its name."""
    if not len(places):
        return []
    chosen = np.asarray(places, dtype=np.int64)
    numbers, words = classes.bounds.key_codes("op_type")
    of_type = numbers[classes.first[chosen]]
    found = []
    for number in distinct(of_type).tolist():
        mine = chosen[of_type == number]
        kind = words[number - 1] if number else None
        total = exact_sum(classes.total[mine]) / 1000
        if len(mine) == 1:
            name = classes.bounds.key(int(classes.first[mine[0]]), "op_name")
            found.append(Rejected(op_name=name, op_type=kind, total_us=total, reason=_because_of(why)))
        else:
            reason = say("{why}: {meaning} ({count} operators)", why=why, meaning=REASONS[why], count=len(mine))
            found.append(Rejected(op_type=kind, total_us=total, reason=reason))
    return found


def _subgraphs(
    classes: _Classes, shares: StepShares, options: PlanOptions, priors: Priors, spoken: list[Rejected], least: float
) -> Ranking:
    """Subgraph tuning is of the whole model; unsuitable operators are still listed one by one."""
    no_way = [_ORDER.index(why) for why in ("ai-cpu", "not-ai-core", "dynamic-shape", "unknown-shape")]
    inside = ~np.isin(classes.why, no_way)
    total = exact_sum(classes.total[inside])
    prior = priors.of_subgraphs()
    exposed = float(classes.exposed[inside].sum())
    bound = cap_saving(exact_sum(classes.saving[inside]), shares)
    expected = min(prior.saved_share * exposed, float(bound))
    candidate = Candidate(
        kind="subgraph",
        count=int(classes.count[inside].sum()),
        total_us=total / 1000,
        share=rounded(shares.share(min(total, shares.computing_ns))),
        bound_saving_us=None if classes.unbounded[inside].any() else round(shares.per_step_us(bound), 3),
        expected_saving_us=round(expected / shares.steps / 1000, 3),
        prior=prior.as_document(),
        cost_s=round(priors.subgraph_cost_s, 3),
        reason=say(
            "the model's subgraphs as a whole; {because}", because=_because(prior, total, exposed, bounded=False)
        ),
    )
    why: Why = "after-subgraphs" if options.mode == "both" else "subgraphs-first"
    left = replace(classes, why=np.where(inside, _ORDER.index(why), classes.why))
    rejected = sorted([*_left_out(left, KnownOperators(), least), *spoken], key=_rejection_order)
    if total == 0 or total < least:
        return Ranking((), tuple(rejected))
    chosen, beyond = _within([candidate], replace(options, top=None))
    rejected += [Rejected(total_us=c.total_us, reason=_because_of(reason)) for c, reason in beyond]
    return Ranking(tuple(chosen), tuple(rejected))
