"""Rules on what operators do on the cores: what bounds them, how many cores they use, how fast those run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from aoe_reports.facts.bounds import BOUNDS, STATES, Bound, Operator, OperatorBounds, cap_saving
from aoe_reports.formats.aoe.operators import is_tunable
from aoe_reports.model.arrays.columns import Floats, Ints, Mask, exact_sum, integers, sums_by
from aoe_reports.model.shares import share_or_zero
from aoe_reports.model.texts import say
from aoe_reports.stats.grouping import sorted_within
from aoe_reports.stats.sample import MAD_TO_SIGMA
from aoe_reports.topics.advice.advice import (
    Advice,
    Evidence,
    Facts,
    Find,
    Rule,
    largest,
    microseconds,
    on_operators,
    tuned,
)
from aoe_reports.topics.advice.thresholds import Thresholds

CONVERSIONS = frozenset({"transdata", "cast", "transpose", "transposed", "formatcast", "npuformatcast"})
"""Operator types (in small letters) that compute nothing: they change layout or data type."""


_ALIKE = ("op_type", "task_type", "input_shapes")
"""Operators with the same of these run the same code on as much data, whatever their names."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A class of operators that a rule is about, under the name of the one that takes longest."""

    group: int
    """The operator of the class with the longest time."""
    saving_ns: int
    count: int
    total_ns: int
    operators: int


def _subjects(
    bounds: OperatorBounds, mine: Mask, saving: Ints, least_ns: float, by: tuple[str, ...] = _ALIKE
) -> Iterator[_Subject]:
    """The classes (operators with the same words under `by`) in which the marked operators could save enough, the largest first."""
    of, count = bounds.alike(by)
    marked: Ints = mine.astype(np.int64)
    savings, totals, counts, operators = (
        sums_by(of, values * marked, count) for values in (saving, bounds.total_ns, bounds.count, marked)
    )
    chosen = largest(np.where(operators > 0, savings, 0), least_ns)
    wanted = np.isin(of, chosen) & mine
    longest: dict[int, int] = {}
    groups = np.flatnonzero(wanted)
    for group in groups[np.argsort(-bounds.total_ns[groups], kind="stable")].tolist():
        held = longest.setdefault(int(of[group]), group)
        if bounds.total_ns[group] == bounds.total_ns[held] and bounds.names[group] < bounds.names[held]:
            longest[int(of[group])] = group
    for place in chosen:
        yield _Subject(
            longest[place], int(savings[place]), int(counts[place]), int(totals[place]), int(operators[place])
        )


def _advice(
    facts: Facts,
    rule: str,
    subject: _Subject,
    operator: Operator,
    evidence: Evidence,
    text: str,
    *,
    shapes: bool = True,
) -> Advice:
    more = {"operators": subject.operators} if subject.operators > 1 else {}
    return Advice(
        rule=rule,
        evidence={"task_type": operator.task_type, **evidence, **more},
        advice=text,
        saving_ns=cap_saving(subject.saving_ns, facts.shares),
        op_type=operator.op_type,
        op_name=operator.op_name,
        input_shapes=operator.input_shapes if shapes else None,
        count=subject.count,
        total_ns=subject.total_ns,
        bound_by=operator.bound_by,
    )


def _least(facts: Facts, thresholds: Thresholds) -> float:
    return thresholds.least_operator_share * facts.shares.computing_ns


