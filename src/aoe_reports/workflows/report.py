"""One report of one night from the stored history alone, and its figures as files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from aoe_reports.errors import AoeReportsError, UsageError
from aoe_reports.findings import Finding, in_order
from aoe_reports.records.payloads import body_of
from aoe_reports.regression.budget import FALSE_ALARMS_PER_YEAR, WATCHED_NIGHTS
from aoe_reports.regression.detector import Parameters
from aoe_reports.regression.pinned import is_date
from aoe_reports.regression.series import FACTS, put_together
from aoe_reports.renderers.as_json import FORMAT_VERSION
from aoe_reports.reports.morning import Advised, Course, Hotspots, Morning, leading, morning_report
from aoe_reports.reports.names import shorten_middle
from aoe_reports.reports.report import BarChart, Report
from aoe_reports.site.facts import RunFacts
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import ROWS, message_of
from aoe_reports.texts import Language, join, say
from aoe_reports.workflows.history import verdict_rows
from aoe_reports.workflows.output import write_whole
from aoe_reports.workflows.regressions import RegressionSelection, find_regressions
from aoe_reports.workflows.site_facts import read_details
from aoe_reports.workflows.stored_advice import read_advice

Row = dict[str, Any]

SHOWN_NIGHTS = 5
"""Nights and workloads that are named where another was asked for."""


@dataclass(frozen=True, slots=True)
class ReportWish:
    """Which night (None: the newest) of which workload (None: all), and how many false alarms a year are bearable."""

    workload: str | None = None
    night: str | None = None
    false_alarms_per_year: float = FALSE_ALARMS_PER_YEAR


@dataclass(frozen=True, slots=True)
class NightReport:
    """The report, the facts it is made of, and every finding; `rows` are those of `regressions`, times in ms."""

    report: Report
    morning: Morning
    rows: list[Row]
    findings: list[Finding]
    reasons: list[str]

    def as_data(self) -> Row:
        """What the JSON form has beside rows, findings and reasons; times in ms or us, as the names say."""
        morning, course, hot = self.morning, self.morning.course, self.morning.hotspots
        return {
            "night": morning.night,
            "workload": morning.workload,
            "headline": self.report.headline,
            "lead": None if morning.lead is None else morning.lead["series_id"],
            "budget": dict(morning.budget),
            "history": None
            if course is None
            else {
                "series_id": course.series_id,
                "workload": course.workload,
                "rank_id": course.rank_id,
                "device_id": course.device_id,
                "nights": list(course.nights),
                "values_ms": list(course.values_ms),
            },
            "hotspots": None
            if hot is None
            else {
                "run": hot.run,
                "workload": hot.model,
                "ranks": hot.ranks,
                "total_us": hot.total_us,
                "types": list(hot.types),
            },
            "advice": None
            if morning.advised is None
            else {**asdict(morning.advised), "workload": morning.advised.model},
            "tunings": list(morning.tunings),
            "claims": list(morning.claims),
            "verdicts": list(morning.verdicts),
            "runs": list(morning.runs),
            "other_workloads": list(morning.others),
            "later_nights": list(morning.later),
        }


def report_night(store: str, wish: ReportWish | None = None) -> NightReport:
    """What the store knows of a night: changes, the history of what changed, hotspots, AOE's claims, findings.

    Of the newest night changes are those that `regressions` tells; of an earlier one those that the nights up to it show.
    Raises UsageError for a night or workload that has no run.
    """
    wish = wish or ReportWish()
    history = History.open(store)
    runs = _stored_runs(history)
    night, newest = _chosen(runs, wish)
    until = night if night is not None and newest is not None and night < newest else None
    found = find_regressions(
        store,
        RegressionSelection(workload=wish.workload, false_alarms_per_year=wish.false_alarms_per_year, until=until),
    )
    rows, budget, told = found.rows, found.budget, found.findings
    reasons = [reason for reason in found.reasons if reason == "not-enough-data"]
    lead = leading(rows)
    mine = [run for run in runs if run["night"] == night and wish.workload in {None, run["model"]}]
    course = None if night is None else _course(history, rows, night, mine, _incomplete(runs))
    model = None if course is None else course.model
    hotspots = None if night is None else _hotspots(history, mine, model)
    tunings, claims = _tunings(history, mine)
    findings = in_order(_findings_of(history, night, mine)) if night is not None else []
    named = wish.workload or model
    morning = Morning(
        night,
        wish.workload,
        rows,
        budget,
        lead,
        course,
        hotspots,
        _advised(history, mine, model),
        tunings,
        claims,
        [] if night is None else _verdicts(history, night, mine),
        _run_rows(history, night, mine),
        told,
        findings,
        sorted({run["model"] for run in mine if run["model"] not in {named, None}}),
        sorted({run["night"] for run in runs if night is not None and run["night"] > night})
        if wish.night is None
        else [],
    )
    return NightReport(morning_report(morning), morning, rows, [*told, *findings], reasons)


_RUN = ("run_id", "run_kind", "night", "timestamp_ns", "model", "hardware", "status", "path", "body")


def _stored_runs(history: History) -> list[Row]:
    rows: list[Row] = history.rows("run", _RUN).to_pylist()
    for row in rows:
        row["model"] = row["model"] or "unknown"
    return sorted(rows, key=lambda row: (row["timestamp_ns"], row["run_id"]))


def _incomplete(runs: Sequence[Row]) -> list[str]:
    return [run["run_id"] for run in runs if run["status"] == "incomplete"]


def _chosen(runs: Sequence[Row], wish: ReportWish) -> tuple[str | None, str | None]:
    """The night of the report, and the newest one on which something was measured; None where the store is empty.

    AOE's own runs measure nothing: a bank that was copied this morning does not hide the night.
    """
    models = sorted({run["model"] for run in runs})
    if wish.workload is not None and wish.workload not in models:
        raise UsageError(
            say("--workload {workload!r}: no run of it is stored; {held}", workload=wish.workload, held=_held(models))
        )
    mine = [run for run in runs if wish.workload in {None, run["model"]}]
    nights = sorted({run["night"] for run in mine})
    newest = max((run["night"] for run in mine if run["run_kind"] != "tuning"), default=nights[-1] if nights else None)
    if wish.night is None:
        return newest, newest
    if wish.night not in nights:
        held: str = say("the store is empty")
        named = {"night": wish.night, "count": len(nights)} | (
            {"first": nights[0], "last": nights[-1]} if nights else {}
        )
        if not is_date(wish.night):
            if nights:
                held = say("the store has {count} from {first} to {last}", **named)
            raise UsageError(say("--night {night!r}: expected a date such as 2026-01-31; {held}", held=held, **named))
        if nights:
            near = sorted(nights, key=lambda night: (_apart(night, wish.night), night))[:SHOWN_NIGHTS]
            said = {**named, "near": join(", ", sorted(near))}
            held = say("the store has {count} from {first} to {last}, next to it {near}", **said)
        raise UsageError(say("--night {night!r}: no run of that night is stored; {held}", night=wish.night, held=held))
    return wish.night, newest


def _apart(night: str, wanted: str | None) -> int:
    """How far apart two dates are, in days; what is no date is far from all."""
    try:
        return abs((date.fromisoformat(night) - date.fromisoformat(wanted or "")).days)
    except ValueError:
        return FAR


FAR = 10**7


def _held(models: Sequence[str]) -> str:
    """Which workloads there are."""
    if not models:
        return say("the store is empty")
    shown: str = join(", ", (shorten_middle(name, 100) for name in models[:SHOWN_NAMES]))
    if len(models) > SHOWN_NAMES:
        shown = say("{names} and {count} more", names=shown, count=len(models) - SHOWN_NAMES)
    return say("the store has workload {names}" if len(models) == 1 else "the store has workloads {names}", names=shown)


SHOWN_NAMES = 20

_TIMES = ("series_id", "night", "run_id", "timestamp_ns", "runtime_ms_mean", *FACTS)


def _course(
    history: History, rows: Sequence[Row], night: str, runs: Sequence[Row], incomplete: Sequence[str]
) -> Course | None:
    """The history of what the report is about: what changed, else the slowest step of the night, else any change."""
    lead = leading(rows)
    series = lead["series_id"] if lead is not None else _slowest(history, night, runs, incomplete)
    series = series or next((row["series_id"] for row in rows), None)
    if series is None:
        return None
    columns = [name for name in _TIMES if name in ROWS.names]
    table = history.records(columns, [equals("series_id", series), equals("night", night, "<=")])
    together = put_together(pl.DataFrame(table).filter(~pl.col("run_id").is_in(list(incomplete))))
    if not together.nights:
        return None
    facts = together.facts.row(0, named=True)
    return Course(
        series,
        facts["workload"],
        facts["model"] or "unknown",
        facts["rank_id"],
        facts["device_id"],
        together.nights[-WATCHED_NIGHTS:],
        together.values_ms[0, -WATCHED_NIGHTS:].tolist(),
        Parameters().least_nights,
    )


def _slowest(history: History, night: str, runs: Sequence[Row], incomplete: Sequence[str]) -> str | None:
    """The series of the longest step of a night; where no run has steps, of the longest whole model."""
    ours = {run["run_id"] for run in runs} - set(incomplete)
    where: Where = [
        equals("night", night),
        equals("source", "aoe", "!="),
        (equals("scope", "step"), equals("scope", "model")),
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
    """The operator types of the newest profile of the night, of this model where it has one."""
    profiles = [run for run in runs if run["run_kind"] == "profile"]
    for run in [*(run for run in reversed(profiles) if run["model"] == model), *reversed(profiles)]:
        columns = ("rank_id", "device_id", "op_type", "workload_args", "count", "total_ns")
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
            {
                "position": position,
                "op_type": row["op_type"],
                "task_type": row["task_type"],
                "count": row["count"],
                "total_us": row["total_ns"] / 1000,
                "mean_us": row["total_ns"] / row["count"] / 1000 if row["count"] else None,
                "share": row["total_ns"] / whole if whole else None,
            }
            for position, row in enumerate(types.iter_rows(named=True), start=1)
        ]
        ranks = records.select("rank_id", "device_id").unique().height
        return Hotspots(run["run_id"], run["model"], ranks, rows, whole / 1000)
    return None


def _advised(history: History, runs: Sequence[Row], model: str | None) -> Advised | None:
    """The advice that is stored with the newest profile of the night, of this model where it has one."""
    profiles = [run for run in reversed(runs) if run["run_kind"] == "profile" and "advice" in (run["body"] or "")]
    for run in [*(run for run in profiles if run["model"] == model), *profiles]:
        facts = _facts_of(run)
        stored = read_advice(history, [facts]).get(facts.run_id)
        if stored is not None:
            return Advised(facts.run_id, facts.model, stored.summary, stored.advice, stored.stated, stored.candidates)
    return None


def _verdicts(history: History, night: str, runs: Sequence[Row]) -> list[Row]:
    """What `verify` stored of a night for the workloads that ran in it."""
    models = {run["model"] for run in runs}
    return [row for row in verdict_rows(history, [equals("night", night)]) if row["workload"] in models]


def _facts_of(run: Row) -> RunFacts:
    return RunFacts(
        run["run_id"], run["run_kind"], run["night"], run["timestamp_ns"], run["model"], run["hardware"] or "unknown",
        run["status"] or "unknown", run["path"] or "", {}, body_of(run["body"]),
    )  # fmt: skip


def _tunings(history: History, runs: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """AOE's runs of the night with what they claim of the model, and their claims on parts, the largest saving first."""
    facts = [one for one in map(_facts_of, runs) if one.kind == "tuning" and one.body.get("kind") in {"opat", "sgat"}]
    rows, claims = [], []
    for run, details in read_details(history, facts):
        whole = next((one for one in details.claims if one["scope"] == "model"), None)
        before, after = (None if whole is None else whole[f"claimed_{side}_us"] for side in ("before", "after"))
        rows.append(
            {
                "run": run.run_id,
                "workload": run.model,
                "tuning_name": run.body.get("tuning_name"),
                "kind": run.body.get("kind"),
                "status": run.status,
                "modified": run.body.get("modified"),
                "before_ms": None if before is None else before / 1000,
                "after_ms": None if after is None else after / 1000,
                "speed_up": None if whole is None else whole["speed_up"],
            }
        )
        claims += [{"run": run.run_id, **one} for one in details.claims if one["scope"] != "model"]
    claims.sort(key=lambda one: -((one["claimed_before_us"] or 0) - (one["claimed_after_us"] or 0)))
    return rows, claims


