"""Captures against each other: reads each once, says whether they compare, and what takes longer or shorter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.analysis.comparison import (
    KEYS,
    LEAST_VALUES,
    LEVEL,
    MOST_RESAMPLED,
    RESAMPLES,
    SEED,
    TELLS,
    By,
    Compared,
    Difference,
    Side,
    choose_calls,
    compare_calls,
    compare_values,
)
from aoe_reports.analysis.steps import Step
from aoe_reports.analysis.tasks import TaskSet
from aoe_reports.columns import column_of, has_value
from aoe_reports.errors import ReadError, UsageError
from aoe_reports.findings import Finding
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.profile import TASK_KINDS, Capture, Telling
from aoe_reports.readers.summary import TableData
from aoe_reports.tables.pmu import metrics_set
from aoe_reports.texts import join, say
from aoe_reports.workflows.captures import TASK_FALLBACKS, find_runs, read_steps, read_tasks, read_telling

METHOD = {
    "level": LEVEL,
    "resamples": RESAMPLES,
    "seed": SEED,
    "least_values": LEAST_VALUES,
    "normal_above": MOST_RESAMPLED,
}
_MOST_INPUTS = 5
"""How many of the inputs that stand on one side only a row names."""
_PARTS = (
    "computing", "communication", "communication_not_overlapped", "overlapped", "free",
    "fp_bp", "iteration_refresh", "data_aug_bound",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How captures are compared."""

    by: By = "op_type"
    top: int = 20
    rank: int | None = None
    device: int | None = None
    step: int | None = None
    all_tasks: bool = False
    force: bool = False
    max_expanded: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows, the sums of each pair, what was found on the way, and whether something could not be read."""

    rows: list[dict[str, Any]]
    totals: list[dict[str, Any]]
    findings: list[Finding]
    unreadable: bool


@dataclass(slots=True)
class ComparedRun:
    """One run as it is compared."""

    label: str
    captures: tuple[Capture, ...]
    tasks: list[TaskSet] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    metrics: str | None = None
    """The set of PMU metrics, as the header of the tasks shows it."""

    @property
    def ranks(self) -> list[int | None]:
        found = {part.rank_id for part in self.tasks or self.steps}
        return sorted(found, key=lambda rank: -1 if rank is None else rank)


def compare_paths(paths: Sequence[Path], options: CompareOptions) -> Comparison:
    """Every path after the first against the first; each has to hold one run."""
    findings: list[Finding] = []
    runs, unreadable = [], False
    for place, path in enumerate(paths):
        if path in paths[1:place]:
            raise UsageError(say("{path}: stands there twice; once is enough", path=path))
        run, could_not = _read_run(path, options, findings)
        unreadable |= could_not
        runs.append(run)
    rows: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    baseline = runs[0]
    if baseline is not None:
        comparable = [run for run in runs[1:] if run is not None and may_be_compared(baseline, run, options, findings)]
        compare = _compare_steps if options.by == "step" else _compare_calls
        for candidates, ranks in _by_ranks(baseline, comparable, options, findings):
            compare([baseline, *candidates], ranks, options, rows, totals, findings)
    return Comparison(rows, totals, findings_in_order(findings), unreadable)


def _read_run(path: Path, options: CompareOptions, findings: list[Finding]) -> tuple[ComparedRun | None, bool]:
    """(the run below a path, None where nothing of it can be compared; whether something could not be read)."""
    discovery = discover([path], max_expanded=options.max_expanded)
    findings += discovery.findings
    found = find_runs(discovery)
    if len(found) > 1:
        # ranks of one job come apart where what says so is damaged
        damage = [finding for captures in found for capture in captures for finding in capture.findings]
        told = say(
            "{path}: holds {count} runs; name one of them (aoe-reports inspect tells where they lie)",
            path=path,
            count=len(found),
        )
        why = [say("{path}: {text}", path=finding.path, text=finding.message) for finding in damage[:1]]
        raise UsageError(join("; ", (told, *why)))
    if not found:
        if not any(finding.severity == "error" for finding in discovery.findings):
            findings.append(Finding("error", "nothing-measured", str(path), say("no profile here to compare")))
        return None, discovery.unreadable
    captures = found[0]
    run = ComparedRun(str(path), captures)
    unreadable = discovery.unreadable
    for capture in captures:
        findings += capture.findings
        ranks = {capture.info.rank_id, *capture.info.ranks.values()}
        if options.rank is not None and options.rank not in ranks:
            continue
        try:
            _read_capture(run, capture, options, findings)
        except (ReadError, OSError) as error:
            unreadable = True
            findings.append(Finding("error", "unreadable", str(capture.root), str(error)))
    run.tasks = _tasks_asked_for(run.tasks, options)
    run.steps = [
        step
        for step in run.steps
        if options.rank in {None, step.rank_id}
        and options.device in {None, step.device_id}
        and options.step in {None, step.step}
    ]
    if not (run.steps if options.by == "step" else run.tasks):
        message = say("no step to compare here" if options.by == "step" else "no task to compare here")
        asked = [("rank {value}", options.rank), ("device {value}", options.device), ("step {value}", options.step)]
        words = [say(template, value=value) for template, value in asked if value is not None]
        if words:
            message = say("{what} ({asked})", what=message, asked=join(", ", words))
        findings.append(Finding("error", "nothing-measured", str(path), message))
        return None, unreadable
    return run, unreadable


def _tasks_asked_for(sets: Sequence[TaskSet], options: CompareOptions) -> list[TaskSet]:
    """The tasks of the rank, the device and the step that are wanted; sums by type know no steps."""
    chosen = [
        tasks for tasks in sets if options.rank in {None, tasks.rank_id} and options.device in {None, tasks.device_id}
    ]
    if options.step is None:
        return chosen
    told = [tasks for tasks in chosen if "step" in tasks.frame.column_names]
    parts = [replace(tasks, frame=tasks.frame.filter(pc.equal(tasks.frame["step"], options.step))) for tasks in told]
    return [tasks for tasks in parts if tasks.frame.num_rows]


def _read_capture(run: ComparedRun, capture: Capture, options: CompareOptions, findings: list[Finding]) -> None:
    def read(telling: Telling | None) -> list[TableData]:
        found = read_telling(telling, hashed=False)
        findings.extend(finding for data in found for finding in data.findings)
        return found

    run.steps += read_steps(capture, read)
    if options.by == "step":
        return
    fields = {*KEYS[options.by], "task_type", "task_duration_ns", "input_shapes", "input_formats", "input_data_types"}
    if options.device is not None or len(set(capture.info.ranks.values())) > 1:
        fields.add("device_id")
    if options.step is not None:
        fields.add("step")
    communication = options.all_tasks or options.by == "communication"
    by_type = options.by == "op_type" and not communication and options.step is None
    sets, tables = read_tasks(capture, frozenset(fields) | TASK_FALLBACKS, by_type=by_type, all_tasks=communication)
    findings += [finding for data in tables for finding in data.findings]
    run.tasks += sets
    if sets and tables[-1].table.name in TASK_KINDS:
        run.metrics = metrics_set(field.header for field in tables[-1].match.fields)
    elif sets:
        name = tables[-1].table.name
        message = say(
            "no table of tasks with their operators here; {table} stands in ({what})",
            table=name,
            what=say("it tells no inputs of calls"),
        )
        findings.append(Finding("info", "stands-in", str(tables[-1].path), message))


def may_be_compared(
    baseline: ComparedRun,
    candidate: ComparedRun,
    options: CompareOptions,
    findings: list[Finding],
    *,
    leave_out: Collection[str] = (),
) -> bool:
    """Hold what is known of two runs against each other; what differs is said, and refused unless forced."""
    known, unknown = [], []
    for what, of in FACTS.items():
        if what in leave_out:
            continue
        if options.by == "step" and of is _shapes_told:
            continue  # steps have no inputs
        before, after = of(baseline), of(candidate)
        if before is None or after is None:
            unknown.append(say(what))
        elif before != after:
            told = {"before": _said(before), "after": _said(after)}
            known.append(say("{what} ({before} before, {after} after)", what=say(what), **told))
    if unknown:
        message = say(
            "not known of both sides: {facts}; whether they compare in that cannot be told", facts=join(", ", unknown)
        )
        findings.append(Finding("warning", "comparability-unknown", candidate.label, message))
    if not known:
        return True
    message = say("not comparable with {baseline}: other {facts}", baseline=baseline.label, facts=join(", ", known))
    if not options.force:
        message = join("; ", (message, say("--force compares nevertheless")))
    findings.append(Finding("warning" if options.force else "error", "not-comparable", candidate.label, message))
    return options.force


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return join(", ", map(_said, value))
    return value if isinstance(value, str) else str(value)


def _one(run: ComparedRun, of: Callable[[Capture], Any]) -> Any:
    """What all captures of a run say alike; None where they say nothing."""
    said = {value for capture in run.captures if (value := of(capture)) is not None}
    return None if not said else next(iter(said)) if len(said) == 1 else tuple(sorted(said))


def _device_type(run: ComparedRun) -> Any:
    """The chip by its name, else by the numbers of its cores and its clock."""
    named = _one(run, lambda capture: capture.info.device_type)
    if named is not None:
        return named
    wanted = ("ai_core_num", "aiv_num", "aic_frequency")
    return _one(
        run,
        lambda capture: (
            tuple(f"{name} {capture.info.hardware[name]}" for name in wanted if name in capture.info.hardware) or None
        ),
    )


def _metrics(run: ComparedRun) -> Any:
    """What the header of the tasks shows comes first: a profiler may be told of metrics that it then leaves out."""
    return run.metrics or _one(run, lambda capture: metrics_set([capture.info.aic_metrics or ""]))


def _step_count(run: ComparedRun) -> int | None:
    return max(Counter(step.rank_id for step in run.steps).values(), default=None)


def _shapes_told(run: ComparedRun) -> str | None:
    if not run.tasks:
        return None
    return say("told" if any(has_value(tasks.frame, "input_shapes") for tasks in run.tasks) else "not told")


FACTS: dict[str, Callable[[ComparedRun], Any]] = {
    "device type": _device_type,
    "CANN version": lambda run: _one(run, lambda capture: capture.info.cann_version),
    "profiler level": lambda run: _one(run, lambda capture: capture.info.profiler_level),
    "set of AI Core metrics": _metrics,
    "number of steps": _step_count,
    "telling of shapes": _shapes_told,
}
"""What has to be the same on both sides; None where nothing tells."""


def _by_ranks(
    baseline: ComparedRun, candidates: Sequence[ComparedRun], options: CompareOptions, findings: list[Finding]
) -> list[tuple[list[ComparedRun], tuple[int | None, bool]]]:
    """(the candidates, (the rank, whether all ranks are taken together)) of each table of rows that is to be made."""
    of_first = baseline.ranks
    same = [run for run in candidates if run.ranks == of_first]
    others = []
    for run in candidates:
        if run.ranks == of_first:
            continue
        if len(run.ranks) == len(of_first) == 1:
            message = say("another rank than in the baseline, or of unknown rank")
            findings.append(Finding("warning", "comparability-unknown", run.label, message))
            others.append(run)
            continue
        message = say(
            "not comparable with {baseline}: other ranks ({before} before, {after} after)",
            baseline=baseline.label,
            before=_said(tuple(of_first)),
            after=_said(tuple(run.ranks)),
        )
        severity: Literal["warning", "error"] = "warning" if options.force else "error"
        findings.append(Finding(severity, "not-comparable", run.label, message))
        if options.force:
            others.append(run)
    found: list[tuple[list[ComparedRun], tuple[int | None, bool]]] = [
        (same, (rank, False)) for rank in of_first if same
    ]
    return [*found, (others, (None, True))] if others else found


def _compare_calls(
    runs: Sequence[ComparedRun],
    ranks: tuple[int | None, bool],
    options: CompareOptions,
    rows: list[dict[str, Any]],
    totals: list[dict[str, Any]],
    findings: list[Finding],
) -> None:
    rank, pooled = ranks
    sides = [_side([tasks for tasks in run.tasks if pooled or tasks.rank_id == rank], options) for run in runs]
    needed = TELLS[options.by]
    silent = [
        run
        for run, side in zip(runs, sides, strict=True)
        if side.frame.num_rows and needed not in side.frame.column_names
    ]
    if silent:
        message = say("its tasks do not tell their {column}: nothing to compare by {by}", column=needed, by=options.by)
        findings += [Finding("error", "nothing-measured", run.label, message) for run in silent]
        return
    keys = [key for key in KEYS[options.by] if all(key in side.frame.column_names for side in sides)]
    compared = compare_calls(sides, keys, options.top)
    for run, one in zip(runs[1:], compared, strict=True):
        if one.groups and one.common_ns == 0 and one.candidate_ns and one.baseline_ns:
            message = say(
                "not comparable with {baseline}: no call has inputs that a call of the baseline has",
                baseline=runs[0].label,
            )
            severity: Literal["warning", "error"] = "warning" if options.force else "error"
            findings.append(Finding(severity, "not-comparable", run.label, message))
            if not options.force:
                continue
        totals.append(_totals(runs[0], run, rank, one))
        for position, difference in enumerate(one.differences, start=1):
            known = dict(zip(keys, difference.key, strict=True))
            rows.append(_row(position, runs[0], run, rank, known, difference))


def _side(sets: Sequence[TaskSet], options: CompareOptions) -> Side:
    """The calls of one rank that are compared; communication is called the same in all ages."""
    grouped = any(tasks.grouped for tasks in sets)
    frames = [choose_calls(tasks.frame, options.by, all_tasks=options.all_tasks) for tasks in sets]
    if grouped:
        frames = [frame if tasks.grouped else _counted(frame) for tasks, frame in zip(sets, frames, strict=True)]
    if not frames:
        return Side(_EMPTY)
    return Side(pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0], grouped)


def _counted(frame: pa.Table) -> pa.Table:
    """Tasks in the form of a table of types, for want of tasks elsewhere in the same run."""
    ones = column_of(np.ones(frame.num_rows, dtype=np.int64), np.ones(frame.num_rows, dtype=bool))
    return frame.append_column("count", ones).append_column("total_time_ns", frame["task_duration_ns"])


_WORDS = ("op_type", "task_type", "op_name", "input_shapes", "input_formats", "input_data_types")
_EMPTY = pa.schema(
    [*((name, pa.dictionary(pa.int32(), pa.string())) for name in _WORDS), ("task_duration_ns", pa.int64())]
).empty_table()


def _compare_steps(
    runs: Sequence[ComparedRun],
    ranks: tuple[int | None, bool],
    options: CompareOptions,
    rows: list[dict[str, Any]],
    totals: list[dict[str, Any]],
    findings: list[Finding],
) -> None:
    rank, pooled = ranks
    baseline = [step for step in runs[0].steps if pooled or step.rank_id == rank]
    for run in runs[1:]:
        candidate = [step for step in run.steps if pooled or step.rank_id == rank]
        numbers = [[step.step for step in steps] for steps in (baseline, candidate)]
        if set(numbers[0]).isdisjoint(numbers[1]):
            message = say(
                "no step number of {baseline} stands here: steps are paired in their order, from 1",
                baseline=runs[0].label,
            )
            findings.append(Finding("info", "steps-by-place", run.label, message))
            numbers = [list(range(1, len(steps) + 1)) for steps in (baseline, candidate)]
        whole = [("duration", _durations(baseline, "duration"), _durations(candidate, "duration"))]
        whole += [(part, _durations(baseline, part), _durations(candidate, part)) for part in _PARTS]
        position = 0
        for part, before, after in whole:
            if before and after:
                position += 1
                rows.append(
                    _row(position, runs[0], run, rank, {"metric": say(part)}, compare_values(before, after, (part,)))
                )
        single = [
            (
                number,
                compare_values(
                    _of(baseline, numbers[0], number), _of(candidate, numbers[1], number), ("duration", f"{number}")
                ),
            )
            for number in _in_order({*numbers[0], *numbers[1]})
        ]
        single.sort(key=lambda pair: -abs(pair[1].difference_ns))  # of equal ones the earlier step, as they stand
        for number, difference in single[: options.top]:
            position += 1
            rows.append(_row(position, runs[0], run, rank, {"metric": say("duration"), "step": number}, difference))
        sums = [sum(_durations(steps, "duration")) for steps in (baseline, candidate)]
        totals.append(_totals(runs[0], run, rank, Compared((), len(single), sums[0], sums[1], None)))


def _in_order(numbers: Collection[int | None]) -> list[int | None]:
    return sorted(numbers, key=lambda number: -1 if number is None else number)


def _durations(steps: Sequence[Step], part: str) -> list[int]:
    times = [getattr(step, f"{part}_ns") for step in steps]
    return [time for time in times if time is not None]


def _of(steps: Sequence[Step], numbers: Sequence[int | None], wanted: int | None) -> list[int]:
    return [step.duration_ns for step, number in zip(steps, numbers, strict=True) if number == wanted]


def _totals(baseline: ComparedRun, candidate: ComparedRun, rank: int | None, one: Compared) -> dict[str, Any]:
    return {
        "baseline": baseline.label,
        "candidate": candidate.label,
        "rank_id": rank,
        "groups": one.groups,
        "baseline_total_us": one.baseline_ns / 1000,
        "candidate_total_us": one.candidate_ns / 1000,
        "difference_us": (one.candidate_ns - one.baseline_ns) / 1000,
        "ratio": round(one.candidate_ns / one.baseline_ns, 6) if one.baseline_ns else None,
        "common_inputs_us": None if one.common_ns is None else one.common_ns / 1000,
    }


def _row(
    position: int,
    baseline: ComparedRun,
    candidate: ComparedRun,
    rank: int | None,
    known: dict[str, Any],
    one: Difference,
) -> dict[str, Any]:
    means = [
        total / count if count else None
        for total, count in ((one.baseline_ns, one.baseline_count), (one.candidate_ns, one.candidate_count))
    ]
    apart = means[1] - means[0] if means[0] is not None and means[1] is not None else None
    return {
        "position": position,
        "baseline": baseline.label,
        "candidate": candidate.label,
        "rank_id": rank,
        **{name: known.get(name) for name in ("op_type", "task_type", "op_name", "input_shapes", "metric", "step")},
        "state": one.state,
        "baseline_count": one.baseline_count,
        "candidate_count": one.candidate_count,
        "count_difference": one.candidate_count - one.baseline_count,
        "baseline_total_us": one.baseline_ns / 1000 if one.baseline_count else None,
        "candidate_total_us": one.candidate_ns / 1000 if one.candidate_count else None,
        "difference_us": one.difference_ns / 1000,
        "ratio": None if one.ratio is None or not one.candidate_count else round(one.ratio, 6),
        "baseline_mean_us": _us(means[0]),
        "candidate_mean_us": _us(means[1]),
        "mean_difference_us": _us(apart),
        "ci_low_us": _us(one.interval.low if one.interval else None),
        "ci_high_us": _us(one.interval.high if one.interval else None),
        "interval": one.interval.method if one.interval else None,
        "calls_us": _us(one.calls_ns),
        "count_us": _us(one.count_ns),
        "inputs_us": _us(one.inputs_ns),
        "cause": one.cause and say(one.cause),
        "new_inputs": list(one.new_inputs[:_MOST_INPUTS]),
        "new_inputs_count": len(one.new_inputs),
        "vanished_inputs": list(one.vanished_inputs[:_MOST_INPUTS]),
        "vanished_inputs_count": len(one.vanished_inputs),
    }


def _us(ns: float | None) -> float | None:
    return None if ns is None else round(ns / 1000, 6)
