"""A quick look for a word in a timeline, before a pass that nothing would come of without it."""

from __future__ import annotations

from pathlib import Path

_BLOCK_BYTES = 1 << 20


def mentions(path: Path, word: bytes) -> bool:
    """Whether some bytes stand anywhere in a file."""
    tail = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            if word in block or word in tail + block[: len(word)]:  # no copy of the block
                return True
            tail = block[1 - len(word) :]
    return False
