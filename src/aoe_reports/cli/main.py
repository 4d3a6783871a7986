"""The command line: all commands, the options that they share, and where to start."""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from aoe_reports.cli.command import SHOWS_ALL, Commands, say_renamed
from aoe_reports.cli.completion import is_completing
from aoe_reports.cli.ending import run_and_exit, to_nowhere
from aoe_reports.cli.language import LanguageOption, after_language, language_from_argv, translated
from aoe_reports.cli.menu import ALIASES, ROOT
from aoe_reports.cli.terminal import guard_terminals
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import N_, say
from aoe_reports.model.version import __version__

USAGE_ERROR = 2


class _Root(Commands):
    """All commands, under the names of earlier versions, too; where none is named, the few lines that say where to start."""

    def __init__(self, **known: Any) -> None:
        """Take the commands and the help from the menu."""
        super().__init__(ROOT, **{name: value for name, value in known.items() if name not in {"commands", "help"}})

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line, or say what a shell may offer."""
        if is_completing():
            with contextlib.suppress(ImportError):
                from aoe_reports.cli.shells import complete_whole_words

                complete_whole_words()
        return super().main(*args, **extra)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say where to start, where nothing but a language is given."""
        if not args[after_language(args) :] and not ctx.resilient_parsing:
            sys.stderr.write("".join(f"{line}\n" for line in _start()))
            raise typer.Exit(USAGE_ERROR)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is named, by its name of today or by that of an earlier version."""
        if args[0] in ALIASES and args[0] not in self.commands:
            say_renamed(args[0])
            words, given = ALIASES[args[0]].split(), args[1:]
            if args[0] == "serve":  # its folder is the value of an option now
                words, given = _with_folder(words, given)
            args = [*words, *given]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, and say how the others are listed."""
        super().format_commands(ctx, formatter)
        with formatter.section(N_("More")):
            formatter.write_dl(
                [
                    ("aoe-reports --help-all", N_("List all commands, with convert, trace, report")),
                    ("aoe-reports COMMAND --help", N_("Describe one command, with an example")),
                ]
            )


def _with_folder(words: list[str], given: list[str]) -> tuple[list[str], list[str]]:
    """(`site --serve`, the arguments of `serve` with the folder first); without a folder only `site`."""
    for number, word in enumerate(given):
        if not word.startswith("-") and given[number - 1 : number] not in (["--port"], ["--lang"]):
            return words, [word, *given[:number], *given[number + 1 :]]
    return words[:1], given


app = typer.Typer(
    name="aoe-reports",
    cls=_Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"aoe-reports {__version__}\n")
        raise typer.Exit


def _help_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta[SHOWS_ALL] = True
        sys.stdout.write(f"{ctx.get_help()}\n")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--help-all", callback=_help_all, is_eager=True, help="List all commands and exit.")
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
    del version, every, debug, language
    if isolated and file is not None:
        raise UsageError(say("--config specifies a file, but --isolated allows none"))
    if not isolated and not _asks_for_help(sys.argv[1:]):
        from aoe_reports.cli.configuration import load_configuration

        load_configuration(ctx, file)


def _asks_for_help(arguments: list[str]) -> bool:
    """Whether only help is wanted: it tells the built-in defaults, whatever file is near, whole or broken."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return bool({"-h", "--help"} & set(before))


def _start() -> Iterator[str]:
    """Jobs with one command each, and where to go on."""
    yield f"aoe-reports {__version__}: {translated(say('outputs of msprof and AOE. Where to start:'))}"
    yield ""
    for job, command in (
        (say("Where does the time of a step go?"), "advise PROFILE"),
        (
            say("Did last night get slower? (stores, compares and reports)"),
            "nightly PROFILE --workload NAME --site site",
        ),
        (say("Which operators are worth tuning, and did it help?"), "plan PROFILE -o plan --soc SOC"),
    ):
        yield translated(job)
        yield f"  aoe-reports {command}"
    yield ""
    yield translated(say("PROFILE is a folder that msprof or a framework's profiler wrote. More:"))
    for command, text in (
        ("aoe-reports demo", say("the same on simulated nights")),
        ("aoe-reports doctor", say("does this installation work?")),
        ("aoe-reports --help", say("commands by purpose")),
        ("aoe-reports COMMAND --help", say("one command, with an example")),
        ("docs/tutorial.md", say("the documentation (README.md: all pages)")),
    ):
        yield f"  {command:<28}{translated(text)}"


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
