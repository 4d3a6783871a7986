"""The first page: what changed, since when, by how much, which operator, what to do; and whether every night ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from typing import NamedTuple

from aoe_reports.history.site_facts import RunFacts, StoreFacts, speed_up
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.history.causes import models_in_words, past_night_in_words
from aoe_reports.model.history.changes import MIN_STEP_SHARE, by_effect, is_small
from aoe_reports.model.history.listings import ListedRun
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import N_
from aoe_reports.present.night import headline, night_headline
from aoe_reports.present.reports.night_content import Night
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import MINOR, Table, about_first, cell, drawn, head, linked, short, stated
from aoe_reports.site.pages.by_model import ModelFacts, facts_by_model, facts_of_all
from aoe_reports.site.pages.cards import Card, model_cards
from aoe_reports.site.pages.incidents import ListedIncident, incidents_table, listed_incidents
from aoe_reports.site.pages.triage import OPEN, Group, Tone, grouped, tone_of
from aoe_reports.site.places import file_name, model_file
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts

SHOWN_NAMES, SHOWN_MODELS, LONGEST_NAME = 6, 200, 40
"""Models that the headline names of each kind, those that are listed without a card, and characters of a name in the headline."""
SHOWN_RUNS, SHOWN_FINDINGS, SHOWN_DATES, SHOWN_PAST = 30, 30, 5, 10


class _Words(NamedTuple):
    title: str
    about: str


_GROUPS: Mapping[Group, _Words] = N_(
    {
        "new": _Words("New", ""),
        "ongoing": _Words("Ongoing", ""),
        "suspect": _Words(
            "Suspected", "The newest one or two nights are outliers: run the night again before you investigate."
        ),
        "acknowledged": _Words("Acknowledged", "Slower, and acknowledged."),
        "recovered": _Words("Recovered", "Back at the previous level. No action is needed."),
        "improved": _Words("Improved", "Faster. Check whether the workload is still the same."),
    }
)
_OPEN = "open"
"""The section of incidents that are new or ongoing."""


def overview(facts: StoreFacts, text: Texts) -> Content:
    """The first page, and its JSON."""
    groups, models = grouped(facts), facts_by_model(facts)
    incidents = listed_incidents(facts_of_all(facts), facts.nights, text)
    shown, listed = model_cards(facts, models, text) if facts.nights else ([], [])
    said, more = _headline(facts, [*shown, *listed], text)
    newest = facts.nights[-1] if facts.nights else None
    tonight = [run for run in facts.runs if run.night == newest]
    findings = [*facts.findings, *chain.from_iterable(run.findings for run in tonight)]
    watched = set(facts.nights[-facts.watched_nights :])
    odd = [run for run in reversed(facts.runs) if run.night in watched and run.status in {"incomplete", "damaged"}]
    page = {
        "title": text("Overview"),
        "headline": said,
        "more": more,
        "night": newest or "",
        "tiles": _tiles(incidents, text) if facts.nights else [],
        "cards": shown,
        "others": _others_table(listed, text),
        "legend": _legend(text),
        "incidents": list(_incident_tables(incidents, text)),
        "tunings": _tunings(facts, models, text),
        "health": list(_health(facts, models, tonight, text)),
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
        "models": [
            {"model": card.model, "state": card.state, "change": card.change, "cause": card.cause}
            for card in (*shown, *listed)
        ],
        "suspicions": [as_mapping(suspicion) for suspicion in facts.suspicions],
        "past_nights": [as_mapping(night) for night in facts.past_nights],
        "missing": facts.missing,
        "budget": facts.budget,
        "findings": [finding.as_dict() for finding in facts.findings],
        "nights": len(facts.nights),
        "newest_night": newest,
        "groups": {group: [member.id for member in members] for group, members in groups.items()},
    }


@dataclass(frozen=True, slots=True)
class _Tile:
    """A number of incidents, and the section that lists them."""

    kind: str
    """The class of its colour."""
    title: str
    count: int
    section: str


def _tiles(incidents: Mapping[Group, Sequence[ListedIncident]], text: Texts) -> list[_Tile]:
    """The incidents of each group, those that are open and too small to matter apart; no tile where nothing was acknowledged."""
    tiles = []
    for group, rows in incidents.items():
        count = sum(not is_small(row.effect) for row in rows) if group in OPEN else len(rows)
        if count or group != "acknowledged":
            tiles.append(_Tile(group, text(_GROUPS[group].title), count, _OPEN if group in OPEN else group))
    minor = sum(is_small(row.effect) for group in OPEN for row in incidents[group])
    if minor:
        tiles.insert(len(OPEN), _Tile(MINOR, text("Minor"), minor, _OPEN))
    return tiles


def _incident_tables(incidents: Mapping[Group, Sequence[ListedIncident]], text: Texts) -> Iterator[tuple[str, Table]]:
    """(section, table) of what is open, and of each other group."""
    opened = sorted((row for key in OPEN for row in incidents[key]), key=lambda row: by_effect(row.effect))
    about = text(
        "What changed together is one incident; the largest effect on the step first. Grey: less than {floor} of the step, "
        "by which a step scatters from night to night.",
        floor=show(MIN_STEP_SHARE, "percent"),
    )
    if opened:
        yield _OPEN, incidents_table(opened, text, title=text("Open incidents"), about=about)
    for key, rows in incidents.items():
        if rows and key not in OPEN:
            words = _GROUPS[key]
            yield key, incidents_table(rows, text, title=text(words.title), about=text(words.about))


def _legend(text: Texts) -> list[tuple[str, str]]:
    """(class, what it is) of the marks in the charts of cards."""
    return [
        ("plot", text("step time")), ("level", text("level")), ("band", text("95% range of normal nights")),
        ("mark", text("level shift")), ("version", text("new version")), ("odd-night", text("single night that differed")),
    ]  # fmt: skip


def _others_table(cards: Sequence[Card], text: Texts) -> Table:
    """Models without a card: what did not change, is accepted, or is too little to matter."""
    columns = [
        (text("Model"), "text"), (text("History"), "text"), (text("Step time"), "text"), (text("State"), "text"),
        (text("Remarks"), "text"),
    ]  # fmt: skip
    rows = [
        [
            head(card.name, card.page),
            drawn(card.chart),
            cell(text.joined(" · ", card.about)),
            stated(card.state, card.word, card.effect),
            cell(text.joined("; ", [part for part in (card.cause, *card.notes) if part])),
        ]
        for card in cards[:SHOWN_MODELS]
    ]
    about = about_first("", SHOWN_MODELS, len(cards), text)
    return Table(columns, rows, about, text("Other models"), stacks=True)


def _tunings(facts: StoreFacts, models: Mapping[str, ModelFacts], text: Texts) -> Table:
    """The newest tuning of each model that has one."""
    newest = {name: [run for run in model.runs if run.is_tuning][-1:] for name, model in models.items()}
    rows = [
        [head(name, f"{model_file(name)}.html"), _aoe(name, run, facts, text)]
        for name, tunings in newest.items()
        for run in tunings
    ]
    return Table([(text("Model"), "text"), (text("Tuning (AOE)"), "text")], rows)


Sentences = Sequence[tuple[Tone, str]]
"""Sentences with their tones."""


def _headline(facts: StoreFacts, cards: Sequence[Card], text: Texts) -> tuple[Sentences, str]:
    """(how many models are slower and which, what was not measured)."""
    if not facts.nights:
        store_first = text("Store a first night: aoe-reports ingest PATH --store {store}", store="URI")
        return [("calm", text.translated(headline(Night(night=None))))], store_first
    absent = [*facts.missing, *facts.absent]
    unmeasured = text("Not measured: {models}.", models=text.translated(models_in_words(absent))) if absent else ""
    if facts.remark is not None or not any(card.chart for card in cards):
        sentence = night_headline(facts.regressions, suspicions=facts.suspicions, remark=facts.remark)
        return [(tone_of(facts.regressions), plain(text.translated(sentence)))], unmeasured
    return list(_models_sentences(cards, text)), unmeasured


def _models_sentences(cards: Sequence[Card], text: Texts) -> Iterator[tuple[Tone, str]]:
    of_tone = {tone: [card for card in cards if card.tone == tone] for tone in ("bad", "odd", "good")}
    worse = of_tone["bad"]
    if worse:
        values = {"count": len(worse), "models": len(cards), "named": _named_with_change(worse, text)}
        if any(card.is_metric for card in worse):
            yield "bad", text("{count} of {models} models worse: {named}.", **values)
        else:
            yield "bad", text("{count} of {models} models slower: {named}.", **values)
    elif any(card.state == "acknowledged" for card in cards):
        yield "calm", text("No model is slower but for what is acknowledged.")
    else:
        yield "calm", text("No model is slower.")
    if of_tone["odd"]:
        yield "odd", text("Suspected: {models}.", models=_named_with_change(of_tone["odd"], text))
    if of_tone["good"]:
        yield "good", text("Improved: {models}.", models=_named_with_change(of_tone["good"], text))
    if worse and (same := [card for card in cards if card.change is None or card.state == MINOR]):
        yield "calm", text("Unchanged: {models}.", models=_named_with_change(same, text))


def _cut(name: str) -> str:
    """A name as the headline prints it, cut at its end."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _named_with_change(cards: Sequence[Card], text: Texts) -> str:
    named = [f"{_cut(card.name)} {card.effect}".rstrip() for card in cards[:SHOWN_NAMES]]
    if len(cards) > SHOWN_NAMES:
        named.append(text("and {count} more", count=len(cards) - SHOWN_NAMES))
    return text.joined(", ", named)


