"""The lines of a large CSV file, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

SLICE_BYTES = 8 << 20
"""Of a file are in memory as text; with more of it nothing is read faster."""


def slices_of(path: Path, header_bytes: int) -> Iterator[tuple[bytearray, int]]:
    """The lines below the header, so many at a time as fit, and where they end in the block; at 0 where one is longer than that."""
    block = bytearray(SLICE_BYTES)
    memory, rest = memoryview(block), 0
    with path.open("rb", buffering=0) as file:
        file.seek(header_bytes)
        while length := file.readinto(memory[rest:]):
            filled = rest + length
            end = block.rfind(b"\n", 0, filled) + 1
            yield block, end
            rest = filled - end
            memory[:rest] = bytes(memory[end:filled])
