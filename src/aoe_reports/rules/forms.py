"""Do several files of one capture say the same?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.columns import Ints, codes, exact_sum, has_value, integers, keep_where, words_in
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, has
from aoe_reports.model.texts import say

COUNTED_TOLERANCE_NS = 20
"""op_statistic's printed total may be off by this much (measured on real exports)."""
FORM_TOLERANCE_NS = 1
"""Two forms of one task print the same three decimals of a microsecond."""
TASK_TIME_TOLERANCE_NS = 5_000
"""task_time starts a task up to 3 us before op_summary does (measured on real exports)."""


def check_statistic(statistic: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether op_statistic is the tasks grouped by device, operator type and core type: counts exact, totals to 0.02 us."""
    return _capped(_of_groups(statistic, _computing(tasks), ["op_type", "task_type"]))


def check_statistics(statistics: Sequence[TableData], tasks: pa.Table) -> list[Finding]:
    """As `check_statistic` for all files of op_statistic, and whether every type among the tasks has a row in one."""
    compute = _computing(tasks)
    groups = cache(lambda keys: _grouped(compute, keys))  # tasks are many: each grouping is made once
    found = []
    for data in statistics:
        named = tuple(_with_device(["op_type", "task_type"], data, compute))
        found += _capped(_held_against(data, groups(named), named) if data.frame.num_rows else [])
    usable = [data for data in statistics if data.frame.num_rows]
    if not usable or any(data.rows_reported for data in statistics):
        return found  # why rows are missing there is said already
    keys = ["op_type", "task_type"]
    if all(_with_device(keys, data, compute) != keys for data in usable):
        keys = ["device_id", *keys]
    return found + _capped(_without_row(usable, groups(tuple(keys)), keys))


def _without_row(usable: Sequence[TableData], groups: Groups, keys: list[str]) -> list[Finding]:
    """Groups of tasks for which no file has a row."""
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
            absent.append(Finding("warning", "statistic-mismatch", str(usable[0].path), message))
    return absent


def _computing(tasks: pa.Table) -> pa.Table:
    needed = [name for name in ("device_id", "op_type", "task_type", "task_duration_ns") if name in tasks.column_names]
    talk = words_in(tasks["task_type"], COMMUNICATION_TASKS)
    return tasks.select(needed).filter(keep_where(~talk)) if talk.any() else tasks.select(needed)


def _with_device(keys: list[str], statistic: TableData, tasks: pa.Table) -> list[str]:
    """The keys, and the device where both tables tell it."""
    both = "device_id" in tasks.column_names and "device_id" in statistic.frame.column_names
    return ["device_id", *keys] if both else keys


def _capped(found: list[Finding]) -> list[Finding]:
    if len(found) <= EXAMPLES_PER_RULE:
        return found
    first = found[EXAMPLES_PER_RULE]
    rest = replace(first, message=say("and {count} more of this kind", count=len(found) - EXAMPLES_PER_RULE))
    return [*found[:EXAMPLES_PER_RULE], rest]


def check_no_tasks(tasks: Sequence[TableData], statistics: Sequence[TableData]) -> list[Finding]:
    """Whether a table of tasks without a row stands beside a statistic of tasks."""
    if any(data.rows_read or has(data.findings, "error") for data in tasks):
        return []  # why its rows are not used is said already
    return [
        Finding(
            "warning",
            "statistic-mismatch",
            str(data.path),
            say("counts tasks, but {file} contains none", file=tasks[0].path.name),
        )
        for data in statistics
        if tasks and data.frame.num_rows
    ]


def check_iterations(used: Sequence[TableData], other: Sequence[TableData]) -> list[Finding]:
    """Whether two forms of step_trace tell of the same iterations."""
    mine, theirs = _iterations(used), _iterations(other)
    if not mine or not theirs:
        return []
    found = []
    for key in sorted(set(mine) | set(theirs), key=str):
        here, there = theirs.get(key), mine.get(key)
        if here is None or there is None or abs(here - there) > COUNTED_TOLERANCE_NS:
            words = [say("{time:.3f} us", time=ns / 1000) if ns is not None else say("none") for ns in (here, there)]
            message = say(
                "iteration {number}: {here} here, {there} in {file}, which is used",
                number=key[-1],
                here=words[0],
                there=words[1],
                file=used[0].path.name,
            )
            found.append(Finding("warning", "forms-disagree", str(other[0].path), message))
    return _capped(found)


def _iterations(tables: Sequence[TableData]) -> dict[tuple[object, ...], int]:
    """The time of every iteration by device, model and number; files that repeat the run tell it once."""
    return {
        (row.get("device_id"), row.get("model_id"), row["iteration_id"]): row["iteration_time_ns"]
        for data in tables
        for row in data.frame.to_pylist()
    }


def check_communication(statistic: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether communication_statistic counts the communication operators among the tasks."""
    talk = tasks.filter(keep_where(words_in(tasks["task_type"], COMMUNICATION_TASKS)))
    if not talk.num_rows:
        return []
    return _capped(_of_groups(statistic, talk, ["op_type"]))


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
            found.append(Finding("warning", "statistic-mismatch", str(statistic.path), message, statistic.line(row)))
    return found


def total_of(frame: pa.Table) -> int:
    """The whole time of some tasks in ns."""
    return exact_sum(integers(frame["task_duration_ns"])[0])


def _grouped(tasks: pa.Table, keys: Sequence[str]) -> Groups:
    """(count, time in ns) of the tasks by some of their words and their device."""
    groups: Ints = np.zeros(tasks.num_rows, dtype=np.int64)
    words: list[list[Any]] = []
    for key in keys:
        numbers, of_key = _numbered(tasks[key])
        groups = groups * len(of_key) + numbers
        words.append(of_key)
    durations, _ = integers(tasks["task_duration_ns"])
    places, counts, totals = _sums(groups, durations)
    found: Groups = {}
    for place, count, total in zip(places.tolist(), counts.tolist(), totals, strict=True):
        cells: list[object] = []
        for of_key in reversed(words):
            place, number = divmod(place, len(of_key))  # noqa: PLW2901 -- digit by digit
            cells.append(of_key[number])
        found[tuple(reversed(cells))] = (count, total)
    return found


def _numbered(column: pa.ChunkedArray) -> tuple[Ints, list[Any]]:
    """(a number for the value of each row, the values by their numbers; null among them)."""
    if pa.types.is_integer(column.type):
        values, there = integers(column)
        if there.all() and len(values) and (values == values[0]).all():
            return np.zeros(len(values), dtype=np.int64), [int(values[0])]
        distinct, places = np.unique(values, return_inverse=True)
        return np.where(there, places + 1, 0), [None, *distinct.tolist()]
    numbers, known = codes(column)
    return numbers, [None, *known]


def _sums(groups: Ints, durations: Ints) -> tuple[Ints, Ints, list[int]]:
    """(the groups that occur, how many rows each has, their exact sums)."""
    size = int(groups.max()) + 1 if len(groups) else 0
    if size > _MAX_GROUPS or exact_sum(np.abs(durations)) >= _EXACT_IN_FLOAT:
        places, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        parts = np.split(durations[order], np.cumsum(counts)[:-1]) if len(places) else []
        return places, counts, [exact_sum(part) for part in parts]
    counts = np.bincount(groups)
    places = np.flatnonzero(counts)
    # of floats, and exact: no sum needs more than the 53 bits that a float has
    return places, counts[places], [int(total) for total in np.bincount(groups, durations)[places]]


_MAX_GROUPS = 1 << 20
_EXACT_IN_FLOAT = 2**53


def check_forms(used: Sequence[TableData], other: Sequence[TableData]) -> list[Finding]:
    """Whether two forms of the same tasks (kernel_details and op_summary, text and database) hold the same time."""
    if not used or not any(data.frame.num_rows for data in other):
        return []  # why there is no row is said already
    (count, total), (other_count, other_total) = _size(used), _size(other)
    if count == other_count and abs(total - other_total) <= FORM_TOLERANCE_NS * max(count, 1):
        return []
    message = say(
        "{count} tasks, {time:.3f} us here, but {other_count} tasks, {other_time:.3f} us in {file}, which is used",
        count=other_count,
        time=other_total / 1000,
        other_count=count,
        other_time=total / 1000,
        file=used[0].path.name,
    )
    return [Finding("warning", "forms-disagree", str(other[0].path), message)]


def _size(tables: Sequence[TableData]) -> tuple[int, int]:
    """(rows, their total time in ns) of several files."""
    sums = [total_of(data.frame) for data in tables]
    return sum(data.frame.num_rows for data in tables), sum(sums)


def check_task_times(tasks: Sequence[TableData], times: Sequence[TableData], kernels: pa.Table | None) -> list[Finding]:
    """Whether task_time holds the operators that the table of tasks holds, each at most a little longer."""
    if kernels is None or not times:
        return []
    frames = [data.frame.filter(keep_where(~words_in(data.frame["task_type"], COMMUNICATION_TASKS))) for data in tasks]
    count = sum(frame.num_rows for frame in frames)
    total = sum(total_of(frame) for frame in frames)
    other_total = total_of(kernels)
    slack = TASK_TIME_TOLERANCE_NS * max(count, 1)
    if kernels.num_rows == count and -COUNTED_TOLERANCE_NS * max(count, 1) <= other_total - total <= slack:
        return []
    message = say(
        "{count} operators, {time:.3f} us here, but {other_count} operators, {other_time:.3f} us in {file}",
        count=kernels.num_rows,
        time=other_total / 1000,
        other_count=count,
        other_time=total / 1000,
        file=tasks[0].path.name,
    )
    return [Finding("warning", "forms-disagree", str(times[0].path), message)]


@dataclass(frozen=True, slots=True)
class TimelineSums:
    """What the timelines of one kind hold, all slices together."""

    path: str
    operators: int
    operators_ns: int
    overlap_ns: dict[str, int]
    """Time by thread of the process Overlap Analysis."""
    named: bool = True
    """Whether the timeline names its processes at all: else nobody can tell the device's tasks."""


def check_timeline(sums: TimelineSums, tasks: Sequence[TableData]) -> list[Finding]:
    """Whether a timeline's operators on the device are those of the table of tasks."""
    frames = [data.frame.filter(keep_where(~words_in(data.frame["task_type"], COMMUNICATION_TASKS))) for data in tasks]
    rows = sum(frame.num_rows for frame in frames)
    total = sum(total_of(frame) for frame in frames)
    if sums.operators == rows and abs(total - sums.operators_ns) <= FORM_TOLERANCE_NS * max(rows, 1):
        return []
    message = say(
        "{count} operators, {time:.3f} us on the device here, but {other_count} operators, {other_time:.3f} us in {file}",
        count=sums.operators,
        time=sums.operators_ns / 1000,
        other_count=rows,
        other_time=total / 1000,
        file=tasks[0].path.name,
    )
    return [Finding("warning", "forms-disagree", sums.path, message)]


OVERLAP_THREADS = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
}
"""Threads of the process Overlap Analysis, and the columns of the table of steps that tell the same."""


