"""Turns a profile into records: steps, operator types, operators, communication."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from aoe_reports.facts.records.context import RunContext
from aoe_reports.facts.steps import Step
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.records.record import Record
from aoe_reports.model.changes import Scope
from aoe_reports.model.columns import keep_where
from aoe_reports.stats.grouping import Group, count_groups, group_tasks, is_communication, statistic_groups
from aoe_reports.stats.sample import sample_std

NS_PER_MS = 1e6
MAX_OPERATORS = 5000
"""Operators (with their shapes) of one device that become records; the longest first, the rest is said."""

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


def records_from_tasks(context: RunContext, tasks: TaskSet, most_raw: int = 0) -> list[Record]:
    """Records of one device's tasks (with all of TASK_FIELDS): communication by type, compute by type and by operator and shape.

    A record of at most `most_raw` tasks carries their single times.
    """
    if tasks.grouped:
        return [_of_type(context, tasks, group) for group in statistic_groups(tasks.frame)]
    communication = is_communication(tasks.frame["task_type"])
    compute = tasks.frame.filter(keep_where(~communication))
    talk = tasks.frame.filter(keep_where(communication))
    records = []
    if "op_type" not in tasks.missing:
        typed = [group for group in group_tasks(compute, _TYPE_KEYS, None, most_raw) if group.key[0] is not None]
        records += [_of_type(context, tasks, group) for group in typed]
    records += [
        _of_operator(context, tasks, dict(zip(_OPERATOR_KEYS, group.key, strict=True)), group)
        for group in group_tasks(compute, _OPERATOR_KEYS, MAX_OPERATORS, most_raw)
        if dict(zip(_OPERATOR_KEYS, group.key, strict=True))["op_name"] is not None
    ]
    if "op_type" not in tasks.missing:
        groups = group_tasks(talk, ["op_type"], None, most_raw)
        records += [_of_communication(context, tasks, group) for group in groups]
    return records


def records_from_communication(context: RunContext, statistic: TaskSet) -> list[Record]:
    """Records of one device's communication by type, of the exporter's own sums."""
    return [_of_communication(context, statistic, group) for group in statistic_groups(statistic.frame, ["op_type"])]


def operators_left_out(tasks: TaskSet) -> int:
    """How many operators of one device are beyond MAX_OPERATORS and become no record."""
    if tasks.grouped:
        return 0
    compute = tasks.frame.filter(keep_where(~is_communication(tasks.frame["task_type"])))
    return max(0, count_groups(compute, _OPERATOR_KEYS) - MAX_OPERATORS)


def records_from_steps(context: RunContext, steps: Sequence[Step], most_raw: int = 0) -> list[Record]:
    """One record a device: the mean and the sample std over its steps, and where they are at most `most_raw` each."""
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
                metrics={f"{part}_ms_mean": mean for part in _PARTS if (mean := _mean_of(mine, part)) is not None},
                scope="step",
                source=context.source,
                rank_id=rank_id,
                device_id=device_id,
                count=len(durations),
                total_ns=total,
            )
        )
    return records


_PARTS = ("computing", "communication", "communication_not_overlapped", "overlapped", "free")


def _mean_of(steps: Sequence[Step], part: str) -> float | None:
    """The mean of one part of the steps in ms; null where a step has none."""
    values = [getattr(step, f"{part}_ns") for step in steps]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) / NS_PER_MS if len(known) == len(values) else None


def _of_type(context: RunContext, tasks: TaskSet, group: Group) -> Record:
    op_type, task_type = group.key
    args = {"task_type": task_type}
    return _record(context, tasks, "op_type", f"op_type/{op_type}", group, op_type=op_type, args=args)


def _of_communication(context: RunContext, tasks: TaskSet, group: Group) -> Record:
    (op_type,) = group.key
    return _record(context, tasks, "communication", f"comm/{op_type or 'unknown'}", group, op_type=op_type)


def _of_operator(context: RunContext, tasks: TaskSet, key: dict[str, str | None], group: Group) -> Record:
    args = {name: key[name] for name in _SHAPE_KEYS if key.get(name) is not None}
    name, op_type = key["op_name"], key.get("op_type")
    return _record(context, tasks, "op", f"op/{name}", group, op_type=op_type, op_name=name, args=args)


def _record(
    context: RunContext,
    tasks: TaskSet,
    scope: Scope,
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
        rank_id=tasks.rank_id,
        device_id=tasks.device_id,
        total_ns=group.total_ns,
    )


def _raw(durations_ms: Iterable[float]) -> list[dict[str, float]]:
    return [{"runtime_ms": duration} for duration in durations_ms]


def _nulls_first(ids: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(-1 if number is None else number for number in ids)
