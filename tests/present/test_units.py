"""A time column has one unit, by its largest value, or one a cell where values span too much; what all rows share stands above the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.findings import Finding
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.present.figures.plot import unit_for
from aoe_reports.present.night import findings_section
from aoe_reports.present.reports.language import with_caption, with_units
from aoe_reports.present.values import cell


def shown(kind: str, *values: float | None) -> list[str]:
    grid = with_units(Grid((Column("t", "Total", kind),), [{"t": value} for value in values]))  # type: ignore[arg-type]
    return [grid.columns[0].title, *(cell(row, grid.columns[0]) for row in grid.rows)]


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("us", (414.459, 2.0, None), ["Total (us)", "414.5", "2.000", "–"]),
        ("us", (999.9994, 1000.0), ["Total (ms)", "1.000", "1.000"]),
        ("us", (0.25, 0), ["Total (ns)", "250.0", "0"]),
        ("us", (0, None), ["Total (us)", "0", "–"]),
        ("ms", (0, 0.0), ["Total (ms)", "0", "0"]),
        ("ms", (-12.3456, 3.2), ["Total (ms)", "-12.35", "3.200"]),
        ("us", (-12_345.6, 3.2), ["Total", "-12.35 ms", "3.200 us"]),
        ("ms", (12_345_678.9, 1), ["Total", "12,346 s", "1.000 ms"]),
        ("us", (1000.0, 1.0), ["Total (ms)", "1.000", "0.001000"]),
        ("us", (3_000_000, 0.0012, 0, None), ["Total", "3.000 s", "1.200 ns", "0 ns", "–"]),
        ("ms", (), ["Total (ms)"]),
        ("integer", (12345,), ["Total", "12,345"]),
    ],
)
def test_one_unit_for_a_column(kind: str, values: tuple[float | None, ...], said: list[str]) -> None:
    assert shown(kind, *values) == said


@given(st.lists(st.floats(min_value=1e-3, max_value=1e12), min_size=1))
def test_four_digits_say_the_value(values: list[float]) -> None:
    title, *texts = shown("us", *values)
    factors = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    for value, text in zip(values, texts, strict=True):
        number, _, unit = text.partition(" ")
        factor = factors[unit or title.removeprefix("Total (").removesuffix(")")]
        assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=5.1e-4)


def test_what_all_rows_share_stands_above_them() -> None:
    columns = (Column("rank_id", "Rank", "integer"), Column("device_id", "Device", "integer"), Column("op", "Operator"))
    rows = [{"rank_id": 3, "device_id": 0, "op": "Add"}, {"rank_id": 3, "device_id": 1, "op": "Mul"}]
    section = with_caption(Section("", ["First."], Grid(columns, rows)))
    assert section.sentences == ["First.", "Rank: 3"]
    assert section.grid is not None
    assert [column.key for column in section.grid.columns] == ["device_id", "op"]
    one = Section("", [], Grid(columns, rows[:1]))
    assert with_caption(one) is one


@pytest.mark.parametrize(
    ("times_ns", "said"),
    [
        ((1e9, 5e8), (["1.000", "0.500"], "s")),
        ((1e6, -2.5e5), (["1.000", "-0.250"], "ms")),
        ((-1e6, 2.5e5), (["-1.000", "0.250"], "ms")),
        ((-999_999.0,), (["-1,000"], "us")),
        ((999_960.0, 1e3), (["1,000", "1"], "us")),
        ((0.0,), (["0"], "ns")),
        ((1e3, 0.0), (["1.000", "0.000"], "us")),
        ((999.0, 1.0), (["999.0", "1.0"], "ns")),
    ],
)
def test_times_side_by_side_have_the_unit_of_the_largest(
    times_ns: tuple[float, ...], said: tuple[list[str], str]
) -> None:
    assert times_in_one_unit(*times_ns) == said
    assert unit_for(*times_ns)[1] == said[1]


@pytest.mark.parametrize(("count", "cut"), [(2, []), (3, ["The first 2 of 3 are listed; the file has them all."])])
def test_findings_that_are_not_listed_are_counted(count: int, cut: list[str]) -> None:
    section = findings_section([Finding("info", "rule", "path", str(number)) for number in range(count)], 2, "the file")
    assert section.sentences == [f"0 errors, 0 warnings, {count} remarks.", *cut]
    assert section.lines == ["path: info: 0 [rule]", "path: info: 1 [rule]"]
