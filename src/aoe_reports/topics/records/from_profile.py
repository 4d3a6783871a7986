"""Turns a profile into records: steps, operator types, operators, communication."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.records.record import Record
from aoe_reports.model.arrays.columns import SomeRows
from aoe_reports.model.history.changes import RecordScope
from aoe_reports.model.topics.steps import Step
from aoe_reports.stats.grouping import Group, group_and_count, group_tasks, is_communication, statistic_groups
from aoe_reports.stats.sample import sample_std
from aoe_reports.topics.records.context import RunContext

NS_PER_MS = 1e6
MAX_OPERATORS = 5000
"""Operators (with their shapes) of one device that become records; the longest first, the rest is said."""

STEPS_WITH_TASKS, STEPS_WITH_TASKS_MS = "steps_with_tasks", "steps_with_tasks_ms"
"""Metrics of a step's record whose operators are of fewer steps than it: how many, and how long these take together."""

_SHAPE_KEYS = ("input_shapes", "input_data_types", "input_formats")
_TYPE_KEYS = ("op_type", "task_type")
_OPERATOR_KEYS = (*_TYPE_KEYS, "op_name", *_SHAPE_KEYS)
TASK_FIELDS = frozenset(
    {
        "device_id",
        "model_id",
        "model_name",
        "stream_id",
        "task_id",
        "context_id",
        "op_type",
        "task_type",
        "op_name",
        "task_start_ns",
        "task_duration_ns",
        *_SHAPE_KEYS,
    }
)
"""The columns of a table of tasks that records are made of."""


@dataclass(frozen=True, slots=True)
class DeviceGroups:
    """The tasks of one device as far as records tell of them: small, however many tasks there are."""

    rank_id: int | None
    device_id: int | None
    types: Sequence[Group] = ()
    """Of what computes, by operator type and core."""
    operators: Sequence[Group] = ()
    """Of what computes, by operator and shape: at most MAX_OPERATORS."""
    communication: Sequence[Group] = ()
    """By operator type."""
    left_out: int = 0
    """How many operators are beyond MAX_OPERATORS and become no record."""
    steps: tuple[int, int] | None = None
    """(how many steps have its tasks, how long these take together), where a table has more steps than these."""


def groups_of_types(tasks: TaskSet) -> DeviceGroups:
    """The groups of one device's tasks by operator type alone, which take an operator type, a task type and a duration."""
    if tasks.grouped:
        return DeviceGroups(tasks.rank_id, tasks.device_id, types=statistic_groups(tasks.frame))
    communication = is_communication(tasks.frame["task_type"])
    compute = SomeRows(tasks.frame, ~communication if communication.any() else None)
    return DeviceGroups(
        tasks.rank_id,
        tasks.device_id,
        types=[group for group in group_tasks(compute, _TYPE_KEYS, None) if group.key[0] is not None],
        communication=group_tasks(SomeRows(tasks.frame, communication), ["op_type"], None),
    )


def groups_of_tasks(tasks: TaskSet, most_raw: int = 0) -> DeviceGroups:
    """The groups of one device's tasks (with all of TASK_FIELDS); one of at most `most_raw` tasks carries their single times."""
    if tasks.grouped:
        return groups_of_types(tasks)
    frame = tasks.frame.select([*_OPERATOR_KEYS, "task_start_ns", "task_duration_ns"])
    communication = is_communication(frame["task_type"])
    compute = SomeRows(frame, ~communication if communication.any() else None)
    typed = "op_type" not in tasks.missing
    types = group_tasks(compute, _TYPE_KEYS, None, most_raw) if typed else []
    operators, count = group_and_count(compute, _OPERATOR_KEYS, MAX_OPERATORS, most_raw)
    name = _OPERATOR_KEYS.index("op_name")
    return DeviceGroups(
        tasks.rank_id,
        tasks.device_id,
        types=[group for group in types if group.key[0] is not None],
        operators=[group for group in operators if group.key[name] is not None],
        communication=group_tasks(SomeRows(frame, communication), ["op_type"], None, most_raw) if typed else (),
        left_out=count - len(operators),
    )


def groups_of_communication(statistic: TaskSet) -> DeviceGroups:
    """The groups of one device's communication, of the exporter's own sums."""
    groups = statistic_groups(statistic.frame, ["op_type"])
    return DeviceGroups(statistic.rank_id, statistic.device_id, communication=groups)


Keys = dict[tuple[str | None, ...], tuple[str | None, ...]]


def with_shared_keys(device: DeviceGroups, keys: Keys) -> DeviceGroups:
    """The same with keys that other devices have, too: held once, those of 1,024 ranks take 40 MB less."""

    def shared(groups: Sequence[Group]) -> list[Group]:
        return [replace(group, key=keys.setdefault(group.key, group.key)) for group in groups]

    return replace(
        device,
        types=shared(device.types),
        operators=shared(device.operators),
        communication=shared(device.communication),
    )


