"""Whether a row may stand twice in a file, by the cells that tell when a task starts and how long it takes."""

from __future__ import annotations

import numpy as np

from aoe_reports.formats.convert import nanoseconds
from aoe_reports.formats.csv.cells import letters, mixed, plain_nanoseconds
from aoe_reports.formats.csv.structure import Block, Uints
from aoe_reports.formats.table import Field
from aoe_reports.model.arrays.columns import Ints

_LONGEST_START = 24
_POINT, _ZERO = ord("."), ord("0")

Cells = tuple[Ints, Ints]
"""Where the cells of a column begin and end in a block."""


class DuplicateCheck:
    """Looks at the bytes of every row, block after block. Most exports are in order of time, which is quick to see.

    Plain decimal numbers of one length compare as their letters do; in files in another order no two rows may hash alike.
    Both know numbers by their value: 12.3450 is no other time than 12.345.
    """

    def __init__(self, field: Field, time: Field) -> None:
        self.field = field
        self._time = time
        self._known = self._rising = self._alike = True
        self._length = self._decimals = 0
        self._first = self._last = b""
        self._hashes: list[Uints] = []

    def read(self, block: Block, starts: Cells, times: Cells) -> None:
        """Look at the starts and times of the rows of a block."""
        lengths = starts[1] - starts[0]
        if not self._known or int(lengths.max()) > _LONGEST_START:
            self.stop()
            return
        words = letters(block, *starts, _LONGEST_START)
        time_ns, plain = plain_nanoseconds(block, *times, self._time.factor)
        self._hashes.append(mixed([*words, time_ns.view(np.uint64)], lengths))
        self._alike = self._alike and bool(plain.all()) and self._have_as_many_decimals(block, starts)
        if self._rising:
            first, last = (bytes(block.data[int(starts[0][row]) : int(starts[1][row])]) for row in (0, -1))
            self._length = self._length or len(first)
            self._rising = bool((lengths == self._length).all()) and self._last < first and _rise(words)
            self._first, self._last = self._first or first, last

    def _have_as_many_decimals(self, block: Block, cells: Cells) -> bool:
        """Whether all cells are numbers with a point, and as many decimals as the first of the file: then no two texts are one number."""
        starts, ends = cells
        if not self._decimals:
            first = bytes(block.data[int(starts[0]) : int(ends[0])])
            self._decimals = len(first) - first.find(b".") - 1 if b"." in first else 0
        if not self._decimals:
            return False
        return bool((block.bytes[ends - self._decimals - 1] == _POINT).all() and (block.bytes[ends - 1] >= _ZERO).all())

    def stop(self) -> None:
        """Note that of some rows nobody knows when they start."""
        self._known = self._rising = False
        self._hashes.clear()

    def span(self) -> tuple[int, int] | None:
        """The first and the last start in ns, where each row starts later than the one above."""
        if not self._rising:
            return None
        first, last = (nanoseconds(cell.decode().strip(), self.field.factor) for cell in (self._first, self._last))
        return None if first is None or last is None or first > last else (first, last)

    def differ(self) -> bool:
        """Whether no two rows start at the same time and take as long."""
        if not self._known or self._rising or not self._alike:
            return self._rising
        every = np.sort(np.concatenate(self._hashes))
        return not bool((every[1:] == every[:-1]).any())


def _rise(words: list[Uints]) -> bool:
    """Whether each of some words of one length is larger than the one before; their first letters weigh most."""
    later = np.zeros(len(words[0]) - 1, dtype=bool)
    for part in reversed(words):
        ordered = part.byteswap()
        before, after = ordered[:-1], ordered[1:]
        later = (after > before) | (later & (after == before))
    return bool(later.all())
