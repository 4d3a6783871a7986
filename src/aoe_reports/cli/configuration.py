"""What a configuration file says, as defaults of options; the command line and the environment win over it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperGroup, TyperOption

from aoe_reports.cli.help import error_text
from aoe_reports.cli.output import STORE_VARIABLE
from aoe_reports.readers.configuration import (
    THRESHOLDS,
    Configuration,
    find_configuration,
    nearest,
    read_configuration,
)
from aoe_reports.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.analysis.advice.thresholds import Thresholds

SHARED = ("store", "workload", "hardware", "engine-version", "tz", "strict", "max-expanded", "raw", "lang")
"""Options that mean the same wherever they stand: one line above all tables says them for every command."""
_MEANS_OTHER = {("history", "workload"), ("regressions", "workload"), ("report", "workload")}
"""Where an option of that name chooses what is shown."""
COMMAND_LINE_ONLY = {
    "output": say("what is written where"),
    "force": say("what is forced"),
    "renew": say("what is replaced"),
    "watch": say("what is waited for"),
    "rules": say("what else is shown"),
    "list": say("what else is shown"),
    "check": say("what is checked"),
    "all": say("what else is shown"),
    "help": say("help"),
    "resume": say("what is gone on with"),
    "restart": say("what is put away"),
    "dry-run": say("what is not run"),
    "describe-host": say("what else is shown"),
    "host": say("what is checked"),
    "declare": say("what somebody vouches for"),
    "to": say("what is replaced"),
    "soc": say("what is tuned"),
    "model": say("what is tuned"),
    "weight": say("what is tuned"),
    "model-path": say("what is tuned"),
    "aoe-option": say("what is run"),
    "working-folder": say("where it is run"),
    "before": say("what is compared"),
    "after": say("what is compared"),
    "results": say("what is known"),
    "reason": say("what somebody vouches for"),
    "who": say("what somebody vouches for"),
    "revoke": say("what somebody vouches for"),
    "from": say("what somebody vouches for"),
    "until": say("what somebody vouches for"),
    "change": say("what somebody vouches for"),
    "run": say("what is named"),
    "record": say("what is remembered"),
}
"""Options that belong to one call; a file that came with somebody's data must not overwrite others."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One option of one command: what is in force unless the command line says otherwise, and who says so."""

    command: str
    option: str
    value: Any
    source: str
    line: int | None = None


def load_configuration(ctx: typer.Context, path: Path | None) -> None:
    """Find and check the configuration file, and let it give the defaults of all options; `ctx.obj` keeps it."""
    try:
        here = Path.cwd()
    except OSError:  # somebody deleted the folder we stand in
        here = None
    found = read_configuration(path) if path is not None else find_configuration(here) if here is not None else None
    if found is None:
        return
    ctx.obj = found
    ctx.default_map = _defaults(ctx)
    thresholds_of(ctx)


def thresholds_of(ctx: typer.Context) -> Thresholds | None:
    """The thresholds that the configuration file changes, the others as they are built in; null where it has none."""
    found: Configuration | None = ctx.find_root().obj
    if found is None or not found.table.get(THRESHOLDS):
        return None
    from aoe_reports.analysis.advice.thresholds import Thresholds

    return Thresholds(**cast("dict[str, Any]", found.thresholds(Thresholds)))


def settings(ctx: typer.Context) -> list[Setting]:
    """Every option of every command, in the order of --help."""
    group = ctx.find_root()
    configuration: Configuration | None = group.obj
    stated = dict(_stated(group)) if configuration is not None else {}
    found = []
    for command, key, option in _options(group):
        if key in COMMAND_LINE_ONLY:
            continue
        name = " ".join(command)
        variable = option.resolve_envvar_value(group)
        if variable is not None:
            found.append(Setting(name, key, variable, f"${option.envvar}"))
        elif (command, option.name) in stated:
            keys, value = stated[command, option.name]
            line = configuration.line_of(*keys) if configuration is not None else None
            found.append(Setting(name, key, value, "file", line))
        else:
            default = option.default
            found.append(Setting(name, key, str(default) if isinstance(default, Path) else default, "default"))
    return found


def _defaults(ctx: Any) -> dict[str, Any]:
    """The default map of all commands: by command (and command of a group), by parameter."""
    defaults: dict[str, Any] = {}
    for (command, name), (_, value) in _stated(ctx):
        place = defaults
        for part in command:
            place = place.setdefault(part, {})
        place[name] = value
    return defaults


_Stated = tuple[tuple[tuple[str, ...], str], tuple[tuple[str, ...], Any]]
_Known = dict[str, dict[str, tuple[tuple[str, ...], TyperOption]]]
"""(command, option) by the name of the command's table, by the option's long name."""


