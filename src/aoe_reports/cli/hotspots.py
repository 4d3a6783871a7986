"""`hotspots`: where device time goes."""

from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import (
    AllTasks,
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


def hotspots(
    paths: Paths,
    by: Annotated[Literal["op_type", "op_name", "shape"], typer.Option(help="What makes up a row.")] = "op_type",
    top: Annotated[int, typer.Option(min=1, help="How many rows for each rank of each run.")] = 20,
    rank: Rank = None,
    device: Device = None,
    step: Step = None,
    all_tasks: AllTasks = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Rank operator types, operators or shapes by device time; std is the sample's, shares are of all computing."""
    from aoe_reports.workflows.hotspots import Selection, find_hotspots

    found = find_hotspots(paths, Selection(by, top, rank, device, step, all_tasks, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    write(render(form, "hotspots", "Hotspots", paths, found.rows, found.findings, reasons), output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
