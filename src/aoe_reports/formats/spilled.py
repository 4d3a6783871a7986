"""Columns of whole numbers, of any length in little memory: the newest rows are held, the others wait in a temporary file."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any, cast

import numpy as np

from aoe_reports.model.arrays.columns import Ints

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
        self._taken: list[IO[bytes]] = []
        """The files of others, with their rows."""

    def add(self, **columns: Ints) -> None:
        """Add rows behind all others; every column, of one length."""
        self._held.append({name: columns[name] for name in self.names})
        self._held_rows += len(columns[self.names[0]])
        if self._held_rows >= BLOCK_ROWS:
            self._write()

    def take(self, other: SpilledColumns, numbers: Mapping[str, Ints]) -> None:
        """Take all rows of another behind its own; of columns that are numbered otherwise, `numbers` has ours by theirs."""
        if other._blocks:
            self._write()
            self._blocks += [block.numbered(numbers) for block in other._blocks]
            self._taken += other._files()
            other._taken, other._file, other._blocks = [], None, []
        for part in other._held:
            self.add(**_numbered(part, numbers))
        other.clear()

    def __len__(self) -> int:
        return sum(block.rows for block in self._blocks) + self._held_rows

    def blocks(
        self, within: tuple[str, int, int] | None = None, only: Collection[str] | None = None
    ) -> Iterator[Numbers]:
        """All rows in their order, some at a time; (column, from, to) leaves out blocks with nothing in that range.

        At least the columns `only`, where these are given.
        """
        for block in self._blocks:
            if within is None or block.overlaps(*within):
                yield block.read(self.names if only is None else only)
        if self._held_rows:
            held = {name: np.concatenate([part[name] for part in self._held]) for name in self.names}
            self._held = [held]  # joined only once
            yield held

    def release(self) -> Numbers:
        """All rows at once, which are then let go, column by column: one of them at a time is in memory twice."""
        found = {}
        for name in self.names:
            found[name] = self._column(name)
            for part in self._held:
                del part[name]
        self.clear()
        return found

    def whole(self, only: Collection[str] | None = None) -> Numbers:
        """All rows at once: of all columns, or of some."""
        return {name: self._column(name) for name in (self.names if only is None else only)}

    def _column(self, name: str) -> Ints:
        """All of a column. Blocks are read straight into it: to get memory for each takes longer than to read it."""
        parts = [part[name] for part in self._held]
        kinds = [*(block.kind(name) for block in self._blocks), *(part.dtype for part in parts)]
        found: Ints = np.empty(len(self), dtype=np.result_type(*kinds) if kinds else np.int64)
        begin = 0
        for block in self._blocks:
            block.read_into(name, found[begin : begin + block.rows])
            begin += block.rows
        if parts:
            np.concatenate(parts, out=found[begin:])
        return found

    def clear(self) -> None:
        for file in self._files():
            file.close()
        self._file, self._taken, self._blocks, self._held, self._held_rows = None, [], [], [], 0

    def __del__(self) -> None:
        """The files go with the rows."""
        self.clear()

    def _files(self) -> list[IO[bytes]]:
        return [*self._taken, *([] if self._file is None else [self._file])]

    def _write(self) -> None:
        """Write what is held behind all blocks."""
        if not self._held_rows:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as this does
        file, places, ranges = self._file, {}, {}
        try:
            for name in self.names:
                parts = [part[name] for part in self._held if len(part[name])]
                kind = np.result_type(*parts)
                places[name] = (file.seek(0, 2), kind)
                ranges[name] = (min(int(part.min()) for part in parts), max(int(part.max()) for part in parts))
                for part in parts:
                    file.write(np.ascontiguousarray(part, dtype=kind).data)
        except OSError as error:  # the file has no name: who reads this has to know which disk is full
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error
        self._blocks.append(_Block(file, self._held_rows, places, ranges))
        self._held, self._held_rows = [], 0


@dataclass(frozen=True, slots=True)
class _Block:
    """Where some rows are in a file, and from where to where the numbers there go."""

    file: IO[bytes]
    rows: int
    places: Mapping[str, tuple[int, np.dtype[Any]]]
    ranges: Mapping[str, tuple[int, int]]
    numbers: Mapping[str, Ints] = field(default_factory=dict)
    """By what the file holds, of columns that were numbered otherwise."""

    def overlaps(self, name: str, least: int, most: int) -> bool:
        """Whether a column, which is no numbered one, may have anything in a range."""
        least_here, most_here = self.ranges[name]
        return least_here <= most and least <= most_here

    def numbered(self, numbers: Mapping[str, Ints]) -> _Block:
        """The same rows with other numbers, by those that they have."""
        return replace(self, numbers={**numbers, **_numbered(self.numbers, numbers)})

    def kind(self, name: str) -> np.dtype[Any]:
        return self.numbers[name].dtype if name in self.numbers else self.places[name][1]

    def read_into(self, name: str, found: Ints) -> None:
        """Read a column into `found`, which has its length."""
        place, kind = self.places[name]
        if name in self.numbers or kind != found.dtype:
            found[:] = self.read([name])[name]
            return
        self.file.seek(place)
        if cast("io.BufferedRandom", self.file).readinto(found.data.cast("B")) != found.nbytes:
            raise EOFError

    def read(self, names: Collection[str]) -> Numbers:
        found = {}
        for name in names:
            place, kind = self.places[name]
            self.file.seek(place)
            found[name] = np.frombuffer(self.file.read(self.rows * kind.itemsize), dtype=kind)
        return _numbered(found, self.numbers)


def _numbered(columns: Mapping[str, Ints], numbers: Mapping[str, Ints]) -> Numbers:
    return {name: numbers[name][part] if name in numbers else part for name, part in columns.items()}
