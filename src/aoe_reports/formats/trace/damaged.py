"""Reads a list of events in which some text is no JSON: each event that is whole, and where the others are.

One event after the other, for the megabyte around the damage; `json_list` reads the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import JSON_SYNTAX, JSON_TRUNCATED
from aoe_reports.formats.trace.parser import CUT, DECODER, TWICE, lax_json, place_of, skip_blanks, strict_json
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, say

_MAYBE_EVENT = re.compile(r'[^: \t\r\n][ \t\r\n]*(\{[ \t\r\n]*")')
"""The beginning of an object that is no value of another one."""
_MAX_TRIES = 10_000
"""So many beginnings are tried to find the next event behind damage."""

CLOSING_MISSING = say("the file ends before its list of events is closed; only the whole events in it are used")
NO_EVENT_BEHIND = say("this is not JSON, and no whole event follows; the events before it are used")
BETWEEN = say("events are separated by something other than one comma; they are used")
_NO_COMMA = say("expected {mark} or {other}", mark="`,`", other="`]`")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An element that cannot be trusted: why, and the byte where it shows."""

    reason: Text | str
    at: int


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something wrong with the list itself, and the byte where it is."""

    rule: Rule
    message: Text
    at: int


@dataclass(slots=True)
class Passage:
    """What some bytes of a list hold, which begin where an element may."""

    text: bytes
    after_comma: bool
    """Whether the bytes before `end` are a comma, or the beginning of the list."""
    last: bool
    """Whether nothing is behind the bytes."""
    forced: bool = False
    """Whether an element that does not end in them is damaged."""
    elements: list[tuple[Any, int, int]] = field(default_factory=list)
    """(a value or why there is none, where its text begins, where it ends)."""
    flaws: list[Flaw] = field(default_factory=list)
    end: int = 0
    """Up to where the bytes are read: a later element begins here, or the text behind the list."""
    closed: bool = False
    """Whether the list ends at `end`."""
    _letters: str = ""

    def read(self) -> None:
        self._letters = self.text.decode("latin-1")
        while self._step():
            pass

    def _step(self) -> bool:
        """Read one more element; False where that is not possible."""
        at = skip_blanks(self._letters, self.end)
        mark = self.text[at : at + 1]
        if not mark:
            if self.last:
                self.flaws.append(Flaw(JSON_TRUNCATED, CLOSING_MISSING, at))
            return False
        if mark == b"]":
            self.end, self.closed = at + 1, True
            return False
        if mark == b",":
            self.flaws.append(Flaw(JSON_SYNTAX, BETWEEN, at))
            self.end = at + 1
            return True
        end = _end_of(self._letters, at)
        return self._step_over(at) if end is None else self._take(at, end)

    def _take(self, at: int, end: int) -> bool:
        """Take an element, and what divides it from the next one."""
        behind = skip_blanks(self._letters, end)
        mark = self.text[behind : behind + 1]
        if not mark and not self.last:
            return False  # a number may go on
        self.elements.append((_value(self.text, at, end), at, end))
        self.end, self.after_comma = behind + (mark == b","), mark == b","
        if mark in b",]":  # or nothing
            return True
        following = next(_events_from(self._letters, end), None)
        if following is None:
            return self._stop(behind)
        self._leave_out(behind, following)
        return True

    def _step_over(self, at: int) -> bool:
        """Go on behind a damaged element, at the next event; False where there is none in these bytes."""
        following = next(_events_from(self._letters, at + 1), None)
        what, place = _why(self.text[at:following])
        is_open = what.startswith(CUT)
        if is_open and not (self.last or self.forced):
            return False
        if following is not None:
            self._leave_out(at, following, of_parser(what), 0 if is_open else place)
            return True
        if not self.last:
            return False
        if is_open:
            self.flaws.append(Flaw(JSON_TRUNCATED, CLOSING_MISSING, len(self.text)))
            self.end = len(self.text)
            return False
        if not self.text.rstrip().endswith(b"]"):
            return self._stop(at + place)
        self._leave_out(at, self.text.rindex(b"]"), of_parser(what), place)
        return True

    def _leave_out(self, start: int, end: int, why: str = _NO_COMMA, place: int = 0) -> None:
        """Go on behind some text in which an event may have been."""
        if b"{" in self.text[start:end]:
            self.elements.append((Unreadable(why, start + place), start, end))
        else:
            self.flaws.append(Flaw(JSON_SYNTAX, BETWEEN, start + place))
        self.end, self.after_comma = end, False

    def _stop(self, at: int) -> bool:
        """Leave the rest, in which no event is."""
        if self.last:
            self.flaws.append(Flaw(JSON_SYNTAX, NO_EVENT_BEHIND, at))
            self.end = len(self.text)
        return False


def _events_from(letters: str, start: int) -> Iterator[int]:
    for tried, hit in enumerate(_MAYBE_EVENT.finditer(letters, max(start - 1, 0))):
        if tried == _MAX_TRIES:
            return
        at = hit.start(1)
        try:
            event, _ = DECODER.raw_decode(letters, at)
        except (ValueError, RecursionError):
            continue
        if at >= start and isinstance(event.get("ph"), str):
            yield at


def _end_of(letters: str, at: int) -> int | None:
    try:
        return DECODER.raw_decode(letters, at)[1]
    except (ValueError, RecursionError):
        return None


def _value(text: bytes, start: int, end: int) -> Any:
    """An element, Unreadable where it cannot be trusted: NaN, a key that stands twice, bytes that are not UTF-8."""
    try:
        return strict_json(text[start:end])
    except ValueError as error:
        return unreadable(text, start, end, error)


def unreadable(text: bytes, start: int, end: int, error: ValueError) -> Unreadable:
    """Why an element of some bytes, which ends there, cannot be trusted, by what the parser says of it."""
    what, at = place_of(error, text[start:end])
    try:
        text[start:end].decode()
    except UnicodeDecodeError as wrong:
        return Unreadable(say("not UTF-8"), start + wrong.start)
    try:
        lax_json(text[start:end])
    except ValueError:
        return Unreadable(of_parser(what), start + at)
    reason = of_parser(what) if TWICE in what else say("NaN and Infinity are not valid JSON")
    return Unreadable(reason, start + at)


def _why(text: bytes) -> tuple[str, int]:
    """What the parser says of a text in which an element does not end, and where."""
    try:
        text.decode()
    except UnicodeDecodeError as wrong:
        if wrong.reason != "unexpected end of data":
            return say("not UTF-8"), wrong.start
    try:
        lax_json(text)
    except ValueError as error:
        return place_of(error, text)
    return _NO_COMMA, 0
