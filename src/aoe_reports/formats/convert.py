"""Turns columns of text into columns of their declared type, and says of which cells that was not possible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.table import NO_ID, Field, split_unit
from aoe_reports.model.arrays.columns import (
    Floats,
    Ints,
    Mask,
    bits,
    codes,
    column_of,
    column_of_words,
    floats,
    integers,
    keep_where,
    valid,
)

LONGEST_NS = 2**50
"""Thirteen days: nothing that is measured takes longer, and sums of 8,000 such times still fit into 64 bits."""
_WRAPPED_FROM_NS = 2.0**63
_WRAPPED_TO_NS = 2.0**64 * 1.001
_NEARLY_HALF = 0.4999
MAX_NS = 2**62
"""146 years: no point in time is later."""
_MAX_INTEGER = 2**63
_EXACT_IN_FLOAT = 2.0**53
_EXPONENTS = 30
_MICROSECOND = 1000
_PLAIN_STAMP = r"^(\d{1,15}|[1-8]\d{15})(\.\d{1,6})?$"
_EXPORTED_STAMP = r"^(\d{1,15}|[1-8]\d{15})\.\d{3}$"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*$"
_NUMBER_TEXT = re.compile(_NUMBER, re.ASCII)
_INTEGER_TEXT = re.compile(r"^\s*[+-]?\d{1,40}\s*$", re.ASCII)
_MANGLED = r"^\s*-?[\d.]+e\+\d\s*$"
"""Exporters of 2022-09 to 2023-11 cut the trailing zeros off every number, 1e+20 among them: 1e+2 may be anything."""
_MANGLED_TEXT = re.compile(_MANGLED, re.ASCII)

WORDS = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class Converted:
    """A column in its type (null where a cell was not of it), and which cells those were."""

    column: pa.ChunkedArray
    bad: Mask
    wrapped: Mask | None = None
    """Where a negative difference had wrapped around 2**64 (null, too)."""


def arrow_type(field: Field) -> pa.DataType:
    """What a column of a frame is; of unknown columns the values decide between words and numbers."""
    if field.type in {"text", "unknown"}:
        return WORDS
    return pa.float64() if field.type in {"number", "share"} else pa.int64()


def fits(cell: str, field: Field) -> bool:
    """Whether one cell can stand in this column."""
    if field.type in {"text", "unknown"} or cell.strip() in {"", "N/A", *field.null_words}:
        return True
    return bool(_NUMBER_TEXT.match(cell)) and not _MANGLED_TEXT.match(cell)


def convert(column: pa.ChunkedArray, field: Field) -> Converted:
    """A text column (null where the exporter wrote so) as its type."""
    if field.null_words and field.type != "text":
        column = _without(column, field.null_words)
    if field.type == "text":
        return Converted(_unquoted(column) if field.name.endswith("_shapes") else column, _none_of(column))
    if field.type == "unknown":
        return _numbers_or_words(column, counter=is_counter(field))
    if field.type == "timestamp":
        return Converted(*_exact_nanoseconds(column, field.factor))
    return _measured(column, field)


def convert_rest(column: pa.ChunkedArray, read: pa.ChunkedArray, field: Field) -> Converted:
    """As `convert`, of a column of which `read` holds the whole numbers that its plain cells make."""
    if read.null_count == 0:
        return Converted(read, _none_of(column))
    values, done = integers(read)
    rest = convert(column.filter(keep_where(~done)), field)
    bad = ~done
    wrapped = None if rest.wrapped is None else bad.copy()
    there = done.copy()
    values[~done], there[~done] = integers(rest.column)
    bad[~done] = rest.bad
    if wrapped is not None:
        wrapped[~done] = rest.wrapped
    return Converted(column_of(values, there), bad, wrapped)


def _measured(column: pa.ChunkedArray, field: Field) -> Converted:
    """A column of numbers, by what they count."""
    if field.type == "duration" and (plain := _plain_durations(column, field.factor)) is not None:
        return plain
    if field.type == "integer" and (whole := _plain_integers(column)) is not None:
        return whole
    values, good, bad = _numbers(column)
    if field.type == "integer":
        return Converted(*_integers(column, values, good, bad))
    if field.type == "duration":
        return _durations(column, values, good, bad, field)
    return of_numbers(values, good, bad, field)


def of_numbers(values: Floats, good: Mask, bad: Mask, field: Field) -> Converted:
    """Numbers as a column of sizes, shares, or what they are."""
    if field.type == "size":
        return Converted(*_sizes(values, good, bad, field.factor))
    return Converted(column_of(_shares(values) if field.type == "share" else values, good), bad)


def _shares(percentages: Floats) -> Floats:
    """Percentages as parts of 1, each the float64 next to what is printed: 17.008 is itself none, 17008000 is."""
    whole = np.rint(percentages * _MILLIONTHS)
    printed = (np.abs(whole) < _EXACT_IN_FLOAT) & (np.abs(percentages * _MILLIONTHS - whole) < _NOISE_OF_PRODUCTS)
    return np.where(printed, whole / (100 * _MILLIONTHS), percentages / 100)


_MILLIONTHS = 1e6
_NOISE_OF_PRODUCTS = 1e-4


def _none_of(column: pa.ChunkedArray) -> Mask:
    return np.zeros(len(column), dtype=bool)


def _without(column: pa.ChunkedArray, words: tuple[str, ...]) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return _without(column.cast(pa.string()), words).dictionary_encode()
    pattern = "^(" + "|".join(re.escape(word) for word in words) + ")$"
    hit = bits(pc.match_substring_regex(column, pattern))
    if not hit.any():
        return column
    return pc.if_else(keep_where(~hit), column, pc.cast(pa.nulls(1), pa.string())[0])


def is_counter(field: Field) -> bool:
    """Whether an undeclared column's name says that it holds numbers."""
    return bool(split_unit(field.header)[1]) or field.name.startswith(_COUNTERS)


