"""Columns of text into typed columns, held against decimal.Decimal cell by cell."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aoe_reports.formats.convert import (
    LONGEST_NS,
    WORDS,
    Converted,
    arrow_type,
    convert,
    fits,
    lists_of,
    nanoseconds,
)
from aoe_reports.formats.table import ColumnType, Field

UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000}


def field(kind: ColumnType, factor: int = 1, **more) -> Field:
    return Field(0, "h", more.pop("name", "x"), kind, factor, needed=False, **more)


def of(cells: list[str | None], spec: Field, chunks: int = 1) -> Converted:
    kind = WORDS if spec.type in {"text", "unknown"} else pa.string()
    size = max(len(cells) // chunks, 1)
    parts = [pa.array(cells[i : i + size], pa.string()).cast(kind) for i in range(0, len(cells), size)]
    return convert(pa.chunked_array(parts, kind), spec)


def values(converted: Converted) -> list:
    return converted.column.to_pylist()


def rounded(cell: str, factor: int) -> int:
    return int((Decimal(cell.strip()) * factor).to_integral_value(ROUND_HALF_EVEN))


stamps = st.one_of(
    st.integers(0, 2**62 // 1000 - 1).map(str),
    st.decimals(min_value=0, max_value=4 * 10**15, places=3, allow_nan=False).map(lambda d: f"{d:f}"),
    st.integers(10**18, 2 * 10**18).map(lambda ns: f"{ns // 1000}.{ns % 1000:03d}\t"),
)


@given(cells=st.lists(stamps | st.none(), min_size=1, max_size=8), unit=st.sampled_from(["ns", "us"]))
@example(cells=["1736408883704643.212\t", "1736408883704643.213\t"], unit="us")
def test_points_in_time_are_exact_to_the_nanosecond(cells: list[str | None], unit: str) -> None:
    got = of(cells, field("timestamp", UNITS[unit]))
    assert values(got) == [None if cell is None else rounded(cell, UNITS[unit]) for cell in cells]
    assert not got.bad.any()


@given(ns=st.integers(0, 2**62 - 1))
def test_points_in_time_in_milliseconds_are_exact(ns: int) -> None:
    whole = Fraction(ns, 10**6)
    cell = f"{whole.numerator * 10**6 // whole.denominator // 10**6}.{ns % 10**6:06d}"
    assert values(of([cell], field("timestamp", UNITS["ms"]))) == [ns]


@given(
    cells=st.lists(
        st.decimals(min_value=0, max_value=10**9, places=3, allow_nan=False).map(lambda d: f"{d:f}"),
        min_size=1,
        max_size=9,
    ),
    unit=st.sampled_from(["ns", "us"]),
    trimmed=st.booleans(),
    missing=st.booleans(),
)
def test_lengths_of_time_are_exact_to_the_nanosecond(cells: list[str], unit: str, trimmed: bool, missing: bool) -> None:
    if trimmed:
        cells = [cell.rstrip("0").rstrip(".") for cell in cells]
    expected = [rounded(cell, UNITS[unit]) for cell in cells]
    got = of([*cells, None] if missing else cells, field("duration", UNITS[unit]), chunks=2)
    assert values(got) == ([*expected, None] if missing else expected)
    assert not got.bad.any()


@given(ns=st.integers(0, LONGEST_NS - 1), unit=st.sampled_from(list(UNITS)))
def test_every_length_of_time_of_whole_nanoseconds_comes_back(ns: int, unit: str) -> None:
    places = {"ns": 0, "us": 3, "ms": 6}[unit]
    cell = f"{Decimal(ns).scaleb(-places):.{places}f}"
    assert values(of([cell], field("duration", UNITS[unit]))) == [ns]


@given(
    kib=st.decimals(min_value=0, max_value=2**40, places=4, allow_nan=False).map(lambda d: f"{d:f}"),
    unit=st.sampled_from([1, 1 << 10, 1 << 20]),
)
def test_sizes_are_whole_bytes(kib: str, unit: int) -> None:
    (got,) = values(of([kib], field("size", unit)))
    assert abs(got - rounded(kib, unit)) <= (1 if got < 2**53 else got // 2**52)


@pytest.mark.parametrize(
    ("cell", "unit", "expected"),
    [("2343.78125", 1024, 2400032), ("0.5", 1024, 512), ("954.3701171875", 1 << 20, 1000729600), ("37632", 1, 37632)],
)
def test_sizes_that_the_exporters_print(cell: str, unit: int, expected: int) -> None:
    assert values(of([cell], field("size", unit))) == [expected]


@pytest.mark.parametrize(
    ("cells", "unit", "expected", "bad"),
    [
        (["5", "x", None, "4611686018427387904"], 1, [5, None, None, None], [False, True, False, True]),
        (["4611686018427387392", "-4611686018427387904"], 1, [4611686018427387392, None], [False, True]),
        (["4503599627370495.5", "4503599627370496"], 1024, [4611686018427387392, None], [False, True]),
        (["-1", "inf"], 1024, [-1024, None], [False, True]),
    ],
)
def test_a_size_beyond_62_bits_is_bad_and_costs_no_other(
    cells: list[str | None], unit: int, expected: list[int | None], bad: list[bool]
) -> None:
    got = of(cells, field("size", unit))
    assert (values(got), got.bad.tolist()) == (expected, bad)


def test_shares_are_parts_of_one() -> None:
    assert values(of(["22.077", "100", None, "0.5"], field("share"))) == [pytest.approx(0.22077), 1.0, None, 0.005]


@pytest.mark.parametrize("kind", ["duration", "timestamp", "integer", "number", "share", "size"])
@pytest.mark.parametrize("cell", ["1e+2", "1.5e+3", " 2e+5 ", "-1e+2"])
def test_a_number_whose_zeros_were_cut_is_of_no_use(kind: ColumnType, cell: str) -> None:
    """Exporters of 2022-09 to 2023-11 wrote 1e+20 as 1e+2."""
    got = of(["7", cell], field(kind, UNITS["us"]))
    assert got.bad.tolist() == [False, True]
    assert values(got)[1] is None
    assert not fits(cell, field(kind))


@pytest.mark.parametrize(
    ("cell", "expected"), [("1.6800000001234568e+18", 1680000000123456800), ("1.5e+10", 15 * 10**9)]
)
def test_a_number_whose_exponent_is_whole_is_of_use(cell: str, expected: int) -> None:
    assert values(of([cell], field("timestamp", 1))) == [expected]
    assert fits(cell, field("timestamp"))


BIG = st.integers(-(2**70), 2**70)


@given(numbers=st.lists(BIG | st.integers(-(2**54), 2**54) | st.integers(-9, 9), min_size=1, max_size=6))
@example(numbers=[2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 2**53, 2**53 + 1])
@example(numbers=[4294967295, 4294967296, 4294967294])
def test_whole_numbers_are_exact_or_said_to_be_too_large(numbers: list[int]) -> None:
    got = of([str(number) for number in numbers], field("integer"))
    inside = [-(2**63) <= number < 2**63 for number in numbers]
    assert values(got) == [n if ok and n != 4294967295 else None for n, ok in zip(numbers, inside, strict=True)]
    assert got.bad.tolist() == [not ok for ok in inside]


@pytest.mark.parametrize(
    "cell", ["1.5", "0.1", "1e400", "1e30", "nan", "inf", "-inf", "0x10", "1_000", "１", "x", "--1", "1 2"]
)
def test_what_is_no_whole_number_is_bad(cell: str) -> None:
    got = of([cell, "3"], field("integer"))
    assert (values(got), got.bad.tolist()) == ([None, 3], [True, False])


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert values(of(["2.0", "1e3", "+7", " 8\t"], field("integer"))) == [2, 1000, 7, 8]


def test_words_that_mean_none_are_null_in_their_column_alone() -> None:
    got = of(["host", "0", "hostess", None], field("integer", null_words=("host",)))
    assert (values(got), got.bad.tolist()) == ([None, 0, None, None], [False, False, True, False])
    assert of(["host"], field("integer")).bad.tolist() == [True]


def test_a_difference_that_wrapped_around_is_told_from_a_length_that_is_too_large() -> None:
    cells = [f"{2**64 - 50_500}", f"{2**64 - 1}", str(LONGEST_NS), str(2**62), "5", "-5"]
    wraps = of(cells, field("duration", 1, wraps=True))
    assert wraps.wrapped is not None
    assert wraps.wrapped.tolist() == [True, True, False, False, False, False]
    assert wraps.bad.tolist() == [False, False, True, True, False, False]
    assert values(wraps) == [None, None, None, None, 5, -5]
    plain = of(cells, field("duration", 1))
    assert plain.wrapped is None
    assert plain.bad.tolist() == [True, True, True, True, False, False]


def test_a_negative_part_of_a_nanosecond_stays_negative() -> None:
    assert values(of(["-0.0001", "-0.0", "0.0001"], field("duration", 1000))) == [-1, 0, 0]


def test_of_what_exporters_subtract_less_than_a_nanosecond_below_0_is_nothing() -> None:
    cells = ["-0.0000000000014", "-0.0009", "-0.001", "-0.0019", "0.0001", "0.5"]
    assert values(of(cells, field("duration", 1000, is_rest=True))) == [0, 0, -1, -1, 0, 500]


ODD = st.text(max_size=6) | st.sampled_from(
    ["1e+2", "1e5", "nan", "١", "1,5", "0x1", "-", "+", ".", "1.", ".5", "e5", "\0"]
)
KINDS: list[ColumnType] = ["duration", "timestamp", "integer", "number", "share", "size"]


@given(cells=st.lists(ODD, min_size=1, max_size=6), kind=st.sampled_from(KINDS))
def test_every_cell_is_a_value_or_bad_and_no_cell_hurts_its_neighbours(cells: list[str], kind: ColumnType) -> None:
    spec = field(kind, 1000)
    got = of([*cells, "7"], spec)
    assert values(got)[-1] == (0.07 if kind == "share" else 7.0 if kind in {"number", "integer"} else 7000)
    for cell, value, bad in zip(cells, values(got), got.bad, strict=False):
        assert (value is None) == bool(bad)
        number = re.fullmatch(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?[ \t]*", cell, re.ASCII)
        if not number:
            assert bad, cell


@given(cell=st.text(alphabet="0123456789.+-eE \t", max_size=9))
def test_what_fits_is_what_converts(cell: str) -> None:
    for kind in ("duration", "number", "timestamp"):
        spec = field(kind, 1)  # type: ignore[arg-type]
        if cell.strip() and fits(cell, spec) and abs(Decimal(cell.strip())) < 10**12 and kind != "timestamp":
            assert not of([cell], spec).bad.any()
        if not fits(cell, spec) and not re.search(r"[eE][+-]?\d{4}", cell):
            assert of([cell], spec).bad.all()


@pytest.mark.parametrize("cell", [None, "", "x", "1e+2", "1e999", "9" * 30, "1e-99"])
def test_no_point_in_time(cell: str | None) -> None:
    assert nanoseconds(cell, 1000) is None


def test_shapes_lose_one_pair_of_quotes_and_empty_ones_are_null() -> None:
    spec = field("text", name="input_shapes")
    assert values(of(['"1,2;3,4"', '""', "N", None, '";;"'], spec)) == ["1,2;3,4", None, "N", None, ";;"]


def test_an_undeclared_column_is_numbers_where_most_cells_are() -> None:
    assert values(of(["0.5", "1", None, "x"], field("unknown"))) == [0.5, 1.0, None, None]
    assert values(of(["a", "1", "b"], field("unknown"))) == ["a", "1", "b"]
    assert values(of([None, None], field("unknown"))) == [None, None]


def test_several_columns_become_lists_up_to_the_last_value() -> None:
    columns = [
        pa.chunked_array([pa.array(column, pa.int64())])
        for column in ([1, None, None], [None, 2, None], [3, None, None])
    ]
    assert lists_of(columns).to_pylist() == [[1, None, 3], [None, 2], []]


ODD_INTEGERS = [
    "0", "007", "-3", "-0", "+5", " 5", "5 ", "0x10", "0XAB", "1e3", "1e+3", "1.0", "1.5", "", "x", "4294967295", "nan", "_1",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999999",
]  # fmt: skip


@given(
    st.lists(st.sampled_from([*ODD_INTEGERS, None]) | st.integers(-(2**70), 2**70).map(str), max_size=30),
    st.integers(1, 3),
)
def test_plain_integers_are_what_a_close_look_makes_of_them(cells: list[str | None], chunks: int) -> None:
    quick = of(cells, field("integer"), chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aoe_reports.formats.convert._plain_integers", lambda column: None)
        close = of(cells, field("integer"), chunks)
    assert values(quick) == values(close)
    assert quick.bad.tolist() == close.bad.tolist()


@given(
    st.lists(st.none() | st.sampled_from(['"1,2"', "1,2", "", '"', '""', '"""', 'a"b', '"x', 'x"\n"']), max_size=30),
    st.integers(1, 3),
)
def test_whatever_stands_in_shapes_they_lose_one_pair_of_quotes_and_empty_ones_are_null(
    cells: list[str | None], chunks: int
) -> None:
    found = of(cells, field("text", name="input_shapes"), chunks)
    bare = [None if cell is None else cell.removeprefix('"').removesuffix('"') or None for cell in cells]
    assert values(found) == bare
    assert found.column.type == WORDS
    assert all(None not in chunk.dictionary.to_pylist() for chunk in found.column.chunks)


