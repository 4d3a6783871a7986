"""Columns of a large CSV file by the compiled reader, for files of which it proves that every row and cell is as exporters write them.

It takes slices of lines apart, and each wanted cell into a value of its column's kind; the rules on what odd text means stay in `convert`,
and where few columns are wanted a slice in which something is odd is left to `parse`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from aoe_reports.formats.convert import (
    LONGEST_NS,
    MAX_NS,
    WORDS,
    Converted,
    convert,
    is_counter,
    of_numbers,
    without_no_id,
)
from aoe_reports.formats.csv.parse import LARGE_BYTES, Parsed, read_name, text_type
from aoe_reports.formats.csv.rising import order_of
from aoe_reports.formats.csv.scan import OddBlocks, Scanned, is_plain, is_plain_header
from aoe_reports.formats.csv.slices import slices_of
from aoe_reports.formats.csv.structure import MARGIN, Block
from aoe_reports.formats.digest import sha256_from
from aoe_reports.formats.native import Buffer, buffer_at, library, texts_in
from aoe_reports.formats.table import NULL_TOKENS, Field
from aoe_reports.model.columns import valid
from aoe_reports.model.memory import give_back
from aoe_reports.model.thousandths import narrowed, widened

_WORDS, _INTEGER, _TIME, _NUMBER = range(4)
_KINDS = {"text": _WORDS, "integer": _INTEGER, "duration": _TIME, "timestamp": _TIME}
_LIMITS = {"duration": LONGEST_NS, "timestamp": MAX_NS}
_NUMPY = {_WORDS: np.int32, _INTEGER: np.int64, _TIME: np.int64, _NUMBER: np.float64}


def read_natively(
    path: Path, header_bytes: int, cells: int, wanted: Sequence[Field], *, hashed: bool
) -> tuple[pa.Table, str] | None:
    """(the wanted columns in their types, the file's SHA-256 if asked for); None where that is not proved, and for small files."""
    reader = _reader_for(path, header_bytes, cells, wanted)
    if reader is None:
        return None
    with path.open("rb") as file:
        header = file.read(header_bytes)
    table, digest, length = _Table(reader, cells, wanted), sha256_from(header) if hashed else None, header_bytes
    for block, end in slices_of(path, header_bytes):
        if not (end and table.read(block, end)):
            return None
        if digest is not None:
            digest.update(memoryview(block)[:end])
        length += end
    if length < path.stat().st_size:  # the last line has no end
        return None
    give_back()
    columns = {}
    for field, column in zip(wanted, table.columns(), strict=True):
        if column is None or (field.needed and not valid(column).all()):
            return None
        columns[field.name] = column
    return pa.table(columns), digest.hexdigest() if digest is not None else ""


def _reader_for(path: Path, header_bytes: int, cells: int, wanted: Sequence[Field]) -> ctypes.CDLL | None:
    """The compiled reader, where it may read such a file."""
    reader = library()
    if reader is None or path.stat().st_size < LARGE_BYTES or len({field.name for field in wanted}) < len(wanted):
        return None
    with path.open("rb") as file:
        return reader if cells > 1 and is_plain_header(file.read(header_bytes)) else None


def scan_natively(
    path: Path, header_bytes: int, cells: int, wanted: Sequence[Field], start: Field | None
) -> Scanned | None:
    """As `scan`, of any number of columns of words, whole numbers and times; None, too, where there is no compiled reader."""
    fields = [*wanted] if start is None or start in wanted else [*wanted, start]
    if not all(field.type in _KINDS for field in fields):
        return None
    reader = _reader_for(path, header_bytes, cells, fields)
    if reader is None:
        return None
    table = _Table(reader, cells, fields)
    odd = OddBlocks(cells, fields, [field for field in fields if field.type != "text"])
    length = header_bytes
    for block, end in slices_of(path, header_bytes):
        if not (end and (table.read(block, end) or _read_aside(table, odd, block, end, cells))):
            return None
        length += end
    if length < path.stat().st_size or not table.rows:
        return None
    give_back()
    frame = pa.table(table.parsed())
    span, differ = (None, False) if start is None else order_of(frame, start, fields)
    return Scanned(Parsed(frame, odd.ragged), table.rows + odd.newlines, span, differ)


def _read_aside(table: _Table, odd: OddBlocks, block: bytearray, end: int, cells: int) -> bool:
    """Read some lines as `parse` does, where that may be; what begins oddly goes on so, and is read as a whole."""
    if not (table.rows and _ends_quotes(block, end, cells)):
        return False
    frame = odd.read(bytes(memoryview(block)[:end]), table.rows + odd.rows)
    if frame is not None:
        table.set_aside(frame)
    return frame is not None


def _ends_quotes(block: bytearray, end: int, cells: int) -> bool:
    """Whether some lines are text of which no quote reaches beyond its line."""
    alone = Block(end)
    alone.data[MARGIN : MARGIN + end] = memoryview(block)[:end]
    return is_plain(alone, MARGIN + end) and alone.records(MARGIN + end, cells) is not None


class _Table:
    """A table in the memory of the library, which is freed when nothing is left that looks at it."""

    def __init__(self, reader: ctypes.CDLL, cells: int, wanted: Sequence[Field]) -> None:
        self._reader, self._wanted = reader, wanted
        asked = "\n".join(map(_asked, wanted)).encode()
        self._table = reader.table_open(cells, asked, len(asked))
        self._buffers = (Buffer * len(wanted))()
        self._chunks: list[list[pa.Array]] = [[] for _ in wanted]
        self._aside: list[tuple[int, pa.Table]] = []
        self.rows = 0
        """That it has taken in itself."""

    def __del__(self) -> None:
        self._reader.table_close(self._table)

    def read(self, block: bytearray, end: int) -> bool:
        """Take in some lines; whether nothing is odd about them."""
        rows = self._reader.table_read(self._table, pa.py_buffer(block).address, end, self._buffers)
        if rows < 0:
            return False
        self.rows += rows
        for field, buffer, chunks in zip(self._wanted, self._buffers, self._chunks, strict=True):
            chunks.append(_chunk(field, buffer, self))
        return True

    def set_aside(self, frame: pa.Table) -> None:
        """Keep the rows of lines that were read in another way where they belong."""
        self._aside.append((len(self._chunks[0]), frame))

    def parsed(self) -> dict[str, pa.ChunkedArray]:
        """The columns as those of `Parsed` are, with what was set aside."""
        self._reader.table_end(self._table, self._buffers)
        columns: dict[str, pa.ChunkedArray] = {}
        for field, buffer, chunks in zip(self._wanted, self._buffers, self._chunks, strict=True):
            words = texts_in(buffer, self)
            if field.type == "text":
                made = {str(field.position): [pa.DictionaryArray.from_arrays(chunk, words) for chunk in chunks]}
            else:
                nothing = [pa.nulls(len(chunk), text_type(field)) for chunk in chunks]
                made = {str(field.position): nothing, read_name(field): list(chunks)}
            for name, pieces in made.items():
                for place, frame in reversed(self._aside):
                    pieces[place:place] = frame[name].chunks
                columns[name] = pa.chunked_array(pieces)
            chunks.clear()
        return columns

    def columns(self) -> Iterator[pa.ChunkedArray | None]:
        """Each column as a whole, None where something is odd about its values; what was taken in goes as it is made."""
        self._reader.table_end(self._table, self._buffers)
        for field, buffer, chunks in zip(self._wanted, self._buffers, self._chunks, strict=True):
            yield _whole(field, chunks, texts_in(buffer, self))
            chunks.clear()


def _asked(field: Field) -> str:
    """A column as the library is asked for it."""
    nulls = NULL_TOKENS if field.type == "text" else (*NULL_TOKENS, *field.null_words)
    return "\t".join([f"{field.position} {_kind(field)} {field.factor} {_LIMITS.get(field.type, 0)}", *nulls])


def _kind(field: Field) -> int:
    """What the library makes of a column's cells; which words of an undeclared one are numbers is seen when all of them are there."""
    if field.type == "unknown":
        return _NUMBER if is_counter(field) else _WORDS
    return _KINDS.get(field.type, _NUMBER)


def _chunk(field: Field, buffer: Buffer, owner: object) -> pa.Array:
    """A column of the lines that were read last: numbers in as little room as they need, words by their numbers."""
    values = np.frombuffer(buffer_at(buffer.values, buffer.bytes, owner), dtype=_NUMPY[_kind(field)]).copy()
    there = None if not buffer.nulls else pa.py_buffer(ctypes.string_at(buffer.there, (len(values) + 7) // 8))
    if values.dtype == np.float64:
        values = narrowed(values)
    kind = pa.from_numpy_dtype(values.dtype)
    chunk = pa.Array.from_buffers(kind, len(values), [there, pa.py_buffer(values)])
    return without_no_id(pa.chunked_array([chunk])).chunk(0) if field.type == "integer" else chunk


def _whole(field: Field, chunks: list[pa.Array], words: pa.Array) -> pa.ChunkedArray | None:
    """The column that chunks of it make; None where something is odd about its values."""
    kind = _kind(field)
    if kind == _WORDS:
        numbers = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.concat_arrays(chunks), words)])
        return _plain(convert(numbers, replace(field, null_words=())))  # (which are null already)
    if kind != _NUMBER:
        return pa.chunked_array(chunks)
    if field.type == "unknown" and all(chunk.null_count == len(chunk) for chunk in chunks):
        return pa.chunked_array([pa.nulls(sum(map(len, chunks)), WORDS)])
    chunks.reverse()
    typed = [_plain(_of_narrowed(chunks.pop(), field)) for _ in range(len(chunks))]
    return (
        None if None in typed else pa.chunked_array([piece for one in typed if one is not None for piece in one.chunks])
    )


def _of_narrowed(chunk: pa.Array, field: Field) -> Converted:
    there = valid(pa.chunked_array([chunk]))
    values = widened(np.frombuffer(chunk.buffers()[1], dtype=chunk.type.to_pandas_dtype()))
    return of_numbers(values, there, np.zeros(len(there), dtype=bool), field)


def _plain(converted: Converted) -> pa.ChunkedArray | None:
    """A column in which nothing is odd."""
    return None if converted.bad.any() else converted.column
