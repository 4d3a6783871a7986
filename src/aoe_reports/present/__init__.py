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


def _renderer(module: str) -> Callable[[Any], str]:
    """A module's `render`; the module is imported when the first text is wanted: some take half a second."""

    def render(told: Any) -> str:
        text: str = import_module(f"aoe_reports.present.{module}").render(told)
        return text

    return render


RENDERERS: dict[str, Callable[[Report], str]] = {form: _renderer(form) for form in ("text", "markdown", "html")}
REGRESSION_RENDERERS: dict[str, Callable[[Changes], str]] = {
    "junit": _renderer("regressions_junit"),
    "sarif": _renderer("regressions_sarif"),
    "github": _renderer("regressions_github"),
    "openmetrics": _renderer("openmetrics"),
    "grafana": _renderer("grafana"),
}
