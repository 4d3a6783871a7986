"""The chart of a history: what the page of a series and the page of a model draw, and what `assets/history.js` zooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from aoe_reports.history.site_facts import Days, PlacedShift, SeriesFacts
from aoe_reports.model.history.changes import METRICS, PastNight, SeriesChange
from aoe_reports.model.history.metrics import BYTE_UNIT, GROWTH_UNIT
from aoe_reports.model.size_units import size_unit
from aoe_reports.present.drawings.charts import LARGE, Frame, Level, Noted, days_of, history_chart
from aoe_reports.present.reports.series_cells import value_words
from aoe_reports.present.values import NONE, plain, show
from aoe_reports.site.as_json import as_script
from aoe_reports.site.texts import Texts

SHOWN_VERSIONS, LONGEST_VERSION = 6, 16
"""Versions in a chart, and characters of each."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a history showed: of the nights from `start` on."""

    start: int
    shifts: Sequence[PlacedShift]
    levels: Sequence[Level]
    sigma: float | None = None
    """Relative scatter from night to night."""


def watch_of(series: SeriesFacts) -> Look:
    """The nights that were judged: the levels between changes; a drift is a slope, and a suspicion no level."""
    start = len(series.nights) - series.watched
    shifts = [shift for shift in series.shifts if shift.state != "suspect"]
    return Look(start, series.shifts, _levels(shifts, start, len(series.nights), series.level), series.sigma)


def hindsight_of(series: SeriesFacts) -> Look:
    """The whole history, looked at once."""
    return Look(0, series.hindsight, _levels(series.hindsight, 0, len(series.nights), series.hindsight_level))


def _levels(shifts: Sequence[PlacedShift], begin: int, count: int, newest: float | None) -> list[Level]:
    if newest is None or begin == count:
        return []
    levels = []
    edges = [begin, *(shift.start for shift in shifts), count]
    for shift, (start, until) in zip([None, *shifts], pairwise(edges), strict=True):
        if until <= start:
            continue
        if shift is None:
            level = shifts[0].before if shifts else newest
            levels.append(Level(start, until, level, level))
        else:
            levels.append(Level(start, until, shift.before if shift.state == "drift" else shift.after, shift.after))
    return levels


class NightMark(NamedTuple):
    """A night that a chart names: another version ran than before, everything was longer together, an incident began."""

    place: int
    """Among the nights of its series."""
    label: str


class Marks(NamedTuple):
    """The nights that a chart names, by kind."""

    versions: Sequence[NightMark] = ()
    past: Sequence[NightMark] = ()
    incidents: Sequence[NightMark] = ()


def versions_in(series: SeriesFacts, of_runs: Mapping[str, tuple[str, ...]]) -> list[NightMark]:
    """Where other versions began in a series, the newest that fit a chart; a run that names none says nothing."""
    marks, last = [], None
    for place, run in enumerate(series.runs):
        version = of_runs.get(run)
        if not version or version == last:
            continue
        if last is not None:
            label = " ".join(part for part in version if part not in last) or " ".join(version)
            marks.append(
                NightMark(place, label if len(label) <= LONGEST_VERSION else f"{label[: LONGEST_VERSION - 1]}…")
            )
        last = version
    return marks[-SHOWN_VERSIONS:]


def past_in(series: SeriesFacts, past: Sequence[PastNight], text: Texts) -> list[NightMark]:
    """The nights of a series on which its machine, its model or its rank differed."""
    row = series.row
    matching = [
        one
        for one in past
        if series.model in one.models and one.hardware == row.hardware and one.cause.rank_id in {None, row.rank_id}
    ]
    places = {night: place for place, night in enumerate(series.nights)} if matching else {}
    return [NightMark(places[one.night], _past_label(one, text)) for one in matching if one.night in places]


def _past_label(night: PastNight, text: Texts) -> str:
    change = show(night.cause.change, "change")
    if night.cause.kind == "rank":
        return text("rank {rank} {change}", rank=night.cause.rank_id, change=change)
    return text("whole machine {change}" if night.cause.kind == "machine" else "whole model {change}", change=change)


class HistoryFigure(NamedTuple):
    """A chart of a history under its title, and the same as JSON for the script."""

    title: str
    svg: Markup
    data: Markup
    banded: bool
    """Whether it has the range of normal nights."""
    has_baseline: bool
    gaps: int
    """Dates without a run."""
    marks: Marks
    """The nights that it names."""


def history_figure(
    series: SeriesFacts, look: Look, title: str, marks: Marks, text: Texts, *, frame: Frame = LARGE
) -> HistoryFigure:
    """What a look at a series shows; the script has its whole history."""
    days = days_of(series.nights)
    return HistoryFigure(
        title,
        history_drawing(series, look, marks, text, frame),
        _data(series, look, marks, frame, text),
        banded=look.sigma is not None,
        has_baseline=baseline_of(series.row) is not None,
        gaps=sum(count for _, count in gaps_in(days[look.start :].tobytes())),
        marks=_marks_from(look.start, marks),
    )


def _marks_from(start: int, marks: Marks) -> Marks:
    """The nights that a chart of the nights from `start` on names, counted from there."""
    return Marks(*([mark._replace(place=mark.place - start) for mark in some if mark.place >= start] for some in marks))


