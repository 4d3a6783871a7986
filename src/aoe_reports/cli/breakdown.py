"""`breakdown`: what devices did, and where they did nothing."""

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


def breakdown(
    paths: Paths,
    gaps: Annotated[int, typer.Option(min=0, max=1000, help="How many of the longest gaps of a device.")] = 10,
    rank: Rank = None,
    device: Device = None,
    step: Step = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the output; csv has no gaps.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Tell from timelines what each device did (a row without step is all of its time), and its longest gaps."""
    from aoe_reports.workflows.breakdown import BreakdownSelection, find_breakdown

    found = find_breakdown(paths, BreakdownSelection(rank, device, step, gaps, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    if form == "json":
        from aoe_reports.renderers.as_json import render_rows

        inputs = [str(path) for path in paths]
        text = render_rows("breakdown", inputs, found.rows, found.findings, reasons, {"gaps": found.gaps})
    elif form == "csv":
        from aoe_reports.renderers.csv import render_rows as render_csv

        text = render_csv(found.rows)
    else:
        from aoe_reports.reports.rows import breakdown_report

        text = show_report(form, breakdown_report(found.rows, found.gaps))
    write(text, output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
