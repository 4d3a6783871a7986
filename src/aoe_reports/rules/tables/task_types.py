"""The rule on task types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aoe_reports.formats.ascend.tables.op_summary import TASK_TYPES
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import codes
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import TABLES
from aoe_reports.model.texts import say

TASK_TYPE_UNKNOWN = TABLES.rule("task-type-unknown", "warning", "a task type that no known exporter writes")


def task_types(data: TableData) -> Sequence[Finding]:
    """A task type that no exporter is known to write: cells may have changed places, or a byte is damaged."""
    if data.table.name not in {"op_summary", "kernel_details"} or "task_type" not in data.frame.column_names:
        return ()
    numbers, words = codes(data.frame["task_type"])
    strange = [number for number, word in enumerate(words, start=1) if word not in TASK_TYPES]
    found = []
    for number in strange[:EXAMPLES_PER_RULE]:
        rows = np.flatnonzero(numbers == number)
        if len(rows):
            message = say(
                "{count} rows of task type {word!r}, which is unknown; treated as computing",
                count=len(rows),
                word=words[number - 1][:40],
            )
            found.append(TASK_TYPE_UNKNOWN.found(str(data.path), message, data.line(int(rows[0]))))
    return found
