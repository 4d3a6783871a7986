"""Rows with more or fewer cells than the header: mended where it is certain what the exporter meant.

The C++ exporter quotes nothing but shapes and formats: a comma in an operator's name makes a cell too many. It also
fills up missing reduces of step_trace with one N/A instead of two. Everything else is damage, and stays out.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from aoe_reports.formats.convert import fits
from aoe_reports.formats.table import NULL_TOKENS, Field, Match, Table
from aoe_reports.model.texts import say


@dataclass(frozen=True, slots=True)
class Ragged:
    """A row of the wrong length."""

    record: int
    """The data record, from 0."""
    cells: int
    spread: bool
    """Whether it goes over several lines."""
    text: str | None = None
    """The row itself, where it is kept."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A row that has the right length now."""

    record: int
    cells: list[str]
    message: str


def mended(table: Table, match: Match, frame: pa.Table, ragged: Sequence[Ragged]) -> list[Mended]:
    """The rows of `ragged` of which it is certain what they say; `frame` holds the rows of the right length as text."""
    known = _KnownWords(match, frame)
    found = []
    for row in ragged:
        cells = _cells(row)
        if cells is None:
            continue
        more = len(cells) > len(match.fields)
        whole = _rejoined(match, known, cells) if more else _filled_up(table, match, cells)
        if whole is not None:
            free = next((field.position for field in match.fields if field.free), 0)
            message = say(
                "the exporter did not quote a comma in {name!r}; the cell was joined again"
                if more
                else "the exporter padded missing reduces with too few N/A; they are read as missing",
                name=whole[free][:60],
            )
            found.append(Mended(row.record, whole, message))
    return found


class _KnownWords:
    """The words that stand in the rows of the right length, column by column."""

    def __init__(self, match: Match, frame: pa.Table) -> None:
        self._frame = frame
        self._words: dict[int, set[str]] = {}
        self._columns = [
            field
            for field in match.fields
            if field.type == "text" and not field.free and str(field.position) in frame.column_names
        ]

    def has(self, cells: Sequence[str]) -> bool:
        """Whether every cell of words stands in some other row, too; False where there is nothing to go by."""
        return bool(self._columns) and all(self._may_hold(field, cells[field.position]) for field in self._columns)

    def fits_beside(self, match: Match, position: int, part: str) -> bool:
        """Whether a part of a name might as well be the cell at `position`, next to the name."""
        if not 0 <= position < len(match.fields):
            return False
        field = match.fields[position]
        if field.type in {"text", "unknown"}:
            return field in self._columns and part in self._of(field)
        return fits(part, field)

    def _may_hold(self, field: Field, cell: str) -> bool:
        if cell in NULL_TOKENS:
            return bool(self._frame.column(str(field.position)).null_count)
        return cell in self._of(field)

    def _of(self, field: Field) -> set[str]:
        if field.position not in self._words:
            chunks = self._frame.column(str(field.position)).chunks
            self._words[field.position] = {word for chunk in chunks for word in chunk.dictionary.to_pylist()}
        return self._words[field.position]


def _cells(row: Ragged) -> list[str] | None:
    if row.text is None or row.spread:
        return None
    try:
        (cells,) = csv.reader([row.text.rstrip("\r\n")])
    except (csv.Error, ValueError):
        return None
    return cells if len(cells) == row.cells else None


def _rejoined(match: Match, known: _KnownWords, cells: list[str]) -> list[str] | None:
    """The row with its one free column put together, if all other cells are then what they should be."""
    free = [field.position for field in match.fields if field.free]
    if len(free) != 1:
        return None
    start, end = free[0], free[0] + len(cells) - len(match.fields) + 1
    parts = cells[start:end]
    if parts[0].strip().isdecimal() or any(part.strip() in NULL_TOKENS for part in parts):
        return None  # the name may as well have moved here from elsewhere
    whole = [*cells[:start], ",".join(parts), *cells[end:]]
    if not all(fits(whole[field.position], field) for field in match.fields):
        return None
    if known.fits_beside(match, start - 1, parts[0]) or known.fits_beside(match, start + 1, parts[-1]):
        return None  # the row may as well have one cell too many further off
    return whole if known.has(whole) else None


def _filled_up(table: Table, match: Match, cells: list[str]) -> list[str] | None:
    """The row with the N/A that the exporter forgot: one a missing group instead of one a column of it."""
    tail = [
        field.position for field in match.fields if field.name.split("__")[0].removesuffix("_ns") in table.repeating
    ]
    if not tail:
        return None
    first, width = tail[0], len(table.repeating)
    groups = len(tail) // width
    there = (len(cells) - first - groups) // (width - 1)
    if not 0 <= there < groups or len(cells) != first + width * there + groups - there:
        return None
    filled, missing = cells[first : first + width * there], cells[first + width * there :]
    if any(cell in NULL_TOKENS for cell in filled) or any(cell not in NULL_TOKENS for cell in missing):
        return None
    whole = [*cells, *["N/A"] * (len(match.fields) - len(cells))]
    return whole if all(fits(whole[field.position], field) for field in match.fields) else None
