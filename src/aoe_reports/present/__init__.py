"""How things look; none of the functions opens a file.

RENDERERS: format → function from a Report to text; `present.forms` has the forms of an answer.
REGRESSION_RENDERERS: format of CI systems and dashboards → function from what `regressions` found.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoe_reports.model.report import Report
    from aoe_reports.present.reports.changes import Changes


def _renderer(module: str, function: str = "render") -> Callable[[Any], str]:
    """A function of a module; the module is imported when the first text is wanted: some take half a second."""

    def render(report: Any) -> str:
        text: str = getattr(import_module(f"aoe_reports.present.{module}"), function)(report)
        return text

    return render


RENDERERS: dict[str, Callable[[Report], str]] = {form: _renderer(form) for form in ("text", "markdown", "html")}
REGRESSION_RENDERERS: dict[str, Callable[[Changes], str]] = {
    "junit": _renderer("ci.junit", "render_regressions"),
    "sarif": _renderer("ci.sarif", "render_regressions"),
    "github": _renderer("ci.github", "render_regressions"),
    "openmetrics": _renderer("ci.openmetrics"),
    "grafana": _renderer("ci.grafana"),
}