def records_from_groups(context: RunContext, device: DeviceGroups) -> list[Record]:
    """Records of one device's tasks: compute by type and by operator and shape, communication by type."""
    return [
        *(_of_type(context, device, group) for group in device.types),
        *(_of_operator(context, device, group) for group in device.operators),
        *(_of_communication(context, device, group) for group in device.communication),
    ]


def records_from_steps(
    context: RunContext, steps: Sequence[Step], most_raw: int = 0, devices: Sequence[DeviceGroups] = ()
) -> list[Record]:
    """One record a device: the mean and the sample std over its steps, and where they are at most `most_raw` each.

    If the tasks of `devices` cover fewer steps, the record has their number and duration, too: shares of operators refer to these.
    """
    records = []
    for rank_id, device_id in sorted({(s.rank_id, s.device_id) for s in steps}, key=_nulls_first):
        mine = [s for s in steps if (s.rank_id, s.device_id) == (rank_id, device_id)]
        durations = [s.duration_ns / NS_PER_MS for s in mine]
        total = sum(s.duration_ns for s in mine)
        records.append(
            Record(
                **context.fields(),
                workload=f"{context.model}/step",
                runtime_ms_mean=total / len(durations) / NS_PER_MS,
                runtime_ms_std=sample_std(durations),
                metadata=context.metadata,
                workload_metadata={"class": "step"},
                execution_config={"repeat": len(durations)},
                runtime_raw=_raw(durations) if len(durations) <= most_raw else None,
                metrics={
                    **{f"{part}_ms_mean": mean for part in _PARTS if (mean := _mean_of(mine, part)) is not None},
                    **_with_tasks(devices, rank_id, device_id),
                },
                scope="step",
                source=context.source,
                rank_id=rank_id,
                device_id=device_id,
                count=len(durations),
                total_ns=total,
            )
        )
    return records


def _with_tasks(devices: Sequence[DeviceGroups], rank_id: int | None, device_id: int | None) -> dict[str, float]:
    mine = [
        device
        for device in devices
        if device.rank_id == rank_id and (device.device_id == device_id or None in {device.device_id, device_id})
    ]
    known = [one.steps for one in mine if one.steps is not None]
    if not known:
        return {}
    count, total_ns = max(known)
    return {STEPS_WITH_TASKS: count, STEPS_WITH_TASKS_MS: total_ns / NS_PER_MS}


_PARTS = ("computing", "communication", "communication_not_overlapped", "overlapped", "free")


def _mean_of(steps: Sequence[Step], part: str) -> float | None:
    """The mean of one part of the steps in ms; null where a step has none."""
    values = [getattr(step, f"{part}_ns") for step in steps]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) / NS_PER_MS if len(known) == len(values) else None


def _of_type(context: RunContext, device: DeviceGroups, group: Group) -> Record:
    op_type, task_type = group.key
    args = {"task_type": task_type}
    return _record(context, device, "op_type", f"op_type/{op_type}", group, op_type=op_type, args=args)


def _of_communication(context: RunContext, device: DeviceGroups, group: Group) -> Record:
    (op_type,) = group.key
    return _record(context, device, "communication", f"comm/{op_type or 'unknown'}", group, op_type=op_type)


def _of_operator(context: RunContext, device: DeviceGroups, group: Group) -> Record:
    key = dict(zip(_OPERATOR_KEYS, group.key, strict=True))
    args = {name: key[name] for name in _SHAPE_KEYS if key.get(name) is not None}
    name, op_type = key["op_name"], key.get("op_type")
    return _record(context, device, "op", f"op/{name}", group, op_type=op_type, op_name=name, args=args)


def _record(
    context: RunContext,
    device: DeviceGroups,
    scope: RecordScope,
    workload: str,
    group: Group,
    *,
    op_type: str | None = None,
    op_name: str | None = None,
    args: dict[str, str | None] | None = None,
) -> Record:
    kind = "operator" if scope in {"op", "op_type"} else scope

    def what() -> dict[str, Any]:
        return {
            "workload": f"{context.model}/{workload}",
            "workload_args": args or {},
            "workload_metadata": {"class": kind, "type": op_type} if op_type else {"class": kind},
            "scope": scope,
            "source": context.source,
            "op_type": op_type,
            "op_name": op_name,
            "metadata": context.metadata,
            "metrics": {},
        }

    return Record(
        **context.fields(),
        **context.shared((scope, *group.key), what),
        **context.shared(group.count, lambda: {"count": group.count, "execution_config": {"repeat": group.count}}),
        runtime_ms_mean=group.mean_ns / NS_PER_MS,
        runtime_ms_std=None if group.std_ns is None else group.std_ns / NS_PER_MS,
        runtime_raw=None if group.values_ns is None else _raw(value / NS_PER_MS for value in group.values_ns),
        rank_id=device.rank_id,
        device_id=device.device_id,
        total_ns=group.total_ns,
    )


def _raw(durations_ms: Iterable[float]) -> list[dict[str, float]]:
    return [{"runtime_ms": duration} for duration in durations_ms]


def _nulls_first(ids: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(-1 if number is None else number for number in ids)
