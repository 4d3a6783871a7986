"""The incidents on the first page: what changed together, since when, what else changed there, and how its series went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.history.causes import facts_in_words, models_in_words
from aoe_reports.model.history.changes import IncidentChange, IncidentMember, SuspectedCause
from aoe_reports.present.drawings.charts import sparkline
from aoe_reports.present.reports.incidents import worst_first
from aoe_reports.present.reports.series_cells import value_words
from aoe_reports.site.cells import Table, about_first, cell, changed, drawn, head, linked, sentence, short, stated
from aoe_reports.site.places import file_name
from aoe_reports.site.texts import Texts

SHOWN = 25
SPARK_NIGHTS = 60


def incidents_table(facts: StoreFacts, text: Texts, *, model: str | None = None, root: str = "") -> Table:
    """A row an incident that is open or new, the worst first; behind them what is only suspected, by its cause.

    Those of one `model` only, where it is named; `root` is the folder of the site, seen from the page.
    """
    every = [incident for incident in facts.incidents.values() if model is None or model in incident.models]
    shown = worst_first(one for one in every if one.open or one.new)
    shown.sort(key=lambda one: not any(member.open for member in _members(one, model)))
    series = {one.id: one for one in facts.series}
    rows = [_incident(one, _members(one, model), series, text, root) for one in shown]
    rows += _suspected(
        (suspicion for suspicion in facts.suspicions if model is None or model in suspicion.models), text
    )
    about = text("What changed together, by its cause; the link leads to the series that names it.")
    columns = [
        (text("Incident"), "text"), (text("History"), "text"), (text("Change"), "number"), (text("Since"), "text"),
        (text("Series"), "number"), (text("State"), "text"), (text("Changed with it"), "text"),
    ]  # fmt: skip
    return Table(columns, rows[:SHOWN], about_first(about, SHOWN, len(rows), text), text("Incidents"), stacks=True)


def _members(incident: IncidentChange, model: str | None) -> Sequence[IncidentMember]:
    """The members of an incident that are of a model; all without one."""
    return [member for member in incident.members if model is None or member.model == model]


def _incident(
    incident: IncidentChange,
    members: Sequence[IncidentMember],
    series: Mapping[str, SeriesFacts],
    text: Texts,
    root: str,
) -> list[str]:
    lead, run = members[0], incident.since_run
    return [
        head(text.translated(incident.title), f"{root}series/{file_name(lead.series_id)}.html", incident.incident),
        drawn(spark(series[lead.series_id], text)),
        changed(lead.change, better=lead.better),
        linked(incident.since, f"{root}runs/{file_name(run)}.html" if run else None),
        cell(len(members), "integer"),
        _state(incident, members, series, text),
        sentence(_facts(incident, text)),
    ]


def _state(
    incident: IncidentChange, members: Sequence[IncidentMember], series: Mapping[str, SeriesFacts], text: Texts
) -> str:
    """Whether it is open; where it is so in other models alone, in which, and since when it is not in this one."""
    if any(member.open for member in members):
        return stated("confirmed", text("open"))
    if not incident.open:
        return stated("recovered", text("closed"))
    others = text.translated(models_in_words(sorted({member.model for member in incident.members if member.open})))
    rows = [series[member.series_id].row for member in members]
    quicker = [row.since for row in rows if row.state in {"recovered", "improved"} and row.since is not None]
    if not quicker:
        return stated("recovered", text("closed"), text("here; open in {models}", models=others))
    since = text("here since {since}; open in {models}", since=max(quicker), models=others)
    return stated("recovered", text.word("recovered"), since)


def _suspected(suspicions: Iterable[SuspectedCause], text: Texts) -> Iterator[list[str]]:
    for suspicion in suspicions:
        yield [
            head(text.translated(suspicion.title), None, text("not in the newest night") if suspicion.past else None),
            cell(None),
            changed(suspicion.cause.change),
            cell(suspicion.since),
            cell(len(suspicion.series), "integer"),
            stated("suspect", text.word("suspect")),
            sentence(_facts(suspicion, text)),
        ]


def _facts(change: IncidentChange | SuspectedCause, text: Texts) -> str:
    return text.translated(facts_in_words(fact for fact in change.metadata if fact.seen != "later"))


def spark(series: SeriesFacts, text: Texts) -> Markup:
    """The newest nights of a series as a small line, its last change marked."""
    values = series.values[-SPARK_NIGHTS:].tolist()
    offset = len(series.nights) - len(values)
    mark = next((shift.start - offset for shift in reversed(series.shifts) if shift.start >= offset), None)
    levels = {"low": min(values), "high": max(values), "now": values[-1]}
    said = text(
        "{what}: {count} nights up to {night}, between {low} and {high}, now {now}",
        what=short(text.series(series.row)),
        count=len(values),
        night=series.nights[-1],
        **{name: text.translated(value_words(value, series.row.unit)) for name, value in levels.items()},
    )
    return sparkline(values, mark, said)
