"""Finds captures below some paths and reads single tables of them: the part of reading that every command needs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.analysis.tasks import TaskSet, split_devices
from aoe_reports.checks.tables import check_table
from aoe_reports.readers.discovery import Discovery, FoundFile
from aoe_reports.readers.profile import TASK_KINDS, TIMELINE_KINDS, Capture, group_captures, group_runs
from aoe_reports.readers.summary import TableData, read_table
from aoe_reports.tables import TABLES

TASK_FALLBACKS = frozenset({"count", "total_time_ns", "min_time_ns", "avg_time_ns", "max_time_ns"})
"""The columns of op_statistic that stand in where there is no table of tasks."""

COMPUTE_TASKS = frozenset({"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"})
"""Task types of task_time that are operators (values seen in real files)."""


def find_runs(discovery: Discovery) -> list[tuple[Capture, ...]]:
    """The profiles among the files found, as captures that make up one run each."""
    return group_runs(group_captures(discovery.files))


def aoe_files(discovery: Discovery) -> list[FoundFile]:
    """The AOE results among the files found."""
    return [file for file in discovery.files if file.name.source == "aoe"]


def read_file(file: FoundFile, columns: frozenset[str] | None = None, *, hashed: bool = True) -> TableData:
    """One file as its table, checked; `columns` are the ones that are wanted of a CSV."""
    if file.name.form == "json":
        from aoe_reports.readers.timeline import read_timeline  # noqa: PLC0415 -- most captures have tables

        return read_timeline(file.path, file.name)
    data = check_table(read_table(file.path, TABLES[file.name.kind], columns, hashed=hashed))
    known = {"device_id": file.name.device_id, "model_id": file.name.model_id}
    return data.with_constants({name: value for name, value in known.items() if value is not None})


def can_read(file: FoundFile) -> bool:
    """Whether a file can be read as a table."""
    form, kind = file.name.form, file.name.kind
    return (form == "csv" and kind in TABLES) or (form == "json" and kind in TIMELINE_KINDS and file.size > 0)


def read_tasks(
    capture: Capture, fields: frozenset[str], *, by_type: bool, all_tasks: bool = False
) -> tuple[list[TaskSet], list[TableData]]:
    """Read only the tasks of a capture: of a table of tasks, else op_statistic (by type) or task_time (by name)."""
    fallbacks = ("op_statistic", "task_time") if by_type else ("task_time",)
    tables: list[TableData] = []
    for kind in (*TASK_KINDS, *fallbacks):
        files = capture.preferred(kind)
        found = [read_file(file, fields, hashed=False) for file in files]
        tables += found
        frame = joined(found) if kind != "task_time" or all_tasks else kernels(joined(found))
        if frame is not None and frame.num_rows:
            return split_devices(capture.info.rank_of, frame, grouped=kind == "op_statistic"), tables
    return [], tables


def joined(tables: Sequence[TableData]) -> pa.Table | None:
    """The rows of several files (slices, iterations, devices) one below the other; None where there are none."""
    frames = [data.frame for data in tables if data.frame.num_rows]
    if not frames:
        return None
    return pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0]


def kernels(frame: pa.Table | None) -> pa.Table | None:
    """The rows of task_time that compute: it also holds events, notifications, copies, profiler switches."""
    if frame is None:
        return None
    computes = pc.is_in(frame["task_type"].cast(pa.string()), value_set=pa.array(sorted(COMPUTE_TASKS)))
    return frame.filter(pc.and_(computes, pc.is_valid(frame["op_name"])))
