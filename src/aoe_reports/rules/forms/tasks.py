"""The rule on forms of the same tasks and iterations: they hold the same time."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import keep_where, words_in
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.rules.forms.agreement import (
    COUNTED_TOLERANCE_NS,
    FORM_TOLERANCE_NS,
    TASK_TIME_TOLERANCE_NS,
    capped,
    total_of,
)
from aoe_reports.rules.rules import FORMS_DISAGREE


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
    return [FORMS_DISAGREE.found(str(times[0].path), message)]


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
            found.append(FORMS_DISAGREE.found(str(other[0].path), message))
    return capped(found)


def _iterations(tables: Sequence[TableData]) -> dict[tuple[object, ...], int]:
    """The time of every iteration by device, model and number; files that repeat the run tell it once."""
    return {
        (row.get("device_id"), row.get("model_id"), row["iteration_id"]): row["iteration_time_ns"]
        for data in tables
        for row in data.frame.to_pylist()
    }
