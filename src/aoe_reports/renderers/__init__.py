"""How a report looks. RENDERERS: format → function from a Report to text; none of them opens a file."""

from __future__ import annotations

from collections.abc import Callable

from aoe_reports.reports.report import Report


def _text(report: Report) -> str:
    from aoe_reports.renderers.text import render  # noqa: PLC0415

    return render(report)


def _markdown(report: Report) -> str:
    from aoe_reports.renderers.markdown import render  # noqa: PLC0415

    return render(report)


def _html(report: Report) -> str:
    from aoe_reports.renderers.html import render  # noqa: PLC0415 -- jinja2, and matplotlib behind it

    return render(report)


RENDERERS: dict[str, Callable[[Report], str]] = {"text": _text, "markdown": _markdown, "html": _html}
