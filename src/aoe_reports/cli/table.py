"""`table`: one normalised table."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from aoe_reports.cli.completion import completer
from aoe_reports.cli.guide import guided
from aoe_reports.cli.language import spoken
from aoe_reports.cli.output import FORM, Output, path_argument, print_findings, write_pieces
from aoe_reports.engine.question import ReadOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import in_order
from aoe_reports.model.options import Option
from aoe_reports.model.texts import say
from aoe_reports.present.forms import FORMS, Shown

TableFormat = Literal["csv", "json", "parquet"]


@guided(example="table kernel_details profile --format json", page="tables")
def table(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="Kind of table, as shown by `--list`.", show_default=False, autocompletion=completer("tables")
        ),
    ] = None,
    path: Annotated[Path | None, path_argument("File or folder.")] = None,
    form: Annotated[TableFormat, FORM] = "csv",
    listed: Annotated[
        bool, Option(help="List every kind that can be read.", flags=("--list",), only_here=say("additional output"))
    ] = False,
    output: Output = None,
    *,
    chosen: ReadOptions,
) -> None:
    """Print one table or timeline. Names and units are canonical (durations in us, time stamps in ns)."""
    from aoe_reports.present.streams import render_stream, write_parquet
    from aoe_reports.topics.files.table import list_tables, stream_table

    if listed:
        shown = "json" if form == "json" else "text"
        write_pieces(FORMS[shown].render(Shown(answer=list_tables(), strict=chosen.strict, language=spoken())), output)
        return
    if kind is None or path is None:
        raise UsageError(say("table: expected a KIND and a PATH, or --list"))
    if form == "parquet" and output is None:
        raise UsageError(say("table --format parquet: expected -o FILE (Parquet cannot be shown in a terminal)"))
    stream = stream_table(kind, path, chosen)
    if form == "parquet" and output is not None:
        write_parquet(stream, output)
    else:
        write_pieces(render_stream(stream, form, strict=chosen.strict), output)
    if form != "json":
        print_findings(in_order(stream.notes.findings))
    raise typer.Exit(stream.exit_code(strict=chosen.strict))
