"""How things look; none of the functions opens a file.

RENDERERS: format → function from a Report to text. CHECK_RENDERERS: format of CI systems → function from what `check` found.
REGRESSION_RENDERERS: format of CI systems and dashboards → function from what `regressions` found.
"""

from __future__ import annotations

from collections.abc import Callable

from aoe_reports.reports.changes import Changes
from aoe_reports.reports.checked import Checked
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


def _junit(checked: Checked) -> str:
    from aoe_reports.renderers.junit import render  # noqa: PLC0415

    return render(checked)


def _sarif(checked: Checked) -> str:
    from aoe_reports.renderers.sarif import render  # noqa: PLC0415

    return render(checked)


def _github(checked: Checked) -> str:
    from aoe_reports.renderers.github import render  # noqa: PLC0415

    return render(checked)


CHECK_RENDERERS: dict[str, Callable[[Checked], str]] = {"junit": _junit, "sarif": _sarif, "github": _github}


def _regressions_junit(changes: Changes) -> str:
    from aoe_reports.renderers.regressions_junit import render  # noqa: PLC0415

    return render(changes)


def _regressions_sarif(changes: Changes) -> str:
    from aoe_reports.renderers.regressions_sarif import render  # noqa: PLC0415

    return render(changes)


def _openmetrics(changes: Changes) -> str:
    from aoe_reports.renderers.openmetrics import render  # noqa: PLC0415

    return render(changes)


def _grafana(changes: Changes) -> str:
    from aoe_reports.renderers.grafana import render  # noqa: PLC0415

    return render(changes)


REGRESSION_RENDERERS: dict[str, Callable[[Changes], str]] = {
    "junit": _regressions_junit,
    "sarif": _regressions_sarif,
    "openmetrics": _openmetrics,
    "grafana": _grafana,
}
