"""A row a series: what it does now, against the level since the last accepted change or a baseline that was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.history.baselines import Acceptance, ActiveChange, Level, LevelShift
from aoe_reports.history.detection.verdicts import Change
from aoe_reports.history.examination import Examination
from aoe_reports.history.known_bad import bad_spans, known_bad, measured, nights_of_level
from aoe_reports.history.pinned import hold_against
from aoe_reports.model.changes import (
    METRIC,
    Acknowledged,
    BaselineLevel,
    PinnedShift,
    SeriesChange,
    StepAttribution,
    Suspicion,
)
from aoe_reports.model.metrics import loss, value_change, value_levels, value_of

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
        every = examined.selection.every
        yield from (
            (index, _row(examined, index)) for index in examined.asked() if every or _has_changed(examined, index)
        )


def _has_changed(examined: Examination, index: int) -> bool:
    return examined.active_changes[index].state is not None or examined.judged.verdicts[index].suspect is not None


def _rows_of_history(examined: Examination) -> Iterator[tuple[int, SeriesChange]]:
    """A row a change since the first night, as one look shows it."""
    for index, change in examined.judged.changes():
        row = _common(examined, index)
        if change is not None:
            attribution = examined.attribution(index, change)
            row = replace(_with_change(examined, row, index, change), attribution=attribution)
        yield index, row


def _with_change(examined: Examination, row: SeriesChange, index: int, change: Change) -> SeriesChange:
    """What the detector sees in a series."""
    histories = examined.judged.histories
    return replace(
        row,
        state=change.state,
        since=histories.nights[change.night],
        since_run=histories.runs[index, change.night],
        **value_levels(change, row.better),
        step_share=_step_share(examined, index, change.before, change.after),
    )


def _common(examined: Examination, index: int) -> SeriesChange:
    """What a row says of its series, whatever it is held against."""
    verdict, labels = examined.judged.verdicts[index], examined.labels[index]
    return SeriesChange(
        **{name: getattr(labels, name) for name in _LABELS},
        smallest_detectable=_smallest_loss(verdict.smallest_detectable, labels.better),
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


def _smallest_loss(cost: float | None, better: str | None) -> float | None:
    """The smallest loss of a value that would be found, by the smallest change of its cost."""
    return None if cost is None else loss(value_change(cost, better), better)


def _suspicion(examined: Examination, suspect: Change | None, better: str | None) -> Suspicion | None:
    if suspect is None:
        return None
    return Suspicion(since=examined.judged.histories.nights[suspect.night], change=value_change(suspect.change, better))


def _row(examined: Examination, index: int) -> SeriesChange:
    """A series against the level since its last accepted change."""
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
        step_share=_step_share(examined, index, active.before, active.after),
    )


def _impact_ms(examined: Examination, index: int, before: float, after: float) -> float | None:
    """What all calls of a run take more; a metric takes none."""
    return None if examined.labels[index].scope == METRIC else examined.impact_ms(index, before, after)


def _step_share(examined: Examination, index: int, before: float, after: float) -> float | None:
    """What a change adds to a step; a metric adds nothing."""
    return None if examined.labels[index].scope == METRIC else examined.step_share([index], after / before)


def _acknowledged(active: ActiveChange) -> Acknowledged | None:
    """Who accepted or announced a slow-down."""
    told = active.accepted
    if told is None:
        return None
    kind = "ack" if isinstance(told, Acceptance) else "expect"
    return Acknowledged(kind=kind, id=told.id, who=told.who, when=told.when, reason=told.reason)


def _move(shift: LevelShift, incident: str | None, better: str | None) -> PinnedShift:
    told: dict[str, Any] = {name: getattr(shift, name) for name in ("since", "since_run", "state")}
    return PinnedShift(**told, **value_levels(shift, better), incident=incident)


def _attribution(examined: Examination, index: int, active: ActiveChange) -> StepAttribution | None:
    """The newest change of a step over what ran in it; null where the change is none that the detector sees now."""
    changes, nights = examined.judged.verdicts[index].changes, examined.judged.histories.nights
    if not changes or not any(shift.since == nights[changes[-1].night] for shift in active.shifts):
        return None
    return examined.attribution(index, changes[-1])


def _segment(examined: Examination, index: int, active: ActiveChange) -> BaselineLevel | None:
    """The level before the first change that nobody accepted; of a slow-down with those of its nights that are known to be worse."""
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
    """A series held against the baseline that was chosen."""
    series, row, baseline = examined.judged_series[index], _common(examined, index), examined.baseline
    chosen, newest = examined.chosen or (), None
    if baseline.kind == "nights":
        newest = examined.judged.parameters.least_level
        times = [night for place, night in enumerate(series.nights) if series.count(place, place + 1)]
        chosen = times[: -newest or None][-baseline.nights :]
    held = hold_against(series, chosen, newest=newest)
    bad = _known_bad(examined, index, measured(series, (night for night in chosen if night in series.nights)))
    row = replace(row, baseline=_baseline(str(baseline), held.baseline, row.better, bad))
    if held.baseline is None or held.newest is None:
        return replace(row, reason=row.reason or ("no-baseline" if held.baseline is None else "too-few-nights"))
    return replace(
        row,
        state=held.state,
        since=held.since,
        since_run=None if held.since is None else series.runs[series.place(held.since)],
        **value_levels(held, row.better),
        impact_ms=_impact_ms(examined, index, held.baseline.cost, held.newest.cost),
        step_share=_step_share(examined, index, held.baseline.cost, held.newest.cost),
    )
