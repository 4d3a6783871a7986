"""What a parser does not say of a JSON text: why it is none, in words; what a cut one certainly holds; where a value stands.

Every function takes time in proportion to the text.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from aoe_reports.formats.aoe.results import escape
from aoe_reports.model.texts import Text, say

_OF_PARSER = re.compile(r"(.*) at line ([0-9]+) column ([0-9]+)", re.DOTALL)
_DUPLICATE = "Detected duplicate key "
_PARSER_SAYS: dict[str, Text] = {
    "EOF while parsing a list": say("the text ends inside a list"),
    "EOF while parsing a string": say("the text ends inside a string"),
    "EOF while parsing a value": say("the text ends where a value is expected"),
    "EOF while parsing an object": say("the text ends inside an object"),
    "control character (\\u0000-\\u001F) found while parsing a string": say("a control character inside a string"),
    "expected `,` or `]`": say("expected {mark} or {other}", mark="`,`", other="`]`"),
    "expected `,` or `}`": say("expected {mark} or {other}", mark="`,`", other="`}`"),
    "expected `:`": say("expected {mark}", mark="`:`"),
    "expected ident": say("expected true, false or null"),
    "expected value": say("expected a value"),
    "invalid escape": say("an unknown escape in a string"),
    "invalid number": say("not a valid number"),
    "invalid unicode code point": say("a character that does not exist"),
    "key must be a string": say("expected a key in quotation marks"),
    "lone leading surrogate in hex escape": say("an escape for half a character"),
    "number out of range": say("a number that is too large"),
    "Internal error: \"InvalidOperation: [<class 'decimal.InvalidOperation'>]\"": say("a number that is too large"),
    "recursion limit exceeded": say("lists or objects are nested too deeply"),
    "trailing characters": say("text follows the end of the document"),
    "trailing comma": say("a comma follows the last value"),
    "unexpected end of hex escape": say("an escape for half a character"),
}
"""The parser's words, as a person would say them."""


def of_parser(error: str) -> str:
    """What the parser (jiter) says of a text, in words of people where it is known."""
    placed = _OF_PARSER.fullmatch(error)
    if placed is not None:
        where = {"line": int(placed[2]), "column": int(placed[3])}
        return say("{what} at line {line} column {column}", what=of_parser(placed[1]), **where)
    if error.startswith(_DUPLICATE):
        return say("key {key} appears twice", key=error.removeprefix(_DUPLICATE))
    return _PARSER_SAYS.get(error, error)


@dataclass(frozen=True, slots=True)
class Syntax:
    """Where a text stops being JSON (from 1, in characters), and what was expected there."""

    line: int
    column: int
    message: str


