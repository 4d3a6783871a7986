"""Columns of recordings of memory that are tables: words, addresses, stacks, and attributes in one cell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory_files.frames import words
from aoe_reports.model.arrays.columns import Ints, Mask, Numbering, bits, codes, encoded, keep_where

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
        """The rows with one of some words."""
        chosen = np.array([*(word in wanted for word in self.words), False])
        return chosen[self.places]

    def told(self, tell: Mapping[str, int]) -> Ints:
        """A whole number for each row by its word; -1 where there is none."""
        known = np.array([*(tell.get(word, -1) for word in self.words), -1], dtype=np.int64)
        return known[self.places]


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of which nearly every text is another: those that occur stay where Arrow has them."""

    places: Ints
    texts: pa.Array
    """All that occur, and behind them null."""

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Texts:
        column = encoded(column)
        if column.num_chunks == 0:
            return cls(np.zeros(0, dtype=np.int64), pa.nulls(1, pa.string()))
        whole = column.unify_dictionaries() if column.num_chunks > 1 else column
        one = pa.chunked_array([pa.concat_arrays(whole.chunks)])
        texts = pa.concat_arrays([one.chunk(0).dictionary, pa.nulls(1, pa.string())])
        return cls(codes(one)[0].astype(np.int64) - 1, texts)

    def values(self, key: str) -> pa.Array:
        """What stands behind a key in each text: `{size:512,used:7}`, or `{"size":"512","used":"7"}` in a database."""
        found = pc.extract_regex(self.texts, rf'[{{,"](?:{key})"?:"?(?P<value>[^,"}}]*)')
        return pc.struct_field(found, "value")

    def numbers(self, pattern: str) -> dict[str, tuple[Ints, Mask]]:
        """The whole numbers that the named groups of a pattern find in each text, and where there is one."""
        found = pc.extract_regex(self.texts, pattern)
        read = {}
        for name in re.compile(pattern).groupindex:
            cells = pc.struct_field(found, name)
            there = bits(pa.chunked_array([pc.not_equal(pc.binary_length(cells), pa.array([0], pa.int32())[0])]))
            values = np.zeros(len(cells), dtype=np.int64)
            values[there] = cells.filter(keep_where(there)).cast(pa.int64()).to_numpy()
            read[name] = values, there
        return read


def row_numbers(data: TableData, rows: Ints) -> Ints:
    """The number of each of some rows of a frame in its file, from 1."""
    return (rows if data.rows is None else data.rows[rows]) + 1


def addresses_of(column: pa.ChunkedArray) -> Ints:
    """Addresses, decimal or hexadecimal; -1 where there is none."""
    found = Texts.of(column)
    known = np.fromiter((_address(word) for word in found.texts.to_pylist()), np.int64, len(found.texts))
    return known[found.places]


def _address(word: str | None) -> int:
    if word is None:
        return -1
    base = 16 if _HEX.fullmatch(word) else 10 if _DECIMAL.fullmatch(word) else None
    number = -1 if base is None else int(word, base)
    return number if number < 2**63 else -1


def locations_of(stack: Words, places: Ints) -> pa.ChunkedArray:
    """Stacks whose frames stand on lines of their own, the innermost first, as text; null for places below 0."""
    known = Numbering()
    told = [
        ";".join(line.replace(";", ",") for line in text.split("\n") if line.strip())[:_MAX_STACK]
        for text in stack.words
    ]
    new = np.array([*(known[text] if text not in {"", "NA"} else -1 for text in told), -1], dtype=np.int64)
    return words(new[places], known.words)
