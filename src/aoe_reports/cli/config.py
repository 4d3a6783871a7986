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
    """Show which options of which command the configuration file or the environment sets."""
    from aoe_reports.cli.configuration import settings
    from aoe_reports.readers.configuration import THRESHOLDS

    file = ctx.find_root().obj
    path = None if file is None else str(file.path)
    rows = [
        {**asdict(setting), "path": path if setting.source == "file" else None}
        for setting in settings(ctx)
        if every or setting.source != "default"
    ]
    for name, value in (file.table.get(THRESHOLDS, {}) if file is not None else {}).items():
        line = file.line_of(THRESHOLDS, name)
        rows.append(
            {"command": THRESHOLDS, "option": name, "value": value, "source": "file", "line": line, "path": path}
        )
    write(render(form, "config", "Configuration", [path] if path else [], rows, [], []), output)
