"""Plots over time: steps of devices, and the nights of a series."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from matplotlib.dates import date2num
from matplotlib.ticker import MaxNLocator

from aoe_reports.engine.question import Answer
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import Text, join, say
from aoe_reports.model.time_units import TIME_UNITS
from aoe_reports.present.figures.bars import column_title, largest_group
from aoe_reports.present.figures.charts import DOTTED, with_gaps
from aoe_reports.present.figures.fonts import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from aoe_reports.present.figures.plot import Sheet, place_of, unit_for, with_unit
from aoe_reports.present.values import NONE

if TYPE_CHECKING:
    from aoe_reports.model.history.series import NightChange, SeriesNight
    from aoe_reports.model.topics.steps import Step

_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, RED)
_MARKERS = "os^vDP"
_MANY = len(_COLOURS)
"""Of more devices, all but the longest are grey."""


def draw_steps(answer: Answer, sheet: Sheet) -> None:
    """The duration of each step of the run whose steps take longest together, a line a device; of many devices only the longest is coloured."""
    every: list[Step] = largest_group(answer.rows, lambda row: row.run, lambda row: row.duration_ns)
    devices: dict[tuple[object, ...], list[Step]] = {}
    for row in every:
        devices.setdefault((row.rank_id, row.device_id, row.model_id), []).append(row)
    order = sorted(devices.values(), key=lambda rows: -_mean_ns(rows))
    size, unit = unit_for(*(row.duration_ns for row in every))
    for number, rows in reversed([*enumerate(order)]):
        stands_out = len(order) <= _MANY or number == 0
        sheet.axes.plot(
            _numbers(rows),
            [row.duration_ns / size for row in rows],
            color=_COLOURS[number % _MANY] if stands_out else GREY,
            marker=_MARKERS[number % _MANY] if stands_out else None,
            markersize=6 if len(rows) <= DOTTED else 3,
            alpha=1 if stands_out else 0.3,
            label=sheet.label(_of_device(rows[0])) if stands_out else None,
        )
    sheet.axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    sheet.axes.set_xlabel(sheet.words(column_title(type(every[0]), "step")))
    sheet.axes.set_ylabel(sheet.words(with_unit(column_title(type(every[0]), "duration_ns"), unit)))
    sheet.plot.legend(loc="outside lower center", ncols=3, frameon=False)
    described = [
        say("{what}: mean {time:,.4g} {unit}", what=_of_device(rows[0]), time=_mean_ns(rows) / size, unit=unit)
        for rows in order
    ]
    sheet.describe(answer.title, place_of(every[0].run, None), described)


def _mean_ns(rows: Sequence[Step]) -> float:
    return sum(row.duration_ns for row in rows) / len(rows)


def _numbers(rows: Sequence[Step]) -> list[int]:
    """The x values of steps: their numbers, else their order."""
    if any(row.step is None for row in rows):
        return [*range(len(rows))]
    return [row.step for row in rows if row.step is not None]


def _of_device(row: Step) -> Text:
    return join(" · ", place_of(None, row.rank_id, row.device_id) or [NONE])


def draw_series(answer: Answer, sheet: Sheet) -> None:
    """One series over its nights, that with the largest change, else the longest time: its levels, each change, and the interval of its new level."""
    changes: list[NightChange] = largest_group(
        answer.table("changes"), lambda row: row.series_id, lambda row: abs(row.change)
    )
    of_change = [row for row in answer.rows if changes and row.series_id == changes[0].series_id]
    rows: list[SeriesNight] = of_change or _longest_series(answer.rows)
    axes, first = sheet.axes, rows[0]
    axes.plot(
        *zip(*with_gaps([(_day(row.night), row.value) for row in rows]), strict=True),
        color=BLUE,
        marker="o",
        markersize=5 if len(rows) <= DOTTED else 2,
        linewidth=1,
    )
    for change in changes:
        _draw_change(change, sheet)
    _draw_levels(first.night, changes, sheet)
    axes.xaxis_date()
    axes.set_ylabel(sheet.words(first.unit or NONE))
    axes.grid(axis="y", alpha=0.3)
    sheet.plot.autofmt_xdate()
    name = [word for word in (first.workload, first.op_type, first.op_name, first.metric) if word]
    described = [_told_change(change, first.unit) for change in changes]
    sheet.describe(
        join(" · ", [*name, *place_of(None, first.rank_id, first.device_id)]), [*described[-1:]], described[:-1]
    )


def _longest_series(rows: Sequence[SeriesNight]) -> list[SeriesNight]:
    """The series whose times are most together; where none is a time, that with most nights."""
    sizes = {unit: size for size, unit in TIME_UNITS}
    timed = [row for row in rows if row.unit in sizes]
    if not timed:
        return largest_group(rows, lambda row: row.series_id, lambda _: 1)
    return largest_group(timed, lambda row: row.series_id, lambda row: row.value * sizes[row.unit or ""])


def _told_change(change: NightChange, unit: str | None) -> Text:
    return say(
        "{state} since {night}: {before:,.5g} → {after:,.5g} {unit} ({change}, 95% interval {low} to {high})",
        state=say(change.state),
        night=change.since,
        before=change.before,
        after=change.after,
        unit=unit or "",
        change=signed_percent(change.change),
        low=signed_percent(change.ci_low),
        high=signed_percent(change.ci_high),
    )


_HALF_A_DAY = 0.5
"""Changes are drawn between two nights."""


def _draw_change(change: NightChange, sheet: Sheet) -> None:
    """A line where it begins, and where its new level lies with a certainty of 95 %."""
    begin = _day(change.since) - _HALF_A_DAY
    sheet.axes.axvline(begin, color=RED, linestyle=":" if change.state == "suspect" else "--", linewidth=1.2)
    low, high = change.before * (1 + change.ci_low), change.before * (1 + change.ci_high)
    sheet.axes.fill_between([begin, _day(change.until)], low, high, color=RED, alpha=0.15, linewidth=0)


def _draw_levels(first: str, changes: Sequence[NightChange], sheet: Sheet) -> None:
    """The level before the first change, then that after each; of a drift the slope."""
    for change in changes[:1]:
        until = _day(change.since) - _HALF_A_DAY
        sheet.axes.plot([_day(first), until], [change.before] * 2, color=GREY, linewidth=2.5)
    for change in changes:
        start = change.before if change.state == "drift" else change.after
        ends = [_day(change.since) - _HALF_A_DAY, _day(change.until)]
        sheet.axes.plot(ends, [start, change.after], color=RED, linewidth=2.5)


def _day(night: str) -> float:
    return float(date2num(date.fromisoformat(night)))  # type: ignore[no-untyped-call]
