"""The main job: check, normalise, store, compare, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from aoe_reports.errors import AoeReportsError, UsageError
from aoe_reports.findings import Finding, in_order, reasons_of
from aoe_reports.renderers import RENDERERS
from aoe_reports.renderers.as_json import render_rows
from aoe_reports.reports.language import report_in
from aoe_reports.reports.nightly import Course, Hotspots, Night, lead_of, nightly_report
from aoe_reports.reports.report import Report
from aoe_reports.store import History, Run, equals
from aoe_reports.texts import Language, join, say
from aoe_reports.workflows.ingest import Gathered, Progress, Stored, ingest, unseen
from aoe_reports.workflows.locks import locked
from aoe_reports.workflows.options import RunOptions
from aoe_reports.workflows.output import REPORT_FILES, write_whole
from aoe_reports.workflows.regressions import Regressions, RegressionSelection, find_regressions
from aoe_reports.workflows.site import build_site, refuse_other_folder


@dataclass(frozen=True, slots=True)
class NightlyResult:
    """The report, the changes in it (rows of `regressions`), every finding, and why the exit code is not 0."""

    report: Report
    rows: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    findings: list[Finding]
    reasons: list[str]
    unreadable: bool


def run_nightly(
    paths: Sequence[Path],
    store: str,
    site: Path | None,
    options: RunOptions,
    *,
    selection: RegressionSelection | None = None,
    strict: bool = False,
    strict_data: bool = False,
    simulated: bool = False,
    language: Language = "en",
    report: Callable[[NightlyResult], None] | None = None,
    progress: Progress = unseen,
) -> NightlyResult:
    """Do the main job over everything below `paths`; the report and the pages go into `site` where one is given.

    `selection` says against what the series of these runs are held, and what fails; what changed is remembered. `report` is
    given the result before the site is touched: that takes its time, may have to wait for others, and may fail.
    """
    if site is not None:
        _refuse_misuse(site)
    gathered = Gathered(progress=progress)
    stored = ingest(paths, store, options, gathered, "nightly")
    findings = in_order([*gathered.findings, *(f for item in stored for f in item.run.findings)])
    measured = [item for item in stored if item.run.header.run_kind != "tuning"]
    found = None
    if measured:
        ours = _series_of(measured, store)
        progress(say("comparing with the history"))
        chosen = replace(selection or RegressionSelection(), series=ours, record=True)
        found = find_regressions(store, chosen, "nightly")
        findings = in_order([*findings, *(one for one in found.findings if one.rule != "not-enough-data")])
    reasons = reasons_of(findings, strict=strict)
    if found is not None:
        reasons += [reason for reason in found.reasons if reason != "not-enough-data"]
    if strict_data and (found is None or "not-enough-data" in found.reasons):
        reasons.append("not-enough-data")
    rows = [run_row(item) for item in sorted(stored, key=lambda s: (s.run.header.timestamp_ns, s.run.header.run_id))]
    changes = found.rows if found is not None else []
    night = Night(
        rows,
        changes,
        found.incidents if found is not None else [],
        found.budget if found is not None else {},
        found.remark if found is not None else None,
        _hotspots(stored),
        [_tuning_row(item) for item in stored if item.run.body.get("kind") in {"opat", "sgat"}],
        findings,
        _course(found, changes) if found is not None else None,
        simulated,
    )
    result = NightlyResult(nightly_report(night), rows, changes, findings, reasons, gathered.unreadable)
    if report is not None:
        report(result)
    if site is not None:
        try:
            with locked(site):
                _write_report(site, result, [str(path) for path in paths], language)
                if stored:  # else there may be no store, and the pages are what they were
                    progress(say("writing the pages of {site}", site=site))
                    build_site(store, site, (selection or RegressionSelection()).false_alarms_per_year, language)
        except OSError as error:
            why = error.strerror or error
            raise AoeReportsError(say("{folder}: the site cannot be written: {why}", folder=site, why=why)) from error
    return result


def _refuse_misuse(site: Path) -> None:
    """Refuse a folder of somebody else's; whatever else is wrong with it is told when it is written, after the report."""
    try:
        refuse_other_folder(site)
    except UsageError:
        raise
    except (AoeReportsError, OSError):
        return


KEPT = frozenset({"unchanged", "less-complete"})
"""Outcomes after which the store has a run as it was stored before, maybe under other names than it was read under now."""


