"""Walks through a JSON list of any length, an element at a time, and says where it stops being JSON.

Some times slower than duckdb and exact: numbers with a point are Decimals of all their digits. For small files, and for
those of which duckdb only says that something is wrong with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import jiter

from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import EMPTY_FILE, JSON_ENCODING, JSON_SHAPE, JSON_SYNTAX, JSON_TOO_LARGE, JSON_TRUNCATED
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
_PLACE = re.compile(r"^(.*) at line (\d+) column (\d+)$", re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)


class NotAList(Exception):  # noqa: N818 -- never leaves the readers: it becomes a finding
    """This is no whole JSON list: nothing of it may be used."""

    def __init__(self, rule: Rule, message: str, line: int | None = None, column: int | None = None) -> None:
        """State the rule that is broken, and where (from 1, columns in bytes)."""
        super().__init__(rule, message, line, column)
        self.rule, self.message, self.line, self.column = rule, message, line, column

    def finding(self, path: Path) -> Finding:
        """What to tell about the file."""
        message = say("{what}; its content is not used", what=self.message)
        return self.rule.found(str(path), message, self.line, self.column, severity="error")


@dataclass(frozen=True, slots=True)
class Broken:
    """An element that a lax parser reads and JSON does not allow: NaN, Infinity, a key that stands twice."""

    reason: str
    line: int
    column: int

    @property
    def is_json(self) -> bool:
        """Whether the grammar of JSON allows it (a key that stands twice)."""
        return "duplicate key" in self.reason


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
    """The elements in order, Broken where one cannot be trusted; NotAList as soon as that is known."""
    try:
        with path.open("rb") as file:
            yield from _Walk(file).elements()
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error


def elements_with_texts(path: Path) -> Iterator[tuple[Any, bytes]]:
    """The elements as `elements` has them, each with its text as it stands in the file."""
    try:
        with path.open("rb") as file:
            yield from _Walk(file, with_texts=True).elements()
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


class _Walk:
    """One pass over a file; `_buffer` begins where an element does."""

    def __init__(self, file: BinaryIO, *, with_texts: bool = False) -> None:
        self._file = file
        self._with_texts = with_texts
        self._buffer = b""
        self._line, self._column = 1, 1
        self._count = 0

    def elements(self) -> Iterator[Any]:
        self._open()
        size = WINDOW_BYTES
        while chunk := self._file.read(size):
            self._buffer += chunk
            values, end = self._front()
            if not end:
                if len(self._buffer) > MAX_ELEMENT_BYTES:
                    message = say("no element ends within {limit} bytes", limit=MAX_ELEMENT_BYTES)
                    raise NotAList(JSON_TOO_LARGE, message, self._line, self._column)
                size = len(self._buffer)
                continue
            yield from values
            self._count += len(values)
            self._consume(end)
            size = WINDOW_BYTES
        yield from self._rest()

    def _open(self) -> None:
        """Go behind the opening bracket."""
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
            raise NotAList(JSON_SHAPE, say("expected a list of trace events (with 'ph')"), *place)
        if text[0] in b"-0123456789" or text.startswith((b'"', b"true", b"false", b"null")):
            raise NotAList(JSON_SHAPE, say("expected a list of trace events (with 'ph')"), *place)
        if text[0] >= 0x80:  # noqa: PLR2004 -- no ASCII
            raise NotAList(JSON_ENCODING, not_whole(say("the beginning is not UTF-8")), *place)
        raise NotAList(JSON_SYNTAX, not_whole(say("the beginning is not JSON")), *place)

    def _front(self) -> tuple[list[Any], int]:
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

    def _rest(self) -> list[Any]:
        """The elements up to the closing bracket."""
        text = self._buffer
        closed = text.rstrip(_BLANK)
        if not closed.endswith(b"]"):
            # what is wrong is told by the parser, if it is not just the end
            self._parse_or_tell(b"[" + text)
            raise self._damage("EOF while parsing a list", len(text))
        inner = closed[:-1]
        if not inner.strip(_BLANK):
            if self._count:
                raise self._damage("trailing comma", len(inner))
            return []
        try:
            return self._parse(inner)
        except _CutShort:
            self._parse_or_tell(b"[" + text)
            raise self._damage("EOF while parsing a list", len(text)) from None

    def _parse(self, text: bytes) -> list[Any]:
        """Elements divided by commas; what is only lax is Broken."""
        whole = b"[" + text + b"]"
        try:
            values = list(strict_json(whole))
        except ValueError:
            values = self._parse_lax(text, whole)
        if not self._with_texts:
            return values
        texts = (text[start:end].strip(_BLANK) for start, end in _spans(text))
        return list(zip(values, texts, strict=True))

    def _parse_lax(self, text: bytes, whole: bytes) -> list[Any]:
        try:
            _lax(whole)
        except ValueError as error:
            what, at = _place(error, whole)
            if at > len(text) or what.startswith("EOF"):
                raise _CutShort from None
            raise self._damage(what, at - 1) from None
        return [self._element(text, start, end) for start, end in _spans(text)]

    def _element(self, text: bytes, start: int, end: int) -> Any:
        try:
            return strict_json(text[start:end])
        except ValueError as error:
            what, at = _place(error, text[start:end])
            reason = of_parser(what) if "duplicate key" in what else say("NaN and Infinity are not valid JSON")
            return Broken(reason, *self._where(start + at))

    def _parse_or_tell(self, whole: bytes) -> None:
        try:
            _lax(whole)
        except ValueError as error:
            what, at = _place(error, whole)
            raise self._damage(what, at - 1) from None

    def _damage(self, what: str, at: int) -> NotAList:
        """What the parser said about a place in the buffer."""
        rule = JSON_TRUNCATED if what.startswith("EOF") else JSON_SYNTAX
        try:
            self._buffer[: at + 4].decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" and error.start <= at:
                rule, what, at = JSON_ENCODING, say("not UTF-8"), error.start
        if rule is JSON_TRUNCATED:
            at = len(self._buffer)  # where more was expected
        return NotAList(rule, not_whole(of_parser(what)), *self._where(at))

    def _where(self, at: int) -> tuple[int, int]:
        before = self._buffer[: max(at, 0)]
        lines = before.count(b"\n")
        return self._line + lines, (len(before) - before.rfind(b"\n") if lines else self._column + len(before))

    def _consume(self, end: int) -> None:
        self._line, self._column = self._where(end)
        self._buffer = self._buffer[end:]


def strict_json(text: bytes) -> Any:
    """What some text says that is JSON and nothing more; numbers with a point have all of their digits."""
    return jiter.from_json(
        text, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys", float_mode="decimal"
    )


def _lax(text: bytes) -> Any:
    return jiter.from_json(text, allow_inf_nan=True, cache_mode="keys", float_mode="decimal")


def _place(error: ValueError, text: bytes) -> tuple[str, int]:
    """What the parser says without where, and the byte (from 0) that it means."""
    matched = _PLACE.match(str(error))
    if matched is None:
        return str(error), 0
    start = 0
    for _ in range(int(matched[2]) - 1):
        start = text.find(b"\n", start) + 1
    return matched[1], start + max(int(matched[3]) - 1, 0)


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
