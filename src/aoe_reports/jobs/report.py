"""One report of one night from the stored history alone, and its figures as files."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from aoe_reports.engine.output import write_whole
from aoe_reports.engine.question import Answer
from aoe_reports.formats.records.payloads import body_of
from aoe_reports.history.changes.regressions import Regressions, find_regressions
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.history.options import EXIT_CODES, STRICT_REASONS, RegressionOptions, View
from aoe_reports.history.runs.clocks import read_runs, runs_with_wrong_clock
from aoe_reports.history.runs.listing import verdict_rows
from aoe_reports.history.runs.stored_advice import read_advice
from aoe_reports.history.series.pinned import is_date
from aoe_reports.history.series.series import LABELS, put_together
from aoe_reports.history.site_facts import RunFacts, stored_findings
from aoe_reports.jobs.options import ReportOptions
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.findings import Finding, in_order
from aoe_reports.model.history.changes import METRICS, SeriesChange
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.metrics import value_of
from aoe_reports.model.history.runs import Stored, TuningClaim
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.report import BarChart
from aoe_reports.model.texts import Language, join, say
from aoe_reports.present.as_json import FORMAT_VERSION
from aoe_reports.present.night import night_report
from aoe_reports.present.reports.night_content import (
    Hotspots,
    Night,
    StoredAdviceOfRun,
    StoredRun,
    Trend,
    TuningRun,
    TypeTime,
    lead_of,
)
from aoe_reports.site.stored import read_details
from aoe_reports.stats.budget import WATCHED_NIGHTS
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import ROWS

Row = dict[str, Any]

SHOWN_NIGHTS = 5
"""Nights and workloads that are named where another was asked for."""


@record
class NightReport(Answer):
    """The report of a night; its rows are those of `regressions`, times in ms."""

    why: Sequence[str]
    """That too few nights are known, or something is missing, where that is so."""

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Why the exit code is not 0: with `strict` too few nights and missing data are."""
        return list(self.why) if strict else []

    def exit_code(self, *, strict: bool = False) -> int:
        """That of the reasons."""
        return next((EXIT_CODES[reason] for reason in self.reasons(strict=strict)), 0)


def _data_of(content: Night, headline: str) -> Row:
    """What the JSON form has beside rows, findings and reasons; times in ms or us, as the names say."""
    trend, hot, lead = content.trend, content.hotspots, content.lead
    return {
        "night": content.night,
        "workload": content.workload,
        "headline": headline,
        "lead": None if lead is None else lead.series_id,
        "budget": content.budget or {},
        "incidents": content.incidents,
        "suspicions": content.suspicions,
        "observations": content.observations,
        "missing": content.missing,
        "history": None if trend is None else _trend_data(trend),
        "hotspots": None
        if hot is None
        else {
            "run": hot.run,
            "workload": hot.model,
            "ranks": hot.ranks,
            "of_median": hot.of_median,
            "total_us": hot.total_us,
            "types": hot.types,
        },
        "advice": None if content.advised is None else {**asdict(content.advised), "workload": content.advised.model},
        "tunings": content.tunings,
        "claims": [{"run": claim.row.run, **claim.document} for claim in content.claims],
        "verdicts": content.verdicts,
        "runs": content.runs,
        "other_workloads": content.others,
        "later_nights": content.later,
        "figures": [],
    }


def _trend_data(trend: Trend) -> Row:
    told = {name: value for name, value in asdict(trend).items() if name != "model"}
    if trend.metric is not None:
        return told
    told["values_ms"] = told.pop("values")
    return {name: value for name, value in told.items() if name not in {"metric", "unit", "better"}}


