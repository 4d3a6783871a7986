"""What `--trim` leaves out: the steps that `quality` calls warm-up or tear-down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from aoe_reports.engine.captures import PrefetchedTasks, in_short, read_steps_noting, timeline_tells_steps
from aoe_reports.engine.question import Notes
from aoe_reports.facts.breakdown import DeviceBreakdown
from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.model.arrays.columns import Mask, has_value, integers, keep_where
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.observed import steps_of_parts
from aoe_reports.topics.quality.steadiness import Place, Unusual, step_numbers, unusual_steps
from aoe_reports.topics.rules import TRIMMED

LeftOut = Mapping[Place, Sequence[Step]]
"""The steps of each device that are left out."""
TRIMMED_BY = frozenset({"step", "task_start_ns", "model_id"})
"""The columns of tasks that tell which of them are left out."""


def read_unusual(capture: Capture, notes: Notes, collected: PrefetchedTasks | None = None) -> LeftOut:
    """The steps of a capture that are left out, which is said; the tasks of a timeline that tells them are collected."""
    return unusual_of(str(capture.root), read_steps_noting(capture, notes.findings, collected), notes)


def unusual_of(path: str, steps: Iterable[Step], notes: Notes) -> LeftOut:
    """Those of some steps that are left out, which is said."""
    told = [*steps]
    if not told:
        message = say("--trim excludes nothing: the capture has no steps of its own")
        notes.add([TRIMMED.found(path, message, severity="warning")])
    unusual = unusual_steps(told)
    notes.add(said_of(path, {place: series.numbers for place, series in unusual.items()}))
    return {place: (*series.warm_up, *series.tear_down) for place, series in unusual.items()}


def note_unusual(
    path: str,
    steps: Iterable[Step],
    notes: Notes,
    *,
    trims: bool = True,
    rank: int | None = None,
    device: int | None = None,
) -> None:
    """Say which steps (of one rank or device) are not like the others, where they stay; `trims` tells whether the command could leave them out."""
    unusual = {
        place: series.numbers
        for place, series in unusual_steps(steps).items()
        if rank in {None, place[0]} and (place[1] is None or device in {None, place[1]})
    }
    notes.add(said_of(path, unusual, _COULD_BE if trims else _UNLIKE))


def note_unusual_of_table(
    capture: Capture, notes: Notes, *, rank: int | None, device: int | None, trims: bool = True
) -> None:
    """The same by the table of steps of a capture, which is read for this alone: what is wrong with it is for others to say."""
    note_unusual(str(capture.root), steps_of_table(capture), notes, trims=trims, rank=rank, device=device)


def unusual_of_table(capture: Capture) -> dict[Place, Unusual]:
    """The same as numbers, for those who say it of all ranks of a run together."""
    return {place: series.numbers for place, series in unusual_steps(steps_of_table(capture)).items()}


def note_unusual_of_run(run: str, unusual: Mapping[Place, Unusual], notes: Notes) -> None:
    """Say which steps of the ranks of a run are not like the others, where the command cannot leave them out."""
    notes.add(said_of(run, unusual, _UNLIKE))


def steps_of_table(capture: Capture) -> list[Step]:
    """The steps of a table, without its findings, which others report."""
    if timeline_tells_steps(capture):
        return []
    try:
        return read_steps_noting(capture, [])
    except (ReadError, OSError):
        return []


def said_of(path: str, unusual: Mapping[Place, Unusual], said: str | None = None) -> Iterator[Finding]:
    """Which steps are left out, or what else is said of them; ranks of which the same is to be said together."""
    by_steps = lists_by_key((numbers, -1 if place[0] is None else place[0]) for place, numbers in unusual.items())
    for (warm_up, tear_down), ranks in by_steps.items():
        parts = [
            say(template, steps=steps_in_words(numbers))
            for template, numbers in ((_WARM_UP, warm_up), (_TEAR_DOWN, tear_down))
            if numbers
        ]
        known = sorted({rank for rank in ranks if rank >= 0})
        whose = count_of(len(known), "rank {ranks}: ", "ranks {ranks}: ", ranks=in_short(known)) if known else ""
        yield TRIMMED.found(path, say(said or _LEFT_OUT, steps=join(", ", parts), ranks=whose))


def can_be_left_out(sets: Iterable[TaskSet], left_out: LeftOut) -> bool:
    """Whether tasks have step numbers, so that those of left-out steps can be dropped."""
    return all(
        not (steps := _of_device((tasks.rank_id, tasks.device_id), left_out)) or _kept(tasks, steps) is not None
        for tasks in sets
    )


def left_out_unless_asked(
    path: str, steps: Sequence[Step], sets: Iterable[TaskSet], notes: Notes, *, could_stay: bool = True
) -> LeftOut:
    """The steps that are not like the others, which are left out: that, and --all-steps where they `could_stay`, or that they stay, is said."""
    unusual = unusual_steps(steps)
    left_out = {place: (*series.warm_up, *series.tear_down) for place, series in unusual.items()}
    possible = can_be_left_out(sets, left_out)
    numbers = {place: series.numbers for place, series in unusual.items()}
    notes.add(said_of(path, numbers, (_NOT_KEPT if could_stay else _NOT_LIKE_OTHERS) if possible else _UNLIKE))
    return left_out if possible else {}


_WARM_UP, _TEAR_DOWN = say("{steps} (warm-up)"), say("{steps} (tear-down)")
_LEFT_OUT = say("{ranks}--trim leaves out {steps}")
_COULD_BE = say("{ranks}not like the other steps: {steps}; --trim excludes them (see `quality`)")
_NOT_LIKE_OTHERS = say("{ranks}left out, as they are not like the other steps: {steps}")
_NOT_KEPT = say("{ranks}left out, as they are not like the other steps: {steps}; --all-steps keeps them")
_UNLIKE = say("{ranks}not like the other steps: {steps}; see `quality`")


def steps_in_words(numbers: Sequence[int]) -> Text:
    """`step 3`, `steps 3-5`; steps without numbers are no more than a step."""
    if not numbers:
        return say("a step")
    return count_of(len(numbers), "step {steps}", "steps {steps}", steps=in_short(numbers))


def unusual_in_timeline(devices: Mapping[Place, DeviceBreakdown], path: str, notes: Notes) -> LeftOut:
    """The steps of the devices of a timeline that are left out, which is said."""
    return unusual_of(
        path, [step for place, device in devices.items() for step in steps_of_parts(place, device.steps)], notes
    )


def numbers_left_out(devices: Mapping[Place, DeviceBreakdown], left_out: LeftOut) -> dict[int | None, frozenset[int]]:
    """The numbers of the steps that are left out of each device of a timeline, by its own number."""
    return {device.device_id: steps_left_out(place, left_out) for place, device in devices.items()}


def steps_differ(path: str) -> Finding:
    """That nothing is left out of a timeline, since it has not the steps that a table says are unusual."""
    message = say("--trim excludes nothing: the timeline lacks the steps that the table of steps has")
    return TRIMMED.found(path, message, severity="warning")


def without_steps(sets: Iterable[TaskSet], left_out: LeftOut, path: str, notes: Notes) -> list[TaskSet]:
    """Tasks without those of steps that are left out; tasks of no step stay.

    Where tasks have no steps their times tell; where they have no times either, that nothing is left out is said.
    """
    found = []
    for tasks in sets:
        steps = _of_device((tasks.rank_id, tasks.device_id), left_out)
        kept = _kept(tasks, steps) if steps else None
        if steps and kept is None:
            message = say("nothing is left out by --trim: the tasks have neither steps nor times")
            notes.add([TRIMMED.found(path, message, severity="warning")])
        found.append(tasks if kept is None else replace(tasks, frame=tasks.frame.filter(keep_where(kept))))
    return found


def _of_device(place: Place, left_out: LeftOut) -> list[Step]:
    return [
        step
        for (rank, device), steps in left_out.items()
        if rank == place[0] and (device == place[1] or None in {device, place[1]})
        for step in steps
    ]


def steps_left_out(place: Place, left_out: LeftOut) -> frozenset[int]:
    """The numbers of the steps of a device that are left out."""
    return frozenset(step_numbers(_of_device(place, left_out)))


def _kept(tasks: TaskSet, steps: Sequence[Step]) -> Mask | None:
    """Which tasks are of no step that is left out; None where nothing tells."""
    if tasks.grouped:
        return None
    told = step_of_tasks(tasks.frame)
    kept = np.ones(tasks.frame.num_rows, dtype=bool)
    if told is not None:
        for step in steps:
            if step.step is not None:
                kept &= ~((told[1] == step.step) & _may_be_of_model(tasks, step))
        return kept
    if not has_value(tasks.frame, "task_start_ns"):
        return None
    start, timed = integers(tasks.frame["task_start_ns"])
    for step in steps:
        if step.start_ns is None:
            return None
        during = timed & (start >= step.start_ns) & (start < step.start_ns + step.duration_ns)
        kept &= ~(during & _may_be_of_model(tasks, step))
    return kept


def _may_be_of_model(tasks: TaskSet, step: Step) -> Mask:
    """Which tasks are of the model of a step, or of none that is known: other models count their steps by themselves."""
    if step.model_id is None or not has_value(tasks.frame, "model_id"):
        return np.ones(tasks.frame.num_rows, dtype=bool)
    model, known = integers(tasks.frame["model_id"])
    mine: Mask = ~known | (model == step.model_id)
    return mine


def usual_only(steps: Iterable[Step], left_out: LeftOut) -> list[Step]:
    """Steps without those that are left out."""
    gone = {id(step) for mine in left_out.values() for step in mine}
    return [step for step in steps if id(step) not in gone]
