"""Walks through a JSON list of events of any length, an element at a time, and says where it stops being JSON.

Some times slower than duckdb and exact: numbers with a point are Decimals of all their digits. For small files, for those of which
duckdb only says that something is wrong with them, and for the other form of Chrome's format, an object that has the list in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import EMPTY_FILE, JSON_ENCODING, JSON_SHAPE, JSON_SYNTAX, JSON_TOO_LARGE, JSON_TRUNCATED
from aoe_reports.formats.trace.damaged import Passage, Unreadable, unreadable
from aoe_reports.formats.trace.members import Behind, skip_members
from aoe_reports.formats.trace.parser import CUT, lax_json, place_of, strict_json
from aoe_reports.formats.trace.rules import TIMELINE_COMMA
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, say

WINDOW_BYTES = 1 << 20
MAX_ELEMENT_BYTES = 16 << 20
"""The longest element that is looked for; parsed it takes some ten times that."""
_TRIES = 8
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_NO_EVENTS = say("expected a list of trace events (with 'ph')")


class NotAList(Exception):  # noqa: N818 -- never leaves the readers: it becomes a finding
    """This is no whole JSON list: nothing of it may be used."""

    def __init__(self, rule: Rule, message: str, line: int | None = None, column: int | None = None) -> None:
        """State the rule that is broken, and where (from 1, columns in bytes)."""
        super().__init__(rule, message, line, column)
        self.rule, self.message, self.line, self.column = rule, message, line, column

    def finding(self, path: Path) -> Finding:
        message = say("{what}; its content is not used", what=self.message)
        return self.rule.found(str(path), message, self.line, self.column, severity="error")


@dataclass(frozen=True, slots=True)
class Broken:
    """An element that is no JSON, or that only a lax parser reads: NaN, Infinity, a key that stands twice."""

    reason: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage of the list itself; its whole elements are used."""

    rule: Rule
    message: Text
    line: int
    column: int

    def finding(self, path: Path) -> Finding:
        return self.rule.found(str(path), self.message, self.line, self.column)


def not_whole(why: str) -> Text:
    """That a file is no JSON from its beginning to its end."""
    return say("not a complete JSON document: {why}", why=why)


def has_both_ends(path: Path) -> bool:
    """Whether the first byte that is not blank is `[` and the last one `]`: duckdb misses what was cut off after `},`."""
    try:
        with path.open("rb") as file:
            return _first(file) == b"[" and _last(file) == b"]"
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error


def elements(path: Path) -> Iterator[Any]:
    """The elements in order, Broken where one cannot be trusted; each Damage of the list last; NotAList where there is no list."""
    for element, _ in _walked(path, with_texts=False):
        yield element


def elements_with_texts(path: Path) -> Iterator[tuple[Any, bytes]]:
    """The elements as `elements` has them, each with its text as it stands in the file."""
    yield from _walked(path, with_texts=True)


def _walked(path: Path, *, with_texts: bool) -> Iterator[tuple[Any, bytes]]:
    try:
        with path.open("rb") as file:
            yield from _Walk(file, with_texts=with_texts).elements()
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error


def _first(file: BinaryIO) -> bytes:
    block = file.read(WINDOW_BYTES).removeprefix(_BOM)
    while block and not block.strip(_BLANK):
        block = file.read(WINDOW_BYTES)
    return block.lstrip(_BLANK)[:1]


def _last(file: BinaryIO) -> bytes:
    end = file.seek(0, 2)
    while end > 0:
        start = max(0, end - WINDOW_BYTES)
        file.seek(start)
        block = file.read(end - start).rstrip(_BLANK)
        if block:
            return block[-1:]
        end = start
    return b""


class _CutShort(Exception):  # noqa: N818
    """The text ends inside an element: look for another place to cut it."""


class _DamagedError(Exception):
    """Some text is no JSON: it is looked at element by element."""


