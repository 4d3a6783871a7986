"""What configuration files say, as defaults of options; the command line and the environment win over them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup, TyperOption

from aoe_reports.cli.configuration_files import (
    THRESHOLDS,
    Configuration,
    find_configuration,
    nearest,
    read_configuration,
    user_configuration,
)
from aoe_reports.cli.help import error_text
from aoe_reports.cli.places import PLACES, names_place, why_not_in_project, why_not_to_write
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.questions.advice.thresholds import Thresholds

SHARED = (
    "store",
    "workload",
    "workload-from",
    "hardware",
    "engine-version",
    "tz",
    "strict",
    "max-expanded",
    "jobs",
    "raw",
    "lang",
)
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


@row
class Setting:
    """One option of one command: what is in force unless the command line says otherwise, and who says so."""

    command: str = column("Command")
    option: str = column("Option")
    value: Any = column("Value")
    source: str = column("Said by", "word")
    line: int | None = column("Line", "integer")
    path: str | None = column("File", before="line")


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that a file gives to an option, and under which keys."""

    file: Configuration
    keys: tuple[str, ...]
    option: str
    value: Any


@dataclass(frozen=True, slots=True)
class InForce:
    """What the files say together, the nearest project's before the user's own, each key by itself."""

    files: tuple[Configuration, ...]
    """The one that wins first."""
    stated: Mapping[tuple[tuple[str, ...], str], Stated]
    """By command and parameter."""

    def thresholds(self) -> list[tuple[str, Configuration]]:
        """The key of each threshold, and the file that wins."""
        said = [(key, file) for file in reversed(self.files) for key in file.table.get(THRESHOLDS, {})]
        return list({key.replace("-", "_"): (key, file) for key, file in said}.values())


def load_configuration(ctx: typer.Context, path: Path | None) -> None:
    """Find and check the configuration files, and let them give the defaults of all options; `ctx.obj` keeps them."""
    files = [read_configuration(path)] if path is not None else _files_in_force()
    if not files:
        return
    stated: dict[tuple[tuple[str, ...], str], Stated] = {}
    for file in reversed(files):
        stated |= dict(_stated(ctx, file))
    ctx.obj = InForce(tuple(files), stated)
    ctx.default_map = _defaults(stated)
    thresholds_of(ctx)


def _files_in_force() -> list[Configuration]:
    """The nearest project's file and the user's own, those that are there."""
    try:
        here = Path.cwd()
    except OSError:  # somebody deleted the folder we stand in
        here = None
    own = user_configuration(os.environ)
    project = find_configuration(here) if here is not None else None
    users = read_configuration(own) if own is not None and os.path.isfile(own) else None  # noqa: PTH113 - as above
    if project is not None and users is not None and project.path.samefile(users.path):
        project = None
    return [file for file in (project, users) if file is not None]


def thresholds_of(ctx: typer.Context) -> Thresholds | None:
    """The thresholds that configuration files change, the others as they are built in; null where they have none."""
    found: InForce | None = ctx.find_root().obj
    if found is None or not any(file.table.get(THRESHOLDS) for file in found.files):
        return None
    from aoe_reports.questions.advice.thresholds import Thresholds

    changed: dict[str, Any] = {}
    for file in reversed(found.files):
        changed |= file.thresholds(Thresholds)
    return Thresholds(**changed)


def check_places(ctx: typer.Context) -> None:
    """Refuse to run a command that would write where a project's file says, and somebody else's files lie.

    Raises UsageError.
    """
    found: InForce = ctx.find_root().obj
    command = tuple(ctx.command_path.removeprefix(ctx.find_root().command_path).split())
    for name in ctx.params:
        said = found.stated.get((command, name))
        source = ctx.get_parameter_source(name)
        if said is None or said.file.by_user or source is None or source.name != "DEFAULT_MAP":
            continue
        folder = said.file.path.absolute().parent
        if said.option in PLACES and (why := why_not_to_write(said.option, Path(said.value), folder)):
            raise said.file.refused(join("; ", (why, _TRUSTED)), *said.keys)


