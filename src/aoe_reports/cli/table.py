"""`table`: one normalised table."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.output import Output, Strict, exit_code, render, say, write
from aoe_reports.errors import UsageError
from aoe_reports.findings import reasons_of

TableFormat = Literal["csv", "json", "parquet"]


def table(
    kind: Annotated[str | None, typer.Argument(help="Kind of table, as `--list` names it.", show_default=False)] = None,
    path: Annotated[Path | None, typer.Argument(help="File or folder.", show_default=False)] = None,
    form: Annotated[TableFormat, typer.Option("--format", help="Form of the output.")] = "csv",
    listed: Annotated[bool, typer.Option("--list", help="List every kind that can be read.")] = False,
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Print one table under canonical names and units (times in us, time stamps in ns)."""
    from aoe_reports.workflows.table import list_tables, read_tables, write_parquet

    if listed:
        write(
            render("json" if form == "json" else "text", "table", "Tables", [], list_tables(), [], [], of="tables"),
            output,
        )
        return
    if kind is None or path is None:
        raise UsageError("table: expected a KIND and a PATH, or --list")
    frame, rows, findings, unreadable = read_tables(kind, path)
    reasons = reasons_of(findings, strict=strict)
    if form == "parquet":
        if output is None:
            raise UsageError("table --format parquet: expected -o FILE (Parquet is not for a terminal)")
        write_parquet(frame, output)
    else:
        write(render("json" if form == "json" else "csv", "table", kind, [path], rows, findings, reasons), output)
    if form != "json":
        say(findings)
    raise typer.Exit(exit_code(findings, unreadable=unreadable, strict=strict))
