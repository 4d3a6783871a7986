"""What every recent night had and the newest lacks: said once, with how many series are not judged; with --strict-data exit 4."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night
from commandline import Cli, Ended
from stores import store_at_once

from aoe_reports.history.changes.absent import MIN_NIGHTS, Absence, absence
from aoe_reports.history.series.stored import ENDED_NIGHTS
from aoe_reports.topics.records.options import RecordOptions

NIGHTS = 12


def night(number: int) -> str:
    return (date(2026, 1, 1) + timedelta(days=number)).isoformat()


def write(folder: Path, number: int, times: Mapping[str, float | None], **more: Any) -> Path:
    """A night's folder of records, one for each workload."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, time in times.items():
        line = {
            "workload": name, "engine": "cann", "hardware": "npu", "runtime_ms_mean": time, "runtime_ms_std": None,
            "timestamp": f"{night(number)}T02:00:00Z", "schema_version": "0.1", **more,
        }  # fmt: skip
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    return folder


def absent(ended: Ended) -> list[str]:
    return [one["message"] for one in ended.json["findings"] if one["rule"] == "expected-absent"]


@pytest.fixture
def two_ranks(tmp_path: Path) -> Path:
    """A folder with the nights of two ranks, the newest of which has only one, and a store of the others."""
    for number in range(NIGHTS):
        for rank in (0, 1):
            if (number, rank) != (NIGHTS - 1, 1):
                write_night(tmp_path / f"{number:02}", number, QUIET, rank=rank)
    folders = [tmp_path / f"{number:02}" for number in range(NIGHTS - 1)]
    store_at_once(folders, tmp_path / "store", RecordOptions(workload="net", tz="UTC"))
    return tmp_path


def test_a_rank_that_is_missing_tonight_is_named_once_wherever_the_night_is_reported(cli: Cli, two_ranks: Path) -> None:
    store, site = two_ranks / "store", two_ranks / "site"
    before = cli("regressions", "--store", store, "--strict-data", "--format", "json")
    assert (before.code, absent(before)) == (0, [])
    given = (two_ranks / "11", "--workload", "net", "--tz", "UTC", "--store", store)
    nightly = cli("nightly", *given, "--strict-data", "--site", site, "--format", "json")
    message = "rank 1 is missing: not on 2026-03-12, and each of the 11 nights before 2026-03-12 had it: 10 series are not judged"
    assert (nightly.code, nightly.json["reasons"], absent(nightly)) == (4, ["expected-absent"], [message])
    said = "No regression: no series changed. Not measured: rank 1 of net."
    assert nightly.json["headline"] == said
    assert cli("nightly", *given).code == 0
    assert message in (site / "index.html").read_text()
    assert "Not measured: rank 1 of net." in (site / "index.html").read_text()
    assert message in [one["message"] for one in json.loads((site / "index.json").read_text())["findings"]]
    for command in (("regressions",), ("report", "--night", "2026-03-12")):
        ended = cli(*command, "--store", store, "--strict-data", "--format", "json")
        assert (ended.code, ended.json["reasons"], absent(ended)) == (4, ["expected-absent"], [message])
        people = cli(*command, "--store", store)
        assert message in people.out + people.err
        assert people.out.splitlines()[0] == said
    other = cli("regressions", "--store", store, "--workload", "other", "--format", "json")
    assert absent(other) == []


@pytest.mark.parametrize(
    ("had", "expected"),
    [
        ("111", None),
        ("1110", Absence(1, 3)),
        ("0110", None),
        ("01111000", Absence(3, 4)),
        ("1010", None),
        ("111" + "0" * (ENDED_NIGHTS - 1), Absence(ENDED_NIGHTS - 1, MIN_NIGHTS)),
        ("111" + "0" * ENDED_NIGHTS, None),
        ("0", None),
    ],
)
def test_what_was_there_on_three_nights_is_expected_until_it_is_gone_for_good(
    had: str, expected: Absence | None
) -> None:
    assert absence([one == "1" for one in had]) == expected


def stored(cli: Cli, place: Path, nights: Sequence[Mapping[str, float | None]], **more: Any) -> Ended:
    """What `nightly` says of the last of some nights, all stored in their order."""
    folders = [write(place / "nights" / f"{number}", number, times, **more) for number, times in enumerate(nights)]
    store = place / "store"
    store_at_once(folders[:-1], store, RecordOptions(tz="UTC"))
    return cli("nightly", folders[-1], "--store", store, "--tz", "UTC", "--strict-data", "--format", "json")


