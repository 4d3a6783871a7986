"""Reads few columns of a large CSV file in one look at its bytes, with every row of the wrong length found all the same.

It does what `parse` does for files (and blocks of files) in which nothing is odd; all else is left to `parse`, so that
there is one opinion on what odd text means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.cells import Vocabulary, plain_nanoseconds, texts
from aoe_reports.formats.csv.parse import BLOCK_BYTES, read_name, text_type
from aoe_reports.formats.csv.rising import DuplicateCheck
from aoe_reports.formats.csv.structure import MARGIN, Block, Records
from aoe_reports.formats.table import Field
from aoe_reports.model.arrays.columns import Ints, Mask, column_of

_MAX_COLUMNS = 8
"""With more of them taking cells out costs what finding them saves."""
_PIECES = 64
"""Blocks that are put together at a time: a copy of all would double the memory."""
_QUOTE = ord('"')


@dataclass(frozen=True, slots=True)
class Scanned:
    """The frame that `parse` would have given."""

    frame: pa.Table
    span: tuple[int, int] | None = None
    """The first and the last start in ns, where each row starts later than the one above."""
    differ: bool = False
    """Whether it is certain that no two rows start at the same time and take as long."""


def scan(
    path: Path,
    header_bytes: int,
    cells: int,
    wanted: Sequence[Field],
    start: Field | None = None,
    *,
    block_bytes: int = BLOCK_BYTES,
) -> Scanned | None:
    """The wanted columns of a file of UTF-8; None where they are too many, or anything is odd.

    `start` is the column that tells when a row starts.
    """
    if cells < 2 or len(wanted) > _MAX_COLUMNS or not all(map(_repeats, wanted)):  # noqa: PLR2004 -- one comma a row
        return None
    if path.stat().st_size < block_bytes:
        return None  # to get ready would take longer than to read
    with path.open("rb", buffering=0) as file:
        if not is_plain_header(file.read(header_bytes)) or not _ends_with_newline(file):
            return None
        file.seek(header_bytes)
        reader = _Reader(cells, wanted, start, block_bytes)
        for end in _blocks(file, reader.block, block_bytes):
            if not (end and is_plain(reader.block, end) and reader.read(end)):
                return None
    return reader.scanned() if reader.rows else None


def _repeats(field: Field) -> bool:
    """Whether a column is one of durations, or one in which the same words come again and again."""
    return field.type in {"duration", "integer"} or (field.type == "text" and not field.free)


def is_plain_header(header: bytes) -> bool:
    """Whether there is no doubt where the header ends and how it is encoded."""
    return header.endswith(b"\n") and b"\0" not in header and b"\r" not in header[:-2] and _is_utf8(header)


def _ends_with_newline(file: FileIO) -> bool:
    file.seek(-1, 2)
    return file.read(1) == b"\n"


def _blocks(file: FileIO, block: Block, block_bytes: int) -> Iterator[int]:
    """Fill the block with complete lines, again and again; yields where they end in it, 0 for a line that is too long."""
    memory = memoryview(block.data)
    rest = b""
    while True:
        begin = MARGIN + len(rest)
        memory[MARGIN:begin] = rest
        filled = begin + (file.readinto(memory[begin : MARGIN + block_bytes]) or 0)
        if filled == begin:
            if rest:
                yield 0
            return
        end = block.data.rfind(b"\n", MARGIN, filled) + 1
        rest = bytes(memory[end:filled]) if end else b""
        yield end


def is_plain(block: Block, end: int) -> bool:
    """Whether the text is UTF-8 without NUL bytes."""
    if block.data.find(0, MARGIN, end) >= 0:
        return False
    return block.is_ascii(end) or _is_utf8(bytes(block.data[MARGIN:end]))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class _WordCells:
    """A column of anything, by the words that repeat in it."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._vocabulary = Vocabulary()

    def read(self, block: Block, starts: Ints, ends: Ints) -> Ints | None:
        """The number of each cell's word; None where that is for `parse` to tell."""
        return self._vocabulary.numbers(block, starts, ends)

    def columns(self, pieces: Sequence[Ints]) -> dict[str, pa.ChunkedArray]:
        words = self._vocabulary.column(np.concatenate(pieces))
        kind = text_type(self._field)
        return {str(self._field.position): pa.chunked_array([words if words.type == kind else words.cast(kind)])}


