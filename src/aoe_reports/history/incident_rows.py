"""A row an incident: what moved together, named by the step or the operator with the largest impact."""

from __future__ import annotations

from collections.abc import Collection

from aoe_reports.history.examination import Examination
from aoe_reports.history.incidents import Incident, SeriesShift
from aoe_reports.model.changes import IncidentChange, IncidentMember
from aoe_reports.model.texts import Text, say


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
    return [_row(examined, incident) for incident in chosen]


def _shows_change(examined: Examination, index: int) -> bool:
    """Whether the row of a series is about a change, and not about a suspicion."""
    active = examined.active_changes[index]
    return active.state is not None and (active.open or examined.judged.verdicts[index].suspect is None)


def _row(examined: Examination, incident: Incident) -> IncidentChange:
    lead = incident.lead
    members = [_member(examined, one) for one in incident.members]
    return IncidentChange(
        incident=incident.id,
        title=_title(lead),
        since=incident.since,
        since_run=incident.since_run,
        since_now=incident.since_now if incident.since_now != incident.since else None,
        model=lead.labels.model,
        hardware=lead.labels.hardware,
        change=lead.shift.change,
        impact_ms=lead.impact_ms,
        open=any(member.open for member in members),
        metadata=examined.surroundings.told(incident.id),
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


def _title(lead: SeriesShift) -> Text:
    """The step if it moved, else the operator with the largest impact, in words."""
    labels = lead.labels
    kind = labels.op_type
    rank = say(", rank {rank}", rank=labels.rank_id) if labels.rank_id is not None else ""
    if labels.op_name:
        known = kind or say("type unknown")
        what = say("operator {name} ({kind}{rank})", name=labels.op_name, kind=known, rank=rank)
    elif labels.scope == "op_type":
        what = say("operator type {kind}{rank}", kind=kind, rank=rank)
    elif labels.scope == "step":
        what = say("step of {model}{rank}", model=labels.model, rank=rank)
    else:
        what = say("{name}{rank}", name=labels.workload, rank=rank)
    return say("{what} {change:+.1%}", what=what, change=lead.shift.change)
