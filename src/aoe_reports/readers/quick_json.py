"""Parses a JSON text quickly and with floats, where nothing about it asks for a closer look."""

from __future__ import annotations

from typing import Any

import orjson


class NotPlainError(ValueError):
    """The text is no JSON, as far as the quick parser can tell."""


def parse_floats(text: bytes) -> Any:
    """The document of a JSON text, of equal keys in one object the last; NotPlainError for a text that is no JSON.

    Whole numbers beyond 64 bits come as floats, too.
    """
    try:
        return orjson.loads(text)
    except ValueError as error:
        raise NotPlainError(str(error)) from error


def has_members(text: bytes, count: int) -> bool:
    """Whether the objects of a text have this many members and no more: then no key of them was lost.

    Each has a colon; a colon in a string makes the answer no, which only costs a closer look.
    """
    return text.count(b":") == count


def repeats_no_key(text: bytes, document: Any) -> bool:
    """Whether it is certain that no key stands twice in an object of the text that `document` was made of.

    Written again, the document has a colon for each member, and those in its strings: as many as the text, unless a
    key was lost or a colon is written as an escape.
    """
    return b"\\u003" not in text and has_members(text, orjson.dumps(document).count(b":"))
