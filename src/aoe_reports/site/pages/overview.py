"""The first page: what changed, since when, by how much, which operator, what to do; and whether every night ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts, speed_up
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.history.causes import past_night_in_words, reason_words
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.listings import ListedRun
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import N_
from aoe_reports.present.night import headline, night_headline
from aoe_reports.present.reports.night_content import Night
from aoe_reports.present.reports.series_cells import has_metrics
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import Table, cell, changed, drawn, head, level, linked, short, stated
from aoe_reports.site.pages.comparison import page_of, pairs_of
from aoe_reports.site.pages.incidents import incidents_table, spark
from aoe_reports.site.pages.triage import NEW_NIGHTS, Group, grouped, state_of, sure_effect, tone_of
from aoe_reports.site.places import file_name, model_file, series_link
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts

SHOWN = 25
"""Series of one group on the first page: more fit no screen, and the list of series has them."""
SHOWN_RUNS, SHOWN_FINDINGS, SHOWN_DATES, SHOWN_PAST = 30, 30, 5, 10


class _Words(NamedTuple):
    title: str
    about: str


_GROUPS: Mapping[str, _Words] = N_(
    {
        "new": _Words("New", "Slower since one of the last {nights} nights. Find out what changed on that night."),
        "ongoing": _Words("Ongoing", "Slower for a longer time. Investigate these series or acknowledge them."),
        "acknowledged": _Words("Acknowledged", "Slower, and acknowledged."),
        "recovered": _Words("Recovered", "Back at the previous level. No action is needed."),
        "improved": _Words("Improved", "Faster. Check whether the workload is still the same."),
        "suspect": _Words(
            "Suspected change", "The newest one or two nights are outliers: run the night again before you investigate."
        ),
    }
)


def overview(facts: StoreFacts, text: Texts) -> Content:
    """The first page, and its JSON."""
    groups = grouped(facts)
    said, more, tone = _headline(facts, text)
    tonight = [run for run in facts.runs if run.night == facts.nights[-1]]
    findings = [*facts.findings, *chain.from_iterable(run.findings for run in tonight)]
    watched = set(facts.nights[-facts.watched_nights :])
    odd = [run for run in reversed(facts.runs) if run.night in watched and run.status in {"incomplete", "damaged"}]
    model_columns = [
        (text("Model"), "text"), (text("Step time"), "text"), *text.columns(StepTimes, "step_ms"), (text("State"), "text"),
        (text("Newest night"), "text"), (text("Tuning (AOE)"), "text"),
    ]  # fmt: skip
    page = {
        "title": text("Overview"),
        "headline": said,
        "more": more,
        "tone": tone,
        "facts": _facts(facts, text) if facts.nights else [],
        "tiles": _tiles(groups, text) if facts.nights else [],
        "incidents": incidents_table(facts, text),
        "groups": [(key, _group(key, members, text)) for key, members in groups.items() if members],
        "models": Table(model_columns, [_model(model, facts, text) for model in _models(facts)]),
        "compared": [(model, f"{page_of(model)}.html") for model in pairs_of(facts)],
        "health": list(_health(facts, tonight, text)),
        "not_whole": [_not_whole_run(run, text) for run in odd[:SHOWN_RUNS]],
        "not_whole_said": text(
            "Incomplete runs in the last {nights} nights, which are not compared or are compared only in part: {count}.",
            count=len(odd),
            nights=facts.watched_nights,
        ),
        "not_whole_more": text("and {count} more", count=len(odd) - SHOWN_RUNS) if len(odd) > SHOWN_RUNS else "",
        "runs": runs_table(tonight[:SHOWN_RUNS], "runs/", text),
        "findings": findings_table(_worst(findings)[:SHOWN_FINDINGS], text),
    }
    return page, {
        "rows": [as_mapping(row) for row in facts.regressions],
        "incidents": [as_mapping(incident) for incident in facts.incidents.values()],
        "suspicions": [as_mapping(suspicion) for suspicion in facts.suspicions],
        "past_nights": [as_mapping(night) for night in facts.past_nights],
        "missing": facts.missing,
        "budget": facts.budget,
        "findings": [finding.as_dict() for finding in facts.findings],
        "nights": len(facts.nights),
        "newest_night": facts.nights[-1] if facts.nights else None,
        "groups": {group: [member.id for member in members] for group, members in groups.items()},
    }


def _tiles(groups: Mapping[Group, Sequence[SeriesFacts]], text: Texts) -> list[tuple[Group, str, int]]:
    """The number of series of each group; no tile where nothing was acknowledged."""
    return [
        (key, text(_GROUPS[key].title), len(members))
        for key, members in groups.items()
        if members or key != "acknowledged"
    ]


def _headline(facts: StoreFacts, text: Texts) -> tuple[str, str, str]:
    """(headline of the night report, what follows it, its tone)."""
    if not facts.nights:
        return (
            text.translated(headline(Night(night=None))),
            text("Store a first night: aoe-reports ingest PATH --store {store}", store="URI"),
            "calm",
        )
    tonight = night_headline(
        facts.regressions,
        incidents=facts.incidents.values(),
        suspicions=facts.suspicions,
        remark=facts.remark,
        not_measured=[*facts.missing, *facts.absent],
    )
    said = plain(text.translated(tonight))
    return said, "", tone_of(facts.regressions)


def _facts(facts: StoreFacts, text: Texts) -> list[tuple[str, str]]:
    budget = facts.budget
    return [
        (text("Newest night"), facts.nights[-1]),
        (text("Models"), show(len(_models(facts)), "integer")),
        (
            text("Series judged"),
            text("{part} of {whole}", part=show(budget.eligible, "integer"), whole=show(budget.series, "integer")),
        ),
        (
            text("Allowed false alarms"),
            text("{number} a year, all series together", number=f"{budget.false_alarms_per_year:g}"),
        ),
    ]


def cause_of(series: SeriesFacts, text: Texts) -> str:
    """The operators that explain the change of a step, in a line; empty for other series."""
    attribution = series.row.attribution
    if not attribution:
        return ""
    named = [
        text(
            "{part} ({cause})",
            part=f"{short(operator.op_name or operator.op_type or '?')} {operator.difference_us:+,.1f} us",
            cause=text.translated(reason_words(operator.cause)),
        )
        for operator in attribution.operators[:2]
    ]
    total = abs(attribution.total_us)
    for key, value in (
        ("communication_not_overlapped", attribution.communication_not_overlapped_us),
        ("free", attribution.free_us),
    ):
        if value is not None and total and abs(value) >= total / 4:
            named.append(f"{text.word(key)} {value:+,.1f} us")
    return text.joined("; ", named)


def _group(key: Group, members: Sequence[SeriesFacts], text: Texts) -> Table:
    said = [text(_GROUPS[key].about, nights=NEW_NIGHTS)]
    if key in {"new", "ongoing"}:
        said.append(
            text(
                "Sorted by the lower bound of the effect on the step, largest first: the end of the 95% interval nearer "
                "to 0, multiplied by the share of the step."
            )
        )
    if len(members) > SHOWN:
        count = len(members)
        said.append(
            text("The first {shown} of {count} are shown; the list of series contains all.", shown=SHOWN, count=count)
        )
    levels = text("After, before") if has_metrics([member.row for member in members]) else text("After, before (ms)")
    columns = [
        (text("Item"), "text"), *text.columns(SeriesChange, "change", "since"), (text("Effect on step (lower bound)"), "number"),
        (levels, "number"), (text("Attributed to"), "text"),
    ]  # fmt: skip
    rows = [_changed_row(series, text) for series in members[:SHOWN]]
    return Table(columns, rows, " ".join(said), text(_GROUPS[key].title))


def _changed_row(series: SeriesFacts, text: Texts) -> list[str]:
    row = series.row
    share = 1.0 if row.scope == "step" else series.share_of_step
    part = text("{share} of the step", share=show(share, "percent")) if share is not None else text("share unknown")
    named = " ".join(part for part in (row.op_type, row.op_name) if part)
    return [
        head(text.series(row), series_link(series), _where(series, text)),
        changed(row.change, interval(row.ci_low, row.ci_high), row.better),
        linked(row.since, f"runs/{file_name(row.since_run)}.html" if row.since_run else None),
        cell(sure_effect(series), "change", part),
        level(row.after, row, row.before),
        cell(cause_of(series, text) or named),
    ]


def _where(series: SeriesFacts, text: Texts) -> str:
    row = series.row
    place = text.place(row.rank_id, row.device_id)
    return " · ".join([text.translated(row.scope), str(row.hardware), *([place] if place else [])])


def interval(low: float | None, high: float | None) -> str:
    """The 95 % interval of a change."""
    return "" if low is None or high is None else f"{show(low, 'change')} … {show(high, 'change')}"


def _models(facts: StoreFacts) -> list[str]:
    return sorted({run.model for run in facts.runs})


def _model(model: str, facts: StoreFacts, text: Texts) -> list[str]:
    runs = [run for run in facts.runs if run.model == model]
    slowest = facts.slowest_of(model)
    ran = [cell(max(run.night for run in runs)), _aoe(model, runs, facts, text)]
    place = f"{model_file(model)}.html"
    if slowest is None:
        return [head(model, place), cell(None), cell(None, "ms"), cell(None), *ran]
    state, change = state_of(slowest.row), slowest.row.change
    return [
        head(model, place, _where(slowest, text)),
        drawn(spark(slowest, text)),
        cell(float(slowest.values[-1]), "ms"),
        stated(state, text.word(state), show(change, "change") if change is not None else ""),
        *ran,
    ]


def _aoe(model: str, runs: Sequence[RunFacts], facts: StoreFacts, text: Texts) -> str:
    """The newest tuning of a model: what it claims, and what was measured."""
    tunings = [run for run in runs if run.is_tuning]
    if not tunings:
        return cell(text("no tuning stored"))
    last = tunings[-1]
    kind = str(last.body.get("kind") or "?").upper()
    said = text("{kind} on {night}: {status}", kind=kind, night=last.night, status=text.translated(last.status))
    gain = speed_up(*last.claimed_ms)
    more = [] if gain is None else [text("claims {gain}", gain=show(gain, "change"))]
    verdicts = [one.row.verdict for one in facts.verdicts if one.row.workload == model and one.row.scope == "step"]
    more += [text("measured: {verdict}", verdict=text.translated(verdict)) for verdict in verdicts[-1:]]
    return linked(said, f"runs/{file_name(last.run_id)}.html", "; ".join(more))


def _not_whole_run(run: RunFacts, text: Texts) -> tuple[str, str, str]:
    """A run, its page, and when it was, how it ended, and the worst that was found in it."""
    worst = [text.translated(finding.message) for finding in _worst(run.findings)[:1]]
    why = " · ".join([run.night, run.model, text.translated(run.status), *worst])
    return short(run.run_id), f"runs/{file_name(run.run_id)}.html", short(why)


def _health(facts: StoreFacts, tonight: Sequence[RunFacts], text: Texts) -> Iterator[str]:
    """What was read in the newest night, which nights are missing, and which differed and are past."""
    if not facts.nights:
        return
    findings = [finding.severity for run in tonight for finding in run.findings]
    yield text(
        "Newest night, {night}: runs {runs}, errors {errors}, warnings {warnings}, remarks {infos}.",
        night=facts.nights[-1],
        runs=len(tonight),
        errors=findings.count("error"),
        warnings=findings.count("warning"),
        infos=findings.count("info"),
    )
    watched = facts.nights[-facts.watched_nights :]
    gaps = [line for model in _models(facts) for line in _gaps(model, facts, watched[0], text)]
    yield from gaps or [text("Every model ran every night.")]
    past = facts.past_nights[::-1]
    yield from (text.translated(past_night_in_words(one)) for one in past[:SHOWN_PAST])
    if len(past) > SHOWN_PAST:
        yield text("and {count} more", count=len(past) - SHOWN_PAST)


def _gaps(model: str, facts: StoreFacts, since: str, text: Texts) -> Iterator[str]:
    """Dates without a profile of a model, where it runs every night or nearly; and models that stopped."""
    nights = {run.night for run in facts.runs if run.model == model and not run.is_tuning} & set(facts.nights)
    ran = {night for night in nights if night >= since}
    if not ran:
        return
    last = max(ran)
    if last < facts.nights[-1]:
        yield text("{model}: no run since {night}.", model=short(model), night=last)
    dates = list(_dates(min(ran), last))
    missing = [day for day in dates if day not in ran]
    if missing and 2 * len(missing) < len(dates):
        yield text(
            "{model}: {missing} of the last {dates} dates have no run ({which}).",
            model=short(model),
            missing=len(missing),
            dates=len(dates),
            which=_newest_of(missing, text),
        )


def _newest_of(dates: Sequence[str], text: Texts) -> str:
    shown, rest = ", ".join(dates[-SHOWN_DATES:]), len(dates) - SHOWN_DATES
    return text("{list} and {count} more", list=shown, count=rest) if rest > 0 else shown


def _dates(first: str, last: str) -> Iterator[str]:
    day, until = date.fromisoformat(first), date.fromisoformat(last)
    while day <= until:
        yield day.isoformat()
        day += timedelta(days=1)


def _worst(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def findings_table(findings: Sequence[Finding], text: Texts) -> Table:
    """Findings as they are listed on every page."""
    titles = (text("Severity"), text("Finding"), text("Location"), text("Rule"))
    rows = [
        [
            stated(finding.severity, text.word(finding.severity)),
            cell(text.translated(finding.message)),
            cell(finding.place, "text", finding.pointer),
            cell(finding.rule),
        ]
        for finding in findings
    ]
    return Table([(title, "text") for title in titles], rows)


def runs_table(runs: Iterable[RunFacts], lead: str, text: Texts, about: str = "") -> Table:
    """Runs as they are listed on every page."""
    columns = [
        *text.columns(ListedRun, "run", "night", "kind"), (text("Model"), "text"),
        *text.columns(ListedRun, "hardware", "status"), (text("Findings"), "number"),
    ]  # fmt: skip
    rows = [
        [
            head(run.run_id, f"{lead}{file_name(run.run_id)}.html"),
            cell(run.night),
            cell(text.translated(run.kind)),
            cell(run.model),
            cell(run.hardware),
            stated(run.status, text.translated(run.status)),
            cell(len(run.findings), "integer"),
        ]
        for run in runs
    ]
    return Table(columns, rows, about)


def run_row(run: RunFacts) -> JsonObject:
    """A run as JSON, under the names that `store history runs` has."""
    return {
        "night": run.night,
        "run": run.run_id,
        "kind": run.kind,
        "workload": run.model,
        "hardware": run.hardware,
        "status": run.status,
        "timestamp_ns": run.timestamp_ns,
        "path": run.path,
        "facts": {**run.facts},
        "findings": len(run.findings),
    }
