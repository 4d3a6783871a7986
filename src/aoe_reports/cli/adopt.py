"""`adopt`: puts a proven bank into use."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aoe_reports.cli.output import Format, Output, Strict, exit_code, notify, print_findings, render, write
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from collections.abc import Mapping


def adopt(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A plan's folder.", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="BANK",
            help="The bank to be replaced, laid out as under TUNE_BANK_PATH [default: the one in use].",
            show_default=False,
        ),
    ] = None,
    soc: Annotated[
        str | None, typer.Option(help="The chip, where the plan does not name it.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Even if no new profile has confirmed the gain.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be replaced.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Put a job's private bank into use, if `verify` has confirmed it: the old one is kept, nobody sees half of a bank."""
    import os

    from aoe_reports.present.as_json import render_rows
    from aoe_reports.tuning.adopt import adopt as put_into_use

    done = put_into_use(folder, os.environ, to=to, soc=soc, force=force, dry_run=dry_run)
    code = exit_code(done.findings, strict=strict)
    reasons = ["verification"][:code]
    if form == "json":
        text = render_rows("adopt", [str(folder)], done.rows, done.findings, reasons, done.more)
    else:
        text = render(
            form,
            "adopt",
            "Changes to the bank in use",
            inputs=[folder],
            rows=done.rows,
            findings=done.findings,
            reasons=reasons,
        )
    try:
        write(text, output)
    except (AoeReportsError, OSError):
        _say_what_is_in_use(done.more)
        raise
    if form != "json":
        print_findings(done.findings)
        _say_what_is_in_use(done.more)
    raise typer.Exit(code)


def _say_what_is_in_use(more: "Mapping[str, Any]") -> None:
    if more["adopted"]:
        notify(say("in use now: the tuned bank ({path})", path=more["bank"]))
    for backup in more["backups"]:
        notify(say("kept: {path}", path=backup))