_TO_DO: dict[Bound, str] = {
    "cube": say(
        "The cube unit is busy nearly all the time: less work (a smaller data type, fusing) or a better tiling "
        "helps; other changes have little effect"
    ),
    "vector": say(
        "The vector unit works nearly all the time: use a smaller data type, fuse element-wise "
        "operators, or check that its instructions repeat over long data"
    ),
    "scalar": say(
        "Scalar work (addresses, loops, control) delays the other units: use larger tiles, or shapes that divide "
        "evenly; a tuned tiling (AOE) often helps"
    ),
    "mte1": say(
        "Moving data from L1 into the buffers of the cube unit delays it: use a tuned tiling (AOE) or an aligned "
        "inner dimension"
    ),
    "mte2": say(
        "Memory reads delay it: fuse it with its neighbours, keep data in cache, or read larger contiguous "
        "blocks; a tuned tiling (AOE) reduces repeated reads"
    ),
    "mte3": say(
        "Writing to memory is the bottleneck: fuse the operator with those that read its output, write in long pieces"
    ),
    "fixpipe": say(
        "Writing results out of the cube buffer is the bottleneck: align the inner dimension of the output (512 "
        "bytes), fuse the operators that follow"
    ),
    "memory-bandwidth": say(
        "It uses main memory as heavily as any operator here: fuse it with its neighbours, or use a smaller data type"
    ),
    "none": say(
        "No unit is busy most of the time: the units wait for each other; a tuned tiling (AOE), double buffering "
        "or larger shapes let them overlap"
    ),
}

_TUNED: frozenset[Bound] = frozenset({"scalar", "mte1", "mte2", "none"})
"""The bounds for which a tuned tiling is what to try."""


