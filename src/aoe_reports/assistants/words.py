"""Text of an answer: what came from files is data, cut to a length, without characters that do something."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from aoe_reports.model.classes import is_record
from aoe_reports.model.documents import Json
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.values import is_control

MOST_CHARACTERS = 400
"""Of one text: names of operators, paths and sentences are shorter."""
MOST_ITEMS = 12
"""Of one list within a row."""
_DEEPEST = 4
_SPELLED = re.compile(r"\\u([0-9a-f]{4})([0-9a-f]?)")
_DIGITS = 9
"""Significant ones of a number with a point: what is told in us to the nanosecond keeps it up to a second."""
_TOKENS_OF_ASCII, _TOKENS_OF_OTHERS = 0.4, 2.0


def tokens_of(text: str) -> int:
    """At most so many tokens a text takes in any usual tokenizer: 2.5 characters of ASCII each, Chinese characters two each."""
    others = 0 if text.isascii() else sum(not char.isascii() for char in text)
    return math.ceil((len(text) - others) * _TOKENS_OF_ASCII + others * _TOKENS_OF_OTHERS)


def neutral(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text on one line, its control characters as what they are called, no longer than so many characters."""
    kept = text[:most]
    if not kept.isprintable():
        kept = "".join(f"\\u{ord(char):04x}" if is_control(char) else char for char in kept)
    return kept if len(text) <= most else f"{kept}… ({len(text):,} characters)"


def meant(text: str) -> str:
    """The name of a file that `neutral` told: the characters that it spelled out are put back."""
    return _SPELLED.sub(_put_back, text)


def _put_back(found: re.Match[str]) -> str:
    """The first four digits, or all five where only they are a character that is spelled out; none is NUL, which no name has."""
    for digits, rest in ((found[1], found[2]), (found[1] + found[2], "")):
        if int(digits, 16) and is_control(chr(int(digits, 16))):
            return chr(int(digits, 16)) + rest
    return found[0]


def plain(value: Any, depth: int = 0) -> Json:
    """A value as JSON has it: texts neutral, long lists cut, NaN and infinities null."""
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if is_record(type(value)):
        value = as_mapping(value)
    if depth >= _DEEPEST or not isinstance(value, Mapping | list | tuple):
        return neutral(str(value))
    if isinstance(value, Mapping):
        return {neutral(str(key), 100): plain(inner, depth + 1) for key, inner in [*value.items()][: 2 * MOST_ITEMS]}
    more = [f"… {len(value) - MOST_ITEMS:,} more"] if len(value) > MOST_ITEMS else []
    return [*(plain(inner, depth + 1) for inner in value[:MOST_ITEMS]), *more]
