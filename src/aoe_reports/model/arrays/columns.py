"""Arrow columns as numpy arrays and back.

Arrays of numpy become columns without a copy: `pa.array` takes 4 ms for a million numbers with a mask, and this 0.1.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from operator import mul
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Ints = np.ndarray[Any, np.dtype[np.int64]]
"""Whole numbers; those that count words are narrower."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


def integers(column: pa.ChunkedArray) -> tuple[Ints, Mask]:
    """An int64 column as (values, where there is one); values where there is none mean nothing."""
    return _values(column, np.dtype(np.int64)), valid(column)


def floats(column: pa.ChunkedArray) -> tuple[Floats, Mask]:
    """A float64 column as (values, where there is one)."""
    return _values(column, np.dtype(np.float64)), valid(column)


def holds_negative(column: pa.ChunkedArray) -> bool:
    """Whether a column of numbers has one below 0."""
    least = pc.min(column).as_py()
    return least is not None and least < 0


def valid(column: pa.ChunkedArray) -> Mask:
    """Where a column has a value."""
    if column.null_count == 0:
        return np.ones(len(column), dtype=bool)
    return bits(column.is_valid())


def bits(column: pa.ChunkedArray) -> Mask:
    """A boolean column as a mask, null as false."""
    parts = []
    for chunk in column.chunks:
        validity, values = chunk.buffers()
        part = _unpacked(values, chunk.offset, len(chunk))
        parts.append(part if validity is None else part & _unpacked(validity, chunk.offset, len(chunk)))
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


class Dictionary(Sequence[str]):
    """The distinct words of a column. Each becomes a `str`, which takes twice the memory, only when it is read."""

    def __init__(self, words: pa.Array) -> None:
        self.column = words

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return [self[one] for one in range(start, stop, step)]
        word: str = self.column[int(place)].as_py()
        return word

    def __iter__(self) -> Iterator[str]:
        parts = (self.column.slice(start, _AT_ONCE) for start in range(0, len(self), _AT_ONCE))
        return chain.from_iterable(part.to_pylist() for part in parts)


_AT_ONCE = 1 << 14
_ONE = np.int32(1)
_NO_WORDS = pa.nulls(0, pa.string())


def encoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of words with a dictionary: for those who ask it more than once."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def codes(column: pa.ChunkedArray) -> tuple[Ints, Dictionary]:
    """A column of words as (each row's number among the distinct words, counted from 1, 0 for null; those words)."""
    column = encoded(column)
    if column.num_chunks == 0:
        return np.zeros(0, dtype=np.int32), Dictionary(_NO_WORDS)
    if column.num_chunks > 1:
        column = column.unify_dictionaries()
    indices = pa.chunked_array([chunk.indices for chunk in column.chunks])
    numbers: Ints = (
        _ONE + _seen(indices.chunk(0), _ONE.dtype) if indices.num_chunks == 1 else _ONE + _values(indices, _ONE.dtype)
    )
    if indices.null_count:
        numbers[~valid(indices)] = 0
    return numbers, Dictionary(column.chunk(0).dictionary)


