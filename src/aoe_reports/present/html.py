"""A report as one HTML page that needs nothing but itself: no script, no request, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from aoe_reports.locale import html_tag
from aoe_reports.model.documents import Cells
from aoe_reports.model.report import PAGES, Drawing, Grid, Pages, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Language, in_language, say
from aoe_reports.present.style import style_sheet
from aoe_reports.present.values import STATES, WORDS, cell, look_of, plain

if TYPE_CHECKING:
    from aoe_reports.model.pictures import Picture
    from aoe_reports.present.drawings.of_reports import ReportFigure


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
        sections=_sections([replace(section, chart=None) for section in report.sections], report),
        **more,
    )


def render(report: Report) -> str:
    """The whole report, charts inside the page."""
    shown = _sections([*report.sign_off, *report.sections], report)
    return (
        _template("report").render(
            language=html_tag(report.language),
            policy=Markup(_policy() + ("; img-src data:" if report.pictures else "")),
            style=Markup(style_sheet()),
            title=plain(report.title),
            headline=plain(report.headline),
            pictures=[_drawn(picture, report) for picture in report.pictures],
            pages=(report.pages.first, in_language(PAGES, report.language)) if report.pages.first else (),
            sections=shown[len(report.sign_off) :],
            sign_off=shown[: len(report.sign_off)],
            words=[in_language(words, report.language) for words in _SIGNED] if report.sign_off else (),
        )
        + "\n"
    )


_SIGNED = (say("Name"), say("Date"), say("Signature"), say("Measured by"), say("Approved by"), say("Details"))
"""The columns and rows that are filled in by hand, and what leads to the sections that are not printed."""


@cache
def _policy() -> str:
    """Nothing but the style sheet that the page holds."""
    digest = base64.b64encode(hashlib.sha256(style_sheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


class _Cell(NamedTuple):
    """A cell: its CSS class and its content; `state` is the class of a word on a state."""

    kind: str
    text: str = ""
    href: str = ""
    state: str = ""
    bars: Markup = Markup()


class _Shown(NamedTuple):
    title: str
    region: str
    """What the table is called where it scrolls."""
    chart_region: str
    sentences: Sequence[str]
    lines: Sequence[str]
    figure: ReportFigure | None
    head: Sequence[_Cell]
    rows: Sequence[Sequence[_Cell]]


class _Image(NamedTuple):
    """A picture as an image inside the page: its own styles apply to it alone."""

    source: str
    alt: str
    region: str


def _drawn(picture: Picture, report: Report) -> _Image:
    from aoe_reports.present.drawings.svg import description_in, svg_of  # noqa: PLC0415 -- numpy, as below

    name = description_in(picture, report.language)
    source = base64.b64encode(svg_of([picture], report.language).encode()).decode()
    return _Image(f"data:image/svg+xml;base64,{source}", name, _region(report.title, report))


def _region(name: str, report: Report) -> str:
    return in_language(say("{what}: chart, scrolls horizontally", what=name), report.language)


def _sections(sections: Sequence[Section], report: Report) -> list[_Shown]:
    """All sections; those of one title get numbers, by which readers of screens tell their tables apart."""
    counts: Counter[str] = Counter()
    shown = []
    for section in sections:
        name = plain(section.title or report.title)
        counts[name] += 1
        shown.append(_section(section, f"{name} {counts[name]}" if counts[name] > 1 else name, report))
    return shown


def _section(section: Section, name: str, report: Report) -> _Shown:
    grid = section.grid or Grid((), ())
    return _Shown(
        title=plain(section.title),
        region=in_language(say("{what}: scrolls horizontally", what=name), report.language),
        chart_region=_region(name, report),
        sentences=[plain(sentence) for sentence in section.sentences],
        lines=[plain(line) for line in section.lines],
        figure=_figure(section.chart, report.language) if section.chart else None,
        head=[_Cell(_class(column), plain(column.title)) for column in grid.columns],
        rows=[[_cell(row, column, report.pages) for column in grid.columns] for row in grid.rows],
    )


def _cell(row: Cells, column: Column, pages: Pages) -> _Cell:
    value = row.get(column.key)
    if column.kind == "bars":
        return _Cell("", bars=_bars(value))
    text = cell(row, column)
    if column.kind in STATES:
        return _Cell("", text, state=look_of(row, column) or "")
    kind = "text long" if column.kind in WORDS and len(text) > LONG else _class(column)
    return _Cell(kind, text, pages.of_cell(column.key, row))


def _class(column: Column) -> str:
    if column.kind == "word" or column.kind in STATES | {"bars"}:
        return ""
    return "text" if column.kind in WORDS else "number"


LONG = 24
"""Characters from which on a text gets a wider column to wrap in."""


def _bars(value: object) -> Markup:
    """Before and after as shares of the longest bar of the table."""
    from aoe_reports.present.drawings.charts import pair  # noqa: PLC0415 -- numpy, which pages without charts spare

    lengths = (
        [float(length) for length in value if isinstance(length, Decimal | float)] if isinstance(value, tuple) else []
    )
    return pair(lengths[0], lengths[1], 1.0) if len(lengths) == len(("before", "after")) else Markup()


def _figure(chart: Drawing, language: Language) -> ReportFigure:
    from aoe_reports.present.drawings.of_reports import figure_of  # noqa: PLC0415 -- as above

    return figure_of(chart, language)
