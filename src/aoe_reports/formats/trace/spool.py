"""Texts of events that wait, in a temporary file as soon as they are many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

Text = bytes | msgspec.Raw
_HELD_BYTES, _BLOCK_BYTES = 4 << 20, 1 << 20


class Spool:
    """Texts of events in their order."""

    def __init__(self, held: int = _HELD_BYTES) -> None:
        """An empty one; `held` bytes stay in memory."""
        self._file = tempfile.SpooledTemporaryFile(max_size=held)  # noqa: SIM115 -- `close` closes it
        self.count = 0

    def add(self, texts: Sequence[Text]) -> None:
        """Some more: a line end in one is a blank between two of its tokens."""
        if not texts:
            return
        lines = b"\n".join(texts)
        if lines.count(b"\n") >= len(texts):
            lines = b"\n".join(bytes(text).replace(b"\n", b" ") for text in texts)
        self._file.write(lines)
        self._file.write(b"\n")
        self.count += len(texts)

    def blocks(self) -> Iterator[bytes]:
        """All of them from the first, each on a line, many lines at a time."""
        self._file.seek(0)
        while block := self._file.read(_BLOCK_BYTES):
            yield block + self._file.readline() if block[-1:] != b"\n" else block

    def __iter__(self) -> Iterator[bytes]:
        return chain.from_iterable(block[:-1].split(b"\n") for block in self.blocks())

    def close(self) -> None:
        self._file.close()
