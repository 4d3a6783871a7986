"""Whether a timeline has events of a device: read up to the first one, without parsing any."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import partial

from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import MAX_EXPANDED_BYTES

_OF_DEVICE = (b'"Task Type"', b'"task type"')
"""Arguments that every task of a device has, and nothing of the host."""
_BLOCK = 1 << 20


def shows_device(file: FoundFile) -> bool:
    """Whether any event of a timeline is of a device; of one that cannot be read its own finding says what is wrong."""
    try:
        with file.path.open("rb") as plain:
            if not file.name.packed:
                return _contains(plain.read, file.size)
            with gzip.GzipFile(fileobj=plain) as packed:
                return _contains(packed.read, file.max_expanded or MAX_EXPANDED_BYTES)
    except (OSError, EOFError, zlib.error):
        return True


def _contains(read: Callable[[int], bytes], limit: int) -> bool:
    """Whether a stream contains one of the texts; in blocks, each with the end of the one before."""
    end = b""
    for block in iter(partial(read, _BLOCK), b""):
        window = end + block
        if any(words in window for words in _OF_DEVICE):
            return True
        end, limit = window[-len(_OF_DEVICE[0]) :], limit - len(block)
        if limit < 0:
            return True  # a compressed file that is refused as too large
    return False
