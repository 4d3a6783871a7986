"""Turns the cells of many rows into numbers at once, eight bytes a step: durations, and words that repeat.

What is not plain is left to the text itself, which `convert` understands in all its forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.convert import LONGEST_NS
from aoe_reports.formats.csv.structure import Block, Octets, Uints
from aoe_reports.formats.table import NULL_TOKENS
from aoe_reports.model.arrays.columns import Ints, Mask

Mix = Callable[[Sequence[Uints], Ints], Uints]
"""Makes 64 bits of the parts and lengths of words, the upper ones well mixed."""

MAX_WORDS = 1 << 11
"""More of them are not words that repeat."""
_MAX_LENGTH = 256
_SLOT_BITS = 18
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_QUOTE = b'"'

_EACH = np.uint64(0x0101010101010101)
_ZEROS = np.uint64(ord("0")) * _EACH
_POINT = np.uint64(ord(".") ^ ord("0"))
_HIGH = np.uint64(0x80) * _EACH
_ABOVE_NINE = np.uint64(0x80 - 10) * _EACH
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_FOURS = np.uint64(0x000000FF000000FF)
_UPPER = np.uint64(100 + (1_000_000 << 32))
_LOWER = np.uint64(1 + (10_000 << 32))
_LAST = 7
_MAX_DIGITS = 16


def mixed(parts: Sequence[Uints], lengths: Ints) -> Uints:
    """A hash of each word."""
    bits: Uints = lengths.astype(np.uint64)
    for part in parts:
        bits ^= part
        bits *= _FACTOR
    return bits


class Vocabulary:
    """Numbers for the words of a column. A hash says which word is expected, all its letters whether it is the one."""

    def __init__(self, mix: Mix = mixed) -> None:
        self._mix = mix
        self._numbers = {token.encode(): number for number, token in enumerate(NULL_TOKENS)}
        self._expected: Ints = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
        self._lengths = np.full(MAX_WORDS, -1, dtype=np.int64)
        self._parts: list[Uints] = []

    def numbers(self, block: Block, starts: Ints, ends: Ints) -> Ints | None:
        """The number of each row's word; None where one is quoted or very long, or they are too many."""
        lengths = ends - starts
        longest = int(lengths.max())
        if longest > _MAX_LENGTH:
            return None
        parts = letters(block, starts, ends, longest)
        while len(self._parts) < len(parts):
            self._parts.append(np.zeros(MAX_WORDS, dtype=np.uint64))
        slots = (self._mix(parts, lengths) >> (64 - _SLOT_BITS)).view(np.int64)
        numbers = self._expected[slots]
        differs = self._lengths[numbers] != lengths
        for known, part in zip(self._parts, parts, strict=False):
            differs |= known[numbers] != part
        others = np.flatnonzero(differs)
        while len(others):
            row = others[0]
            number = self._number(bytes(block.data[starts[row] : ends[row]]))
            if number is None:
                return None
            self._expected[slots[row]] = number
            self._lengths[number] = lengths[row]
            same = lengths[others] == lengths[row]
            for known, part in zip(self._parts, parts, strict=False):
                known[number] = part[row]
                same &= part[others] == part[row]
            numbers[others[same]] = number
            others = others[~same]
        return numbers

    def column(self, numbers: Ints) -> pa.Array:
        """Words by their numbers as an Arrow dictionary; null for what stands for no value."""
        words = [word for word, number in self._numbers.items() if number >= len(NULL_TOKENS)]
        lengths = np.asarray([len(word) for word in words], dtype=np.int64)
        there = numbers >= len(NULL_TOKENS)
        indices = np.where(there, numbers - len(NULL_TOKENS), 0).astype(np.int32, copy=False)
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.DictionaryArray.from_buffers(
            kind, len(numbers), [_validity(there), pa.py_buffer(indices)], strings(b"".join(words), lengths)
        )

    def _number(self, word: bytes) -> int | None:
        if word.startswith(_QUOTE) or (len(self._numbers) >= MAX_WORDS and word not in self._numbers):
            return None
        return self._numbers.setdefault(word, len(self._numbers))


def letters(block: Block, starts: Ints, ends: Ints, longest: int) -> list[Uints]:
    """Words as numbers of eight letters; the last one of each ends with it, and is repeated where others are longer."""
    last = ends - 8
    before = (np.maximum(8 - (ends - starts), 0) << 3).view(np.uint64)
    return [block.eights[np.minimum(starts + at, last)] >> before for at in range(0, longest, 8)]


