"""A report as one HTML page that needs nothing but itself: no script, no request, every text escaped."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from aoe_reports.renderers.values import plain, show
from aoe_reports.reports.report import Chart, Report, Section


@cache
def _template() -> Template:
    loader = PackageLoader("aoe_reports.renderers")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("report.html.j2")


def render(report: Report) -> str:
    """The whole report, charts as pictures inside the page."""
    return (
        _template().render(
            title=plain(report.title),
            headline=plain(report.headline),
            sections=[_section(section) for section in report.sections],
        )
        + "\n"
    )


def _section(section: Section) -> dict[str, Any]:
    grid = section.grid
    numeric = [column.kind != "text" for column in grid.columns] if grid else []
    return {
        "title": plain(section.title),
        "sentences": [plain(sentence) for sentence in section.sentences],
        "lines": [plain(line) for line in section.lines],
        "figure": _picture(section.chart) if section.chart else "",
        "alt": plain(section.chart.description) if section.chart else "",
        "head": [_cell(plain(c.title), n) for c, n in zip(grid.columns, numeric, strict=True)] if grid else [],
        "rows": [
            [_cell(show(row.get(c.key), c.kind), n) for c, n in zip(grid.columns, numeric, strict=True)]
            for row in grid.rows
        ]
        if grid
        else [],
    }


def _cell(text: str, number: bool) -> dict[str, Any]:
    return {"text": text, "number": number}


def _picture(chart: Chart) -> str:
    from aoe_reports.renderers.figures import draw  # noqa: PLC0415 -- half a second that a page without charts saves

    return "data:image/svg+xml;base64," + base64.b64encode(draw(chart).encode()).decode()
