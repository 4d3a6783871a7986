"""The main job: check, normalise, store, compare, report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from aoe_reports.engine.ask import Progress, no_progress
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.locks import locked
from aoe_reports.engine.output import REPORT_FILES, REPORT_PAGE, write_whole
from aoe_reports.engine.question import Answer, Notes, exit_code_of
from aoe_reports.history.changes.missing import Missing, findings_of_missing, missing_models
from aoe_reports.history.changes.regressions import Regressions, find_regressions
from aoe_reports.history.options import EXIT_CODES, RegressionOptions, View
from aoe_reports.history.rules import NOT_ENOUGH_DATA
from aoe_reports.history.runs.clocks import read_runs
from aoe_reports.history.runs.ingest import Stored, ingest, stored_row
from aoe_reports.history.series.stored import paged_series
from aoe_reports.jobs.notification import send, shape_of
from aoe_reports.jobs.options import NightlyOptions
from aoe_reports.jobs.report import read_night, stored_runs
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, NoticeWarning, UsageError
from aoe_reports.model.findings import Finding, in_order, reasons_of
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.expected import EXPECTED_ABSENT
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.report import Pages
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import Language, say
from aoe_reports.present.forms import FORMS, Shown
from aoe_reports.present.night import night_report, verdict_line
from aoe_reports.present.notification import Notice
from aoe_reports.present.reports.night_content import Job, Night
from aoe_reports.site.build import build_site, refuse_other_folder
from aoe_reports.site.places import file_name
from aoe_reports.site.publish import FIRST_PAGE
from aoe_reports.store import History, equals


@record
class NightlyAnswer(Answer):
    """The report of what was read, as `nightly` shows it, and the changes in it (rows of `regressions`)."""

    changes: Sequence[SeriesChange]
    why: Sequence[str]
    """Why the exit code is not 0."""
    nothing_judged: bool
    """Whether no gate could be judged."""

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Why the exit code is not 0; whether warnings and too few nights are a reason the job was told."""
        del strict
        return list(self.why)

    def exit_code(self, *, strict: bool = False) -> int:
        """3 where something could not be read, 1 for damage or a regression, else that of the gravest other reason."""
        code = exit_code_of(self.findings, unreadable=self.unreadable, strict=strict)
        if code == 0 and any(reason not in EXIT_CODES for reason in self.why):
            return 1
        return code or next((EXIT_CODES[reason] for reason in EXIT_CODES if reason in self.why), 0)


