"""Histories of a site are those that `put_together` makes, whatever way they are made."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.regression.series import put_together
from aoe_reports.store.parts import Part
from aoe_reports.workflows.site_facts import _block, _months

SERIES = ("a", "b", "c")
rows = st.lists(
    st.tuples(
        st.sampled_from(SERIES),
        st.integers(1, 5),
        st.integers(0, 2),
        st.none() | st.floats(0, 100) | st.just(float("nan")) | st.just(float("inf")),
    ),
    min_size=1,
    max_size=25,
)


@given(rows, st.booleans())
def test_a_month_is_what_put_together_makes_of_it(told: list[tuple[str, int, int, float | None]], single: bool) -> None:
    if single:  # one run a night: the quick way
        told = list({(series, night): (series, night, 0, value) for series, night, _, value in told}.values())
    records = pl.DataFrame(
        {
            "series_id": [row[0] for row in told],
            "night": [f"2026-01-{row[1]:02}" for row in told],
            "run_id": [f"run-{row[1]}-{row[2]}" for row in told],
            "timestamp_ns": [row[1] * 100 + row[2] for row in told],
            "runtime_ms_mean": pl.Series([row[3] for row in told], dtype=pl.Float64),
            "row": pl.Series([SERIES.index(row[0]) for row in told], dtype=pl.UInt32),
        }
    )
    expected = put_together(records)
    of_rows, nights, values, runs = _block(records, {name: place for place, name in enumerate(SERIES)})
    order = np.argsort(of_rows)
    names = [SERIES[row] for row in np.asarray(of_rows)[order]]
    assert names == sorted(expected.facts["series_id"].to_list())
    back = np.argsort(expected.facts["series_id"].to_numpy())
    assert tuple(nights) == expected.nights
    np.testing.assert_array_equal(values[order], expected.values_ms[back])
    np.testing.assert_array_equal(runs[order], expected.runs[back])


def test_a_night_beyond_its_runs_month_is_found_with_its_own() -> None:
    def part(month: str, least: str | None, most: str | None) -> Part:
        return Part(f"{month}.parquet", "record", month, 1, 1, 0, {"night": (least, most)} if least else {})

    january, february = part("2026-01", "2026-01-02", "2026-02-01"), part("2026-02", "2026-02-01", "2026-02-03")
    found = _months([january, february])
    assert (found["2026-01"], found["2026-02"]) == ([january], [january, february])
    unknown = part("2026-03", None, None)
    assert set(_months([unknown])) == {"2026-02", "2026-03", "2026-04"}
