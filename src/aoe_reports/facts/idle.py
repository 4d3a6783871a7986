"""What a device did between its tasks, from a table of tasks that holds their times: idle time, and shares of steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from aoe_reports.facts.bounds import StepShares
from aoe_reports.facts.breakdown import part_time
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, exact_sum, has_value, integers, order_by
from aoe_reports.model.arrays.intervals import union
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import is_communication

STEP_COLUMNS = ("step", "iteration")
"""Columns that tell a task's step: the framework's, or the iteration that a file's name tells."""
SPANNED_BY = frozenset({"device_id", "task_start_ns", "task_duration_ns", *STEP_COLUMNS})
"""Columns of tasks by which steps have times."""


def count_steps(steps: Collection[int]) -> tuple[int, bool]:
    """(how many of some distinct steps there are, -1 for none of them: at least 1; whether any is known)."""
    known = sum(step >= 0 for step in steps)
    return max(known, 1), bool(known)


def step_of_tasks(tasks: pa.Table) -> tuple[str, Ints] | None:
    """(the column that tells steps, the step of each task, -1 for none); None where nothing tells."""
    for name in STEP_COLUMNS:
        if has_value(tasks, name):
            values, there = integers(tasks[name])
            return name, np.where(there, values, -1)
    return None


def spans_of_tasks(tasks: pa.Table) -> list[tuple[int, int, int]]:
    """(number, start, end in ns) of steps by the tasks of one device: from the first task of a step to that of the next.

    None where tasks name no step or have no times.
    """
    known = step_of_tasks(tasks)
    if known is None or "task_start_ns" not in tasks.column_names:
        return []
    steps, (starts, timed), (durations, _) = (
        known[1],
        *(integers(tasks[name]) for name in ("task_start_ns", "task_duration_ns")),
    )
    chosen = timed & (steps >= 0)
    if not chosen.any():
        return []
    numbers, places = np.unique(steps[chosen], return_inverse=True)
    first = np.full(len(numbers), np.iinfo(np.int64).max)
    np.minimum.at(first, places, starts[chosen])
    order = np.argsort(first, kind="stable")
    ends = [*first[order][1:].tolist(), int((starts + durations)[chosen].max())]
    return list(zip(numbers[order].tolist(), first[order].tolist(), ends, strict=True))


def steps_with_tasks(steps: Sequence[Step], tasks: pa.Table) -> list[Step]:
    """Those of the steps of one device that have tasks: a share of a step refers to these. All steps if this is unknown.

    Decided by the step numbers of tasks, else by their times. A capture may have tasks of fewer steps than its table of steps.
    """
    task_steps = step_of_tasks(tasks)
    if task_steps is not None:
        numbers = frozenset(distinct(task_steps[1]).tolist())
        models = _models_of(tasks)
        return [s for s in steps if s.step in {None, *numbers} and (not models or s.model_id in {None, *models})]
    if not has_value(tasks, "task_start_ns"):
        return [*steps]
    starts, there = integers(tasks["task_start_ns"])
    starts = np.sort(starts[there])
    return [s for s in steps if s.start_ns is None or any_within(starts, s.start_ns, s.start_ns + s.duration_ns)]


def any_within(ordered: Ints, start: int, end: int) -> bool:
    """Whether any of some ordered times is from `start` on and before `end`."""
    return bool(np.searchsorted(ordered, start) < np.searchsorted(ordered, end))


def _models_of(tasks: pa.Table) -> frozenset[int]:
    """The models of the tasks; empty if a task has no model or the column is absent."""
    if not has_value(tasks, "model_id"):
        return frozenset()
    values, there = integers(tasks["model_id"])
    return frozenset(distinct(values).tolist()) if there.all() else frozenset()


def idle_before_tasks(tasks: pa.Table) -> Ints | None:
    """For how long nothing ran on the device (neither computing nor communication) before each task, in ns.

    None where the export has no times of all tasks. Between iterations that stand in files of their own nobody knows
    what ran, and no time is counted.
    """
    if not _timed(tasks):
        return None
    starts, _ = integers(tasks["task_start_ns"])
    durations, _ = integers(tasks["task_duration_ns"])
    if not len(starts):
        return starts
    ends = starts + durations
    # of tasks that begin together, one stands for what was before all of them: the longest, then the first of the table
    order = order_by(starts, -ends)
    reach = np.maximum.accumulate(ends[order])
    gaps = np.zeros(len(starts), dtype=np.int64)
    gaps[order[1:]] = np.maximum(starts[order[1:]] - reach[:-1], 0)
    task_steps = step_of_tasks(tasks)
    if task_steps is not None and task_steps[0] == "iteration":
        steps = task_steps[1][order]
        gaps[order[1:][steps[1:] != steps[:-1]]] = 0
    return gaps