def _bound_rule(bound: Bound) -> Find:
    rule = "no-bound" if bound == "none" else f"{bound}-bound"

    def find(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
        mine = facts.not_near_roof(bounds.bound == BOUNDS.index(bound))
        for subject in _subjects(bounds, mine, bounds.saving_ns, _least(facts, thresholds)):
            one = bounds.operator(subject.group)
            evidence: dict[str, float | None] = {f"{unit}_ratio": ratio for unit, ratio in one.ratios.items()}
            arithmetic = max(one.ratios.get("cube", 0.0), one.ratios.get("vector", 0.0))
            if one.ratios.get("mte2") and arithmetic:  # above 1 memory is the bottleneck, says CANN of its memory_bound
                evidence["memory_bound"] = round(one.ratios["mte2"] / arithmetic, 4)
            if one.bandwidth_gb_per_s is not None:
                evidence |= {
                    "main_memory_gb_per_s": one.bandwidth_gb_per_s,
                    "peak_gb_per_s": None if bounds.peak_gb_per_s is None else round(bounds.peak_gb_per_s, 4),
                }
            text = tuned(_TO_DO[bound], one.state, one.op_name) if bound in _TUNED else _TO_DO[bound]
            yield _advice(facts, rule, subject, one, evidence, text)

    return on_operators(find)


@on_operators
def _few_blocks(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    if bounds.block_use is None:
        return
    use: Floats = np.where(bounds.block_use >= 0, bounds.block_use, 1.0)
    saving = np.rint(bounds.total_ns * (1.0 - use)).astype(np.int64)
    text = say(
        "Its blocks do not fill the cores: a tuned tiling (AOE) splits it into as many blocks as there are "
        "cores; a larger batch, or shapes that are divisible by the number of cores, may also help"
    )
    for subject in _subjects(bounds, facts.not_near_roof(use < 1.0), saving, _least(facts, thresholds)):
        one = bounds.operator(subject.group)
        norm = bounds.block_norms["vector" if one.task_type in {"AI_VECTOR_CORE", "MIX_AIV"} else "cube"]
        evidence = {
            "blocks": one.blocks,
            "cores": norm.cores,
            "usual_blocks": norm.typical,
            "cores_source": norm.source,
            "used_cores_share": one.block_use,
        }
        yield _advice(facts, "few-blocks", subject, one, evidence, tuned(text, one.state, one.op_name))


@on_operators
def _ai_cpu(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    text = say(
        "It runs on the AI CPU, which is slower than the cores and not tuned by AOE: use a data type that the "
        "cores support (no double; int32 instead of int64 where sufficient) or another operator, or remove it "
        "from the step"
    )
    least = min(_least(facts, thresholds), thresholds.wait_us * 1000)  # a few of them hold up what is behind them
    mine = bounds.bound == BOUNDS.index("ai-cpu")
    for subject in _subjects(bounds, mine, bounds.total_ns, least, by=("op_type", "task_type")):
        yield _on_type(facts, bounds, "ai-cpu-operator", subject, text)


def _on_type(facts: Facts, bounds: OperatorBounds, rule: str, subject: _Subject, text: str) -> Advice:
    """Advice on operators of one type, whatever their shapes."""
    evidence = {"share_of_computing": share_or_zero(subject.total_ns, exact_sum(bounds.total_ns))}
    return _advice(facts, rule, subject, bounds.operator(subject.group), evidence, text, shapes=False)


@on_operators
def _conversions(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    mine = _named(bounds, "op_type", lambda word: word.casefold() in CONVERSIONS)
    if mine is None:  # level 0 tells no types: those that the graph engine put in say it in their names
        mine = _named(bounds, "op_name", lambda word: word.startswith(("trans_TransData", "trans_Cast")))
    if mine is None:
        return
    text = say(
        "It changes only the layout or data type and computes nothing: keep one layout and one data type across "
        "neighbouring operators (channels last, internal formats, mixed precision set in one place)"
    )
    for subject in _subjects(bounds, mine, bounds.total_ns, _least(facts, thresholds), by=("op_type",)):
        if subject.count > thresholds.conversions * facts.shares.steps:
            yield _on_type(facts, bounds, "format-conversion", subject, text)


def _named(bounds: OperatorBounds, key: str, test: Callable[[str], bool]) -> Mask | None:
    """The operators whose word passes; None where no word does."""
    numbers, words = bounds.key_codes(key)
    passing = [n for n, word in enumerate(words, start=1) if test(word)]
    return np.isin(numbers, passing) if passing else None


@on_operators
def _conflicts(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    if bounds.conflict is None:
        return
    ratio = np.nan_to_num(bounds.conflict)
    mine = facts.not_near_roof(ratio > thresholds.conflict_ratio)
    saving = np.rint(bounds.total_ns * np.clip(ratio, 0.0, 1.0)).astype(np.int64)
    text = say(
        "Accesses of the vector unit meet in one bank of its buffer: other strides or alignments; a tuned tiling (AOE)"
    )
    for subject in _subjects(bounds, mine, saving, _least(facts, thresholds)):
        one = bounds.operator(subject.group)
        evidence = {"conflict_ratio": one.conflict_ratio}
        yield _advice(facts, "bank-conflict", subject, one, evidence, tuned(text, one.state, one.op_name))


@on_operators
def _frequency(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    if bounds.clock is None:
        return
    relative = bounds.clock.relative
    slow: Mask = relative < 1.0 - thresholds.frequency_drop_share
    if not slow.any():
        return
    duration, _ = integers(bounds.tasks["task_duration_ns"])
    lost = np.where(slow, np.rint(duration * (1.0 - np.where(slow, relative, 1.0))), 0).astype(np.int64)
    by_operator = bounds.sums(lost)
    highest = bounds.clock.nominal_mhz
    lowest = float(relative[slow].min())
    saving = exact_sum(lost)
    if saving < _least(facts, thresholds):
        return
    evidence = {
        "highest_mhz": None if highest is None else round(highest, 1),
        "lowest_mhz": None if highest is None else round(highest * lowest, 1),
        "lowest_share_of_highest": round(lowest, 4),
        "highest_is_rated": bounds.clock.rated,
        "operators": int((by_operator > 0).sum()),
    }
    if "task_start_ns" in bounds.tasks.column_names:
        starts, there = integers(bounds.tasks["task_start_ns"])
        begun = starts[slow & there]
        evidence |= {"first_ns": int(begun.min()), "last_ns": int(begun.max())} if len(begun) else {}
    text = say(
        "The cores ran slower than they can: check power and temperature limits (npu-smi info), and compare "
        "nights only at the same frequency"
    )
    subject = _Subject(int(np.argmax(by_operator)), saving, int(slow.sum()), exact_sum(duration[slow]), 1)
    yield _advice(facts, "frequency-drop", subject, bounds.operator(subject.group), evidence, text)


@on_operators
def _slower(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    """Calls that take longer than those with the same inputs."""
    told = (bounds.key_codes("op_type")[0] > 0) & (bounds.key_codes("input_shapes")[0] > 0)
    if not told.any():
        return
    of, classes = bounds.alike(_ALIKE)
    of_task = of[bounds.group_of]
    duration, _ = integers(bounds.tasks["task_duration_ns"])
    middle, counts = _medians(of_task, duration, classes)
    spread, _ = _medians(of_task, _apart(duration, middle[of_task]), classes)
    limit = np.maximum(
        middle * (1.0 + thresholds.slower_share), middle + thresholds.slower_sigmas * MAD_TO_SIGMA * spread
    )
    out = told[bounds.group_of] & (counts[of_task] >= thresholds.least_alike) & (duration > limit[of_task])
    if not out.any():
        return
    excess = np.where(out, np.rint(duration - middle[of_task]), 0).astype(np.int64)
    saving = bounds.sums(excess)
    slow = bounds.sums(out.astype(np.int64))
    text = say(
        "These calls take longer than others of the same type and inputs: check what runs at the same time "
        "(communication, copies), the cache, and other formats or attributes of this operator"
    )
    for group in largest(saving, _least(facts, thresholds)):
        evidence = {
            "slower_calls": int(slow[group]),
            "mean_us": microseconds(bounds.total_ns[group] / bounds.count[group]),
            "median_of_alike_us": microseconds(float(middle[of[group]])),
            "alike_calls": int(counts[of[group]]),
        }
        subject = _Subject(group, int(saving[group]), int(bounds.count[group]), int(bounds.total_ns[group]), 1)
        yield _advice(facts, "slower-than-alike", subject, bounds.operator(group), evidence, text)


def _apart(values: Ints, middles: Floats) -> Ints:
    """How far each value is from its middle, as a whole number; the middles are used up, as they are as many."""
    np.subtract(values, middles, out=middles)
    np.abs(middles, out=middles)
    return np.rint(middles, out=middles).astype(np.int64)


def _medians(groups_of: Ints, values: Ints, groups: int) -> tuple[Floats, Ints]:
    """(the median, the count) of each group."""
    ordered, starts = sorted_within(groups_of, values, groups)
    counts: Ints = np.diff(starts, append=len(ordered))
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    return (ordered[low].astype(np.float64) + ordered[high]) / 2, counts


@on_operators
def _repeated(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    """Shapes that come again and again, of types that AOE tunes."""
    tunable = _named(bounds, "op_type", is_tunable)
    if tunable is None:
        return
    tunable &= (bounds.bound != BOUNDS.index("ai-cpu")) & (bounds.state != STATES.index("dynamic"))
    tunable = facts.not_near_roof(tunable)
    text = say("The same inputs occur repeatedly: one entry tuned by AOE serves all of these calls")
    for subject in _subjects(bounds, tunable, bounds.saving_ns, _least(facts, thresholds)):
        part = share_or_zero(subject.total_ns, facts.shares.computing_ns)
        one = bounds.operator(subject.group)
        if subject.count < thresholds.repeated_calls or part < thresholds.repeated_share or one.input_shapes is None:
            continue
        evidence = {
            "share_of_computing": part,
            "state": one.state,
            "calls_a_step": round(subject.count / facts.shares.steps, 3),
        }
        yield _advice(facts, "repeated-shape", subject, one, evidence, tuned(text, one.state, one.op_name))


_PIPE_SOURCE = say("CANN: op_summary, PipeUtilization; operator_bound_ratio of Ascend/msprof-analyze, advisor")
_TITLES: dict[Bound, tuple[str, str]] = {
    "cube": (say("limited by the cube unit"), "What computes all the time is well used"),
    "vector": (say("limited by the vector unit"), "What computes all the time is well used"),
    "scalar": (say("limited by scalar instructions"), "Scalar work feeds no data into cube or vector"),
    "mte1": (say("limited by transfers from L1 to the cube's buffers"), "While data is moved, the cube may wait"),
    "mte2": (say("limited by reads from memory"), "While data is moved in, the arithmetic units may wait"),
    "mte3": (say("limited by writes to memory"), "While data is moved out, the arithmetic units may wait"),
    "fixpipe": (say("limited by writes from the cube's buffer"), "While results are moved out, the cube may wait"),
    "memory-bandwidth": (say("limited by main memory bandwidth"), "No tiling reads faster than memory gives"),
    "none": (say("no unit bounds it: every ratio is at most 0.8"), "Units that take turns leave each other idle"),
}

COMPUTING_RULES = (
    *(
        Rule(
            "no-bound" if bound == "none" else f"{bound}-bound",
            title,
            reason,
            say("CANN: op_summary, Memory") if bound == "memory-bandwidth" else _PIPE_SOURCE,
            ("bound_ratio", "least_operator_share", *(("memory_gb_per_s",) if bound == "memory-bandwidth" else ())),
            _bound_rule(bound),
        )
        for bound, (title, reason) in _TITLES.items()
    ),
    Rule(
        "few-blocks",
        say("fewer blocks than cores, or a last round that does not use all cores"),
        "A block runs on one core: cores without a block have nothing to do",
        say(
            "Ascend/msprof-analyze, advisor: block dim; cores of info.json, else those that counters saw at "
            "work, else (as usual_blocks) the number of blocks that most of the time is run with"
        ),
        ("least_operator_share",),
        _few_blocks,
    ),
    Rule(
        "ai-cpu-operator",
        say("an operator that runs on the AI CPU"),
        "The AI CPU is a general processor beside the cores; what it computes the cores wait for",
        say("CANN 6.0.RC1, msprof export summary: AI CPU operators (atlasprofiling_16_0139)"),
        ("least_operator_share", "wait_us"),
        _ai_cpu,
    ),
    Rule(
        "format-conversion",
        say("TransData, Cast, Transpose and the like"),
        "They move data and compute nothing",
        say("CANN 6.0.RC1, msprof export summary: transData (atlasprofiling_16_0139)"),
        ("conversions", "least_operator_share"),
        _conversions,
    ),
    Rule(
        "bank-conflict",
        say("bank conflicts in the buffer of the vector unit"),
        "Accesses that meet in one bank follow one another",
        say("CANN: op_summary, ResourceConflictRatio; CANN 6.0.RC1, msprof export summary (atlasprofiling_16_0139)"),
        ("conflict_ratio", "least_operator_share"),
        _conflicts,
    ),
    Rule(
        "frequency-drop",
        say("cores that ran below their highest frequency"),
        "Cycles are the same, each takes longer",
        say(
            "Ascend/msprof-analyze, advisor: AI Core frequency; total_cycles / time / cores at work (1800.0 "
            "MHz on real exports)"
        ),
        ("frequency_drop_share", "least_operator_share"),
        _frequency,
    ),
    Rule(
        "slower-than-alike",
        say("an operator that takes longer than others with the same inputs"),
        "The same code on as much data should take as long",
        say("same as the comparison of nights"),
        ("slower_share", "slower_sigmas", "least_alike", "least_operator_share"),
        _slower,
    ),
    Rule(
        "repeated-shape",
        say("a frequently repeated shape of a tunable operator"),
        "A tuned entry of AOE's bank is of one shape, and serves all its calls",
        say("AOE: knowledge bank; Operator List of CANN 9.0 (AOE parameter reference)"),
        ("repeated_calls", "repeated_share", "least_operator_share"),
        _repeated,
    ),
)
