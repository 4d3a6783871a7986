"""The rows of what changed: one a series, against the level since the last accepted change or a chosen baseline, one an incident, one an observation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from aoe_reports.history.changes.causes import explain
from aoe_reports.history.changes.examination import Examination, examine
from aoe_reports.history.changes.incidents import Incident, SeriesShift, naming, nights_around
from aoe_reports.history.changes.peaks import attribute_peak
from aoe_reports.history.detection.verdicts import Change
from aoe_reports.history.options import HistoryOptions, RegressionOptions
from aoe_reports.history.rules import BASELINE_KNOWN_BAD
from aoe_reports.history.series.baselines import Acceptance, ActiveChange, JudgedSeries, Level, LevelShift
from aoe_reports.history.series.pinned import hold_against
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.causes import (
    causes_in_words,
    count_ranks,
    operator_words,
    part_words,
    rank_words,
    series_name,
)
from aoe_reports.model.history.changes import (
    LOCATED,
    MEMORY,
    METRICS,
    NOTICED,
    Acknowledged,
    BaselineLevel,
    IncidentCause,
    IncidentChange,
    IncidentMember,
    PeakAttribution,
    PinnedShift,
    SeriesChange,
    SeriesObservation,
    StepAttribution,
    Suspicion,
)
from aoe_reports.model.history.listings import ListedObservation
from aoe_reports.model.history.memory_words import memory_change_words, owners_in_words
from aoe_reports.model.history.metrics import loss, value_change, value_levels, value_of
from aoe_reports.model.rows import row_from
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import Text, say
from aoe_reports.store import History

_LABELS = (
    "series_id", "workload", "scope", "op_type", "op_name", "metric", "unit", "better", "hardware", "rank_id", "device_id",
)  # fmt: skip


def series_rows(examined: Examination) -> Iterator[tuple[int, SeriesChange]]:
    """(the number of a series, its row): one a series that is asked for, or one a change since the first night.

    Series that did not change have none, unless all are wanted or a baseline is held against each.
    """
    if examined.selection.whole_history:
        yield from ((index, row) for index, row in _rows_of_history(examined) if examined.is_asked(index))
    elif examined.chosen is not None:
        yield from ((index, _pinned_row(examined, index)) for index in examined.asked())
    else:
        for index in examined.asked():
            active, suspect = examined.active_changes[index], examined.judged.verdicts[index].suspect
            if examined.selection.every or active.state is not None or suspect is not None:
                yield index, _row(examined, index)


def _rows_of_history(examined: Examination) -> Iterator[tuple[int, SeriesChange]]:
    for index, change in examined.judged.changes():
        row = _common(examined, index)
        if change is not None:
            attribution = examined.attribution(index, change)
            row = replace(_with_change(examined, row, index, change), attribution=attribution)
        yield index, row


def _with_change(examined: Examination, row: SeriesChange, index: int, change: Change) -> SeriesChange:
    histories = examined.judged.histories
    return replace(
        row,
        state=change.state,
        since=histories.nights[change.night],
        since_run=histories.runs[index, change.night],
        **value_levels(change, row.better),
        memory=attribute_peak(examined.detected, index, histories.nights[change.night], change),
        step_share=_step_share(examined, index, change.before, change.after),
    )


def _common(examined: Examination, index: int) -> SeriesChange:
    """What a row says of its series, whatever its baseline is."""
    verdict, labels = examined.judged.verdicts[index], examined.labels[index]
    cost = verdict.smallest_detectable
    return SeriesChange(
        **{name: getattr(labels, name) for name in _LABELS},
        smallest_detectable=None if cost is None else loss(value_change(cost, labels.better), labels.better),
        nights=verdict.nights,
        left_out=verdict.left_out,
        reason=verdict.reason,
        last_night=examined.judged_series[index].last_night(),
        ended=examined.has_ended(index),
        new=False,
        moves=(),
        suspicion=_suspicion(examined, verdict.suspect, labels.better),
        metadata=(),
    )


def _suspicion(examined: Examination, suspect: Change | None, better: str | None) -> Suspicion | None:
    if suspect is None:
        return None
    return Suspicion(since=examined.judged.histories.nights[suspect.night], change=value_change(suspect.change, better))


def _row(examined: Examination, index: int) -> SeriesChange:
    active, row = examined.active_changes[index], _common(examined, index)
    suspect = examined.judged.verdicts[index].suspect
    if suspect is not None and not active.open:
        return _with_change(examined, row, index, suspect)
    if active.state is None:
        return row
    first = active.shifts[0]
    assert active.before is not None
    assert active.after is not None
    return replace(
        row,
        state=active.state,
        since=first.since,
        since_run=first.since_run,
        **value_levels(active, row.better),
        impact_ms=_impact_ms(examined, index, active.before, active.after),
        incident=examined.incident_of(index, first),
        first_since=first.first_since or first.since,
        new=any(shift.found in {None, row.last_night} for shift in active.shifts),
        acknowledged=_acknowledged(active),
        baseline=_segment(examined, index, active),
        moves=[_move(shift, examined.incident_of(index, shift), row.better) for shift in active.shifts],
        attribution=_attribution(examined, index, active),
        memory=attribute_peak(examined.detected, index, active.shifts[-1].since, active.shifts[-1]),
        step_share=_step_share(examined, index, active.before, active.after),
    )


def _impact_ms(examined: Examination, index: int, before: float, after: float) -> float | None:
    return None if examined.labels[index].scope in METRICS else examined.impact_ms(index, before, after)


def _step_share(examined: Examination, index: int, before: float, after: float) -> float | None:
    """What a change adds to a step; null for a metric."""
    return None if examined.labels[index].scope in METRICS else examined.step_share([index], after / before)


def _acknowledged(active: ActiveChange) -> Acknowledged | None:
    accepted = active.accepted
    if accepted is None:
        return None
    kind = "ack" if isinstance(accepted, Acceptance) else "expect"
    return Acknowledged(kind=kind, id=accepted.id, who=accepted.who, when=accepted.when, reason=accepted.reason)


def _move(shift: LevelShift, incident: str | None, better: str | None) -> PinnedShift:
    values: dict[str, Any] = {name: getattr(shift, name) for name in ("since", "since_run", "state")}
    return PinnedShift(**values, **value_levels(shift, better), incident=incident)


def _attribution(examined: Examination, index: int, active: ActiveChange) -> StepAttribution | None:
    """The newest change of a step by operators; null if the detector does not see it now."""
    changes, nights = examined.judged.verdicts[index].changes, examined.judged.histories.nights
    if not changes or not any(shift.since == nights[changes[-1].night] for shift in active.shifts):
        return None
    return examined.attribution(index, changes[-1])


def _segment(examined: Examination, index: int, active: ActiveChange) -> BaselineLevel | None:
    """The level before the first unaccepted change, and which of its nights are known to be worse."""
    level, course = active.baseline, examined.judged_series[index]
    is_worse = level is not None and (active.change or 0.0) > 0
    nights = nights_of_level(course, active.every, level) if is_worse and level is not None else []
    return _baseline("segment", level, examined.labels[index].better, _known_bad(examined, index, nights))


def _known_bad(examined: Examination, index: int, nights: Sequence[str]) -> list[str]:
    spans = bad_spans(examined.active_changes[index].every, examined.judged.parameters.least_effect)
    return known_bad(nights, spans)


def _baseline(kind: str, level: Level | None, better: str | None, bad: Sequence[str] = ()) -> BaselineLevel | None:
    if level is None:
        return None
    return BaselineLevel(
        kind=kind, level=value_of(level.cost, better), nights=level.nights, until=level.until, known_bad=bad
    )


def _pinned_row(examined: Examination, index: int) -> SeriesChange:
    series, row, baseline = examined.judged_series[index], _common(examined, index), examined.baseline
    chosen, newest = examined.chosen or (), None
    if baseline.kind == "nights":
        newest = examined.judged.parameters.least_level
        times = [night for place, night in enumerate(series.nights) if series.count(place, place + 1)]
        chosen = times[: -newest or None][-baseline.nights :]
    comparison = hold_against(series, chosen, newest=newest)
    measured = set(series.measured(0, len(series.nights)))
    bad = _known_bad(examined, index, [night for night in chosen if night in measured])
    row = replace(row, baseline=_baseline(str(baseline), comparison.baseline, row.better, bad))
    if comparison.baseline is None or comparison.newest is None:
        return replace(row, reason=row.reason or ("no-baseline" if comparison.baseline is None else "too-few-nights"))
    return replace(
        row,
        state=comparison.state,
        since=comparison.since,
        since_run=None if comparison.since is None else series.runs[series.place(comparison.since)],
        **value_levels(comparison, row.better),
        impact_ms=_impact_ms(examined, index, comparison.baseline.cost, comparison.newest.cost),
        step_share=_step_share(examined, index, comparison.baseline.cost, comparison.newest.cost),
    )


Span = tuple[str, str | None]
"""The first night, and the night after the last one; None: up to now."""


def bad_spans(shifts: Sequence[LevelShift], least_effect: float) -> list[Span]:
    """When a series was worse than before: from a slow-down, accepted or not, until the level before it is reached again."""
    spans: list[Span] = []
    since, good = None, 0.0
    for shift in shifts:
        if since is None and shift.slower:
            since, good = shift.since, shift.before
        elif since is not None and not shift.slower and shift.after <= good * (1 + least_effect):
            spans.append((since, shift.since))
            since = None
    return spans if since is None else [*spans, (since, None)]


def known_bad(nights: Iterable[str], spans: Sequence[Span]) -> list[str]:
    """Those of some nights that are known to be worse."""
    return [
        night for night in nights if any(night >= since and (until is None or night < until) for since, until in spans)
    ]


def nights_of_level(course: JudgedSeries, shifts: Sequence[LevelShift], level: Level) -> list[str]:
    """The nights of the level before a change: those since the change before it."""
    until = level.until or ""
    since = max((shift.since for shift in shifts if shift.since < until), default="")
    return course.measured(course.place(since), course.place(until))


def known_bad_baselines(rows: Iterable[SeriesChange], baseline: str) -> Iterator[Finding]:
    """That baselines have such nights; of the series of one workload together."""
    found: dict[str, list[SeriesChange]] = {}
    for row in rows:
        if row.baseline is not None and row.baseline.known_bad:
            found.setdefault(row.workload, []).append(row)
    for workload, mine in found.items():
        nights = sorted({night for row in mine if row.baseline is not None for night in row.baseline.known_bad})
        message = say(
            "the baseline ({baseline}) of {count} series has nights that are known to be worse, {first} to {last}: a comparison "
            "with it may hide a regression",
            baseline=baseline,
            count=len(mine),
            first=nights[0],
            last=nights[-1],
        )
        yield BASELINE_KNOWN_BAD.found(workload, message)


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
    return [_incident_row(examined, incident) for incident in chosen]


def _shows_change(examined: Examination, index: int) -> bool:
    """Whether the row of a series is about a change, and not about a suspicion."""
    active = examined.active_changes[index]
    return active.state is not None and (active.open or examined.judged.verdicts[index].suspect is None)


def _incident_row(examined: Examination, incident: Incident) -> IncidentChange:
    lead = incident.lead
    shifts = {examined.places[one.series]: one.shift for one in incident.members}
    ends = nights_around(examined.incidents, incident)
    explained = explain(examined, shifts, {one.group for one in incident.members}, incident.place, ends)
    models, causes = explained.models, explained.rows()
    members = [_member(examined, one) for one in incident.members]
    memory = _memory(examined, incident)
    return IncidentChange(
        incident=incident.id,
        title=_title(lead, causes, models, count_ranks(lead.labels, members), memory),
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
        metadata=examined.surroundings.facts_of(incident.id),
        causes=causes,
        memory=memory and memory.peak,
        members=members,
    )


def _is_new(examined: Examination, shift: SeriesShift) -> bool:
    """Whether a change was first reported on the newest night, on which its series ran."""
    nights, series = examined.judged.histories.nights, examined.judged_series[examined.places[shift.series]]
    return shift.shift.found is None or shift.shift.found == series.last_night() == nights[-1]


def _member(examined: Examination, one: SeriesShift) -> IncidentMember:
    index, shift = examined.places[one.series], one.shift
    active = examined.active_changes[index]
    is_active = any(each.since == shift.since for each in active.shifts)
    return IncidentMember(
        **{name: getattr(one.labels, name) for name in _OF_MEMBER},
        state=shift.state,
        since=shift.since,
        before=value_of(shift.before, one.labels.better),
        after=value_of(shift.after, one.labels.better),
        change=value_change(shift.change, one.labels.better),
        impact_ms=one.impact_ms,
        open=is_active and active.open and not examined.has_ended(index),
    )


class _Memory(NamedTuple):
    """The peak of memory that changed most in an incident, and what its change consists of."""

    shift: SeriesShift
    peak: PeakAttribution | None

    def words(self) -> Text:
        """How much it changed, and who explains it."""
        labels, shift = self.shift.labels, self.shift.shift
        change, owners = memory_change_words(labels.metric, shift.before, shift.after), owners_in_words(self.peak)
        return change if owners is None else say("{change}: {owners}", change=change, owners=owners)


def _memory(examined: Examination, incident: Incident) -> _Memory | None:
    """Of an incident that memory names, the series that does so; else the peak that changed most."""
    shifts = [one for one in incident.members if one.labels.scope == MEMORY]
    if not shifts:
        return None
    most = min(shifts, key=naming)
    index, since = examined.places[most.series], most.shift.since
    return _Memory(most, attribute_peak(examined.detected, index, since, most.shift))


def _title(
    lead: SeriesShift, causes: Sequence[IncidentCause], models: Sequence[str], ranks: int, memory: _Memory | None
) -> Text:
    if memory is None:
        return _title_of_times(lead, causes, models, ranks)
    if memory.shift is lead:
        return say("{what} {change}", what=_subject(lead.labels, ranks), change=memory.words())
    title = _title_of_times(lead, causes, models, ranks)
    name = series_name(memory.shift.labels)
    return say("{incident}; {what}", incident=title, what=say("{what} {change}", what=name, change=memory.words()))


def _title_of_times(lead: SeriesShift, causes: Sequence[IncidentCause], models: Sequence[str], ranks: int) -> Text:
    labels = lead.labels
    named = say(
        "{what} {change}",
        what=_subject(labels, ranks),
        change=signed_percent(value_change(lead.shift.change, labels.better)),
    )
    if not causes:
        return named if labels.scope in NOTICED | LOCATED else say("{model}: {what}", model=labels.model, what=named)
    if labels.scope not in NOTICED | LOCATED:
        return causes_in_words(causes, models)
    return say(
        "{incident}: {causes}", incident=named, causes=causes_in_words(causes, models, labels.model, of_step=True)
    )


def _subject(labels: SeriesLabels, ranks: int) -> Text:
    if labels.scope in METRICS:
        return say("{name}{rank}", name=series_name(labels), rank=rank_words(labels.rank_id, ranks))
    if (part := part_words(labels.scope, labels.workload, labels.rank_id)) is not None:
        return part
    if labels.op_name or labels.scope == "op_type":
        return operator_words(labels.op_type, labels.op_name, labels.rank_id)
    rank = rank_words(labels.rank_id, ranks)
    if labels.scope == "step":
        return say("step of {model}{rank}", model=labels.model, rank=rank)
    return say("{name}{rank}", name=labels.workload, rank=rank)


RECENT_NIGHTS = 14
"""Nights in which something must have begun or ended to be listed in a report: what is older was listed then."""


def observations(examined: Examination) -> list[SeriesObservation]:
    """What is observed in the series that are asked for, the newest first."""
    found = [one for index in examined.asked() for one in _of_series(examined, index)]
    found.sort(key=lambda one: (one.workload, one.series_id, one.kind))
    return sorted(found, key=lambda one: one.since, reverse=True)


def _of_series(examined: Examination, index: int) -> Iterator[SeriesObservation]:
    labels, nights = examined.labels[index], examined.judged.histories.nights
    for one in examined.judged.verdicts[index].observed:
        of_scatter = one.kind == "scatter-change"
        yield row_from(
            SeriesObservation,
            labels,
            kind=one.kind,
            metric=labels.metric if labels.scope in METRICS else None,
            since=nights[one.night],
            until=None if one.until is None else nights[one.until - 1],
            recent=max(one.night, (one.until or 1) - 1) >= len(nights) - RECENT_NIGHTS,
            before=None if of_scatter else value_of(one.before, labels.better),
            after=None if of_scatter else value_of(one.after, labels.better),
            change=one.after / one.before - 1
            if of_scatter
            else value_change(one.after / one.before - 1, labels.better),
            scatter_before=one.before if of_scatter else None,
            scatter_after=one.after if of_scatter else None,
        )


def listed_observations(history: History, chosen: HistoryOptions) -> list[ListedObservation]:
    """What `regressions` observes in the nights that it looks at, oldest first; of what began on a date or later."""
    found = observations(examine(history, RegressionOptions(workload=chosen.workload, scope=chosen.scope)))
    found.sort(key=lambda one: one.since)
    return [row_from(ListedObservation, one) for one in found if one.since >= (chosen.since or "")]