@pytest.mark.parametrize("cell", ["0.0005", "1.0015", "1.0025", "2.0005", "1234567.0005", "0.00049999999999999999", "1e-1", "0.5e-3"])  # fmt: skip
@pytest.mark.parametrize("beside", [[], ["3.25"], ["odd"]])
def test_halves_of_a_nanosecond_are_rounded_by_their_digits(cell: str, beside: list[str]) -> None:
    """A float cannot tell on which side of the half these stand."""
    converted = of([cell, *beside], field("duration", UNITS["us"]))
    assert values(converted)[0] == rounded(cell, UNITS["us"])
    assert nanoseconds(cell, UNITS["us"]) == rounded(cell, UNITS["us"])


@pytest.mark.parametrize("kind", ["integer", "number", "share", "duration", "timestamp", "size", "text", "unknown"])
def test_a_column_without_rows_has_the_type_of_one_with_rows(kind: ColumnType) -> None:
    """So tables of several captures can be put together, one of them empty."""
    assert of(["a"] if kind in {"text", "unknown"} else ["1"], field(kind)).column.type == arrow_type(field(kind))


def test_plain_words_are_looked_at_as_those_that_repeat() -> None:
    cells = pa.chunked_array([["1.5", None, "1.5"], ["x", "2"]], pa.string())
    plain, repeating = convert(cells, field("unknown")), convert(cells.cast(WORDS), field("unknown"))
    assert values(plain) == values(repeating) == [1.5, None, 1.5, None, 2.0]
    assert plain.bad.tolist() == repeating.bad.tolist() == [False, False, False, True, False]
