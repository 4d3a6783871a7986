"""Columns of recordings of memory that are tables: words, addresses, stacks, and attributes in one cell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory import words
from aoe_reports.model.arrays.columns import Ints, Mask, Numbering, bits, codes, encoded, integers, keep_where

_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_DECIMAL = re.compile(r"\d{1,19}", re.ASCII)
_MAX_STACK = 4000


@dataclass(frozen=True, slots=True)
class Words:
    """A column of words: the place of each row's word among all that occur, -1 where there is none."""

    places: Ints
    words: list[str]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Words:
        numbers_of, known = codes(column)
        return cls(numbers_of.astype(np.int64) - 1, list(known))

    def having(self, *wanted: str) -> Mask:
        """The rows whose word is among some."""
        chosen = np.array([*(word in wanted for word in self.words), False])
        return chosen[self.places]

    def numbers_by(self, number_of: Mapping[str, int]) -> Ints:
        """A whole number for each row by its word; -1 where there is none."""
        known = np.array([*(number_of.get(word, -1) for word in self.words), -1], dtype=np.int64)
        return known[self.places]


@dataclass(frozen=True, slots=True)
class Texts:
    """A column in which nearly every text is another: those that occur stay where Arrow has them."""

    places: Ints
    """The place of each row's text among all of `parts`, -1 where there is none."""
    parts: list[pa.Array]
    """The texts that occur, some at a time: what is extracted from them takes memory only for these."""

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Texts:
        parts: list[pa.Array] = []
        places, first, behind = [np.zeros(0, dtype=np.int64)], 0, 0
        for chunk in encoded(column).chunks:
            if not parts or not parts[-1].equals(chunk.dictionary):
                first, behind = behind, behind + len(chunk.dictionary)
                parts.append(chunk.dictionary)
            numbers_of = codes(pa.chunked_array([chunk]))[0]
            places.append(np.where(numbers_of > 0, numbers_of.astype(np.int64) + (first - 1), -1))
        return cls(np.concatenate(places), parts)

    def values(self, key: str) -> pa.Array:
        """What stands behind a key in each text, and null at the end: `{size:512,used:7}`, or `{"size":"512","used":"7"}` in a database."""
        pattern = rf'[{{,"](?:{key})"?:"?(?P<value>[^,"}}]*)'
        parts = [pc.struct_field(pc.extract_regex(texts, pattern), "value") for texts in self.parts]
        return pa.concat_arrays([*parts, pa.nulls(1, pa.string())])

    def numbers(self, pattern: str) -> dict[str, tuple[Ints, Mask]]:
        """The whole numbers that the named groups of a pattern find in each text, and where there is a number; the entry after the last is empty."""
        names = [*re.compile(pattern).groupindex]
        count = sum(map(len, self.parts)) + 1
        values = {name: np.zeros(count, dtype=np.int64) for name in names}
        known = {name: np.zeros(count, dtype=bool) for name in names}
        first = 0
        for texts in self.parts:
            extracted = pc.extract_regex(texts, pattern)
            behind = first + len(texts)
            for name in names:
                cells = pc.struct_field(extracted, name)
                is_there = bits(pa.chunked_array([pc.not_equal(pc.binary_length(cells), pa.array([0], pa.int32())[0])]))
                known[name][first:behind] = is_there
                values[name][first:behind][is_there] = cells.filter(keep_where(is_there)).cast(pa.int64()).to_numpy()
            first = behind
        return {name: (values[name], known[name]) for name in names}


def row_numbers(data: TableData, rows: Ints) -> Ints:
    """The number of each of some rows of a frame in its file, from 1."""
    return (rows if data.rows is None else data.rows[rows]) + 1


def addresses_of(column: pa.ChunkedArray) -> Ints:
    """Addresses, decimal or hexadecimal; -1 where there is none."""
    addresses = Texts.of(column)
    return np.concatenate([*map(_addresses, addresses.parts), [-1]])[addresses.places]


def _addresses(words: pa.Array) -> Ints:
    try:
        numbers, _ = integers(pa.chunked_array([words.cast(pa.int64())]))
    except pa.ArrowInvalid:  # not every text is an address
        return np.fromiter(map(_address, words.to_pylist()), np.int64, len(words))
    return np.maximum(numbers, -1)


def _address(word: str) -> int:
    base = 16 if _HEX.fullmatch(word) else 10 if _DECIMAL.fullmatch(word) else None
    number = -1 if base is None else int(word, base)
    return number if number < 2**63 else -1


def locations_of(stack: Words, places: Ints) -> pa.ChunkedArray:
    """Stacks whose frames stand on lines of their own, the innermost first, as text; null for places below 0."""
    known = Numbering()
    stacks = [
        ";".join(line.replace(";", ",") for line in text.split("\n") if line.strip())[:_MAX_STACK]
        for text in stack.words
    ]
    new = np.array([*(known[text] if text not in {"", "NA"} else -1 for text in stacks), -1], dtype=np.int64)
    return words(new[places], known.words)
