"""Is what a table says possible, and do two tables of one capture agree?"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.columns import Ints, integers
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.readers.summary import TableData

COUNTED_TOLERANCE_NS = 20
"""op_statistic's printed total may be off by this much (measured on real exports)."""


def check_table(data: TableData) -> TableData:
    """The same table without rows whose needed durations are negative, each of them reported."""
    for field in data.match.fields:
        if field.type == "duration" and field.needed and field.name in data.frame.column_names:
            values, there = integers(data.frame[field.name])
            mask = there & (values < 0)
            if mask.any():
                data = data.keep(~mask, _negative(data, field.header, field.position + 1, np.flatnonzero(mask)))
        elif field.name == "count" and field.name in data.frame.column_names:
            values, there = integers(data.frame[field.name])
            mask = there & (values <= 0)
            if mask.any():
                data = data.keep(~mask, _no_count(data, field.header, field.position + 1, np.flatnonzero(mask)))
    return data


def _no_count(data: TableData, header: str, column: int, rows: Ints) -> tuple[Finding, ...]:
    path, message = str(data.path), f"{header} is not above 0; the row is left out"
    return tuple(
        Finding("error", "implausible-count", path, message, data.line(int(row)), column)
        for row in rows[:EXAMPLES_PER_RULE]
    )


def _negative(data: TableData, header: str, column: int, rows: Ints) -> tuple[Finding, ...]:
    path, message = str(data.path), f"{header} is negative; the row is left out"
    found = [
        Finding("error", "negative-duration", path, message, data.line(int(row)), column)
        for row in rows[:EXAMPLES_PER_RULE]
    ]
    if len(rows) > EXAMPLES_PER_RULE:
        rest = f"and {len(rows) - EXAMPLES_PER_RULE} more negative durations from here on, all left out"
        line = data.line(int(rows[EXAMPLES_PER_RULE]))
        found.append(Finding("error", "negative-duration", path, rest, line, column))
    return tuple(found)


def check_statistic(statistic: TableData, tasks: pa.Table) -> list[Finding]:
    """Whether op_statistic is the tasks grouped by device, operator type and core type: counts exact, totals to 0.02 us."""
    keys = ["op_type", "task_type"]
    if not statistic.frame.num_rows:
        return []  # why it has no row is said already
    if "device_id" in tasks.column_names and "device_id" in statistic.frame.column_names:
        keys.insert(0, "device_id")
    grouped = _grouped(tasks, keys)
    found = []
    for row, stated in enumerate(statistic.frame.to_pylist()):
        count, total = stated["count"], stated["total_time_ns"]
        tasks_count, tasks_total = grouped.get(tuple(stated[key] for key in keys), (0, 0))
        if count != tasks_count or abs(total - tasks_total) > COUNTED_TOLERANCE_NS:
            message = (
                f"{stated['op_type']} on {stated['task_type']}: {count} tasks, {total / 1000:.3f} us here, but "
                f"{tasks_count} tasks, {tasks_total / 1000:.3f} us in the table of tasks"
            )
            found.append(Finding("warning", "statistic-mismatch", str(statistic.path), message, statistic.line(row)))
    return found[:EXAMPLES_PER_RULE]


def _grouped(tasks: pa.Table, keys: list[str]) -> dict[tuple[object, ...], tuple[int, int]]:
    words = {key: tasks[key].cast(pa.string()) if key != "device_id" else tasks[key] for key in keys}
    plain = pa.table({**words, "ns": tasks["task_duration_ns"]})
    groups = plain.group_by(keys, use_threads=False).aggregate([("ns", "count"), ("ns", "sum")])
    return {tuple(row[key] for key in keys): (row["ns_count"], row["ns_sum"]) for row in groups.to_pylist()}


def check_forms(used: TableData, other: TableData) -> list[Finding]:
    """Whether two forms of the same tasks (kernel_details and op_summary) hold as many tasks and as much time."""
    if not other.frame.num_rows:
        return []  # why it has no row is said already
    counts = used.frame.num_rows, other.frame.num_rows
    totals = [pc.sum(data.frame["task_duration_ns"]).as_py() or 0 for data in (used, other)]
    if counts[0] == counts[1] and abs(totals[0] - totals[1]) <= COUNTED_TOLERANCE_NS * max(counts[0], 1):
        return []
    message = (
        f"{counts[1]} tasks, {totals[1] / 1000:.3f} us here, but {counts[0]} tasks, {totals[0] / 1000:.3f} us in "
        f"{used.path.name}, which is used"
    )
    return [Finding("warning", "forms-disagree", str(other.path), message)]
