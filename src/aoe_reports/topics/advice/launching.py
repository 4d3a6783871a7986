"""Rules on when tasks begin: waiting, small kernels, shapes that the host has to prepare."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from aoe_reports.facts.bounds import ACLNN, STATES, OperatorBounds, cap_saving
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.model.arrays.columns import Ints, Mask, SomeRows, exact_sum, integers, sums_by
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import say
from aoe_reports.stats.grouping import group_codes
from aoe_reports.topics.advice.advice import (
    MAX_ROWS,
    Advice,
    Evidence,
    Facts,
    Rule,
    largest,
    microseconds,
    on_operators,
)
from aoe_reports.topics.advice.thresholds import Thresholds

_NAMED = 3


def _cap_host(saving_ns: int, facts: Facts) -> int:
    """No more can be saved by an earlier launch than the time in which nothing ran, where that is known."""
    free = facts.shares.free_ns
    return saving_ns if free is None else max(0, min(saving_ns, free))


def _waits(facts: Facts) -> tuple[pa.Table | SomeRows, Ints, str] | None:
    """(tasks, how long nothing ran before each, what tells so): idle time where it is known, else what tasks waited."""
    if facts.idle_ns is not None and facts.tasks is not None:
        return facts.tasks, facts.idle_ns, say("idle time computed from the task intervals")
    if facts.bounds is not None and facts.bounds.wait_ns is not None:
        tasks = facts.bounds.tasks
        values, there = integers(tasks["task_wait_ns"])
        return tasks, np.where(there, values, 0), say("Task Wait Time (communication may have run in it)")
    return None


def _least(facts: Facts, thresholds: Thresholds) -> float:
    whole = facts.shares.step_ns or facts.shares.computing_ns
    return thresholds.least_operator_share * whole


def _wait(facts: Facts, thresholds: Thresholds) -> Iterator[Advice]:
    told = _waits(facts)
    if told is None or "op_name" not in told[0].column_names:
        return
    tasks, waits, source = told
    long = waits > thresholds.wait_us * 1000
    if not long.any():
        return
    keys = [key for key in ("op_type", "op_name") if key in tasks.column_names]
    rows = np.flatnonzero(long)
    group_of, names = group_codes(SomeRows(tasks, long), keys)
    sums = sums_by(group_of, waits[rows], names.count)
    counts = np.bincount(group_of, minlength=names.count)
    longest = np.zeros(names.count, dtype=np.int64)
    np.maximum.at(longest, group_of, waits[rows])
    text = say(
        "The device is idle before this operator: it is launched late, or waits for the host; check what the "
        "host does before it (a copy to the host, a printed value, data loading, compilation); `breakdown` names "
        "the call"
    )
    for group in largest(sums, _least(facts, thresholds)):
        known = dict(zip(keys, names[group], strict=True))
        evidence: Evidence = {
            "waited_us": microseconds(int(sums[group])),
            "longest_us": microseconds(int(longest[group])),
            "tasks": int(counts[group]),
            "source": source,
        }
        yield Advice(
            rule="wait-in-front",
            evidence=evidence,
            advice=text,
            saving_ns=_cap_host(int(sums[group]), facts),
            op_type=known.get("op_type"),
            op_name=known.get("op_name"),
            count=int(counts[group]),
        )


@on_operators
def _small(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    duration, _ = integers(bounds.tasks["task_duration_ns"])
    small: Mask = duration < thresholds.small_kernel_us * 1000
    count = int(small.sum())
    # one kernel alone, as `msprof op` runs it, has no neighbours to be fused or launched with
    if len(small) == 1 or count < thresholds.small_kernel_share * len(small):
        return
    total = exact_sum(duration[small])
    free = facts.shares.free_ns
    # fused away, they take neither time on the cores nor the idle time before them; longer idle time has another cause
    waits = facts.idle_of_computing() if free is not None else None
    idle = 0 if waits is None else exact_sum(np.minimum(waits[small], int(thresholds.wait_us * 1000)))
    saving = cap_saving(total, facts.shares) + (0 if free is None else min(idle, free))
    if saving < _least(facts, thresholds):
        return
    groups = bounds.sums(np.where(small, duration, 0))
    names = _longest_types(bounds, groups)
    evidence: Evidence = {
        "small_kernels": count,
        "kernels": len(small),
        "below_us": thresholds.small_kernel_us,
        "device_time_us": microseconds(total),
        "idle_before_us": microseconds(idle),
        "op_types": [*names],
    }
    text = say(
        "Most kernels are so short that launching them takes as long as running them: fuse them, launch "
        "them as a graph, or give the device more work at once (a larger batch)"
    )
    op_type = names[0] if names else None
    yield Advice("small-kernels", evidence, text, saving, op_type=op_type, count=count, total_ns=total)


def _longest_types(bounds: OperatorBounds, values: Ints) -> list[str]:
    """The operator types with the most of something, by operator."""
    numbers, words = bounds.key_codes("op_type")
    sums = sums_by(numbers, values, len(words) + 1)
    ranked = sorted(((-int(total), words[n - 1]) for n, total in enumerate(sums) if n and total > 0))
    return [word for _, word in ranked[:_NAMED]]


@on_operators
def _dynamic(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    mine: Mask = np.isin(bounds.state, [STATES.index("dynamic"), STATES.index("mixed")])
    mine &= _of_graphs(facts, bounds) | _of_passing_shapes(facts, bounds)
    total = exact_sum(bounds.total_ns[mine])
    part = share_or_zero(total, exact_sum(bounds.total_ns))
    if not mine.any() or part < thresholds.least_operator_share:
        return
    idle, source = None, None
    if facts.idle_ns is not None:
        idle, source = (
            facts.idle_before(mine[bounds.group_of]),
            say("idle time before them, computed from the task intervals"),
        )
    elif bounds.wait_ns is not None:
        idle, source = exact_sum(bounds.wait_ns[mine]), say("Task Wait Time of them (communication may have run in it)")
    names = _longest_types(bounds, np.where(mine, bounds.total_ns, 0))
    told = "op_state" in bounds.tasks.column_names
    evidence: Evidence = {
        "dynamic_share_of_computing": part,
        "op_types": [*names],
        "told_by": "OP State" if told else say("files of dynamic models (thread_group, ge_op_execute)"),
        "bound_source": source,
    }
    text = say(
        "Shapes are not known before the run: the host computes the tiling (or compiles) at each launch, and AOE "
        "does not tune such operators; fix the shapes (padding, buckets, jit_compile), then profile and tune "
        "again"
    )
    yield Advice(
        rule="dynamic-shape",
        evidence=evidence,
        advice=text,
        saving_ns=None if idle is None else _cap_host(idle, facts),
        op_type=names[0] if names else None,
        count=int(bounds.count[mine].sum()),
        total_ns=total,
    )


def _of_graphs(facts: Facts, bounds: OperatorBounds) -> Mask:
    """The operators of models that are graphs; OP State of single operators is dynamic whatever their shapes.

    If tasks have no model, an operator that runs through aclnn is a single one.
    """
    if facts.tasks is not None and "model_id" in facts.tasks.column_names:  # null of what is of no model
        models = facts.of_computing("model_id")
        return np.zeros(bounds.names.count, dtype=bool) if models is None else bounds.groups.any(models >= 0)
    numbers, words = bounds.key_codes("op_name")
    single = np.asarray([False, *(word.startswith(ACLNN) for word in words)], dtype=bool)
    found: Mask = ~single[numbers]
    return found


def _of_passing_shapes(facts: Facts, bounds: OperatorBounds) -> Mask:
    """Operators whose shapes vary over the steps: one name has several shapes, and not all of them occur in every step."""
    none: Mask = np.zeros(bounds.names.count, dtype=bool)
    task_steps = None if facts.tasks is None else step_of_tasks(facts.tasks)
    steps = None if task_steps is None else facts.of_computing(task_steps[0])
    if steps is None or "input_shapes" not in bounds.keys:
        return none
    known = steps >= 0
    pairs = np.unique(np.stack([bounds.group_of[known], steps[known]]), axis=1)
    of, count = bounds.alike(("op_type", "task_type", "op_name"))
    shapes = np.bincount(of, minlength=count)
    found: Mask = np.bincount(pairs[0], minlength=len(none)) < len(np.unique(pairs[1]))
    found &= shapes[of] > 1
    return found


@on_operators
def _odd_shape(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    """An operator that nearly always has one shape, and sometimes another."""
    if "input_shapes" not in bounds.keys:
        return
    of, count = bounds.alike(("op_type", "task_type", "op_name"))
    shapes, _ = bounds.key_codes("input_shapes")
    calls = sums_by(of, bounds.count, count)
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, of, bounds.count)
    usual = bounds.count == most[of]
    rest = calls - most
    named = (most >= (1.0 - thresholds.odd_shape_share) * calls) & (rest > 0) & (calls >= thresholds.repeated_calls)
    odd = named[of] & ~usual & (shapes > 0)
    told = facts.waits_of_operators()
    idle = np.zeros_like(bounds.total_ns) if told is None else told
    saving = bounds.total_ns + np.minimum(idle, facts.shares.free_ns if facts.shares.free_ns is not None else idle)
    text = say(
        "Its shape differs from the usual one: it is compiled or looked up separately, and entries tuned for the "
        "usual shape do not apply to it; drop or pad the odd batch"
    )
    chosen = np.flatnonzero(odd)
    for group in chosen[np.argsort(-saving[chosen], kind="stable")][:MAX_ROWS].tolist():
        usual_one = int(np.flatnonzero(usual & (of == of[group]))[0])
        one = bounds.operator(group)
        evidence = {
            "usual_shapes": bounds.key(usual_one, "input_shapes"),
            "usual_calls": int(bounds.count[usual_one]),
            "usual_mean_us": microseconds(bounds.total_ns[usual_one] / bounds.count[usual_one]),
            "mean_us": microseconds(one.total_ns / one.count),
        }
        yield Advice(
            rule="odd-shape",
            evidence=evidence,
            advice=text,
            saving_ns=cap_saving(one.total_ns, facts.shares) + _cap_host(int(idle[group]), facts),
            op_type=one.op_type,
            op_name=one.op_name,
            input_shapes=one.input_shapes,
            count=one.count,
            total_ns=one.total_ns,
            bound_by=one.bound_by,
        )


@on_operators
def _many_shapes(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    """Operator types with many shapes that do not come in every step: of shapes that do, each layer has its own."""
    if not {"input_shapes", "op_type"} <= set(bounds.keys):
        return
    numbers, words = bounds.key_codes("op_type")
    shapes, texts = bounds.key_codes("input_shapes")
    steps = facts.shares.steps if facts.shares.steps_known else thresholds.repeated_calls
    pairs, of = np.unique(numbers * (len(texts) + 1) + shapes, return_inverse=True)
    calls = sums_by(of, bounds.count, len(pairs))
    passing = (calls < steps) & (pairs % (len(texts) + 1) > 0)
    mine = passing[of]
    of_type = np.bincount((pairs // (len(texts) + 1))[passing], minlength=len(words) + 1)
    waits = facts.waits_of_operators()
    summed = (bounds.count, bounds.total_ns, np.zeros_like(bounds.total_ns) if waits is None else waits)
    sums = np.stack([sums_by(numbers[mine], values[mine], len(words) + 1) for values in summed])
    heavy = sums[1] >= thresholds.least_operator_share * facts.shares.computing_ns
    heavy[0] = False  # no type
    text = say(
        "It has many shapes that occur only occasionally: each is compiled or looked up separately; pad to a few "
        "sizes (buckets), so that tuned entries are found again"
    )
    for kind in np.flatnonzero((of_type > thresholds.many_shapes) & heavy).tolist():
        count, total, waited = (int(value) for value in sums[:, kind])
        evidence = {
            "shapes": int(of_type[kind]),
            "calls_a_shape": round(count / int(of_type[kind]), 3),
            "steps": facts.shares.steps if facts.shares.steps_known else None,
            "share_of_computing": share_or_zero(total, exact_sum(bounds.total_ns)),
        }
        bound = None if waits is None else _cap_host(waited, facts)
        yield Advice("many-shapes", evidence, text, bound, op_type=words[kind - 1], count=count, total_ns=total)


LAUNCHING_RULES = (
    Rule(
        "wait-in-front",
        say("idle time before an operator"),
        "What is launched late leaves the device without work",
        say("CANN 6.0.RC1, msprof export summary: operators that wait longer than 10 us (atlasprofiling_16_0139)"),
        ("wait_us", "least_operator_share"),
        _wait,
    ),
    Rule(
        "small-kernels",
        say("most kernels are very short"),
        "A kernel that is shorter than its launching is bound by the host",
        say("CANN 6.0.RC1, msprof export summary: 10 us between operators (atlasprofiling_16_0139)"),
        ("small_kernel_us", "small_kernel_share", "wait_us", "least_operator_share"),
        _small,
    ),
    Rule(
        "dynamic-shape",
        say("operators whose shapes are known only at run time"),
        (
            "Tiling and compilation move into the step, and tuned entries (of fixed shapes) do not fit; of single operators only "
            "those whose shapes vary over the steps, as their state is dynamic whatever their shapes"
        ),
        say(
            "CANN: op_summary, OP State and Model ID; thread_group and ge_op_execute exist of dynamic models alone; AOE: "
            "static shapes"
        ),
        ("least_operator_share",),
        _dynamic,
    ),
    Rule(
        "odd-shape",
        say("an operator that nearly always has the same shape and occasionally another"),
        "A shape that comes once is compiled once, for one call",
        say("AOE: entries of the knowledge bank are of one shape"),
        ("odd_shape_share", "repeated_calls"),
        _odd_shape,
    ),
    Rule(
        "many-shapes",
        say("an operator type with many shapes that do not occur in every step"),
        "Each shape is compiled, or looked up, and tuned by itself",
        say("AOE: entries of the knowledge bank are of one shape"),
        ("many_shapes", "repeated_calls", "least_operator_share"),
        _many_shapes,
    ),
)
