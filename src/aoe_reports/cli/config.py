"""`config`: which options are in force, and who says so."""

from typing import Annotated

import typer

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import ChosenForm, Output, reply
from aoe_reports.engine.question import one_table
from aoe_reports.model.options import Option
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import say


@guided(example="config --all", page="configuration")
def config(
    ctx: typer.Context,
    every: Annotated[
        bool,
        Option(
            help="Include options that have not been changed.", flags=("--all",), only_here=say("additional output")
        ),
    ] = False,
    form: ChosenForm = "text",
    output: Output = None,
) -> None:
    """Show options set by files or environment. Lists, for each command, the options that the configuration files or the environment set."""
    from aoe_reports.cli.configuration import Setting, settings, settings_of_thresholds

    found = [setting for setting in settings(ctx) if every or setting.source != "default"]
    files = ctx.find_root().obj
    inputs = [file.path for file in files.files] if files is not None else []
    rows = Rows(type=Setting, rows=[*found, *settings_of_thresholds(ctx)])
    reply(one_table("config", "Configuration", inputs, rows), form, output)
