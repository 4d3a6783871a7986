"""`advise`: what could be gained, and where to look first."""

from typing import Annotated

import typer

from aoe_reports.cli.output import (
    Device,
    Format,
    MaxExpanded,
    Output,
    Paths,
    Rank,
    Step,
    Strict,
    exit_code,
    print_findings,
    show_report,
    write,
)
from aoe_reports.findings import reasons_of


def advise(
    ctx: typer.Context,
    paths: Paths,
    top: Annotated[int, typer.Option(min=1, help="How many rows for each device of each run.")] = 20,
    rank: Rank = None,
    device: Device = None,
    step: Step = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Say what could be gained at most, and how: communication, free time, what bounds operators; msprof's advice beside."""
    from aoe_reports.analysis.advice import Thresholds
    from aoe_reports.cli.configuration import thresholds_of
    from aoe_reports.workflows.advise import AdviseSelection, advise_paths

    thresholds = thresholds_of(ctx) or Thresholds()
    found = advise_paths(paths, AdviseSelection(top, rank, device, step, thresholds, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    if form == "json":
        from aoe_reports.renderers.as_json import render_rows

        inputs = [str(path) for path in paths]
        text = render_rows("advise", inputs, found.rows, found.findings, reasons, {"headlines": found.headlines})
    elif form == "csv":
        from aoe_reports.renderers.csv import render_rows as render_csv

        text = render_csv(found.rows)
    else:
        from aoe_reports.analysis.advice import RULES
        from aoe_reports.reports.advice import advice_report

        titles = {name: (rule.title, rule.source) for name, rule in RULES.items()}
        text = show_report(form, advice_report(found.rows, found.headlines, titles))
    write(text, output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