class _Walk:
    """One pass over a file; `_buffer` begins where an element does."""

    def __init__(self, file: BinaryIO, *, with_texts: bool) -> None:
        self._file = file
        self._with_texts = with_texts
        self._buffer = b""
        self._line, self._column = 1, 1
        self._count = 0
        self._in_object = False
        self._after_comma = True
        self._damage: dict[Text, Damage] = {}
        """The first of each kind."""

    def elements(self) -> Iterator[tuple[Any, bytes]]:
        self._open()
        size, closed = WINDOW_BYTES, False
        while not closed and (chunk := self._file.read(size)):
            self._buffer += chunk
            try:
                values, end = self._front()
            except _DamagedError:
                values, end, closed = self._passage(last=False)
            if not end and len(self._buffer) > MAX_ELEMENT_BYTES:
                values, end, closed = self._passage(last=False, forced=True)
                if not end:
                    message = say("no element ends within {limit} bytes", limit=MAX_ELEMENT_BYTES)
                    yield from self._stop(JSON_TOO_LARGE, message)
                    return
            size = WINDOW_BYTES if end else max(len(self._buffer), WINDOW_BYTES)
            yield from values
            self._count += len(values)
            self._consume(end)
        if not closed:
            values, end = self._rest()
            if self._count == len(values) == 0 and self._damage:
                self._refuse()
            yield from values
            self._consume(end)
        self._read_behind()
        yield from ((damage, b"") for damage in self._damage.values())

    def _stop(self, rule: Rule, message: Text) -> Iterator[tuple[Any, bytes]]:
        """End where nothing more can be read."""
        if not self._count:
            raise NotAList(rule, message, self._line, self._column)
        self._note(rule, say("{what}; the events before it are used", what=message), 0)
        yield from ((damage, b"") for damage in self._damage.values())

    def _refuse(self) -> None:
        """NotAList: nothing but damage was found."""
        try:
            lax_json(b"[" + self._buffer)
        except ValueError as error:
            what, at = place_of(error, b"[" + self._buffer)
            raise self._no_list(what, at - 1) from None
        damage = next(iter(self._damage.values()))
        raise NotAList(damage.rule, damage.message, damage.line, damage.column)

    def _no_list(self, what: str, at: int) -> NotAList:
        """What the parser said about a place in the buffer."""
        rule = JSON_TRUNCATED if what.startswith(CUT) else JSON_SYNTAX
        try:
            self._buffer[: at + 4].decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" and error.start <= at:
                rule, what, at = JSON_ENCODING, say("not UTF-8"), error.start
        if rule is JSON_TRUNCATED:
            at = len(self._buffer)  # where more was expected
        return NotAList(rule, not_whole(of_parser(what)), *self._where(at))

    def _open(self) -> None:
        self._buffer = self._file.read(WINDOW_BYTES).removeprefix(_BOM)
        while not (text := self._buffer.lstrip(_BLANK)):
            self._consume(len(self._buffer))
            self._buffer = self._file.read(WINDOW_BYTES)
            if not self._buffer:
                raise NotAList(EMPTY_FILE, say("the file is empty; expected a list of events"))
        self._consume(len(self._buffer) - len(text))
        if text[:1] == b"[":
            self._consume(1)
            return
        place = (self._line, self._column)
        if text[:1] == b"{":
            self._open_object(place)
            return
        if text[0] in b"-0123456789" or text.startswith((b'"', b"true", b"false", b"null")):
            raise NotAList(JSON_SHAPE, _NO_EVENTS, *place)
        if text[0] >= 0x80:  # noqa: PLR2004 -- no ASCII
            raise NotAList(JSON_ENCODING, not_whole(say("the beginning is not UTF-8")), *place)
        raise NotAList(JSON_SYNTAX, not_whole(say("the beginning is not JSON")), *place)

    def _open_object(self, place: tuple[int, int]) -> None:
        """Go behind the opening bracket of the list in an object."""
        self._consume(1)
        found, at = self._skip_members(is_start=True)
        if found is not Behind.LIST:
            raise NotAList(JSON_SHAPE, _NO_EVENTS, *place)
        self._in_object = True
        self._consume(at)

    def _skip_members(self, *, is_start: bool) -> tuple[Behind, int]:
        """What is behind the members that the buffer begins with, and where; those that are read are consumed."""
        while True:
            found, at = skip_members(self._buffer.decode("latin-1"), 0, is_start=is_start)
            if found is not Behind.MORE or len(self._buffer) - at > MAX_ELEMENT_BYTES:
                return found, at
            is_start = is_start and at == 0
            self._consume(at)
            chunk = self._file.read(max(len(self._buffer), WINDOW_BYTES))
            if not chunk:
                return found, 0
            self._buffer += chunk

    def _front(self) -> tuple[list[tuple[Any, bytes]], int]:
        """As many elements as the buffer holds in full, and where the next one begins; 0 where none ends in it.

        A `},` may also stand inside an element or a text, where the parser then misses the end: one further in front is tried.
        """
        at = len(self._buffer)
        for _ in range(_TRIES):
            at = self._buffer.rfind(b"},", 0, at)
            if at < 0:
                break
            try:
                return self._parse(self._buffer[: at + 1]), at + 2
            except _CutShort:
                continue
        return [], 0

    def _rest(self) -> tuple[list[tuple[Any, bytes]], int]:
        """The last elements, and where what is behind their list begins."""
        closed = self._buffer.rstrip(_BLANK)
        inner = closed[:-1]
        if closed.endswith(b"]") and inner.strip(_BLANK) and not self._in_object:
            try:
                return self._parse(inner), len(closed)
            except (_CutShort, _DamagedError):
                pass
        values, end, _ = self._passage(last=True)
        return values, end

    def _passage(self, *, last: bool, forced: bool = False) -> tuple[list[tuple[Any, bytes]], int, bool]:
        """The elements of the buffer one by one, where the next one begins, and whether the list ends there."""
        text = self._buffer
        passage = Passage(text, self._after_comma, last, forced)
        passage.read()
        self._after_comma = passage.after_comma
        if passage.closed and passage.after_comma and (self._count or passage.elements):
            self._note(TIMELINE_COMMA, say("a comma follows the last event"), passage.end - 1)
        for flaw in passage.flaws:
            self._note(flaw.rule, flaw.message, flaw.at)
        return (
            [(self._placed(value), text[start:end]) for value, start, end in passage.elements],
            passage.end,
            passage.closed,
        )

    def _placed(self, value: Any) -> Any:
        return Broken(value.reason, *self._where(value.at)) if isinstance(value, Unreadable) else value

    def _note(self, rule: Rule, message: Text, at: int) -> None:
        self._damage.setdefault(message, Damage(rule, message, *self._where(at)))

    def _read_behind(self) -> None:
        """See that nothing is behind the list but the rest of its object."""
        if any(damage.rule is JSON_TRUNCATED for damage in self._damage.values()):
            return
        if self._in_object:
            found, at = self._skip_members(is_start=False)
            if found is Behind.LIST:
                self._note(JSON_SYNTAX, say("a second list of events is in the file; it is not read"), at)
                return
            if found is not Behind.END:
                rule = JSON_TRUNCATED if found is Behind.MORE else JSON_SYNTAX
                message = say("what follows the list of events is not complete JSON; the events are used")
                self._note(rule, message, len(self._buffer) if found is Behind.MORE else at)
                return
            self._consume(at)
        while not (text := self._buffer.lstrip(_BLANK)):
            self._consume(len(self._buffer))
            self._buffer = self._file.read(WINDOW_BYTES)
            if not self._buffer:
                return
        message = say("text follows the list of events; it is not read")
        self._note(JSON_SYNTAX, message, len(self._buffer) - len(text))

    def _parse(self, text: bytes) -> list[tuple[Any, bytes]]:
        """Elements divided by commas; what is only lax is Broken."""
        whole = b"[" + text + b"]"
        try:
            values = list(strict_json(whole))
        except ValueError:
            values = self._parse_lax(text, whole)
        self._after_comma = True
        if not self._with_texts:
            return [(value, b"") for value in values]
        texts = (text[start:end].strip(_BLANK) for start, end in _spans(text))
        return list(zip(values, texts, strict=True))

    def _parse_lax(self, text: bytes, whole: bytes) -> list[Any]:
        try:
            lax_json(whole)
        except ValueError as error:
            what, at = place_of(error, whole)
            if at > len(text) or what.startswith(CUT):
                raise _CutShort from None
            raise _DamagedError from None
        return [self._element(text, start, end) for start, end in _spans(text)]

    def _element(self, text: bytes, start: int, end: int) -> Any:
        try:
            return strict_json(text[start:end])
        except ValueError as error:
            return self._placed(unreadable(text, start, end, error))

    def _where(self, at: int) -> tuple[int, int]:
        before = self._buffer[: max(at, 0)]
        lines = before.count(b"\n")
        return self._line + lines, (len(before) - before.rfind(b"\n") if lines else self._column + len(before))

    def _consume(self, end: int) -> None:
        self._line, self._column = self._where(end)
        self._buffer = self._buffer[end:]


def _spans(text: bytes) -> Iterator[tuple[int, int]]:
    """Where each element begins and ends; the text is known to be good."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in (b"[", b"{"):
            depth += 1
        elif mark in (b"]", b"}"):
            depth -= 1
        elif mark == b"," and depth == 0:
            yield start, token.start()
            start = token.end()
    yield start, len(text)
