"""`steps`: how long each step or iteration took, and on what."""

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
    render,
    write,
)
from aoe_reports.findings import reasons_of


def steps(
    paths: Paths,
    rank: Rank = None,
    device: Device = None,
    step: Step = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """List steps and iterations by rank: how long each took, on what, and which rank was the slowest."""
    from aoe_reports.workflows.steps import StepSelection, find_steps

    found = find_steps(paths, StepSelection(rank, device, step, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    write(render(form, "steps", "Steps", paths, found.rows, found.findings, reasons), output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
