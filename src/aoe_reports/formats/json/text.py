"""What a parser does not tell of a JSON text: why it is none, what a cut one certainly says, where a value stands.

Nothing here is recursive, and every function takes time in proportion to the text.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

from aoe_reports.formats.aoe.results import escape
from aoe_reports.model.texts import Text, count_of, say

MAX_DEPTH = 200
"""How deep brackets may be nested: the parser (jiter) takes no more."""

LONGEST_INTEGER = 4300
"""How many digits an integer may have: the parser, and Python's int, take no more."""


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
    """Where a text stops being JSON (from 1, in characters), and what is missing or too much there."""

    line: int
    column: int
    message: str
    cut: bool = field(default=False, compare=False)
    """Whether it is merely cut off: JSON as far as it goes."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a text that was cut off certainly says."""

    document: Any
    """None where nothing is certain."""
    dropped: str | None
    """JSON Pointer of the record (else the value) that was begun and is left out; None where there is none."""
    line: int
    """Where the text was cut, or stops being JSON."""
    column: int
    inside: str
    """JSON Pointer of the innermost list or object that was open there."""


# A string: surrogate bytes (U+DC80 to U+DCFF) stand for bytes that are not UTF-8.
_PLAIN = r"[^\"\\\x00-\x1f\udc80-\udcff]*+"
_SIMPLE_ESCAPE = r"[\"\\/bfnrt]"
_PAIRED = (
    r"u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_ANY = r"u[0-9a-fA-F]{4}"


def _escapes(hexadecimal: str) -> str:
    """Any number of escapes, each with what follows it, and never fewer than there are.

    The empty alternative at the end matches nothing more: without it Python before 3.11.5 goes on from the middle of the
    escape that does not fit (CPython issue 106052).
    """
    return rf"(?:\\(?:{_SIMPLE_ESCAPE}|{hexadecimal}){_PLAIN}|)*+"


def _pattern(hexadecimal: str, digits: str, exponent: str) -> re.Pattern[str]:
    string = rf"\"{_PLAIN}{_escapes(hexadecimal)}\""
    number = rf"-?(?:0|[1-9]{digits})(?:\.[0-9]++)?(?:[eE][+-]?{exponent})?(?![\w.+-])"
    return re.compile(
        rf"[ \t\r\n]*+(?:(?P<mark>[{{}}\[\],:])|(?P<string>{string})|(?P<number>{number})"
        r"|(?P<literal>true|false|null)(?!\w))"
    )


# What the parser takes: a decimal holds no larger exponent.
_STRICT = _pattern(_PAIRED, f"[0-9]{{0,{LONGEST_INTEGER - 1}}}+", "(?=[0-9])0*+[0-9]{0,17}")
# What the grammar allows.
_LENIENT = _pattern(_ANY, "[0-9]*+", "[0-9]++")
_BLANKS = re.compile(r"[ \t\r\n]*+")
_STRING_SO_FAR = re.compile(rf"\"{_PLAIN}{_escapes(_PAIRED)}")
_CUT_ESCAPE = re.compile(r"\\(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?)?\Z")
_CUT_CHARACTER = re.compile(r"[\udc80-\udcff]{1,3}\Z")
_CUT_SCALAR = re.compile(
    r"(?:-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]*+)?)?|t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z"
)

_SKIP = json.JSONDecoder().raw_decode
"""Reads one value at the speed of C, to know where it ends."""

Expected = Literal["document", "member value", "first item", "item", "first key", "key", "colon", "more", "end"]
"""What may come next in a text: `more` is ',' or the closing bracket."""

_VALUES = frozenset({"{", "[", "string", "number", "literal"})
_FITTING: dict[Expected, frozenset[str]] = {
    "document": _VALUES,
    "member value": _VALUES,
    "first item": _VALUES | {"]"},
    "item": _VALUES,
    "first key": frozenset({"string", "}"}),
    "key": frozenset({"string"}),
    "colon": frozenset({":"}),
    "more": frozenset({",", "}", "]"}),
    "end": frozenset(),
}
_TAKES_VALUE = frozenset({"document", "member value", "first item", "item"})
_TAKES_KEY = frozenset({"first key", "key"})
_OPENED_BY = {"}": "{", "]": "["}
_CLOSED_BY = {"{": "}", "[": "]"}


@dataclass(slots=True)
class _Walk:
    """A walk over the tokens of a text, as far as it is JSON."""

    text: str
    pattern: re.Pattern[str] = _STRICT
    deepest: int = MAX_DEPTH
    position: int = 0
    expects: Expected = "document"
    opened: list[tuple[str, int]] = field(default_factory=list)
    """Brackets that are open, each with its place."""
    last: int = 0
    """Where the last token begins."""
    skips: bool = True
    """Whether containers may still be skipped as a whole."""

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        """(kind, start, end) of each token: a mark, `key`, `string`, `number` or `literal`."""
        text = self.text
        while (found := self.pattern.match(text, self.position)) is not None:
            kind = found.lastgroup or ""
            start, end = found.span(kind)
            kind = self._taken(text[start] if kind == "mark" else kind, start)
            if not kind:
                break
            self.last, self.position = start, end
            yield kind, start, end
        self.position = _end_of(_BLANKS, text, self.position)

    def skip(self, start: int) -> bool:
        """Go at once behind the container that was opened last, at `start`; False where that takes a closer look."""
        if not self.skips:
            return False
        try:
            self.position = _SKIP(self.text, start)[1]
        except (ValueError, RecursionError):
            self.skips = False  # what is inside would fail in the same place, and be read again for every bracket
            return False
        self.opened.pop()
        self.expects = "more" if self.opened else "end"
        return True

    def _taken(self, kind: str, start: int) -> str:
        """The kind of a token that fits; nothing for one that does not."""
        expects = self.expects
        if kind not in _FITTING[expects]:
            return ""
        if kind in _CLOSED_BY:
            if len(self.opened) >= self.deepest:
                return ""
            self.opened.append((kind, start))
            self.expects = "first key" if kind == "{" else "first item"
        elif kind == ",":
            self.expects = "key" if self.opened[-1][0] == "{" else "item"
        elif kind == ":":
            self.expects = "member value"
        elif expects in _TAKES_KEY and kind == "string":
            self.expects = "colon"
            return "key"
        else:
            if kind in _OPENED_BY:
                if self.opened[-1][0] != _OPENED_BY[kind]:
                    return ""
                self.opened.pop()
            self.expects = "more" if self.opened else "end"
        return kind


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


_COUNT = re.compile(r" \([0-9]+\)\Z")


def without_count(name: str) -> str:
    """The key of a member that `MemberNames` gave a name."""
    return _COUNT.sub("", name) if name[-1:] == ")" else name


def explain(data: bytes) -> Syntax:
    """Where a text that is no JSON stops being it, and what to do about it."""
    walk = _Walk(_text_of(data))
    deque(walk, maxlen=0)
    at, message = _fault(walk)
    return Syntax(*_place(walk.text, at), message, cut=at == len(walk.text) and walk.expects != "end")


def recover(data: bytes, *, floats: Callable[[str], Any] = Decimal) -> Recovered:
    """What a text that was cut off certainly says: whole values, and the containers around them."""
    walk = _Walk(_text_of(data))
    document = _Document(floats)
    for kind, start, end in walk:
        may_go_on = kind in {"number", "literal"} and end == len(walk.text)
        if may_go_on or not document.take(kind, walk.text[start:end]):
            begun, cut = True, end if may_go_on else start
            break
    else:
        cut, _ = _fault(walk)
        begun = walk.position < len(walk.text) and walk.expects in _TAKES_VALUE
    inside = document.innermost()
    return Recovered(*document.certain(begun=begun), *_place(walk.text, cut), inside)


def locate(data: bytes, pointers: Collection[str]) -> dict[str, tuple[int, int]]:
    """Line and column (from 1, in characters) of the value that each JSON Pointer leads to, as far as there is one."""
    root, missing = _Step.tree(pointers)
    walk = _Walk(_text_of(data), _LENIENT, sys.maxsize)
    lines = _Lines(walk.text)
    found: dict[str, tuple[int, int]] = {}
    parents: list[_Parent | None] = []
    here: _Step | None = None
    for kind, start, end in walk:
        if not missing:
            break
        parent = parents[-1] if parents else None
        if kind in _OPENED_BY:
            parents.pop()
        elif kind == "key":
            here = parent.of_key(walk.text[start:end]) if parent is not None else None
        elif kind in _VALUES:
            if parent is None:
                here = None if parents else root
            elif parent.bracket == "[":
                here = parent.of_next_item()
            if here is not None and here.pointers:
                found |= dict.fromkeys(here.pointers, lines.place(start))
                missing -= len(here.pointers)
            if kind in _CLOSED_BY:
                _enter(walk, parents, kind, start, here)
    return found


def _enter(walk: _Walk, parents: list[_Parent | None], bracket: str, start: int, step: _Step | None) -> None:
    """Go into a container on the way to what is looked for; behind one that is beside it, where that can be."""
    if step is not None and step.below:
        parents.append(_Parent(bracket, step))
    elif not walk.skip(start):
        parents.append(None)


def duplicates(data: bytes) -> list[tuple[str, str, int, int]] | None:
    """(JSON Pointer of the object, key, line, column of the key) of each key that its object has already.

    None for a text that the parser would not take if every key stood there once.
    """
    walk = _Walk(_text_of(data))
    lines = _Lines(walk.text)
    found: list[tuple[str, str, int, int]] = []
    steps: list[str | int] = []  # from each open container to the value in it that is read
    objects: list[MemberNames] = []  # of each open container
    pointer: str | None = None  # of the innermost one, made when it is needed
    for kind, start, end in walk:
        if kind == "key":
            key = _string(walk.text[start:end])
            steps[-1], repeated = objects[-1].name(key)
            if repeated:
                pointer = _pointer(steps[:-1]) if pointer is None else pointer
                found.append((pointer, key, *lines.place(start)))
        elif kind in _CLOSED_BY:
            objects.append(MemberNames())
            steps.append(0)
            pointer = None
        elif kind in _OPENED_BY:
            objects.pop()
            steps.pop()
            pointer = None
        elif kind == "," and isinstance(steps[-1], int):
            steps[-1] += 1
    return found if walk.expects == "end" and walk.position == len(walk.text) else None


class _Document:
    """A document in the making, of which the end may be missing."""

    def __init__(self, floats: Callable[[str], Any]) -> None:
        self.floats = floats
        self.root: Any = None
        self.open: list[_Open] = []
        self.name: str | None = None  # of the member whose value comes next
        self.whole = False

    def take(self, kind: str, token: str) -> bool:
        """Add a token; False for a number that cannot be had."""
        if kind == "key":
            self.name, _ = self.open[-1].names.name(_string(token))
        elif kind in _OPENED_BY:
            self.open.pop()
            self.whole = not self.open
        elif kind in _CLOSED_BY:
            container: Any = {} if kind == "{" else []
            above = self.open[-1] if self.open else None
            is_record = kind == "{" and above is not None and isinstance(above.container, list)
            record = above.record if above is not None else None
            if is_record and record is not None:
                self.open[record].holds_records = True
            step = self._add(container)
            self.open.append(_Open(container, step, len(self.open) if is_record else record))
        elif kind not in {",", ":"}:
            try:
                self._add(self._scalar(kind, token))
            except (ValueError, ArithmeticError):
                return False
            self.whole = not self.open
        return True

    def innermost(self) -> str:
        """The pointer of the innermost container that is open."""
        return _pointer([parent.step for parent in self.open[1:]])

    def certain(self, *, begun: bool) -> tuple[Any, str | None]:
        """(what is certain, the pointer of what is left out); `begun` says that a value was cut in its midst."""
        if self.whole:
            return self.root, None
        steps = [parent.step for parent in self.open[1:]]
        record = self.open[-1].record if self.open else None
        if record is not None and not self.open[record].holds_records:
            self.open[record - 1].container.pop()
            return self._said(), _pointer(steps[:record])
        if self.name is not None:
            return self._said(), _pointer([*steps, self.name])
        if begun:
            inner = self.open[-1].container if self.open else None
            return self._said(), _pointer([*steps, len(inner)] if isinstance(inner, list) else steps)
        return self._said(), None

    def _said(self) -> Any:
        return self.root or None  # an open list or object with nothing in it says nothing

    def _add(self, value: Any) -> str | int:
        """Put a value where it belongs; the step that leads there."""
        if not self.open:
            self.root = value
            return 0
        container = self.open[-1].container
        if isinstance(container, list):
            container.append(value)
            return len(container) - 1
        assert self.name is not None
        step, self.name = self.name, None
        container[step] = value
        return step

    def _scalar(self, kind: str, token: str) -> Any:
        if kind == "string":
            return _string(token)
        if kind == "literal":
            return {"true": True, "false": False, "null": None}[token]
        return int(token) if token.lstrip("-").isdecimal() else self.floats(token)


@dataclass(slots=True)
class _Open:
    """A container that is not closed yet."""

    container: Any
    step: str | int
    """From the container around it."""
    record: int | None
    """Which of the open containers is the innermost object of a list."""
    holds_records: bool = False
    """Whether objects of a list stand inside: such a one is no record, but what stands around records."""
    names: MemberNames = field(default_factory=MemberNames)


@dataclass(slots=True)
class _Step:
    """One step of the pointers that are looked for."""

    pointers: list[str] = field(default_factory=list)
    """Those that end here."""
    below: dict[str, _Step] = field(default_factory=dict)

    @classmethod
    def tree(cls, pointers: Collection[str]) -> tuple[_Step, int]:
        """(the step from which all pointers lead on, how many there are)."""
        root, count = cls(), 0
        for pointer in dict.fromkeys(pointers):
            first, *steps = pointer.split("/")
            if first:
                continue  # no JSON Pointer: it leads nowhere
            here = root
            for step in steps:
                here = here.below.setdefault(step.replace("~1", "/").replace("~0", "~"), cls())
            here.pointers.append(pointer)
            count += 1
        return root, count


@dataclass(slots=True)
class _Parent:
    """An open container on the way to what is looked for."""

    bracket: str
    step: _Step
    items: int = 0
    names: MemberNames = field(default_factory=MemberNames)

    def of_key(self, token: str) -> _Step | None:
        return self.step.below.get(self.names.name(_string(token))[0])

    def of_next_item(self) -> _Step | None:
        self.items += 1
        return self.step.below.get(str(self.items - 1))


class _Lines:
    """Lines and columns of places in a text; the starts of its lines are listed once it is worth it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        self.asked = 0

    def place(self, position: int) -> tuple[int, int]:
        self.asked += 1
        if self.asked <= _FEW_PLACES:
            return _place(self.text, position)
        if not self.starts:
            self.starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        line = bisect_right(self.starts, position)
        return line, position - self.starts[line - 1] + 1


_FEW_PLACES = 4


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _text_of(data: bytes) -> str:
    return data.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")


def _string(token: str) -> str:
    return str(json.loads(token)) if "\\" in token else token[1:-1]


def _pointer(steps: Collection[str | int]) -> str:
    return "".join(f"/{escape(str(step))}" for step in steps)


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


# What is wrong, in words.

_SHOWN = 30
_REACH = 1000
"""How many tokens an explanation is followed, to see which of several goes on longest."""

_ODDITIES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), message)
    for pattern, message in (
        (r"[.…]{2,}+|…", "'{text}' is not valid JSON (an ellipsis copied from a document?)"),
        (r"(?i:[-+]?(?:nan|infinity|inf))\b", "{text} is not a JSON number"),
        (r"(?i:true|false|none|null|undefined|nil)\b", "{text} is not JSON; JSON has true, false and null"),
        (r"//|/\*|#|<!--", "'{text}': JSON has no comments"),
        (r"['`]", "{text} is not a JSON quotation mark: strings are written in double quotes"),
        (r"[\u2018-\u201f«»]", "{text} is not a JSON quotation mark: strings are written in plain double quotes"),
        (r"-?0[0-9]++", "{text} is not a JSON number: it has leading zeros"),
        (r"\+[0-9.]++", "{text} is not a JSON number: it has a leading '+'"),
        (r"-?\.[0-9]++", "{text} is not a JSON number: no digit before the '.'"),
        (r"-?[0-9]++\.(?![0-9])", "{text} is not a JSON number: no digit after the '.'"),
        (r"-?[0-9][\w.+-]*+|[-+.]", "{text} is not a JSON number"),
        (r"[^\W\d][\w.$-]*+(?=[ \t\r\n]*+:)", "the key '{text}' must be in double quotes"),
        (r"[^\W\d][\w.$-]*+", "'{text}' is not a JSON value; strings must be in double quotes"),
    )
)
"""What people and programs write that is no JSON."""


def _fault(walk: _Walk) -> tuple[int, Text]:
    """(where, what) is wrong in the place where a walk ended."""
    text, at = walk.text, walk.position
    if at == len(text):
        return at, _ended(walk)
    found = _STRICT.match(text, at)
    if found is not None and found.lastgroup is not None:
        kind = text[at] if found.lastgroup == "mark" else found.lastgroup
        return _MISPLACED.get(kind, _misplaced_value)(walk, kind, found.end())
    if text[at] == '"':
        return _broken_string(walk)
    if walk.expects in _TAKES_VALUE and _CUT_SCALAR.match(text, at):
        return len(text), _ended(walk)
    return _odd(walk)


def _odd(walk: _Walk) -> tuple[int, Text]:
    """What is wrong about something that is no token of JSON."""
    text, at = walk.text, walk.position
    if _stray_quote(walk):
        return at - 1, say("a '\"' inside a string must be written as '\\\"'")
    if _LENIENT.match(text, at):
        return at, say("the size of the number is out of range")
    plain = unicodedata.normalize("NFKC", text[at])
    if plain != text[at] and plain in _MARKS:
        told = {"character": text[at], "code": ord(text[at]), "plain": plain}
        return at, say("'{character}' (U+{code:04X}) is not valid in JSON; use '{plain}'", **told)
    for pattern, message in _ODDITIES:
        if odd := pattern.match(text, at):
            return at, say(message, text=_shown(odd[0]))
    return at, say("{text} is not JSON", text=_named(text[at]))


_MARKS = frozenset('{}[],:"')


def _stray_quote(walk: _Walk) -> bool:
    """Whether a text seems to go on behind the quotation mark that ended it."""
    at = walk.position
    ended = walk.text[walk.last] == '"' and walk.last < at - 1 and walk.text[at - 1] == '"'
    return ended and walk.expects in {"more", "colon", "end"} and (walk.text[at].isalnum() or walk.text[at] == "_")


def _ended(walk: _Walk) -> Text:
    if walk.expects == "end":
        return say("no error: the document ends here")
    if not walk.opened:
        return say("the text ends inside a value" if walk.text.strip() else "the text ends before a document begins")
    bracket, place = walk.opened[-1]
    line, column = _place(walk.text, place)
    return count_of(
        len(walk.opened),
        "the text ends here; not closed: the '{bracket}' of line {line}, column {column}",
        "the text ends here; not closed: {number} brackets, the innermost a '{bracket}' of line {line}, column {column}",
        bracket=bracket,
        line=line,
        column=column,
    )


def _broken_string(walk: _Walk) -> tuple[int, Text]:
    text, at = walk.text, _end_of(_STRING_SO_FAR, walk.text, walk.position)
    if at == len(text) or _CUT_ESCAPE.match(text, at) or _CUT_CHARACTER.match(text, at):
        line, column = _place(text, walk.position)
        told = {"line": line, "column": column}
        return len(text), say("the text ends inside the string that begins in line {line}, column {column}", **told)
    character = text[at]
    if character in "\r\n":
        return at, say(
            "a line break in a string: the closing '\"' is missing, or the line break must be written as '\\n'"
        )
    if character != "\\":
        return at, _bare(character)
    written = text[at : at + 6]
    if re.fullmatch(r"\\" + _ANY, written):
        return at, say("'{text}' is half of a surrogate pair, not a character", text=written)
    if written.startswith("\\u"):
        return at, say("'\\u' must be followed by four hexadecimal digits")
    following = _named(text[at + 1])
    return at, say("'\\' followed by {text} is not a JSON escape sequence; write a backslash as '\\\\'", text=following)


def _bare(character: str) -> Text:
    """What is wrong about a character that no string holds as it is."""
    if "\udc80" <= character <= "\udcff":
        return say("{text} in a string", text=_named(character))
    return say(
        "unescaped control character ({character}) in a string; it must be written as '\\u{code:04x}'",
        character=_named(character),
        code=ord(character),
    )


def _misplaced_colon(walk: _Walk, _: str, __: int) -> tuple[int, Text]:
    text, at, expects, opened = walk.text, walk.position, walk.expects, walk.opened
    outside = expects == "end" or (expects == "more" and opened[-1][0] == "[")
    if outside and text[walk.last] == '"':
        if _is_of_outer(opened) and _reach(text, at, "colon", opened[:-1]) > _reach(
            text, at, "colon", [*opened, _HERE]
        ):
            return walk.last, say("{marks} missing before a member: {where}", marks="']'", where=_not_closed(walk))
        return walk.last, say("{mark} missing: a member is outside an object", mark="'{'")
    return at, say("no key before ':'") if expects in _TAKES_KEY else _too_many(":")


_HERE = ("{", 0)


def _is_of_outer(opened: Sequence[tuple[str, int]]) -> bool:
    """Whether the innermost open list stands in an object, whose member a key may be."""
    return [bracket for bracket, _ in opened[-2:]] == ["{", "["]


def _not_closed(walk: _Walk) -> Text:
    bracket, place = walk.opened[-1]
    line, column = _place(walk.text, place)
    told = {"bracket": bracket, "line": line, "column": column}
    return say("the '{bracket}' of line {line}, column {column} is not closed", **told)


def _too_many(mark: str) -> Text:
    return say("extra '{mark}'", mark=mark)


def _misplaced_comma(walk: _Walk, _: str, __: int) -> tuple[int, Text]:
    if walk.expects == "end":
        return _behind_the_end(walk)
    return walk.position, _NO_VALUE.get(walk.expects) or _too_many(",")


_NO_VALUE = {"member value": say("no value after ':'"), "colon": say("neither ':' nor a value after the key")}


def _misplaced_value(walk: _Walk, kind: str, end: int) -> tuple[int, Text]:
    at, expects = walk.position, walk.expects
    if expects == "end":
        return _behind_the_end(walk)
    is_key = walk.text.startswith(":", _end_of(_BLANKS, walk.text, end))
    if expects in _TAKES_VALUE:
        message = say("brackets nested deeper than {deepest}", deepest=walk.deepest)
    elif expects == "colon":
        message = say("':' missing between a key and its value")
    elif expects in _TAKES_KEY:
        what = say("the key '{text}' must be in double quotes", text=_shown(walk.text[at:end]))
        message = what if is_key else say("a value without a key in an object")
    elif _is_of_outer(walk.opened) and is_key and kind == "string":
        message = say("{marks} missing before a member: {where}", marks="'],'", where=_not_closed(walk))
    elif walk.opened[-1][0] == "[":
        message = say("',' missing between two elements")
    else:
        members = kind == "string" and is_key
        message = say(
            "',' missing between two members" if members else "there is a second value after the value of a member"
        )
    return at, message


def _misplaced_end(walk: _Walk, bracket: str, _: int) -> tuple[int, Text]:
    """What is wrong about a closing bracket: which of several changes would let the text go on longest."""
    text, at, expects, opened = walk.text, walk.position, walk.expects, walk.opened
    if not opened:
        return at, _too_many(bracket)
    if expects in _NO_VALUE:
        return at, _NO_VALUE[expects]
    opening = opened[-1][0]
    if opening == _OPENED_BY[bracket]:
        return walk.last, say("extra ',' before '{bracket}'", bracket=bracket)
    other = _CLOSED_BY[opening]
    beginning = _not_closed(walk)
    after: Expected = "more" if opened[1:] else "end"
    told = {"bracket": bracket, "other": other, "where": beginning}
    changes = [
        (_reach(text, at + 1, expects, opened), _too_many(bracket)),
        (
            _reach(text, at + 1, after, opened[:-1]),
            say("'{bracket}' found where '{other}' is expected: {where}", **told),
        ),
    ]
    if any(outer == _OPENED_BY[bracket] for outer, _ in opened[-2:-1]):
        missing = say("'{other}' missing before '{bracket}': {where}", **told)
        changes.insert(0, (_reach(text, at, "more", opened[:-1]), missing))
    return at, max(changes, key=lambda change: change[0])[1]


_MISPLACED = {":": _misplaced_colon, ",": _misplaced_comma, "}": _misplaced_end, "]": _misplaced_end}


def _reach(text: str, position: int, expects: Expected, opened: list[tuple[str, int]]) -> tuple[int, bool]:
    """(how far a text is JSON when it goes on there, whether to its end)."""
    walk = _Walk(text, position=position, expects=expects, opened=list(opened))
    deque(islice(walk, _REACH), maxlen=0)
    return walk.position, walk.expects == "end" and walk.position == len(text)


def _behind_the_end(walk: _Walk) -> tuple[int, Text]:
    """What is wrong about text behind the document: the bracket that ended it may have been one too many."""
    text, at, closed = walk.text, walk.position, walk.text[walk.last]
    if closed in _OPENED_BY and _reach(text, at, "more", [(_OPENED_BY[closed], 0)])[1]:
        return walk.last, _too_many(closed)
    return at, say("extra ',' after the document" if text[at] == "," else "there is a second document after the first")


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _named(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return say("byte 0x{code:02x}, which is not UTF-8,", code=ord(character) - 0xDC00)
    return f"'{character}'" if character.isprintable() and character != " " else f"U+{ord(character):04X}"