def strings(data: bytes | Octets, lengths: Ints, there: Mask | None = None) -> pa.Array:
    """Strings that stand one behind the other; null where none is there."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    validity = None if there is None else _validity(there)
    return pa.Array.from_buffers(pa.string(), len(lengths), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


def _validity(there: Mask) -> pa.Buffer | None:
    return None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))


def plain_nanoseconds(block: Block, starts: Ints, ends: Ints, factor: int) -> tuple[Ints, Mask]:
    """(durations in ns, where a cell is a plain decimal number of so many whole ns); elsewhere they mean nothing."""
    lengths = ends - starts
    digits = block.eights[starts] ^ _ZEROS
    digits <<= ((8 - lengths) << 3).view(np.uint64)  # more than eight letters leave nothing
    below = digits & _LOWER_HALF
    below <<= 8
    whole: Any = (digits >> 40) << 40
    whole |= below
    plain: Mask = (digits >> 32) & 0xFF == _POINT
    plain &= lengths > len(".000")
    plain &= _decimal(whole)
    values = _number(whole)
    if factor % 1000:
        plain[:] = False
    values *= factor // 1000
    others = np.flatnonzero(~plain)
    if len(others):  # other than three decimals, or longer
        values[others], plain[others] = _nanoseconds(block, starts[others], ends[others], factor)
    return values.view(np.int64), plain


def _nanoseconds(block: Block, starts: Ints, ends: Ints, factor: int) -> tuple[Uints, Mask]:
    """As `plain_nanoseconds`, for numbers of up to 16 letters with any number of decimals that leaves whole ns."""
    lengths = ends - starts
    first = _cut(block.eights[ends - 16] ^ _ZEROS, 16 - lengths)
    last = _cut(block.eights[ends - 8] ^ _ZEROS, 8 - lengths)
    apart = last ^ (_POINT * _EACH)
    mark = (apart - _EACH) & ~apart & _HIGH
    mark &= -mark  # the first byte that is a point; those behind it may be marked wrongly
    pointed = mark != 0
    place = np.where(pointed, np.bitwise_count(mark - 1) >> 3, _LAST).astype(np.int64)
    joined: Any = (last & ~((mark << 1) - 1)) | ((last & ((mark >> 7) - 1)) << 8)
    joined = np.where(pointed, joined, last)
    total = _number(first) * np.where(pointed, 10**7, 10**8).astype(np.uint64) + _number(joined)
    scales = np.asarray([0 if factor % 10**n else factor // 10**n for n in range(_LAST + 1)], dtype=np.uint64)
    scale = scales[_LAST - place]
    plain: Mask = (lengths > 0) & (lengths <= _MAX_DIGITS) & _decimal(first) & _decimal(joined)
    plain &= ~pointed | ((place > 8 - lengths) & (place < _LAST))  # digits on both sides
    plain &= (scale > 0) & (total <= (LONGEST_NS - 1) // np.maximum(scale, 1))
    return total * scale, plain


def _cut(letters: Uints, count: Ints) -> Uints:
    """Eight letters with 0 for the first ones, as many as given."""
    shift = (np.clip(count, 0, 8) << 3).view(np.uint64)
    return (letters >> shift) << shift


def _decimal(digits: Uints) -> Mask:
    """Whether all eight bytes are digits (from 0 to 9, no letters)."""
    decimal: Mask = ((digits + _ABOVE_NINE) | digits) & _HIGH == 0
    return decimal


def _number(digits: Uints) -> Uints:
    """The number that eight digits make, the first one in the lowest byte: pairs of them, then fours, then all."""
    pairs: Any = digits * 10 + (digits >> 8)
    upper = (pairs & _FOURS) * _UPPER
    lower = ((pairs >> 16) & _FOURS) * _LOWER
    number: Uints = (upper + lower) >> 32
    return number


def texts(block: Block, starts: Ints, ends: Ints, wanted: Mask) -> pa.Array:
    """The text of the wanted cells; null elsewhere, and where it stands for no value."""
    there = wanted.copy()
    for token in NULL_TOKENS:
        letters = int.from_bytes(token.encode(), "little")
        same = (block.eights[starts] & ((1 << 8 * len(token)) - 1)) == letters
        there &= ~(same & (ends - starts == len(token)))
    lengths = np.where(there, ends - starts, 0)
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return strings(block.bytes[places], lengths, there)