def _timed(tasks: pa.Table) -> bool:
    return has_value(tasks, "task_start_ns") and bool(integers(tasks["task_start_ns"])[1].all())


MIN_BESIDE = 0.01
"""Durations add up to so much more than the time in which anything computes: less is the rounding of starts and ends."""


def computing_beside(tasks: pa.Table) -> tuple[int, int] | None:
    """(the durations of the computing tasks of one device added up, how long any of them ran) where tasks run beside each other.

    None where they do not, or where the export has no times of all tasks.
    """
    if not _timed(tasks):
        return None
    starts, _ = integers(tasks["task_start_ns"])
    durations, _ = integers(tasks["task_duration_ns"])
    if "task_type" in tasks.column_names:
        computing = ~is_communication(tasks["task_type"])
        starts, durations = starts[computing], durations[computing]
    added, together = exact_sum(durations), int(union(starts, starts + durations).total)
    return (added, together) if added - together > MIN_BESIDE * together else None


def place_in_steps(tasks: pa.Table, steps: Sequence[Step]) -> Ints:
    """In which of some steps, by its place among them, each task began; -1 for none. All tasks and steps have times."""
    starts, _ = integers(tasks["task_start_ns"])
    begins = np.asarray([step.start_ns or 0 for step in steps], dtype=np.int64)
    ends = begins + np.asarray([step.duration_ns for step in steps], dtype=np.int64)
    order = np.argsort(begins, kind="stable")
    place = order[np.maximum(np.searchsorted(begins[order], starts, side="right") - 1, 0)]
    return np.where((starts >= begins[place]) & (starts < ends[place]), place, -1)


def shares_of_tasks(
    tasks: pa.Table, rank_id: int | None, device_id: int | None, in_steps: Ints | None = None
) -> StepShares:
    """What the steps of a device went on, by unions of its tasks' intervals; of a table without times only their sum.

    `in_steps` replaces step numbers that tasks lack: the time of steps without tasks is then left out.
    On real exports this equals the framework's table of steps (step_trace_time) to 0.02 us a step.
    """
    communication = (
        is_communication(tasks["task_type"])
        if "task_type" in tasks.column_names
        else np.zeros(tasks.num_rows, dtype=bool)
    )
    task_steps = step_of_tasks(tasks) if in_steps is None else ("times", in_steps)
    numbers = distinct(task_steps[1]).tolist() if task_steps else []
    known = [step for step in numbers if step >= 0]
    steps, steps_known = count_steps(numbers)
    durations, _ = integers(tasks["task_duration_ns"])
    if not _timed(tasks):
        computing = exact_sum(durations[~communication])
        return StepShares(rank_id, device_id, steps, None, computing, steps_known=steps_known)
    starts, _ = integers(tasks["task_start_ns"])
    places: list[Ints | slice] = [slice(None)]
    if task_steps is not None and known and len(numbers) > 1:
        order = np.argsort(task_steps[1], kind="stable")
        ordered = task_steps[1][order]
        places = [order[slice(*np.searchsorted(ordered, [step, step + 1]).tolist())] for step in known]
    parts = [_parts(starts[rows], durations[rows], communication[rows]) for rows in places]
    whole = sum(part.end_to_end_ns for part in parts)
    return sum_shares(parts, (rank_id, device_id), steps, whole, "tasks", steps_known=steps_known)


def sum_shares(
    parts: Sequence[Step | Parts | StepShares],
    whose: tuple[int | None, int | None],
    steps: int,
    step_ns: int,
    source: str,
    *,
    steps_known: bool = True,
    talk_known: bool = True,
) -> StepShares:
    """The parts of the time of one (rank, device), summed; communication is null unless `talk_known`."""
    uncovered, overlapped, free = (
        sum(getattr(part, name) or 0 for part in parts) if talk_known else None
        for name in ("communication_not_overlapped_ns", "overlapped_ns", "free_ns")
    )
    return StepShares(
        rank_id=whose[0],
        device_id=whose[1],
        steps=steps,
        step_ns=step_ns,
        computing_ns=sum(part.computing_ns or 0 for part in parts),
        communication_not_overlapped_ns=uncovered,
        overlapped_ns=overlapped,
        free_ns=free,
        steps_known=steps_known,
        source=source,
    )


def _parts(starts: Ints, durations: Ints, communication: Mask) -> Parts:
    ends = starts + durations
    computing = ~communication
    return part_time(
        union(starts[computing], ends[computing]), union(starts[communication], ends[communication]), len(starts), 0
    )
