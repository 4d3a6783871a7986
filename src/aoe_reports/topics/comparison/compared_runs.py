"""The sides of a comparison: one run each, read once, and whether they may be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from aoe_reports.engine.absent import absent_ranks, chooses_ranks
from aoe_reports.engine.captures import nothing_measured, read_steps_noting, read_tasks, sources_of, to_prefetch
from aoe_reports.engine.question import Notes
from aoe_reports.engine.rules import NOTHING_MEASURED, STANDS_IN
from aoe_reports.engine.runs import find_runs, memory_captures
from aoe_reports.facts.idle import STEP_COLUMNS, step_of_tasks
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.ascend.tables.pmu import metrics_set
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import distinct, has_value
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.groupings import KEYS, LOCATIONS, ComparedBy
from aoe_reports.model.texts import N_, join, say
from aoe_reports.model.topics.memory import DeviceMemory
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.locations.locations import LOCATED_BY, locate
from aoe_reports.topics.memory.measured import measured_memory
from aoe_reports.topics.quality.trimming import TRIMMED_BY, note_unusual, unusual_of, usual_only, without_steps
from aoe_reports.topics.quality.unsteady import note_unsteady
from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN, NOT_COMPARABLE

if TYPE_CHECKING:
    from aoe_reports.topics.comparison.compare import CompareOptions


@dataclass(slots=True)
class ComparedRun:
    """One run as it is compared."""

    label: str
    captures: tuple[Capture, ...]
    tasks: list[TaskSet] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    metrics: str | None = None
    """The set of PMU metrics, as the header of the tasks shows it."""
    memory: list[DeviceMemory] = field(default_factory=list)
    """Of the devices whose memory was recorded."""

    @property
    def of_memory(self) -> bool:
        """Whether no profiler recorded it, and only its memory is known."""
        return all(capture.of_memory for capture in self.captures)

    @property
    def ranks(self) -> list[int | None]:
        found = {part.rank_id for part in self.tasks or self.steps}
        return sorted(found, key=lambda rank: -1 if rank is None else rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUnit:
    """One side of a comparison: a path that holds one run, and its captures."""

    path: str
    captures: tuple[Capture, ...]


def find_side(path: Path, max_expanded: int | None, notes: Notes) -> RunUnit | None:
    """The one run below a path, else the recordings of memory there; None where there is neither. Raises UsageError where there are several runs."""
    files = discover([path], max_expanded=max_expanded)
    notes.take(Notes(list(files.findings), files.unreadable))
    found = find_runs(files)
    if len(found) > 1:
        # ranks of one job come apart where what says so is damaged
        damage = [finding for captures in found for capture in captures for finding in capture.findings]
        told = say(
            "{path}: contains {count} runs; name one of them (aoe-reports inspect shows where they are)",
            path=path,
            count=len(found),
        )
        why = [say("{path}: {text}", path=finding.path, text=finding.message) for finding in damage[:1]]
        raise UsageError(join("; ", (told, *why)))
    if found:
        return RunUnit(path=str(path), captures=found[0])
    recordings = tuple(memory_captures(files))
    if not recordings:
        if not any(finding.severity == "error" for finding in files.findings):
            notes.add([NOTHING_MEASURED.found(str(path), say("no profile here to compare"))])
        return None
    return RunUnit(path=str(path), captures=recordings)


def read_side(unit: RunUnit, wanted: CompareOptions, notes: Notes) -> ComparedRun | None:
    """What is compared of a run; None where there is nothing. A capture that cannot be read is noted."""
    run = ComparedRun(unit.path, unit.captures)
    for capture in unit.captures:
        notes.add(capture.findings)
        if not capture.info.may_hold(wanted.rank):
            continue
        with notes.where_unreadable(capture.root):
            if not capture.of_memory:
                _read_capture(run, capture, wanted, notes)
            if wanted.step is None:
                run.memory += read_memory(capture, wanted.rank, notes, wanted.device)
    if run.of_memory:
        return with_memory_only(run, notes)
    run.tasks = _tasks_asked_for(run.tasks, wanted)
    run.steps = [step for step in run.steps if step.is_of(wanted.rank, wanted.device, wanted.step)]
    if run.steps if wanted.by == "step" else run.tasks:
        if not chooses_ranks(wanted):
            notes.add(absent_ranks(unit.captures, run.ranks, notes.findings, wanted.step))
        return run
    what = say("no step to compare here" if wanted.by == "step" else "no task to compare here")
    asked = {"rank": wanted.rank, "device": wanted.device, "step": wanted.step}
    notes.add([nothing_measured([unit.path], what, unit.captures, **asked)])
    return None


def with_memory_only(run: ComparedRun, notes: Notes) -> ComparedRun | None:
    """A run whose memory alone is compared; None where there is nothing, or more than one recording of a device."""
    places = Counter((device.rank_id, device.device_id, device.process_id) for device in run.memory)
    if places and max(places.values()) == 1:
        return run
    several = say("several recordings of the memory of one device here; name one of them")
    nothing = say("no profile and no memory of a device to compare here")
    notes.add([NOTHING_MEASURED.found(run.label, several if places else nothing)])
    return None


def read_memory(capture: Capture, rank: int | None, notes: Notes, device: int | None = None) -> list[DeviceMemory]:
    """The memory of the devices of a capture; of the rank and the device alone that are asked for."""
    memory, findings = measured_memory(capture)
    notes.add(findings)
    return [one for one in memory if rank in {None, one.rank_id} and device in {None, one.device_id}]


def _tasks_asked_for(sets: Sequence[TaskSet], wanted: CompareOptions) -> list[TaskSet]:
    """The tasks of the rank, the device and the step that are wanted; sums by type know no steps."""
    chosen = [
        tasks for tasks in sets if wanted.rank in {None, tasks.rank_id} and wanted.device in {None, tasks.device_id}
    ]
    if wanted.step is None:
        return chosen
    told = [tasks for tasks in chosen if "step" in tasks.frame.column_names]
    parts = [replace(tasks, frame=tasks.frame.filter(pc.equal(tasks.frame["step"], wanted.step))) for tasks in told]
    return [tasks for tasks in parts if tasks.frame.num_rows]


def _read_capture(run: ComparedRun, capture: Capture, wanted: CompareOptions, notes: Notes) -> None:
    findings, path = notes.findings, str(capture.root)
    fields = None if wanted.by == "step" else _fields(capture, wanted)
    collected = None if fields is None else to_prefetch(capture, fields)
    steps = read_steps_noting(capture, findings, collected)
    left_out = unusual_of(path, steps, notes) if wanted.trim else {}
    if not wanted.trim and wanted.step is None:
        note_unusual(path, steps, notes, rank=wanted.rank, device=wanted.device)
    if wanted.step is None:
        note_unsteady(path, steps, notes, rank=wanted.rank, device=wanted.device)
    run.steps += usual_only(steps, left_out)
    if fields is None:
        return
    communication = wanted.all_tasks or wanted.by == "communication"
    by_type = wanted.by == "op_type" and not communication and wanted.step is None
    sets, tables = read_tasks(capture, fields, by_type=by_type, all_tasks=communication, collected=collected)
    findings += [finding for data in tables for finding in data.findings]
    exported = [tasks.as_exported() for tasks in without_steps(sets, left_out, path, notes)]
    run.tasks += _located(exported, capture, wanted, notes)
    run.metrics = metrics_of(tables) or run.metrics
    if sets and tables[-1].table.facts != "tasks":
        name = tables[-1].name
        message = say(
            "no table of tasks with their operators here; {table} is used instead ({what})",
            table=name,
            what=say("it has no inputs of calls"),
        )
        findings.append(STANDS_IN.found(str(tables[-1].path), message))


def _located(sets: list[TaskSet], capture: Capture, wanted: CompareOptions, notes: Notes) -> list[TaskSet]:
    """The tasks with where they were launched, if they are compared by that; those that are not wanted are left out before."""
    by = LOCATIONS.get(wanted.by)
    return (
        sets if by is None else locate(_tasks_asked_for(sets, wanted), capture, by, notes, all_tasks=wanted.all_tasks)
    )


def metrics_of(tables: Sequence[TableData]) -> str | None:
    """The set of PMU metrics that the header of the tasks shows, where these are in a table of tasks."""
    if not tables or tables[-1].table.facts != "tasks":
        return None
    return metrics_set(field.header for field in tables[-1].match.fields)


def _fields(capture: Capture, wanted: CompareOptions) -> frozenset[str]:
    located = LOCATED_BY if wanted.by in LOCATIONS else frozenset(KEYS[wanted.by])
    fields = {*located, "task_type", "task_duration_ns", "input_shapes", "input_formats", "input_data_types"}
    if wanted.by == "op_type" and not tell_types(capture):
        fields.add("op_name")
    if wanted.device is not None or capture.info.several_ranks:
        fields.add("device_id")
    if wanted.step is not None:
        fields.add("step")
    if not vendor_of(capture.profiler).steps(capture):
        fields |= set(STEP_COLUMNS)  # only the tasks show how many steps there are
    return frozenset(fields) | (TRIMMED_BY if wanted.trim else frozenset())


def tell_types(capture: Capture) -> bool:
    """Whether the tasks of a capture may have types of operators: timelines have none."""
    return bool(sources_of(capture, "tasks") or sources_of(capture, "sums"))


def may_be_compared(
    baseline: ComparedRun,
    candidate: ComparedRun,
    findings: list[Finding],
    *,
    by: ComparedBy,
    force: bool,
    leave_out: Collection[str] = (),
) -> bool:
    """Hold what is known of two runs against each other; what differs is said, and refused unless forced. Of recordings of memory nothing is known."""
    if baseline.of_memory or candidate.of_memory:
        return _both_of_memory(baseline, candidate, findings)
    known, unknown = [], []
    told = {what: (of(baseline), of(candidate)) for what, of in FACTS.items() if what not in leave_out}
    if by == "step":
        told.pop(_SHAPES, None)  # steps have no inputs
    for what, (before, after) in told.items():
        if before is None or after is None:
            unknown.append(say(what))
        elif before != after:
            words = {"before": words_of(before), "after": words_of(after)}
            known.append(say("{what} ({before} before, {after} after)", what=say(what), **words))
    if unknown:
        message = say(
            "not known for both sides: {facts}; it cannot be determined whether these are comparable",
            facts=join(", ", unknown),
        )
        findings.append(COMPARABILITY_UNKNOWN.found(candidate.label, message))
    if not known:
        return True
    message = say(
        "not comparable with {baseline}: the following differ: {facts}",
        baseline=baseline.label,
        facts=join(", ", known),
    )
    if not force:
        message = join("; ", (message, say("use --force to compare anyway")))
    findings.append(NOT_COMPARABLE.found(candidate.label, message, severity="warning" if force else "error"))
    return force


def _both_of_memory(baseline: ComparedRun, candidate: ComparedRun, findings: list[Finding]) -> bool:
    if baseline.of_memory and candidate.of_memory:
        return True
    message = say(
        "not comparable with {baseline}: one is a profile, of the other only memory is recorded",
        baseline=baseline.label,
    )
    findings.append(NOT_COMPARABLE.found(candidate.label, message))
    return False


def settings_of(run: ComparedRun) -> dict[str, str]:
    """What info files of a run say of versions, the environment and the like; of captures that differ each value."""
    names = sorted({name for capture in run.captures for name in capture.info.settings})
    return {name: words_of(_one(run, _setting(name))) for name in names}


def _setting(name: str) -> Callable[[Capture], str | None]:
    return lambda capture: capture.info.settings.get(name)


def words_of(value: Any) -> str:
    """What two sides differ in, as people read it."""
    if isinstance(value, tuple):
        return join(", ", map(words_of, value))
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
    """The number of steps of a rank: from tables of steps or timelines, else from the steps of tasks."""
    task_steps = (step_of_tasks(tasks.frame) for tasks in run.tasks if not run.steps)
    of_tasks = (int((distinct(one[1]) >= 0).sum()) for one in task_steps if one is not None)
    return max(Counter(step.rank_id for step in run.steps).values(), default=max(of_tasks, default=None))


def of_other_steps(baseline: ComparedRun, candidate: ComparedRun) -> bool:
    """Whether two runs are not known to be of as many steps."""
    before = _step_count(baseline)
    return before is None or before != _step_count(candidate)


def _shapes_told(run: ComparedRun) -> str | None:
    if not run.tasks:
        return None
    return say("recorded" if any(has_value(tasks.frame, "input_shapes") for tasks in run.tasks) else "not recorded")


_SHAPES = N_("shape recording")
FACTS: dict[str, Callable[[ComparedRun], Any]] = {
    "device type": _device_type,
    "CANN version": lambda run: _one(run, lambda capture: capture.info.engine_version),
    "profiler level": lambda run: _one(run, lambda capture: capture.info.profiler_level),
    "set of AI Core metrics": _metrics,
    "number of steps": _step_count,
    _SHAPES: _shapes_told,
}
"""What has to be the same on both sides; None where nothing tells."""
