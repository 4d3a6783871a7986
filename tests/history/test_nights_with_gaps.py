"""A series that is not measured every night, beside one that is: its nights are those that have a time."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest
from made_series import gauss
from stores import store_at_once

from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import RegressionOptions
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.topics.records.options import RecordOptions

NIGHTS = [(date(2026, 1, 1) + timedelta(days=day)).isoformat() for day in range(40)]
EVERY_SECOND = NIGHTS[::2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("gaps")
    lines: list[dict[str, Any]] = [
        {
            "workload": name, "engine": "cann", "hardware": "npu", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }
        for name, seed, nights in (("daily", 1, NIGHTS), ("seldom", 2, EVERY_SECOND))
        for night, value in zip(nights, gauss(seed, len(nights), 0.004), strict=True)
    ]  # fmt: skip
    (folder / "all.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    store_at_once([folder / "all.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    return str(folder / "store")


def row(store: str, name: str, baseline: str) -> SeriesChange:
    options = RegressionOptions(baseline=baseline, workload=name, every=True)
    rows: list[SeriesChange] = list(find_regressions(store, options).rows)
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize("count", [1, 3, 5])
@pytest.mark.parametrize(("name", "nights"), [("daily", NIGHTS), ("seldom", EVERY_SECOND)])
def test_the_nights_before_the_newest_three_are_those_with_a_time(
    store: str, name: str, nights: list[str], count: int
) -> None:
    found = row(store, name, f"nights:{count}")
    assert found.baseline is not None
    assert (found.baseline.kind, found.baseline.nights, found.baseline.until) == (f"nights:{count}", count, nights[-4])
    assert (found.since, found.last_night, found.nights) == (nights[-3], nights[-1], len(nights))
