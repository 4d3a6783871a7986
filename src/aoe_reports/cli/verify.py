"""`verify`: AOE's claim against the clock."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import (
    STORE_VARIABLE,
    Device,
    Format,
    MaxExpanded,
    Output,
    Rank,
    Strict,
    Workload,
    exit_code,
    print_findings,
    show_report,
    write,
)


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)],
    after: Annotated[Path, typer.Option(metavar="PROFILE", help="A profile with the tuned bank.", show_default=False)],
    before: Annotated[
        Path | None,
        typer.Option(metavar="PROFILE", help="A profile before tuning [default: the plan's].", show_default=False),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(help="AOE's results, where they are not in DIR (repeatable).", show_default=False),
    ] = None,
    accept: Annotated[
        Literal["confirmed", "partly", "step", "all"],
        typer.Option(help="What passes: something confirmed, partly suffices, the step itself, every operator."),
    ] = "confirmed",
    store: Annotated[
        str | None,
        typer.Option(envvar=STORE_VARIABLE, help="Folder or URI of the store for the verdicts.", show_default=False),
    ] = None,
    workload: Workload = None,
    rank: Rank = None,
    device: Device = None,
    force: Annotated[bool, typer.Option("--force", help="Compare even what is known not to be comparable.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Hold AOE's claims against two profiles: confirmed, partly, not-reproduced, regressed, not-comparable; why, what next."""
    from aoe_reports.jobs.verify import verify as verify_job
    from aoe_reports.jobs.verify_case import VerifyWish
    from aoe_reports.present.as_json import render_rows
    from aoe_reports.present.csv import render_rows as render_csv

    wish = VerifyWish(
        before=before,
        after=after,
        results=tuple(results or ()),
        accept=accept,
        store=store,
        workload=workload,
        rank=rank,
        device=device,
        force=force,
        strict=strict,
        max_expanded=max_expanded,
        language=spoken(),
    )
    done = verify_job(folder, wish)
    if form == "json":
        write(render_rows("verify", [str(folder)], done.rows, done.findings, done.reasons, done.more), output)
    elif form == "csv":
        write(render_csv(done.rows), output)
    elif done.report is not None:
        write(show_report(form, done.report), output)
    if form != "json":
        print_findings(done.findings)
    raise typer.Exit(exit_code(done.findings, unreadable=done.unreadable, strict=strict, reasons=done.reasons))
