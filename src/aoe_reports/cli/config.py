"""`config`: which options are in force, and who says so."""

from typing import Annotated

import typer

from aoe_reports.cli.output import ChosenForm, Output, reply
from aoe_reports.engine.question import one_table
from aoe_reports.model.options import Option
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say


def config(
    ctx: typer.Context,
    every: Annotated[
        bool, Option(help="Options that nobody changed, too.", flags=("--all",), only_here=say("what else is shown"))
    ] = False,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Show which options of which command the configuration files or the environment set."""
    from aoe_reports.cli.configuration import Setting, settings, settings_of_thresholds

    found = [setting for setting in settings(ctx) if every or setting.source != "default"]
    files = ctx.find_root().obj
    inputs = [file.path for file in files.files] if files is not None else []
    rows = Rows(type=Setting, rows=[*found, *settings_of_thresholds(ctx)])
    reply(one_table("config", "Configuration", inputs, rows), form, output)