def _judged(facts: StoreFacts, text: Texts) -> Iterator[str]:
    """How many series were judged, and how often they may raise a false alarm."""
    budget = facts.budget
    yield text(
        "Series judged: {part} of {whole}; together they may raise {number} false alarms a year.",
        part=show(budget.eligible, "integer"),
        whole=show(budget.series, "integer"),
        number=f"{budget.false_alarms_per_year:g}",
    )


def _aoe(model: str, last: RunFacts, facts: StoreFacts, text: Texts) -> str:
    """The newest tuning of a model: what it claims, and what was measured."""
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


def _health(
    facts: StoreFacts, models: Mapping[str, ModelFacts], tonight: Sequence[RunFacts], text: Texts
) -> Iterator[str]:
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
    gaps = [line for name, model in models.items() for line in _gaps(name, model, watched, text)]
    yield from gaps or [text("Every model ran every night.")]
    yield from _judged(facts, text)
    past = facts.past_nights[::-1]
    yield from (text.translated(past_night_in_words(one)) for one in past[:SHOWN_PAST])
    if len(past) > SHOWN_PAST:
        yield text("and {count} more", count=len(past) - SHOWN_PAST)


def _gaps(name: str, model: ModelFacts, watched: Sequence[str], text: Texts) -> Iterator[str]:
    """Dates without a profile of a model, where it runs every night or nearly; and models that stopped."""
    last = model.last_night(watched)
    if last is None:
        return
    if last < watched[-1]:
        yield text("{model}: no run since {night}.", model=short(name), night=last)
    measured, known = {run.night for run in model.runs if not run.is_tuning}, frozenset(watched)
    ran = measured & known
    dates = list(_dates(min(ran), last))
    missing = [day for day in dates if day not in ran]
    if missing and 2 * len(missing) < len(dates):
        yield text(
            "{model}: {missing} of the last {dates} dates have no run ({which}).",
            model=short(name),
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
    return Table(columns, rows, about, stacks=True)


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
