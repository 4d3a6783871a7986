"""A report in the reader's language: our own texts are translated, texts from files are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from aoe_reports.model.documents import Cell, Cells
from aoe_reports.model.report import BarChart, Chart, Drawing, Grid, Ranking, Report, Section, Waterfall
from aoe_reports.model.rows import Column, Kind
from aoe_reports.model.size_units import size_unit
from aoe_reports.model.texts import Language, Text, in_language, in_value, say
from aoe_reports.model.time_units import MAX_SPAN, TIME_UNITS
from aoe_reports.present.answers import LazyRows
from aoe_reports.present.values import show

Shape = TypeVar("Shape", bound=Drawing)
"""A kind of drawing."""


def report_in(report: Report, language: Language) -> Report:
    """The same report as somebody who reads a language sees it, with units and captions."""
    if language != "en":
        report = _translated(report, language)
    sections, sign_off = (
        [_arranged(section, language) for section in several] for several in (report.sections, report.sign_off)
    )
    return replace(report, sections=sections, sign_off=sign_off)


def _arranged(section: Section, language: Language) -> Section:
    section = with_caption(section, language)
    return section if section.grid is None else replace(section, grid=with_units(section.grid))


def _translated(report: Report, language: Language) -> Report:
    return replace(
        report,
        title=in_language(report.title, language),
        headline=in_language(report.headline, language),
        verdict=in_language(report.verdict, language),
        sections=[_section(section, language) for section in report.sections],
        sign_off=[_section(section, language) for section in report.sign_off],
        language=language,
    )


def _section(section: Section, language: Language) -> Section:
    return replace(
        section,
        title=in_language(section.title, language),
        sentences=[in_language(sentence, language) for sentence in section.sentences],
        grid=section.grid and _grid(section.grid, language),
        chart=section.chart and drawing_in(section.chart, language),
        lines=[_told(line, language) for line in section.lines],
    )


def _grid(grid: Grid, language: Language) -> Grid:
    def row_in(row: Cells) -> Cells:
        return {column.key: cell_in(row.get(column.key), column.kind, language) for column in grid.columns}

    columns = tuple(replace(column, title=in_language(column.title, language)) for column in grid.columns)
    return replace(grid, columns=columns, rows=LazyRows(grid.rows, row_in))


def cell_in(value: Cell, kind: Kind, language: Language) -> Cell:
    """A value of a table in a language: names and numbers stay, texts and words of ours do not."""
    if isinstance(value, bool):
        return in_language("yes" if value else "no", language)
    if isinstance(value, str):
        if kind in {"state", "alarm"}:
            return _state(value, language)
        return in_language(value, language) if kind == "word" else _told(value, language)
    if isinstance(value, list | tuple) and any(isinstance(part, Text) for part in value):
        return [in_value(part, language) for part in value]
    return value


def _state(value: str, language: Language) -> str:
    """The word of a state with the text behind its colon; the English word still decides its colour."""
    if isinstance(value, Text):
        said = in_language(value, language)
    else:
        word, colon, more = value.partition(":")
        said = in_language(word, language) + colon + more
    shown = Text(said)
    shown.template, shown.values, shown.more = value, {}, None
    return shown


def _told(text: str, language: Language) -> str:
    return in_language(text, language) if isinstance(text, Text) else text


def drawing_in(drawing: Shape, language: Language) -> Shape:
    """A drawing's titles, labels, units and descriptions in a language; where a label is a name it stays what it is."""
    return drawing if language == "en" else cast("Shape", _drawing_in(drawing, language))