def report_night(store: str, options: ReportOptions | None = None) -> NightReport:
    """What the store knows of a night: changes, the history of what changed, hotspots, AOE's claims, findings.

    Of the newest night changes are those that `regressions` tells; of a past one those that the nights up to it show.
    Raises UsageError for a night or workload that has no run.
    """
    options = options or ReportOptions()
    history = History.open(store)
    runs = stored_runs(history)
    wrong = {run.run_id for run in runs_with_wrong_clock(read_runs(history))}
    night, newest = _chosen(runs, options, wrong)
    until = night if night is not None and newest is not None and night < newest else None
    regressions = find_regressions(
        history,
        RegressionOptions(
            workload=options.workload,
            false_alarms_per_year=options.false_alarms_per_year,
            metrics=options.metrics,
        ),
        view=View(until=until),
    )
    mine = [run for run in runs if run["night"] == night and options.workload in {None, run["model"]}]
    content = read_night(
        history, regressions, night, mine, [run["run_id"] for run in runs if run["status"] == "incomplete"]
    )
    findings = list(regressions.findings)
    if night is not None:
        findings += in_order(_findings_of(history, night, mine))
        content = _with_others(content, runs, night, options)
        if options.workload is None:
            content = replace(content, missing=list(regressions.missing))
    content = replace(content, workload=options.workload, findings=findings)
    report = night_report(content)
    return NightReport(
        command="report",
        title=report.title,
        headline=report.headline,
        sections=report.sections,
        inputs=(store,),
        tables=regressions.tables,
        more=_data_of(content, report.headline),
        findings=findings,
        why=[reason for reason in regressions.why if reason in STRICT_REASONS],
    )


def _with_others(content: Night, runs: Sequence[Row], night: str, options: ReportOptions) -> Night:
    """Mentions what else is stored: other workloads, later nights."""
    named = options.workload or (None if content.trend is None else content.trend.model)
    mine = {run.workload for run in content.runs}
    later = {run["night"] for run in runs if run["night"] > night}
    return replace(content, others=sorted(mine - {named}), later=sorted(later) if options.night is None else [])


def read_night(
    history: History, regressions: Regressions | None, night: str | None, runs: Sequence[Row], incomplete: Sequence[str]
) -> Night:
    """What the store knows of some runs of a night beside what changed, which is `found`; None where nothing was measured."""
    content = Night(night=night, least_nights=Parameters().least_nights)
    if regressions is not None:
        content = replace(
            content,
            changes=regressions.rows,
            incidents=regressions.incidents,
            suspicions=regressions.suspicions,
            observations=regressions.observations,
            budget=regressions.budget,
            remark=regressions.remark,
            absent=regressions.absent,
        )
    if night is None:
        return content
    trend = _trend(history, regressions, night, runs, incomplete)
    model = None if trend is None else trend.model
    tunings, claims = _tunings(history, runs)
    return replace(
        content,
        trend=trend,
        hotspots=_hotspots(history, runs, model),
        advised=_advised(history, runs, model),
        tunings=tunings,
        claims=claims,
        verdicts=_verdicts(history, night, runs),
        runs=_run_rows(history, night, runs),
    )


_RUN = ("run_id", "run_kind", "night", "timestamp_ns", "model", "hardware", "status", "path", "body")


def stored_runs(history: History) -> list[Row]:
    """All runs, oldest first."""
    rows: list[Row] = history.rows("run", _RUN).to_pylist()
    for row in rows:
        row["model"] = row["model"] or "unknown"
    return sorted(rows, key=lambda row: (row["timestamp_ns"], row["run_id"]))


def _chosen(runs: Sequence[Row], options: ReportOptions, wrong: Collection[str]) -> tuple[str | None, str | None]:
    """(night of the report, newest measured night); None for an empty store.

    AOE's own runs measure nothing, so a bank copied in the morning does not hide the night; nor does a run with a `wrong` clock.
    """
    models = sorted({run["model"] for run in runs})
    if options.workload is not None and options.workload not in models:
        held = _held(models)
        raise UsageError(
            say(
                "--workload {workload!r}: no run of this workload is stored; {held}",
                workload=options.workload,
                held=held,
            )
        )
    mine = [run for run in runs if options.workload in {None, run["model"]}]
    nights = sorted({run["night"] for run in mine})
    measured = [run["night"] for run in mine if run["run_kind"] != "tuning" and run["run_id"] not in wrong]
    newest = max(measured, default=nights[-1] if nights else None)
    if options.night is None:
        return newest, newest
    if options.night not in nights:
        raise UsageError(_no_such_night(options.night, nights))
    return options.night, newest