def occurring(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of words whose dictionary has none that does not occur."""
    column = encoded(column)
    if column.num_chunks == 0:
        return column
    # chunk by chunk: what is made of one takes twice what it holds
    chunks = column.unify_dictionaries().chunks
    words = chunks[0].dictionary
    used: Mask = np.zeros(len(words), dtype=bool)
    for chunk in chunks:
        numbers, there = _numbers_of(chunk)
        used |= _occurs(numbers if there is None else numbers[there], len(words))
    places: Ints = (np.cumsum(used) - 1).astype(np.int32)
    kept = words.filter(keep_where(used))
    return pa.chunked_array([_renumbered(chunk, places, kept) for chunk in chunks])


def _numbers_of(chunk: pa.DictionaryArray) -> tuple[Ints, Mask | None]:
    """(the indices of its words; where they are valid, None for everywhere)."""
    there = valid(pa.chunked_array([chunk])) if chunk.null_count else None
    return _seen(chunk.indices, _ONE.dtype), there


def _renumbered(chunk: pa.DictionaryArray, places: Ints, words: pa.Array) -> pa.DictionaryArray:
    """The same words with the indices of another dictionary."""
    numbers, there = _numbers_of(chunk)
    if there is None:
        return column_of_words(places.take(numbers), np.ones(len(numbers), dtype=bool), words).chunk(0)
    renumbered: Ints = np.zeros(len(numbers), dtype=np.int32)
    renumbered[there] = places.take(numbers[there])
    return column_of_words(renumbered, there, words).chunk(0)


class WordMap:
    """A function of words, applied to columns: each distinct word is evaluated once while dictionaries grow at their end."""

    def __init__(self, tell: Callable[[str], int], none: int = 0, kind: Any = np.bool_) -> None:
        self._tell = tell
        self._words = _NO_WORDS
        self._told = np.asarray([none], dtype=kind)
        """By the number of a word, as `codes` has them."""

    def by(self, column: pa.ChunkedArray) -> Any:
        """The value of the word of each row; `none` where there is none."""
        return self.of(codes(column))

    def of(self, column: tuple[Ints, Dictionary]) -> Any:
        """The same for a column, or some rows of one, as `codes` gives it."""
        numbers, words = column
        if not words.column.slice(0, len(self._words)).equals(self._words):
            self._told = self._told[:1]
        self._words = words.column
        self._learn(words, numbers)
        return self._told.take(numbers)

    def _learn(self, words: Dictionary, numbers: Ints) -> None:
        """Evaluate the words that are new."""
        del numbers
        fresh = Dictionary(words.column.slice(len(self._told) - 1))
        if len(fresh):
            self._told = np.concatenate([self._told, np.asarray([*map(self._tell, fresh)], dtype=self._told.dtype)])


class LazyWordMap(WordMap):
    """The same, but only words that occur in a row are evaluated."""

    def __init__(self, tell: Callable[[str], int], none: int = 0, kind: Any = np.bool_) -> None:
        super().__init__(tell, none, kind)
        self._asked: Mask = np.ones(1, dtype=bool)

    def _learn(self, words: Dictionary, numbers: Ints) -> None:
        self._asked = _lengthened(self._asked[: len(self._told)], len(words) + 1)
        self._told = _lengthened(self._told, len(words) + 1)
        if not self._asked.take(numbers).all():
            fresh = np.flatnonzero(_occurs(numbers, len(words) + 1) & ~self._asked)
            self._told[fresh] = [self._tell(words[number - 1]) for number in fresh.tolist()]
            self._asked[fresh] = True


def _lengthened(values: Any, length: int) -> Any:
    return (
        np.concatenate([values, np.zeros(length - len(values), dtype=values.dtype)]) if len(values) < length else values
    )


def _occurs(numbers: Ints, count: int) -> Mask:
    """Which whole numbers below `count` occur."""
    occurs = np.zeros(count, dtype=bool)
    for start in range(0, len(numbers), _AT_ONCE):
        occurs[numbers[start : start + _AT_ONCE]] = True
    return occurs


class Numbering(dict[str, int]):
    """Words numbered from 0 in the order in which they are first looked up: `numbering[word]`; `numbering.words[number]` is the way back."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.words.append(word)
        return number


def rising(values: Ints) -> Ints:
    """The values in order. Times are nearly sorted, in a few runs: a stable sort merges those in a tenth of the time."""
    return np.sort(values, kind="stable")


def in_order(values: Ints) -> Ints:
    """The values in order: the very same where they are."""
    return values if (values[1:] >= values[:-1]).all() else rising(values)


def order_by(first: Ints, *others: Ints) -> Ints:
    """The order of rows by some columns, the first before the others; of equal rows the earlier. Only rows of equal firsts are sorted by others.

    Of 900,000 times in two runs, of which 900 are equal, it takes 7 ms, and `np.lexsort` with one more column 118.
    """
    order = np.argsort(first, kind="stable")
    ordered = first[order]
    equal = np.zeros(len(order) + 1, dtype=bool)
    np.equal(ordered[1:], ordered[:-1], out=equal[1:-1])
    tied = np.flatnonzero(equal[1:] | equal[:-1]) if len(order) else order
    if len(tied):
        rows = order[tied]
        order[tied] = rows[np.lexsort((*(column[rows] for column in reversed(others)), first[rows]))]
    return order


def last_until(times: Ints, wanted: Ints, first: Ints, behind: Ints) -> Ints:
    """The place of the last of some times that is not later than each wanted one, among those from `first` to before `behind`.

    Times rise there; where all of them are later, the place is that before `first`.
    """
    last = behind - 1
    rest = np.flatnonzero((last >= first) & (times[last] > wanted)) if len(times) else last[:0]
    low, high, until = first[rest], last[rest], wanted[rest]
    while len(rest):
        middle = (low + high) // 2
        later = times[middle] > until
        high, low = np.where(later, middle, high), np.where(later, low, middle + 1)
        decided = low >= high
        last[rest[decided]] = low[decided] - 1
        rest, low, high, until = (column[~decided] for column in (rest, low, high, until))
    return last


def distinct(values: Ints) -> Ints:
    """The values, each once, in order. Of 700,000 that differ it takes 16 ms and `np.unique`, which hashes them, 890; of five that repeat 3 and 18."""
    ordered = rising(values)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def first_of_each(ordered: Ints) -> tuple[Ints, Ints]:
    """(values that rise, each once; where each begins, and last how many there are)."""
    firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else ordered[:0]
    return ordered[firsts], np.append(firsts, len(ordered)).astype(np.int64)


def distinct_places(values: Ints) -> tuple[Ints, Ints]:
    """(the values, each once, in order; the place of each value among them). It takes a tenth of `np.unique`."""
    if not len(values):
        return values, np.zeros(0, dtype=np.int64)
    least, most = int(values.min()), int(values.max())
    place = np.empty(len(values), dtype=np.int64)
    if most - least > _SPARSE * len(values):
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        first = np.append(True, ordered[1:] != ordered[:-1])
        place[order] = np.cumsum(first) - 1
        return ordered[first], place
    there = np.zeros(most - least + 1, dtype=bool)
    there[values - least] = True
    np.take(np.cumsum(there) - 1, values - least, out=place)
    return np.flatnonzero(there) + least, place


_SPARSE = 4


def small(numbers: Ints) -> np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]:
    """Whole numbers as small as they can be, in the same order: those of 16 bits are sorted digit by digit."""
    if not len(numbers):
        return numbers.astype(np.uint8)
    least = int(numbers.min())
    return (numbers - least).astype(np.min_scalar_type(int(numbers.max()) - least))