class _DurationCells:
    """A column of durations: whole nanoseconds, and the text of all that is more than a plain number of them."""

    def __init__(self, field: Field) -> None:
        self._field = field

    def read(self, block: Block, starts: Ints, ends: Ints) -> _Durations | None:
        """The durations of a block; None where that is for `parse` to tell."""
        values, plain = plain_nanoseconds(block, starts, ends, self._field.factor)
        if plain.all():
            return _Durations(values, plain, None)
        if (block.bytes[starts[~plain]] == _QUOTE).any():
            return None
        return _Durations(values, plain, texts(block, starts, ends, ~plain))

    def columns(self, pieces: Sequence[_Durations]) -> dict[str, pa.ChunkedArray]:
        values, plain = (np.concatenate(parts) for parts in zip(*((p.values, p.plain) for p in pieces), strict=True))
        text = [pa.nulls(len(p.values), pa.string()) if p.text is None else p.text for p in pieces]
        return {str(self._field.position): pa.chunked_array(text), read_name(self._field): column_of(values, plain)}


@dataclass(frozen=True, slots=True)
class _Durations:
    values: Ints
    plain: Mask
    """Where a value means something."""
    text: pa.Array | None
    """The text where it does not."""


class _Reader:
    """Reads block after block into one frame."""

    def __init__(self, cells: int, wanted: Sequence[Field], start: Field | None, block_bytes: int) -> None:
        self.block = Block(block_bytes)
        times = [place for place, field in enumerate(wanted) if field.type == "duration" and field.needed]
        self._time = times[0] if times else 0
        self._starts = DuplicateCheck(start, wanted[self._time]) if start is not None and times else None
        self._cells, self._wanted = cells, list(wanted)
        self._columns = [_DurationCells(f) if f.type == "duration" else _WordCells(f) for f in wanted]
        self._pieces: list[list[Any]] = []
        self._frames: list[pa.Table] = []
        self.rows = 0

    def read(self, end: int) -> bool:
        """Read the records of the block; False where anything is odd about them."""
        records = self.block.records(end, self._cells)
        pieces = self._read_cells(records) if records is not None and records.regular else None
        if records is None or pieces is None:
            return False
        self._pieces.append(pieces)
        self.rows += len(records.starts)
        if len(self._pieces) == _PIECES:
            self._frame_pieces()
        return True

    def scanned(self) -> Scanned:
        self._frame_pieces()
        names = self._frames[0].column_names
        frame = pa.concat_tables([part.select(names) for part in self._frames])
        if self._starts is None:
            return Scanned(frame)
        return Scanned(frame, self._starts.span(), self._starts.differ())

    def _read_cells(self, records: Records) -> list[Any] | None:
        positions = [field.position for field in self._wanted]
        if self._starts is not None:
            positions.append(self._starts.field.position)
        places = self.block.cells(records, positions, self._cells)
        if self._starts is not None:
            self._starts.read(self.block, places.pop(), places[self._time])
        pieces = []
        for column, (starts, ends) in zip(self._columns, places, strict=True):
            piece = column.read(self.block, starts, ends)
            if piece is None:
                return None
            pieces.append(piece)
        return pieces

    def _frame_pieces(self) -> None:
        """Make a frame of what was read since the last one."""
        if self._pieces:
            columns: dict[str, pa.ChunkedArray] = {}
            for column, pieces in zip(self._columns, zip(*self._pieces, strict=True), strict=True):
                columns |= column.columns(pieces)
            self._frames.append(pa.table(columns))
            self._pieces = []
