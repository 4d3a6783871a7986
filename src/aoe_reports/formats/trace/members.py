"""The members of a timeline in the object form of Chrome's format: `{"traceEvents": [...], "displayTimeUnit": "ns", ...}`."""

from __future__ import annotations

from enum import Enum

from aoe_reports.formats.trace.parser import DECODER, skip_blanks

EVENTS = "traceEvents"


class Behind(Enum):
    """What is found behind some members."""

    LIST = "the beginning of the list of events"
    END = "the end of the object"
    MORE = "a member that may go on behind these bytes"
    ODD = "no member"


def skip_members(letters: str, at: int, *, is_start: bool) -> tuple[Behind, int]:
    """(what is found behind members other than the events, where): `at` is behind the opening brace, or behind a member.

    A byte is a character. Of `MORE` the place is that of the member, so that it can be tried again with more bytes.
    """
    while True:
        begin, at = at, skip_blanks(letters, at)
        if letters[at : at + 1] == "}":
            return Behind.END, at + 1
        try:
            found, at = _skip_member(letters, at, is_start=is_start)
        except (ValueError, IndexError, RecursionError):
            return Behind.MORE, begin
        if found is not None:
            return found, at
        is_start = False


def _skip_member(letters: str, at: int, *, is_start: bool) -> tuple[Behind | None, int]:
    """(what is found instead of another member or in it, where); ValueError or IndexError for a member that does not end in these bytes."""
    if not is_start:
        if letters[at] != ",":
            return Behind.ODD, at
        at = skip_blanks(letters, at + 1)
    if letters[at] != '"':
        return Behind.ODD, at
    key, at = DECODER.raw_decode(letters, at)
    at = skip_blanks(letters, at)
    if letters[at] != ":":
        return Behind.ODD, at
    at = skip_blanks(letters, at + 1)
    if key == EVENTS and letters[at] == "[":
        return Behind.LIST, at + 1
    _, at = DECODER.raw_decode(letters, at)
    if skip_blanks(letters, at) == len(letters):
        raise ValueError  # a number may go on
    return None, at
