"""The last row of a file that does not end with a line end: all its cells but the last are certain. What of that one?"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.convert import fits
from aoe_reports.formats.table import Field

Ending = Literal["whole", "unknown", "cut"]
"""Whether the last cell is all that was written, whether nobody can tell, or whether it certainly is not."""

_DECIMAL = re.compile(r"\s*[+-]?\d*(?:\.(?P<decimals>\d*))?\s*", re.ASCII)
_EXPORTED_DECIMALS = 3
"""Exporters print nanoseconds as three decimals of a microsecond, and ratios with as many at most."""
_MIN_TO_REPEAT = 2


def ending_of(column: pa.ChunkedArray, field: Field, last_byte: bytes) -> Ending:
    """How much of the last cell of a column of text is there, by the file's last byte and the cells above it."""
    if last_byte == b"\r":
        return "whole"  # half of a line end is one
    words = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
    last = len(words) - 1
    cell, above = words[last].as_py(), words.slice(0, last)
    others = [word for word in pc.unique(above).to_pylist() if word is not None]
    if cell is None:
        return "unknown" if last_byte == b"," else "whole"  # N/A is no part of anything else
    if not fits(cell, field):
        return "cut"
    if _DECIMAL.fullmatch(cell):
        return _of_number(cell, others, repeated=last >= _MIN_TO_REPEAT and not above.null_count)
    return _of_word(cell, others)


def _of_word(cell: str, others: Collection[str]) -> Ending:
    """A word is whole where it stands there before, and is cut where a longer one does that begins with it."""
    longer = any(word.startswith(cell) and word != cell for word in (*others, "N/A"))
    if cell in others:
        return "unknown" if longer else "whole"
    return "cut" if longer else "unknown"


def _of_number(cell: str, others: Collection[str], *, repeated: bool) -> Ending:
    """A number is whole where it has as many decimals as any has there, or where it is the only one that ever stands there."""
    if repeated and set(others) == {cell}:
        return "whole"
    decimals = [_decimals(word) for word in others]
    if not decimals:
        return "unknown"
    if max(decimals) == _EXPORTED_DECIMALS == _decimals(cell):
        return "whole"
    return "cut" if min(decimals) > _decimals(cell) else "unknown"


def _decimals(word: str) -> int:
    found = _DECIMAL.fullmatch(word)
    return len(found["decimals"] or "") if found else 0


def without_last(column: pa.ChunkedArray) -> pa.ChunkedArray:
    last = len(column) - 1
    return pa.chunked_array([*column.slice(0, last).chunks, pa.nulls(1, column.type)], column.type)
