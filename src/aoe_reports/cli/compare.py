"""`compare`: what takes longer or shorter than before."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import (
    AllTasks,
    Device,
    Format,
    MaxExpanded,
    Output,
    Rank,
    Step,
    Strict,
    exit_code,
    print_findings,
    show_report,
    write,
)
from aoe_reports.findings import reasons_of


def compare(
    baseline: Annotated[Path, typer.Argument(help="What is compared with: one run.", show_default=False)],
    candidates: Annotated[
        list[Path], typer.Argument(help="What is compared: one run each, against the baseline.", show_default=False)
    ],
    by: Annotated[
        Literal["op_type", "op_name", "shape", "communication", "step"], typer.Option(help="What makes up a row.")
    ] = "op_type",
    top: Annotated[int, typer.Option(min=1, help="How many rows for each rank of each candidate.")] = 20,
    rank: Rank = None,
    device: Device = None,
    step: Step = None,
    all_tasks: AllTasks = False,
    force: Annotated[bool, typer.Option("--force", help="Compare even what is known not to be comparable.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Compare profiles: difference = candidate - baseline, ratio = candidate / baseline, the largest change first."""
    from aoe_reports.workflows.compare import METHOD, CompareOptions, compare_paths

    paths = [baseline, *candidates]
    found = compare_paths(paths, CompareOptions(by, top, rank, device, step, all_tasks, force, max_expanded))
    reasons = reasons_of(found.findings, strict=strict)
    if form == "json":
        from aoe_reports.renderers.as_json import render_rows

        more = {"totals": found.totals, "method": METHOD}
        text = render_rows("compare", [str(path) for path in paths], found.rows, found.findings, reasons, more)
    elif form == "csv":
        from aoe_reports.renderers.csv import render_rows as render_csv

        text = render_csv(found.rows)
    else:
        from aoe_reports.reports.compared import compare_report

        text = show_report(form, compare_report(found.rows, found.totals, METHOD))
    write(text, output)
    if form != "json":
        print_findings(found.findings)
    raise typer.Exit(exit_code(found.findings, unreadable=found.unreadable, strict=strict))
