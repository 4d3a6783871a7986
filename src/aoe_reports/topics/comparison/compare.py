"""What takes longer or shorter than before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Argument, CaptureOptions, Finished, Question, Request, all_tasks, only, trim
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.groupings import KEYS, TELLS, ComparedBy
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row, row_from
from aoe_reports.model.texts import Text, join, say
from aoe_reports.topics.comparison.memory import ComparedMemory, MemoryPeak, PeakPart, compare_memory

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.facts.tasks import TaskSet
    from aoe_reports.model.topics.steps import Step
    from aoe_reports.stats.comparison import Compared, Difference, Side
    from aoe_reports.topics.comparison.compared_runs import ComparedRun, RunUnit

_MAX_INPUTS = 5
"""How many of the inputs that stand on one side only a row names."""
_PARTS = (
    "computing", "communication", "communication_not_overlapped", "overlapped", "free",
    "fp_bp", "iteration_refresh", "data_aug_bound",
)  # fmt: skip


@options
class CompareOptions(CaptureOptions):
    """What is compared, and how calls are grouped."""

    by: ComparedBy = option(default="op_type", help="Key by which rows are grouped.")
    top: int = option(default=20, minimum=1, help="Number of rows per rank of each candidate.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    all_tasks: bool = all_tasks()
    trim: bool = trim()
    force: bool = option(
        default=False,
        help="Compare even if a comparison is known not to be valid.",
        flags=["--force"],
        only_here=say("what is forced"),
    )


@row
class Change:
    """One group of calls, or one part of a step, before and after; differences are candidate - baseline.

    `calls_ns`, `count_ns` and `inputs_ns` add up to the difference: calls that take longer, more calls, calls with other inputs.
    """

    position: int = column("#", "integer")
    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column("Rank", "integer")
    op_type: str | None = column("Operator type")
    task_type: str | None = column("Core", detail=True)
    op_name: str | None = column("Operator")
    input_shapes: str | None = column("Input shapes")
    location: str | None = column("Launched in")
    metric: str | None = column()
    step: int | None = column()
    state: str = column("State", "state")
    baseline_count: int = column("Count before", "integer", detail=True)
    candidate_count: int = column("Count after", "integer", detail=True)
    count_difference: int = column()
    baseline_total_ns: int | None = column("Total before", unit=US)
    candidate_total_ns: int | None = column("Total after", unit=US)
    difference_ns: int = column("Difference", unit=US)
    ratio: float | None = column("Ratio", "ratio")
    baseline_mean_ns: float | None = column(unit=US)
    candidate_mean_ns: float | None = column(unit=US)
    mean_difference_ns: float | None = column("Difference of means", unit=US, detail=True)
    ci_low_ns: float | None = column("from", unit=US, detail=True)
    ci_high_ns: float | None = column("to", unit=US, detail=True)
    interval: str | None = column()
    calls_ns: float | None = column(unit=US)
    count_ns: float | None = column(unit=US)
    inputs_ns: float | None = column(unit=US)
    cause: str | None = column("Cause", "word")
    new_inputs: list[str] = column("New inputs", detail=True)
    new_inputs_count: int = column()
    vanished_inputs: list[str] = column("Removed inputs", detail=True)
    vanished_inputs_count: int = column()


@row
class Total:
    """All groups of one rank of one pair; `common_inputs_ns` is what the candidate's calls took whose inputs the baseline has, too."""

    baseline: str = column()
    candidate: str = column()
    rank_id: int | None = column()
    groups: int = column()
    baseline_total_ns: int = column(unit=US)
    candidate_total_ns: int = column(unit=US)
    difference_ns: int = column(unit=US)
    ratio: float | None = column()
    common_inputs_ns: int | None = column(unit=US)


