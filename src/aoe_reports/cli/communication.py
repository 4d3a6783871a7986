"""`communication`: who waited, which link was slow, what all-reduce is left behind the backward pass."""

from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.output import (
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


def communication(
    paths: Paths,
    bank: Annotated[
        Path | None,
        typer.Option(help="A bank of gradient tuning (<soc>_gradient_fusion.json).", show_default=False),
    ] = None,
    rank: Rank = None,
    step: Step = None,
    top: Annotated[int, typer.Option(min=1, help="How many operators and links of each run.")] = 20,
    form: Annotated[
        Format, typer.Option("--format", help="Form of the output; csv has the operators by rank, group and type.")
    ] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Tell of communication by group, link and rank: time, waiting, bandwidth; slow links, slow ranks, the gradients' tail."""
    from aoe_reports.workflows.communication import CommunicationSelection, find_communication

    found = find_communication(paths, CommunicationSelection(rank, step, top, bank, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    if form == "json":
        from aoe_reports.renderers.as_json import render_rows

        inputs = [str(path) for path in paths]
        text = render_rows("communication", inputs, found.rows, found.findings, reasons, found.tables)
    elif form == "csv":
        from aoe_reports.renderers.csv import render_rows as render_csv

        text = render_csv(found.rows)
    else:
        from aoe_reports.reports.communication import communication_report

        text = show_report(form, communication_report(found.rows, found.tables))
    write(text, output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
