"""Single values as text: units, percent, and nothing that a terminal or a spreadsheet would take for a command."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

from aoe_reports.model.documents import Cells
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.rows import Column, Kind
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import Text
from aoe_reports.model.time_units import significant, time_words

NONE = "–"  # noqa: RUF001 -- what tables print for no value
_GROUPED_FROM = 10_000
WORDS: frozenset[Kind] = frozenset({"text", "sentence", "word"})
"""Kinds of columns that are read from the left."""
STATES: frozenset[Kind] = frozenset({"state", "alarm"})
"""Kinds of columns whose words say good or bad; read from the left, too."""

Tone = Literal["good", "odd", "bad"]
"""How a word on a state looks."""
_NUMERIC = (int, float, Decimal)
"""A tuple, because `isinstance` is slower with a union, and a site formats hundreds of thousands of values."""


_NUMBERS: dict[Kind, Callable[[Any], str]] = {
    "percent": lambda value: f"{value:.1%}",
    "ratio": lambda value: f"{value:.4f}",
    "change": signed_percent,
    "gain": lambda value: f"{value:+.2%}",
    "time": significant,
    "duration": time_words,
    "size": size_words,
    "number": lambda value: f"{value:,.3f}",
    "us": lambda value: f"{value:,.3f}",
    "ms": lambda value: f"{value:,.6g}" if abs(value) < 1 else f"{value:,.3f}",
    "integer": lambda value: f"{value:,}" if abs(value) >= _GROUPED_FROM else str(value),
}


def show(value: Any, kind: Kind = "text") -> str:
    """A value as people read it; a dash for none."""
    if value.__class__ is str:
        return plain(value) if value else NONE
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, _NUMERIC) and kind in _NUMBERS:
        return _NUMBERS[kind](value)
    if isinstance(value, list | tuple):
        return plain(", ".join(str(part) for part in value))
    return plain(str(value))


def cell(row: Cells, column: Column) -> str:
    """A cell of a table as people read it."""
    value = row.get(column.key)
    return show(value * column.factor if isinstance(value, int | float) and column.factor != 1 else value, column.kind)


def look_of(row: Cells, column: Column) -> Tone | None:
    """How the word of a column of states looks in a row; null where it looks like any text."""
    value = row.get(column.key)
    word = (value.template if isinstance(value, Text) else cell(row, column)).partition(":")[0]
    if column.kind == "state":
        return _STATES.get(word)
    change, better = row.get("change"), row.get("better")
    is_better = isinstance(change, int | float) and loss(change, better if isinstance(better, str) else None) < 0
    return (_QUICKER if is_better else _ALARMS).get(word)


_STATES: dict[str, Tone] = {
    **dict.fromkeys(("pass", "ok", "successful", "confirmed", "hit"), "good"),
    **dict.fromkeys(
        (
            "warn",
            "warning",
            "incomplete",
            "unknown",
            "partly",
            "not-reproduced",
            "not-comparable",
            "not-used",
            "missing",
        ),
        "odd",
    ),
    **dict.fromkeys(("fail", "error", "fault", "failed", "damaged", "invalid", "regressed", "slow", "missed"), "bad"),
}
_QUICKER: dict[str, Tone] = {**dict.fromkeys(("confirmed", "drift", "recovered", "improved"), "good"), "suspect": "odd"}
_ALARMS: dict[str, Tone] = {**_QUICKER, **dict.fromkeys(("confirmed", "drift"), "bad")}
"""How words on what a series does look, of one that got quicker and of any other."""


def plain(text: str) -> str:
    """Text whose control characters (escape sequences, line ends, direction marks) are spelled out in hexadecimal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\x{ord(char):02x}" if is_control(char) else char for char in text)


def width(text: str) -> int:
    """How many terminal columns a text takes: Chinese characters take two, marks that combine with another none."""
    if text.isascii():
        return len(text)
    return len(text) + wide_characters(text) - sum(unicodedata.category(char) in {"Mn", "Me"} for char in text)


def wide_characters(text: str) -> int:
    """How many characters of a text take the room of two."""
    return 0 if text.isascii() else sum(unicodedata.east_asian_width(char) in "WF" for char in text)


def for_terminal(text: str) -> str:
    """Text of any form as a terminal may have it: lines and tabs stay, other control characters are escaped as JSON does.

    A JSON text is the same JSON afterwards.
    """
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    return "".join(char if char == "\t" or not is_control(char) else json.dumps(char)[1:-1] for char in line)


def is_control(char: str) -> bool:
    """Whether a character is none that one sees, but one that does something."""
    return unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
