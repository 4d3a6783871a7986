"""Single communication operators that take far longer than others of their type: one call may explain a whole step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.idle import step_of_tasks
from aoe_reports.model.arrays.columns import Ints, codes, exact_sum, has_value, integers
from aoe_reports.stats.grouping import is_communication


@dataclass(frozen=True, slots=True)
class SlowCalls:
    """The slow calls of one type of communication operator on one device; times in ns."""

    op_type: str | None
    calls: int
    """All calls of the type."""
    slow: int
    median_ns: float
    excess_ns: int
    """What the slow ones take above the median, together."""
    name: str | None
    """The name of the slowest call."""
    step: int | None
    place: int | None
    """Its number among the calls of its type in the step (without steps: in the capture), from 1."""
    duration_ns: int

    @property
    def times(self) -> float:
        """The duration of the slowest call divided by the median."""
        return self.duration_ns / self.median_ns


def find_slow_calls(tasks: pa.Table, least_times: float, least_calls: int, most_share: float) -> list[SlowCalls]:
    """The few calls of each type that take at least `least_times` the median, the largest excess first."""
    if "task_type" not in tasks.column_names or "op_type" not in tasks.column_names:
        return []
    talking = np.flatnonzero(is_communication(tasks["task_type"]))
    numbers, words = codes(tasks["op_type"])
    durations, _ = integers(tasks["task_duration_ns"])
    found = []
    for number in np.unique(numbers[talking]).tolist():
        rows = talking[numbers[talking] == number]
        median = float(np.median(durations[rows])) if len(rows) >= least_calls else 0.0
        slow = rows[durations[rows] >= least_times * median] if median else rows[:0]
        if 0 < len(slow) <= most_share * len(rows):
            found.append(_slow_calls(tasks, words[number - 1] if number else None, rows, slow, median, durations))
    return sorted(found, key=lambda one: -one.excess_ns)


def _slow_calls(
    tasks: pa.Table, op_type: str | None, rows: Ints, slow: Ints, median: float, durations: Ints
) -> SlowCalls:
    slowest = int(slow[durations[slow].argmax()])
    task_steps = step_of_tasks(tasks)
    step = -1 if task_steps is None else int(task_steps[1][slowest])
    beside = rows if step < 0 or task_steps is None else rows[task_steps[1][rows] == step]
    place = None
    if has_value(tasks, "task_start_ns"):
        starts, _ = integers(tasks["task_start_ns"])
        place = int((starts[beside] < starts[slowest]).sum()) + 1
    return SlowCalls(
        op_type=op_type,
        calls=len(rows),
        slow=len(slow),
        median_ns=median,
        excess_ns=exact_sum(durations[slow]) - round(median * len(slow)),
        name=tasks["op_name"][slowest].as_py() if "op_name" in tasks.column_names else None,
        step=step if step >= 0 else None,
        place=place,
        duration_ns=int(durations[slowest]),
    )