def _no_such_night(night: str, nights: Sequence[str]) -> str:
    """Names the available nights, or those next to the requested date."""
    held: str = say("the store is empty")
    named = {"count": len(nights), "first": nights[0], "last": nights[-1]} if nights else {}
    if not is_date(night):
        if nights:
            held = say("the store has {count} from {first} to {last}", **named)
        return say("--night {night!r}: expected a date such as 2026-01-31; {held}", night=night, held=held)
    if nights:
        near = sorted(nights, key=lambda one: (_apart(one, night), one))[:SHOWN_NIGHTS]
        held = say(
            "the store has {count} from {first} to {last}, nearest: {near}", near=join(", ", sorted(near)), **named
        )
    return say("--night {night!r}: no run of that night is stored; {held}", night=night, held=held)


def _apart(night: str, wanted: str | None) -> int:
    """How far apart two dates are, in days; what is no date is far from all."""
    try:
        return abs((date.fromisoformat(night) - date.fromisoformat(wanted or "")).days)
    except ValueError:
        return FAR


FAR = 10**7


def _held(models: Sequence[str]) -> str:
    if not models:
        return say("the store is empty")
    shown: str = join(", ", (shorten_middle(name, 100) for name in models[:SHOWN_NAMES]))
    if len(models) > SHOWN_NAMES:
        shown = say("{names} and {count} more", names=shown, count=len(models) - SHOWN_NAMES)
    return say("the store has workload {names}" if len(models) == 1 else "the store has workloads {names}", names=shown)


SHOWN_NAMES = 20

_TIMES = ("series_id", "night", "run_id", "timestamp_ns", "runtime_ms_mean", *LABELS)


def _trend(
    history: History, regressions: Regressions | None, night: str, runs: Sequence[Row], incomplete: Sequence[str]
) -> Trend | None:
    rows = () if regressions is None else regressions.rows
    lead = lead_of(rows)
    series = lead.series_id if lead is not None else _slowest(history, night, runs, incomplete)
    series = series or next((row.series_id for row in rows), None)
    if series is None:
        return None
    if regressions is not None and lead is not None and lead.scope in METRICS:
        return _trend_of_metric(regressions, lead)
    columns = [name for name in _TIMES if name in ROWS.names]
    table = history.records(columns, [equals("series_id", series), equals("night", night, "<=")])
    together = put_together(pl.DataFrame(table).filter(~pl.col("run_id").is_in(list(incomplete))))
    if not together.nights:
        return None
    (labels,) = together.labels
    return Trend(
        series_id=series,
        workload=labels.workload,
        model=labels.model or "unknown",
        rank_id=labels.rank_id,
        device_id=labels.device_id,
        nights=together.nights[-WATCHED_NIGHTS:],
        values=together.costs[0, -WATCHED_NIGHTS:].tolist(),
    )


def _trend_of_metric(regressions: Regressions, row: SeriesChange) -> Trend:
    histories, place = regressions.detected.judged.histories, regressions.places[row.series_id]
    costs, labels = histories.costs[place], histories.labels[place]
    columns = np.flatnonzero(np.isfinite(costs) & (costs > 0))
    return Trend(
        series_id=row.series_id,
        workload=labels.workload,
        model=labels.model,
        rank_id=labels.rank_id,
        device_id=labels.device_id,
        nights=[histories.nights[column] for column in columns],
        values=[value_of(cost, row.better) for cost in costs[columns].tolist()],
        metric=labels.metric,
        unit=row.unit,
        better=row.better,
    )


