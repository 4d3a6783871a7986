"""Tables of any length in little memory: blocks of rows wait in a temporary file, and columns are views of that file.

Such a table is one of Arrow like any other. Who goes through it with `blocks_of` has one block in memory at a time; who takes a whole column
has all of that. Sorting goes by blocks, too: each is sorted by itself, and then, window by window, some rows of each are merged.
"""

from __future__ import annotations

import mmap
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints, Mask, encoded, integers, keep_where, small, valid

BLOCK_ROWS = 1 << 16
"""So many rows are in memory at a time, and a table with fewer of them is in no file."""
_ALIGNED = 64
"""Arrow wants its numbers at multiples of this."""
_MARKS = 16
"""So many times of each block show where windows may end."""


class SpilledTable:
    """A table of words and numbers that grows block by block; what is written may be sorted by a column, block by block."""

    def __init__(self, key: str | None = None) -> None:
        self._key = key
        self._held: list[pa.Table] = []
        self._held_rows = 0
        self._blocks: list[dict[str, _Column]] = []
        self._file: IO[bytes] | None = None

    def add(self, rows: pa.Table) -> None:
        """Add rows behind all others."""
        for begin in range(0, max(1, rows.num_rows), BLOCK_ROWS):
            part = rows.slice(begin, BLOCK_ROWS)
            self._held.append(part)
            self._held_rows += part.num_rows
            if self._held_rows >= BLOCK_ROWS:
                self._write()

    def table(self) -> pa.Table:
        """All rows; those with `key` in chunks that are in its order."""
        if self._file is None:
            return self._joined()
        if self._held_rows:
            self._write()
        columns: dict[str, list[_Column]] = {name: [block[name] for block in self._blocks] for name in self._blocks[0]}
        words = {name: self._with_words_of_all(parts) for name, parts in columns.items() if parts[0].words is not None}
        self._file.flush()
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._file.close()
        _MAPPED.add(mapped)
        whole = pa.py_buffer(mapped)
        return pa.table(
            {
                name: pa.chunked_array([part.read(whole, words.get(name)) for part in parts])
                for name, parts in columns.items()
            }
        )

    def _joined(self) -> pa.Table:
        """What is held as one block."""
        table = pa.concat_tables(self._held).unify_dictionaries() if len(self._held) > 1 else self._held[0]
        return table if self._key is None else _sorted(table, self._key)

    def _write(self) -> None:
        block = self._joined().combine_chunks()
        self._held, self._held_rows = [], 0
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the table
        self._blocks.append({name: self._written(block[name]) for name in block.column_names})
        leave_pages()  # of which others this is a copy

    def _written(self, column: pa.ChunkedArray) -> _Column:
        column = encoded(column) if pa.types.is_string(column.type) else column
        there = None if column.null_count == 0 else self._put(np.packbits(valid(column), bitorder="little"))
        (chunk,) = column.chunks
        words = chunk.dictionary if pa.types.is_dictionary(column.type) else None
        values = chunk if words is None else chunk.indices
        return _Column(values.type, len(chunk), there, self._put(_seen(values)), words)

    def _put(self, numbers: np.ndarray[Any, Any]) -> tuple[int, int]:
        """Where the numbers are in the file from now on: (begin, length) in bytes."""
        assert self._file is not None
        try:
            begin = -(-self._file.seek(0, 2) // _ALIGNED) * _ALIGNED
            self._file.seek(begin)
            self._file.write(np.ascontiguousarray(numbers).data)
        except OSError as error:  # the file has no name: who reads this has to know which disk is full
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error
        return begin, numbers.nbytes

    def _with_words_of_all(self, parts: list[_Column]) -> pa.Array:
        """The words of all blocks; blocks whose numbers were those of other words get new ones."""
        assert self._file is not None
        numbered = [
            pa.DictionaryArray.from_arrays(np.arange(len(part.words), dtype=np.int32), part.words) for part in parts
        ]
        chunks = pa.chunked_array(numbered).unify_dictionaries().chunks
        for place, (part, chunk) in enumerate(zip(parts, chunks, strict=True)):
            numbers = chunk.indices.to_numpy()
            if (numbers != np.arange(len(numbers))).any():
                begin, length = part.numbers
                self._file.seek(begin)
                old = np.frombuffer(self._file.read(length), dtype=np.int32)
                known = np.append(numbers, np.int32(0))  # a null may have any number
                new = known[np.where((old >= 0) & (old < len(numbers)), old, len(numbers))]
                parts[place] = _Column(part.kind, part.rows, part.there, self._put(new), part.words)
        return chunks[0].dictionary


@dataclass(frozen=True, slots=True)
class _Column:
    """Where one column of a block is in the file."""

    kind: pa.DataType
    rows: int
    there: tuple[int, int] | None
    numbers: tuple[int, int]
    words: pa.Array | None

    def read(self, whole: pa.Buffer, words: pa.Array | None) -> pa.Array:
        """A view of the file."""
        buffers = [None if place is None else whole.slice(*place) for place in (self.there, self.numbers)]
        numbers = pa.Array.from_buffers(self.kind, self.rows, buffers)
        return numbers if words is None else pa.DictionaryArray.from_arrays(numbers, words, safe=False)


_MAPPED: WeakSet[mmap.mmap] = WeakSet()
"""The files of all tables that are in use."""


def leave_pages() -> None:
    """Let the system have the memory of what was read of the files; it is read again when it is needed."""
    if sys.platform == "linux":
        for mapped in _MAPPED:
            mapped.madvise(mmap.MADV_DONTNEED)


def blocks_of(table: pa.Table, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The rows of a table, some at a time; columns have one chunk. At least one block, be it empty."""
    chosen = table if names is None else table.select(list(names))
    batches = chosen.to_batches(max_chunksize=BLOCK_ROWS)
    if not batches:
        yield chosen
    for batch in batches:
        yield pa.Table.from_batches([batch])
        leave_pages()


def parts_of(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """The same of one column."""
    for block in blocks_of(pa.table({"": column})):
        yield block[""]


def ends_of(column: pa.ChunkedArray) -> tuple[int, int] | None:
    """The least and the largest of some whole numbers; None where there are none."""
    known = (values[there] for values, there in map(integers, parts_of(column)))
    ends = [(int(values.min()), int(values.max())) for values in known if len(values)]
    return (min(least for least, _ in ends), max(most for _, most in ends)) if ends else None


def rows_where(table: pa.Table, chosen: Callable[[pa.Table], Mask]) -> pa.Table:
    """The rows that a function of a block has as true in a mask; the table itself where these are all."""
    masks = [chosen(block) for block in blocks_of(table)]
    if all(mask.all() for mask in masks):
        return table
    kept = SpilledTable()
    for block, mask in zip(blocks_of(table), masks, strict=True):
        kept.add(block.filter(keep_where(mask)))
    return kept.table()


def in_order(table: pa.Table, key: str) -> pa.Table:
    """The rows that have a key, in its order; of equal ones the earlier is first. The table itself where that is so."""
    return table if _rises(table[key]) else sorted_by(blocks_of(table), key)


def _rises(column: pa.ChunkedArray) -> bool:
    last = None
    for part in parts_of(column):
        values, there = integers(part)
        if (
            not there.all()
            or (values[1:] < values[:-1]).any()
            or (last is not None and len(values) and values[0] < last)
        ):
            return False
        last = values[-1] if len(values) else last
    return True


def sorted_by(blocks: Iterable[pa.Table], key: str) -> pa.Table:
    """The rows of all blocks that have a key, in its order; of equal ones the earlier is first."""
    kept = SpilledTable(key)
    for block in blocks:
        kept.add(block)
    table = kept.table()
    runs = [run for batch in table.to_batches() if (run := pa.Table.from_batches([batch])).num_rows]
    if len(runs) <= 1:
        return runs[0] if runs else table
    bounds = _bounds(runs, key)
    edges = []
    for run in runs:
        keys = _seen(run[key].chunk(0))
        edges.append([0, *np.searchsorted(keys, bounds).tolist(), len(keys)])
        leave_pages()
    whole = SpilledTable()
    for window in range(len(bounds) + 1):
        parts = [
            run.slice(edge[window], edge[window + 1] - edge[window])
            for run, edge in zip(runs, edges, strict=True)
            if edge[window + 1] > edge[window]
        ]
        if parts:
            whole.add(_sorted(pa.concat_tables(parts), key))
    return whole.table()


def _bounds(runs: Sequence[pa.Table], key: str) -> Ints:
    """Keys that divide sorted blocks into windows of some BLOCK_ROWS rows; a key of more rows than that has a window of its own."""
    step, marks = max(1, BLOCK_ROWS // _MARKS), []
    for run in runs:
        marks += _seen(run[key].chunk(0))[::step].tolist()
        leave_pages()
    marks.sort()
    ends = marks[_MARKS::_MARKS]
    frequent = [end + 1 for before, end in zip(marks[::_MARKS], ends, strict=False) if before == end]
    return np.array(sorted({*ends, *frequent} - {marks[0]}), dtype=np.int64)


def _sorted(table: pa.Table, key: str) -> pa.Table:
    """The rows that have a key, in its order."""
    keys, there = integers(table[key])
    if not there.all():
        return _sorted(table.filter(keep_where(there)), key)
    if (keys[1:] >= keys[:-1]).all():
        return table
    return table.take(pa.array(np.argsort(small(keys), kind="stable")))


def _seen(chunk: pa.Array) -> Any:
    """Its numbers as a view of where they are."""
    kind = np.dtype(chunk.type.to_pandas_dtype())
    return np.frombuffer(chunk.buffers()[1], dtype=kind)[chunk.offset : chunk.offset + len(chunk)]
