"""`config`: which options are in force, and who says so."""

from dataclasses import asdict
from typing import Annotated

import typer

from aoe_reports.cli.output import Format, Output, render, write


def config(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Options that nobody changed, too.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Form of the output.")] = "text",
    output: Output = None,
) -> None:
    """Show which options of which command the configuration files or the environment set."""
    from aoe_reports.cli.configuration import Setting, settings
    from aoe_reports.readers.configuration import THRESHOLDS

    files = ctx.find_root().obj
    rows = [asdict(setting) for setting in settings(ctx) if every or setting.source != "default"]
    for name, file in files.thresholds() if files is not None else []:
        setting = Setting(
            THRESHOLDS, name, file.table[THRESHOLDS][name], "file", file.line_of(THRESHOLDS, name), str(file.path)
        )
        rows.append(asdict(setting))
    inputs = [str(file.path) for file in files.files] if files is not None else []
    write(render(form, "config", "Configuration", inputs, rows, [], []), output)
