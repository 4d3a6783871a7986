"""A large step is told by its fourth night, whatever else happened to the series before: earlier steps, nights out of line."""

from __future__ import annotations

import json
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from commandline import Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

NOISE = 0.01
LAST = date(2026, 6, 30)
CASES = [*product(((35, 2), (70, 3)), (0.16, 1.0), (1, -1), range(2))]
"""(nights and steps before, size, direction, seed) of each series."""
SLOWER, QUICKER = {"confirmed", "drift", "suspect"}, {"improved", "recovered", "drift", "suspect"}


def name_of(case: tuple[Any, ...]) -> str:
    (nights, _), size, direction, seed = case
    return f"n{nights}-{round(100 * size * direction)}-{seed}"


def lively(nights: int, steps: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Logarithms of a history with so many steps of 5 to 30 % and one night 10 to 50 % out of line, and four nights more."""
    random = np.random.default_rng(1000 * nights + seed)
    logs = NOISE * random.standard_normal(nights + 4)
    places = np.sort(random.choice(np.arange(8, nights - 5, 6), steps, replace=False))
    for place in places:
        logs[place:] += np.log1p(random.choice([-1, 1]) * random.uniform(0.05, 0.3))
    logs[random.integers(1, nights - 1)] += np.log1p(random.choice([-1, 1]) * random.uniform(0.1, 0.5))
    return np.asarray(logs)


def stepped(case: tuple[Any, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Times (ms) of a lively history, the last four nights on another level."""
    (nights, steps), size, direction, seed = case
    logs = lively(nights, steps, seed)
    logs[-4:] += direction * np.log1p(size)
    return np.asarray(10 * np.exp(logs))


def write(path: Path, times: dict[str, Any], nights: slice) -> Path:
    """A file of v0.1 records: of each workload the nights of a slice, its last time in the night LAST."""
    lines = []
    for workload, values in times.items():
        dates = [LAST - timedelta(days=len(values) - 1 - index) for index in range(len(values))]
        lines += [
            json.dumps({
                "workload": workload, "engine": "cann", "hardware": "910B", "runtime_ms_mean": float(value),
                "runtime_ms_std": None, "timestamp": f"{night.isoformat()}T02:00:00Z", "schema_version": "0.1",
            })
            for night, value in list(zip(dates, values, strict=True))[nights]
        ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))
    return path


def untold(row: dict[str, Any] | None, direction: int) -> bool:
    """Whether a row says nothing of a step in the last four nights, or that it went the other way."""
    since = (LAST - timedelta(days=3)).isoformat()
    changes = [move["after"] / move["before"] - 1 for move in row["moves"] if move["since"] >= since] if row else []
    if row is not None and row["suspicion"] is not None and row["suspicion"]["since"] >= since:
        changes.append(row["suspicion"]["change"])
    return not changes or changes[-1] * direction < 0


def test_a_step_of_sixteen_times_the_scatter_is_told_in_its_fourth_night(cli: Cli, tmp_path: Path) -> None:
    times = {name_of(case): stepped(case) for case in CASES}
    store, alarms = tmp_path / "store", ("--max-false-alarms-per-year", len(times) / 100)
    store_at_once([write(tmp_path / "a.jsonl", times, slice(-1))], store, RecordOptions(tz="UTC"))
    last = write(tmp_path / "b.jsonl", times, slice(-1, None))
    changes = cli("nightly", last, "--store", store, "--tz", "UTC", "--format", "json", *alarms).json["changes"]
    rows = cli("regressions", "--store", store, "--format", "json", *alarms).json["rows"]
    for told in (changes, rows):
        of = {row["workload"]: row for row in told}
        assert [name_of(case) for case in CASES if untold(of.get(name_of(case)), case[2])] == []
    slower = [row for row in rows if "-100-" in row["workload"] and "--" not in row["workload"]]
    assert {row["state"] for row in slower} == {"confirmed"}
    assert all(row["moves"][-1]["after"] / row["moves"][-1]["before"] > 1.9 for row in slower)


def test_the_same_histories_without_a_last_step_tell_nothing_new(cli: Cli, tmp_path: Path) -> None:
    cases = [case for case in CASES if case[1:3] == (1.0, 1)]
    times = {name_of(case): 10 * np.exp(lively(*case[0], case[3])) for case in cases}
    store = tmp_path / "store"
    store_at_once([write(tmp_path / "a.jsonl", times, slice(None))], store, RecordOptions(tz="UTC"))
    alarms = ("--max-false-alarms-per-year", len(times) / 100)
    rows = cli("regressions", "--store", store, "--format", "json", *alarms).json["rows"]
    of = {row["workload"]: row for row in rows}
    assert [name for name in times if not (untold(of.get(name), 1) and untold(of.get(name), -1))] == []
