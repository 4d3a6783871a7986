"""A row a series: what it does now, against the level since the last accepted change or a baseline that was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aoe_reports.history.baselines import Acceptance, ActiveChange, Level, LevelShift
from aoe_reports.history.detection.verdicts import Change
from aoe_reports.history.examination import Examination
from aoe_reports.history.pinned import hold_against
from aoe_reports.model.changes import Acknowledged, BaselineLevel, PinnedShift, SeriesChange, StepAttribution, Suspicion

_LABELS = ("series_id", "workload", "scope", "op_type", "op_name", "metric", "hardware", "rank_id", "device_id")
_LEVELS = ("before", "after", "change", "ci_low", "ci_high")


def series_rows(examined: Examination) -> Iterator[tuple[int, SeriesChange]]:
    """(the number of a series, its row): one a series, or one a change since the first night."""
    if examined.selection.whole_history:
        yield from _rows_of_history(examined)
        return
    make = _row if examined.chosen is None else _pinned_row
    yield from ((index, make(examined, index)) for index in examined.shown())


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
        **{name: getattr(change, name) for name in _LEVELS},
    )


def _common(examined: Examination, index: int) -> SeriesChange:
    """What a row says of its series, whatever it is held against."""
    verdict, labels = examined.judged.verdicts[index], examined.labels[index]
    return SeriesChange(
        **{name: getattr(labels, name) for name in _LABELS},
        state=None,
        since=None,
        since_run=None,
        before=None,
        after=None,
        change=None,
        ci_low=None,
        ci_high=None,
        smallest_detectable=verdict.smallest_detectable,
        nights=verdict.nights,
        left_out=verdict.left_out,
        reason=verdict.reason,
        last_night=examined.judged_series[index].last_night(),
        ended=examined.has_ended(index),
        impact_ms=None,
        incident=None,
        first_since=None,
        new=False,
        acknowledged=None,
        baseline=None,
        moves=(),
        suspicion=_suspicion(examined, verdict.suspect),
        metadata=(),
        attribution=None,
        fails=None,
    )


def _suspicion(examined: Examination, suspect: Change | None) -> Suspicion | None:
    if suspect is None:
        return None
    return Suspicion(since=examined.judged.histories.nights[suspect.night], change=suspect.change)


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
        **{name: getattr(active, name) for name in _LEVELS},
        impact_ms=examined.impact_ms(index, active.before, active.after),
        incident=examined.incident_of(index, first),
        first_since=first.first_since or first.since,
        new=any(shift.found in {None, row.last_night} for shift in active.shifts),
        acknowledged=_acknowledged(active),
        baseline=_baseline("segment", active.baseline),
        moves=[_move(shift, examined.incident_of(index, shift)) for shift in active.shifts],
        attribution=_attribution(examined, index, active),
    )


def _acknowledged(active: ActiveChange) -> Acknowledged | None:
    """Who accepted or announced a slow-down."""
    told = active.accepted
    if told is None:
        return None
    kind = "ack" if isinstance(told, Acceptance) else "expect"
    return Acknowledged(kind=kind, id=told.id, who=told.who, when=told.when, reason=told.reason)


def _move(shift: LevelShift, incident: str | None) -> PinnedShift:
    names = ("since", "since_run", "state", *_LEVELS)
    return PinnedShift(**{name: getattr(shift, name) for name in names}, incident=incident)


def _attribution(examined: Examination, index: int, active: ActiveChange) -> StepAttribution | None:
    """The newest change of a step over what ran in it; null where the change is none that the detector sees now."""
    changes, nights = examined.judged.verdicts[index].changes, examined.judged.histories.nights
    if not changes or not any(shift.since == nights[changes[-1].night] for shift in active.shifts):
        return None
    return examined.attribution(index, changes[-1])


def _baseline(kind: str, level: Level | None) -> BaselineLevel | None:
    if level is None:
        return None
    return BaselineLevel(kind=kind, level=level.ms, nights=level.nights, until=level.until)


def _pinned_row(examined: Examination, index: int) -> SeriesChange:
    """A series held against the baseline that was chosen."""
    series, row, baseline = examined.judged_series[index], _common(examined, index), examined.baseline
    chosen, newest = examined.chosen or (), None
    if baseline.kind == "nights":
        newest = examined.judged.parameters.least_level
        times = [night for place, night in enumerate(series.nights) if series.count(place, place + 1)]
        chosen = times[: -newest or None][-baseline.nights :]
    held = hold_against(series, chosen, newest=newest)
    row = replace(row, baseline=_baseline(str(baseline), held.baseline))
    if held.baseline is None or held.newest is None:
        return replace(row, reason=row.reason or ("no-baseline" if held.baseline is None else "too-few-nights"))
    before, after = held.baseline.ms, held.newest.ms
    return replace(
        row,
        state=held.state,
        since=held.since,
        since_run=None if held.since is None else series.runs[series.place(held.since)],
        before=before,
        after=after,
        change=after / before - 1,
        ci_low=held.ci_low,
        ci_high=held.ci_high,
        impact_ms=examined.impact_ms(index, before, after),
    )
