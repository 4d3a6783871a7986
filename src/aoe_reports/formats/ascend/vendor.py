"""Ascend: what msprof, torch_npu, MindSpore's profiler and AOE write."""

from __future__ import annotations

from collections.abc import Mapping

from aoe_reports.formats.ascend.capture import exports_of
from aoe_reports.formats.ascend.capture import group_captures as group
from aoe_reports.formats.ascend.exports import identify
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS, COMPUTE_TASKS
from aoe_reports.formats.ascend.tables.timelines import WHOLE_TIMELINES
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.sources.found import FoundFile, Writer
from aoe_reports.formats.table import Table, TaskTypes

__all__ = [
    "events",
    "group",
    "identify",
    "parse_name",
    "record_source",
    "steps",
    "tables",
    "task_types",
    "tasks",
    "writers",
]

writers: frozenset[Writer] = frozenset({"msprof", "torch_npu", "mindspore", "aoe"})
record_source = "msprof"
tables: Mapping[str, Table] = TABLES
task_types = TaskTypes(COMMUNICATION_TASKS, COMPUTE_TASKS)


def tasks(capture: Capture) -> tuple[Source, ...]:
    """Tables of tasks with their operators, then sums by operator type, then tasks by name alone; without any a timeline."""
    others = (capture.preferred("op_statistic"), capture.preferred("task_time"))
    tables = (*capture.sources("kernel_details", "op_summary"), *(source for source in others if source is not None))
    return tables or _told_by_timeline(capture, "task_time")


def steps(capture: Capture) -> tuple[Source, ...]:
    """The framework's steps, then msprof's iterations; without a table of either what marks them in a timeline."""
    found = (capture.preferred("step_trace_time"), capture.preferred("step_trace"))
    tables = tuple(source for source in found if source is not None)
    if tables:
        return tables
    files = [file for source in tasks(capture) for file in source.files] + list(capture.timelines)
    marked = any(file.may_hold_events and file.name.source != "msprof" for file in files)
    only_events = any(file.may_hold_events for source in tasks(capture) for file in source.files)
    return _told_by_timeline(capture, "step_trace_time") if marked or only_events else ()


def _told_by_timeline(capture: Capture, kind: str) -> tuple[Source, ...]:
    """A table that no file here holds, told from the timelines of whole devices, or from databases that hold what those do."""
    files = tuple(file for files in events(capture) for file in files if file.may_hold_events)
    return (Source(kind, files),) if files else ()


def events(capture: Capture) -> list[list[FoundFile]]:
    """The files that show whole devices, slices together: of one kind of timeline, or the databases in its place."""
    return exports_of(capture, WHOLE_TIMELINES)
