"""Holds the files of one capture against each other: what one form says, another must say, too."""

from __future__ import annotations

import pyarrow as pa

from aoe_reports.engine.captures import (
    comparable,
    first_with_rows,
    joined,
    kernels,
    read_source,
    sources_of,
    sum_events_of,
)
from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS, OP_SUMMARY
from aoe_reports.formats.ascend.tables.timelines import DEVICE_PROCESS, OVERLAP_PROCESS, WHOLE_TIMELINES
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.rules.forms.agreement import (
    TimelineSums,
    check_forms,
    check_iterations,
    check_overlap,
    check_steps,
    check_task_times,
    check_timeline,
)
from aoe_reports.rules.forms.statistics import check_communication, check_no_tasks, check_statistics
from aoe_reports.rules.rules import DUPLICATE_ROW

_TASK_COLUMNS = frozenset({"op_type", "task_type", "step", *OP_SUMMARY.identity})


def cross_check(capture: Capture) -> list[Finding]:
    """What the forms of one capture say of each other (not what each says of itself)."""
    return [*capture.findings, *_between_forms(capture)]


def _read(source: Source | None, columns: frozenset[str] | None = None) -> list[TableData]:
    """The tables of one form; none where a file cannot be read, which is said where it is checked itself."""
    try:
        return read_source(source, columns, hashed=False)
    except (ReadError, OSError):
        return []


def _between_forms(capture: Capture) -> list[Finding]:
    def read(source: Source) -> list[TableData]:
        return comparable(_read(source, _TASK_COLUMNS))

    tasks, others = first_with_rows(sources_of(capture, "tasks"), read)
    frame = joined(tasks)
    found = _iterations(capture)
    found += [finding for data in tasks for finding in data.findings if finding.rule == DUPLICATE_ROW.name]
    if frame is None:
        return found + check_no_tasks(tasks, _read(capture.preferred("op_statistic")))
    for statistics in capture.sources("op_statistic"):
        found += check_statistics(_read(statistics), frame)
    for other in others:
        found += check_forms(tasks, read(other))
    for data in _read(capture.preferred("communication_statistic")):
        found += check_communication(data, frame)
    for source in capture.sources("task_time"):
        times = _read(source, frozenset({"op_name", "task_type", "task_duration_ns"}))
        found += check_task_times(tasks, times, kernels(joined(times)))
    steps = _read(capture.preferred("step_trace_time"))
    for data in steps:
        found += check_steps(data, frame)
    return found + _with_timelines(capture, tasks, joined(steps))


def _iterations(capture: Capture) -> list[Finding]:
    """Hold the forms of step_trace against each other."""
    forms = [_read(source) for source in capture.sources("step_trace")]
    return [finding for other in forms[1:] for finding in check_iterations(forms[0], other)]


def _with_timelines(capture: Capture, tasks: list[TableData], steps: pa.Table | None) -> list[Finding]:
    """Hold the tasks and the steps against the timelines that show all of the device."""
    found: list[Finding] = []
    for kind in WHOLE_TIMELINES:
        sums = _sums([file for file in capture.timelines if file.name.kind == kind])
        if sums is None:
            continue
        if sums.operators or sums.named:
            found += check_timeline(sums, tasks)
        if steps is not None and sums.overlap_ns:
            found += check_overlap(sums, steps, whole=_all_in_steps(tasks))
    return found


def _all_in_steps(tasks: list[TableData]) -> bool:
    """Whether every task belongs to a step."""
    return all("step" in data.frame.column_names and data.frame["step"].null_count == 0 for data in tasks)


def _sums(files: list[FoundFile]) -> TimelineSums | None:
    """The operators and the overlap analysis in all slices of a timeline; None where one of them cannot be used."""
    operators = operators_ns = 0
    named = False
    overlap: dict[str, int] = {}
    for file in files:
        try:
            sums = sum_events_of(file, ("process", "thread", "task_type"))
        except (ReadError, OSError):
            sums = None
        if sums is None:
            return None  # why is said where the file is checked itself
        for row in sums.to_pylist():
            named = named or row["process"] is not None
            if row["process"] == DEVICE_PROCESS and row["task_type"] in COMPUTE_TASKS:
                operators += row["count"]
                operators_ns += row["duration_ns"]
            elif row["process"] == OVERLAP_PROCESS and row["thread"] is not None:
                overlap[row["thread"]] = overlap.get(row["thread"], 0) + row["duration_ns"]
    return TimelineSums(str(files[0].path), operators, operators_ns, overlap, named) if files else None
