"""Holds the files of one capture against each other: what one form says, another must say, too."""

from __future__ import annotations

from aoe_reports.checks.forms import (
    check_communication,
    check_forms,
    check_statistic,
    check_steps,
    check_task_times,
)
from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding
from aoe_reports.readers.profile import TASK_KINDS, Capture
from aoe_reports.readers.summary import TableData
from aoe_reports.workflows.captures import joined, kernels, read_telling

_TASK_COLUMNS = frozenset({"op_type", "task_type", "device_id", "task_duration_ns", "step"})


def cross_check(capture: Capture) -> list[Finding]:
    """What the forms of one capture say of each other (not what each says of itself)."""
    try:
        return [*capture.findings, *_between_forms(capture)]
    except (ReadError, OSError):
        return list(capture.findings)  # which file cannot be read is said where it is checked itself


def _between_forms(capture: Capture) -> list[Finding]:
    tellings = capture.tellings(*TASK_KINDS)
    tasks: list[TableData] = read_telling(tellings[0], _TASK_COLUMNS, hashed=False) if tellings else []
    frame = joined(tasks)
    if frame is None:
        return []
    found: list[Finding] = []
    for statistics in capture.tellings("op_statistic"):
        for data in read_telling(statistics, hashed=False):
            found += check_statistic(data, frame)
    for other in tellings[1:]:
        found += check_forms(tasks, read_telling(other, _TASK_COLUMNS, hashed=False))
    for data in read_telling(capture.preferred("communication_statistic"), hashed=False):
        found += check_communication(data, frame)
    for telling in capture.tellings("task_time"):
        times = read_telling(telling, frozenset({"op_name", "task_type", "task_duration_ns"}), hashed=False)
        found += check_task_times(tasks, times, kernels(joined(times)))
    steps = read_telling(capture.preferred("step_trace_time"), hashed=False)
    for data in steps:
        found += check_steps(data, frame)
    return found
