"""`--help` and errors of usage in another language than English: what typer says is looked up as it is written out."""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from aoe_reports.cli.language import translated
from aoe_reports.model.texts import N_, join, say

N_(
    (
        "Arguments",
        "Options",
        "required",
        "Show this message and exit.",
        "Install completion for the current shell.",
        "Show completion for the current shell, to copy it or customize the installation.",
    )
)
"""What typer says of itself in --help."""

_ERRORS = N_(
    (
        "Missing option {name}.",
        "Missing argument {name}.",
        "Missing command.",
        "No such option: {name} (Possible options: {names})",
        "No such option: {name}",
        "No such command {name}. Did you mean {names}?",
        "No such command {name}.",
        "Option {name} requires an argument.",
        "Option {name} does not take a value.",
        "Got unexpected extra argument(s) ({names})",
        "Invalid value for {name}: {why}",
        "Invalid value: {why}",
        "Value error, {why}",
        "{value} is not one of {names}.",
        "Input should be a valid integer, unable to parse string as an integer",
        "Input should be a valid number, unable to parse string as a number",
        "Input should be greater than or equal to {limit}",
        "Input should be less than or equal to {limit}",
    )
)
"""What typer says of a command line that it does not understand, the more special first."""


def run_translated(app: typer.Typer) -> NoReturn:
    """Run the command line as `app()` does, with help and errors of usage in the language that was asked for."""
    try:
        code = typer.main.get_command(app)(standalone_mode=False)
    except TyperException as error:
        sys.stderr.write(_shown(error))
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def error_text(message: str) -> str:
    """What typer says is wrong, as a text; as it is, where it says what we do not know."""
    for template in _ERRORS:
        found = _pattern(template).fullmatch(message)
        if found is not None:
            return say(template, **{name: error_text(value) for name, value in found.groupdict().items()})
    return message


def _pattern(template: str) -> re.Pattern[str]:
    parts = string.Formatter().parse(template)
    written = (re.escape(text) + ("" if name is None else f"(?P<{name}>.+?)") for text, name, _, _ in parts)
    return re.compile("".join(written), re.DOTALL)


def _shown(error: TyperException) -> str:
    """An error as typer would show it; that a group was called without a command is its help."""
    from aoe_reports.present.values import plain

    message = error.format_message()
    ctx: typer.Context | None = getattr(error, "ctx", None)
    if ctx is None:
        return f"{plain(translated(say('Error: {message}', message=error_text(message))))}\n"
    if message == ctx.get_help():
        return f"{message}\n"
    hint = say("Try '{command} {option}' for help.", command=ctx.command_path, option=ctx.help_option_names[0])
    lines = [translated(hint), "", *translated(say("Error: {message}", message=error_text(message))).splitlines()]
    return "\n".join([ctx.get_usage(), *map(plain, lines), ""])


class _Formatter(typer.Context.formatter_class):  # type: ignore[misc,valid-type] # typer has no other name for it
    """Help whose words are looked up, in lines that count a Chinese letter as the two columns it takes."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, translated(say("Usage: ")) if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        self.write(" " * self.current_indent + translated(say("{heading}:", heading=say(heading))) + "\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for line in _lines(translated(text), self.width - self.current_indent):
            self.write(f"{indent}{line}\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        first_column = min(max(len(first) for first, _ in rows), col_max) + col_spacing
        indent = " " * self.current_indent
        for first, second in rows:
            lines = list(_lines(_described(second), max(self.width - first_column - 2, 10))) or [""]
            if len(first) > first_column - col_spacing:
                self.write(f"{indent}{first}\n")
                first = ""  # noqa: PLW2901 -- it has its own line
            for line in lines:
                self.write(f"{indent}{first:<{first_column}}{line}".rstrip() + "\n")
                first = ""  # noqa: PLW2901 -- it stands in the first line only


class TranslatedContext(typer.Context):
    """The context of a command whose help is not English."""

    formatter_class = _Formatter


_FACTS = re.compile(r"(?P<help>.*?)(?:^|  )\[(?P<facts>[^\[\]]+)\]", re.DOTALL)


def _described(text: str) -> str:
    """What an option does, and what typer says of it in brackets behind."""
    found = _FACTS.fullmatch(text)
    if found is None:
        return translated(text)
    facts = translated(join("; ", map(_fact, found["facts"].split("; "))))
    return f"{translated(found['help'])}  [{facts}]" if found["help"] else f"[{facts}]"


def _fact(fact: str) -> str:
    name, colon, value = fact.partition(": ")
    if colon and name == "default":
        return say("default: {value}", value=value)
    if colon and name == "env var":
        return say("env var: {value}", value=value)
    return say(fact)


_PIECES = re.compile(
    r"[\u2e80-\u9fff\uff00-\uffef\u3000-\u303f\u2014\u2026]|\s+|[^\s\u2e80-\u9fff\uff00-\uffef\u3000-\u303f\u2014\u2026]+"
)
_CLOSING = frozenset("，。；：、）？！”…")  # noqa: RUF001 -- punctuation that begins no line


def _lines(text: str, most: int) -> Iterator[str]:
    """A text in lines of at most so many columns, broken at spaces and between Chinese letters."""
    from aoe_reports.present.values import width

    line = ""
    for piece in _joined(_PIECES.findall(text)):
        if line and width(line + piece.rstrip()) > most:
            yield line.rstrip()
            line = piece.lstrip()
        else:
            line += piece
    if line.strip():
        yield line.rstrip()


def _joined(pieces: Iterable[str]) -> Iterator[str]:
    """Pieces that stay together: no line begins with what closes, none ends with what opens."""
    held = ""
    for piece in pieces:
        if held and piece not in _CLOSING and held[-1] not in "[（“":  # noqa: RUF001 -- punctuation that ends no line
            yield held
            held = ""
        held += piece
    if held:
        yield held
