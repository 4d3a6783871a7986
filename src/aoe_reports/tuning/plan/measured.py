"""The devices of one profile with their tasks, their steps and what the steps went on, as planning and verifying need them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aoe_reports.engine.captures import host_in, read_steps_noting, read_tasks, sources_of, to_prefetch
from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.engine.runs import find_runs
from aoe_reports.facts.bounds import OperatorBounds, StepShares
from aoe_reports.facts.steps import steps_of_device
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.ascend.tables.pmu import metrics_set
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.records.identity import content_hash_of
from aoe_reports.formats.sources.digest import sha256_of
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.advice.captures import leave_out, measure_shares
from aoe_reports.topics.advice.timelines import Timelines
from aoe_reports.topics.critical_path.dependencies import Device, dependencies_of
from aoe_reports.topics.critical_path.step_paths import MILLION, StepPath, gain_of, paths_of
from aoe_reports.topics.quality.trimming import usual_only
from aoe_reports.tuning.rules import PLAN_PATH_UNKNOWN


@dataclass(frozen=True, slots=True)
class MeasuredDevice:
    """One device of one capture."""

    capture: Capture
    tasks: TaskSet
    steps: tuple[Step, ...]
    shares: StepShares
    metrics: str | None

    @property
    def own_steps(self) -> list[Step]:
        """The steps of this device."""
        return steps_of_device(self.steps, self.tasks)


def runs_below(path: Path, max_expanded: int | None, findings: list[Finding]) -> tuple[list[tuple[Capture, ...]], bool]:
    """(the captures of each run below a path, whether something could not be read)."""
    discovery = discover([asked_path(path)], max_expanded=max_expanded)
    findings += discovery.findings
    return find_runs(discovery), discovery.unreadable


def captures_of_run(path: Path, max_expanded: int | None, findings: list[Finding]) -> tuple[tuple[Capture, ...], bool]:
    """(the captures of the one run below a path, none where there is none; whether something could not be read)."""
    path = asked_path(path)
    runs, unreadable = runs_below(path, max_expanded, findings)
    if len(runs) > 1:
        raise UsageError(
            say(
                "{path}: contains {count} runs; name one of them (aoe-reports inspect shows where they are)",
                path=path,
                count=len(runs),
            )
        )
    return (runs[0] if runs else ()), unreadable


def read_devices(
    captures: Sequence[Capture],
    columns: frozenset[str],
    findings: list[Finding],
    *,
    rank: int | None = None,
    device: int | None = None,
    usual: bool = False,
) -> Iterator[MeasuredDevice]:
    """The devices of a run one by one (they may be large), of one rank or device if asked; columns are those of tasks.

    With `usual` without the steps of warm-up and tear-down, as `advise` sees them.
    """
    for capture in captures:
        findings += capture.findings
        collected = to_prefetch(capture, columns)
        steps = tuple(read_steps_noting(capture, findings, collected))
        timelines = Timelines(capture, findings, host_by_file=host_in(collected))
        sets, tables = read_tasks(capture, columns, by_type=False, collected=collected)
        findings += [finding for data in tables for finding in data.findings]
        metrics = None
        if sets and tables[-1].table.facts == "tasks":
            metrics = metrics_set(entry.header for entry in tables[-1].match.fields)
        elif sets:
            name = tables[-1].name
            message = say(
                ("no table of tasks with their operators here; {name} is used instead (it has no types and no states)"),
                name=name,
            )
            findings.append(STANDS_IN.found(str(tables[-1].path), message))
        del tables
        if usual:
            sets = [one.as_exported() for one in sets]
            steps = tuple(
                usual_only(steps, leave_out(capture, sets, steps, rank, findings, timelines, could_stay=False))
            )
        while sets:
            tasks = sets.pop(0).as_exported()
            if rank in {None, tasks.rank_id} and device in {None, tasks.device_id}:
                shares, _ = measure_shares(capture, tasks, steps, timelines)
                yield MeasuredDevice(capture, tasks, steps, shares, metrics)


def digest_of_captures(captures: Sequence[Capture]) -> str:
    """One hash of the files that tell of tasks and steps, whatever their order and names."""
    sources = []
    for capture in captures:
        steps = [source.kind for source in vendor_of(capture.profiler).steps(capture)]
        sources += [*sources_of(capture, "tasks")[:1], *sources_of(capture, "kernels"), capture.preferred(*steps)]
    files = {file.path for source in sources if source is not None for file in source.files}
    return content_hash_of(sha256_of(path, say("a table of the profile")) for path in files)


MAX_BYTES = 1 << 26
"""Of larger timelines no path is computed: each candidate is a walk over all that happened, and a plan is to be made within a minute."""


@dataclass(frozen=True, slots=True)
class PathBounds:
    """The critical paths of the steps of the device that is planned for."""

    paths: Sequence[tuple[Device, StepPath]]
    types: Mapping[str, str]

    def saving_ns(self, op_type: str | None, op_name: str | None, saving_ns: int, total_ns: int) -> float:
        """How much shorter a step gets on average if an operator (without a name: all of a type) saves so much of its total time."""
        parts = min(-(-saving_ns * MILLION // total_ns), MILLION) if total_ns else 0
        gains = []
        for device, path in self.paths:
            shortened = [name == op_name if op_name else self.types.get(name) == op_type for name in device.names]
            gains.append(gain_of(device, path, np.asarray(shortened, dtype=bool), parts))
        return sum(gains) / len(gains)


def path_bounds_of(
    capture: Capture, device_id: int | None, bounds: OperatorBounds, findings: list[Finding]
) -> PathBounds | None:
    """The paths of a device in the timelines of its capture; None where there are none: why is said where it has a timeline."""
    found: list[tuple[Device, StepPath]] = []
    for files in vendor_of(capture.profiler).events(capture):
        devices = _read(files, capture, findings)
        found += [(one, path) for number, one in devices if device_id in {None, number} for path in paths_of(one)]
    return PathBounds(found, _types(bounds)) if found else None


def _read(files: Sequence[FoundFile], capture: Capture, findings: list[Finding]) -> list[tuple[int | None, Device]]:
    """What the devices in one export depended on; empty if it is too large or damaged."""
    where = str(files[0].path)
    if sum(file.size for file in files) > MAX_BYTES:
        message = say("timelines of more than {size} MiB are not read for a plan", size=MAX_BYTES >> 20)
        findings.append(PLAN_PATH_UNKNOWN.found(where, message))
        return []
    try:
        devices, wrong = dependencies_of(files, capture)
    except (ReadError, OSError):
        return []  # which `check` says: the plan is made without
    if has(wrong, "error"):
        findings.append(PLAN_PATH_UNKNOWN.found(where, say("the timeline is damaged")))
        return []
    return devices


def _types(bounds: OperatorBounds) -> dict[str, str]:
    """The type of each operator that has a name, by name."""
    found = {}
    for place in range(bounds.names.count):
        name, op_type = bounds.key(place, "op_name"), bounds.key(place, "op_type")
        if name and op_type:
            found[name] = op_type
    return found
