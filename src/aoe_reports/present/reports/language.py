"""A report in the language of those who read it: everything of ours is translated, nothing that comes from files is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast, overload

from aoe_reports.model.documents import Cell, Cells
from aoe_reports.model.report import BarChart, Chart, Drawing, Grid, Ranking, Report, Section, Waterfall
from aoe_reports.model.rows import Column, Kind
from aoe_reports.model.texts import Language, Text, in_language, in_value
from aoe_reports.present.units import with_caption, with_units

Shape = TypeVar("Shape", bound=Drawing)
"""A kind of drawing."""


def report_in(report: Report, language: Language) -> Report:
    """The same report as somebody who reads a language sees it, with units and captions."""
    if language != "en":
        report = _translated(report, language)
    return replace(report, sections=[_arranged(section, language) for section in report.sections])


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
    columns = tuple(replace(column, title=in_language(column.title, language)) for column in grid.columns)
    return replace(grid, columns=columns, rows=_Rows(grid.rows, grid.columns, language))


@dataclass(frozen=True, slots=True)
class _Rows(Sequence[Cells]):
    """Rows that are translated while they are gone through: there may be too many to be held."""

    rows: Sequence[Cells]
    columns: Sequence[Column]
    language: Language

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Cells]:
        return map(self._row, self.rows)

    @overload
    def __getitem__(self, index: int) -> Cells: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Cells]: ...
    def __getitem__(self, index: int | slice) -> Cells | Sequence[Cells]:
        if isinstance(index, slice):
            return _Rows(self.rows[index], self.columns, self.language)
        return self._row(self.rows[index])

    def _row(self, row: Cells) -> Cells:
        return {column.key: cell_in(row.get(column.key), column.kind, self.language) for column in self.columns}


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
    """A state's word, with what stands behind its colon; how it looks is known by the English word."""
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
