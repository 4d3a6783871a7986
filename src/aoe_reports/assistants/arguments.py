"""What an assistant may tell a question: the options that are its own, as they are declared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aoe_reports.assistants.places import Places
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import neutral
from aoe_reports.model.documents import Json
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import Declared, check_options, declared

_KINDS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def offered(options: type[Any]) -> dict[str, Declared]:
    """By name the options that change what is told: none that writes, waits, starts processes, or lifts a limit."""
    return {
        one.key: one
        for one in declared(options)
        if one.option.scope == "question"
        and one.option.cli
        and not one.option.only_here
        and not one.option.protects
        and one.option.names in {None, "nothing", "input"}
    }


def kind_of(one: Declared) -> str:
    """What an option takes, in words."""
    if one.choices:
        return " | ".join(one.choices)
    if one.many:
        return "a list of texts"
    return "a path" if one.type is Path else _KINDS[one.type]


def chosen(options: type[Any], given: Mapping[str, Any], places: Places, *, of: str) -> Any:
    """The options of a class as an assistant gave them, all others as they are by default. Raises RefusedError."""
    known = offered(options)
    values = {}
    for key, value in given.items():
        one = known.get(key.replace("_", "-"))
        if one is None:
            names = ", ".join(known) or "none"
            raise RefusedError(f"{of} has no option {neutral(key, 60)!r}; its options: {names}")
        if value is not None:
            values[one.name] = _value(one, value, places, of)
    found = options(**values)
    try:
        check_options(found)
    except UsageError as error:
        raise RefusedError(f"{of}: {neutral(str(error))}") from error
    return found


def _value(one: Declared, value: Json, places: Places, of: str) -> Any:
    if one.many and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if one.choices and value in one.choices:
        return value
    if one.type is Path and isinstance(value, str):
        return places.checked(value)
    if one.type is float and type(value) is int:
        return float(value)
    if one.type in _KINDS and type(value) is one.type:
        return value
    raise RefusedError(f"{of}: {one.key} takes {kind_of(one)}, not {neutral(repr(value), 60)}")
