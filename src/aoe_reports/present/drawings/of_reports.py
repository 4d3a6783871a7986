"""The drawings of a report as figures of a page, by the charts that the dashboard has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from aoe_reports.model.report import BarChart, Chart, Drawing, Ranking, Waterfall
from aoe_reports.model.texts import Language, in_language, say
from aoe_reports.present.drawings.charts import (
    Bars,
    Level,
    Noted,
    days_of,
    grouped,
    history_chart,
    ranking,
    waterfall,
)
from aoe_reports.present.values import plain

_COLOURS = ("was", "became")
"""Of the bars of a chart, in order."""


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A chart with the words around it; the legend is (class, words) of each colour."""

    title: str
    subtitle: str
    svg: Markup
    legend: Sequence[tuple[str, str]] = ()


def figure_of(drawing: Drawing, language: Language) -> ReportFigure:
    """A drawing whose words are in a language."""
    title, words = plain(drawing.title), drawing.description
    match drawing:
        case Chart():
            return _history(drawing, title, language)
        case BarChart(labels=labels, bars=bars, intervals=intervals, unit=unit):
            groups = [
                Bars(kind, values, intervals.get(name, ()))
                for kind, (name, values) in zip(_COLOURS, bars.items(), strict=True)
            ]
            legend = [(group.kind, plain(name)) for group, name in zip(groups, bars, strict=True)]
            return ReportFigure(title, "", grouped(labels, groups, words, unit), legend)
        case Ranking(labels=labels, values=values, words=behind, subtitle=subtitle):
            rows = list(zip(labels, values, behind, strict=True))
            return ReportFigure(title, plain(subtitle), ranking(rows, words))
        case Waterfall(parts=parts, whole=whole, unit=unit, subtitle=subtitle):
            return ReportFigure(title, plain(subtitle), waterfall(parts, whole, words, unit))


def _history(chart: Chart, title: str, language: Language) -> ReportFigure:
    """The history of one series: its levels, and the change between them."""
    place = {night: number for number, night in enumerate(chart.nights)}
    levels = [Level(place[first], place[last] + 1, value, value) for first, last, value in chart.levels]
    changes = [place[chart.marked]] if chart.marked in place else []
    (values,) = chart.lines.values()
    times = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    svg = history_chart(
        days_of(tuple(chart.nights)),
        times,
        levels,
        None,
        changes=changes,
        words=chart.description,
        noted=Noted([(column, in_language(mark_words(chart), language)) for column in changes]),
        unit=chart.unit,
    )
    entries = [("line", say("a night")), ("level", say("level")), ("mark", say("change"))]
    shown = {"line", *(["level"] if levels else []), *(["mark"] if changes else [])}
    legend = [(kind, in_language(words, language)) for kind, words in entries if kind in shown]
    return ReportFigure(title, plain(chart.subtitle), svg, legend)


def mark_words(chart: Chart) -> str:
    """What is written at the change of a history."""
    words = say("since {night}", night=chart.marked)
    if len(chart.levels) != len(("before", "after")):
        return words
    levels = " → ".join(_level(value) for _, _, value in chart.levels)
    return say("{since}: {levels} {unit}", since=words, levels=levels, unit=chart.unit)


def _level(value: float) -> str:
    """Five digits, also where the last are zeros."""
    return f"{value:#,.5g}" if _MIN_PLAIN <= abs(value) < _GROUPED else f"{value:,.6g}"


_MIN_PLAIN, _GROUPED = 1e-3, 1e4
