"""Parses a JSON text quickly and with floats, where nothing about it asks for a closer look."""

from __future__ import annotations

from typing import Any

import orjson


class NotPlainError(ValueError):
    """The text is no JSON, or has to be parsed exactly: keys may stand in an object twice."""


def parse_plain(text: bytes) -> Any:
    """The document of a JSON text without repeated keys; NotPlainError for a text that an exact parser has to see.

    Written again, the document has a colon for each member, and those in its strings: as many as the text, unless a
    key was lost (the last of two equal ones stays) or a colon is written as an escape.
    """
    try:
        document = orjson.loads(text)
    except ValueError as error:
        raise NotPlainError(str(error)) from error
    if b"\\u003" in text or text.count(b":") != orjson.dumps(document).count(b":"):
        raise NotPlainError("a key may stand twice")
    return document
