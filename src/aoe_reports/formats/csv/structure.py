"""Finds records and cells in a block of CSV with one bit a byte: 64 bytes are looked at in one step.

A bit stands in a bitmap for each byte that is a certain character; whether a byte stands inside quotes is the parity of
the quotes before it. This is how Langdale and Lemire find the structure of JSON ("Parsing Gigabytes of JSON per
Second", VLDB Journal 28, 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aoe_reports.model.arrays.columns import Ints

Uints = np.ndarray[Any, np.dtype[np.uint64]]
"""64 bits, or eight bytes, at once; the first one is the lowest."""
Octets = np.ndarray[Any, np.dtype[np.uint8]]

MARGIN = 64
"""Bytes before and behind the text of a block, so that eight bytes may be read at any place of it."""
_WORD = 64
_LONGEST = 1 << 13
"""Bytes of a record that are still gone through 64 at a time."""
_COMMA, _QUOTE, _NEWLINE, _RETURN = b',"\n\r'


@dataclass(frozen=True, slots=True)
class Records:
    """Where the records of a block stand in it."""

    starts: Ints
    ends: Ints
    """Where the line end of each begins."""
    regular: bool
    """Whether each has as many cells as the header, and none is very long."""


class Block:
    """A part of a file that begins with a record, and bitmaps of it; one for all parts, since new memory costs time."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(MARGIN + size + MARGIN)
        """Text stands here from MARGIN on."""
        self.bytes: Octets = np.frombuffer(self.data, dtype=np.uint8)
        self.eights = _unaligned(self.data)
        """The eight bytes from each byte on."""
        words = len(self.data) // _WORD + 2
        self._commas, self._quotes, self._newlines, self._returns = (_bitmap(words) for _ in range(4))
        self._inside, self._outside, self._separators, self._spare, self._carry = (_bitmap(words) for _ in range(5))
        self._windows = _unaligned(self._separators.data)
        self._same = np.empty(len(self.data), dtype=bool)

    def records(self, end: int, cells: int) -> Records | None:
        """The records up to `end`, where the last one does; None where quotes or line ends are not where they should."""
        self.data[end : end + MARGIN] = bytes(MARGIN)
        used = slice(1, -(-end // _WORD))
        for character, bitmap in ((_COMMA, self._commas), (_QUOTE, self._quotes), (_NEWLINE, self._newlines)):
            self._mark(character, bitmap, end)
        self._part_at_quotes(used)
        newlines = self._places_of_newlines(end)
        ends = newlines
        if self.data.find(b"\r", MARGIN, end) >= 0:
            ends = newlines - 1
            self._mark(_RETURN, self._returns, end)
            if not _only_there(self.bytes, _RETURN, ends, end):
                return None
            self._outside[used] &= ~self._returns[used]
        if self._odd_quotes(used):
            return None
        starts = np.empty_like(newlines)
        starts[0], starts[1:] = MARGIN, newlines[:-1] + 1
        regular = bool((newlines - starts).max() <= _LONGEST) and self._regular(used, newlines, cells)
        return Records(starts, ends, regular)

    def cells(self, records: Records, positions: Sequence[int], cells: int) -> list[tuple[Ints, Ints]]:
        """Where the cells at these places (rising) of regular records begin and end."""
        edges = sorted({edge for position in positions for edge in (position, position + 1)} - {0, cells})
        behind = dict(zip(edges, self._behind_separators(records.starts, edges), strict=True))
        starts = {0: records.starts, **behind}
        ends = {cells: records.ends, **{edge: places - 1 for edge, places in behind.items()}}
        return [(starts[position], ends[position + 1]) for position in positions]

    def is_ascii(self, end: int) -> bool:
        """Whether no byte up to `end` has its highest bit set."""
        words = np.frombuffer(self.data, dtype=np.uint64, offset=MARGIN, count=-(-end // _WORD) * 8 - MARGIN // 8)
        return not int(np.bitwise_or.reduce(words)) & 0x8080808080808080

    def _mark(self, character: int, bitmap: Uints, end: int) -> None:
        """Set the bits where this character stands; those of the last word behind `end` are 0."""
        last = -(-end // _WORD) * _WORD
        same = np.equal(self.bytes[MARGIN:last], character, out=self._same[MARGIN:last])
        bitmap.view(np.uint8)[MARGIN >> 3 : last >> 3] = np.packbits(same, bitorder="little")

    def _part_at_quotes(self, used: slice) -> None:
        """Tell what stands inside quotes (the first of a pair with it, the second not), what is a separator, what words."""
        quotes, inside, spare = self._quotes[used], self._inside[used], self._spare[used]
        np.left_shift(quotes, 1, out=spare)
        np.bitwise_xor(quotes, spare, out=inside)
        for distance in (2, 4, 8, 16, 32):
            np.left_shift(inside, distance, out=spare)
            np.bitwise_xor(inside, spare, out=inside)
        np.right_shift(inside, _WORD - 1, out=spare)
        np.bitwise_xor.accumulate(spare, out=spare)
        np.negative(spare, out=spare)  # all 64 bits of what was one
        np.bitwise_xor(inside[1:], spare[:-1], out=inside[1:])
        commas, separators, outside = self._commas[used], self._separators[used], self._outside[used]
        np.bitwise_not(inside, out=spare)
        np.bitwise_and(commas, spare, out=separators)
        np.bitwise_or(commas, quotes, out=outside)
        np.bitwise_or(outside, self._newlines[used], out=outside)
        np.bitwise_not(outside, out=outside)
        np.bitwise_and(outside, spare, out=outside)

    def _odd_quotes(self, used: slice) -> bool:
        """Whether a line end stands inside quotes, or a quote beside text that is outside: in the middle of a cell."""
        quotes, outside, spare, carry = self._quotes[used], self._outside[used], self._spare[used], self._carry[used]
        if np.bitwise_and(self._newlines[used], self._inside[used], out=spare).any():
            return True
        np.left_shift(outside, 1, out=spare)  # a quote behind text
        np.right_shift(outside, _WORD - 1, out=carry)
        np.bitwise_or(spare[1:], carry[:-1], out=spare[1:])
        if np.bitwise_and(spare, quotes, out=spare).any():
            return True
        np.right_shift(outside, 1, out=spare)  # a quote before text
        np.left_shift(outside, _WORD - 1, out=carry)
        np.bitwise_or(spare[:-1], carry[1:], out=spare[:-1])
        return bool(np.bitwise_and(spare, quotes, out=spare).any())

    def _places_of_newlines(self, end: int) -> Ints:
        words = self._newlines[: -(-end // _WORD)]
        occupied = np.flatnonzero(words != 0)
        found = words[occupied]
        before = found - 1
        if (found & before).any():  # several in one word
            return np.flatnonzero(self.bytes[MARGIN:end] == _NEWLINE) + MARGIN
        places: Ints = (occupied << 6) + np.bitwise_count(before)
        return places

    def _regular(self, used: slice, newlines: Ints, cells: int) -> bool:
        """Whether as many separators as there should be stand before each line end and behind the one before."""
        separators = self._separators[used]
        until = np.cumsum(np.bitwise_count(separators))
        word = (newlines >> 6) - MARGIN // _WORD
        behind = np.bitwise_count(separators[word] >> (newlines & 63).view(np.uint64))
        expected = np.arange(1, len(newlines) + 1, dtype=np.uint64) * np.uint64(cells - 1)
        return bool((until[word] - behind == expected).all())

    def _behind_separators(self, starts: Ints, ordinals: Sequence[int]) -> list[Ints]:
        """The places behind the n-th separators (n from 1, rising) that follow these places."""
        found: list[Ints] = []
        at, last = starts, 0
        origin, rest = at, self._window(at)
        for ordinal in ordinals:
            if ordinal - last > 1:
                at = self._behind(at, ordinal - last)
                origin, rest = at, self._window(at)
            else:
                used_up = np.flatnonzero(rest == 0)
                if len(used_up) > len(at) >> 3:
                    origin, rest = at, self._window(at)
                    used_up = np.flatnonzero(rest == 0)
                lower = rest - 1
                places = origin + np.bitwise_count(rest ^ lower)
                rest &= lower
                if len(used_up):
                    places[used_up] = self._behind(at[used_up], 1)
                at = places
            found.append(at)
            last = ordinal
        return found

    def _behind(self, at: Ints, ordinal: int) -> Ints:
        """The places behind the n-th separators from these places on."""
        window = self._window(at)
        there = _bits(window)
        places = at + _length_to(window, ordinal)
        far = np.flatnonzero(there < ordinal)
        if len(far):
            places[far] = self._far_behind((at[far] & -8) + _WORD, ordinal - there[far].astype(np.int64))
        return places

    def _far_behind(self, at: Ints, ordinals: Ints) -> Ints:
        """The places behind separators that may be many windows away, each the n-th of its own."""
        places = np.empty_like(at)
        rows = np.arange(len(at))
        while len(rows):
            window = self._window(at)
            there = _bits(window)
            near = np.flatnonzero(there >= ordinals)
            places[rows[near]] = at[near] + _lengths_to(window[near], ordinals[near])
            far = np.flatnonzero(there < ordinals)
            rows, ordinals, at = rows[far], ordinals[far] - there[far], (at[far] & -8) + _WORD
        return places

    def _window(self, at: Ints) -> Uints:
        """Which of the 57 bytes (or more) from each place on are separators."""
        window: Uints = self._windows[at >> 3]
        window >>= (at & 7).view(np.uint64)
        return window


def _length_to(window: Uints, ordinal: int) -> Octets:
    """How many bits there are up to the n-th one that is set, with it."""
    for _ in range(ordinal - 1):
        window = window & (window - 1)
    return _bits(window ^ (window - 1))


def _lengths_to(window: Uints, ordinals: Ints) -> Octets:
    """As `_length_to`, with an n for each window."""
    for passed in range(1, int(ordinals.max(initial=1))):
        window = np.where(ordinals > passed, window & (window - 1), window)
    return _bits(window ^ (window - 1))


def _bits(window: Uints) -> Octets:
    count: Octets = np.bitwise_count(window)
    return count


def _only_there(text: Octets, character: int, places: Ints, end: int) -> bool:
    """Whether a character stands at these places and nowhere else before `end`."""
    count = int(np.count_nonzero(text[MARGIN:end] == character))
    return count == len(places) and bool((text[places] == character).all())


def _bitmap(words: int) -> Uints:
    return np.zeros(words, dtype=np.uint64)


def _unaligned(data: bytearray | memoryview) -> Uints:
    return np.ndarray((len(memoryview(data).cast("B")) - 7,), dtype="<u8", buffer=data, strides=(1,))
