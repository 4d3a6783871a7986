"""How far forms of the same data may differ, and what their rules share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import exact_sum, has_value, integers, keep_where, words_in
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say
from aoe_reports.rules.rules import FORMS_DISAGREE, STEP_MISSING

COUNTED_TOLERANCE_NS = 20
"""op_statistic's printed total may be off by this much (measured on real exports)."""
FORM_TOLERANCE_NS = 1
"""Two forms of one task print the same three decimals of a microsecond."""
TASK_TIME_TOLERANCE_NS = 5_000
"""task_time starts a task up to 3 us before op_summary does (measured on real exports)."""


def total_of(frame: pa.Table) -> int:
    """The whole time of some tasks in ns."""
    return exact_sum(integers(frame["task_duration_ns"])[0])


def capped(findings: list[Finding]) -> list[Finding]:
    """The first findings, and how many more there are."""
    if len(findings) <= EXAMPLES_PER_RULE:
        return findings
    first = findings[EXAMPLES_PER_RULE]
    rest = replace(first, message=say("and {count} more of this kind", count=len(findings) - EXAMPLES_PER_RULE))
    return [*findings[:EXAMPLES_PER_RULE], rest]


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
    return [FORMS_DISAGREE.found(str(other[0].path), message)]


def _size(tables: Sequence[TableData]) -> tuple[int, int]:
    """(rows, total ns) of several files."""
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
    return [FORMS_DISAGREE.found(str(times[0].path), message)]


def check_iterations(used: Sequence[TableData], other: Sequence[TableData]) -> list[Finding]:
    """Whether two forms of step_trace contain the same iterations."""
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
            found.append(FORMS_DISAGREE.found(str(other[0].path), message))
    return capped(found)


def _iterations(tables: Sequence[TableData]) -> dict[tuple[object, ...], int]:
    """The time of every iteration by device, model and number, without duplicates of repeated files."""
    return {
        (row.get("device_id"), row.get("model_id"), row["iteration_id"]): row["iteration_time_ns"]
        for data in tables
        for row in data.frame.to_pylist()
    }


def check_steps(steps: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether the table of steps contains the steps that the tasks name, and computes no longer than they do."""
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
    found = [STEP_MISSING.found(path, message) for message in absent]
    if outside := tasks["step"].null_count:
        message = say(
            "{count} tasks belong to no step: the head of the first step or the tail of the last is missing",
            count=outside,
        )
        found.append(STEP_MISSING.found(path, message, severity="info"))
    for step in sorted(seen & set(stated)):
        mine = tasks.filter(pc.equal(tasks["step"], step))
        durations, _ = integers(mine["task_duration_ns"])
        busy = int(durations[~words_in(mine["task_type"], COMMUNICATION_TASKS)].sum())
        if stated[step]["computing_ns"] > busy + COUNTED_TOLERANCE_NS * max(mine.num_rows, 1):
            message = say(
                "step {step}: computing takes {computing:.3f} us here, but its tasks add up to {busy:.3f} us: "
                "tasks are missing",
                step=step,
                computing=stated[step]["computing_ns"] / 1000,
                busy=busy / 1000,
            )
            found.append(FORMS_DISAGREE.found(path, message))
    return capped(found)


@dataclass(frozen=True, slots=True)
class TimelineSums:
    """What the timelines of one kind hold, all slices together."""

    path: str
    operators: int
    operators_ns: int
    overlap_ns: dict[str, int]
    """Time by thread of the process Overlap Analysis."""
    named: bool = True
    """Whether the timeline names its processes at all: else nothing identifies the device's tasks."""


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
    return [FORMS_DISAGREE.found(sums.path, message)]


OVERLAP_THREADS = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
}
"""Threads of the process Overlap Analysis, and the columns of the table of steps with the same meaning."""


def check_overlap(sums: TimelineSums, steps: pa.Table, *, whole: bool = False) -> list[Finding]:
    """Whether the table of steps has no more time than the timeline that it is made from.

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
            found.append(FORMS_DISAGREE.found(sums.path, message))
    return found
