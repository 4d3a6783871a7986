"""Rows or findings of any number, in little memory: the first ones are held, the rest waits in a temporary file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Generic, TypeVar, overload

T = TypeVar("T")

BATCH = 1000
"""How many items are written at once."""

HELD = 20_000
"""How many items are held in memory before the first are written."""


class Spool(Sequence[T], Generic[T]):
    """A sequence to be appended to and gone through, as often as needed; `dump` and `load` are to JSON values and back."""

    def __init__(self, dump: Callable[[T], Any], load: Callable[[Any], T]) -> None:
        self._dump, self._load = dump, load
        self._held: list[T] = []
        self._file: IO[str] | None = None
        self._written = 0

    def append(self, item: T) -> None:
        """Add one item behind all others."""
        self._held.append(item)
        if len(self._held) >= HELD:
            if self._file is None:
                self._file = tempfile.TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 -- lives as long as this does
            self._file.seek(0, os.SEEK_END)
            for start in range(0, len(self._held), BATCH):
                batch = [self._dump(held) for held in self._held[start : start + BATCH]]
                self._file.write(json.dumps(batch) + "\n")
            self._written += len(self._held)
            self._held = []

    def __len__(self) -> int:
        """How many items there are."""
        return self._written + len(self._held)

    def __iter__(self) -> Iterator[T]:
        """All items in their order; one pass at a time."""
        if self._file is not None:
            self._file.flush()
            self._file.seek(0)
            while line := self._file.readline():
                yield from map(self._load, json.loads(line))
        yield from self._held

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """One item, or a part; what is written has to be gone through for it."""
        if index == 0:
            return next(iter(self))
        return list(self)[index]

    def __del__(self) -> None:
        """The file goes with the items."""
        self.close()

    def close(self) -> None:
        """Give the temporary file back."""
        if self._file is not None:
            self._file.close()
            self._file = None
