"""What configuration files say, as defaults of options; the command line and the environment win over them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

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
from aoe_reports.cli.menu import ALIASES
from aoe_reports.cli.options import declared_of
from aoe_reports.model.options import Option
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.topics.advice.thresholds import Thresholds


@row
class Setting:
    """One option of one command: what is in force unless the command line says otherwise, and who says so."""

    command: str = column("Command")
    option: str = column("Option")
    value: Any = column("Value")
    source: str = column("Set by", "word")
    line: int | None = column("Line", "integer")
    path: str | None = column("File", before="line")


@dataclass(frozen=True, slots=True)
class KnownOption:
    """An option of a command, and what is known of it."""

    command: tuple[str, ...]
    """The command, and the group before it."""
    key: str
    """Its long name, as a file says it."""
    option: TyperOption
    what: Option

    @property
    def parameter(self) -> tuple[tuple[str, ...], str]:
        """(command, parameter), by which defaults are found."""
        return self.command, str(self.option.name)


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that a file gives to an option, and under which keys."""

    file: Configuration
    keys: tuple[str, ...]
    known: KnownOption
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
    force: InForce | None = ctx.find_root().obj
    if force is None or not any(file.table.get(THRESHOLDS) for file in force.files):
        return None
    from aoe_reports.topics.advice.thresholds import Thresholds

    changed: dict[str, Any] = {}
    for file in reversed(force.files):
        changed |= file.thresholds(Thresholds)
    return Thresholds(**changed)


