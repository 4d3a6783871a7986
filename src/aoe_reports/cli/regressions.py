"""`regressions`: what got slower or faster in the store."""

from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import DEFAULT_STORE, Output, Store, say, write
from aoe_reports.errors import UsageError

RegressionFormat = Literal["text", "json", "csv", "markdown", "html", "junit", "sarif", "openmetrics", "grafana"]


def regressions(
    store: Store = DEFAULT_STORE,
    workload: Annotated[str | None, typer.Option(help="Only this model, or workload.", show_default=False)] = None,
    scope: Annotated[
        Literal["model", "step", "op_type", "op", "communication", "subgraph"] | None,
        typer.Option(help="Only series of this scope.", show_default=False),
    ] = None,
    alarms: Annotated[
        float,
        typer.Option(
            "--max-false-alarms-per-year",
            min=1e-6,
            max=1e9,
            help="How many false alarms a year the whole store may raise; its series share them.",
        ),
    ] = 12.0,
    gate: Annotated[
        list[str] | None,
        typer.Option(help='Fail only on such changes: "scope=step,effect>=3%"; may be repeated.', show_default=False),
    ] = None,
    fail_on: Annotated[
        Literal["confirmed", "suspect", "never"],
        typer.Option(help="Exit with 1 on what is confirmed; with suspect, with 5 on what is only suspected, too."),
    ] = "confirmed",
    strict_data: Annotated[
        bool, typer.Option("--strict-data", help="Exit with 4 when no series has enough nights.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Series that did not change, or cannot be judged, too.")] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole-history",
            help="Every change since the first night, looked at once; the false alarms are then those of this look. Fails on none.",
        ),
    ] = False,
    form: Annotated[RegressionFormat, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
) -> None:
    """Say what got slower or faster in the stored nights, since when, by how much, and which operators did it."""
    from aoe_reports import __version__
    from aoe_reports.regression.gate import Gate, parse_gate
    from aoe_reports.renderers import REGRESSION_RENDERERS
    from aoe_reports.reports.changes import Changes
    from aoe_reports.workflows.regressions import RegressionSelection, find_regressions

    try:
        gates = tuple(map(parse_gate, gate or ())) or (Gate(),)
    except ValueError as error:
        raise UsageError(f"--gate {error}") from error
    found = find_regressions(store, RegressionSelection(workload, scope, alarms, gates, fail_on, every, whole))
    reasons = [reason for reason in found.reasons if reason != "not-enough-data" or strict_data]
    if form == "json":
        from aoe_reports.renderers.as_json import render_rows

        text = render_rows("regressions", [store], found.rows, found.findings, reasons, {"budget": found.budget})
    elif form == "csv":
        from aoe_reports.renderers.csv import render_rows as render_csv

        text = render_csv(found.rows)
    elif form in REGRESSION_RENDERERS:
        changes = Changes(found.rows, found.budget, found.findings, reasons, store, __version__)
        text = REGRESSION_RENDERERS[form](changes)
    else:
        from aoe_reports.renderers import RENDERERS
        from aoe_reports.reports.regressions import regressions_report

        text = RENDERERS[form](regressions_report(found.rows, found.budget))
    write(text, output)
    if form not in {"json", "junit", "sarif"}:  # those tell them themselves
        say(found.findings)
    codes = {"regression": 1, "suspect": 5, "not-enough-data": 4}
    raise typer.Exit(next((code for reason, code in codes.items() if reason in reasons), 0))
