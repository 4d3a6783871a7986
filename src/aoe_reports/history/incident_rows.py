"""A row an incident: what moved together, named by the step or the operator with the largest impact."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aoe_reports.history.causes import explain
from aoe_reports.history.examination import Examination
from aoe_reports.history.incidents import Incident, SeriesShift, nights_around
from aoe_reports.history.series import SeriesLabels
from aoe_reports.model.causes import causes_in_words, operator_words, part_words, rank_words, series_name
from aoe_reports.model.changes import LOCATED, METRIC, NOTICED, IncidentCause, IncidentChange, IncidentMember
from aoe_reports.model.metrics import value_change, value_of
from aoe_reports.model.texts import Text, say

_OF_MEMBER = (
    "series_id", "model", "workload", "scope", "op_type", "op_name", "rank_id", "metric", "unit", "better",
)  # fmt: skip


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
    shifts = {examined.places[one.series]: one.shift for one in incident.members}
    ends = nights_around(examined.incidents, incident)
    explained = explain(examined, shifts, {one.group for one in incident.members}, incident.place, ends)
    models, causes = explained.models, explained.rows()
    members = [_member(examined, one) for one in incident.members]
    return IncidentChange(
        incident=incident.id,
        title=_title(lead, causes, models),
        since=incident.since,
        since_run=incident.since_run,
        since_now=incident.since_now if incident.since_now != incident.since else None,
        model=lead.labels.model if len(models) == 1 else None,
        models=models,
        hardware=lead.labels.hardware,
        change=value_change(lead.shift.change, lead.labels.better),
        better=lead.labels.better,
        impact_ms=lead.impact_ms,
        open=any(member.open for member in members),
        new=2 * sum(_is_new(examined, one) for one in incident.members) > len(members),
        metadata=examined.surroundings.told(incident.id),
        causes=causes,
        members=members,
    )


def _is_new(examined: Examination, one: SeriesShift) -> bool:
    """Whether a change was not told before the newest night; that of a series that did not run on it was."""
    nights, series = examined.judged.histories.nights, examined.judged_series[examined.places[one.series]]
    return one.shift.found is None or one.shift.found == series.last_night() == nights[-1]


def _member(examined: Examination, one: SeriesShift) -> IncidentMember:
    index, shift = examined.places[one.series], one.shift
    active = examined.active_changes[index]
    told = any(each.since == shift.since for each in active.shifts)
    return IncidentMember(
        **{name: getattr(one.labels, name) for name in _OF_MEMBER},
        state=shift.state,
        since=shift.since,
        before=value_of(shift.before, one.labels.better),
        after=value_of(shift.after, one.labels.better),
        change=value_change(shift.change, one.labels.better),
        impact_ms=one.impact_ms,
        open=told and active.open and not examined.has_ended(index),
    )


def _title(lead: SeriesShift, causes: Sequence[IncidentCause], models: Sequence[str]) -> Text:
    """The step if it moved, else the operator with the largest impact, and what caused it, in words."""
    labels = lead.labels
    named = say("{what} {change:+.1%}", what=_subject(labels), change=value_change(lead.shift.change, labels.better))
    if not causes:
        return named if labels.scope in NOTICED | LOCATED else say("{model}: {what}", model=labels.model, what=named)
    if labels.scope not in NOTICED | LOCATED:
        return causes_in_words(causes, models)
    return say(
        "{incident}: {causes}", incident=named, causes=causes_in_words(causes, models, labels.model, of_step=True)
    )


def _subject(labels: SeriesLabels) -> Text:
    if labels.scope == METRIC:
        return say("{name}{rank}", name=series_name(labels), rank=rank_words(labels.rank_id))
    if (part := part_words(labels.scope, labels.workload, labels.rank_id)) is not None:
        return part
    if labels.op_name or labels.scope == "op_type":
        return operator_words(labels.op_type, labels.op_name, labels.rank_id)
    rank = rank_words(labels.rank_id)
    if labels.scope == "step":
        return say("step of {model}{rank}", model=labels.model, rank=rank)
    return say("{name}{rank}", name=labels.workload, rank=rank)