def settings(ctx: typer.Context) -> list[Setting]:
    """Every option of every command, in the order of --help."""
    group = ctx.find_root()
    stated = group.obj.stated if group.obj is not None else {}
    found = []
    for known in known_options(group):
        if known.what.only_here:
            continue
        option, key, name = known.option, known.key, " ".join(known.command)
        variable = option.resolve_envvar_value(group)
        said: Stated | None = stated.get(known.parameter)
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
    force: InForce | None = ctx.find_root().obj
    return [
        _setting(
            THRESHOLDS,
            name,
            file.table[THRESHOLDS][name],
            "file",
            line=file.line_of(THRESHOLDS, name),
            path=str(file.path),
        )
        for name, file in (force.thresholds() if force is not None else [])
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


_NOT_IN_PROJECT = say(
    "a project file cannot set this (the file may have come with the data); only the command line, a file given with --config and your own "
    "aoe-reports/aoe-reports.toml in $XDG_CONFIG_HOME (~/.config) may set this"
)

_Stated = tuple[tuple[tuple[str, ...], str], Stated]
_Tables = dict[str, dict[str, KnownOption]]
"""Options by the name of their command's table, by their long names."""


def _stated(ctx: Any, configuration: Configuration) -> Iterator[_Stated]:
    """((command, parameter), what is stated) of all that a file says; what it may not say is an error."""
    tables: _Tables = {}
    for known in known_options(ctx):
        tables.setdefault("-".join(known.command), {})[known.key] = known
    shared = _shared(tables)
    stated = _by_option(configuration, configuration.table, ())
    for key, (written, value) in stated.items():
        if key in shared:
            for known in shared[key]:
                checked = _value(ctx, configuration, (written,), known, value)
                if key not in _own(stated, "-".join(known.command)):
                    yield known.parameter, Stated(configuration, (written,), known, checked)
        elif (table := tables.get(key) or _renamed(key, tables)) is not None:
            yield from _for_one(ctx, configuration, table, written, value)
        elif key != THRESHOLDS:
            raise configuration.refused(_unknown(key, tables), written)


def _renamed(name: str, tables: _Tables) -> dict[str, KnownOption] | None:
    """The options of a command by the name that it had in an earlier version."""
    words = ALIASES.get(name, "").split()
    return tables.get("-".join(word for word in words if not word.startswith("-")))


def _shared(tables: _Tables) -> dict[str, list[KnownOption]]:
    """The options that a line above all tables says for every command that has them."""
    found: dict[str, list[KnownOption]] = {}
    for known in (one for table in tables.values() for one in table.values() if one.what.shared):
        found.setdefault(known.key, []).append(known)
    return found


def _for_one(
    ctx: Any, configuration: Configuration, table: Mapping[str, KnownOption], head: str, value: Any
) -> Iterator[_Stated]:
    """The table of one command."""
    if not isinstance(value, dict):
        raise configuration.refused(say("expected a table"), head)
    for key, (written, given) in _by_option(configuration, value, (head,)).items():
        if key not in table:
            allowed = [one.key for one in table.values() if not one.what.only_here]
            raise configuration.refused(say("no such option") + nearest(key, allowed), head, written)
        known = table[key]
        if known.what.only_here:
            message = say("{what} can only be given on the command line", what=known.what.only_here)
            raise configuration.refused(message, head, written)
        checked = _value(ctx, configuration, (head, written), known, given)
        yield known.parameter, Stated(configuration, (head, written), known, checked)


def _own(stated: dict[str, tuple[str, Any]], command: str) -> set[str]:
    """The options that the table of a command says itself."""
    value = stated[command][1] if command in stated else None
    return {key.replace("_", "-") for key in value} if isinstance(value, dict) else set()


def _by_option(configuration: Configuration, table: Any, keys: tuple[str, ...]) -> dict[str, tuple[str, Any]]:
    """(key as written, value) by the option's name; a key may be written with _ for -."""
    found: dict[str, tuple[str, Any]] = {}
    for written, value in table.items():
        key = written.replace("_", "-")
        if key in found:
            raise configuration.refused(say("given twice ({key})", key=found[key][0]), *keys, written)
        found[key] = (written, value)
    return found


def _unknown(key: str, tables: _Tables) -> str:
    having = sorted(name for name, table in tables.items() if key in table and not table[key].what.only_here)
    if having:
        return say("belongs in the table of a command: {names}", names=join(", ", (f"[{name}]" for name in having)))
    return say("no such option or command") + nearest(key, [*_shared(tables), *tables, THRESHOLDS])


def _value(ctx: Any, configuration: Configuration, keys: tuple[str, ...], known: KnownOption, value: Any) -> Any:
    """A value as the command line would have given it; paths are those of the file's folder."""
    option = known.option
    kind = option.type_descriptor
    expected, fits = (
        (say("a list of strings"), isinstance(value, list) and all(isinstance(one, str) for one in value))
        if option.multiple
        else (say("true or false"), isinstance(value, bool))
        if option.is_flag
        else (say("a whole number"), isinstance(value, int) and not isinstance(value, bool))
        if kind.annotation is int
        else (say("a number"), isinstance(value, int | float) and not isinstance(value, bool))
        if kind.annotation is float
        else (say("a quoted string"), isinstance(value, str))
    )
    if not fits:
        given = say("a table") if isinstance(value, dict) else repr(value)
        message = say("expected {expected}, not {given}", expected=expected, given=given)
        raise configuration.refused(message, *keys)
    if not configuration.by_user and not is_of_analysis(known):
        raise configuration.refused(_NOT_IN_PROJECT, *keys)
    if known.what.names == "place" and "://" not in value:
        value = str(configuration.path.absolute().parent / os.path.expanduser(value))  # noqa: PTH111 - never raises
    try:
        option.get_runtime_param().coerce(value, option, ctx)
    except typer.BadParameter as error:
        raise configuration.refused(error_text(error.message.strip()), *keys) from error
    return value


def is_of_analysis(known: KnownOption) -> bool:
    """Whether an option only says what is analysed and how: it names no place and no process, and sets no limit against hostile data."""
    kind = known.option.type_descriptor.annotation
    is_choice = get_origin(kind) is not None and not known.option.multiple
    is_closed = known.option.is_flag or kind in {int, float, bool} or is_choice
    return not known.what.protects and (is_closed or known.what.names == "nothing")


def known_options(ctx: Any) -> Iterator[KnownOption]:
    """The options of all commands, those of groups among them."""
    waiting = _commands(ctx.command, ())
    for path, command in waiting:
        declared = declared_of(command.callback)
        for option in command.params:
            if isinstance(option, TyperOption):
                what = declared[str(option.name)].option
                yield KnownOption(path, max(option.opts, key=len).removeprefix("--"), option, what)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(command, TyperGroup):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from _commands(one, (*path, name))
