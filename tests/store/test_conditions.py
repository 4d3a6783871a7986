"""What is asked of a store: files that cannot hold it are left out, and no row that fits is."""

from __future__ import annotations

import json
import operator
from typing import Any, get_args

import pyarrow as pa
import pytest
from stores import store_at_once

from aoe_reports.store import History
from aoe_reports.store.conditions import Sign, columns_of, equals, matching, may_hold, undecided
from aoe_reports.topics.records.options import RecordOptions

COMPARE = {"=": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge}
NIGHTS = [f"2026-01-{day:02}" for day in range(1, 7)]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Six nights of two workloads: two nights a commit, so that files hold some of them; nobody may write there."""
    folder = tmp_path_factory.mktemp("asked")
    for start in range(0, 6, 2):
        lines = [
            {
                "workload": workload, "engine": "cann", "hardware": "npu", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
                "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
            }
            for night in NIGHTS[start : start + 2]
            for workload in ("a", "b")
        ]  # fmt: skip
        (folder / f"{start}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        store_at_once([folder / f"{start}.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    return History.open(str(folder / "store"))


@pytest.mark.parametrize("sign", get_args(Sign))
@pytest.mark.parametrize("night", ["2025-12-31", *NIGHTS, "2026-01-07"])
def test_every_row_that_fits_is_found_in_whatever_file(history: History, sign: Any, night: str) -> None:
    every = history.records(["night", "workload"]).to_pylist()
    assert len(every) == 12
    found = history.records(["night", "workload"], [equals("night", night, sign)]).to_pylist()
    expected = [row for row in every if COMPARE[sign](row["night"], night)]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    both = history.records(["night", "workload"], [equals("night", night, sign), equals("workload", "b")]).to_pylist()
    assert sorted(both, key=repr) == sorted((row for row in expected if row["workload"] == "b"), key=repr)
    any_of = history.records(["night"], [(equals("night", night, sign), equals("workload", "b"))])
    assert any_of.num_rows == sum(COMPARE[sign](row["night"], night) or row["workload"] == "b" for row in every)
    runs = [header.night for header in history.runs([equals("night", night, sign)])]
    assert sorted(runs) == sorted(one for one in NIGHTS * 2 if COMPARE[sign](one, night))


@pytest.mark.parametrize("sign", get_args(Sign))
@pytest.mark.parametrize(("least", "most"), [(2, 2), (2, 4), (3, 3), (1, 3), (3, 5)])
@pytest.mark.parametrize("value", range(6))
def test_bounds_decide_what_all_values_between_them_say(sign: Any, least: int, most: int, value: int) -> None:
    between = [COMPARE[sign](one, value) for one in range(least, most + 1)]
    where, bounds = [equals("x", value, sign)], {"x": (least, most)}
    assert may_hold(where, bounds) >= any(between)
    assert (undecided(where, bounds) == []) <= all(between)
    if value in {least - 1, most + 1, least, most}:
        assert may_hold(where, bounds) == any(between)
        assert (undecided(where, bounds) == []) == all(between)


@pytest.mark.parametrize("sign", get_args(Sign))
@pytest.mark.parametrize("bounds", [{}, {"x": (None, None)}, {"x": (1, None)}, {"x": (None, 1)}])
def test_a_bound_that_is_not_known_decides_nothing(sign: Any, bounds: dict[str, Any]) -> None:
    where = [equals("x", 7, sign)]
    assert may_hold(where, bounds)
    assert len(undecided(where, bounds)) == 1


def test_rows_without_a_value_never_fit_and_columns_are_named_once() -> None:
    rows = pa.table({"x": [1, None, 3], "y": ["a", "b", None]})
    for sign, found in (("=", [3]), ("!=", [1]), ("<=", [1, 3]), (">=", [3])):
        assert matching(rows, [equals("x", 3, sign)])["x"].to_pylist() == found  # type: ignore[arg-type]
    assert matching(rows, [(equals("x", 1), equals("y", "b"))]).num_rows == 2
    assert columns_of([equals("x", 1), (equals("x", 2), equals("y", "b"))]) == {"x", "y"}
