"""The id of a message that no parser takes: what is nested too deep, or has too long a number, is still asked for."""

from __future__ import annotations

import json
import re

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|[^"\[\]{}]+|".*', re.DOTALL)
_MOST_DIGITS = 15
_MOST_CHARACTERS = 100


def id_of(line: str) -> int | str | None:
    """The id at the top of a message; None where there is none, or the message has no end."""
    try:
        message = json.loads(_flat(line), parse_int=_short)
    except ValueError:
        return None
    return given_id(message)


def given_id(message: object) -> int | str | None:
    """The id of a message that can be said again."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str) and len(found) <= _MOST_CHARACTERS and found.isprintable():
        return found
    return found if type(found) is int else None


def _flat(line: str) -> str:
    """A message with `0` for all that is nested in it."""
    kept, depth = [], 0
    for piece in _PIECE.findall(line):
        if piece in "[{":
            kept.append({0: piece, 1: "0"}.get(depth, ""))
            depth += 1
        elif piece in "]}":
            depth -= 1
            kept.append(piece if depth == 0 else "")
        elif depth <= 1:
            kept.append(piece)
    return "".join(kept)


def _short(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None
