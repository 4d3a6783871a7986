"""What was recorded of an incident stays: its first night and what else changed there; what is seen later is appended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import Cli, Ended
from stores import store_at_once, stored_rows
from unchecked import store_unchecked

from aoe_reports.topics.records.options import RecordOptions

FIRST, OLD, NEW = 30, "8.0.0", "8.2.RC1"


def night(index: int) -> str:
    return (date(2026, 1, 1) + timedelta(days=index)).isoformat()


def levels(*spans: tuple[int, float], seed: int = 0) -> list[float]:
    """Times (ms) of nights: spans of (nights, level), with noise of 0.4 %."""
    flat = np.concatenate([np.full(count, level) for count, level in spans])
    return [float(value) for value in flat * (1 + 0.004 * np.random.default_rng(seed).standard_normal(len(flat)))]


def fill(
    store: Path,
    values: Sequence[float],
    *,
    start: int = 0,
    workload: str = "net",
    hour: int = 2,
    version: Callable[[int], str],
) -> None:
    records = [
        {
            "workload": workload, "engine": "cann", "hardware": "910B", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{night(start + index)}T{hour:02d}:00:00Z", "schema_version": "0.1", "engine_version": version(start + index),
        }
        for index, value in enumerate(values)
    ]  # fmt: skip
    path = store.parent / "nights.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    store_at_once([path], store, RecordOptions(workload="net", tz="UTC"))


def regressions(cli: Cli, store: Path, *more: object) -> Ended:
    return cli("regressions", "--store", store, "--format", "json", *more)


def cann(index: int) -> str:
    return NEW if index >= FIRST else OLD


CLUE = {"name": "engine_version", "before": OLD, "after": NEW}
WORDS = f"Other changes at that point: engine version {OLD} → {NEW}."
GONE = f"First recorded, but not in the current data: engine version {OLD} → {NEW}."


def incident(ended: Ended) -> dict[str, Any]:
    (only,) = ended.json["incidents"]
    return dict(only)


def facts(ended: Ended) -> list[tuple[str, str | None, str | None, str]]:
    return [(one["name"], one["before"], one["after"], one["seen"]) for one in incident(ended)["metadata"]]


def alert(cli: Cli, store: Path) -> dict[str, str]:
    """By what a code-scanning service knows that an alert is one that it has already."""
    (result,) = cli("regressions", "--store", store, "--format", "sarif").json["runs"][0]["results"]
    return dict(result["partialFingerprints"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def join_a_surer_series(cli: Cli, store: Path) -> None:
    """A series joins a recorded incident, and is surer than that: a night later, from where the version is none of one side."""
    fill(store, levels((FIRST, 10.0), (9, 10.2)), workload="net/a", version=cann)
    assert incident(regressions(cli, store, "--record"))["since"] == night(FIRST)
    fill(store, levels((FIRST + 1, 10.0), (8, 14.0), seed=3), workload="net/b", version=cann)


def test_an_incident_keeps_its_first_night_and_its_clue_when_a_surer_series_joins(cli: Cli, store: Path) -> None:
    join_a_surer_series(cli, store)
    for record in ((), ("--record",), ()):
        ended = regressions(cli, store, *record)
        told = incident(ended)
        assert [one["workload"] for one in told["members"]] == ["net/b", "net/a"]
        assert (told["since"], told["since_now"]) == (night(FIRST), night(FIRST + 1))
        assert told["since_run"].startswith(night(FIRST).replace("-", ""))
        assert facts(ended) == [("engine_version", OLD, NEW, "first-only")]
        assert all(one["metadata"] == told["metadata"] for one in ended.json["rows"])
    text = cli("regressions", "--store", store).out
    assert f"{night(FIRST)}: net/b" in text
    for words in (
        WORDS,
        GONE,
        f"First recorded as starting on {night(FIRST)}; the current data gives {night(FIRST + 1)}.",
    ):
        assert words in text


def test_what_an_incident_was_recorded_with_survives_that_its_first_change_is_withdrawn(cli: Cli, store: Path) -> None:
    join_a_surer_series(cli, store)
    regressions(cli, store, "--record")
    for hour in (3, 4, 5):  # net/a was that slow all the time
        fill(store, levels((FIRST, 10.2), seed=hour), workload="net/a", hour=hour, version=cann)
    assert "change-withdrawn" in regressions(cli, store, "--record").rules()
    ended = regressions(cli, store)
    told = incident(ended)
    assert [one["workload"] for one in told["members"]] == ["net/b"]
    assert (told["since"], told["since_now"]) == (night(FIRST), night(FIRST + 1))
    assert facts(ended) == [("engine_version", OLD, NEW, "first-only")]


def test_a_night_that_is_estimated_anew_stands_beside_the_recorded_one(cli: Cli, store: Path) -> None:
    fill(store, levels((FIRST, 10.0), (7, 10.5)), version=cann)
    first = regressions(cli, store, "--record")
    again = regressions(cli, store)
    assert first.json["incidents"] == again.json["incidents"]
    assert (incident(first)["since_now"], facts(first)) == (None, [("engine_version", OLD, NEW, "first")])
    text = cli("regressions", "--store", store).out
    assert WORDS in text
    assert "First recorded" not in text
    before = alert(cli, store)
    for hour in (3, 4, 5):
        fill(store, [10.5], start=FIRST - 1, hour=hour, version=lambda _: NEW)
    moved = regressions(cli, store)
    (row,) = moved.json["rows"]
    assert (row["since"], row["first_since"]) == (night(FIRST - 1), night(FIRST))
    assert (incident(moved)["since"], incident(moved)["since_now"]) == (night(FIRST), night(FIRST - 1))
    assert (
        f"First recorded as starting on {night(FIRST)}; the current data gives {night(FIRST - 1)}."
        in cli("regressions", "--store", store).out
    )
    assert alert(cli, store) == before


def test_a_night_of_another_version_takes_no_clue_away(cli: Cli, store: Path) -> None:
    fill(store, levels((FIRST, 10.0), (7, 10.5)), version=cann)
    regressions(cli, store, "--record")
    fill(store, [10.5], start=FIRST + 1, hour=1, version=lambda _: "8.3")
    fill(store, [10.5], start=FIRST + 1, hour=3, version=lambda _: "8.3")
    assert facts(regressions(cli, store)) == [("engine_version", OLD, NEW, "first-only")]
    assert WORDS in cli("regressions", "--store", store).out


def test_what_is_seen_later_is_appended(cli: Cli, store: Path) -> None:
    fill(store, levels((FIRST, 10.0), (7, 10.5)), version=lambda index: "8.1" if index == FIRST + 1 else cann(index))
    first = regressions(cli, store, "--record")
    assert facts(first) == []
    for hour in (1, 3):
        fill(store, [10.5], start=FIRST + 1, hour=hour, version=cann)
    ended = regressions(cli, store)
    assert facts(ended) == [("engine_version", OLD, NEW, "later")]
    text = cli("regressions", "--store", store).out
    assert f"Found after the first record: engine version {OLD} → {NEW}." in text
    assert "Other changes at that point" not in text


def test_an_incident_older_than_the_nights_looked_at_keeps_its_clue(cli: Cli, store: Path, tmp_path: Path) -> None:
    fill(store, levels((FIRST, 10.0), (9, 10.6)), version=cann)
    regressions(cli, store, "--record")
    fill(store, levels((150, 10.6), seed=3), start=FIRST + 9, version=cann)
    ended = regressions(cli, store)
    assert (ended.code, incident(ended)["since"], facts(ended)) == (
        1,
        night(FIRST),
        [("engine_version", OLD, NEW, "first")],
    )
    text = cli("regressions", "--store", store).out
    assert WORDS in text
    assert "not in the current data" not in text


def test_a_store_of_before_opens_and_its_incidents_keep_their_night(cli: Cli, store: Path, tmp_path: Path) -> None:
    join_a_surer_series(cli, store)
    rows = stored_rows(store)
    stripped = 0
    for one in rows:
        if one.get("kind") == "change":
            body = json.loads(one["body"])
            stripped += body.pop("seen") is not None
            one["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"))
    assert stripped == 1
    old = tmp_path / "old"
    store_unchecked(rows, old)
    told = incident(regressions(cli, old))
    assert (told["since"], told["since_now"]) == (night(FIRST), night(FIRST + 1))


def test_the_page_of_a_series_keeps_what_was_recorded(cli: Cli, store: Path, tmp_path: Path) -> None:
    join_a_surer_series(cli, store)
    series = incident(regressions(cli, store, "--record"))["members"][0]["series_id"]
    assert cli("site", "--store", store, "--output", tmp_path / "site").code == 0
    page = (tmp_path / "site" / "series" / f"{series}.html").read_text()
    assert (
        f"The incident was first recorded as starting on {night(FIRST)}; the current data gives {night(FIRST + 1)}."
        in page
    )
    assert f"Other changes at the start of the incident: engine version {OLD} → {NEW}." in page
    twin = json.loads((tmp_path / "site" / "series" / f"{series}.json").read_text())
    assert twin["incident"]["metadata"] == [{**CLUE, "seen": "first-only"}]