class MemberNames:
    """Names for the members of one object: the second of two equal keys is called `key (2)`."""

    __slots__ = ("_counts", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def name(self, key: str) -> tuple[str, bool]:
        """(a name that no member before has, whether the very key stood there before)."""
        repeated = key in self._counts
        count, name = self._counts.get(key, 1), key
        while name in self._taken:
            count += 1
            name = f"{key} ({count})"
        self._taken.add(name)
        self._counts[key] = count  # the names below it stay taken: the next search begins here
        return name, repeated


def without_count(name: str) -> str:
    """The key of a member that `MemberNames` gave a name."""
    return re.sub(r" \([0-9]+\)\Z", "", name)


def explain(error: str, data: bytes) -> Syntax:
    """What the parser (jiter) says of a text that is no JSON, with the text around that place."""
    placed = _OF_PARSER.fullmatch(error)
    if placed is None:
        return Syntax(1, 1, of_parser(error))
    is_cut = error.startswith("EOF")
    start = 0
    for _ in range(int(placed[2]) - 1):
        start = data.index(b"\n", start) + 1
    # a line break in a string is column 0 of the next line
    at = len(data) if is_cut else max(start + int(placed[3]) - 1, 0)
    before = _decoded(data[data.rfind(b"\n", 0, at) + 1 : at])
    message = of_parser(placed[1])
    if not is_cut:
        text = before[-_AROUND:] + _decoded(data[at : at + 4 * _AROUND]).partition("\n")[0][:_AROUND]
        text = text.strip().encode(errors="surrogateescape").decode(errors="backslashreplace")
        message = say("{what} near `{text}`", what=message, text=text)
    return Syntax(data.count(b"\n", 0, at) + 1, len(before) + 1, message)


_AROUND = 15
"""How many characters before and after a place are shown."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a text that was cut off certainly says."""

    text: bytes
    """What is whole of it, with the brackets around it closed; nothing where nothing is whole."""
    line: int
    """Where the text ends."""
    column: int
    inside: str
    """JSON Pointer of the innermost list or object that is open there."""


@dataclass(slots=True)
class _Open:
    """A list or object that is not closed yet; the outermost stands for the text."""

    bracket: str
    whole_until: int
    """Where the last value that is whole ends."""
    record: int | None = None
    """Which of the open ones is the innermost object of a list."""
    holds_records: bool = False
    """Whether objects of a list are in it: then it is no record, but what records are in."""
    names: MemberNames = field(default_factory=MemberNames)
    step: str | int = 0
    """From it to the value that is read."""
    takes_key: bool = True


_TOKEN = re.compile(
    # without the empty alternative Python before 3.11.5 takes half of an escape at the end (CPython issue 106052)
    r"[ \t\r\n]*+(?:(?P<mark>[{}\[\],:])|(?P<text>\"[^\"\\]*+(?:\\.[^\"\\]*+|)*+\")|(?P<word>[^ \t\r\n{}\[\],:\"]++))",
    re.DOTALL,
)
_CLOSED_BY = {"{": "}", "[": "]"}


def recover(data: bytes) -> Recovered:
    """What a text certainly says that was cut off, and is JSON up to there.

    A number or word at its end may have gone on, so it is left out, and so is an object of a list that was begun.
    """
    text = _decoded(data)
    opened = [_Open("", 0)]
    end = 0
    while (token := _TOKEN.match(text, end)) is not None:
        here, end = opened[-1], token.end()
        if token["mark"]:
            _take_mark(token["mark"], end, opened)
        elif here.bracket == "{" and here.takes_key:
            here.step, _ = here.names.name(json.loads(token["text"]))
        elif token["text"] or end < len(text):
            here.whole_until = end
    inside = "".join(f"/{escape(str(one.step))}" for one in opened[1:-1])
    record = opened[-1].record
    if record is not None and not opened[record].holds_records:
        del opened[record:]
    whole = text[: opened[-1].whole_until] + "".join(_CLOSED_BY[one.bracket] for one in opened[:0:-1])
    return Recovered(whole.encode(), text.count("\n") + 1, len(text) - text.rfind("\n"), inside)


def _take_mark(mark: str, end: int, opened: list[_Open]) -> None:
    """What a bracket, comma or colon, which ends at `end`, changes of what is open."""
    here = opened[-1]
    if mark in _CLOSED_BY:
        is_record = mark == "{" and here.bracket == "["
        if is_record and here.record is not None:
            opened[here.record].holds_records = True
        opened.append(_Open(mark, end, len(opened) if is_record else here.record))
    elif mark == ":":
        here.takes_key = False
    elif mark == ",":
        here.takes_key = True
        here.step = here.step + 1 if isinstance(here.step, int) else here.step
    else:
        opened.pop()
        opened[-1].whole_until = end


def with_repeated_keys(
    data: bytes, floats: Callable[[str], Any] = Decimal
) -> tuple[Any, list[tuple[str, str, int, int]]]:
    """The document of a JSON text, of two equal keys the second as `key (2)`; and all such keys.

    These are (JSON Pointer of the object, key, line, column of the key).
    """
    repeated: dict[int, dict[str, str]] = {}

    def members(items: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(items)
        if len(document) == len(items):
            return document
        names = MemberNames()
        named = [(*names.name(key), key, value) for key, value in items]
        document = {name: value for name, _, _, value in named}
        repeated[id(document)] = {name: key for name, is_repeated, key, _ in named if is_repeated}
        return document

    document = json.loads(data, object_pairs_hook=members, parse_float=floats)
    found: dict[str, tuple[str, str]] = {}
    waiting = [("", document)] if repeated else []
    while waiting:
        pointer, value = waiting.pop()
        for name, key in repeated.get(id(value), {}).items():
            found[f"{pointer}/{escape(name)}"] = pointer, key
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        waiting += [(f"{pointer}/{escape(str(step))}", part) for step, part in inner if isinstance(part, dict | list)]
    return document, [(*found[pointer], *place) for pointer, place in locate(data, found, keys=True).items()]


_Wanted = list[tuple[str, list[str]]]
"""Pointers, each with its steps."""


def locate(data: bytes, pointers: Collection[str], *, keys: bool = False) -> dict[str, tuple[int, int]]:
    """Line and column (from 1, in characters) of the value that each JSON Pointer leads to, in the order of the text.

    With `keys` those of a member's key. Of a text that is cut off or no JSON as far as it is.
    """
    steps = [[step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]] for pointer in pointers]
    search = _Search(_decoded(data), keys)
    with suppress(ValueError, IndexError, TypeError, RecursionError):
        search.value(search.after_blanks(0), list(zip(pointers, steps, strict=True)))
    return dict(zip(search.found, _places(search.text, search.found.values()), strict=True))


_SKIP = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
"""Reads one value at the speed of C, to know where it ends."""
_BLANKS = re.compile(r"[ \t\r\n]*+")


@dataclass(slots=True)
class _Search:
    """A walk down to the values that pointers lead to; what is beside the way is skipped as a whole."""

    text: str
    keys: bool
    found: dict[str, int] = field(default_factory=dict)

    def after_blanks(self, at: int) -> int:
        return _BLANKS.match(self.text, at).end()  # type: ignore[union-attr] # it matches everywhere

    def value(self, at: int, wanted: _Wanted, depth: int = 0, key_at: int = 0) -> int:
        """Notes where a value is and goes to those in it; returns where it ends."""
        below: dict[str, _Wanted] = defaultdict(list)
        for pointer, steps in wanted:
            if len(steps) == depth:
                self.found[pointer] = key_at if self.keys else at
            else:
                below[steps[depth]].append((pointer, steps))
        opening = self.text[at]
        if not below or opening not in _CLOSED_BY:
            return _SKIP(self.text, at)[1]
        names, number = MemberNames(), 0
        at = self.after_blanks(at + 1)
        while self.text[at] != _CLOSED_BY[opening]:
            start, name = at, str(number)
            number += 1
            if opening == "{":
                key, at = _SKIP(self.text, at)
                name, _ = names.name(key)
                at = self.after_blanks(self.after_blanks(at) + 1)  # behind the colon
            end = self.value(at, below[name], depth + 1, start) if name in below else _SKIP(self.text, at)[1]
            at = self.after_blanks(end)
            if self.text[at] == ",":
                at = self.after_blanks(at + 1)
        return at + 1


def _places(text: str, positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Line and column of positions that do not fall."""
    line, start, last = 1, 0, 0
    for position in positions:
        line += text.count("\n", last, position)
        start = text.rfind("\n", last, position) + 1 or start
        last = position
        yield line, position - start + 1


def _decoded(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