def history_drawing(series: SeriesFacts, look: Look, marks: Marks, text: Texts, frame: Frame = LARGE) -> Markup:
    """What a look at a series shows, without a script."""
    start, (scale, unit) = look.start, _unit_of(series)
    values = series.values[start:] / scale
    levels = [Level(one.start - start, one.until - start, one.first / scale, one.last / scale) for one in look.levels]
    baseline = baseline_of(series.row)
    shown = _marks_from(start, marks)
    days = days_of(series.nights)[start:]
    return history_chart(
        days,
        values,
        levels,
        look.sigma,
        changes=[shift.start - start for shift in look.shifts],
        words=_said(series, look, marks, text),
        noted=Noted(
            shown.versions, shown.past, shown.incidents, gaps_in(days.tobytes()), baseline and baseline / scale
        ),
        frame=frame,
        unit=unit,
    )


def _unit_of(series: SeriesFacts) -> tuple[int, str]:
    """(how many units of the series are one of its chart, the unit of the chart): sizes are drawn in the one that fits."""
    row = series.row
    if row.unit not in {BYTE_UNIT, GROWTH_UNIT} or not len(series.values):
        return 1, row.unit or ""
    scale, unit = size_unit(float(np.abs(series.values).max()))
    return scale, row.unit.replace(BYTE_UNIT, unit)


def _said(series: SeriesFacts, look: Look, marks: Marks, text: Texts) -> str:
    start, values = look.start, series.values[look.start :]
    said = text(
        "Values of {count} nights from {first} to {last}, between {low} and {high}; {changes} level shifts.",
        count=len(values),
        first=series.nights[start],
        last=series.nights[-1],
        low=level_words(float(values.min()), series.row, text),
        high=level_words(float(values.max()), series.row, text),
        changes=len(look.shifts),
    )
    versions, past = ([one for one in some if one.place >= start] for some in marks[:2])
    if versions:
        said = text.joined(" ", (said, text("New versions: {versions}.", versions=_named(versions, series, text))))
    if past:
        said = text.joined(" ", (said, text("Single nights that differ: {nights}.", nights=_named(past, series, text))))
    if gaps := sum(count for _, count in gaps_in(days_of(series.nights)[start:].tobytes())):
        said = text.joined(" ", (said, text("Dates without a run: {count}.", count=gaps)))
    return said


def _named(marks: Sequence[NightMark], series: SeriesFacts, text: Texts) -> str:
    return text.joined(", ", (f"{mark.label} ({series.nights[mark.place]})" for mark in marks))


def baseline_of(row: SeriesChange) -> float | None:
    """The level that a change is compared with, in the unit of the series; None where nothing changed."""
    return row.baseline.level if row.baseline is not None and row.change is not None else None


def level_words(value: float | None, row: SeriesChange, text: Texts) -> str:
    """A level with its unit."""
    return NONE if value is None else text.translated(value_words(value, row.unit))


def value_title(row: SeriesChange, text: Texts) -> str:
    """What the values of a series are called."""
    return text("Value") if row.scope in METRICS else text("Time (ms)")


_EPOCH = date(1970, 1, 1).toordinal()


@lru_cache(maxsize=256)
def _spans(days: bytes) -> Sequence[tuple[int, int]]:
    """(first day, how many) of each run of dates: most series share them."""
    numbers = np.frombuffer(days, dtype=np.int64) - _EPOCH
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return [(int(part[0]), len(part)) for part in parts if len(part)]


@lru_cache(maxsize=256)
def gaps_in(days: bytes) -> Sequence[tuple[int, int]]:
    """(first day, how many) of the dates without a value, where most dates have one: else nobody expected one every night."""
    spans = _spans(days)
    gaps = [(first + count, later - first - count) for (first, count), (later, _) in pairwise(spans)]
    missing, present = sum(count for _, count in gaps), sum(count for _, count in spans)
    return [(first + _EPOCH, count) for first, count in gaps] if missing < present else []


def _data(series: SeriesFacts, look: Look, marks: Marks, frame: Frame, text: Texts) -> Markup:
    """The history for the script that zooms: runs of dates, times with seven digits, levels, changes."""
    of_unit, unit = _unit_of(series)
    values, baseline = series.values / of_unit, baseline_of(series.row)
    # seven digits: more than a screen shows, half of what a page would weigh
    scale = 10.0 ** (6 - np.floor(np.log10(np.maximum(np.abs(values), 1e-300))))
    days = days_of(series.nights)
    span = frame.span or _span(days[look.start :])
    data = {
        "days": _spans(days.tobytes()),
        "values": np.round(values * scale) / scale,
        "levels": [[one.start, one.until, one.first / of_unit, one.last / of_unit] for one in look.levels],
        "changes": [shift.start for shift in look.shifts],
        "versions": [[version.place, plain(version.label)] for version in marks.versions],
        "past": [[one.place, plain(one.label)] for one in marks.past],
        "incidents": [[one.place, plain(one.label)] for one in marks.incidents],
        "band": None if look.sigma is None else float(np.exp(1.96 * look.sigma)),
        "baseline": baseline and baseline / of_unit,
        "gaps": bool(gaps_in(days.tobytes())),
        "unit": unit,
        "span": [day - _EPOCH for day in span],
        "names": [
            text("Night"),
            value_title(series.row, text),
            text("level"),
            text("95% range of normal nights"),
            text("baseline"),
        ],
    }
    return as_script(data)


def _span(days: Days) -> tuple[int, int]:
    return int(days[0]), int(days[-1])