def settings(ctx: typer.Context) -> list[Setting]:
    """Every option of every command, in the order of --help."""
    group = ctx.find_root()
    stated = group.obj.stated if group.obj is not None else {}
    found = []
    for command, key, option in _options(group):
        if key in COMMAND_LINE_ONLY:
            continue
        name = " ".join(command)
        variable = option.resolve_envvar_value(group)
        said: Stated | None = stated.get((command, option.name))
        if variable is not None:
            found.append(_setting(name, key, variable, f"${option.envvar}"))
        elif said is not None:
            found.append(
                _setting(name, key, said.value, "file", line=said.file.line_of(*said.keys), path=str(said.file.path))
            )
        else:
            default = option.default
            found.append(_setting(name, key, str(default) if isinstance(default, Path) else default, "default"))
    return found


def settings_of_thresholds(ctx: typer.Context) -> list[Setting]:
    """The thresholds that files change."""
    found: InForce | None = ctx.find_root().obj
    return [
        _setting(
            THRESHOLDS,
            name,
            file.table[THRESHOLDS][name],
            "file",
            line=file.line_of(THRESHOLDS, name),
            path=str(file.path),
        )
        for name, file in (found.thresholds() if found is not None else [])
    ]


def _setting(
    command: str, option: str, value: Any, source: str, *, line: int | None = None, path: str | None = None
) -> Setting:
    return Setting(command=command, option=option, value=value, source=source, line=line, path=path)


def _defaults(stated: Mapping[tuple[tuple[str, ...], str], Stated]) -> dict[str, Any]:
    """The default map of all commands: by command (and command of a group), by parameter."""
    defaults: dict[str, Any] = {}
    for (command, name), said in stated.items():
        place = defaults
        for part in command:
            place = place.setdefault(part, {})
        place[name] = said.value
    return defaults


_TRUSTED = say(
    "only the command line, a file that --config names and your own aoe-reports/aoe-reports.toml in $XDG_CONFIG_HOME (~/.config) may say this"
)

_Stated = tuple[tuple[tuple[str, ...], str], Stated]
_Known = dict[str, dict[str, tuple[tuple[str, ...], TyperOption]]]
"""(command, option) by the name of the command's table, by the option's long name."""


def _stated(ctx: Any, configuration: Configuration) -> Iterator[_Stated]:
    """((command, parameter), what is stated) of all that a file says; what it may not say is an error."""
    known: _Known = {}
    for command, key, option in _options(ctx):
        known.setdefault("-".join(command), {})[key] = (command, option)
    table = _by_option(configuration, configuration.table, ())
    for key, (written, value) in table.items():
        if key in SHARED:
            yield from _for_all(ctx, configuration, known, table, key)
        elif key in known:
            yield from _for_one(ctx, configuration, known[key], written, value)
        elif key != THRESHOLDS:
            raise configuration.refused(_unknown(key, known), written)


def _for_all(
    ctx: Any, configuration: Configuration, known: _Known, table: dict[str, tuple[str, Any]], key: str
) -> Iterator[_Stated]:
    """A line above all tables, for each command whose own table does not say otherwise."""
    written, value = table[key]
    for name, options in known.items():
        if key in options and (name, key) not in _MEANS_OTHER:
            command, option = options[key]
            checked = _value(ctx, configuration, (written,), option, value)
            if key not in _own(table, name):
                yield (command, str(option.name)), Stated(configuration, (written,), key, checked)


def _for_one(
    ctx: Any,
    configuration: Configuration,
    options: dict[str, tuple[tuple[str, ...], TyperOption]],
    head: str,
    value: Any,
) -> Iterator[_Stated]:
    """The table of one command."""
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
        checked = _value(ctx, configuration, (head, written), option, given)
        yield (command, str(option.name)), Stated(configuration, (head, written), key, checked)


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


def _value(ctx: Any, configuration: Configuration, keys: tuple[str, ...], option: TyperOption, value: Any) -> Any:
    """A value as the command line would have given it; paths are those of the file's folder."""
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
    folder = configuration.path.absolute().parent
    if not configuration.by_user and (why := why_not_in_project(_key_of(option), option, folder, value)):
        raise configuration.refused(join("; ", (why, _TRUSTED)), *keys)
    if names_place(option) and "://" not in value:
        value = str(folder / os.path.expanduser(value))  # noqa: PTH111 - never raises
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
                    yield path, _key_of(parameter), parameter


def _key_of(option: TyperOption) -> str:
    """The long name of an option, as a file says it."""
    return max(option.opts, key=len).removeprefix("--")