def places_by(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Each number that occurs, in order, with its indices. A million numbers of a dozen take 6 ms."""
    if not len(numbers):
        return
    order = np.argsort(small(numbers), kind="stable")
    ordered = numbers[order]
    firsts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    yield from zip(ordered[np.append(0, firsts)].tolist(), np.split(order, firsts), strict=True)


def distinct_rows(*columns: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """(the rows of some columns that differ, in order, column by column; the place of each row among them).

    Of 300,000 rows of two columns it takes 74 ms, and `np.unique` along an axis 1,070.
    """
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(first) - 1
    return tuple(column[first] for column in ordered), place


def is_among(values: Ints, ordered: Ints) -> Mask:
    """Which values are among sorted ones. For 700,000 among 350,000 it takes 55 ms, and `np.isin`, which sorts both, 560."""
    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    return _searched(values, ordered)[1]


def _searched(values: Ints, ordered: Ints) -> tuple[Ints, Mask]:
    """(the index of each value among sorted ones, of which there is at least one; whether it is there)."""
    place = np.searchsorted(ordered, values)
    place[place == len(ordered)] = 0
    is_there: Mask = ordered[place] == values
    return place, is_there


class PlacesAmong:
    """The indices of values among sorted distinct ones: by a table where these are dense, else by binary search.

    For 1.9 million values among a million it takes 15 ms by the table, and a search 43.
    """

    def __init__(self, ordered: Ints) -> None:
        self._ordered = ordered
        self._least, most = (int(ordered[0]), int(ordered[-1])) if len(ordered) else (0, -1)
        self._width = most - self._least + 1
        self._table: Ints | None = None
        if self._width <= _SPARSE * len(ordered):
            self._table = np.full(self._width + 1, -1, dtype=np.int64)  # the last stands for all others
            self._table[ordered.astype(np.int64) - self._least] = np.arange(len(ordered))

    def of(self, values: Ints) -> tuple[Ints, Mask]:
        """(the place of each value, anything where it is not among them; whether it is)."""
        if self._table is None:
            return _searched(values, self._ordered)
        at = values.astype(np.int64) - self._least
        at[(at < 0) | (at >= self._width)] = self._width
        places = self._table.take(at)
        return places, places >= 0


def sums_by(groups: Ints, values: Ints, count: int) -> Ints:
    """The sum of the values of each of `count` groups; `groups` has the group of each value."""
    sums: Ints = np.zeros(count, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums


def exact_sums_by(groups: Ints, values: Ints, count: int) -> Ints:
    """The same whatever the size of the sums: as Python's integers where 64 bits may be too few."""
    if len(values) and max(abs(int(values.max())), abs(int(values.min()))) * len(values) >= _INT64_MAX:
        sums: Ints = np.zeros(count, dtype=object)
        np.add.at(sums, groups, values.astype(object))
        return sums
    return sums_by(groups, values, count)


def exact_sum(values: Ints, times: Ints | None = None) -> int:
    """The exact sum of integers of any size; `times` are their weights."""
    if not len(values):
        return 0
    largest = max(abs(int(values.max())), abs(int(values.min())))
    if values.dtype != object and largest * (len(values) if times is None else int(times.sum())) < _INT64_MAX:
        return int(values.sum(dtype=np.int64) if times is None else np.dot(values, times))
    return sum(values.tolist()) if times is None else sum(map(mul, values.tolist(), times.tolist()))


_INT64_MAX = 2**63 - 1


def words_in(column: pa.ChunkedArray, wanted: Collection[str]) -> Mask:
    """Where a column of words holds one of these."""
    return coded_in(codes(column), wanted)


def coded_in(column: tuple[Ints, Sequence[str]], wanted: Collection[str]) -> Mask:
    """Where a column of words, as `codes` gives it, holds one of these."""
    numbers, words = column
    hits = [number for number, word in enumerate(words, 1) if word in wanted]
    if len(hits) > _FEW:
        return np.asarray([False, *(word in wanted for word in words)]).take(numbers)
    mask = np.zeros(len(numbers), dtype=bool)
    for hit in hits:
        mask |= numbers == hit
    return mask


_FEW = 4
"""So many comparisons take less time than to look up each row (9 us each for 65,536 rows, against 87)."""


def has_value(frame: pa.Table | SomeRows, name: str) -> bool:
    """Whether a frame has this column, with a value somewhere."""
    return name in frame.column_names and bool(valid(frame[name]).any())


def column_of(values: Ints | Floats, mask: Mask) -> pa.ChunkedArray:
    """int64 or float64 values as a column, null where `mask` is false."""
    kind = pa.int64() if values.dtype == np.int64 else pa.float64()
    validity = None if mask.all() else _packed(mask)
    buffers = [validity, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.chunked_array([pa.Array.from_buffers(kind, len(values), buffers)])


def column_of_words(numbers: Ints, mask: Mask, words: pa.Array) -> pa.ChunkedArray:
    """Words by their int32 number, counted from 0, as a column; null where `mask` is false."""
    validity = None if mask.all() else _packed(mask)
    known = numbers if validity is None else np.where(mask, numbers, 0)
    places = pa.Array.from_buffers(pa.int32(), len(numbers), [validity, pa.py_buffer(np.ascontiguousarray(known))])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, words)])