class Compare(Question[CompareOptions, "ComparedRun | None"]):
    """Compare profiles. Difference is candidate - baseline, ratio is candidate / baseline; the largest change comes first."""

    example = "compare before after --by op_name"
    page = "tutorial"
    title = "Comparison"
    options = CompareOptions
    tables = (("rows", Change), ("totals", Total), ("memory", PeakPart), ("memory_peaks", MemoryPeak))
    more = ("method",)
    has_highlights = True
    arguments = (
        Argument(name="baseline", help="Baseline: one run.", many=False),
        Argument(name="candidates", help="Candidates to compare with the baseline: one run each."),
    )

    def discover(self, paths: Sequence[Path], asked: Request[CompareOptions]) -> list[RunUnit]:
        """The run below each path; the first is the baseline."""
        from aoe_reports.topics.comparison.compared_runs import find_side

        for place, path in enumerate(paths):
            if path in paths[1:place]:
                raise UsageError(say("{path}: given twice; once is enough", path=path))
        found = [find_side(path, asked.options.max_expanded, asked.notes) for path in paths]
        return [unit for unit in found if unit is not None]

    def units(self, files: list[RunUnit], asked: Request[CompareOptions]) -> list[RunUnit]:
        """The runs."""
        del asked
        return files

    def map_unit(self, unit: RunUnit, asked: Request[CompareOptions]) -> ComparedRun | None:
        """What is compared of one run."""
        from aoe_reports.topics.comparison.compared_runs import read_side

        return read_side(unit, asked.options, asked.notes)

    def finish(self, parts: Sequence[tuple[RunUnit, ComparedRun | None]], asked: Request[CompareOptions]) -> Finished:
        """Every run after the first against the first."""
        from aoe_reports.topics.comparison.compared_runs import may_be_compared, of_other_steps
        from aoe_reports.topics.comparison.comparison_words import headline_of, highlights_of, sections_of
        from aoe_reports.topics.comparison.memory_words import memory_sections, with_memory

        chosen, findings = asked.options, asked.notes.findings
        pairs: list[ComparedPair] = []
        memory = ComparedMemory([], [])
        uncounted: set[str] = set()
        runs = {unit.path: run for unit, run in parts}
        first, *others = [runs.get(path) for path in asked.inputs]
        if first is not None:
            comparable = [
                run
                for run in others
                if run is not None and may_be_compared(first, run, findings, by=chosen.by, force=chosen.force)
            ]
            profiles = [] if first.of_memory else comparable
            if profiles:
                chosen = _by_what_they_tell([first, *profiles], chosen, findings)
            if chosen.by != "step" and chosen.step is None:
                uncounted = {run.label for run in profiles if of_other_steps(first, run)}
            compare = _compare_steps if chosen.by == "step" else _compare_calls
            for candidates, ranks in _by_ranks(first, profiles, chosen, findings):
                pairs += compare([first, *candidates], ranks, chosen, findings)
            memory = compare_memory(first, comparable, chosen.top, findings)
        changes = [change for _, mine in pairs for change in mine]
        method = _method()
        totals = [total for total, _ in pairs]
        return Finished(
            tables=(
                Rows(type=Change, rows=changes),
                Rows(type=Total, rows=totals, key="totals"),
                Rows(type=PeakPart, rows=memory.parts, key="memory"),
                Rows(type=MemoryPeak, rows=memory.peaks, key="memory_peaks"),
            ),
            more={"method": method},
            headline=with_memory(headline_of(pairs, uncounted), memory),
            highlights=highlights_of(pairs),
            sections=[*sections_of(pairs, method), *memory_sections(memory)],
        )


compare = asking(Compare(), CompareOptions)
"""What takes longer or shorter in each path after the first: `compare([before, after], by="op_name").rows`."""

ComparedPair = tuple[Total, list[Change]]
"""One candidate, and one rank, against the baseline."""
_Ranks = tuple[int | None, bool]
"""(the rank, whether all ranks are taken together)."""


def _method() -> dict[str, float]:
    from aoe_reports.stats import bootstrap, comparison

    return {
        "level": comparison.LEVEL,
        "resamples": comparison.RESAMPLES,
        "seed": bootstrap.SEED,
        "least_values": bootstrap.MIN_VALUES,
        "normal_above": comparison.MAX_RESAMPLED,
    }


def _by_ranks(
    baseline: ComparedRun, candidates: Sequence[ComparedRun], chosen: CompareOptions, findings: list[Finding]
) -> list[tuple[list[ComparedRun], _Ranks]]:
    """(the candidates, (the rank, whether all ranks are taken together)) of each table of rows that is to be made."""
    from aoe_reports.topics.comparison.compared_runs import words_of
    from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN

    of_first = baseline.ranks
    same = [run for run in candidates if run.ranks == of_first]
    others = []
    for run in candidates:
        if run.ranks == of_first:
            continue
        if len(run.ranks) == len(of_first) == 1:
            message = say("the rank differs from the baseline or is unknown")
            findings.append(COMPARABILITY_UNKNOWN.found(run.label, message))
            others.append(run)
            continue
        message = say(
            "not comparable with {baseline}: different ranks ({before} before, {after} after)",
            baseline=baseline.label,
            before=words_of(tuple(of_first)),
            after=words_of(tuple(run.ranks)),
        )
        findings.append(_not_comparable(run, message, force=chosen.force))
        if chosen.force:
            others.append(run)
    found: list[tuple[list[ComparedRun], _Ranks]] = [(same, (rank, False)) for rank in of_first if same]
    return [*found, (others, (None, True))] if others else found


