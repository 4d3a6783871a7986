"""`table`: one normalised table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aoe_reports.cli.output import (
    MaxExpanded,
    Output,
    Strict,
    exit_code,
    print_findings,
    render,
    write,
    write_pieces,
)
from aoe_reports.errors import UsageError
from aoe_reports.findings import Finding, reasons_of
from aoe_reports.texts import say

if TYPE_CHECKING:
    from aoe_reports.workflows.table import Asked

TableFormat = Literal["csv", "json", "parquet"]


def table(
    kind: Annotated[str | None, typer.Argument(help="Kind of table, as `--list` names it.", show_default=False)] = None,
    path: Annotated[Path | None, typer.Argument(help="File or folder.", show_default=False)] = None,
    form: Annotated[TableFormat, typer.Option("--format", help="Form of the output.")] = "csv",
    listed: Annotated[bool, typer.Option("--list", help="List every kind that can be read.")] = False,
    output: Output = None,
    strict: Strict = False,
    max_expanded: MaxExpanded = None,
) -> None:
    """Print one table or timeline under canonical names and units (durations in us, time stamps in ns)."""
    from aoe_reports.workflows.table import Asked, list_tables

    if listed:
        write(
            render("json" if form == "json" else "text", "table", "Tables", [], list_tables(), [], [], of="tables"),
            output,
        )
        return
    if kind is None or path is None:
        raise UsageError(say("table: expected a KIND and a PATH, or --list"))
    if form == "parquet" and output is None:
        raise UsageError(say("table --format parquet: expected -o FILE (Parquet is not for a terminal)"))
    asked = Asked(kind, path, max_expanded)
    if form == "parquet" and output is not None:
        asked.write_parquet(output)
    else:
        write_pieces(_pieces(asked, form, path, strict=strict), output)
    if form != "json":
        print_findings(asked.findings)
    raise typer.Exit(exit_code(asked.findings, unreadable=asked.unreadable, strict=strict))


def _pieces(asked: "Asked", form: TableFormat, path: Path, *, strict: bool) -> Iterator[str]:
    if form == "json":
        from aoe_reports.renderers.as_json import render_pieces

        def end() -> tuple[list[Finding], list[str]]:
            return asked.findings, reasons_of(asked.findings, strict=strict)

        yield from render_pieces("table", [str(path)], asked.rows(), end)
        return
    from aoe_reports.renderers.csv import render_rows

    header = True
    for rows in asked.rows():
        yield render_rows(rows, header=header)
        header = header and not rows