def _series_of(measured: Sequence[Stored], store: str) -> frozenset[str]:
    """The series of these runs, as the store has them."""
    ours = frozenset[str]().union(*(item.series for item in measured if item.outcome not in KEPT))
    kept = {item.run.header.run_id: item.run.header.night for item in measured if item.outcome in KEPT}
    if not kept:
        return ours
    nights = [equals("night", min(kept.values()), ">="), equals("night", max(kept.values()), "<=")]
    stored = History.open(store).records(["run_id", "series_id"], nights)
    pairs = zip(stored["run_id"].to_pylist(), stored["series_id"].to_pylist(), strict=True)
    return ours | {series for run, series in pairs if run in kept}


def _course(found: Regressions, changes: Sequence[dict[str, Any]]) -> Course | None:
    """The history that the report shows: of what its headline is about, else of a step of ours."""
    histories = found.judged.histories
    lead = lead_of(changes)
    index = found.places[lead["series_id"]] if lead is not None else found.step
    if index is None:
        return None
    facts, values = histories.facts.row(index, named=True), histories.values_ms[index]
    known = [place for place, value in enumerate(values.tolist()) if isfinite(value)]
    since = lead["since"] if lead is not None else None
    rank = say(", rank {rank}", rank=facts["rank_id"]) if facts["rank_id"] is not None else ""
    name = join("", (str(facts["workload"]), rank))
    return Course(name, [histories.nights[place] for place in known], [float(values[place]) for place in known], since)


def run_row(item: Stored) -> dict[str, Any]:
    """One run as a row: what it is, what was made of it, what the store did with it."""
    header = item.run.header
    steps = [record.runtime_ms_mean for record in item.run.records if record.scope == "step"]
    return {
        "night": header.night,
        "run": header.run_id,
        "kind": header.run_kind,
        "workload": header.model,
        "hardware": header.hardware,
        "records": item.records,
        "step_ms": max(steps, default=None),
        "outcome": item.outcome,
        "status": header.status,
        "path": header.path,
    }


def _tuning_row(item: Stored) -> dict[str, Any]:
    body = item.run.body
    times = {record.phase: record.runtime_ms_mean for record in item.run.records if record.scope == "model"}
    before, after = times.get("before"), times.get("after")
    return {
        "night": item.run.header.night,
        "tuning_name": body.get("tuning_name"),
        "kind": body["kind"],
        "status": item.run.header.status,
        "modified": body.get("modified"),
        "before_ms": before,
        "after_ms": after,
        "speed_up": before / after - 1 if before and after else None,
    }


def _hotspots(stored: Sequence[Stored]) -> Hotspots | None:
    """The ranking of the newest profile that tells of operators, all its ranks together, from its records by operator type."""
    profiles = [item.run for item in stored if item.run.header.run_kind == "profile"]
    for run in sorted(profiles, key=_newness, reverse=True):
        typed = [record for record in run.records if record.scope == "op_type" and record.total_ns is not None]
        if typed:
            break
    else:
        return None
    groups: dict[tuple[str, str | None], tuple[int, int]] = {}
    for record in typed:
        key = (record.op_type or "", record.workload_args.get("task_type"))
        count, total = groups.get(key, (0, 0))
        groups[key] = (count + (record.count or 0), total + (record.total_ns or 0))
    whole = sum(total for _, total in groups.values())
    ordered = sorted(groups.items(), key=lambda item: (-item[1][1], item[0][0], item[0][1] or ""))
    rows = [_hotspot_row(place, *item, whole) for place, item in enumerate(ordered[:TOP], start=1)]
    return Hotspots(run.header.run_id, len({(record.rank_id, record.device_id) for record in typed}), rows)


def _newness(run: Run) -> tuple[bool, int, str]:
    """Order of runs by time; one whose time nobody knows is never the newest."""
    known = all(finding.rule != "time-unknown" for finding in run.findings)
    return known, run.header.timestamp_ns, run.header.run_id


TOP = 10


def _hotspot_row(position: int, key: tuple[str, str | None], of: tuple[int, int], whole: int) -> dict[str, Any]:
    (op_type, task_type), (count, total) = key, of
    return {
        "position": position,
        "op_type": op_type,
        "task_type": task_type,
        "count": count,
        "total_us": total / 1000,
        "mean_us": total / count / 1000 if count else None,
        "share": total / whole if whole else None,
    }


def _write_report(site: Path, result: NightlyResult, inputs: list[str], language: Language) -> None:
    try:
        site.mkdir(parents=True, exist_ok=True)
        more = dict(result.report.data)
        for name, form in REPORT_FILES.items():
            if form == "json":
                text = render_rows("nightly", inputs, result.rows, result.findings, result.reasons, more)
            else:
                text = RENDERERS[form](report_in(result.report, language))
            write_whole(site / name, text)
    except OSError as error:
        why = error.strerror or error
        raise AoeReportsError(say("{path}: the report cannot be written: {why}", path=site, why=why)) from error
