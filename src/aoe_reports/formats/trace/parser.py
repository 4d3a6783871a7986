"""The parsers, as readers of timelines use them: jiter reads a value from its text, and says what is wrong with it; Python's finds where one ends."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Any

import jiter

_PLACE = re.compile(r"^(.*) at line (\d+) column (\d+)$", re.DOTALL)
CUT = "EOF"
"""What the parser's words begin with where a text ends too early."""
TWICE = "duplicate key"
"""What is in its words where a key stands twice."""
DECODER = JSONDecoder()
"""Finds the end of a value at the speed of C: of a text in latin-1, in which a byte is a character."""
_BLANKS = re.compile(r"[ \t\r\n]*")


def skip_blanks(letters: str, at: int) -> int:
    """Where the blanks of JSON end that begin at a place."""
    matched = _BLANKS.match(letters, at)
    return at if matched is None else matched.end()


def strict_json(text: bytes) -> Any:
    """What some text says that is JSON and nothing more; numbers with a point have all of their digits."""
    return jiter.from_json(
        text, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys", float_mode="decimal"
    )


def lax_json(text: bytes) -> Any:
    """The same of a text that may have NaN, Infinity and keys that stand twice."""
    return jiter.from_json(text, allow_inf_nan=True, cache_mode="keys", float_mode="decimal")


def place_of(error: ValueError, text: bytes) -> tuple[str, int]:
    """What the parser says without where, and the byte (from 0) that it means."""
    matched = _PLACE.match(str(error))
    if matched is None:
        return str(error), 0
    start = 0
    for _ in range(int(matched[2]) - 1):
        start = text.find(b"\n", start) + 1
    return matched[1], start + max(int(matched[3]) - 1, 0)