def _compare_calls(
    runs: Sequence[ComparedRun], ranks: _Ranks, chosen: CompareOptions, findings: list[Finding]
) -> Iterator[ComparedPair]:
    from aoe_reports.stats.comparison import compare_calls

    rank, pooled = ranks
    sides = [_side([tasks for tasks in run.tasks if pooled or tasks.rank_id == rank], chosen) for run in runs]
    silent = _silent(runs, sides, chosen)
    findings += silent
    if silent:
        return
    keys = [key for key in KEYS[chosen.by] if all(key in side.frame.column_names for side in sides)]
    typed = ["op_type" in side.frame.column_names for side in sides]
    if any(typed) and not all(typed):  # a timeline calls all cores AI_CORE, a table beside it does not
        keys = [key for key in keys if key != "task_type"]
    for run, one in zip(runs[1:], compare_calls(sides, keys, chosen.top), strict=True):
        if one.nothing_common:
            message = say(
                "not comparable with {baseline}: no call has the same inputs as a call of the baseline",
                baseline=runs[0].label,
            )
            findings.append(_not_comparable(run, message, force=chosen.force))
            if not chosen.force:
                continue
        pair = (runs[0], run, rank)
        changes = [
            _change(position, pair, dict(zip(keys, difference.key, strict=True)), difference)
            for position, difference in enumerate(one.differences, start=1)
        ]
        yield _total(pair, one), changes


def _by_what_they_tell(runs: Sequence[ComparedRun], chosen: CompareOptions, findings: list[Finding]) -> CompareOptions:
    """Compare by names where none of some runs tells types, as timelines do not."""
    from aoe_reports.topics.comparison.compared_runs import tell_types
    from aoe_reports.topics.rules import COMPARED_BY_NAME

    if chosen.by != "op_type" or any(tell_types(capture) for run in runs for capture in run.captures):
        return chosen
    message = say("no tasks of these runs have types: they are compared by op_name")
    findings.append(COMPARED_BY_NAME.found(runs[0].label, message))
    return replace(chosen, by="op_name")


def _silent(runs: Sequence[ComparedRun], sides: Sequence[Side], chosen: CompareOptions) -> list[Finding]:
    """The runs whose tasks do not tell by what they are to be compared."""
    from aoe_reports.engine.rules import NOTHING_MEASURED

    needed = TELLS[chosen.by]
    message = say("its tasks have no {column}: they cannot be compared by {by}", column=needed, by=chosen.by)
    if chosen.by == "op_type":
        message = join("; ", (message, say("--by op_name compares what has names")))
    return [
        NOTHING_MEASURED.found(run.label, message)
        for run, side in zip(runs, sides, strict=True)
        if side.frame.num_rows and needed not in side.frame.column_names
    ]


def _not_comparable(run: ComparedRun, message: Text, *, force: bool) -> Finding:
    from aoe_reports.topics.rules import NOT_COMPARABLE

    return NOT_COMPARABLE.found(run.label, message, severity="warning" if force else "error")


def _side(sets: Sequence[TaskSet], chosen: CompareOptions) -> Side:
    """The calls of one rank that are compared; communication is called the same in all ages."""
    import pyarrow as pa

    from aoe_reports.stats.comparison import Side, choose_calls

    grouped = any(tasks.grouped for tasks in sets)
    frames = [choose_calls(tasks.frame, chosen.by, all_tasks=chosen.all_tasks) for tasks in sets]
    if grouped:
        frames = [frame if tasks.grouped else _counted(frame) for tasks, frame in zip(sets, frames, strict=True)]
    if not frames:
        return Side(_no_calls())
    return Side(pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0], grouped)


def _counted(frame: pa.Table) -> pa.Table:
    """Tasks in the form of a table of types, for want of tasks elsewhere in the same run."""
    import numpy as np

    from aoe_reports.model.arrays.columns import column_of

    ones = column_of(np.ones(frame.num_rows, dtype=np.int64), np.ones(frame.num_rows, dtype=bool))
    return frame.append_column("count", ones).append_column("total_time_ns", frame["task_duration_ns"])


def _no_calls() -> pa.Table:
    import pyarrow as pa

    words = ("op_type", "task_type", "op_name", "input_shapes", "input_formats", "input_data_types", "location")
    return pa.schema(
        [*((name, pa.dictionary(pa.int32(), pa.string())) for name in words), ("task_duration_ns", pa.int64())]
    ).empty_table()


