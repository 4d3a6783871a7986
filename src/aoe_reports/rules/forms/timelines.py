"""The rule on timelines: they show the tasks and the steps of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import integers, keep_where, words_in
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS, FORM_TOLERANCE_NS, total_of
from aoe_reports.rules.rules import FORMS_DISAGREE


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
    return [FORMS_DISAGREE.found(sums.path, message)]


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
            found.append(FORMS_DISAGREE.found(sums.path, message))
    return found