def _drawing_in(drawing: Drawing, language: Language) -> Drawing:
    def told(names: Iterable[str]) -> list[str]:
        return [_told(name, language) for name in names]

    def said(text: str) -> str:
        return in_language(text, language)

    title, description = said(drawing.title), said(drawing.description)
    match drawing:
        case Chart(lines=lines, subtitle=subtitle, unit=unit):
            drawing = replace(drawing, title=title, subtitle=said(subtitle), unit=said(unit), description=description)
            return replace(drawing, lines=dict(zip(told(lines), lines.values(), strict=True)))
        case BarChart(labels=labels, unit=unit):
            drawing = replace(drawing, title=title, labels=told(labels), unit=said(unit), description=description)
            intervals = {said(name): ends for name, ends in drawing.intervals.items()}
            return replace(drawing, bars={said(name): bar for name, bar in drawing.bars.items()}, intervals=intervals)
        case Ranking(labels=labels, words=words, subtitle=subtitle):
            drawing = replace(drawing, title=title, subtitle=said(subtitle), description=description)
            return replace(drawing, labels=told(labels), words=told(words))
        case Waterfall(parts=parts, whole=(name, size), subtitle=subtitle, unit=unit):
            drawing = replace(drawing, title=title, subtitle=said(subtitle), unit=said(unit), description=description)
            named = [(_told(part, language), difference) for part, difference in parts]
            return replace(drawing, parts=named, whole=(_told(name, language), size))


_IN_NS: Mapping[Kind, int] = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""What one of such a column is in nanoseconds."""
_CAPTIONED = ("rank_id", "device_id", "hardware")
"""Columns that move into the caption where all rows have the same value."""


def with_units(grid: Grid) -> Grid:
    """The table with one unit for each column of times or sizes, chosen by its largest value; one for each cell where values span too much."""
    return replace(grid, columns=tuple(_with_unit(column, grid.rows) for column in grid.columns))


def _with_unit(column: Column, rows: Sequence[Cells]) -> Column:
    in_ns = _IN_NS.get(column.kind)
    if in_ns is None and column.kind != "size":
        return column
    smallest, largest, has_texts = _span(column, rows)
    if in_ns is None:
        return column if largest > MAX_SPAN * smallest else _in_one_size(column, largest)
    if has_texts and not largest:
        return replace(column, kind="text")  # each value has its own unit
    if largest > MAX_SPAN * smallest:
        return replace(column, kind="duration", factor=in_ns)
    largest *= in_ns
    least = TIME_UNITS[-1] if largest else next(unit for unit in TIME_UNITS if unit[0] == in_ns)
    size, unit = next((unit for unit in TIME_UNITS if largest >= unit[0]), least)
    return replace(column, title=f"{column.title} ({unit})", kind="time", factor=in_ns / size)


def _in_one_size(column: Column, largest: float) -> Column:
    size, unit = size_unit(largest)
    return replace(column, title=f"{column.title} ({unit})", kind="time", factor=1 / size)


def _span(column: Column, rows: Sequence[Cells]) -> tuple[float, float, bool]:
    """(the smallest size above 0 of a column, its largest, whether it has texts)."""
    smallest, largest, has_texts = math.inf, 0.0, False
    for row in rows:
        value = row.get(column.key)
        has_texts = has_texts or isinstance(value, str)
        if size := _size_of(value):
            smallest, largest = min(smallest, size), max(largest, size)
    return smallest, largest, has_texts


def _size_of(value: Cell) -> float:
    return abs(value) if isinstance(value, int | float) and math.isfinite(value) else 0


def with_caption(section: Section, language: Language = "en") -> Section:
    """The section with what is the same in all rows of its table above them."""
    grid = section.grid
    if grid is None or len(grid.rows) < 2:  # noqa: PLR2004 -- one row needs no caption
        return section
    first = grid.rows[0]
    same = [
        one
        for one in grid.columns
        if one.key in _CAPTIONED and all(row.get(one.key) == first.get(one.key) for row in grid.rows)
    ]
    if not same:
        return section
    caption = " · ".join(
        in_language(say("{word}: {meaning}", word=one.title, meaning=show(first.get(one.key), one.kind)), language)
        for one in same
    )
    columns = tuple(column for column in grid.columns if column not in same)
    return replace(section, sentences=[*section.sentences, caption], grid=replace(grid, columns=columns))
