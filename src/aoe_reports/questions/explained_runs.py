"""The sides of `explain`: what each device of a run did, from its timeline, else from its tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import (
    collect_events_of,
    nothing_measured,
    only_device_of,
    read_steps_noting,
    read_tasks,
    timeline_tells_steps,
    timeline_tells_tasks,
)
from aoe_reports.engine.communication import read_operators, read_volumes
from aoe_reports.engine.question import Notes
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, Parts
from aoe_reports.facts.communication import OperatorTime, find_awaited_ranks
from aoe_reports.facts.exposed import Exposed, exposed_of, exposed_of_spans, together
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.facts.steps import Step
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.facts.waterfall import CallKey, Side, Talk
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.spilled import Numbers
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.columns import Ints, codes, exact_sum, has_value, integers, keep_where, valid
from aoe_reports.model.texts import say
from aoe_reports.questions.compared_runs import ComparedRun, RunUnit, metrics_of
from aoe_reports.questions.explain import ExplainedBy, ExplainOptions
from aoe_reports.stats.grouping import group_codes, is_communication

Place = tuple[int | None, int | None]
"""(rank, device)."""
_KEYS = ("op_type", "input_shapes", "input_formats", "input_data_types")
_FIELDS = frozenset({*_KEYS, "op_name", "task_type", "task_start_ns", "task_duration_ns", "device_id", "step"})


@dataclass(slots=True)
class ExplainedRun:
    """One run: what each of its devices did."""

    compared: ComparedRun
    sides: dict[Place, Side] = field(default_factory=dict)
    awaited: int | None = None
    """The rank that the others wait for longest, where tables of communication tell."""


def read_explained(unit: RunUnit, wanted: ExplainOptions, notes: Notes) -> ExplainedRun | None:
    """What the devices of a run did; None where nothing tells. A capture that cannot be read is noted."""
    run = ExplainedRun(ComparedRun(unit.path, unit.captures))
    operators: list[OperatorTime] = []
    for capture in unit.captures:
        notes.add(capture.findings)
        if not capture.info.may_hold(wanted.rank):
            continue
        with notes.where_unreadable(capture.root):
            operators += _read_capture(run, capture, wanted, notes)
    awaited = find_awaited_ranks(operators)
    run.awaited = awaited[0].rank if awaited else None
    if run.sides:
        return run
    what = say("no step to explain here")
    notes.add([nothing_measured([unit.path], what, unit.captures, rank=wanted.rank)])
    return None


def _read_capture(run: ExplainedRun, capture: Capture, wanted: ExplainOptions, notes: Notes) -> list[OperatorTime]:
    """Take in the devices of one capture; what its tables tell of communication."""
    alone = timeline_tells_tasks(capture)  # then one pass over it tells everything
    steps = [] if timeline_tells_steps(capture) else read_steps_noting(capture, notes.findings)
    sets, tables = ([], []) if alone else read_tasks(capture, _FIELDS, by_type=False, all_tasks=True)
    notes.add(finding for data in tables for finding in data.findings)
    run.compared.tasks += map(_in_short, sets)
    run.compared.steps += steps
    run.compared.metrics = metrics_of(tables) or run.compared.metrics
    operators = read_operators(capture, notes.findings)
    talk = _talk(operators, capture, notes)
    found = _of_timeline(capture, notes, alone=alone)
    if not any(exposed.whole.end_to_end_ns for exposed in found.values()):
        found = _of_tables(sets, steps)
    for place, exposed in found.items():
        if wanted.rank not in {None, place[0]}:
            continue
        mine = [tasks for tasks in sets if tasks.device_id in {None, place[1]} or place[1] is None]
        calls = (
            _calls(mine, wanted.by) or {(name, None, None, None): of for name, of in exposed.kernels.items()} or None
        )
        count = exposed.steps or _steps_of(place, steps, mine)
        run.sides[place] = Side(exposed=exposed, steps=max(count, 1), calls=calls, talk=talk)
    return operators


def _in_short(tasks: TaskSet) -> TaskSet:
    """One of its rows, with shapes if any has them: all that telling the conditions of a run takes."""
    frame = tasks.frame
    if has_value(frame, "input_shapes"):
        frame = frame.filter(keep_where(valid(frame["input_shapes"])))
    return replace(tasks, frame=frame.slice(0, 1))


def _of_timeline(capture: Capture, notes: Notes, *, alone: bool) -> dict[Place, Exposed]:
    """The devices in the timelines of a capture."""
    found: dict[Place, list[Exposed]] = defaultdict(list)
    for files in vendor_of(capture.profiler).events(capture):
        activity, wrong = collect_events_of(files, EVENT_COLUMNS, Activity)
        notes.add(wrong)
        devices = exposed_of(activity, kernels=alone)
        for device in devices:
            number = device.device_id
            if number is None and len(devices) == 1:
                number = only_device_of(files[0], capture)
            found[(capture.info.rank_of(number), number)].append(device)
    return {place: together(several) for place, several in found.items()}


def _of_tables(sets: Sequence[TaskSet], steps: Sequence[Step]) -> dict[Place, Exposed]:
    """The devices in tables of tasks that hold times, else in a table of steps."""
    timed = [tasks for tasks in sets if not tasks.grouped and has_value(tasks.frame, "task_start_ns")]
    if timed:
        return {(tasks.rank_id, tasks.device_id): _of_tasks(tasks.frame) for tasks in timed}
    found: dict[Place, list[Exposed]] = defaultdict(list)
    for step in steps:
        if step.computing_ns is not None and step.free_ns is not None:
            found[(step.rank_id, step.device_id)].append(_of_step(step))
    return {place: together(several) for place, several in found.items()}


def _of_tasks(frame: pa.Table) -> Exposed:
    communication = is_communication(frame["task_type"])
    starts, there = integers(frame["task_start_ns"])
    durations, _ = integers(frame["task_duration_ns"])
    numbers, words = codes(frame["op_name"])
    tasks: Numbers = {"start": starts, "end": starts + durations}
    mine, others = ~communication & there, communication & there
    talk: Numbers = {
        "start": starts[others],
        "end": (starts + durations)[others],
        "name": numbers[others].astype(np.int64),
    }
    return exposed_of_spans(
        {name: times[mine] for name, times in tasks.items()}, talk, ["", *words], _distinct_steps(frame)
    )


def _of_step(step: Step) -> Exposed:
    """A row of a table of steps: what communicated, and why the device was idle, it does not tell."""
    talk = step.communication_not_overlapped_ns or 0
    computing, free = step.computing_ns or 0, step.free_ns or 0
    whole = Parts(
        start_ns=0,
        end_ns=computing + talk + free,
        tasks=0,
        intervals=0,
        computing_ns=computing,
        communication_ns=step.communication_ns,
        overlapped_ns=step.overlapped_ns,
        communication_not_overlapped_ns=talk,
        free_ns=free,
    )
    return Exposed(
        device_id=step.device_id,
        told_by="steps",
        whole=whole,
        steps=1,
        step_ns=(whole.end_to_end_ns,),
        communication_ns={"": talk},
        idle_ns={"unknown": free},
    )


def _steps_of(place: Place, steps: Sequence[Step], sets: Sequence[TaskSet]) -> int:
    """How many steps of a device there are, by tables; 0 where none tells."""
    mine = {step.step for step in steps if step.rank_id == place[0] and step.device_id in {None, place[1]}}
    return len(mine) or max((_distinct_steps(tasks.frame) for tasks in sets if not tasks.grouped), default=0)


def _distinct_steps(frame: pa.Table) -> int:
    told = step_of_tasks(frame)
    return 0 if told is None else int((np.unique(told[1]) >= 0).sum())


def _calls(sets: Sequence[TaskSet], by: ExplainedBy) -> Mapping[CallKey, tuple[int, int]] | None:
    """(count, total ns) of what computes, by type and inputs; None where no table tells tasks."""
    found: dict[CallKey, list[int]] = defaultdict(lambda: [0, 0])
    for tasks in sets:
        if tasks.grouped:
            return None
        for key, count, total in _grouped(tasks.frame, by):
            found[key][0] += count
            found[key][1] += total
    return {key: (count, total) for key, (count, total) in found.items()} if found else None


def _grouped(frame: pa.Table, by: ExplainedBy) -> Iterable[tuple[CallKey, int, int]]:
    frame = frame.filter(keep_where(~is_communication(frame["task_type"])))
    named = by if has_value(frame, by) else "op_name"
    groups, names = group_codes(frame, [named, *_KEYS[1:]])
    durations, _ = integers(frame["task_duration_ns"])
    counts = np.bincount(groups, minlength=names.count)
    totals = _sums(durations, groups, names.count)
    for place in range(names.count):
        op_type, shapes, formats, types = names[place]
        yield (op_type, shapes, formats, types), int(counts[place]), totals[place]


def _sums(values: Ints, groups: Ints, count: int) -> list[int]:
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(count + 1))
    ordered = values[order]
    return [exact_sum(ordered[start:end]) for start, end in pairwise(bounds.tolist())]


def _talk(operators: Sequence[OperatorTime], capture: Capture, notes: Notes) -> dict[str, Talk]:
    """What the tables of communication of a capture tell, by kind of operator."""
    sizes = Counter[str]()
    for volume in read_volumes(capture, None, notes.findings):
        sizes[volume.op_type] += volume.transit_bytes
    kinds = sorted({operator.op_type for operator in operators})
    return {kind: _of_kind([one for one in operators if one.op_type == kind], sizes.get(kind)) for kind in kinds}


def _of_kind(operators: Sequence[OperatorTime], transit_bytes: int | None) -> Talk:
    waits = [one.wait_ns for one in operators]
    known = [wait for wait in waits if wait is not None]
    return Talk(
        elapsed_ns=sum(one.elapsed_ns for one in operators),
        wait_ns=sum(known) if len(known) == len(waits) else None,
        transit_bytes=transit_bytes,
    )
