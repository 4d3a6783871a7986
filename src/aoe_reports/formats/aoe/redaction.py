"""Makes a copy of an AOE result that may be shown to others: names become hashes, structure, numbers and damage stay.

The text is gone through, not the document: digits, order, white space, repeated keys and what is cut off are what they were.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from aoe_reports.formats.aoe.operators import is_tunable
from aoe_reports.formats.aoe.results import INTERRUPTIBLE, REPORT_KEY, STATUS_ALIASES, STATUSES, VOCABULARY_OF
from aoe_reports.formats.schemas import load_schema

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
_BETWEEN = re.compile(rb"(?:true|false|null|NaN|-?Infinity|[-+]?[0-9][-+.0-9eE]*|[\[\]{}:,\s]|\xef\xbb\xbf)+")
"""What stands between texts in JSON; anything else there may be a name that lost its quotation marks."""
_NUMBER = re.compile(r"[-+]?[0-9]{1,7}(?:\.[0-9]{1,9})?(?:[eE][-+]?[0-9]{1,3})?\s*(?:%|ns|us|ms|s)?", re.ASCII)
_LONG_NUMBER = re.compile(r"[0-9]{8,}", re.ASCII)
_KEY = re.compile(r"[a-z]+(?:[_ ][a-z]+)*(?:\((?:ns|us|ms|s)\))?", re.IGNORECASE | re.ASCII)
"""How a key or a status of AOE is spelled."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_DIGEST_BYTES = 4


class Redaction:
    """One way of renaming: the same name becomes the same hash in every file that it is used for."""

    def __init__(self, salt: bytes) -> None:
        """`salt` is what hashes are made with: who does not have it cannot look for a name by trying."""
        self._salt = salt
        self.renamed: set[str] = set()
        """The texts that were renamed."""
        self.kept: set[str] = set()
        """The texts that stay, for whoever wants to read them before they leave the house."""

    def redact(self, text: bytes) -> bytes:
        """The text of a result without names."""
        return b"".join(self._pieces(text))

    def _pieces(self, text: bytes) -> Iterator[bytes]:
        place = 0
        for found in _STRING.finditer(text):
            yield self._between(text[place : found.start()])
            yield self._string(found[0])
            place = found.end()
        yield self._between(text[place:])

    @staticmethod
    def _between(text: bytes) -> bytes:
        """What stands between strings: what is no JSON becomes question marks."""
        place, pieces = 0, []
        for found in _BETWEEN.finditer(text):
            pieces += [b"?" * (found.start() - place), found[0]]
            place = found.end()
        return b"".join([*pieces, b"?" * (len(text) - place)])

    def _string(self, token: bytes) -> bytes:
        is_whole = len(token) > 1 and token.endswith(b'"')
        inner = token[1:-1] if is_whole else token[1:]
        name, odd = _read(inner)
        told = self._told(name)
        if told == name:
            return token
        return b'"' + told.encode() + odd + (b'"' if is_whole else b"")

    def _told(self, name: str) -> str:
        """A text as it leaves: itself where it is a word of AOE or a number."""
        if not name or name in _words() or (_NUMBER.fullmatch(name) and not _LONG_NUMBER.fullmatch(name)):
            return name
        if is_tunable(name) or REPORT_KEY.fullmatch(name) or _is_of_known_words(name):
            self.kept.add(name)
            return name
        self.renamed.add(name)
        if _LONG_NUMBER.fullmatch(name):  # a key of the bank, which is a hash of a graph
            return self._digits(name)
        return "/".join(self._hashed(part) if part else "" for part in name.split("/"))

    def _hashed(self, part: str) -> str:
        return f"n{self._digest(part).hex()}"

    def _digits(self, name: str) -> str:
        """As many digits; what fits 64 bits still does, what does not still does not."""
        room = 8 * 10 ** (len(name) - 2)
        number = int.from_bytes(self._digest(name, 16), "big") % room
        return f"{'1' if int(name) < 1 << 64 else '9'}{number:0{len(name) - 1}}"

    def _digest(self, part: str, size: int = _DIGEST_BYTES) -> bytes:
        return hashlib.blake2b(part.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=size).digest()


def _read(inner: bytes) -> tuple[str, bytes]:
    """(a text of JSON, what stands for what is wrong with it: that it is damaged is what others want to see)."""
    controls = bytes(byte for byte in inner if byte < ord(" "))
    try:
        name = str(json.loads(b'"' + inner.translate(None, controls) + b'"'))
    except UnicodeDecodeError:
        return inner.decode("utf-8", "surrogateescape"), controls + _of_no_utf8(inner)
    except ValueError:  # an escape that is none, or one that is cut off
        return inner.decode("utf-8", "surrogateescape"), controls + b"\\q"
    return name, controls + (b"\\ud800" if _SURROGATE.search(name) else b"")


def _of_no_utf8(name: bytes) -> bytes:
    """What stands for bytes that are no UTF-8; whether they are GB18030 tells how the file is read."""
    try:
        name.decode("gb18030")
    except UnicodeDecodeError:
        return b"\xff"
    return "调".encode("gb18030")


@cache
def _words() -> frozenset[str]:
    """What AOE itself writes: keys, kinds of tuning, statuses."""
    found = {*STATUSES, *STATUS_ALIASES, *VOCABULARY_OF, *INTERRUPTIBLE}
    for schema in ("opat", "sgat"):
        found |= set(_names_in(load_schema(schema)))
    return frozenset(found)


def _names_in(part: Any) -> Iterator[str]:
    """The names of properties, and the values, that a schema names."""
    if isinstance(part, list):
        for inner in part:
            yield from _names_in(inner)
    elif isinstance(part, dict):
        yield from part.get("properties", {})
        yield from (one for one in (*part.get("enum", ()), part.get("const")) if isinstance(one, str))
        yield from (key for key in ("required",) for key in part.get(key, ()))
        for inner in part.values():
            yield from _names_in(inner)


def _is_of_known_words(name: str) -> bool:
    """Whether a text is put together of words of AOE: a key that no document knows is what others want to see."""
    return _KEY.fullmatch(name) is not None and all(word.casefold() in _parts() for word in _WORD.findall(name))


@cache
def _parts() -> frozenset[str]:
    return frozenset(word.casefold() for name in _words() for word in _WORD.findall(name))