_COUNTERS = ("aic_", "aiv_", "aicore_")


def _numbers_or_words(column: pa.ChunkedArray, *, counter: bool) -> Converted:
    """An undeclared column: numbers where most of its cells are some or its name says so (PMU counters), else words."""
    there = valid(column)
    if not there.any():
        return Converted(column, _none_of(column))
    values, good, bad = _numbers_of_words(column, there)
    if good.sum() <= bad.sum() and not (counter and good.any()):
        return Converted(column, _none_of(column))
    return Converted(column_of(values, good), bad)


def _numbers_of_words(column: pa.ChunkedArray, there: Mask) -> tuple[Floats, Mask, Mask]:
    """As `_numbers`, of words that repeat: each is looked at once (ratios of three decimals are a thousand)."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    unified = column.unify_dictionaries()
    values, good, bad = _numbers(pa.chunked_array([unified.chunk(0).dictionary]))
    places = np.concatenate(
        [
            np.frombuffer(chunk.indices.buffers()[1], dtype=np.int32)[chunk.offset : chunk.offset + len(chunk)]
            for chunk in unified.chunks
            if len(chunk)
        ]
    )
    places = np.where(there, places, 0)
    return values[places] * there, good[places] & there, bad[places] & there


def _unquoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Shapes without the one pair of quotes that both exporters put around them; an empty shape is null."""
    if not column.num_chunks:
        return column
    column = column.unify_dictionaries()  # blocks repeat their words: each is looked at once
    numbers, words = codes(column)
    opened = pc.replace_substring_regex(column.chunk(0).dictionary, '^"', "")
    texts = pc.replace_substring_regex(opened, '"$', "")
    empty = [number for number, word in enumerate(words, start=1) if word in {"", '"', '""'}]
    # a null belongs into the rows, not among the words: Parquet takes no such dictionary
    there = (numbers > 0) & ~np.isin(numbers, empty) if empty else numbers > 0
    return column_of_words(numbers - 1, there, texts)


def _plain_integers(column: pa.ChunkedArray) -> Converted | None:
    """Whole numbers without a surprise; None where one is odd (Arrow's own cast would take hexadecimal ones, too)."""
    if column.null_count or _holds(column, b"x") or _holds(column, b"X"):
        return None
    try:
        whole = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return Converted(without_no_id(whole), _none_of(column))


