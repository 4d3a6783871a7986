"""The steps and iterations of the profiles below some paths, and how far the ranks of a job are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.analysis.steps import Skew, Step, missing_points, skew_of_ranks, slowest_ranks, steps_of_cluster
from aoe_reports.checks.forms import COUNTED_TOLERANCE_NS, check_steps
from aoe_reports.checks.results import listed
from aoe_reports.errors import ReadError
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding, has
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.readers.discovery import Discovery, discover
from aoe_reports.readers.profile import TASK_KINDS, Capture, Telling
from aoe_reports.readers.summary import TableData
from aoe_reports.texts import join, say
from aoe_reports.workflows.captures import (
    cluster_captures,
    find_runs,
    first_with_rows,
    joined,
    label_of,
    nothing_measured,
    read_steps,
    read_telling,
)

_TASK_COLUMNS = frozenset({"step", "task_type", "task_duration_ns"})


@dataclass(frozen=True, slots=True)
class StepSelection:
    """Which steps are shown; None for all."""

    rank: int | None = None
    device: int | None = None
    step: int | None = None
    max_expanded: int | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """The rows, what was found on the way, and whether something could not be read."""

    rows: list[dict[str, Any]]
    findings: list[Finding]
    unreadable: bool


def find_steps(paths: Sequence[Path], selection: StepSelection) -> Steps:
    """The steps of every run below `paths`, by rank; of a run whose ranks tell none, the table of its cluster."""
    discovery = discover(paths, max_expanded=selection.max_expanded)
    findings = list(discovery.findings)
    unreadable = discovery.unreadable
    runs: dict[str, list[Step]] = {}
    silent: list[Capture] = []
    for captures in find_runs(discovery):
        mine = runs.setdefault(label_of(captures), [])
        for capture in captures:
            findings += capture.findings
            if capture.of_cluster:
                continue
            try:
                steps = _steps_of(capture, findings)
            except (ReadError, OSError) as error:
                unreadable = True
                findings.append(Finding("error", "unreadable", str(capture.root), str(error)))
                continue
            mine += steps
            if not steps:
                silent.append(capture)
    told = _add_clusters(discovery, runs, findings)
    findings += [_no_steps(capture) for capture in silent if not told & set(capture.root.parents)]
    rows = []
    for run, every in sorted(runs.items()):
        chosen = [step for step in every if _asked_for(step, selection)]
        rows += [_row(run, step) for step in chosen]
        findings += _skew(run, every, selection.step)
    if not rows and not has(findings, "error"):
        findings.append(
            nothing_measured(
                paths, say("no step here"), rank=selection.rank, device=selection.device, step=selection.step
            )
        )
    return Steps(rows, findings_in_order(findings), unreadable)


def _steps_of(capture: Capture, findings: list[Finding]) -> list[Step]:
    """The steps of one capture; what is wrong with their tables, and which steps miss a head or a tail."""
    tables: list[TableData] = []

    def read(telling: Telling | None) -> list[TableData]:
        found = read_telling(telling, hashed=False)
        tables.extend(found)
        return found

    steps = read_steps(capture, read)
    for data in tables:
        findings += data.findings
        if data.table.name == "step_trace" and data.frame.num_rows:  # else columns may be missing, which is said
            findings += _incomplete(data)
    framework = [data for data in tables if data.table.name == "step_trace_time" and data.frame.num_rows]
    if framework:
        tasks = _tasks(capture)
        if tasks is not None:
            findings += [finding for data in framework for finding in check_steps(data, tasks)]
    return steps


def _tasks(capture: Capture) -> pa.Table | None:
    """What the tasks tell of steps; None where they cannot be read, which `check` says."""
    try:
        tables, _ = first_with_rows(
            capture.tellings(*TASK_KINDS), lambda telling: read_telling(telling, _TASK_COLUMNS, hashed=False)
        )
    except (ReadError, OSError):
        return None
    return joined(tables)


def _incomplete(data: TableData) -> list[Finding]:
    """Iterations of which the forward start or the backward end was not found; where none has one, there is none."""
    found = []
    count = len(set(data.frame["iteration_id"].to_pylist()))
    for point, numbers in missing_points(data.frame).items():
        if numbers and len(numbers) < count:
            shown = listed([str(number) for number in numbers])
            message = say("iterations without {point}: {numbers}", point=say(point), numbers=shown)
            found.append(Finding("info", "step-missing", str(data.path), message))
    return found


def _add_clusters(discovery: Discovery, runs: dict[str, list[Step]], findings: list[Finding]) -> set[Path]:
    """Take the steps of clusters whose ranks tell none, hold the others against their ranks; the folders told of."""
    told = set()
    for capture in cluster_captures(discovery):
        tables = read_telling(capture.preferred("cluster_step_trace_time"), hashed=False)
        findings += [finding for data in tables for finding in data.findings]
        frame = joined(tables)
        if frame is None:
            continue
        folder, stated = capture.root.parent, steps_of_cluster(frame)
        known = [step for run, steps in runs.items() for step in steps if _is_in(folder, run)]
        if known:
            findings += _against_cluster(known, stated, str(tables[0].path))
            continue
        told.add(folder)
        runs.setdefault(str(folder), []).extend(stated)
    return told


def _is_in(folder: Path, run: str) -> bool:
    return folder == Path(run) or folder in Path(run).parents


def _against_cluster(known: Sequence[Step], stated: Sequence[Step], path: str) -> list[Finding]:
    """Whether the table of a cluster says of its ranks what they say themselves."""
    mine = {(step.rank_id, step.step): step.duration_ns for step in known if step.computing_ns is not None}
    found = []
    for step in stated:
        own = mine.get((step.rank_id, step.step))
        if own is not None and abs(own - step.duration_ns) > COUNTED_TOLERANCE_NS:
            message = say(
                "rank {rank}, step {step}: {here:.3f} us here, but {own:.3f} us in the rank's own table, which is used",
                rank=step.rank_id,
                step=step.step,
                here=step.duration_ns / 1000,
                own=own / 1000,
            )
            found.append(Finding("warning", "forms-disagree", path, message))
    return found[:EXAMPLES_PER_RULE]


def _skew(run: str, steps: Sequence[Step], only: int | None) -> list[Finding]:
    """How far the ranks are apart by step, and whether it is always the same rank that is slowest."""
    skews = [skew for skew in skew_of_ranks(steps) if only is None or skew.step == only]
    found = [Finding("info", "rank-skew", run, _apart(skew)) for skew in skews[:EXAMPLES_PER_RULE]]
    if len(skews) > 1:
        ranked = slowest_ranks(skews)
        if len(ranked) == 1:
            message = say("all {count} steps: the slowest is always rank {rank}", count=len(skews), rank=ranked[0][0])
        else:
            some = ranked[:EXAMPLES_PER_RULE]
            words = join(", ", (say("rank {rank} in {count}", rank=rank, count=count) for rank, count in some))
            message = say(
                "all {count} steps: the slowest is not always the same ({ranks})", count=len(skews), ranks=words
            )
        found.append(Finding("info", "rank-skew", run, message))
    return found


def _apart(skew: Skew) -> str:
    if skew.model_id is None:
        where = say("step {step}", step=skew.step)
    else:
        where = say("model {model}, iteration {step}", model=skew.model_id, step=skew.step)
    apart = skew.slowest_ns - skew.fastest_ns
    if not apart:
        return say("{where}: all ranks take {time:.3f} us", where=where, time=skew.slowest_ns / 1000)
    more = say("{time:.3f} us", time=apart / 1000)
    if skew.fastest_ns:
        more = say("{time} ({share:.1%})", time=more, share=apart / skew.fastest_ns)
    told = say(
        "{where}: rank {slowest} is the slowest with {time:.3f} us, {more} more than rank {fastest}",
        where=where,
        slowest=skew.slowest,
        time=skew.slowest_ns / 1000,
        more=more,
        fastest=skew.fastest,
    )
    if skew.busiest is None:
        return told
    return join("; ", (told, say("rank {rank} computes longest", rank=skew.busiest)))


def _asked_for(step: Step, selection: StepSelection) -> bool:
    return (
        selection.rank in {None, step.rank_id}
        and selection.device in {None, step.device_id}
        and selection.step in {None, step.step}
    )


def _row(run: str, step: Step) -> dict[str, Any]:
    return {
        "run": run,
        "rank_id": step.rank_id,
        "device_id": step.device_id,
        "model_id": step.model_id,
        "step": step.step,
        "start_ns": step.start_ns,
        "duration_us": _us(step.duration_ns),
        "fp_bp_us": _us(step.fp_bp_ns),
        "iteration_refresh_us": _us(step.iteration_refresh_ns),
        "data_aug_bound_us": _us(step.data_aug_bound_ns),
        "computing_us": _us(step.computing_ns),
        "communication_us": _us(step.communication_ns),
        "communication_not_overlapped_us": _us(step.communication_not_overlapped_ns),
        "overlapped_us": _us(step.overlapped_ns),
        "free_us": _us(step.free_ns),
    }


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / 1000


def _no_steps(capture: Capture) -> Finding:
    message = say("no table of steps here (step_trace, step_trace_time)")
    return Finding("warning", "step-missing", str(capture.root), message)
