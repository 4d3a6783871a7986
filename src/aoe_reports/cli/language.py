"""In which language a command speaks: one option that every command has, and the groups they belong to."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aoe_reports.cli.ending import past_typer
from aoe_reports.cli.options import declare
from aoe_reports.locale import ENGLISH, languages
from aoe_reports.model.options import Option
from aoe_reports.model.texts import Language, in_language

VARIABLE = "AOE_REPORTS_LANG"
_OPTION = "--lang"

_ASKED = "aoe_reports.language"
"""What the command line asked for so far, in `meta`, which a group's context shares with those of its commands."""


def _innermost(ctx: typer.Context, option: typer.CallbackParam, value: Language) -> Language:
    """What stands on the command line, the last on the way to the command; else what the environment or the file says."""
    source = ctx.get_parameter_source(str(option.name))
    if source is not None and source.name == "COMMANDLINE":
        ctx.meta[_ASKED] = value
    asked: Language = ctx.meta.get(_ASKED, value)
    return asked


_HELP = "Language of reports, pages and messages; JSON and CSV are always the same."

if TYPE_CHECKING:
    _Choice = Language
else:
    _Choice = Literal[languages()]  # from which typer takes what may be given

LanguageOption = Annotated[
    _Choice,
    typer.Option(
        _OPTION,
        envvar=VARIABLE,
        callback=_innermost,
        help=_HELP,
    ),
]
_spoken: ContextVar[Language] = ContextVar("spoken", default=ENGLISH)


def with_language(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the option --lang, which its function does not see: it asks `spoken`."""

    @functools.wraps(command)
    def run(*args: Any, language: Language, **options: Any) -> Any:
        _spoken.set(language)
        with past_typer():
            return command(*args, **options)

    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("language", inspect.Parameter.KEYWORD_ONLY, default=ENGLISH, annotation=LanguageOption)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
    run.__annotations__ = {**inspect.get_annotations(command, eval_str=True), "language": LanguageOption}
    declare(run, "language", Option(help=_HELP, shared=True))
    return run


def spoken() -> Language:
    """The language of the command that runs."""
    return _spoken.get()


def translated(text: str) -> str:
    """A text in the language of the command that runs."""
    return in_language(text, spoken())


def after_language(arguments: Sequence[str]) -> int:
    """Where arguments begin behind the option that all commands share."""
    if arguments and arguments[0] == _OPTION:
        return 2
    return int(bool(arguments) and arguments[0].startswith(f"{_OPTION}="))


def language_from_argv(arguments: Iterable[str]) -> Language:
    """What the command line or the environment asks for, before anything of it is checked; `--help` and its errors use it."""
    asked = os.environ.get(VARIABLE, "")
    given = list(arguments)
    for place, argument in enumerate(given):
        if argument == "--":
            break
        if argument.startswith(f"{_OPTION}="):
            asked = argument.removeprefix(f"{_OPTION}=")
        elif argument == _OPTION and place + 1 < len(given):
            asked = given[place + 1]
    language = asked if asked in languages() else ENGLISH
    _spoken.set(language)
    return language
