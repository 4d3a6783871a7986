"""Records put together to histories, and judged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import FEW

from aoe_reports.history.series.series import judge_histories, put_together

SCHEMA = {
    "series_id": pl.String, "night": pl.String, "run_id": pl.String, "timestamp_ns": pl.Int64,
    "runtime_ms_mean": pl.Float64, "workload": pl.String, "hardware": pl.String,
}  # fmt: skip


def record(series: str, night: int, value: float | None, run: str = "", hardware: str = "910B") -> dict[str, object]:
    name = f"2026-{1 + night // 28:02d}-{1 + night % 28:02d}"
    return {
        "series_id": series, "night": name, "run_id": f"{name}{run}", "timestamp_ns": night * 10**9 + len(run),
        "runtime_ms_mean": value, "workload": "net/step", "hardware": hardware,
    }  # fmt: skip


def frame(*records: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(list(records), schema=SCHEMA)


def slowed(series: str, at: int = 30, nights: int = 40, hardware: str = "910B") -> list[dict[str, object]]:
    values = 10 * (1 + 0.01 * np.random.default_rng(1).standard_normal(nights))
    values[at:] *= 1.1
    return [record(series, night, float(value), hardware=hardware) for night, value in enumerate(values)]


def test_runs_of_one_night_are_one_value() -> None:
    found = put_together(
        frame(record("s", 1, 10.0), record("s", 1, 14.0, "b"), record("s", 1, 11.0, "bc"), record("s", 2, 9.0))
    )
    assert found.costs.tolist() == [[11.0, 9.0]]
    assert found.runs[0].tolist() == ["2026-01-02bc", "2026-01-03"]


@pytest.mark.parametrize(
    ("times", "night"),
    [
        ([11.0, 10.0], 10.0),
        ([12.0, 10.0, 11.0], 11.0),
        ([13.0, 10.0, 12.0, 11.0], 11.0),
        ([14.0, 10.0, 11.0, 13.0, 12.0], 12.0),
        ([0.0, 10.0], 10.0),
        ([10.0, float("inf"), 12.0], 10.0),
    ],
)
def test_of_two_runs_of_a_night_the_shorter_counts_of_three_the_middle_one(times: list[float], night: float) -> None:
    for order in (times, times[::-1]):
        found = put_together(frame(*(record("s", 1, time, name) for time, name in zip(order, "abcde", strict=False))))
        assert found.costs.tolist() == found.totals_ms.tolist() == [[night]]


def test_a_record_that_is_there_twice_is_one() -> None:
    one = put_together(frame(record("s", 1, 10.0), record("s", 1, 20.0, "b")))
    two = put_together(frame(record("s", 1, 10.0), record("s", 1, 20.0, "b"), record("s", 1, 10.0)))
    assert one.costs.tolist() == two.costs.tolist() == [[10.0]]


def test_missing_nights_and_values_are_gaps() -> None:
    found = put_together(
        frame(record("a", 1, 1.0), record("a", 3, None), record("b", 2, 2.0), record("b", 3, float("nan")))
    )
    assert found.nights == ("2026-01-02", "2026-01-03")
    assert np.isnan(found.costs).tolist() == [[False, True], [True, False]]


def test_two_hardware_classes_are_two_series() -> None:
    quick, slow = slowed("a", at=40, hardware="910A"), slowed("b", at=40, hardware="910B")
    mixed = [(quick if night % 2 else slow)[night] for night in range(40)]
    for one in mixed:
        one["runtime_ms_mean"] *= 1.3 if one["hardware"] == "910B" else 1.0  # type: ignore[operator]
    judged = judge_histories(put_together(frame(*mixed)))
    assert [labels.hardware for labels in judged.histories.labels] == ["910A", "910B"]
    assert list(judged.changes()) == [(0, None), (1, None)]


def test_a_change_says_since_when_and_which_run() -> None:
    judged = judge_histories(put_together(frame(*slowed("s"), record("young", 39, 5.0))))
    (_, first), (_, young) = judged.changes()
    assert first is not None
    assert (first.state, judged.histories.nights[first.night]) == ("confirmed", "2026-02-03")
    assert judged.histories.runs[0, first.night] == "2026-02-03"
    assert first.ci_low < 0.1 < first.ci_high
    assert (young, judged.verdicts[1].reason) == (None, "too-few-nights")
    assert judged.eligible == 1
    assert judged.parameters.budget.rate == 12


def test_only_the_last_nights_are_looked_at() -> None:
    histories = put_together(frame(*slowed("s")))
    assert judge_histories(histories, within=10).verdicts[0].changes == ()
    assert judge_histories(histories, within=10).verdicts[0].nights == 10


def test_nothing_is_nothing() -> None:
    judged = judge_histories(put_together(frame()))
    assert (judged.eligible, judged.verdicts, list(judged.changes())) == (0, (), [])


@given(st.randoms(use_true_random=False))
@FEW
def test_the_order_of_records_does_not_matter(random) -> None:
    records = [*slowed("a"), *slowed("b", at=20), record("a", 3, 12.0, "x"), record("c", 5, 1.0)]
    judged = judge_histories(put_together(frame(*records)))
    random.shuffle(records)
    again = judge_histories(put_together(frame(*records)))
    assert again.histories.labels == judged.histories.labels
    assert again.verdicts == judged.verdicts


_ROWS = st.lists(
    st.builds(
        record,
        st.sampled_from("cab"),
        st.integers(0, 4),
        st.sampled_from([None, float("nan"), 0.0, 10.0, 11.0, 12.0, 1e20]),
        st.sampled_from(["", "x", "xy"]),
        st.sampled_from(["910A", "910B"]),
    ),
    max_size=30,
)


@given(_ROWS)
def test_nights_of_one_run_and_of_several_are_put_together_alike(records: list[dict[str, object]]) -> None:
    found = put_together(frame(*records))
    timed = [
        one
        for one in records
        if one["runtime_ms_mean"] is not None and not np.isnan(float(str(one["runtime_ms_mean"])))
    ]
    in_order = sorted(
        timed,
        key=lambda one: tuple(
            one[name] for name in ("series_id", "night", "timestamp_ns", "run_id", "runtime_ms_mean", "hardware")
        ),
    )
    assert [one.series_id for one in found.labels] == sorted({str(one["series_id"]) for one in timed})
    assert list(found.nights) == sorted({str(one["night"]) for one in timed})
    for row, labels in enumerate(found.labels):
        ours = [one for one in in_order if one["series_id"] == labels.series_id]
        assert labels.hardware == ours[-1]["hardware"]
        for column, night in enumerate(found.nights):
            cell = [one for one in ours if one["night"] == night]
            assert found.runs[row, column] == (cell[-1]["run_id"] if cell else None)
            different = sorted(
                {(str(one["run_id"]), float(str(one["runtime_ms_mean"]))) for one in cell}, key=lambda pair: pair[1]
            )
            possible = [value for _, value in different if 0 < value < 1e15]
            expected = possible[(len(possible) - 1) // 2] if possible else 0.0 if cell else np.nan
            np.testing.assert_equal(found.costs[row, column], expected)


def test_a_whole_history_has_a_row_for_each_change() -> None:
    records = [record("s", night, 5.0 if 15 <= night < 30 else 4.0) for night in range(40)]
    ((_, watched),) = judge_histories(put_together(frame(*records))).changes()
    assert watched is not None
    assert watched.state == "recovered"
    judged = judge_histories(put_together(frame(*records)), within=None)
    assert [
        (change.state, judged.histories.nights[change.night]) for _, change in judged.changes() if change is not None
    ] == [
        ("confirmed", judged.histories.nights[15]),
        ("recovered", judged.histories.nights[30]),
    ]


def test_a_clock_that_jumps_and_nights_that_come_twice_raise_no_alarm() -> None:
    values = 10 * (1 + 0.01 * np.random.default_rng(2).standard_normal(60))
    records = [record("s", night, float(value)) for night, value in enumerate(values)]
    again = [record("s", night, float(value), run="again") for night, value in enumerate(values[::-1])]
    ahead = [{**one, "night": f"203{place}-01-01"} for place, one in enumerate(records[10:13])]
    behind = [{**one, "night": "1970-01-01"} for one in records[20:22]]
    for within in (120, None):
        judged = judge_histories(put_together(frame(*records, *again, *ahead, *behind)), within=within)
        assert [verdict.changes for verdict in judged.verdicts] == [()]
        assert judged.verdicts[0].suspect is None
        assert judged.verdicts[0].nights == 64