def test_what_is_open_stays_open_where_it_is_not_measured(cli: Cli, tmp_path: Path) -> None:
    """A rank, then a whole workload, that got slower and is missing tonight: the gate fails as on the nights before."""
    slow = replace(QUIET, kernels=tuple(replace(one, us=1.3 * one.us) for one in QUIET.kernels))
    for number in range(24):
        for rank in (0, 1):
            if (number, rank) != (23, 1):
                write_night(
                    tmp_path / "net" / f"{number:02}", number, slow if rank and number > 17 else QUIET, rank=rank
                )
    folders = [tmp_path / "net" / f"{number:02}" for number in range(24)]
    store_at_once(folders[:-1], tmp_path / "store", RecordOptions(workload="net", tz="UTC"))
    given = ("--workload", "net", "--tz", "UTC", "--store", tmp_path / "store", "--format", "json")
    ended = cli("nightly", folders[-1], *given)
    assert (ended.code, ended.json["reasons"]) == (1, ["regression"])
    assert "step of net, rank 1 +2" in ended.json["headline"]
    assert ended.json["headline"].endswith(" Not measured: rank 1 of net.")
    again = cli("regressions", "--store", tmp_path / "store", "--format", "json")
    assert (again.code, again.json["incidents"]) == (1, [{**one, "new": False} for one in ended.json["incidents"]])

    nights = [{"a": 10.0 + number % 3 / 100, "b": 20.0 if number < 18 else 26.0} for number in range(23)]
    ended = stored(cli, tmp_path / "records", [*nights, {"a": 10.0}])
    assert (ended.code, ended.json["reasons"]) == (1, ["regression", "expected-absent"])
    assert "b +30%" in ended.json["headline"]
    assert ended.json["headline"].endswith(" Not measured: b.")


def test_a_night_whose_only_time_is_0_ms_is_said_not_to_be_judged(cli: Cli, tmp_path: Path) -> None:
    ended = stored(cli, tmp_path, [*[{"a": 10.0}] * NIGHTS, {"a": 0.0}])
    (message,) = absent(ended)
    assert "no value of 2026-01-13 can be judged (0 ms" in message
    assert "1 series is not judged" in message
    assert (ended.code, ended.json["reasons"]) == (4, ["expected-absent"])
    assert ended.json["headline"] == "No regression: no series changed. Not measured: a (no value can be judged)."


def test_a_workload_that_every_night_had_is_missing(cli: Cli, tmp_path: Path) -> None:
    ended = stored(cli, tmp_path, [*[{"a": 10.0, "b": 20.0}] * NIGHTS, {"a": 10.0}])
    expected = ["workload b is missing: not on 2026-01-13, and each of the 12 nights before 2026-01-13 had it"]
    assert (ended.code, absent(ended), ended.json["missing"]) == (4, expected, ["b"])
    assert str(ended.json["headline"]).endswith("Not measured: b.")
    for command in ("regressions", "report"):
        again = cli(command, "--store", tmp_path / "store", "--strict-data", "--format", "json")
        assert (again.code, absent(again)) == (4, expected)
        people = cli(command, "--store", tmp_path / "store").out.splitlines()[0]
        assert people == ended.json["headline"]


def test_a_job_of_one_workload_waits_for_no_other_until_a_night_has_passed(cli: Cli, tmp_path: Path) -> None:
    every = [*[{"a": 10.0, "b": 20.0}] * NIGHTS]
    folders = [write(tmp_path / "nights" / f"{number}", number, times) for number, times in enumerate(every)]
    store = tmp_path / "store"
    store_at_once(folders, store, RecordOptions(tz="UTC"))
    for number, expected in ((NIGHTS, 0), (NIGHTS + 1, 1)):
        file = write(tmp_path / "nights" / f"{number}", number, {"a": 10.0}) / "a.jsonl"
        assert len(absent(cli("nightly", file, "--store", store, "--tz", "UTC", "--format", "json"))) == expected


def test_a_metric_that_every_night_had_is_missing(cli: Cli, tmp_path: Path) -> None:
    for number in range(NIGHTS + 1):
        metrics = {"throughput": 100.0} if number < NIGHTS else {}
        write(tmp_path / "nights" / f"{number:02}", number, {"a": 10.0}, metrics=metrics)
    store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(tz="UTC"))
    ended = cli("regressions", "--store", tmp_path / "store", "--format", "json")
    assert absent(ended) == [
        "metric throughput is missing: not on 2026-01-13, and each of the 12 nights before 2026-01-13 had it: 1 series is not judged"
    ]
    assert (ended.code, ended.json["reasons"]) == (0, [])


def test_steps_that_no_rank_or_one_rank_has_any_more_are_missing(cli: Cli, tmp_path: Path) -> None:
    for number in range(MIN_NIGHTS + 2):
        for rank in (0, 1):
            capture = write_night(tmp_path / f"{number}", number, QUIET, rank=rank)
            if number >= MIN_NIGHTS + rank:
                (capture / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").unlink()
    options = RecordOptions(workload="net", tz="UTC")
    expected = ("step of rank 0 is missing: not on 2026-03-04", "step is missing: not on 2026-03-05")
    for count, message in zip((MIN_NIGHTS + 1, MIN_NIGHTS + 2), expected, strict=True):
        store = tmp_path / f"store{count}"
        store_at_once([tmp_path / f"{number}" for number in range(count)], store, options)
        found = absent(cli("regressions", "--store", store, "--format", "json"))
        assert [one.split(",")[0] for one in found] == [f"scope {message}"]
