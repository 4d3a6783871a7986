"""The rules on the table of steps: it is made from the tasks."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.arrays.columns import has_value, integers, words_in
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS, capped
from aoe_reports.rules.rules import FORMS_DISAGREE, STEP_MISSING


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
                (
                    "step {step}: computing takes {computing:.3f} us here, but its tasks add up to {busy:.3f} us: "
                    "tasks are missing"
                ),
                step=step,
                computing=stated[step]["computing_ns"] / 1000,
                busy=busy / 1000,
            )
            found.append(FORMS_DISAGREE.found(path, message))
    return capped(found)
