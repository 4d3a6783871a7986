"""Histories of a site are those that `put_together` makes, whatever way they are made."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.history.series.series import put_together
from aoe_reports.site.stored import _block, _details, _months
from aoe_reports.store.parts import StoredFile

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
    records = pa.table(
        {
            "series_id": pa.array([row[0] for row in told], pa.string()),
            "night": pa.array([f"2026-01-{row[1]:02}" for row in told], pa.string()),
            "run_id": pa.array([f"run-{row[1]}-{row[2]}" for row in told], pa.string()),
            "timestamp_ns": pa.array([row[1] * 100 + row[2] for row in told], pa.int64()),
            "runtime_ms_mean": pa.array([row[3] for row in told], pa.float64()),
        }
    )
    expected = put_together(pl.DataFrame(records))
    places = np.array([SERIES.index(row[0]) for row in told], dtype=np.int64)
    everything = np.ones(len(told), dtype=bool)
    of_rows, nights, values, runs = _block(
        records, places, everything, {name: place for place, name in enumerate(SERIES)}
    )
    order = np.argsort(of_rows)
    names = [SERIES[row] for row in np.asarray(of_rows)[order]]
    ids = [labels.series_id for labels in expected.labels]
    assert names == sorted(ids)
    back = np.argsort(ids)
    assert tuple(nights) == expected.nights
    np.testing.assert_array_equal(values[order], expected.costs[back])
    np.testing.assert_array_equal(runs[order], expected.runs[back])


def test_a_night_beyond_its_runs_month_is_found_with_its_own() -> None:
    def part(month: str, least: str | None, most: str | None) -> StoredFile:
        return StoredFile(f"{month}.parquet", "record", month, 1, 1, 0, {"night": (least, most)} if least else {}, {})

    january, february = part("2026-01", "2026-01-02", "2026-02-01"), part("2026-02", "2026-02-01", "2026-02-03")
    found = _months([january, february])
    assert (found["2026-01"], found["2026-02"]) == ([january], [january, february])
    unknown = part("2026-03", None, None)
    assert set(_months([unknown])) == {"2026-02", "2026-03", "2026-04"}


def test_the_same_work_under_two_series_is_one_group_and_not_untimed() -> None:
    def row(run: str, series: str, total: int | None) -> dict[str, object]:
        texts = dict.fromkeys(("phase", "workload_args", "workload_metadata", "metrics", "metadata"))
        return {"run_id": run, "scope": "op", "op_type": "Add", "op_name": "a", "rank_id": 0, "device_id": 0, "count": 2,
                "total_ns": total, "runtime_ms_mean": 1.0, "runtime_ms_std": None, "workload": "w", "series_id": series,
                **texts}  # fmt: skip

    texts = ("phase", "workload_args", "workload_metadata", "metrics", "metadata")
    rows = [row("one", "a", 3), row("one", "b", 4), row("one", "c", None), row("two", "a", 5)]
    found = _details(pl.DataFrame(rows, schema_overrides=dict.fromkeys(texts, pl.String)))
    one, two = found["one"], found["two"]
    assert (one.groups.counts, one.groups.totals_ns, one.untimed, one.operator_count) == ([4], [7], 1, 1)
    assert (two.groups.counts, two.groups.totals_ns, two.untimed, two.operator_count) == ([2], [5], 0, 1)
    assert one.groups.keys == two.groups.keys
    assert [part["series_id"] for part in one.operators] == ["b", "a", "c"]
