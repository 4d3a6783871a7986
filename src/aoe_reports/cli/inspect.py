"""`inspect`: what every file is."""

from typing import Annotated

import typer

from aoe_reports.cli.output import (
    Format,
    MaxExpanded,
    Output,
    Paths,
    Strict,
    exit_code,
    print_findings,
    render,
    write,
)
from aoe_reports.findings import reasons_of


def inspect(
    paths: Paths,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Say what each file is: kind, source, vintage, run, rank, rows."""
    from aoe_reports.workflows.inspect import inspect_paths

    rows, findings, unreadable = inspect_paths(paths, max_expanded)
    reasons = reasons_of(findings, strict=strict)
    write(render(form, "inspect", "Files", paths, rows, findings, reasons), output)
    if form != "json":
        print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=unreadable, strict=strict))
