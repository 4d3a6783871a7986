"""The command line: registers one module a command."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from aoe_reports.cli.acknowledge import ack, expect, tag
from aoe_reports.cli.adopt import adopt
from aoe_reports.cli.bank import bank
from aoe_reports.cli.check import check
from aoe_reports.cli.collect import collect
from aoe_reports.cli.command import make_when_asked
from aoe_reports.cli.completion import is_completing
from aoe_reports.cli.config import config
from aoe_reports.cli.demo import demo
from aoe_reports.cli.doctor import doctor
from aoe_reports.cli.ending import run_and_exit, to_nowhere
from aoe_reports.cli.history import history
from aoe_reports.cli.ingest import ingest
from aoe_reports.cli.language import LanguageOption, speak_early
from aoe_reports.cli.map import map, reduce  # noqa: A004 -- names of commands
from aoe_reports.cli.mcp import mcp
from aoe_reports.cli.nightly import nightly
from aoe_reports.cli.normalize import normalize
from aoe_reports.cli.plan import plan
from aoe_reports.cli.preflight import preflight
from aoe_reports.cli.questions import command_of
from aoe_reports.cli.regressions import regressions
from aoe_reports.cli.report import report
from aoe_reports.cli.serve import serve
from aoe_reports.cli.site import site
from aoe_reports.cli.start import Start
from aoe_reports.cli.store import store
from aoe_reports.cli.table import table
from aoe_reports.cli.terminal import guard_terminals
from aoe_reports.cli.trace import trace
from aoe_reports.cli.tune import tune
from aoe_reports.cli.verify import verify
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__
from aoe_reports.questions.advise import Advise
from aoe_reports.questions.breakdown import Breakdown
from aoe_reports.questions.communication import CommunicationOfRuns
from aoe_reports.questions.compare import Compare
from aoe_reports.questions.critical_path import CriticalPath
from aoe_reports.questions.explain import Explain
from aoe_reports.questions.host import Host
from aoe_reports.questions.hotspots import Hotspots
from aoe_reports.questions.inspect import Inspect
from aoe_reports.questions.quality import Quality
from aoe_reports.questions.roofline import RooflineOfRuns
from aoe_reports.questions.serving import Serving
from aoe_reports.questions.stacks import Stacks
from aoe_reports.questions.steps import Steps
from aoe_reports.questions.stragglers import Stragglers

COMMANDS = (
    command_of(Inspect()), table, check, command_of(Quality()), command_of(Hotspots()), command_of(Steps()), command_of(Breakdown()),
    command_of(CriticalPath()), command_of(Host()), command_of(CommunicationOfRuns()), command_of(Stragglers()), command_of(Compare()),
    command_of(Explain()), command_of(RooflineOfRuns()), command_of(Stacks()), command_of(Serving()),
    command_of(Advise()), trace, map, reduce, collect, plan, preflight, tune, verify, adopt, normalize, ingest, history, regressions,
    ack, expect, tag, report, site, serve, mcp, nightly, demo, config, doctor,
)  # fmt: skip
GROUPS = (bank, store)
"""Commands that have commands."""


app = typer.Typer(
    name="aoe-reports",
    cls=Start,
    help="Read, check, store and compare the outputs of msprof and the Ascend Optimization Engine.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in COMMANDS:
    app.command()(command)
make_when_asked(app)
for group in GROUPS:
    make_when_asked(group)
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
    if speak_early(sys.argv[1:]) == "en":
        app()
    else:
        from aoe_reports.cli.help import run_translated

        run_translated(app)