def words_told(column: pa.ChunkedArray, tell: Callable[[str], str | None]) -> pa.ChunkedArray:
    """A function of words as a column of words; each distinct word is evaluated once."""
    column = encoded(column).unify_dictionaries()
    words = list(codes(column.slice(0, 1))[1])
    texts = [*map(tell, words)]
    if texts == words:
        return column
    place = {word: number for number, word in enumerate(dict.fromkeys(word for word in texts if word is not None))}
    places: Ints = np.array([-1, *(-1 if word is None else place[word] for word in texts)], dtype=np.int32)
    known = values_of(list(place)) if place else pa.nulls(0, pa.string())
    told = (places[codes(pa.chunked_array([chunk]))[0]] for chunk in column.chunks)
    chunks = [column_of_words(numbers, numbers >= 0, known).chunk(0) for numbers in told]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))


def scalar(value: str | int) -> pa.Scalar:
    """A word or a whole number as what Arrow compares with."""
    return values_of([value])[0]


def values_of(values: Sequence[str | int]) -> pa.Array:
    """Words or whole numbers as a column; a name that is not valid UTF-8 keeps its bytes."""
    if not isinstance(values[0], str):
        return pa.array(values, pa.int64())
    return pa.array([str(value).encode(errors="surrogatepass") for value in values], pa.binary()).view(pa.string())


