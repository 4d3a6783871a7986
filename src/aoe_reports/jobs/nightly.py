"""The main job: check, normalise, store, compare, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoe_reports.engine.locks import locked
from aoe_reports.engine.output import REPORT_FILES, write_whole
from aoe_reports.history.ingest import Gathered, Progress, Stored, ingest, stored_row, unseen
from aoe_reports.history.options import GateOptions, RegressionOptions, View
from aoe_reports.history.regressions import Regressions, find_regressions
from aoe_reports.jobs.report import read_night, stored_runs
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.findings import Finding, in_order, reasons_of
from aoe_reports.model.report import Report
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import Language, say
from aoe_reports.present import RENDERERS
from aoe_reports.present.as_json import render_rows
from aoe_reports.present.night import night_report
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.reports.night_content import Job, Night
from aoe_reports.questions.records.options import IngestOptions
from aoe_reports.site.build import build_site, refuse_other_folder
from aoe_reports.store import History, equals


@dataclass(frozen=True, slots=True)
class NightlyResult:
    """The report, the changes in it (rows of `regressions`), every finding, and why the exit code is not 0."""

    report: Report
    rows: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    findings: list[Finding]
    reasons: list[str]
    unreadable: bool


@dataclass(frozen=True, slots=True)
class Strictness:
    """What makes the exit code other than 0 beside errors and regressions: warnings, too few nights to judge."""

    findings: bool = False
    data: bool = False


def run_nightly(
    paths: Sequence[Path],
    store: str,
    site: Path | None,
    options: IngestOptions,
    *,
    gates: GateOptions | None = None,
    strictness: Strictness | None = None,
    simulated: bool = False,
    language: Language = "en",
    report: Callable[[NightlyResult], None] | None = None,
    progress: Progress = unseen,
) -> NightlyResult:
    """Do the main job over everything below `paths`; the report and the pages go into `site` where one is given.

    `gates` say against what the series of these runs are held, and what fails; what changed is remembered. `report` is
    given the result before the site is touched: that takes its time, may have to wait for others, and may fail.
    """
    watch = RegressionOptions.of(gates or GateOptions(), record=True)
    watch.check()
    if site is not None:
        _refuse_misuse(site)
    gathered = Gathered(progress=progress)
    stored = ingest(paths, store, options, gathered, "nightly", renew=options.renew)
    findings = [*gathered.findings, *(finding for item in stored for finding in item.run.findings)]
    measured = [item for item in stored if item.run.header.run_kind != "tuning"]
    found = None
    if measured:
        ours = _series_of(measured, store)
        progress(say("comparing with the history"))
        found = find_regressions(store, watch, command="nightly", view=View(series=ours))
        findings += [one for one in found.findings if one.rule != "not-enough-data"]
    findings = in_order(findings)
    rows = [
        as_mapping(stored_row(item))
        for item in sorted(stored, key=lambda s: (s.run.header.timestamp_ns, s.run.header.run_id))
    ]
    content = replace(_night_of(store, stored, found), findings=findings, job=Job(rows, simulated))
    result = NightlyResult(
        report=_report(content),
        rows=rows,
        changes=found.rows if found is not None else [],
        findings=findings,
        reasons=_reasons(found, findings, strictness or Strictness()),
        unreadable=gathered.unreadable,
    )
    if report is not None:
        report(result)
    if site is None:
        return result
    try:
        with locked(site):
            _write_report(site, result, [str(path) for path in paths], language)
            if stored:  # else there may be no store, and the pages are what they were
                progress(say("writing the pages of {site}", site=site))
                detected = found.detected if found is not None else None
                build_site(store, site, watch.false_alarms_per_year, language, detected)
    except OSError as error:
        why = error.strerror or error
        raise AoeReportsError(say("{folder}: the site cannot be written: {why}", folder=site, why=why)) from error
    return result


def _reasons(found: Regressions | None, findings: Sequence[Finding], strictness: Strictness) -> list[str]:
    """Why the exit code is not 0."""
    reasons = reasons_of(findings, strict=strictness.findings)
    if found is not None:
        reasons += [reason for reason in found.reasons if reason != "not-enough-data"]
    if strictness.data and (found is None or "not-enough-data" in found.reasons):
        reasons.append("not-enough-data")
    return reasons


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


def _night_of(store: str, stored: Sequence[Stored], found: Regressions | None) -> Night:
    """What the store knows of these runs: its night is the newest on which one of them measured something."""
    if not stored:
        return Night(night=None)
    history = History.open(store)
    runs = stored_runs(history)
    ours = {item.run.header.run_id for item in stored}
    mine = [run for run in runs if run["run_id"] in ours]
    headers = [item.run.header for item in stored]
    nights = [header.night for header in headers if header.run_kind != "tuning"] or [header.night for header in headers]
    incomplete = [run["run_id"] for run in runs if run["status"] == "incomplete"]
    return read_night(history, found, max(nights), mine, incomplete)


def _report(content: Night) -> Report:
    """The night report, and for programs what its rows do not say."""
    data = {
        "night": content.night,
        "changes": list(content.changes),
        "incidents": list(content.incidents),
        "budget": dict(content.budget or {}),
    }
    report = night_report(content)
    return replace(report, data={**data, "headline": report.headline})


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
