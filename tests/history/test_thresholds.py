"""Limits and counts that somebody relies on, each tried on both of its sides through the command line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import Cli, Ended
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)


def night(index: int) -> str:
    return (FIRST + timedelta(days=index)).isoformat()


def levels(*spans: tuple[int, float], seed: int = 0, noise: float = 0.004) -> list[float]:
    """Times (ms) of nights: spans of (nights, level), with noise."""
    flat = np.concatenate([np.full(count, level) for count, level in spans])
    return [float(value) for value in flat * (1 + noise * np.random.default_rng(seed).standard_normal(len(flat)))]


def nothing_more(_: int) -> Mapping[str, Any]:
    return {}


def write(
    path: Path,
    series: Mapping[str, Sequence[float]],
    start: int = 0,
    more: Callable[[int], Mapping[str, Any]] = nothing_more,
) -> Path:
    """A file of v0.1 records: of each workload one a night from `start` on."""
    records = [
        {
            "workload": workload, "engine": "cann", "hardware": "910B", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{night(start + index)}T02:00:00Z", "schema_version": "0.1", **more(start + index),
        }
        for workload, values in series.items()
        for index, value in enumerate(values)
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def fill(store: Path, series: Mapping[str, Sequence[float]], **places: Any) -> None:
    path = write(store.parent / "in" / f"{len(list(store.parent.glob('in/*')))}.jsonl", series, **places)
    store_at_once([path], store, RecordOptions(workload="net", tz="UTC"))


def regressions(cli: Cli, store: Path, *more: object) -> Ended:
    return cli("regressions", "--store", store, "--format", "json", *more)


def test_a_gate_fails_a_change_of_just_its_size(cli: Cli, store: Path) -> None:
    fill(store, {"net": levels((30, 10.0), (10, 10.5))})
    change = regressions(cli, store).json["rows"][0]["change"]
    for least, code in ((change, 1), (math.nextafter(change, 1), 0)):
        ended = regressions(cli, store, "--gate", f"effect>={least!r}")
        assert (ended.code, ended.json["rows"][0]["fails"]) == (code, "regression" if code else None)


@pytest.mark.parametrize(("missing", "ended"), [(9, False), (10, True)])
def test_a_series_that_is_absent_from_ten_nights_of_its_workload_has_ended(
    cli: Cli, store: Path, missing: int, ended: bool
) -> None:
    series = {"net/a": levels((20, 10.0), (10, 11.0)), "net/b": levels((30 + missing, 5.0), seed=1)}
    fill(store, series)
    answer = regressions(cli, store)
    (row,) = answer.json["rows"]
    assert (row["ended"], answer.code) == (ended, 0 if ended else 1)


@pytest.mark.parametrize(("gap", "jumped"), [(365, False), (366, True)])
def test_a_clock_is_wrong_more_than_a_year_away(cli: Cli, store: Path, gap: int, jumped: bool) -> None:
    fill(store, {"net": levels((20, 10.0))})
    fill(store, {"net": [10.0]}, start=19 + gap)
    assert (regressions(cli, store).rules() == {"clock-jump"}) == jumped


@pytest.mark.parametrize(("nights", "state"), [(3, None), (2, "clock-jump")])
def test_three_nights_far_away_are_a_level_and_two_are_none(
    cli: Cli, store: Path, nights: int, state: str | None
) -> None:
    fill(store, {"net": levels((20, 10.0))})
    fill(store, {"net": [10.0] * nights}, start=800)
    assert regressions(cli, store).rules() == ({state} if state else set())


@pytest.mark.parametrize(("differing", "told"), [(2, False), (3, True)])
def test_what_else_changed_is_one_thing_in_the_three_nights_before(
    cli: Cli, store: Path, differing: int, told: bool
) -> None:
    def version(index: int) -> Mapping[str, Any]:
        return {"engine_version": "8.1" if index >= 30 else "7.9" if index == 29 - differing else "8.0"}

    fill(store, {"net": levels((30, 10.0), (10, 10.6))}, more=version)
    (incident,) = regressions(cli, store).json["incidents"]
    assert ([fact["name"] for fact in incident["metadata"]] == ["engine_version"]) == told


@pytest.mark.parametrize(("after", "state"), [(2, "suspect"), (3, "confirmed")])
def test_three_nights_confirm_and_two_are_suspect(cli: Cli, store: Path, after: int, state: str) -> None:
    fill(store, {"net": levels((40, 10.0), (after, 11.0))})
    assert [row["state"] for row in regressions(cli, store).json["rows"]] == [state]


@pytest.mark.parametrize(("before", "states"), [(6, []), (7, ["confirmed"])])
def test_a_week_is_a_baseline(cli: Cli, store: Path, before: int, states: list[str]) -> None:
    fill(store, {"net": levels((before, 10.0), (8, 12.0), noise=0.001)})
    assert [row["state"] for row in regressions(cli, store).json["rows"]] == states


@pytest.mark.parametrize(("nights", "reason"), [(9, "too-few-nights"), (10, None)])
def test_ten_nights_can_be_judged(cli: Cli, store: Path, nights: int, reason: str | None) -> None:
    fill(store, {"net": levels((nights, 10.0))})
    (row,) = regressions(cli, store, "--all").json["rows"]
    assert row["reason"] == reason


@pytest.mark.parametrize(("step", "states"), [(1.0046, []), (1.0056, ["confirmed"])])
def test_a_change_has_half_a_percent(cli: Cli, store: Path, step: float, states: list[str]) -> None:
    fill(store, {"net": [10.0] * 30 + [10.0 * step] * 30})
    assert [row["state"] for row in regressions(cli, store).json["rows"]] == states


def test_the_detector_looks_back_120_nights(cli: Cli, store: Path) -> None:
    fill(store, {"net": levels((125, 10.0))})
    (row,) = regressions(cli, store, "--all").json["rows"]
    assert row["nights"] == 120


def test_headlines_name_one_other_incident_that_is_open_and_count_the_rest(
    cli: Cli, store: Path, tmp_path: Path
) -> None:
    """Series that are slower since one, two and three nights: each headline counts those nights, not what belongs together."""
    for count in (1, 2, 3):
        here = tmp_path / str(count) / "store"
        slower = {
            f"net/s{place}": levels((18 + 6 * place, 10.0 + place), (20 - 6 * place, 11.5 + place), seed=place)
            for place in range(count)
        }
        series = {**slower, "net/quiet": levels((38, 7.0), seed=9)}
        fill(here, {name: values[:-1] for name, values in series.items()})
        last = write(tmp_path / f"{count}.jsonl", {name: values[-1:] for name, values in series.items()}, start=37)
        asked = ("--store", here, "--workload", "net", "--tz", "UTC")
        others = {1: [], 2: [], 3: ["1 other incident is open."]}[count]
        printed = (
            cli("nightly", last, *asked).out,
            cli("report", "--store", here, "--format", "markdown").out,
            cli("regressions", "--store", here).out,
        )
        for said in printed:
            text = " ".join(said.split())
            assert re.findall(r"\d+ other incidents? \w+ open\.", text)[:1] == others
            assert text.startswith(("Regression: net/s", "# Regression: net/s"))
            assert (". Open: net/s" in text.partition("report")[0]) == (count > 1)
        assert f"{count} series slower." in cli("nightly", last, *asked).out


def test_a_nightly_tells_what_every_mode_of_aoe_claims(cli: Cli, store: Path, aoe: Path) -> None:
    results = [aoe / name for name in ("array_subgraphs", "array_grouped")]
    out = cli("nightly", *results, "--store", store, "--workload", "net").out
    claims = out[out.index("Claims by AOE") :]
    claims = claims[: claims.index("\n\n")]
    assert [row.split()[2] for row in claims.splitlines() if row.startswith("2026-01-01")] == ["opat", "sgat"]
    sgat = next(row for row in claims.splitlines() if " sgat " in row)
    assert sgat.split()[-3:] == ["5.600", "3.600", "+56%"]


def test_the_band_of_quiet_nights_lies_around_its_level(cli: Cli, store: Path, tmp_path: Path) -> None:
    fill(store, {"net": levels((30, 10.0), (20, 11.0), noise=0.01)})
    cli("site", "--store", store, "-o", tmp_path / "site")
    pages = [page.read_text() for page in (tmp_path / "site" / "series").glob("*.html")]
    (text,) = (page for page in pages if 'class="band"' in page)
    bands = re.findall(r'class="band" d="M\S+ (\S+?)L\S+ (\S+?)V(\S+?)L\S+ (\S+?)Z"', text)
    drawn = re.findall(r'class="level" d="M\S+ (\S+?)L\S+ (\S+?)"', text)
    assert len(bands) == len(drawn) == 2
    for band, level in zip(bands, drawn, strict=True):
        upper, upper_end, lower_end, lower = map(float, band)
        assert (upper, lower) == (upper_end, lower_end)
        above, below = float(level[0]) - upper, lower - float(level[0])  # down is more in a picture
        assert above > 5
        assert above == pytest.approx(below, rel=0.1)


@pytest.mark.parametrize("members", [10, 11])
def test_an_incident_lists_ten_series_and_says_that_there_are_more(cli: Cli, store: Path, members: int) -> None:
    fill(
        store,
        {f"net/{place:02d}": levels((30, 10.0), (8, 12.0), seed=place, noise=0.001) for place in range(members)},
    )
    out = cli("regressions", "--store", store, "--max-false-alarms-per-year", 100).out
    assert ("The first 10 of 11 series are listed" in out) == (members == 11)
