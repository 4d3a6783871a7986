"""The devices of one profile with their tasks, their steps and what the steps went on, as planning and verifying need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.analysis.bounds import StepShares
from aoe_reports.analysis.steps import Step
from aoe_reports.analysis.tasks import TaskSet
from aoe_reports.errors import UsageError
from aoe_reports.findings import Finding
from aoe_reports.readers.digest import sha256_of
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.profile import TASK_KINDS, Capture, Telling
from aoe_reports.readers.summary import TableData
from aoe_reports.records.identity import content_hash_of
from aoe_reports.tables.pmu import metrics_set
from aoe_reports.texts import say
from aoe_reports.workflows.advise import measure_shares
from aoe_reports.workflows.captures import find_runs, read_steps, read_tasks, read_telling


@dataclass(frozen=True, slots=True)
class MeasuredDevice:
    """One device of one capture."""

    capture: Capture
    tasks: TaskSet
    steps: tuple[Step, ...]
    shares: StepShares
    metrics: str | None
    """The set of PMU metrics, as the header of the tasks shows it."""

    @property
    def own_steps(self) -> list[Step]:
        """The steps of this device."""
        mine = (step for step in self.steps if step.rank_id == self.tasks.rank_id)
        return [step for step in mine if step.device_id in {None, self.tasks.device_id}]


def captures_of_run(path: Path, max_expanded: int | None, findings: list[Finding]) -> tuple[tuple[Capture, ...], bool]:
    """(the captures of the one run below a path, none where there is none; whether something could not be read)."""
    discovery = discover([path], max_expanded=max_expanded)
    findings += discovery.findings
    runs = find_runs(discovery)
    if len(runs) > 1:
        raise UsageError(
            say(
                "{path}: holds {count} runs; name one of them (aoe-reports inspect tells where they lie)",
                path=path,
                count=len(runs),
            )
        )
    return (runs[0] if runs else ()), discovery.unreadable


def read_devices(
    captures: Sequence[Capture],
    columns: frozenset[str],
    findings: list[Finding],
    *,
    rank: int | None = None,
    device: int | None = None,
) -> Iterator[MeasuredDevice]:
    """The devices of a run one by one (they may be large), of one rank or device if asked; columns are those of tasks."""
    for capture in captures:
        findings += capture.findings
        steps = tuple(_steps(capture, findings))
        sets, tables = read_tasks(capture, columns, by_type=False)
        findings += [finding for data in tables for finding in data.findings]
        metrics = None
        if sets and tables[-1].table.name in TASK_KINDS:
            metrics = metrics_set(entry.header for entry in tables[-1].match.fields)
        elif sets:
            name = tables[-1].table.name
            message = say(
                "no table of tasks with their operators here; {name} stands in (it tells no types and no states)",
                name=name,
            )
            findings.append(Finding("info", "stands-in", str(tables[-1].path), message))
        del tables
        while sets:
            tasks = sets.pop(0)
            if rank in {None, tasks.rank_id} and device in {None, tasks.device_id}:
                shares, _ = measure_shares(capture, tasks, steps, findings)
                yield MeasuredDevice(capture, tasks, steps, shares, metrics)


def _steps(capture: Capture, findings: list[Finding]) -> list[Step]:
    def read(telling: Telling | None) -> list[TableData]:
        tables = read_telling(telling, hashed=False)
        findings.extend(finding for data in tables for finding in data.findings)
        return tables

    return read_steps(capture, read)


def digest_of_captures(captures: Sequence[Capture]) -> str:
    """One hash of the files that tell of tasks and steps, whatever their order and names."""
    kinds = (TASK_KINDS, ("task_time",), ("step_trace_time", "step_trace"))
    tellings = [capture.preferred(*names) for capture in captures for names in kinds]
    files = {file.path for telling in tellings if telling is not None for file in telling.files}
    return content_hash_of(sha256_of(path, say("a table of the profile")) for path in files)