def _slowest(history: History, night: str, runs: Sequence[Row], incomplete: Sequence[str]) -> str | None:
    """The series of the longest step of a night; where no run has steps, of the longest whole model or phase."""
    ours = {run["run_id"] for run in runs} - set(incomplete)
    where: Where = [
        equals("night", night),
        equals("source", "aoe", "!="),
        (equals("scope", "step"), equals("scope", "model"), equals("scope", "phase")),
    ]
    columns = ("series_id", "scope", "run_id", "runtime_ms_mean")
    rows = [
        row
        for row in history.records(columns, where).to_pylist()
        if row["run_id"] in ours and row["runtime_ms_mean"] is not None
    ]
    rows.sort(key=lambda row: (row["scope"] != "step", -row["runtime_ms_mean"], row["series_id"]))
    return rows[0]["series_id"] if rows else None


def _hotspots(history: History, runs: Sequence[Row], model: str | None) -> Hotspots | None:
    """The operator types of the newest profile of the night, of this model if it has one."""
    profiles = [run for run in runs if run["run_kind"] == "profile"]
    for run in [*(run for run in reversed(profiles) if run["model"] == model), *reversed(profiles)]:
        columns = ("rank_id", "device_id", "op_type", "workload_args", "metrics", "count", "total_ns")
        where: Where = [equals("run_id", run["run_id"]), equals("scope", "op_type")]
        records = pl.DataFrame(history.records(columns, where)).filter(pl.col("total_ns").is_not_null())
        if records.is_empty():
            continue
        types = (
            records.with_columns(pl.col("workload_args").str.json_path_match("$.task_type").alias("task_type"))
            .group_by("op_type", "task_type")
            .agg(pl.col("count", "total_ns").sum())
            .sort("total_ns", "op_type", "task_type", descending=[True, False, False], nulls_last=True)
        )
        whole = int(types["total_ns"].sum())
        rows = [
            TypeTime(
                position=position,
                op_type=row["op_type"],
                task_type=row["task_type"],
                count=row["count"],
                total_us=row["total_ns"] / 1000,
                mean_us=row["total_ns"] / row["count"] / 1000 if row["count"] else None,
                share=row["total_ns"] / whole if whole else None,
            )
            for position, row in enumerate(types.iter_rows(named=True), start=1)
        ]
        counts = records["metrics"].str.json_path_match("$.ranks").cast(pl.Int64, strict=False).drop_nulls().to_list()
        ranks = max(counts, default=records.select("rank_id", "device_id").unique().height)
        return Hotspots(run["run_id"], run["model"], ranks, rows, whole / 1000, of_median=bool(counts))
    return None


def _advised(history: History, runs: Sequence[Row], model: str | None) -> StoredAdviceOfRun | None:
    """The advice stored with the newest profile of the night, of this model if it has one."""
    profiles = [run for run in reversed(runs) if run["run_kind"] == "profile" and "advice" in (run["body"] or "")]
    for run in [*(run for run in profiles if run["model"] == model), *profiles]:
        facts = _facts_of(run)
        stored = read_advice(history, [facts]).get(facts.run_id)
        if stored is not None:
            return StoredAdviceOfRun(
                facts.run_id, facts.model, stored.summary, stored.advice, stored.stated, stored.candidates
            )
    return None


def _verdicts(history: History, night: str, runs: Sequence[Row]) -> list[ListedVerdict]:
    """What `verify` stored of a night for the workloads that ran in it."""
    models = {run["model"] for run in runs}
    return [row for row in verdict_rows(history, [equals("night", night)]) if row.workload in models]


def _facts_of(run: Row) -> RunFacts:
    return RunFacts(
        run_id=run["run_id"], kind=run["run_kind"], night=run["night"], timestamp_ns=run["timestamp_ns"], model=run["model"], hardware=run["hardware"] or "unknown",
        status=run["status"] or "unknown", path=run["path"] or "", facts={}, body=body_of(run["body"]),
    )  # fmt: skip


