"""Tables of tasks and of steps told from a timeline of a whole device, for captures that have nothing else."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import HostByFile, PrefetchedTasks, collect_events_of
from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.facts import breakdown
from aoe_reports.facts.breakdown import Activity
from aoe_reports.facts.host_activity import HOST_COLUMNS, HostActivity
from aoe_reports.facts.timeline_tasks import TimelineTasks, event_columns
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.digest import sha256_of
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.tasks import count_of_tasks
from aoe_reports.formats.trace.rules import TIMELINE_EVENT
from aoe_reports.formats.trace.shape import integer_array
from aoe_reports.formats.vendor import TABLES, vendor_of
from aoe_reports.model.arrays.columns import codes, column_of, has_value, integers
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say


def read_table_of_timeline(
    file: FoundFile,
    kind: str,
    columns: frozenset[str] | None = None,
    *,
    hashed: bool = True,
    host_by_file: HostByFile | None = None,
    collected: PrefetchedTasks | None = None,
) -> TableData:
    """The rows of `task_time` or `step_trace_time` that a timeline tells; damage is in the findings.

    Only where `columns` (None: all) name the step of a task is it told. Tasks are taken from what is `collected`, where they are there;
    it is filled where steps are read.
    """
    table = TABLES[kind]
    if kind == "step_trace_time":
        frame, findings = _steps(file, collected)
        differ = False
    else:
        frame, findings, differ = _tasks(file, columns, host_by_file, collected)
    return TableData(
        table=table,
        path=file.path,
        frame=frame,
        match=table.match([]),
        findings=tuple(findings),
        rows_read=count_of_tasks(frame),
        sha256=sha256_of(file.path, say("a timeline")) if hashed else "",
        is_text=False,
        rows_differ=differ,
        told_by=file.name.kind,
    )


def _tasks(
    file: FoundFile, wanted: frozenset[str] | None, host_by_file: HostByFile | None, collected: PrefetchedTasks | None
) -> tuple[pa.Table, list[Finding], bool]:
    """(the tasks, what is wrong with the timeline, whether it is known that none stands there twice)."""
    of_steps = wanted is None or "step" in wanted
    columns = {
        *event_columns(wanted),
        *(HOST_COLUMNS if host_by_file is not None else breakdown.EVENT_COLUMNS if of_steps else ()),
    }

    def new() -> TimelineTasks:
        if host_by_file is not None:
            return TimelineTasks(HostActivity(), wanted)
        return TimelineTasks(Activity() if of_steps else None, wanted)

    held = None if collected is None or host_by_file is not None else collected.by_path.pop(file.path, None)
    if held is not None and held[0].holds(wanted):
        tasks, findings = held[0], [*held[1]]
    else:
        tasks, findings = collect_events_of([file], columns, new)
    if host_by_file is not None and isinstance(tasks.activity, HostActivity):
        host_by_file[file.path] = tasks.activity
    frame = tasks.frame()
    numbers, words = codes(frame["task_type"])
    strange = [number for number, word in enumerate(words, start=1) if _is_no_text(word)]
    if count := count_of_tasks(frame, np.isin(numbers, strange)):
        message = say("{count} tasks whose type is not text; they are in no sum of computing", count=count)
        findings.append(TIMELINE_EVENT.found(str(file.path), message))
    return frame, findings, tasks.differ()


def _is_no_text(word: str) -> bool:
    """Whether a type was a number, a list or the like in the file, of which only its text is left."""
    try:
        json.loads(word)
    except (ValueError, RecursionError):
        return False
    return True


def _steps(file: FoundFile, collected: PrefetchedTasks | None) -> tuple[pa.Table, list[Finding]]:
    """A row a step and device: the parts of the time between the first and the last task that the step launched."""
    activity, findings = _activity(file, collected)
    whole = file.name.iteration  # msprof names a file after the one iteration in it
    steps = [
        (device.device_id, number, parts)
        for device in activity.break_down(0)
        for number, parts in sorted((device.steps or ({} if whole is None else {whole: device.whole})).items())
    ]
    rows = [
        {"device_id": device, "step": number, **{name: getattr(parts, name) for name in _PARTS}}
        for device, number, parts in steps
        if parts.communication_ns is not None
    ]
    columns = ("device_id", "step", *_PARTS)
    if len(rows) < len(steps):
        message = say(
            "{count} steps are left out: the device of their communication is unknown",
            count=len(steps) - len(rows),
        )
        findings.append(STANDS_IN.found(str(file.path), message, severity="warning"))
    if rows:
        message = say(
            "no table of steps here; {timeline} is used instead (each step from its first to its last task on the device)",
            timeline=file.name.kind,
        )
        findings.append(STANDS_IN.found(str(file.path), message))
    return pa.table({name: integer_array([row[name] for row in rows]) for name in columns}), findings


def _activity(file: FoundFile, collected: PrefetchedTasks | None) -> tuple[Activity, list[Finding]]:
    """(what the steps are told by, what is wrong with the timeline); the tasks are collected on the way."""
    if collected is None:
        return collect_events_of([file], breakdown.EVENT_COLUMNS, Activity)
    wanted = collected.wanted
    columns = {*breakdown.EVENT_COLUMNS, *event_columns(wanted)}
    tasks, findings = collect_events_of([file], columns, lambda: TimelineTasks(Activity(), wanted))
    assert tasks.activity is not None
    collected.by_path[file.path] = (tasks, [*findings])
    return tasks.activity, findings


_PARTS = ("computing_ns", "communication_not_overlapped_ns", "overlapped_ns", "communication_ns", "free_ns")


def with_steps_of_timeline(capture: Capture, frame: pa.Table) -> pa.Table:
    """Tasks of a table without steps, each with the step of the timeline that it began in."""
    if not has_value(frame, "task_start_ns"):
        return frame
    start, timed = integers(frame["task_start_ns"])
    device, known = integers(frame["device_id"]) if "device_id" in frame.column_names else (start, ~timed & timed)
    step = np.full(frame.num_rows, -1, dtype=np.int64)
    for files in vendor_of(capture.profiler).events(capture):
        activity, _ = collect_events_of(files, breakdown.EVENT_COLUMNS, Activity)  # `steps` reports its findings
        for one in activity.break_down(0):
            mine = timed if one.device_id is None else timed & (~known | (device == one.device_id))
            for number, parts in one.steps.items():
                step[mine & (start >= parts.start_ns) & (start < parts.end_ns)] = number
    names = [name for name in frame.column_names if name != "step"]
    return frame.select(names).append_column("step", column_of(step, step >= 0))
