"""The rule on statistics of tasks: they are the tasks grouped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import column_of, exact_sum, integers, keep_where, words_in
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import say
from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS, capped

STATISTIC_MISMATCH = TABLES.rule(
    "statistic-mismatch", "warning", "op_statistic differs from the tasks grouped by type: rows were lost or damaged"
)


def check_statistics(statistics: Sequence[TableData], tasks: pa.Table) -> list[Finding]:
    """Whether op_statistic is the tasks grouped by device, operator type and core type: counts exact, totals to 0.02 us.

    Every type among the tasks has a row in one of its files.
    """
    compute = _computing(tasks)
    groups = cache(lambda keys: _grouped(compute, keys))  # tasks are many: each grouping is made once
    found = []
    for data in statistics:
        named = tuple(_with_device(["op_type", "task_type"], data, compute))
        found += capped(_held_against(data, groups(named), named) if data.frame.num_rows else [])
    usable = [data for data in statistics if data.frame.num_rows]
    if not usable or any(data.rows_reported for data in statistics):
        return found  # why rows are missing there is said already
    keys = ["op_type", "task_type"]
    if all(_with_device(keys, data, compute) != keys for data in usable):
        keys = ["device_id", *keys]
    return found + capped(_without_row(usable, groups(tuple(keys)), keys))


def _without_row(usable: Sequence[TableData], groups: Groups, keys: list[str]) -> list[Finding]:
    stated = {tuple(row[key] for key in keys) for data in usable for row in data.frame.to_pylist()}
    absent = []
    for key, (count, total) in sorted(groups.items(), key=str):
        if key not in stated and None not in key[-2:]:
            where = say("{core} of device {device}", core=key[-1], device=key[0]) if keys[0] == "device_id" else key[-1]
            message = say(
                "{op_type} on {core}: {count} tasks, {time:.3f} us in the table of tasks, no row here",
                op_type=key[-2],
                core=where,
                count=count,
                time=total / 1000,
            )
            absent.append(STATISTIC_MISMATCH.found(str(usable[0].path), message))
    return absent


def _computing(tasks: pa.Table) -> pa.Table:
    needed = [name for name in ("device_id", "op_type", "task_type", "task_duration_ns") if name in tasks.column_names]
    talk = words_in(tasks["task_type"], COMMUNICATION_TASKS)
    return tasks.select(needed).filter(keep_where(~talk)) if talk.any() else tasks.select(needed)


def _with_device(keys: list[str], statistic: TableData, tasks: pa.Table) -> list[str]:
    both = "device_id" in tasks.column_names and "device_id" in statistic.frame.column_names
    return ["device_id", *keys] if both else keys


def check_no_tasks(tasks: Sequence[TableData], statistics: Sequence[TableData]) -> list[Finding]:
    """Whether a table of tasks without a row stands beside a statistic of tasks."""
    if any(data.rows_read or has(data.findings, "error") for data in tasks):
        return []  # why its rows are not used is said already
    return [
        STATISTIC_MISMATCH.found(
            str(data.path),
            say("counts tasks, but {file} contains none", file=tasks[0].path.name),
        )
        for data in statistics
        if tasks and data.frame.num_rows
    ]


def check_communication(statistic: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether communication_statistic counts the communication operators among the tasks."""
    talk = tasks.filter(keep_where(words_in(tasks["task_type"], COMMUNICATION_TASKS)))
    if not talk.num_rows:
        return []
    return capped(_of_groups(statistic, talk, ["op_type"]))


def _of_groups(statistic: TableData, tasks: pa.Table, keys: list[str]) -> list[Finding]:
    if not statistic.frame.num_rows:
        return []  # why it has no row is said already
    keys = _with_device(keys, statistic, tasks)
    return _held_against(statistic, _grouped(tasks, keys), keys)


Groups = dict[tuple[object, ...], tuple[int, int]]


def _held_against(statistic: TableData, grouped: Groups, keys: Sequence[str]) -> list[Finding]:
    found = []
    for row, stated in enumerate(statistic.frame.to_pylist()):
        count, total = stated["count"], stated["total_time_ns"]
        tasks_count, tasks_total = grouped.get(tuple(stated[key] for key in keys), (0, 0))
        if count != tasks_count or abs(total - tasks_total) > COUNTED_TOLERANCE_NS:
            op_type, core = stated["op_type"], stated.get("task_type")
            message = say(
                "{operators}: {count} tasks, {time:.3f} us here, but {tasks} tasks, {of_tasks:.3f} us in the table of tasks",
                operators=say("{op_type} on {core}", op_type=op_type, core=core) if "task_type" in keys else op_type,
                count=count,
                time=total / 1000,
                tasks=tasks_count,
                of_tasks=tasks_total / 1000,
            )
            found.append(STATISTIC_MISMATCH.found(str(statistic.path), message, statistic.line(row)))
    return found


def _grouped(tasks: pa.Table, keys: Sequence[str]) -> Groups:
    """(count, time in ns) of the tasks by some of their words and their device."""
    durations, there = integers(tasks["task_duration_ns"])
    times = column_of(durations, there)
    if exact_sum(np.abs(durations)) >= _MAX_INT64:
        times = times.cast(pa.decimal128(38))
    grouped = tasks.select(list(keys)).unify_dictionaries().append_column("ns", times).group_by(list(keys))
    sums = grouped.aggregate([("ns", "sum"), ([], "count_all")])
    cells = zip(*(sums[key].to_pylist() for key in keys), strict=True)
    rows = zip(cells, sums["count_all"].to_pylist(), sums["ns_sum"].to_pylist(), strict=True)
    return {key: (count, int(total or 0)) for key, count, total in rows}


_MAX_INT64 = 2**63
