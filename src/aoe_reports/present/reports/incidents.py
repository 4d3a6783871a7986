"""Incidents as sections: what moved on one night, the largest impact first, who accepted it, what else changed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aoe_reports.model.history.causes import facts_in_words, models_in_words, series_name
from aoe_reports.model.history.changes import (
    NOTICED,
    IncidentChange,
    IncidentMember,
    SeriesChange,
    SuspectedCause,
    by_effect,
    is_small,
)
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.report import Section
from aoe_reports.model.rows import column, row, row_from
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import N_, count_of, join, say
from aoe_reports.present.answers import grid_of
from aoe_reports.present.reports.series_cells import series_grid

SHOWN_MEMBERS = 10
DETAILED = 3
"""Incidents whose series are listed."""
SHOWN_SUSPICIONS = 10
SHOWN_INCIDENTS = 10

Member = SeriesChange | IncidentMember
"""A member of an incident, or the row of its series."""

_OF_NO_MEMBER = frozenset({"smallest_detectable", "nights", "reason"})
"""What is said of series, and not of members of an incident."""


@row
class _SuspectedLine:
    title: str = column("Item", "sentence")
    since: str = column("Since")
    hardware: str | None = column("Hardware")
    count: int = column("Series", "integer")
    newest: str = column("In the newest night")


def is_slower(row: SeriesChange) -> bool:
    """Whether a series has a proven slow-down."""
    return row.state in {"confirmed", "drift"} and loss(row.change or 0.0, row.better) > 0


def is_open(row: SeriesChange) -> bool:
    """Whether a series has a slow-down that nobody accepted, and is still measured."""
    return is_slower(row) and row.acknowledged is None and not row.ended


def is_suspected(row: SeriesChange) -> bool:
    """Whether the newest nights of a series may show a slow-down."""
    return row.state == "suspect" and loss(row.change or 0.0, row.better) > 0


def matters(row: SeriesChange) -> bool:
    """Whether a change is one of what a user notices, or not known to be a minor part of a step."""
    return row.scope in NOTICED or not is_small(row.step_share)


def worst_first(incidents: Iterable[IncidentChange]) -> list[IncidentChange]:
    """Incidents in the order of a report: open first, then new, then by effect on the step.

    What is known to cost a step little follows, however new it is.
    """

    def order(change: IncidentChange) -> tuple[Any, ...]:
        is_minor, *effect = by_effect(effect_of(change))
        return not change.open, is_minor, not change.new, effect

    return sorted(incidents, key=order)


def effect_of(incident: IncidentChange, model: str | None = None) -> float | None:
    """What an incident adds to a step, or saves of it, as a share of it: the change of the step that it is named after, else by its causes.

    Of one `model`, where it is named; None where nobody knows it.
    """
    lead = next((member for member in incident.members if model in {None, member.model}), incident.members[0])
    if lead.scope in NOTICED:
        return incident.change if lead is incident.members[0] else lead.change
    causes = [cause for cause in incident.causes if model is None or cause.model in {None, model}]
    return max((cause.step_share for cause in causes if cause.step_share is not None), key=abs, default=None)


def incident_sections(incidents: Sequence[IncidentChange], rows: Sequence[SeriesChange]) -> list[Section]:
    """One section an incident, the worst first, its members under it: as their rows say where the incident is where those begin."""
    by_series = {row.series_id: row for row in rows}
    sections = []
    ordered = worst_first(incidents)
    for number, incident in enumerate(ordered[:SHOWN_INCIDENTS]):
        members = [_member(member, by_series.get(member.series_id), incident.incident) for member in incident.members]
        sentences = [_where(incident), *_words(members)]
        for seen, words in _RECORDED.items():
            if facts := [one for one in incident.metadata if one.seen in seen]:
                sentences.append(say(words, facts=facts_in_words(facts)))
        if incident.since_now is not None:
            known = {"since": incident.since, "now": incident.since_now}
            sentences.append(say("First recorded as starting on {since}; the current data gives {now}.", **known))
        if number >= DETAILED:
            sentences.append(say("The JSON output lists its series."))
        elif len(members) > SHOWN_MEMBERS:
            sentences.append(
                say(
                    "The first {shown} of {count} series are listed; the JSON output contains all.",
                    shown=SHOWN_MEMBERS,
                    count=len(members),
                )
            )
        shown = members[:SHOWN_MEMBERS]
        grid = series_grid(SeriesChange, shown, shown, _OF_NO_MEMBER) if number < DETAILED else None
        title = say("{since}: {title}", since=incident.since, title=incident.title)
        sections.append(Section(title, sentences, grid))
    if len(ordered) > SHOWN_INCIDENTS:
        count = len(ordered) - SHOWN_INCIDENTS
        sections.append(Section("", [say("{count} more incidents: `--format json` lists all of them.", count=count)]))
    return sections


def apart_of(rows: Iterable[SeriesChange], suspicions: Iterable[SuspectedCause]) -> list[SeriesChange]:
    """The rows that belong to no incident, and that no cause of suspicions explains."""
    explained = {series for suspicion in suspicions for series in suspicion.series}
    return [row for row in rows if row.incident is None and row.series_id not in explained]


def suspicions_section(suspicions: Sequence[SuspectedCause]) -> Section:
    """One line a cause of what is suspected, instead of one a series."""
    said = [
        say(
            "The newest nights show this in several series each; more nights prove it, or clear it: run the night again."
        )
    ]
    if len(suspicions) > SHOWN_SUSPICIONS:
        said.append(say("The first {shown} of {count} are listed.", shown=SHOWN_SUSPICIONS, count=len(suspicions)))
    shown = [
        row_from(
            _SuspectedLine, suspicion, count=len(suspicion.series), newest=say("no longer" if suspicion.past else "yes")
        )
        for suspicion in suspicions[:SHOWN_SUSPICIONS]
    ]
    return Section("Suspected", said, grid_of(_SuspectedLine, shown))


def _member(member: IncidentMember, row: SeriesChange | None, incident: str) -> Member:
    """The row of the series where it begins with this incident (its baseline is frozen), else the member."""
    return row if row is not None and row.incident == incident else member


def _where(incident: IncidentChange) -> str:
    return say(
        "Incident {incident} ({model} on {hardware}{run}): {series}. {state}",
        incident=incident.incident,
        model=models_in_words(incident.models),
        hardware=incident.hardware,
        run=say(", run {run}", run=incident.since_run) if incident.since_run else "",
        series=count_of(len(incident.members), "{number} series", "{number} series"),
        state=_state(incident),
    )


def _state(incident: IncidentChange) -> str:
    """Open or closed; where only some of its series are open, how many."""
    count = sum(member.open for member in incident.members)
    if 0 < count < len(incident.members):
        return count_of(count, "{number} of them is open.", "{number} of them are open.")
    return say("Open." if incident.open else "Closed.")


def _words(members: Sequence[Member]) -> Iterator[str]:
    """Who accepted which change, and which series are compared with an earlier baseline; equal sentences once."""
    said: dict[str, None] = {}  # equal in English is equal in every language
    for member in members:
        if isinstance(member, IncidentMember):
            continue
        accepted = member.acknowledged
        if accepted is not None:
            words = say(
                "Acknowledged {when} by {who}: {reason}"
                if accepted.kind == "ack"
                else "Expected, announced {when} by {who}: {reason}",
                when=accepted.when,
                who=accepted.who or say("unnamed user"),
                reason=accepted.reason,
            )
            said[words] = None
        if len(member.moves) > 1:
            words = say(
                "{workload} is compared with the level before the first of its changes: {steps}.",
                workload=series_name(member),
                steps=join(", ", (f"{signed_percent(move.change)} {move.since}" for move in member.moves)),
            )
            said[words] = None
        if member.ended:
            words = say(
                "{workload} (series {series}) has not been measured since {night}.",
                workload=series_name(member),
                series=member.series_id,
                night=member.last_night,
            )
            said[words] = None
    yield from said


_RECORDED = N_(
    {
        ("first", "first-only"): "Other changes at that point: {facts}.",
        ("first-only",): "First recorded, but not in the current data: {facts}.",
        ("later",): "Found after the first record: {facts}.",
    }
)
"""What is said of facts that changed, by when they were seen: what was recorded first stays the answer."""
