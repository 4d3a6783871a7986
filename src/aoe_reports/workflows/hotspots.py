"""Where device time goes in the profiles below some paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.analysis.hotspots import (
    GROUPINGS,
    By,
    Group,
    group_tasks,
    in_order,
    is_communication,
    statistic_groups,
)
from aoe_reports.analysis.tasks import TaskSet
from aoe_reports.columns import exact_sum, integers, keep_where
from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, has
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.profile import TASK_KINDS, Capture
from aoe_reports.readers.summary import TableData
from aoe_reports.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.texts import join, say
from aoe_reports.workflows.captures import TASK_FALLBACKS, find_runs, label_of, nothing_measured, read_tasks


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks are looked at, and how they are grouped."""

    by: By = "op_type"
    top: int = 20
    rank: int | None = None
    device: int | None = None
    step: int | None = None
    all_tasks: bool = False
    max_expanded: int | None = None


@dataclass(frozen=True, slots=True)
class Hotspots:
    """The rows, what was found on the way, and whether something could not be read."""

    rows: list[dict[str, Any]]
    findings: list[Finding]
    unreadable: bool


def find_hotspots(paths: Sequence[Path], selection: Selection) -> Hotspots:
    """The hotspots of every run below `paths`, a ranking for each rank of each run."""
    discovery = discover(paths, max_expanded=selection.max_expanded)
    findings = list(discovery.findings)
    unreadable = discovery.unreadable
    rows: list[dict[str, Any]] = []
    for captures in find_runs(discovery):
        for capture in captures:
            findings += capture.findings
            ranks = {capture.info.rank_id, *capture.info.ranks.values()}
            if selection.rank is not None and selection.rank not in ranks:
                continue
            fields, by_type = _fields(selection, capture), selection.by == "op_type" and not selection.all_tasks
            try:
                sets, tables = read_tasks(capture, fields, by_type=by_type, all_tasks=selection.all_tasks)
            except (ReadError, OSError) as error:
                unreadable = True
                findings.append(Finding("error", "unreadable", str(capture.root), str(error)))
                continue
            findings += [finding for data in tables for finding in data.findings]
            findings += _of_source(capture, sets, tables)
            for rank in sorted({tasks.rank_id for tasks in sets}, key=lambda rank: -1 if rank is None else rank):
                if selection.rank in {None, rank}:
                    mine = [tasks for tasks in sets if tasks.rank_id == rank]
                    rows += _rows(label_of(captures), rank, *_groups(mine, selection), selection)
    if not rows and not has(findings, "error"):
        findings.append(nothing_measured(paths, say("no task to rank here"), **dict(_asked(selection))))
    return Hotspots(rows, findings_in_order(findings), unreadable)


def _asked(selection: Selection) -> list[tuple[str, int | None]]:
    return [("rank", selection.rank), ("device", selection.device), ("step", selection.step)]


def _fields(selection: Selection, capture: Capture) -> frozenset[str]:
    fields = {*GROUPINGS[selection.by], "task_duration_ns"}
    if selection.device is not None or len(set(capture.info.ranks.values())) > 1:
        fields.add("device_id")
    if selection.step is not None:
        fields.add("step")
    return frozenset(fields) | TASK_FALLBACKS


def _groups(sets: Sequence[TaskSet], selection: Selection) -> tuple[list[Group], int]:
    """(the groups to be shown, the compute total in ns)."""
    chosen = [tasks for tasks in sets if selection.device is None or tasks.device_id == selection.device]
    if any(tasks.grouped for tasks in chosen):
        if selection.step is not None:
            return [], 0  # op_statistic knows no steps
        stated = in_order(_merged([group for tasks in chosen for group in statistic_groups(tasks.frame)]))
        return stated, sum(group.total_ns for group in stated)
    frames = [_of_step(tasks.frame, selection.step) for tasks in chosen]
    if not frames:
        return [], 0
    frame = pa.concat_tables(frames, promote_options="permissive") if len(frames) > 1 else frames[0]
    wanted = GROUPINGS[selection.by]
    keys = [key for key in wanted if key in frame.column_names]
    if selection.by == "op_type":  # types are few: to group all of them is quicker than to part the rows first
        every = [_under(wanted, keys, group) for group in group_tasks(frame, keys)]
        compute = [group for group in every if group.key[1] not in COMMUNICATION_TASKS]
        return every if selection.all_tasks else compute, sum(group.total_ns for group in compute)
    durations, _ = integers(frame["task_duration_ns"])
    communication = is_communication(frame["task_type"])
    whole = exact_sum(durations[~communication])
    if communication.any() and not selection.all_tasks:
        frame = frame.filter(keep_where(~communication))
    return [_under(wanted, keys, group) for group in group_tasks(frame, keys, selection.top)], whole


