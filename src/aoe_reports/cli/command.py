"""Commands and groups as the menu declares them: each is imported and made when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from aoe_reports.cli.conversion import PlainValues
from aoe_reports.cli.language import LanguageOption, after_language, spoken, translated, with_language
from aoe_reports.cli.menu import ALIASES, Entry, Group, function_of
from aoe_reports.cli.options import with_options
from aoe_reports.locale import ENGLISH
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import N_, say

if TYPE_CHECKING:
    from typer._click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])
SHOWS_ALL = "aoe_reports.shows_all"
"""Whether rare commands are listed, too, in `meta` of the context."""
_AFTER_DASHES = "__after_dashes__"
HAS_DASHES = "has_dashes"
"""Whether `--` stands on the command line of a command that takes something after it."""
_GUIDE = "__guide__"
_EXAMPLE, _PAGE = HEADINGS = N_(("Example", "Documentation"))
_MAY_BE_URI = frozenset({"before", "after"})
"""Profiles that options name; those that arguments name are known as objects by now."""


class Guide(NamedTuple):
    """What the help of a command ends with."""

    example: str
    """What stands behind `aoe-reports`; words in capitals are ids."""
    page: str
    """The name of a page in docs/, without its suffix."""

    @property
    def path(self) -> str:
        """Where the page lies in the project."""
        return f"docs/{self.page}.md"


def guided(*, example: str, page: str) -> Callable[[F], F]:
    """A command with an example and the page that describes it."""

    def keep(command: F) -> F:
        setattr(command, _GUIDE, Guide(example=example, page=page))
        return command

    return keep


def takes_after_dashes(flag: str) -> Callable[[F], F]:
    """A command whose arguments after `--` are values of an option: two lists of paths."""

    def keep(command: F) -> F:
        setattr(command, _AFTER_DASHES, flag)
        return command

    return keep


def guide_of(command: Any) -> Guide | None:
    """What the help of a command, or of a group of commands, ends with."""
    guide: Guide | None = command.guide if isinstance(command, Commands) else getattr(command.callback, _GUIDE, None)
    return guide


class _Guided(PlainValues):
    """A command whose help ends with an example and the page of the documentation."""

    @property
    def context_class(self) -> Any:
        """The context, which knows how help is written."""
        if spoken() == ENGLISH:
            return typer.Context
        from aoe_reports.cli.help import TranslatedContext

        return TranslatedContext

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example, which is never broken into lines, and the page."""
        del ctx
        guide = guide_of(self)
        for heading, line in () if guide is None else ((_EXAMPLE, f"aoe-reports {guide.example}"), (_PAGE, guide.path)):
            formatter.write_paragraph()
            formatter.write_heading(heading)
            formatter.write(f"  {line}\n")


class Command(_Guided, TyperCommand):  # type: ignore[override] # the context is chosen by the language
    """A command that typer makes of a function."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give what follows `--` to the option that takes it, where the command has one."""
        flag = getattr(self.callback, _AFTER_DASHES, None)
        if flag is not None and "--" in args:
            place = args.index("--")
            for word in args[place + 1 :]:
                if word.startswith("-"):
                    raise UsageError(say("{word}: options come before the paths", word=word))
            args = [*args[:place], *(f"{flag}={value}" for value in args[place + 1 :])]
            ctx.meta[HAS_DASHES] = True
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, once no file of this machine is an object of a store."""
        _refuse_uris(ctx.params)
        return super().invoke(ctx)


class Commands(_Guided, TyperGroup):  # type: ignore[override] # as above
    """A group of commands."""

    def __init__(self, group: Group, **known: Any) -> None:
        """Know the commands; none is imported."""
        super().__init__(help=group.title, **known)
        self.group = group
        self.guide = Guide(group.example, group.page) if group.example else None
        self.commands: Mapping[str, Any] = _Made(group.commands)  # type: ignore[assignment] # nobody adds to it

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command that is meant, where the first argument is none."""
        first = after_language(args)
        default, given = self.group.default, args[first : first + 1]
        if default and given and given[0] not in self.commands and given[0] not in ctx.help_option_names:
            if self.name in ALIASES:
                say_renamed(self.name)
            args = [*args[:first], default, *args[first:]]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands below their headings; rare ones where all are wanted."""
        shows_all = ctx.meta.get(SHOWS_ALL, False)
        sections = {
            heading: [(name, one.title) for name, one in section.items() if shows_all or not one.is_rare]
            for heading, section in self.group.sections.items()
        }
        width = max(len(name) for rows in sections.values() for name, _ in rows)
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl([(f"{name:<{width}}", title) for name, title in rows])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """The commands and options that continue a word; no command is imported for it."""
        from typer._click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=translated(one.title))
            for name, one in self.group.commands.items()
            if name.startswith(incomplete)
        ]
        return [*named, *super(TyperGroup, self).shell_complete(ctx, incomplete)]


class _Made(Mapping[str, Any]):
    """Commands by name, each made when it is looked up."""

    def __init__(self, entries: Mapping[str, Entry | Group]) -> None:
        self._entries = entries
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            entry = self._entries[name]
            self._made[name] = _group(name, entry) if isinstance(entry, Group) else _command(name, entry)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def say_renamed(old: str) -> None:
    """Say what a name of earlier versions is called now."""
    from aoe_reports.cli.output import notify

    notify(say("`{old}` is now `{new}`.", old=old, new=ALIASES[old]))


def _command(name: str, entry: Entry) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command)(with_language(with_options(function_of(entry))))
    return typer.main.get_command(alone)


def _group(name: str, group: Group) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(_language)
    made = typer.main.get_command(alone)
    return Commands(
        group,
        name=name,
        params=made.params,
        callback=made.callback,
        no_args_is_help=True,
        rich_markup_mode=None,
    )


def _language(language: LanguageOption = "en") -> None:
    """Read the option that all commands of a group share; the command behind looks at it."""
    del language


def _refuse_uris(given: Mapping[str, Any]) -> None:
    """Refuse objects where files of this machine are meant: a folder `s3:` would be made for what is written."""
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if type(one) is PosixPath and str(one).lower().startswith(("s3:/", "s3a:/")) and name not in _MAY_BE_URI:
                from aoe_reports.formats.sources.objects import asked_path

                uri = asked_path(one)
                raise UsageError(say("{uri}: expected a file or folder of this machine, not an object store", uri=uri))