def check_overlap(sums: TimelineSums, steps: pa.Table, *, whole: bool = False) -> list[Finding]:
    """Whether the table of steps tells of no more time than the timeline that it is made from.

    `whole` says that the steps hold everything the timeline shows: then of no less either.
    """
    found = []
    for thread, column in OVERLAP_THREADS.items():
        stated = int(integers(steps[column])[0].sum())
        here = sums.overlap_ns.get(thread, 0)
        slack = COUNTED_TOLERANCE_NS * max(steps.num_rows, 1)
        if stated > here + slack or (whole and stated < here - slack):
            message = say(
                "{thread}: {here:.3f} us in the process Overlap Analysis here, but {stated:.3f} us in the table of steps",
                thread=thread,
                here=here / 1000,
                stated=stated / 1000,
            )
            found.append(Finding("warning", "forms-disagree", sums.path, message))
    return found


def check_steps(steps: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether the table of steps tells of the steps that the tasks name, and computes no longer than they do."""
    if not steps.frame.num_rows or "step" not in tasks.column_names or not has_value(tasks, "step"):
        return []
    stated: dict[Any, dict[str, Any]] = {}
    for row in steps.frame.to_pylist():  # of several devices the one that computes longest
        if row["step"] not in stated or row["computing_ns"] > stated[row["step"]]["computing_ns"]:
            stated[row["step"]] = row
    seen = {step for step in pc.unique(tasks["step"]).to_pylist() if step is not None}
    path = str(steps.path)
    absent = [say("step {step} has tasks, but no row here", step=step) for step in sorted(seen - set(stated))]
    absent += [
        say("step {step} has a row here, but no task", step=step) for step in sorted(set(stated) - seen - {None})
    ]
    found = [Finding("warning", "step-missing", path, message) for message in absent]
    if outside := tasks["step"].null_count:
        message = say(
            "{count} tasks belong to no step: the head of the first step or the tail of the last is missing",
            count=outside,
        )
        found.append(Finding("info", "step-missing", path, message))
    for step in sorted(seen & set(stated)):
        mine = tasks.filter(pc.equal(tasks["step"], step))
        durations, _ = integers(mine["task_duration_ns"])
        busy = int(durations[~words_in(mine["task_type"], COMMUNICATION_TASKS)].sum())
        if stated[step]["computing_ns"] > busy + COUNTED_TOLERANCE_NS * max(mine.num_rows, 1):
            message = say(
                (
                    "step {step}: computing takes {computing:.3f} us here, but its tasks add up to {busy:.3f} us: "
                    "tasks are missing"
                ),
                step=step,
                computing=stated[step]["computing_ns"] / 1000,
                busy=busy / 1000,
            )
            found.append(Finding("warning", "forms-disagree", path, message))
    return _capped(found)
