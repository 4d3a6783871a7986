"""Arrow columns as arrays, and unions of time, held against what Python makes of the same values."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.columns import (
    PlacesAmong,
    bits,
    cells_of,
    codes,
    column_of,
    column_of_words,
    distinct,
    distinct_places,
    distinct_rows,
    exact_sum,
    floats,
    has_value,
    holds_negative,
    in_order,
    integers,
    is_among,
    keep_where,
    last_until,
    order_by,
    places_by,
    scalar,
    small,
    valid,
    words_in,
)
from aoe_reports.model.arrays.intervals import Intervals, common, covered, covered_each, union, united, without

INT64 = st.integers(-(2**63), 2**63 - 1)
WORDS = st.sampled_from(["a", "b", "", "é"])


def chunked(values: list[object], kind: pa.DataType, cuts: list[int]) -> pa.ChunkedArray:
    """A column in pieces, some of them views into a longer one."""
    whole = pa.array([None, *values, None], kind)
    places = sorted({0, len(values), *(cut % (len(values) + 1) for cut in cuts)})
    pieces = [whole.slice(1 + start, end - start) for start, end in pairwise(places)]
    return pa.chunked_array(pieces, kind)


CUTS = st.lists(st.integers(0, 40), max_size=3)


@given(st.lists(st.none() | INT64, max_size=40), CUTS)
def test_whole_numbers_and_where_they_are(values: list[int | None], cuts: list[int]) -> None:
    numbers, there = integers(chunked(values, pa.int64(), cuts))
    assert there.tolist() == [value is not None for value in values]
    assert numbers[there].tolist() == [value for value in values if value is not None]


@given(st.lists(st.none() | st.floats(allow_nan=False), max_size=40), CUTS)
def test_fractions_and_where_they_are(values: list[float | None], cuts: list[int]) -> None:
    numbers, there = floats(chunked(values, pa.float64(), cuts))
    assert there.tolist() == [value is not None for value in values]
    assert numbers[there].tolist() == [value for value in values if value is not None]


@given(st.lists(st.none() | st.booleans(), max_size=40), CUTS)
def test_a_mask_is_true_where_the_column_is(values: list[bool | None], cuts: list[int]) -> None:
    column = chunked(values, pa.bool_(), cuts)
    assert bits(column).tolist() == [value is True for value in values]
    assert valid(column).tolist() == [value is not None for value in values]
    assert has_value(pa.table({"a": column}), "a") is any(value is not None for value in values)
    assert not has_value(pa.table({"a": column}), "b")


@given(st.lists(st.none() | WORDS, max_size=40), CUTS, st.booleans(), st.sets(WORDS, max_size=3))
def test_words_are_numbered_from_1(values: list[str | None], cuts: list[int], encoded: bool, wanted: set[str]) -> None:
    column = chunked(values, pa.string(), cuts)
    column = column.dictionary_encode() if encoded else column
    numbers, words = codes(column)
    assert [None if number == 0 else words[number - 1] for number in numbers] == values
    assert len(set(words)) == len(words)
    assert words_in(column, wanted).tolist() == [value in wanted for value in values]


def test_dictionaries_of_pieces_become_one() -> None:
    column = pa.chunked_array([pa.array(words).dictionary_encode() for words in (["a", "b"], ["b", None], ["c", "a"])])
    numbers, words = codes(column)
    assert [words[number - 1] if number else None for number in numbers] == ["a", "b", "b", None, "c", "a"]


@given(st.lists(INT64, max_size=40))
def test_a_sum_is_exact_beyond_64_bits(values: list[int]) -> None:
    assert exact_sum(np.array(values, dtype=np.int64)) == sum(values)


@pytest.mark.parametrize("values", [[2**62, 2**62 - 1], [2**62, 2**62], [-(2**63), -1], [2**63 - 1], [-(2**62)] * 3])
def test_a_sum_is_exact_at_the_limit_of_64_bits(values: list[int]) -> None:
    assert exact_sum(np.array(values, dtype=np.int64)) == sum(values)


@given(st.lists(st.none() | st.text()))
def test_texts_or_none_become_a_column(values: list[str | None]) -> None:
    made = cells_of(values, pa.string())
    made.validate(full=True)
    assert made.type == pa.string()
    assert made.to_pylist() == [None if one is None else one.encode(errors="replace").decode() for one in values]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_whole_numbers_or_none_become_a_column(values: list[int | None]) -> None:
    assert cells_of(values, pa.int64()).equals(pa.array(values, pa.int64()))


@given(st.lists(st.none() | st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)))
def test_fractions_or_none_become_a_column(values: list[float | None]) -> None:
    assert cells_of(values, pa.float64()).equals(pa.array(values, pa.float64()))


@pytest.mark.parametrize(
    ("value", "kind"), [(1.5, pa.int64()), (2**63, pa.int64()), ("1", pa.int64()), (b"a", pa.string())]
)
def test_a_cell_of_another_kind_is_an_error(value: object, kind: pa.DataType) -> None:
    with pytest.raises((TypeError, OverflowError, AttributeError)):
        cells_of([None, value], kind)


def test_an_odd_byte_of_a_name_is_stored_as_a_question_mark() -> None:
    assert cells_of(["a\udcffb", "\u7b97\u5b50"], pa.string()).to_pylist() == ["a?b", "\u7b97\u5b50"]


@given(st.lists(st.tuples(st.booleans(), INT64), max_size=40))
def test_arrays_become_columns(values: list[tuple[bool, int]]) -> None:
    mask = np.array([there for there, _ in values], dtype=bool)
    numbers = np.array([number for _, number in values], dtype=np.int64)
    assert column_of(numbers, mask).to_pylist() == [number if there else None for there, number in values]
    halves = numbers / 2
    assert column_of(halves, mask).to_pylist() == [float(half) if there else None for half, there in zip(halves, mask, strict=True)]  # fmt: skip
    words = pa.array(["a", "b", "c"])
    told = column_of_words((numbers % 3).astype(np.int32), mask, words)
    assert told.to_pylist() == ["abc"[number % 3] if there else None for there, number in values]
    frame = pa.table({"n": pa.array(numbers.tolist(), pa.int64())})
    assert frame.filter(keep_where(mask))["n"].to_pylist() == [number for there, number in values if there]


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, "", "é", "two words"])
def test_a_scalar_is_what_arrow_compares_with(value: str | int) -> None:
    assert scalar(value).as_py() == value
    assert scalar(value).type == (pa.int64() if isinstance(value, int) else pa.string())


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=12)


def moments(spans: list[tuple[int, int]]) -> set[int]:
    return {moment for start, length in spans for moment in range(start, start + length)}


def union_of(spans: list[tuple[int, int]]):
    starts = np.array([start for start, _ in spans], dtype=np.int64)
    return union(starts, starts + np.array([length for _, length in spans], dtype=np.int64))


def moments_of(intervals: Intervals) -> set[int]:
    return {
        moment
        for start, end in zip(intervals.starts, intervals.ends, strict=True)
        for moment in range(max(start, -100), min(end, 100))
    }


@given(SPANS, SPANS)
def test_what_two_have_in_common_and_what_only_one_has(
    spans: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    intervals, other = union_of(spans), union_of(others)
    assert moments_of(common(intervals, other)) == moments(spans) & moments(others)
    assert moments_of(without(intervals, other)) == moments(spans) - moments(others)
    each = covered_each(intervals, other.starts, other.ends)
    assert [*each] == [covered(intervals, *edges) for edges in zip(other.starts, other.ends, strict=True)]


@given(SPANS, SPANS, st.integers(-2, 40), st.integers(0, 20))
def test_a_union_covers_each_moment_once(
    spans: list[tuple[int, int]], others: list[tuple[int, int]], start: int, length: int
) -> None:
    one, other = union_of(spans), union_of(others)
    assert one.total == len(moments(spans))
    assert all(end < begin for end, begin in zip(one.ends, one.starts[1:], strict=False)), "what touches is one"
    both = united(one, other)
    assert both.total == len(moments([*spans, *others]))
    assert moments_of(both) == moments([*spans, *others])
    assert covered(both, start, start + length) == len(moments([*spans, *others]) & set(range(start, start + length)))
    assert len(one) == len([m for m in moments(spans) if m - 1 not in moments(spans)])


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64()])
@given(values=st.lists(st.integers(-3, 100) | st.none(), max_size=9), cuts=st.lists(st.integers(0, 9), max_size=3))
def test_a_number_below_zero_is_found_and_nothing_else(
    kind: pa.DataType, values: list[int | None], cuts: list[int]
) -> None:
    column = chunked(list(values), kind, cuts)
    assert holds_negative(column) == any(value is not None and value < 0 for value in values)


def test_what_stands_where_there_is_no_value_is_no_number_below_zero() -> None:
    column = column_of(np.array([-1, 2]), np.array([False, True]))
    assert not holds_negative(column)


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=30))
def test_rows_that_differ_come_in_order_and_each_knows_its_own(rows: list[tuple[int, int]]) -> None:
    columns = [np.asarray([row[place] for row in rows], dtype=np.int64) for place in (0, 1)]
    found, place = distinct_rows(*columns)
    different = list(zip(*(column.tolist() for column in found), strict=True))
    assert different == sorted(set(rows))
    assert [different[one] for one in place.tolist()] == rows


@given(st.lists(st.integers(-5, 5), max_size=9), st.lists(st.integers(-5, 5), max_size=9))
def test_values_are_found_among_some_that_rise(values: list[int], wanted: list[int]) -> None:
    found = is_among(np.asarray(values, dtype=np.int64), np.asarray(sorted(wanted), dtype=np.int64))
    assert found.tolist() == [value in wanted for value in values]


NUMBERS = st.lists(INT64 | st.integers(-3, 3), max_size=30).map(lambda values: np.asarray(values, dtype=np.int64))


@given(NUMBERS)
def test_different_values_are_those_of_numpy_with_the_place_of_each(values: np.ndarray) -> None:
    expected, places = np.unique(values, return_inverse=True)
    found, place = distinct_places(values)
    assert found.tolist() == distinct(values).tolist() == expected.tolist()
    assert place.tolist() == places.reshape(-1).tolist()


@given(NUMBERS)
def test_the_places_of_each_number_are_in_order(values: np.ndarray) -> None:
    found = [(number, places.tolist()) for number, places in places_by(values)]
    assert found == [(number, np.flatnonzero(values == number).tolist()) for number in np.unique(values).tolist()]


@given(NUMBERS)
def test_small_numbers_are_in_the_same_order(values: np.ndarray) -> None:
    assert np.argsort(small(values), kind="stable").tolist() == np.argsort(values, kind="stable").tolist()
    if len(values) and int(values.max()) - int(values.min()) < 2**16:
        assert small(values).dtype.itemsize <= 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), st.integers(0, 2)), max_size=40))
def test_rows_are_in_the_order_of_their_columns_and_equal_ones_stay(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.asarray([row[place] for row in rows], dtype=np.int64) for place in range(3)]
    assert order_by(*columns).tolist() == sorted(range(len(rows)), key=lambda place: rows[place])


@given(st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=6), st.data())
def test_the_last_of_some_times_until_another_one(parts: list[list[int]], data: st.DataObject) -> None:
    """Each among those of its own part, which rise; the place before them where all are later."""
    several = [sorted(part) for part in parts]
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(parts) - 1), st.integers(-1, 21)), max_size=20))
    firsts = [sum(map(len, several[:number])) for number in range(len(parts) + 1)]
    times, wanted, first, behind = (
        np.asarray(column, dtype=np.int64)
        for column in (
            [time for part in several for time in part],
            [time for _, time in asked],
            [firsts[number] for number, _ in asked],
            [firsts[number + 1] for number, _ in asked],
        )
    )
    expected = [firsts[number] + sum(one <= time for one in several[number]) - 1 for number, time in asked]
    assert last_until(times, wanted, first, behind).tolist() == expected


NEAR, FAR = st.integers(-5, 60), st.integers(-(2**62), 2**62)


@given(st.one_of(st.sets(NEAR), st.sets(st.one_of(NEAR, FAR))), st.data())
def test_places_among_values_are_those_of_a_search(among: set[int], data: st.DataObject) -> None:
    ordered = sorted(among)
    wanted = data.draw(st.lists(st.one_of(NEAR, FAR, *([st.sampled_from(ordered)] if ordered else []))))
    places, there = PlacesAmong(np.asarray(ordered, dtype=np.int64)).of(np.asarray(wanted, dtype=np.int64))
    assert there.tolist() == [value in among for value in wanted]
    assert [ordered[place] for place in places[there].tolist()] == [value for value in wanted if value in among]


def test_places_among_small_numbers_of_a_wide_range_are_right() -> None:
    ordered = np.arange(-20_000, 20_000, dtype=np.int16)
    places, there = PlacesAmong(ordered).of(np.asarray([-20_001, -20_000, 19_999, 20_000]))
    assert (there.tolist(), places[there].tolist()) == ([False, True, True, False], [0, 39_999])


@given(st.lists(st.integers(-9, 9)))
def test_values_in_order_are_sorted_ones_and_no_copy_where_they_are(values: list[int]) -> None:
    given_values = np.asarray(values, dtype=np.int64)
    found = in_order(given_values)
    assert found.tolist() == sorted(values)
    assert (found is given_values) == (values == sorted(values))
