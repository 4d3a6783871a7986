"""What the devices of the timelines below some paths did, held against what the profiler says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoe_reports.analysis.breakdown import EVENT_COLUMNS, Activity, DeviceBreakdown, Gap, Parts
from aoe_reports.analysis.steps import Step
from aoe_reports.checks.forms import COUNTED_TOLERANCE_NS, FORM_TOLERANCE_NS, OVERLAP_THREADS
from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, has
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.identify import FoundFile
from aoe_reports.readers.profile import Capture
from aoe_reports.tables.timelines import WHOLE_TIMELINES
from aoe_reports.texts import say
from aoe_reports.workflows.captures import (
    databases_with,
    find_runs,
    label_of,
    nothing_measured,
    read_steps,
    read_telling,
    stream_events_of,
)


@dataclass(frozen=True, slots=True)
class BreakdownSelection:
    """Which devices and steps are shown (None for all), and how many gaps of each device."""

    rank: int | None = None
    device: int | None = None
    step: int | None = None
    gaps: int = 10
    max_expanded: int | None = None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The rows, the longest gaps, what was found on the way, and whether something could not be read."""

    rows: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    findings: list[Finding]
    unreadable: bool


def find_breakdown(paths: Sequence[Path], selection: BreakdownSelection) -> Breakdown:
    """What every device below `paths` did: a row for all of its time, and one for each step."""
    discovery = discover(paths, max_expanded=selection.max_expanded)
    findings = list(discovery.findings)
    unreadable = discovery.unreadable
    rows: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    for captures in find_runs(discovery):
        for capture in captures:
            findings += capture.findings
            exports = exports_of(capture)
            if not exports:
                message = say(
                    "no timeline of the whole device here (trace_view, msprof) and no database that holds one"
                )
                findings.append(Finding("warning", "no-timeline", str(capture.root), message))
            try:
                for files in exports:
                    _read_export(files, capture, label_of(captures), selection, (rows, gaps, findings))
            except (ReadError, OSError) as error:
                unreadable = True
                findings.append(Finding("error", "unreadable", str(capture.root), str(error)))
    if not rows and not has(findings, "error"):
        findings.append(
            nothing_measured(
                paths,
                say("no task of a device in a timeline here"),
                rank=selection.rank,
                device=selection.device,
                step=selection.step,
            )
        )
    return Breakdown(rows, gaps, findings_in_order(findings), unreadable)


def exports_of(capture: Capture) -> list[list[FoundFile]]:
    """The files that tell of whole devices, slices together: of one kind of timeline, or the databases in its place."""
    for kind in WHOLE_TIMELINES:
        found: dict[tuple[object, ...], list[FoundFile]] = {}
        for file in [file for file in capture.timelines if file.name.kind == kind] or databases_with(capture, kind):
            name = file.name
            found.setdefault((name.form, name.device_id, name.model_id, name.iteration), []).append(file)
        if found:
            return list(found.values())
    return []


def _read_export(
    files: Sequence[FoundFile],
    capture: Capture,
    run: str,
    selection: BreakdownSelection,
    out: tuple[list[dict[str, Any]], list[dict[str, Any]], list[Finding]],
) -> None:
    rows, gaps, findings = out
    activity = Activity()
    damaged = False
    for file in files:
        with stream_events_of(file, EVENT_COLUMNS) as (batches, found):
            findings += found
            damaged = damaged or has(found, "error")
            for batch in batches:
                activity.add(batch)
    devices = activity.break_down(selection.gaps)
    if not devices and not damaged:  # why there is none is said already
        message = say("no task of a device in this timeline")
        findings.append(Finding("warning", "no-timeline", str(files[0].path), message))
    steps = _stated_steps(capture) if any(device.steps for device in devices) else []
    for device in devices:
        number = _device_of(device, files[0], capture, alone=len(devices) == 1)
        rank = capture.info.rank_of(number)
        findings += _judged(device, rank, steps, str(files[0].path))
        if selection.rank not in {None, rank} or selection.device not in {None, number}:
            continue
        whose = {"run": run, "rank_id": rank, "device_id": number}
        iteration = files[0].name.iteration
        every = [(iteration, device.whole), *device.steps.items()]
        rows += [_row(whose, step, parts) for step, parts in every if selection.step in {None, step}]
        shown = [gap for gap in device.gaps if selection.step in {None, gap.step, iteration}]
        gaps += [_gap_row(whose, place, gap, iteration) for place, gap in enumerate(shown, start=1)]


def _device_of(device: DeviceBreakdown, file: FoundFile, capture: Capture, *, alone: bool) -> int | None:
    if device.device_id is not None or not alone:
        return device.device_id
    known = list(capture.info.ranks)
    return file.name.device_id if file.name.device_id is not None or len(known) != 1 else known[0]


