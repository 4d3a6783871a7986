"""What is said where tasks of a device run at the same time: sums of their durations are then no time of a step."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from aoe_reports.facts.idle import MIN_BESIDE, computing_beside
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.tasks import calls_of
from aoe_reports.model.arrays.columns import exact_sum, integers
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.rules import TASKS_BESIDE


def tasks_beside_each_other(path: str, rank_id: int | None, tasks: pa.Table) -> list[Finding]:
    """That the tasks of one device run beside each other, with both times; nothing where they do not, or have no times."""
    found = computing_beside(tasks)
    if found is None:
        return []
    (added, together), unit = times_in_one_unit(*found)
    message = say(
        "{rank}tasks run beside each other: their durations add up to {added} {unit}, the device computes for {together} {unit}",
        rank="" if rank_id is None else say("rank {rank}: ", rank=rank_id),
        added=added,
        together=together,
        unit=unit,
    )
    return [TASKS_BESIDE.found(path, message)]


def longer_than_steps(tasks: TaskSet, steps: Sequence[Step], step: int | None) -> bool:
    """Whether what computes adds up to more than a table of steps says that the device computed: it may run beside each other."""
    if tasks.grouped:
        return False
    computing_ns = [
        one.duration_ns if one.computing_ns is None else one.computing_ns
        for one in steps
        if one.rank_id == tasks.rank_id
        and (one.device_id == tasks.device_id or None in {one.device_id, tasks.device_id})
        and step in {None, one.step}
    ]
    if not computing_ns:
        return False
    frame = tasks.frame
    durations, _ = integers(frame["task_duration_ns"])
    calls = calls_of(frame)
    computing = ~is_communication(frame["task_type"])
    return exact_sum(durations[computing], None if calls is None else calls[computing]) > (1 + MIN_BESIDE) * sum(
        computing_ns
    )