def _compare_steps(
    runs: Sequence[ComparedRun], ranks: _Ranks, chosen: CompareOptions, findings: list[Finding]
) -> Iterator[ComparedPair]:
    from aoe_reports.stats.comparison import Compared
    from aoe_reports.topics.rules import STEPS_BY_PLACE

    rank, pooled = ranks
    sides = [[step for step in run.steps if pooled or step.rank_id == rank] for run in runs]
    for run, candidate in zip(runs[1:], sides[1:], strict=True):
        both = (sides[0], candidate)
        numbers: list[Sequence[int | None]] = [[step.step for step in steps] for steps in both]
        if set(numbers[0]).isdisjoint(numbers[1]):
            message = say(
                "no step number of {baseline} occurs here: steps are paired in order, from 1", baseline=runs[0].label
            )
            findings.append(STEPS_BY_PLACE.found(run.label, message))
            numbers = [range(1, len(steps) + 1) for steps in both]
        single = _single_steps((both[0], numbers[0]), (both[1], numbers[1]))
        told = [*_whole_steps(*both), *single[: chosen.top]]
        pair = (runs[0], run, rank)
        sums = [sum(_durations(steps, "duration")) for steps in both]
        yield (
            _total(pair, Compared((), len(single), sums[0], sums[1], None)),
            [_change(position, pair, known, difference) for position, (known, difference) in enumerate(told, start=1)],
        )


_Known = dict[str, "str | int | None"]
"""What tells a row from the others, by field."""
_UNKEYED: _Known = dict.fromkeys(("op_type", "task_type", "op_name", "input_shapes", "location", "metric", "step"))


def _whole_steps(baseline: Sequence[Step], candidate: Sequence[Step]) -> Iterator[tuple[_Known, Difference]]:
    """What all steps took, and each part of them that both sides tell."""
    from aoe_reports.stats.comparison import compare_values

    for part in ("duration", *_PARTS):
        before, after = _durations(baseline, part), _durations(candidate, part)
        if before and after:
            yield {"metric": say(part)}, compare_values(before, after, (part,))


_Numbered = tuple[Sequence["Step"], Sequence["int | None"]]
"""Steps, and the number of each."""


def _single_steps(baseline: _Numbered, candidate: _Numbered) -> list[tuple[_Known, Difference]]:
    """Each step, the largest change first; of equal ones the earlier step, as they stand."""
    from aoe_reports.stats.comparison import compare_values

    found: list[tuple[_Known, Difference]] = [
        (
            {"metric": say("duration"), "step": number},
            compare_values(_of(*baseline, number), _of(*candidate, number), ("duration", f"{number}")),
        )
        for number in sorted({*baseline[1], *candidate[1]}, key=lambda number: -1 if number is None else number)
    ]
    return sorted(found, key=lambda pair: -abs(pair[1].difference_ns))


def _durations(steps: Sequence[Step], part: str) -> list[int]:
    times = [getattr(step, f"{part}_ns") for step in steps]
    return [time for time in times if time is not None]


def _of(steps: Sequence[Step], numbers: Sequence[int | None], wanted: int | None) -> list[int]:
    return [step.duration_ns for step, number in zip(steps, numbers, strict=True) if number == wanted]


_Sides = tuple["ComparedRun", "ComparedRun", "int | None"]
"""(baseline, candidate, rank)."""


def _total(pair: _Sides, one: Compared) -> Total:
    baseline, candidate, rank = pair
    return Total(
        baseline=baseline.label,
        candidate=candidate.label,
        rank_id=rank,
        groups=one.groups,
        baseline_total_ns=one.baseline_ns,
        candidate_total_ns=one.candidate_ns,
        difference_ns=one.candidate_ns - one.baseline_ns,
        ratio=round(one.candidate_ns / one.baseline_ns, 6) if one.baseline_ns else None,
        common_inputs_ns=one.common_ns,
    )


def _change(position: int, pair: _Sides, known: _Known, difference: Difference) -> Change:
    baseline, candidate, rank = pair
    before = difference.baseline_ns / difference.baseline_count if difference.baseline_count else None
    after = difference.candidate_ns / difference.candidate_count if difference.candidate_count else None
    return row_from(
        Change,
        difference,
        **(_UNKEYED | known),
        position=position,
        baseline=baseline.label,
        candidate=candidate.label,
        rank_id=rank,
        count_difference=difference.candidate_count - difference.baseline_count,
        baseline_total_ns=difference.baseline_ns if before is not None else None,
        candidate_total_ns=difference.candidate_ns if after is not None else None,
        ratio=None if difference.ratio is None or after is None else round(difference.ratio, 6),
        baseline_mean_ns=before,
        candidate_mean_ns=after,
        mean_difference_ns=after - before if before is not None and after is not None else None,
        ci_low_ns=difference.interval.low if difference.interval else None,
        ci_high_ns=difference.interval.high if difference.interval else None,
        interval=difference.interval.method if difference.interval else None,
        cause=difference.cause and say(difference.cause),
        new_inputs=list(difference.new_inputs[:_MAX_INPUTS]),
        new_inputs_count=len(difference.new_inputs),
        vanished_inputs=list(difference.vanished_inputs[:_MAX_INPUTS]),
        vanished_inputs_count=len(difference.vanished_inputs),
    )