def _stated_steps(capture: Capture) -> list[Step]:
    """What the framework's table says of the steps; nothing where it cannot be read, which `check` says."""
    try:
        steps = read_steps(capture, lambda telling: read_telling(telling, hashed=False))
    except (ReadError, OSError):
        return []
    return [step for step in steps if step.computing_ns is not None]


def _judged(device: DeviceBreakdown, rank: int | None, steps: Sequence[Step], path: str) -> list[Finding]:
    """Where the profiler says otherwise than its own tasks do, and what no step holds."""
    found = []
    if device.whole.communication_ns is None:
        message = say("several devices: which of them communication belongs to is not known; only computing is told")
        found.append(Finding("warning", "device-unknown", path, message))
    if device.outside:
        message = say(
            "{count} tasks belong to no step: the head of the first step or the tail of the last is missing",
            count=device.outside,
        )
        found.append(Finding("info", "step-missing", path, message))
    for thread, column in OVERLAP_THREADS.items():
        stated = device.stated_ns.get(thread)
        if stated is not None:
            tolerance = _tolerance(device.stated_rows[thread] + device.whole.intervals)
            where = say("in Overlap Analysis")
            found += _apart(thread, getattr(device.whole, column), stated, tolerance, where, path)
    for step in steps:
        parts = device.steps.get(step.step) if step.step is not None else None
        if parts is None or step.rank_id != rank or step.device_id not in {None, device.device_id}:
            continue
        for thread, column in OVERLAP_THREADS.items():
            where = say("for step {step} in the table of steps", step=step.step)
            stated, tolerance = getattr(step, column), _tolerance(parts.intervals)
            found += _apart(thread, getattr(parts, column), stated, tolerance, where, path)
    return found


def _tolerance(intervals: int) -> int:
    """What rounding explains: each printed interval to a nanosecond, and the printed sum."""
    return COUNTED_TOLERANCE_NS + FORM_TOLERANCE_NS * intervals


def _apart(what: str, here: int | None, stated: int | None, tolerance: int, where: str, path: str) -> list[Finding]:
    if here is None or stated is None or abs(here - stated) <= tolerance:
        return []
    message = say(
        "{what}: {here:.3f} us by the tasks here, but {stated:.3f} us {where}: {apart:.3f} us apart, {explained:.3f} us are "
        "explained by rounding",
        what=what,
        here=here / 1000,
        stated=stated / 1000,
        where=where,
        apart=abs(here - stated) / 1000,
        explained=tolerance / 1000,
    )
    return [Finding("warning", "forms-disagree", path, message)]


def _row(whose: dict[str, Any], step: int | None, parts: Parts) -> dict[str, Any]:
    return {
        **whose,
        "step": step,
        "start_ns": parts.start_ns,
        "end_to_end_us": parts.end_to_end_ns / 1000,
        "computing_us": parts.computing_ns / 1000,
        "communication_us": _us(parts.communication_ns),
        "overlapped_us": _us(parts.overlapped_ns),
        "communication_not_overlapped_us": _us(parts.communication_not_overlapped_ns),
        "free_us": _us(parts.free_ns),
        "tasks": parts.tasks,
    }


def _gap_row(whose: dict[str, Any], place: int, gap: Gap, iteration: int | None) -> dict[str, Any]:
    return {
        "position": place,
        **whose,
        "step": iteration if gap.step is None else gap.step,
        "start_ns": gap.start_ns,
        "duration_us": gap.duration_ns / 1000,
        "communication_us": _us(gap.communication_ns),
        "before": gap.before,
        "after": gap.after,
        "launch": gap.launch,
        "launched_after_us": _us(gap.launched_after_ns),
        "communication": gap.communication,
        "host_call": gap.host_call,
        "host_call_us": _us(gap.host_call_ns),
        "cause": say(gap.cause),
        "reason": _reason(gap),
    }


def _reason(gap: Gap) -> str:
    if gap.cause == "host launched late":
        late = gap.launched_after_ns or 0
        behind = late - gap.duration_ns
        told = {"call": gap.launch or say("its call"), "late": late / 1000}
        if behind > 0:
            return say(
                "host launched late: {call} began {late:.3f} us into it, {behind:.3f} us behind the task: the clocks of host "
                "and device differ",
                behind=behind / 1000,
                **told,
            )
        return say("host launched late: {call} began {late:.3f} us into it", **told)
    if gap.cause in {"synchronisation", "data loading"}:
        share = (gap.host_call_ns or 0) / gap.duration_ns
        call = gap.host_call or say("unnamed")
        return say("{cause}: {share:.1%} of it, {call}", cause=say(gap.cause), share=share, call=call)
    if gap.cause == "waiting for communication":
        share = (gap.communication_ns or 0) / gap.duration_ns
        longest = gap.communication or say("unnamed")
        return say("waiting for communication: {share:.1%} of it, longest {longest}", share=share, longest=longest)
    return say("unknown")


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / 1000
