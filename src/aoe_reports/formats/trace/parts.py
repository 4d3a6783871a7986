"""Parts of a list of events that several connections read at the same time.

A file is cut between two events. A cut that is none (`},{` inside of a text or of a longer value) leaves a part that is no whole list, and
duckdb refuses it.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fsspec import AbstractFileSystem

MIN_PART_BYTES = 32 << 20
"""A smaller part takes less time than another thread and its connection."""
_WINDOW_BYTES = 1 << 20
_READ_BYTES = 1 << 20
"""duckdb asks for 32 MB at once, which would be held twice more until they are handed over, and takes fewer."""
_BETWEEN = re.compile(rb"\}(\s*),\s*\{")
PROTOCOL = "aoe-reports-part"


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


@contextmanager
def opened_parts(parts: Sequence[Part]) -> Iterator[list[str]]:
    """Names of parts under which duckdb reads them."""
    numbers = [next(_NUMBERS) for _ in parts]
    _OPEN.update(zip(numbers, parts, strict=True))
    try:
        yield [f"{PROTOCOL}://{number}" for number in numbers]
    finally:
        for number in numbers:
            del _OPEN[number]


_NUMBERS = itertools.count()
_OPEN: dict[int, Part] = {}


class PartFiles(AbstractFileSystem):  # type: ignore[misc] # of Any
    """The parts that are open now, as files that can only be read."""

    protocol = PROTOCOL
    cachable = False

    def _part(self, path: str) -> Part:
        try:
            return _OPEN[int(path.removeprefix(f"{PROTOCOL}://"))]
        except (KeyError, ValueError):
            raise FileNotFoundError(path) from None

    def info(self, path: str, **_: object) -> dict[str, object]:
        """What duckdb asks of a file."""
        return {"name": path, "size": self._part(path).size, "type": "file"}

    def ls(self, path: str, detail: bool = True, **_: object) -> list[object]:
        """One file."""
        return [self.info(path) if detail else path]

    def glob(self, path: str, **_: object) -> list[str]:
        """One file: its name is no pattern."""
        return [path]

    def _open(self, path: str, *_: object, **__: object) -> io.RawIOBase:
        return _PartFile(self._part(path))


class _PartFile(io.RawIOBase):
    """A part as a file."""

    def __init__(self, part: Part) -> None:
        self._part, self._at = part, 0
        self._file = part.path.open("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._part.size}[whence]
        self._at = max(base + place, 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Some bytes, none only at the end."""
        part, at = self._part, self._at
        wanted = min(part.size - at, _READ_BYTES if size < 0 else size, _READ_BYTES)
        found = []
        if wanted > 0 and at < len(part.before):
            found.append(part.before[at : at + wanted])
        inner = part.start + max(at - len(part.before), 0)
        missing = min(wanted - sum(map(len, found)), part.end - inner)
        if missing > 0:
            self._file.seek(inner)
            found.append(self._file.read(missing))
        if wanted > sum(map(len, found)) and inner + max(missing, 0) >= part.end:
            found.append(part.after)
        data = b"".join(found)[:wanted] if wanted > 0 else b""
        self._at += len(data)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()