def cells_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values or None as a column of texts, int64 or float64; bytes of a text that are not UTF-8 become question marks."""
    if all(value is None for value in values):
        return pa.nulls(len(values), kind)
    if pa.types.is_string(kind):
        raw = [value if value is None else value.encode(errors="replace") for value in values]
        return pa.array(raw, pa.binary()).view(kind)
    code = (
        "q" if pa.types.is_integer(kind) else "d"
    )  # an error for what is no such number: `pa.array` cuts fractions off
    numbers = np.asarray(array(code, [0 if value is None else value for value in values]))
    return pa.array(numbers, kind, mask=np.array([value is None for value in values], dtype=bool))


class SomeRows:
    """Some rows of a table (None: all), as a table; a column is copied when it is read."""

    def __init__(self, table: pa.Table | SomeRows, rows: Mask | None) -> None:
        self._table = table
        self._rows = None if rows is None else keep_where(rows)
        self.num_rows: int = table.num_rows if rows is None else int(rows.sum())

    @property
    def column_names(self) -> list[str]:
        """The names of the table's columns."""
        names: list[str] = self._table.column_names
        return names

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """One column of these rows."""
        return self._table[name] if self._rows is None else self._table[name].filter(self._rows)


def keep_where(mask: Mask) -> pa.Array:
    """A mask as what `Table.filter` takes."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, _packed(mask)])


def _values(column: pa.ChunkedArray, kind: np.dtype[Any]) -> Any:
    parts = [_seen(chunk, kind) for chunk in column.chunks]
    return parts[0].copy() if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=kind), *parts])


def _seen(chunk: pa.Array, kind: np.dtype[Any]) -> Any:
    """Its numbers as a view of Arrow's memory."""
    if not len(chunk):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(chunk.buffers()[1], dtype=kind)[chunk.offset : chunk.offset + len(chunk)]


def _packed(mask: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def _unpacked(buffer: pa.Buffer, offset: int, length: int) -> Mask:
    raw = np.frombuffer(buffer, dtype=np.uint8)
    return np.unpackbits(raw, count=offset + length, bitorder="little")[offset:].astype(bool)


def whole_numbers(column: pa.Array, rows: Mask, judge: Callable[[str], int | None]) -> tuple[Ints, Mask]:
    """Some rows of a column of digits as whole numbers, and where there is one; of others, and of long ones, `judge` says which."""
    known = valid(pa.chunked_array([column]))
    there = rows & known
    offsets, data = texts_of(column)
    lengths = np.diff(offsets)
    is_digit = (data >= _ZERO) & (data <= _NINE)
    short = (lengths > 0) & (lengths <= _SURE_DIGITS)
    if short[known].all() and is_digit[offsets[0] : offsets[-1]].all():  # nearly always, in half the time
        return _values(pa.chunked_array([pc.cast(column, pa.int64())]), np.dtype(np.int64)), there
    digits = np.concatenate([[0], np.cumsum(is_digit)])
    plain = there & short & (digits[offsets[1:]] - digits[offsets[:-1]] == lengths)
    values = np.zeros(len(column), dtype=np.int64)
    if plain.any():
        values[plain] = _values(
            pa.chunked_array([pc.cast(column.filter(keep_where(plain)), pa.int64())]), np.dtype(np.int64)
        )
    others = there & ~plain
    for place, text in zip(np.flatnonzero(others).tolist(), column.filter(keep_where(others)).to_pylist(), strict=True):
        judged = judge(text)
        values[place], there[place] = judged or 0, judged is not None
    return values, there


_SURE_DIGITS = 18
"""So many fit an int64."""
_ZERO, _NINE = np.uint8(ord("0")), np.uint8(ord("9"))


def texts_of(column: pa.Array) -> tuple[Any, Any]:
    """(where each text of a column begins, and the last ends; the bytes)."""
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return begins, np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
