"""A look for words in the bytes of a timeline, before a pass that would give nothing without them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import MAX_EXPANDED_BYTES

_OF_DEVICE = (b'"Task Type"', b'"task type"')
"""Arguments that every task of a device has, and nothing of the host."""
_BLOCK = 1 << 20


def mentions(path: Path, word: bytes) -> bool:
    """Whether a word is anywhere in a file."""
    with path.open("rb") as file:
        return _contains(file.read, [word], path.stat().st_size)


def shows_device(file: FoundFile) -> bool:
    """Whether any event of a timeline is of a device; of one that cannot be read its own finding says what is wrong."""
    try:
        with file.path.open("rb") as plain:
            if not file.name.packed:
                return _contains(plain.read, _OF_DEVICE, file.size)
            with gzip.GzipFile(fileobj=plain) as packed:
                return _contains(packed.read, _OF_DEVICE, file.max_expanded or MAX_EXPANDED_BYTES)
    except (OSError, EOFError, zlib.error):
        return True


def _contains(read: Callable[[int], bytes], words: Sequence[bytes], limit: int) -> bool:
    """Whether a stream contains a word; True for one of more than `limit` bytes (a compressed file that is refused)."""
    end = b""
    for block in iter(partial(read, _BLOCK), b""):
        window = end + block
        if any(word in window for word in words):
            return True
        end, limit = window[-len(words[0]) :], limit - len(block)
        if limit < 0:
            return True
    return False
