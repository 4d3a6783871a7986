"""What `aoe-reports` says where it is told nothing: where to start."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from aoe_reports.cli.completion import is_completing
from aoe_reports.cli.conversion import PlainValues
from aoe_reports.cli.language import after_language, translated
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__

USAGE_ERROR = 2


class Start(PlainValues, TyperGroup):
    """All commands; where none is named, the few lines that say where to start."""

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


def _start() -> Iterator[str]:
    """Three jobs with one command each, and where to go on."""
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
        ("aoe-reports --help", say("all commands")),
        ("aoe-reports COMMAND --help", say("one command, with an example")),
        ("docs/tutorial.md", say("the documentation (README.md: all pages)")),
    ):
        yield f"  {command:<28}{translated(text)}"