def without_no_id(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of whole numbers in which what stands for none is null."""
    whole, there = integers(column)
    is_id = whole != NO_ID
    return column if is_id.all() else column_of(whole, there & is_id)


def _integers(column: pa.ChunkedArray, values: Floats, good: Mask, bad: Mask) -> tuple[pa.ChunkedArray, Mask]:
    """Whole numbers, exact beyond the 53 bits of a float; one that needs more than 63 bits is bad."""
    broken = good & (np.rint(values) != values)
    large = good & ~broken & (np.abs(values) >= _EXACT_IN_FLOAT)
    good = good & ~broken & ~large & (values != NO_ID)
    whole = np.where(good, values, 0).astype(np.int64)
    if large.any():
        for row in np.flatnonzero(large):
            text = column[int(row)].as_py()
            exact = int(text) if _INTEGER_TEXT.match(text) else _MAX_INTEGER
            if -_MAX_INTEGER <= exact < _MAX_INTEGER:
                whole[row], good[row] = exact, True
            else:
                broken[row] = True
    return column_of(whole, good), bad | broken


def _sizes(values: Floats, good: Mask, bad: Mask, factor: int) -> tuple[pa.ChunkedArray, Mask]:
    """Numbers of one unit of size as whole bytes."""
    whole = np.rint(values * factor)
    too_large = good & (np.abs(whole) >= MAX_NS)
    good = good & ~too_large
    return column_of(np.where(good, whole, 0).astype(np.int64), good), bad | too_large


def _plain_durations(column: pa.ChunkedArray, factor: int) -> Converted | None:
    """Durations without a surprise as whole nanoseconds, block by block in the cache; None where one is odd."""
    whole = np.empty(len(column), dtype=np.int64)
    buffer = np.empty(max((len(chunk) for chunk in column.chunks), default=0))
    end = 0
    for chunk in column.chunks:
        if not len(chunk):
            continue
        data = chunk.buffers()[2]
        if chunk.null_count or data is None or b"e+" in data.to_pybytes():
            return None
        try:
            numbers = chunk.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        start, end = end, end + len(chunk)
        part = buffer[: len(chunk)]
        values = np.frombuffer(numbers.buffers()[1], dtype=np.float64)[numbers.offset : numbers.offset + len(chunk)]
        np.multiply(values, factor, out=part)
        if not (part.min() >= 0 and part.max() < LONGEST_NS):  # NaN compares with nothing
            return None
        whole[start:end] = np.rint(part)
        part -= whole[start:end]
        if max(part.max(), -part.min()) > _NEARLY_HALF:
            return None
    everywhere = np.ones(len(column), dtype=bool)
    return Converted(column_of(whole, everywhere), ~everywhere)


def _durations(column: pa.ChunkedArray, values: Floats, good: Mask, bad: Mask, field: Field) -> Converted:
    """Numbers of one unit of time as whole nanoseconds; what is longer than LONGEST_NS is bad."""
    values *= field.factor
    halves = good & (np.abs(values - np.rint(values)) > _NEARLY_HALF)
    for row in np.flatnonzero(halves):  # a float cannot tell on which side of the half it stands
        exact = nanoseconds(column[int(row)].as_py().strip(), field.factor)
        values[row] = values[row] if exact is None else exact
    if values.size and values.min() < 0:
        # a negative part of a nanosecond must not become 0, where it would pass for a duration
        values = np.where(values < 0, np.trunc(values) if field.is_rest else np.floor(values), values)
    np.rint(values, out=values)
    wrapped = None
    if values.size and max(values.max(), -values.min()) >= LONGEST_NS:
        if field.wraps:
            wrapped = good & (values >= _WRAPPED_FROM_NS) & (values <= _WRAPPED_TO_NS)
            good = good & ~wrapped
            values[wrapped] = 0
        too_large = np.abs(values) >= LONGEST_NS
        good, bad = good & ~too_large, bad | too_large
        values[too_large] = 0
    return Converted(column_of(values.astype(np.int64), good), bad, wrapped)


def _numbers(column: pa.ChunkedArray) -> tuple[Floats, Mask, Mask]:
    """Text as float64: (values, 0 where there is none; where there is one; where the text is no finite number)."""
    there = valid(column)
    try:
        values, _ = floats(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        parts = [_numbers_that_fit(pa.chunked_array([chunk])) for chunk in column.chunks]
        values = np.concatenate([part for part, _ in parts])
        fitting = np.concatenate([mask for _, mask in parts])
    else:
        fitting = there
    good = fitting & np.isfinite(values)
    if _holds(column, b"e+"):
        good &= ~bits(pc.match_substring_regex(column, _MANGLED))
    if not good.all():
        values = np.where(good, values, 0.0)
    return values, good, there & ~good


def _holds(column: pa.ChunkedArray, word: bytes) -> bool:
    """Whether a word occurs in the text of a column (or across two of its cells)."""
    return any(data.to_pybytes().find(word) >= 0 for chunk in column.chunks if (data := chunk.buffers()[2]) is not None)


def _numbers_that_fit(column: pa.ChunkedArray) -> tuple[Floats, Mask]:
    """(values, where the text is a decimal number) of one block; only a block with other text is looked at closely."""
    try:
        return floats(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        fitting = bits(pc.match_substring_regex(column, _NUMBER))
        values = np.zeros(len(column))
        values[fitting], _ = floats(pc.utf8_trim_whitespace(column.filter(keep_where(fitting))).cast(pa.float64()))
        return values, fitting


def _exact_nanoseconds(column: pa.ChunkedArray, factor: int) -> tuple[pa.ChunkedArray, Mask]:
    """Text time stamps as exact integer nanoseconds: a float64 would lose the last digits."""
    trimmed = pc.utf8_trim_whitespace(column)
    if factor == _MICROSECOND and _all_match(trimmed, _EXPORTED_STAMP):
        # what every exporter writes: without the point it is the number of nanoseconds
        whole = pc.replace_substring(trimmed, ".", "").cast(pa.int64())
        return whole, np.zeros(len(column), dtype=bool)
    if factor <= _MICROSECOND and _all_match(trimmed, _PLAIN_STAMP):
        # (Arrow's own cast is not asked about anything else: an exponent of nine digits ends the process)
        scaled = pc.multiply(trimmed.cast(pa.decimal128(26, 6)), pa.scalar(factor, pa.decimal128(10, 0)))
        return pc.round(scaled).cast(pa.int64()), np.zeros(len(column), dtype=bool)
    there = valid(column)
    values = [nanoseconds(cell, factor) for cell in trimmed.to_pylist()]
    good = np.asarray([value is not None for value in values], dtype=bool)
    whole = np.asarray([value or 0 for value in values], dtype=np.int64)
    return column_of(whole, good), there & ~good


def _all_match(column: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every text of a column that is there has a pattern."""
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def nanoseconds(cell: str | None, factor: int) -> int | None:
    """One cell as nanoseconds; None for no number, and for one that no time can be."""
    if cell is None or not _NUMBER_TEXT.match(cell) or _MANGLED_TEXT.match(cell):
        return None
    value = Decimal(cell)
    if not -_EXPONENTS < value.adjusted() < _EXPONENTS:
        return 0 if value.is_zero() else None
    whole = (value * factor).to_integral_value(ROUND_HALF_EVEN)
    return int(whole) if abs(whole) < MAX_NS else None


def lists_of(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Several int64 columns as one of lists: each row's values up to the last one that is there."""
    pairs = [integers(column) for column in columns]
    rows = len(columns[0])
    values = np.stack([numbers for numbers, _ in pairs], axis=1) if rows else np.zeros((0, len(pairs)), dtype=np.int64)
    there = np.stack([mask for _, mask in pairs], axis=1) if rows else np.zeros((0, len(pairs)), dtype=bool)
    places = np.arange(1, len(pairs) + 1)
    lengths = np.where(there, places, 0).max(axis=1) if rows else np.zeros(0, dtype=np.int64)
    taken = places[None, :] <= lengths[:, None]
    offsets: Ints = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    flat = column_of(values[taken], there[taken]).chunk(0)
    kind = pa.list_(pa.int64())
    return pa.chunked_array([pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(offsets)], children=[flat])])