def _tunings(history: History, runs: Sequence[Row]) -> tuple[list[TuningRun], list[Stored[TuningClaim]]]:
    """AOE's runs of the night with what they claim of the model, and their claims on parts, the largest saving first."""
    facts = [one for one in map(_facts_of, runs) if one.kind == "tuning" and one.body.get("kind") in {"opat", "sgat"}]
    rows, claims = [], list[Stored[TuningClaim]]()
    for run, details in read_details(history, facts):
        rows.append(_tuning(run, next((claim.row for claim in details.claims if claim.row.scope == "model"), None)))
        claims += [claim for claim in details.claims if claim.row.scope != "model"]
    return rows, sorted(claims, key=lambda one: -one.row.saved_us)


def _tuning(run: RunFacts, whole: TuningClaim | None) -> TuningRun:
    before, after = (None, None) if whole is None else (whole.claimed_before_us, whole.claimed_after_us)
    return TuningRun(
        night=run.night,
        run=run.run_id,
        workload=run.model,
        tuning_name=run.body.get("tuning_name"),
        kind=run.body.get("kind"),
        status=run.status,
        modified=run.body.get("modified"),
        before_ms=None if before is None else before / 1000,
        after_ms=None if after is None else after / 1000,
        speed_up=None if whole is None else whole.speed_up,
    )


def _run_rows(history: History, night: str, runs: Sequence[Row]) -> list[StoredRun]:
    steps: dict[str, float] = {}
    where: Where = [equals("night", night), equals("scope", "step")]
    for row in history.records(("run_id", "runtime_ms_mean"), where).to_pylist():
        if row["runtime_ms_mean"] is not None:
            steps[row["run_id"]] = max(row["runtime_ms_mean"], steps.get(row["run_id"], 0.0))
    return [
        StoredRun(
            night=run["night"],
            run=run["run_id"],
            kind=run["run_kind"],
            workload=run["model"],
            hardware=run["hardware"],
            step_ms=steps.get(run["run_id"]),
            status=run["status"],
            path=run["path"],
        )
        for run in runs
    ]


def _findings_of(history: History, night: str, runs: Sequence[Row]) -> list[Finding]:
    found = stored_findings(history, [equals("night", night)])
    return [finding for run in runs for finding in found.get(run["run_id"], ())]


INDEX = "figures.json"


def write_figures(answer: NightReport, folder: Path, beside: Path, language: Language = "en") -> NightReport:
    """Write the charts as PNG files into a folder, and `figures.json` beside them: file, alt, width and height (pixels), title.

    Gives the answer with links to them, as they are seen from the folder `beside`. Pictures that an earlier report left there
    and this one lacks are deleted: a picture of another night is worse than none. Raises AoeReportsError where nothing can be written.
    """
    from aoe_reports.present.figures import draw_png  # noqa: PLC0415 -- half a second that other forms save

    sections, told = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stale = _prior_pictures(folder)
        for section in answer.sections or ():
            if not section.figure or section.chart is None or isinstance(section.chart, BarChart):
                sections.append(section)
                continue
            picture, name = draw_png(section.chart, language), f"{section.figure}.png"
            write_whole(folder / name, picture.png)
            stale.discard(name)
            told.append({"file": name, "alt": picture.alt, "width": picture.width, "height": picture.height})
            sections.append(replace(section, link=os.path.relpath(folder / name, beside)))
        document = {"format_version": FORMAT_VERSION, "figures": told}
        write_whole(folder / INDEX, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        for name in sorted(stale):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or error
        raise AoeReportsError(say("{path}: the figures cannot be written: {why}", path=folder, why=why)) from error
    return replace(answer, sections=sections, more={**answer.more, "figures": told})


FIGURES = frozenset({"history.png", "attribution.png", "hotspots.png"})


def _prior_pictures(folder: Path) -> set[str]:
    """The pictures that an earlier report wrote, by its own list."""
    try:
        listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))["figures"]
        return {one["file"] for one in listed} & FIGURES
    except (OSError, ValueError, KeyError, TypeError):
        return set()
