"""`bank`: what knowledge banks hold; a path in the place of a command means `list`."""

from __future__ import annotations

from typing import Any

import typer

from aoe_reports.cli.command import Group, add_command
from aoe_reports.cli.commands import OF_BANK
from aoe_reports.cli.guide import Guide
from aoe_reports.cli.language import LanguageOption, after_language

_LIST = next(iter(OF_BANK))
_OF_GROUP = frozenset({"-h", "--help"})


class _ListsUnlessTold(Group):
    """A group whose first command is meant where none is named."""

    guide = Guide(example="bank bank --profile profile", page="banks")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command, where the first argument is none."""
        first = after_language(args)
        if args[first:] and args[first] not in self.commands and args[first] not in _OF_GROUP:
            args = [*args[:first], _LIST, *args[first:]]
        return super().parse_args(ctx, args)


bank = typer.Typer(
    name="bank",
    help="Read knowledge banks: `bank PATH` lists what they cover, `bank diff` compares two.",
    cls=_ListsUnlessTold,
    rich_markup_mode=None,
    no_args_is_help=True,
)
for name, place in OF_BANK.items():
    add_command(bank, place, name)


@bank.callback()
def options(language: LanguageOption = "en") -> None:
    """Read the option that all commands of the group share; the command behind looks at it."""
    del language