def _of_step(frame: pa.Table, step: int | None) -> pa.Table:
    if step is None:
        return frame
    return frame.filter(pc.equal(frame["step"], step)) if "step" in frame.column_names else frame.slice(0, 0)


def _under(wanted: Sequence[str], keys: Sequence[str], group: Group) -> Group:
    """The group under all wanted keys, null for those the export does not have."""
    known = dict(zip(keys, group.key, strict=True))
    return replace(group, key=tuple(known.get(name) for name in wanted))


def _merged(groups: Sequence[Group]) -> list[Group]:
    """Rows of op_statistic of several devices, one a type."""
    merged: dict[tuple[str | None, ...], Group] = {}
    for group in groups:
        old = merged.get(group.key)
        if old is None:
            merged[group.key] = group
            continue
        count, total = old.count + group.count, old.total_ns + group.total_ns
        bounds = [n for n in (old.min_ns, group.min_ns, old.max_ns, group.max_ns) if n is not None]
        merged[group.key] = Group(
            group.key, count, total, min(bounds, default=None), max(bounds, default=None), total / count
        )
    return list(merged.values())


def _rows(
    run: str, rank_id: int | None, groups: Sequence[Group], whole: int, selection: Selection
) -> list[dict[str, Any]]:
    rows = []
    running = 0
    for position, group in enumerate(groups[: selection.top], start=1):
        running += group.total_ns
        names = (*group.key, *(None,) * (4 - len(group.key)))
        rows.append(
            {
                "position": position,
                "run": run,
                "rank_id": rank_id,
                "op_type": names[0],
                "task_type": names[1],
                "op_name": names[2],
                "input_shapes": names[3],
                "count": group.count,
                "total_us": group.total_ns / 1000,
                "mean_us": _us(group.mean_ns),
                "std_us": _us(group.std_ns),
                "min_us": _us(group.min_ns),
                "p50_us": _us(group.p50_ns),
                "p95_us": _us(group.p95_ns),
                "max_us": _us(group.max_ns),
                "share": round(group.total_ns / whole, 6) if whole else None,
                "cumulative_share": round(running / whole, 6) if whole else None,
            }
        )
    return rows


def _us(ns: float | None) -> float | None:
    return None if ns is None else round(ns / 1000, 6)


def _stands_in(data: TableData) -> Finding:
    what = {
        "op_statistic": say("it tells no spread, no quantiles, no steps"),
        "task_time": say("it tells no operator types"),
    }
    name = data.table.name
    message = say(
        "no table of tasks with their operators here; {table} stands in ({what})", table=name, what=what[name]
    )
    return Finding("info", "stands-in", str(data.path), message)


def _of_source(capture: Capture, sets: Sequence[TaskSet], tables: Sequence[TableData]) -> list[Finding]:
    """What is to be said of where the tasks of a capture come from: none is passed over in silence."""
    if not tables:
        return [_no_tasks(capture)]
    if not sets:
        message = say("no task here that computes: nothing of this capture is ranked")
        return [Finding("warning", "nothing-measured", str(capture.root), message)]
    return [] if tables[-1].table.name in TASK_KINDS else [_stands_in(tables[-1])]


def _no_tasks(capture: Capture) -> Finding:
    kinds = join(", ", sorted({f"{file.name.kind} ({file.name.form})" for file in capture.files}))
    message = say(
        "no table of tasks here (kernel_details, op_summary, op_statistic or task_time as CSV); found {kinds}",
        kinds=kinds,
    )
    return Finding("error", "nothing-measured", str(capture.root), message)
