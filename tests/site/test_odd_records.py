"""Records of wrong clocks and with values that no run has: they cost their series, never the pages or an answer."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

NIGHTS = 40
ODD: dict[str, Sequence[tuple[str, Any]]] = {
    "y1970": [("1970-01-01T00:00:00Z", 100.0)],
    "y0001": [("0001-01-01T00:00:00Z", 100.0)],
    "y9999": [("9999-12-31T23:59:59Z", 100.0)],
    "y2126": [("2126-01-01T00:00:00Z", 100.0)],
    "y2262": [("2262-04-11T00:00:00Z", 100.0)],
    "nan": [("2026-02-10T02:00:00Z", float("nan"))],
    "infinite": [("2026-02-10T02:00:00Z", float("inf"))],
    "negative": [("2026-02-10T02:00:00Z", -5.0)],
    "zero": [("2026-02-10T02:00:00Z", 0.0)],
    "null": [("2026-02-10T02:00:00Z", None)],
    "huge": [("2026-02-10T02:00:00Z", 1e308)],
    "tiny": [("2026-02-10T02:00:00Z", 5e-324)],
    "twice": [("2026-02-10T02:00:00Z", 100.0), ("2026-02-10T02:00:00Z", 100.0), ("2026-02-10T02:00:00Z", 90.0)],
    "CASE": [("2026-02-10T02:00:00Z", 100.0)],
    "one night": [("2026-02-10T02:00:00Z", 100.0)],
    "": [("2026-02-10T02:00:00Z", 100.0)],
}
"""Of each workload the times (ms) that end its history."""
NEW = {"CASE", "one night", ""}


def line(workload: str, when: str, ms: float | None) -> str:
    return json.dumps(
        {
            "workload": workload, "engine": "x", "hardware": "h", "runtime_ms_mean": ms, "runtime_ms_std": None,
            "timestamp": when, "schema_version": "0.1",
        }
    ) + "\n"  # fmt: skip


def to_and_fro(workload: str) -> list[str]:
    """Nights that stay on one of two levels for five nights each."""
    noise = random.Random(workload)
    return [
        line(
            workload,
            f"{date(2026, 1, 1) + timedelta(days=number)}T02:00:00Z",
            (108.0 if number // 5 % 2 else 100.0) * (1 + noise.gauss(0, 0.004)),
        )
        for number in range(NIGHTS)
    ]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of sound nights of every workload; nobody may write there."""
    folder = tmp_path_factory.mktemp("sound")
    file = folder / "good.jsonl"
    file.write_text("".join(part for name in [*ODD, "case"] if name not in NEW for part in to_and_fro(name)))
    store_at_once([file], folder / "store", RecordOptions(tz="UTC"))
    return folder / "store"


@pytest.fixture
def good(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "store")
    return tmp_path


def test_no_odd_record_costs_the_pages_or_an_answer(cli: Cli, good: Path) -> None:
    odd, store, site = good / "odd.jsonl", good / "store", good / "site"
    odd.write_text("".join(line(name, when, ms) for name, rows in ODD.items() for when, ms in rows))
    nightly = cli("nightly", odd, "--store", store, "--site", site, "--tz", "UTC", "--format", "json")
    assert nightly.code in {1, 3}, nightly.err
    assert {"clock-jump"} <= nightly.rules()
    page = json.loads((site / "index.json").read_text())
    assert page["newest_night"] == "2026-02-10", "a wrong clock is not the newest night"
    for command in (
        ("regressions",),
        ("regressions", "--whole-history"),
        ("report",),
        ("store", "history", "runs"),
        ("store", "history", "observations"),
        ("site", "-o", site),
    ):
        ended = cli(*command, "--store", store)
        assert ended.code in {0, 1, 5}, (command, ended.err)
    assert cli("report", "--store", store, "--format", "json").json["night"] == "2026-02-10"


def test_a_run_of_next_month_is_said_when_it_is_stored(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(line("net", "2026-03-01T02:00:00Z", 100.0) + line("net", "2026-03-02T02:00:00Z", 100.0))
    second = 1_772_416_800  # 2026-03-02T02:00:00Z
    for ahead, said in ((86_400, False), (86_401, True)):
        monkeypatch.setattr(time, "time_ns", lambda ahead=ahead: (second - ahead) * 10**9)
        ended = cli("ingest", file, "--store", tmp_path / "store", "--tz", "UTC", "--format", "json")
        assert (ended.code, ended.rules() == {"clock-ahead"}) == (0, said)
    assert "run 20260302T020000-" in ended.json["findings"][0]["message"]


def test_a_run_a_century_ahead_is_said_when_it_is_stored(cli: Cli, good: Path) -> None:
    file = good / "r.jsonl"
    file.write_text(line("zero", "2126-01-01T00:00:00Z", 100.0))
    ended = cli("ingest", file, "--store", good / "store", "--tz", "UTC", "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"clock-jump"})
