"""Commands that are imported and made when they are asked for: typer takes a millisecond for each, and no command needs the others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import PosixPath
from typing import Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from aoe_reports.cli.commands import command_at, name_of
from aoe_reports.cli.conversion import PlainValues
from aoe_reports.cli.guide import Guide, guide_of, write_guide
from aoe_reports.cli.language import spoken, translated, with_language
from aoe_reports.cli.options import with_options
from aoe_reports.locale import ENGLISH
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say

F = TypeVar("F", bound=Callable[..., Any])


def add_command(app: typer.Typer, place: str, name: str | None = None) -> None:
    """Give an app a command, which is looked up at its place when somebody looks at it."""
    app.command(name or name_of(place), cls=partial(Command, place=place))(_nothing)  # type: ignore[arg-type]


def command_in(group: typer.Typer, name: str | None = None) -> Callable[[F], F]:
    """Make a function a command of a group, called as it is where no name is given."""

    def keep(function: F) -> F:
        module = function.__module__.removeprefix("aoe_reports.")
        add_command(group, f"{module}:{function.__name__}", name)
        return function

    return keep


class Command(PlainValues, TyperCommand):
    """A command that is made when somebody looks at it."""

    def __init__(self, *, place: str, **known: Any) -> None:
        """Keep where the function is that the command is made of."""
        self.place = place
        super().__init__(**known)

    @property
    def function(self) -> Callable[..., Any]:
        """What the command is made of."""
        return command_at(self.place)

    @property
    def help(self) -> str:
        """What it does."""
        return inspect.getdoc(self.function) or ""

    @help.setter  # noqa: A003 -- the name that typer sets
    def help(self, _: Any) -> None:
        pass

    def get_short_help_str(self, limit: int = 45) -> str:
        """What it does, for a list of commands: in English as much as fits, else all of it."""
        return super().get_short_help_str(limit) if spoken() == ENGLISH else translated(self.help)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write an example and the page of the documentation."""
        super().format_epilog(ctx, formatter)
        guide = guide_of(self.function)
        if guide is not None:
            write_guide(formatter, guide)

    @cached_property
    def made(self) -> Any:
        """The command with its options, as typer makes it."""
        alone = typer.Typer(add_completion=False)
        alone.command()(with_language(with_options(self.function)))
        return typer.main.get_command(alone)

    @property
    def params(self) -> Any:
        """Its arguments and options."""
        return self.made.params

    @params.setter
    def params(self, _: Any) -> None:
        pass

    @property
    def callback(self) -> Any:
        """What it runs."""
        return self.made.callback

    @callback.setter
    def callback(self, _: Any) -> None:
        pass

    def invoke(self, ctx: Any) -> Any:
        """Run the command, once no file of this machine is an object of a store."""
        _refuse_uris(ctx.params)
        return super().invoke(ctx)


class Group(PlainValues, TyperGroup):
    """A command that has commands, with an example and the page of the documentation."""

    guide: ClassVar[Guide]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write an example and the page of the documentation."""
        super().format_epilog(ctx, formatter)
        write_guide(formatter, self.guide)


_MAY_BE_URI = frozenset({"before", "after"})
"""Profiles that options name; those that arguments name are known as objects by now."""


def _refuse_uris(given: Mapping[str, Any]) -> None:
    """Refuse objects where files of this machine are meant: a folder `s3:` would be made for what is written."""
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if type(one) is PosixPath and str(one).lower().startswith(("s3:/", "s3a:/")) and name not in _MAY_BE_URI:
                from aoe_reports.formats.sources.objects import asked_path

                uri = asked_path(one)
                raise UsageError(say("{uri}: expected a file or folder of this machine, not an object store", uri=uri))


def _nothing() -> None:
    """What a command runs until it is made."""