def run_nightly(
    paths: Sequence[Path],
    chosen: NightlyOptions,
    *,
    simulated: bool = False,
    language: Language = "en",
    report: Callable[[NightlyAnswer], None] | None = None,
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> NightlyAnswer:
    """Do the main job over everything below `paths`; what changed is remembered, the report and the pages go into the site.

    `report` is given the answer before the site is touched: that takes its time, may have to wait for others, and may fail.
    """
    chosen.check()
    if chosen.site is not None:
        _refuse_misuse(chosen.site)
    shape = None if chosen.notify is None else shape_of(chosen.notify)
    notes = Notes()
    stored = ingest(paths, chosen.store, chosen, notes, command="nightly", executor=executor, progress=progress)
    missing = _missing(chosen.store, stored, paths)
    regressions = _compared(stored, missing, chosen, progress)
    findings = _findings(notes, stored, regressions, findings_of_missing(missing, chosen.store))
    rows = [stored_row(item) for item in sorted(stored, key=lambda s: (s.run.header.timestamp_ns, s.run.header.run_id))]
    content = _night_of(chosen.store, stored, regressions)
    content = replace(content, missing=list(missing), findings=findings, job=Job(rows, simulated))
    shown, reasons = night_report(content), _reasons(regressions, findings, chosen)
    answer = NightlyAnswer(
        command="nightly",
        title=shown.title,
        headline=shown.headline,
        sections=shown.sections,
        inputs=tuple(map(str, paths)),
        tables=(Rows(type=IngestedRun, rows=rows),),
        more={
            "night": content.night,
            "changes": content.changes,
            "incidents": content.incidents,
            "suspicions": content.suspicions,
            "observations": content.observations,
            "missing": content.missing,
            "not_judged": [say("nothing was measured")] if regressions is None else regressions.not_judged,
            "budget": content.budget or {},
            "headline": shown.headline,
        },
        findings=findings,
        unreadable=notes.unreadable,
        changes=content.changes,
        why=reasons,
        nothing_judged=regressions is None or regressions.nothing_judged,
    )
    answer = replace(answer, verdict=_verdict(answer, chosen))

    def notify() -> None:
        if chosen.notify is not None and shape is not None:
            progress(lambda: say("sending the notification"))
            notice = Notice(
                night=content.night,
                headline=answer.headline,
                verdict=answer.verdict,
                exit_code=answer.exit_code(strict=chosen.strict),
                reasons=answer.why,
                incidents=content.incidents,
            )
            send(chosen.notify, notice.as_json(chosen.notify_as or shape, language))

    def publish() -> None:
        try:
            if chosen.site is not None:
                _write_site(
                    chosen.site, answer, chosen, stored=stored, found=regressions, language=language, progress=progress
                )
        except Exception:
            try:  # who waits for a message of the night gets one, whatever becomes of the pages
                notify()
            except AoeReportsError as error:
                warnings.warn(NoticeWarning(error.args[0]), stacklevel=2)
            raise
        notify()

    try:
        if report is not None:
            report(answer)
    except (AoeReportsError, OSError):  # a report that cannot be written costs neither pages nor message
        publish()
        raise
    publish()
    return answer


def _write_site(
    site: Path,
    answer: NightlyAnswer,
    chosen: NightlyOptions,
    *,
    stored: Sequence[Stored],
    found: Regressions | None,
    language: Language,
    progress: Progress,
) -> None:
    try:
        with locked(site):
            _write_report(site, replace(answer, pages=_pages(chosen.store, found) if stored else Pages()), language)
            if stored:  # else there may be no store, and the pages are what they were
                progress(lambda: say("writing the pages of {site}", site=site))
                detected = found.detected if found is not None else None
                build_site(
                    chosen.store,
                    site,
                    false_alarms_per_year=chosen.false_alarms_per_year,
                    language=language,
                    detected=detected,
                    gates=chosen.gate,
                    metrics=chosen.metrics,
                )
    except OSError as error:
        why = error.strerror or error
        raise AoeReportsError(say("{folder}: the site cannot be written: {why}", folder=site, why=why)) from error


def _pages(store: str, regressions: Regressions | None) -> Pages:
    runs = History.open(store).rows("run", ["run_id"])["run_id"].to_pylist()
    paged = (
        () if regressions is None else paged_series(regressions.detected.judged.histories.labels, regressions.incidents)
    )
    return Pages(
        first=FIRST_PAGE,
        series={one: f"series/{file_name(one)}.html" for one in paged},
        runs={run: f"runs/{file_name(run)}.html" for run in runs},
    )


def _compared(
    stored: Sequence[Stored], missing: Collection[str], chosen: NightlyOptions, progress: Progress
) -> Regressions | None:
    """The history's answer on these runs and missing models; None if no run measured anything."""
    measured = [item for item in stored if item.run.header.run_kind != "tuning"]
    if not measured:
        return None
    ours = _series_of(measured, chosen.store)
    progress(lambda: say("comparing with the history"))
    watch = RegressionOptions.of(chosen, record=True)
    return find_regressions(chosen.store, watch, command="nightly", view=View(series=ours, models=missing))


def _missing(store: str, stored: Sequence[Stored], paths: Sequence[Path]) -> Missing:
    ours = {item.run.header.run_id for item in stored}
    return missing_models(read_runs(History.open(store)), ours, paths) if stored else {}


def _findings(
    notes: Notes, stored: Sequence[Stored], regressions: Regressions | None, missing: Sequence[Finding]
) -> list[Finding]:
    findings = [*notes.findings, *(finding for item in stored for finding in item.run.findings), *missing]
    if regressions is not None:
        findings += [one for one in regressions.findings if one.rule != NOT_ENOUGH_DATA.name]
    return in_order(findings)


def _reasons(regressions: Regressions | None, findings: Sequence[Finding], chosen: NightlyOptions) -> list[str]:
    reasons = reasons_of(findings, strict=chosen.strict)
    if regressions is not None:
        reasons += regressions.reasons()
    if chosen.strict_data and (regressions is None or "not-enough-data" in regressions.why):
        reasons.append("not-enough-data")
    if chosen.strict_data and any(finding.rule == EXPECTED_ABSENT.name for finding in findings):
        reasons.append("expected-absent")
    return reasons


def _verdict(answer: NightlyAnswer, chosen: NightlyOptions) -> str:
    report = None if chosen.site is None else str(chosen.site / REPORT_PAGE)
    code = answer.exit_code(strict=chosen.strict)
    return verdict_line(
        code,
        answer.why,
        gates=chosen.gate,
        changes=answer.changes,
        report=report,
        not_judged=answer.more["not_judged"],
        nothing_judged=answer.nothing_judged,
    )


def _refuse_misuse(site: Path) -> None:
    """Refuse a folder that is not ours; other faults are reported when it is written."""
    try:
        refuse_other_folder(site)
    except UsageError:
        raise
    except (AoeReportsError, OSError):
        return


KEPT = frozenset({"unchanged", "less-complete"})
"""Outcomes after which the store has a run as it was stored before, maybe under other names than it was read under now."""


def _series_of(measured: Sequence[Stored], store: str) -> frozenset[str]:
    ours = frozenset[str]().union(*(item.series for item in measured if item.outcome not in KEPT))
    kept = {item.run.header.run_id: item.run.header.night for item in measured if item.outcome in KEPT}
    if not kept:
        return ours
    nights = [equals("night", min(kept.values()), ">="), equals("night", max(kept.values()), "<=")]
    stored = History.open(store).records(["run_id", "series_id"], nights)
    pairs = zip(stored["run_id"].to_pylist(), stored["series_id"].to_pylist(), strict=True)
    return ours | {series for run, series in pairs if run in kept}


def _night_of(store: str, stored: Sequence[Stored], regressions: Regressions | None) -> Night:
    """The newest night on which one of these runs measured something."""
    if not stored:
        return Night(night=None)
    history = History.open(store)
    runs = stored_runs(history)
    ours = {item.run.header.run_id for item in stored}
    mine = [run for run in runs if run["run_id"] in ours]
    headers = [item.run.header for item in stored]
    nights = [header.night for header in headers if header.run_kind != "tuning"] or [header.night for header in headers]
    incomplete = [run["run_id"] for run in runs if run["status"] == "incomplete"]
    return read_night(history, regressions, max(nights), mine, incomplete)


def _write_report(site: Path, answer: NightlyAnswer, language: Language) -> None:
    shown = Shown(answer=answer, strict=False, language=language)
    try:
        site.mkdir(parents=True, exist_ok=True)
        for name, form in REPORT_FILES.items():
            write_whole(site / name, "".join(FORMS[form].render(shown)))
    except OSError as error:
        why = error.strerror or error
        raise AoeReportsError(say("{path}: the report cannot be written: {why}", path=site, why=why)) from error
