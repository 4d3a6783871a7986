"""The command line: all commands, and the options that they share."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.bank import bank
from aoe_reports.cli.cache import cache
from aoe_reports.cli.command import add_command
from aoe_reports.cli.commands import COMMANDS
from aoe_reports.cli.completion import is_completing
from aoe_reports.cli.ending import run_and_exit, to_nowhere
from aoe_reports.cli.language import LanguageOption, language_from_argv
from aoe_reports.cli.start import Start
from aoe_reports.cli.store import store
from aoe_reports.cli.terminal import guard_terminals
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__

GROUPS = (bank, cache, store)
"""Commands that have commands."""


app = typer.Typer(
    name="aoe-reports",
    cls=Start,
    help="Read, check, store and compare the outputs of msprof and the Ascend Optimization Engine.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for place in COMMANDS:
    add_command(app, place)
for group in GROUPS:
    app.add_typer(group)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"aoe-reports {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback for an error.")] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="Read options only from this file (docs/configuration.md).",
            show_default=False,
        ),
    ] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="Do not read options from files.")] = False,
    language: LanguageOption = "en",
) -> None:
    """Read options of all commands; `main` looks at --debug itself, the command behind at --lang."""
    del version, debug, language
    if isolated and file is not None:
        raise UsageError(say("--config specifies a file, but --isolated allows none"))
    if not isolated and not _asks_for_help(sys.argv[1:]):
        from aoe_reports.cli.configuration import load_configuration

        load_configuration(ctx, file)


def _asks_for_help(arguments: list[str]) -> bool:
    """Whether only help is wanted: it tells the built-in defaults, whatever file is near, whole or broken."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return bool({"-h", "--help"} & set(before))


def main() -> None:
    """Run the command line and exit: an error of ours is one line on stderr."""
    run_and_exit(run_app)


def run_app() -> None:
    """Run the command line; raises what went wrong."""
    if is_completing():
        to_nowhere(sys.stderr)  # it would be printed into the line that somebody types
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a file name may hold what no encoding holds
    guard_terminals()
    if language_from_argv(sys.argv[1:]) == "en":
        app()
    else:
        from aoe_reports.cli.help import run_translated

        run_translated(app)
