"""A report as one HTML page that needs nothing but itself: no script, no request, every text escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from aoe_reports.locale import html_tag
from aoe_reports.model.documents import Cells
from aoe_reports.model.report import PAGES, Drawing, Grid, Pages, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Language, in_language
from aoe_reports.present.values import STATES, WORDS, cell, look_of, plain


@cache
def _template(name: str) -> Template:
    loader = PackageLoader("aoe_reports.present")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template(f"{name}.html.j2")


def render_part(report: Report, **more: object) -> str:
    """The report as a part of another page, such as a notebook, without charts; `more` fills the last line."""
    return _template("notebook").render(
        title=plain(report.title),
        headline=plain(report.headline),
        sections=[_section(replace(section, chart=None), report) for section in report.sections],
        **more,
    )


def render(report: Report) -> str:
    """The whole report, charts as pictures inside the page."""
    return (
        _template("report").render(
            language=html_tag(report.language),
            title=plain(report.title),
            headline=plain(report.headline),
            pages=(report.pages.first, in_language(PAGES, report.language)) if report.pages.first else (),
            sections=[_section(section, report) for section in report.sections],
        )
        + "\n"
    )


class _Cell(NamedTuple):
    """A cell: its CSS class and its content."""

    kind: str
    text: str = ""
    href: str = ""
    bars: Sequence[str] = ()


class _Shown(NamedTuple):
    title: str
    sentences: Sequence[str]
    lines: Sequence[str]
    figure: str
    alt: str
    head: Sequence[_Cell]
    rows: Sequence[Sequence[_Cell]]


def _section(section: Section, report: Report) -> _Shown:
    grid = section.grid or Grid((), ())
    return _Shown(
        title=plain(section.title),
        sentences=[plain(sentence) for sentence in section.sentences],
        lines=[plain(line) for line in section.lines],
        figure=_picture(section.chart, report.language) if section.chart else "",
        alt=plain(section.chart.description) if section.chart else "",
        head=[_Cell(_class(column), plain(column.title)) for column in grid.columns],
        rows=[[_cell(row, column, report.pages) for column in grid.columns] for row in grid.rows],
    )


def _cell(row: Cells, column: Column, pages: Pages) -> _Cell:
    value = row.get(column.key)
    if column.kind == "bars":
        lengths = [one for one in value if isinstance(one, Decimal | float)] if isinstance(value, tuple) else []
        return _Cell("bars", bars=[f"{max(100 * length, 0):.2f}" for length in lengths])
    text = cell(row, column)
    if column.kind in STATES:
        return _Cell(look_of(row, column) or "text", text)
    kind = "text long" if column.kind in WORDS and len(text) > LONG else _class(column)
    return _Cell(kind, text, pages.of_cell(column.key, row))


def _class(column: Column) -> str:
    return "text" if column.kind in WORDS else column.kind if column.kind in STATES | {"bars"} else "number"


LONG = 24
"""Characters from which on a text gets a wider column to wrap in."""


def _picture(chart: Drawing, language: Language) -> str:
    from aoe_reports.present.figures import draw  # noqa: PLC0415 -- half a second that a page without charts saves

    return "data:image/svg+xml;base64," + base64.b64encode(draw(chart, language).encode()).decode()
