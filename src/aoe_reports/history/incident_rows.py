"""A row an incident: what moved together, named by the step or the operator with the largest impact."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aoe_reports.history.causes import causes_of
from aoe_reports.history.examination import Examination
from aoe_reports.history.incidents import Incident, SeriesShift
from aoe_reports.history.series import SeriesLabels
from aoe_reports.model.causes import words_of_cause
from aoe_reports.model.changes import IncidentCause, IncidentChange, IncidentMember
from aoe_reports.model.texts import Text, count_of, join, say

TITLE_CAUSES = 3
"""So many causes are named in a title."""


def incident_rows(examined: Examination, shown: Collection[str]) -> list[IncidentChange]:
    """The incidents that rows shown belong to, with all their members."""
    if examined.chosen is not None or examined.selection.whole_history:
        return []
    indexes = [index for index in map(examined.places.__getitem__, shown) if _shows_change(examined, index)]
    wanted = {
        examined.incident_of(index, shift) for index in indexes for shift in examined.active_changes[index].shifts
    }
    chosen = [incident for incident in examined.incidents if incident.id in wanted]
    examined.surroundings.read(chosen)
    return [_row(examined, incident, causes_of(examined, incident, _ends(examined, incident))) for incident in chosen]


def _ends(examined: Examination, incident: Incident) -> tuple[int, int]:
    """The places of the incidents of the same workload before an incident and after it."""
    lead, nights = incident.lead, len(examined.judged.histories.nights)
    places = {one.lead.place for one in examined.incidents if one.lead.group == lead.group}
    before, after = ({place for place in places if (place > lead.place) is later} for later in (False, True))
    return max(before - {lead.place}, default=0), min(after, default=nights)


def _shows_change(examined: Examination, index: int) -> bool:
    """Whether the row of a series is about a change, and not about a suspicion."""
    active = examined.active_changes[index]
    return active.state is not None and (active.open or examined.judged.verdicts[index].suspect is None)


def _row(examined: Examination, incident: Incident, causes: Sequence[IncidentCause]) -> IncidentChange:
    lead = incident.lead
    members = [_member(examined, one) for one in incident.members]
    return IncidentChange(
        incident=incident.id,
        title=_title(lead, causes),
        since=incident.since,
        since_run=incident.since_run,
        since_now=incident.since_now if incident.since_now != incident.since else None,
        model=lead.labels.model,
        hardware=lead.labels.hardware,
        change=lead.shift.change,
        impact_ms=lead.impact_ms,
        open=any(member.open for member in members),
        metadata=examined.surroundings.told(incident.id),
        causes=causes,
        members=members,
    )


def _member(examined: Examination, one: SeriesShift) -> IncidentMember:
    index, shift = examined.places[one.series], one.shift
    active = examined.active_changes[index]
    told = any(each.since == shift.since for each in active.shifts)
    return IncidentMember(
        **{
            name: getattr(one.labels, name)
            for name in ("series_id", "workload", "scope", "op_type", "op_name", "rank_id")
        },
        state=shift.state,
        since=shift.since,
        before=shift.before,
        after=shift.after,
        change=shift.change,
        impact_ms=one.impact_ms,
        open=told and active.open and not examined.has_ended(index),
    )


def _title(lead: SeriesShift, causes: Sequence[IncidentCause]) -> Text:
    """The step if it moved, else the operator with the largest impact, and what caused it, in words."""
    labels = lead.labels
    subject = _subject(labels)
    named = say("{what} {change:+.1%}", what=subject, change=lead.shift.change)
    if not causes or (len(causes) == 1 and causes[0].kind == "operator" and causes[0].op_name == labels.op_name):
        return named
    words = join("; ", (words_of_cause(one) for one in causes[:TITLE_CAUSES]))
    more = len(causes) - TITLE_CAUSES
    if more > 0:
        words = say("{causes} and {others}", causes=words, others=count_of(more, "{number} more", "{number} more"))
    return say("{incident}: {causes}", incident=named, causes=words) if labels.scope in {"step", "model"} else words


def _subject(labels: SeriesLabels) -> Text:
    rank = say(", rank {rank}", rank=labels.rank_id) if labels.rank_id is not None else ""
    if labels.op_name:
        known = labels.op_type or say("type unknown")
        return say("operator {name} ({kind}{rank})", name=labels.op_name, kind=known, rank=rank)
    if labels.scope == "op_type":
        return say("operator type {kind}{rank}", kind=labels.op_type, rank=rank)
    if labels.scope == "step":
        return say("step of {model}{rank}", model=labels.model, rank=rank)
    return say("{name}{rank}", name=labels.workload, rank=rank)