def _run_rows(history: History, night: str | None, runs: Sequence[Row]) -> list[Row]:
    steps: dict[str, float] = {}
    if night is not None:
        where: Where = [equals("night", night), equals("scope", "step")]
        for row in history.records(("run_id", "runtime_ms_mean"), where).to_pylist():
            if row["runtime_ms_mean"] is not None:
                steps[row["run_id"]] = max(row["runtime_ms_mean"], steps.get(row["run_id"], 0.0))
    return [
        {
            "night": run["night"],
            "run": run["run_id"],
            "kind": run["run_kind"],
            "workload": run["model"],
            "hardware": run["hardware"],
            "step_ms": steps.get(run["run_id"]),
            "status": run["status"],
            "path": run["path"],
        }
        for run in runs
    ]


def _findings_of(history: History, night: str, runs: Sequence[Row]) -> list[Finding]:
    ours = {run["run_id"] for run in runs}
    asked = ("severity", "rule", "path", "line", "column", "pointer")
    rows = history.rows("finding", ("run_id", "message", "body", *asked), [equals("night", night)]).to_pylist()
    return [
        Finding(message=message_of(row), **{name: row[name] for name in asked}) for row in rows if row["run_id"] in ours
    ]


INDEX = "figures.json"


def write_figures(report: Report, folder: Path, beside: Path, language: Language = "en") -> tuple[Report, list[Row]]:
    """Write the charts as PNG files into a folder, and `figures.json` beside them: file, alt, width and height (pixels), title.

    Gives the report with links to them, as they are seen from the folder `beside`. Pictures that an earlier report left there
    and this one lacks are deleted: a picture of another night is worse than none. Raises AoeReportsError where nothing can be written.
    """
    from aoe_reports.renderers.figures import draw_png  # noqa: PLC0415 -- half a second that other forms save

    sections, told = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stale = _earlier(folder)
        for section in report.sections:
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
    return replace(report, sections=sections), told


FIGURES = frozenset({"history.png", "attribution.png", "hotspots.png"})


def _earlier(folder: Path) -> set[str]:
    """The pictures that an earlier report wrote, by its own list."""
    try:
        listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))["figures"]
        return {one["file"] for one in listed} & FIGURES
    except (OSError, ValueError, KeyError, TypeError):
        return set()
