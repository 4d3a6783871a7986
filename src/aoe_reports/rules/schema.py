"""Holds a document against its JSON Schema; one finding a place."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from aoe_reports.formats.aoe.results import escape
from aoe_reports.formats.schemas import load_schema
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import join, say

_LONGEST_MESSAGE = 300
_CONTAINERS = (dict, list)


SCHEMA = Scope("AOE results, records").rule("schema", "error", "shape or type does not match the schema")


@cache
def _validator(name: str, *, closed: bool = False) -> Any:
    import jsonschema_rs  # noqa: PLC0415 -- commands on tables validate nothing

    regular = jsonschema_rs.RegexOptions()  # linear in the text's length; all patterns of ours are of that kind
    schema = _closed(load_schema(name)) if closed else load_schema(name)
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=regular)


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    inside = {key: _closed(inner) for key, inner in part.items()}
    names_keys = isinstance(part.get("properties"), dict) and "additionalProperties" not in part
    return inside | ({"additionalProperties": False} if names_keys else {})


def fits_schema(name: str, document: Any) -> bool:
    """Whether the schema called `name` allows a document: the quick answer, without reasons."""
    return bool(_validator(name).is_valid(document))


def is_documented(name: str, document: Any) -> bool:
    """Whether a document fits the schema called `name`, and has no key that the schema does not name."""
    return bool(_validator(name, closed=True).is_valid(document))


def check_schema(name: str, document: Any, path: str) -> list[Finding]:
    """What the schema called `name` says of a document, with JSON Pointers, in the order of the document."""
    found = [SCHEMA.found(path, message, pointer=at) for at, message in schema_errors(name, document)]
    if len(found) > EXAMPLES_PER_RULE:
        more = say("and {count} more places that the schema does not allow", count=len(found) - EXAMPLES_PER_RULE)
        found = [*found[:EXAMPLES_PER_RULE], SCHEMA.found(path, more)]
    return found


def schema_errors(name: str, document: Any) -> list[tuple[str, str]]:
    """(JSON Pointer, message) of everything that the schema called `name` says of a document, in its order."""
    return sorted(_errors(name, document))


def _errors(name: str, document: Any) -> Iterator[tuple[str, str]]:
    """(JSON Pointer, message) of each error; jsonschema-rs omits empty keys from paths, so they get a name."""
    for error in _validator(name).iter_errors(_named(document) if _has_empty_key(document) else document):
        path = ["" if step == _EMPTY else step for step in error.instance_path]
        yield pointer(path), _message(error)


_EMPTY = "\U0010fffdempty\U0010fffd"


def _has_empty_key(document: Any) -> bool:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if value.__class__ is dict:
            if "" in value:
                return True
            waiting += [inner for inner in value.values() if inner.__class__ is dict or inner.__class__ is list]
        elif value.__class__ is list:
            waiting += [inner for inner in value if inner.__class__ is dict or inner.__class__ is list]
    return False


def _named(value: Any) -> Any:
    if isinstance(value, list):
        return [_named(inner) for inner in value]
    if isinstance(value, dict):
        return {key or _EMPTY: _named(inner) for key, inner in value.items()}
    return value


def _message(error: Any) -> str:
    if error.kind.name == "anyOf":
        reasons = dict.fromkeys(_said(inner) for branch in error.kind.context for inner in branch)
        message: str = join(", or ", reasons)
    else:
        message = _said(error)
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE]


_SAID: Mapping[str, tuple[str, ...]] = {
    "required": ("{name} is a required property",),
    "type": ("{value} is not of type {type}", "{value} is not of types {type}"),
    "enum": ("{value} is not one of {names}",),
    "const": ("{value} was expected",),
    "pattern": ("{value} does not match {pattern}",),
    "minimum": ("{value} is less than the minimum of {least}",),
    "maximum": ("{value} is greater than the maximum of {most}",),
    "minItems": ("{value} has less than 1 item",),
    "minProperties": ("{value} has less than 1 property",),
    "minLength": ("{value} is shorter than 1 character",),
    "maxLength": ("{value} is longer than {most} characters",),
}
"""What jsonschema-rs says by the kind of an error; what it says otherwise is shown as it is."""


def _said(error: Any) -> str:
    """The message of jsonschema-rs split into template and values, for translation."""
    message = str(error.message).replace(_EMPTY, "")
    for template in _SAID.get(error.kind.name, ()):
        if found := _pattern(template).fullmatch(message):
            return say(template, **found.groupdict())
    return message


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """A pattern that recovers the values of a template from a message."""
    parts = string.Formatter().parse(template)
    return re.compile(
        "".join(re.escape(text) + (f"(?P<{name}>.*)" if name else "") for text, name, _, _ in parts), re.DOTALL
    )


def pointer(steps: Sequence[object]) -> str:
    """Steps into a document as a JSON Pointer."""
    return "".join("/" + escape(str(step)) for step in steps)


_Place = tuple[Any, Any, str]
"""A part of a schema, the value that it is of, and the pointer to the value."""


def unknown_keys(name: str, definition: str, document: Any, at: str) -> Iterator[str]:
    """Pointers of the keys that the definition of a schema (and what it refers to) does not name; `at` leads to it."""
    schema: Any = load_schema(name)
    waiting: list[_Place] = [(schema["$defs"][definition], document, at)]
    while waiting:
        part, value, here = waiting.pop()
        while "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
        if "if" in part:
            waiting.append((part["then"] if _is(value, part["if"]["type"]) else part["else"], value, here))
        if isinstance(value, list) and "items" in part:
            waiting += [
                (part["items"], inner, f"{here}/{i}") for i, inner in enumerate(value) if isinstance(inner, _CONTAINERS)
            ]
        if isinstance(value, dict):
            yield from _unnamed(part, value, here)
            waiting += _members(part, value, here)


def _unnamed(part: Any, value: JsonObject, here: str) -> Iterator[str]:
    """Pointers of members that a schema part with named properties does not name."""
    if "properties" in part and "additionalProperties" not in part:
        yield from (f"{here}/{escape(key)}" for key in sorted(value.keys() - part["properties"].keys()))


def _members(part: Any, value: JsonObject, here: str) -> Iterator[_Place]:
    """Members that may hold objects."""
    named, others = part.get("properties"), part.get("additionalProperties")
    if named is not None:
        yield from ((named[key], value[key], f"{here}/{escape(key)}") for key in _nested(part) if key in value)
    if others is not None:
        yield from ((others, value[key], f"{here}/{escape(key)}") for key in value.keys() - (named or {}).keys())


_NESTED: dict[int, tuple[str, ...]] = {}


def _nested(part: Any) -> tuple[str, ...]:
    """The properties that may hold objects; cached by id, since schemas stay in memory."""
    found = _NESTED.get(id(part))
    if found is None:
        words = {"$ref", "if", "items", "properties", "additionalProperties"}
        found = tuple(key for key, inner in part["properties"].items() if words & inner.keys())
        _NESTED[id(part)] = found
    return found


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, {"object": dict, "array": list}[kind])
