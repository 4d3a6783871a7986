"""How things look; none of the functions opens a file.

RENDERERS: format → function from a Report to text; `present.forms` has the forms of an answer.
REGRESSION_RENDERERS: format of CI systems and dashboards → function from what `regressions` found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoe_reports.model.report import Report
    from aoe_reports.present.reports.changes import Changes


def _text(report: Report) -> str:
    from aoe_reports.present.text import render  # noqa: PLC0415

    return render(report)


def _markdown(report: Report) -> str:
    from aoe_reports.present.markdown import render  # noqa: PLC0415

    return render(report)


def _html(report: Report) -> str:
    from aoe_reports.present.html import render  # noqa: PLC0415 -- jinja2, and matplotlib behind it

    return render(report)


RENDERERS: dict[str, Callable[[Report], str]] = {"text": _text, "markdown": _markdown, "html": _html}


def _regressions_junit(changes: Changes) -> str:
    from aoe_reports.present.regressions_junit import render  # noqa: PLC0415

    return render(changes)


def _regressions_sarif(changes: Changes) -> str:
    from aoe_reports.present.regressions_sarif import render  # noqa: PLC0415

    return render(changes)


def _openmetrics(changes: Changes) -> str:
    from aoe_reports.present.openmetrics import render  # noqa: PLC0415

    return render(changes)


def _grafana(changes: Changes) -> str:
    from aoe_reports.present.grafana import render  # noqa: PLC0415

    return render(changes)


REGRESSION_RENDERERS: dict[str, Callable[[Changes], str]] = {
    "junit": _regressions_junit,
    "sarif": _regressions_sarif,
    "openmetrics": _openmetrics,
    "grafana": _grafana,
}
