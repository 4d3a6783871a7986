"""How duckdb reads timelines: a database of this process, and parts of a file as files of their own."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import duckdb
from fsspec import AbstractFileSystem

from aoe_reports.formats.sources.owned import TemporaryFolder
from aoe_reports.formats.trace.cuts import Part

MEMORY_LIMIT = "256MB"
_READ_BYTES = 1 << 20
"""duckdb asks for 32 MB at once, which would be held twice more until they are handed over, and takes fewer."""
PROTOCOL = "aoe-reports-part"


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


@contextmanager
def connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own to the process's database: results of two never mix."""
    with _database().cursor() as connection:
        connection.execute("SET enable_progress_bar = false")  # it would write between what a command prints
        yield connection


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """A database in memory that downloads nothing and keeps what does not fit with the other temporary files.

    One a process: to open one takes 12 ms, a third of what a timeline of 2 MB takes.
    """
    database = duckdb.connect(
        config={
            "threads": 1,  # a list is parsed by one thread anyway, and rows stay in the order of the file
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(_spilled().path),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    database.register_filesystem(PartFiles())
    return database


@cache
def _spilled() -> TemporaryFolder:
    """Where the database keeps what does not fit; the next run removes that of a killed process."""
    return TemporaryFolder()
