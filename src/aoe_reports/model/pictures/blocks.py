"""Blocks of a picture: slices of a lane that are drawn as one, and how they are written in few characters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Ints, exact_sum

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUE_OF = {digit: value for value, digit in enumerate(_DIGITS)}
_BITS, _MORE = 5, 32
"""A digit has five bits of a number, the lowest first, and whether there are more."""
_MAX_BITS = 60
_ON_PATH, _MERGED, _KIND = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of one lane by their begins, in ns since the begin of the step."""

    start: Ints
    end: Ints
    kind: Ints
    """A place in KINDS: what the longest slice is."""
    on_path: Ints
    """1 where the critical path passes any slice of it."""
    name: Ints
    """The number of the longest slice's name, -1 for none."""
    count: Ints
    busy: Ints
    """How long all slices are together."""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def busy_ns(self) -> int:
        """How long all slices of all blocks are together."""
        return exact_sum(self.busy)


def blocks_of(start: Ints, end: Ints, kind: Ints, on_path: Ints, name: Ints) -> Blocks:
    """A block for each slice, in order of time."""
    order = np.lexsort((name, -end, start))
    start, end = start[order], end[order]
    one = np.ones(len(order), dtype=np.int64)
    return Blocks(start, end, kind[order], on_path[order], name[order], one, end - start)


def merged(blocks: Blocks, grain_ns: int) -> Blocks:
    """One block for all that begins within a grain of the first of them; nothing is lost from `count` and `busy`."""
    if not len(blocks):
        return blocks
    starts = blocks.start.tolist()
    firsts = [0]
    while (behind := bisect_left(starts, starts[firsts[-1]] + max(grain_ns, 1), lo=firsts[-1])) < len(starts):
        firsts.append(behind)
    if len(firsts) == len(starts):
        return blocks
    first = np.asarray(firsts, dtype=np.int64)
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(starts))))
    longest = np.lexsort((np.arange(len(starts)), -blocks.busy, group))[first]
    return Blocks(
        start=blocks.start[first],
        end=np.maximum.reduceat(blocks.end, first),
        kind=blocks.kind[longest],
        on_path=np.maximum.reduceat(blocks.on_path, first),
        name=blocks.name[longest],
        count=np.add.reduceat(blocks.count, first),
        busy=np.add.reduceat(blocks.busy, first),
    )


def renumbered(blocks: Blocks, numbers: Ints) -> Blocks:
    """The blocks with other numbers of names; the last of `numbers` is that of none."""
    return Blocks(
        blocks.start, blocks.end, blocks.kind, blocks.on_path, numbers[blocks.name], blocks.count, blocks.busy
    )


def written(blocks: Blocks) -> str:
    """Blocks as text: begin since the begin before it, length, kind with marks, name + 1, of merged ones count and time."""
    columns = (np.diff(blocks.start, prepend=0), blocks.end - blocks.start, blocks.kind, blocks.on_path, blocks.name)
    rows = zip(*(column.tolist() for column in (*columns, blocks.count, blocks.busy)), strict=True)
    digits: list[str] = []
    for since, length, kind, on_path, name, count, busy in rows:
        merges = _MERGED if count > 1 else 0
        numbers = [since, length, kind * _KIND + merges + on_path * _ON_PATH, name + 1]
        digits += map(_digits, [*numbers, count, busy] if merges else numbers)
    return "".join(digits)


def _digits(number: int) -> str:
    digits = ""
    while number >= _MORE:
        digits += _DIGITS[number % _MORE + _MORE]
        number >>= _BITS
    return digits + _DIGITS[number]


def read_blocks(cells: str) -> Blocks:
    """The blocks that were written so; ValueError for another text."""
    numbers = _numbers_in(cells)
    rows: list[tuple[int, ...]] = []
    start = 0
    try:
        for since in numbers:
            start += since
            length, marks, name = next(numbers), next(numbers), next(numbers) - 1
            count, busy = (next(numbers), next(numbers)) if marks & _MERGED else (1, length)
            rows.append((start, start + length, marks // _KIND, marks & _ON_PATH, name, count, busy))
    except StopIteration:
        raise ValueError("the last block is not whole") from None
    columns = zip(*rows, strict=True) if rows else ((),) * 7
    try:
        return Blocks(*(np.asarray(column, dtype=np.int64) for column in columns))
    except OverflowError:
        raise ValueError("a time of more than 64 bits") from None


def _numbers_in(cells: str) -> Iterator[int]:
    number = shift = 0
    for digit in cells:
        value = _VALUE_OF.get(digit)
        if value is None or shift > _MAX_BITS:
            raise ValueError("no number of a block")
        number |= value % _MORE << shift
        if value < _MORE:
            yield number
            number = shift = 0
        else:
            shift += _BITS
    if shift:
        raise ValueError("the last number is not whole")
