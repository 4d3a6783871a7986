"""Parts of a list of events that are read at the same time: a file is cut between two events.

A cut that is none (`},{` inside of a text or of a longer value) leaves a part that is no whole list, and who reads it refuses it.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

MIN_PART_BYTES = 32 << 20
"""A smaller part takes less time than another thread and what it needs."""
_WINDOW_BYTES = 1 << 20
_BETWEEN = re.compile(rb"\}(\s*),\s*\{")


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file, from `start` to before `end`, which are a list once `before` and `after` are around them."""

    path: Path
    start: int
    end: int
    before: bytes = b""
    after: bytes = b""

    @property
    def size(self) -> int:
        """Its length as a list."""
        return len(self.before) + self.end - self.start + len(self.after)


def parts_of(path: Path, count: int) -> list[Part]:
    """At most `count` parts of about the same length, one after another; one where a part would be small."""
    size = path.stat().st_size
    count = max(1, min(count, size // MIN_PART_BYTES))
    with path.open("rb") as file:
        found = [_cut_behind(file, number * size // count) for number in range(1, count)]
    cuts = sorted({cut for cut in found if cut is not None})
    starts = [0, *(place + 1 for place in cuts)]
    ends = [*cuts, size]
    return [
        Part(path, start, end, b"[" if start else b"", b"]" if end < size else b"")
        for start, end in zip(starts, ends, strict=True)
    ]


def _cut_behind(file: io.BufferedReader, place: int) -> int | None:
    """Where the comma behind the next event that ends after `place` is."""
    file.seek(place)
    found = _BETWEEN.search(file.read(_WINDOW_BYTES))
    return None if found is None else place + found.end(1)
