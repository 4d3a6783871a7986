"""`regressions`: what got slower or faster in the store."""

from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import FORM, Output, print_findings, show_report, write
from aoe_reports.history.options import EXIT_CODES, RegressionOptions, StoreOptions

RegressionFormat = Literal["text", "json", "csv", "markdown", "html", "junit", "sarif", "openmetrics", "grafana"]


def regressions(
    chosen: RegressionOptions,
    place: StoreOptions,
    form: Annotated[RegressionFormat, FORM] = "text",
    output: Output = None,
) -> None:
    """Say what got slower or faster in the stored nights, since when, by how much, and which operators did it."""
    from aoe_reports.history.regressions import find_regressions
    from aoe_reports.model.version import __version__
    from aoe_reports.present import REGRESSION_RENDERERS
    from aoe_reports.present.reports.changes import Changes

    store = place.store
    found = find_regressions(store, chosen)
    reasons = [reason for reason in found.reasons if reason != "not-enough-data" or chosen.strict_data]
    if form == "json":
        from aoe_reports.present.as_json import render_rows

        text = render_rows(
            "regressions",
            [store],
            found.rows,
            found.findings,
            reasons,
            {"budget": found.budget, "incidents": found.incidents},
        )
    elif form == "csv":
        from aoe_reports.present.csv import render_rows as render_csv

        text = render_csv(found.rows)
    elif form in REGRESSION_RENDERERS:
        changes = Changes(found.rows, found.budget, found.findings, reasons, store, __version__)
        text = REGRESSION_RENDERERS[form](changes)
    else:
        from aoe_reports.present.reports.regressions import regressions_report

        text = show_report(form, regressions_report(found.rows, found.budget, found.incidents, found.remark))
    write(text, output)
    if form not in {"json", "junit", "sarif"}:  # those tell them themselves
        print_findings(found.findings)
    raise typer.Exit(next((code for reason, code in EXIT_CODES.items() if reason in reasons), 0))
