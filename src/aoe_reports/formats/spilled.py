"""Columns of whole numbers, of any length in little memory: the newest rows are held, the others wait in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from typing import IO, Any

import numpy as np

from aoe_reports.model.columns import Ints

BLOCK_ROWS = 1 << 18
"""So many rows are held before they are written."""
Numbers = dict[str, Ints]
"""Columns of one length by their names."""


class SpilledColumns:
    """Columns that are appended to, and gone through block by block as often as needed."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self._held: list[Numbers] = []
        self._held_rows = 0
        self._blocks: list[_Block] = []
        self._file: IO[bytes] | None = None

    def add(self, **columns: Ints) -> None:
        """Add rows behind all others; every column, of one length."""
        self._held.append({name: columns[name] for name in self.names})
        self._held_rows += len(columns[self.names[0]])
        if self._held_rows >= BLOCK_ROWS:
            self._write()

    def __len__(self) -> int:
        """How many rows there are."""
        return sum(block.rows for block in self._blocks) + self._held_rows

    def blocks(
        self, within: tuple[str, int, int] | None = None, only: Collection[str] | None = None
    ) -> Iterator[Numbers]:
        """All rows in their order, some at a time; (column, from, to) leaves out blocks with nothing in that range.

        At least the columns `only`, where these are given.
        """
        for block in self._blocks:
            if within is None or block.overlaps(*within):
                yield self._read(block, self.names if only is None else only)
        if self._held_rows:
            held = self._joined()
            self._held = [held]  # joined only once
            yield held

    def clear(self) -> None:
        """Give up all rows, and the file."""
        if self._file is not None:
            self._file.close()
        self._file, self._blocks, self._held, self._held_rows = None, [], [], 0

    def __del__(self) -> None:
        """The file goes with the rows."""
        self.clear()

    def _joined(self) -> Numbers:
        return {name: np.concatenate([part[name] for part in self._held]) for name in self.names}

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as this does
        columns, places, ranges = self._joined(), {}, {}
        try:
            for name, values in columns.items():
                places[name] = (self._file.tell(), values.dtype)
                ranges[name] = (int(values.min()), int(values.max()))
                self._file.write(np.ascontiguousarray(values).data)
        except OSError as error:  # the file has no name: who reads this has to know which disk is full
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error
        self._blocks.append(_Block(self._held_rows, places, ranges))
        self._held, self._held_rows = [], 0

    def _read(self, block: _Block, names: Collection[str]) -> Numbers:
        assert self._file is not None
        found = {}
        for name in names:
            place, kind = block.places[name]
            self._file.seek(place)
            found[name] = np.frombuffer(self._file.read(block.rows * kind.itemsize), dtype=kind)
        self._file.seek(0, 2)
        return found


class _Block:
    """Where some rows are in the file, and from where to where their numbers go."""

    def __init__(
        self, rows: int, places: dict[str, tuple[int, np.dtype[Any]]], ranges: dict[str, tuple[int, int]]
    ) -> None:
        self.rows, self.places, self._ranges = rows, places, ranges

    def overlaps(self, name: str, least: int, most: int) -> bool:
        least_here, most_here = self._ranges[name]
        return least_here <= most and least <= most_here
