"""Incidents: what changed together, by effect on the step, with its series folded in; what is suspected, accepted, past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from aoe_reports.history.site_facts import SeriesFacts
from aoe_reports.model.history.causes import causes_in_words, count_ranks, facts_in_words, models_in_words
from aoe_reports.model.history.changes import (
    METRICS,
    NOTICED,
    IncidentCause,
    IncidentChange,
    IncidentMember,
    SeriesChange,
    SuspectedCause,
    by_effect,
    is_small,
)
from aoe_reports.model.texts import say
from aoe_reports.present.drawings.charts import code_of, sparkline
from aoe_reports.present.night import largest_part
from aoe_reports.present.reports.incidents import effect_of
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.reports.series_cells import value_words
from aoe_reports.present.values import show
from aoe_reports.site.cells import MINOR, Table, about_first, changed, drawn, linked, named, short, stated
from aoe_reports.site.pages.by_model import ModelFacts
from aoe_reports.site.pages.triage import GROUPS, SUSPECT, Group, group_of, group_of_incident, step_effect
from aoe_reports.site.places import file_name, series_link
from aoe_reports.site.texts import Texts

SHOWN = 25
"""Incidents of a group; the JSON of the first page has all."""
SHOWN_SERIES = 12
"""Series folded into an incident."""
SPARK_NIGHTS = 60
_CLASSES: Mapping[Group, str] = {"new": "confirmed", "ongoing": "confirmed"}
"""The classes of marks that are not called as their group."""


@dataclass(frozen=True, slots=True)
class ListedIncident:
    """What changed together, or is suspected to: a row of the first page."""

    group: Group
    title: str
    since: str | None
    effect: float | None
    """On the step, as a share of it, or of a metric its change; None where nobody knows it."""
    series: Sequence[SeriesFacts]
    """That which names it first."""
    id: str | None = None
    since_run: str | None = None
    state: str = ""
    """What else is to be said of its state."""
    changed_with: str = ""
    causes: Sequence[IncidentCause] = ()

    @property
    def lead(self) -> SeriesFacts:
        """The series that names it."""
        return self.series[0]


def listed_incidents(
    known: ModelFacts, nights: Sequence[str], text: Texts, model: str | None = None
) -> dict[Group, list[ListedIncident]]:
    """What changed together, by group, the largest effect on the step first; `nights` are all of the store, `model` is that of `known`."""
    by_id = {series.id: series for series in known.series}
    rows = [
        row for incident in known.incidents if (row := _of_incident(incident, by_id, nights, text, model)) is not None
    ]
    rows += [row for suspicion in known.suspicions if (row := _of_suspicion(suspicion, by_id, text)) is not None]
    within = {series.id for row in rows for series in row.series}
    rows += [
        _alone(series, group, text)
        for series in known.series
        if series.id not in within and (group := group_of(series.row, nights)) is not None
    ]
    rows.sort(key=_order)
    groups: dict[Group, list[ListedIncident]] = {group: [] for group in GROUPS}
    for row in rows:
        groups[row.group].append(row)
    return groups


def _order(row: ListedIncident) -> tuple[object, ...]:
    return by_effect(row.effect), row.since or "", row.title


def _of_incident(
    incident: IncidentChange, by_id: Mapping[str, SeriesFacts], nights: Sequence[str], text: Texts, model: str | None
) -> ListedIncident | None:
    members = [member for member in incident.members if member.series_id in by_id]
    series = [by_id[member.series_id] for member in members]
    is_open = any(member.open for member in members)
    group = group_of_incident(incident, series, nights, is_open=is_open)
    if group is None and incident.open and members:
        group = "recovered"
    if group is None:
        return None
    return ListedIncident(
        group=group,
        title=text.translated(incident.title),
        since=incident.since,
        effect=effect_of(incident) if model is None or len(incident.models) == 1 else _effect_here(series),
        series=series,
        id=incident.incident,
        since_run=incident.since_run,
        state="" if is_open or not incident.open else _here_alone(incident, members, by_id, text),
        changed_with=_changed_with(incident, text),
        causes=incident.causes,
    )


def _effect_here(series: Sequence[SeriesFacts]) -> float | None:
    """The effect on the step of one of several models: the change of its step, else what the series of it that adds most does."""
    if series[0].row.scope in NOTICED:
        return series[0].row.change
    return max((one.row.step_share for one in series if one.row.step_share is not None), key=abs, default=None)


def _here_alone(
    incident: IncidentChange, members: Sequence[IncidentMember], series: Mapping[str, SeriesFacts], text: Texts
) -> str:
    """Of what is open in other models alone: in which, and since when it is not in this one."""
    others = text.translated(models_in_words(sorted({member.model for member in incident.members if member.open})))
    rows = [series[member.series_id].row for member in members]
    quicker = [row.since for row in rows if row.state in {"recovered", "improved"} and row.since is not None]
    if not quicker:
        return text("here; open in {models}", models=others)
    return text("here since {since}; open in {models}", since=max(quicker), models=others)


def _of_suspicion(suspicion: SuspectedCause, by_id: Mapping[str, SeriesFacts], text: Texts) -> ListedIncident | None:
    series = [by_id[series_id] for series_id in suspicion.series if series_id in by_id]
    if not series:
        return None
    series.sort(key=lambda one: (one.row.scope != "step", by_effect(step_effect(one.row)), one.id))
    whole = series[0].row
    return ListedIncident(
        group="suspect",
        title=text.translated(_suspected_title(suspicion, series[0].model, [one.row for one in series])),
        since=suspicion.since,
        effect=whole.change if whole.scope == "step" else suspicion.cause.step_share,
        series=series,
        state=text("not in the newest night") if suspicion.past else "",
        changed_with=_changed_with(suspicion, text),
        causes=[suspicion.cause],
    )


def _suspected_title(suspicion: SuspectedCause, model: str, rows: Sequence[SeriesChange]) -> str:
    """What a suspicion is called: after the step that it changes, the first row, as an incident is; without one by its cause."""
    lead = rows[0]
    if lead.scope != "step" or lead.change is None:
        return suspicion.title
    return say(
        "{incident}: {causes}",
        incident=say(
            "{what} {change}", what=subject_words(lead, count_ranks(lead, rows)), change=show(lead.change, "change")
        ),
        causes=causes_in_words([suspicion.cause], suspicion.models, model, of_step=True),
    )


def _alone(series: SeriesFacts, group: Group, text: Texts) -> ListedIncident:
    row = series.row
    return ListedIncident(
        group=group,
        title=text.translated(subject_words(row)),
        since=row.since,
        effect=step_effect(row),
        series=[series],
        since_run=row.since_run,
    )


def _changed_with(change: IncidentChange | SuspectedCause, text: Texts) -> str:
    return text.translated(facts_in_words(fact for fact in change.metadata if fact.seen != "later"))


def incidents_table(rows: Sequence[ListedIncident], text: Texts, *, title: str, about: str, root: str = "") -> Table:
    """A row an incident, its series folded in; `root` is the folder of the site, seen from the page."""
    columns = [
        (text("Effect on step"), "number"), (text("Incident"), "text"), (text("History"), "text"),
        (text("Since"), "text"), (text("State"), "text"),
    ]  # fmt: skip
    cells = [_cells(row, text, root) for row in rows[:SHOWN]]
    return Table(columns, cells, about_first(about, SHOWN, len(rows), text), title, stacks=True)


def _cells(row: ListedIncident, text: Texts, root: str) -> list[str]:
    is_faint = is_small(row.effect) and row.group in {"new", "ongoing", "suspect"}
    return [
        _effect(row, text),
        _name_cell(row, text, root),
        drawn(spark(row.lead, text)),
        linked(row.since, f"{root}runs/{file_name(row.since_run)}.html" if row.since_run else None),
        stated(MINOR if is_faint else _CLASSES.get(row.group, row.group), group_word(row.group, text), row.state),
    ]


def group_word(group: Group, text: Texts) -> str:
    """The group of an incident in a word."""
    if group == "new":
        return text.sense("incident", "new")
    return text.sense("incident", "ongoing") if group == "ongoing" else text.word(group)


def _effect(row: ListedIncident, text: Texts) -> str:
    lead = row.lead.row
    if row.effect is None:
        return changed(lead.change, text("share of the step unknown"), lead.better, look=MINOR)
    small = text("less than the floor") if is_small(row.effect) else None
    of = lead.metric if lead.scope in METRICS else small
    look = MINOR if is_small(row.effect) else SUSPECT if row.group == "suspect" else ""
    return changed(row.effect, of, lead.better if lead.scope in METRICS else "lower", look=look)


def _name_cell(row: ListedIncident, text: Texts, root: str) -> str:
    """What an incident is called, the shapes of its operator, what changed with it, and its series."""
    parts = [_series_line(series, text, root) for series in row.series[:SHOWN_SERIES]]
    if len(row.series) > SHOWN_SERIES:
        parts.append((text("and {count} more", count=len(row.series) - SHOWN_SERIES), None, ""))
    count = text("{count} series", count=len(row.series)) if len(row.series) > 1 else text("1 series")
    notes = ["" if row.causes else largest_part_of(row.lead, text), shapes_of(row, text), row.changed_with]
    return named(row.title, series_link(row.lead, root), notes, f"{count} · {row.id}" if row.id else count, parts)


def _series_line(series: SeriesFacts, text: Texts, root: str) -> tuple[str, str | None, str]:
    """The name of a series, its page, and how it changed."""
    row = series.row
    levels = " → ".join(
        text.translated(value_words(value, row.unit)) for value in (row.before, row.after) if value is not None
    )
    place = text.place(row.rank_id, None)
    return (
        short(text.series(row)),
        series_link(series, root),
        " · ".join(part for part in (show(row.change, "change"), levels, place) if part),
    )


def shapes_of(row: ListedIncident, text: Texts) -> str:
    """The input shapes of the operator that an incident is about, where it is about one."""
    named = {cause.op_name for cause in row.causes[:1]} if row.causes else {row.lead.row.op_name}
    for series in row.series:
        if series.input_shapes and series.row.op_name in named:
            return text("input shapes {shapes}", shapes=series.input_shapes)
    return ""


def largest_part_of(series: SeriesFacts, text: Texts) -> str:
    """The part of a step that changed most, where it is known."""
    part = largest_part(series.row)
    return "" if part is None else text.translated(part)


def spark_of(series: SeriesFacts) -> tuple[str, int]:
    """The newest nights of a series as the code of a small line, and the place of its last change among them; -1 for none."""
    offset = max(0, len(series.nights) - SPARK_NIGHTS)
    mark = next((shift.start - offset for shift in reversed(series.shifts) if shift.start >= offset), -1)
    return code_of(series.values[offset:]), mark


def spark(series: SeriesFacts, text: Texts) -> Markup:
    """This line, with its nights in words."""
    values = series.values[-SPARK_NIGHTS:].tolist()
    if not values:
        return Markup()
    levels = {"low": min(values), "high": max(values), "now": values[-1]}
    said = text(
        "{what}: {count} nights up to {night}, between {low} and {high}, now {now}",
        what=short(text.series(series.row)),
        count=len(values),
        night=series.nights[-1],
        **{name: text.translated(value_words(value, series.row.unit)) for name, value in levels.items()},
    )
    return sparkline(*spark_of(series), said)