def _stated(ctx: Any) -> Iterator[_Stated]:
    """((command, parameter), (keys, value)) of all that the file says; what it may not say is an error."""
    known: _Known = {}
    for command, key, option in _options(ctx):
        known.setdefault("-".join(command), {})[key] = (command, option)
    configuration: Configuration = ctx.obj
    table = _by_option(configuration, configuration.table, ())
    for key, (written, value) in table.items():
        if key in SHARED:
            yield from _for_all(ctx, known, table, key, written, value)
        elif key in known:
            yield from _for_one(ctx, known[key], written, value)
        elif key != THRESHOLDS:
            raise configuration.refused(_unknown(key, known), written)


def _for_all(
    ctx: Any, known: _Known, table: dict[str, tuple[str, Any]], key: str, written: str, value: Any
) -> Iterator[_Stated]:
    """A line above all tables, for each command whose own table does not say otherwise."""
    for name, options in known.items():
        if key in options and (name, key) not in _MEANS_OTHER:
            command, option = options[key]
            checked = _value(ctx, (written,), option, value)
            if key not in _own(table, name):
                yield (command, option.name), ((written,), checked)


def _for_one(
    ctx: Any, options: dict[str, tuple[tuple[str, ...], TyperOption]], head: str, value: Any
) -> Iterator[_Stated]:
    """The table of one command."""
    configuration: Configuration = ctx.obj
    if not isinstance(value, dict):
        raise configuration.refused(say("expected a table"), head)
    for key, (written, given) in _by_option(configuration, value, (head,)).items():
        if key not in options:
            allowed = [name for name in options if name not in COMMAND_LINE_ONLY]
            raise configuration.refused(say("no such option") + nearest(key, allowed), head, written)
        if key in COMMAND_LINE_ONLY:
            message = say("{what} stands on the command line only", what=COMMAND_LINE_ONLY[key])
            raise configuration.refused(message, head, written)
        command, option = options[key]
        yield (command, option.name), ((head, written), _value(ctx, (head, written), option, given))


def _own(table: dict[str, tuple[str, Any]], command: str) -> set[str]:
    """The options that the table of a command says itself."""
    value = table[command][1] if command in table and command not in SHARED else None
    return {key.replace("_", "-") for key in value} if isinstance(value, dict) else set()


def _by_option(configuration: Configuration, table: Any, keys: tuple[str, ...]) -> dict[str, tuple[str, Any]]:
    """(key as written, value) by the option's name; a key may be written with _ for -."""
    found: dict[str, tuple[str, Any]] = {}
    for written, value in table.items():
        key = written.replace("_", "-")
        if key in found:
            raise configuration.refused(say("stands twice ({key})", key=found[key][0]), *keys, written)
        found[key] = (written, value)
    return found


def _unknown(key: str, options: _Known) -> str:
    having = sorted(name for name, of_command in options.items() if key in of_command and key not in COMMAND_LINE_ONLY)
    if having:
        return say("stands in the table of a command: {names}", names=join(", ", (f"[{name}]" for name in having)))
    return say("no such option or command") + nearest(key, [*SHARED, *options, THRESHOLDS])


def _value(ctx: Any, keys: tuple[str, ...], option: TyperOption, value: Any) -> Any:
    """A value as the command line would have given it; paths are those of the file's folder."""
    configuration: Configuration = ctx.obj
    kind = option.type_descriptor
    expected, fits = (
        (say("a list of words"), isinstance(value, list) and all(isinstance(one, str) for one in value))
        if option.multiple
        else (say("true or false"), isinstance(value, bool))
        if option.is_flag
        else (say("a whole number"), isinstance(value, int) and not isinstance(value, bool))
        if kind.annotation is int
        else (say("a number"), isinstance(value, int | float) and not isinstance(value, bool))
        if kind.annotation is float
        else (say("a word in quotes"), isinstance(value, str))
    )
    if not fits:
        given = say("a table") if isinstance(value, dict) else repr(value)
        message = say("expected {expected}, not {given}", expected=expected, given=given)
        raise configuration.refused(message, *keys)
    if (kind.is_path or option.envvar == STORE_VARIABLE) and "://" not in value:
        value = str(configuration.path.absolute().parent / os.path.expanduser(value))  # noqa: PTH111 - never raises
    try:
        option.get_runtime_param().coerce(value, option, ctx)
    except typer.BadParameter as error:
        raise configuration.refused(error_text(error.message.strip()), *keys) from error
    return value


def _options(ctx: Any) -> Iterator[tuple[tuple[str, ...], str, TyperOption]]:
    """(command, long name, option) of all commands, those of groups among them."""
    group = ctx.command
    waiting: list[tuple[tuple[str, ...], Any]] = []
    if isinstance(group, TyperGroup):
        waiting = [((name,), command) for name, command in group.commands.items()]
    for names, command in waiting:
        inner = (
            [((*names, name), one) for name, one in command.commands.items()] if isinstance(command, TyperGroup) else []
        )
        for path, one in inner or [(names, command)]:
            for parameter in one.params:
                if isinstance(parameter, TyperOption):
                    key = max(parameter.opts, key=len).removeprefix("--")
                    yield path, key, parameter
