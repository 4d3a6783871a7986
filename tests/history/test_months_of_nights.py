"""Months of nights: frozen baselines, acknowledgements, expectations, chosen baselines, incidents, what the store remembers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import Cli, Ended
from stores import store_at_once, stored_rows
from unchecked import store_unchecked

from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)
NOISE = 0.004


def night(index: int) -> str:
    return (FIRST + timedelta(days=index)).isoformat()


def levels(*spans: tuple[int, float], seed: int = 0) -> list[float]:
    """Times (ms) of nights: spans of (nights, level), with noise of 0.4 %."""
    flat = np.concatenate([np.full(count, level) for count, level in spans])
    return [float(value) for value in flat * (1 + NOISE * np.random.default_rng(seed).standard_normal(len(flat)))]


def write(
    path: Path,
    values: Sequence[float | None],
    start: int = 0,
    workload: str = "net",
    hour: int = 2,
    more: Callable[[int], Mapping[str, Any]] = lambda _: {},
) -> Path:
    """A file of v0.1 records, one a night from `start` on."""
    records = [
        {
            "workload": workload, "engine": "cann", "hardware": "910B", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{night(start + index)}T{hour:02d}:00:00Z", "schema_version": "0.1", **more(start + index),
        }
        for index, value in enumerate(values)
        if value is not None
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def fill(store: Path, values: Sequence[float | None], **more: Any) -> None:
    path = write(store.parent / "in" / f"{len(list(store.parent.glob('in/*')))}.jsonl", values, **more)
    store_at_once([path], store, RecordOptions(workload="net", tz="UTC"))


def regressions(cli: Cli, store: Path, *more: object) -> Ended:
    return cli("regressions", "--store", store, "--format", "json", *more)


def row(ended: Ended) -> dict[str, Any]:
    (only,) = ended.json["rows"]
    return only


def test_an_unacknowledged_regression_keeps_its_baseline(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5), (20, 11.025)))
    told = row(regressions(cli, store))
    assert (told["state"], told["since"]) == ("confirmed", night(30))
    assert told["before"] == pytest.approx(10.0, rel=0.003)
    assert told["change"] == pytest.approx(0.1025, abs=0.004)
    assert told["ci_low"] < 0.1025 < told["ci_high"]
    assert [move["since"] for move in told["moves"]] == [night(30), night(50)]
    assert told["baseline"]["nights"] == 30


def test_small_steps_do_not_creep_through_a_gate(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.2), (20, 10.404), (20, 10.612)))
    gate = ("--gate", "effect>=5%")
    ended = regressions(cli, store, *gate)
    assert (ended.code, ended.json["reasons"]) == (1, ["regression"])
    assert all(move["change"] < 0.03 for move in row(ended)["moves"])
    assert cli("store", "ack", row(ended)["series_id"], "--reason", "known", "--store", store).code == 0
    assert regressions(cli, store, *gate).code == 0


def test_a_regression_stays_listed_when_its_change_is_older_than_the_window(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (10, 10.6)))
    first = row(regressions(cli, store, "--record"))
    fill(store, levels((150, 10.6), seed=1), start=40)
    ended = regressions(cli, store)
    told = row(ended)
    assert (ended.code, told["state"], told["since"]) == (1, "confirmed", night(30))
    assert told["incident"] == first["incident"]
    assert told["before"] == pytest.approx(10.0, rel=0.003)
    assert told["change"] == pytest.approx(0.06, abs=0.004)
    fill(store, levels((20, 10.0), seed=2), start=190)
    assert (row(regressions(cli, store))["state"], regressions(cli, store).code) == ("recovered", 0)


def test_without_a_memory_an_old_change_is_not_known(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (160, 10.6)))
    assert regressions(cli, store).json["rows"] == []


@pytest.mark.slow
def test_recording_twice_adds_nothing_and_a_change_that_moves_is_the_same(cli: Cli, store: Path) -> None:
    values = levels((30, 10.0), (40, 10.15))
    fill(store, values[:36])
    told = [row(regressions(cli, store, "--record"))]
    for count in range(36, 60, 6):
        fill(store, values[count : count + 6], start=count)
        told.append(row(regressions(cli, store, "--record")))
        regressions(cli, store, "--record")
    assert {one["incident"] for one in told} == {told[0]["incident"]}
    kept = cli("store", "history", "changes", "--store", store, "--format", "json").json["rows"]
    assert [(one["state"], one["incident"]) for one in kept] == [("confirmed", told[0]["incident"])]
    assert kept[0]["detector"] >= 1
    assert kept[0]["parameters"]["least_level"] == 3
    assert cli("store", "verify", "--store", store).code == 0
    shutil.copytree(store, store.parent / "copy")
    assert row(regressions(cli, store.parent / "copy"))["incident"] == told[0]["incident"]


def test_regressions_without_record_writes_nothing(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    before = sorted(path.relative_to(store) for path in store.rglob("*"))
    regressions(cli, store)
    assert sorted(path.relative_to(store) for path in store.rglob("*")) == before


def test_an_acknowledgement_moves_the_baseline_and_says_who_and_why(
    cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    series = row(regressions(cli, store))["series_id"]
    monkeypatch.setenv("AOE_REPORTS_USER", "lin")
    done = cli("store", "ack", series, "--reason", "new dataset", "--store", store, "--format", "json").json["rows"][0]
    assert (done["outcome"], done["who"], done["series"]) == ("added", "lin", 1)
    ended = regressions(cli, store)
    told = row(ended)
    assert (ended.code, told["state"]) == (0, "confirmed")
    assert {name: told["acknowledged"][name] for name in ("kind", "who", "reason", "id")} == {
        "kind": "ack", "who": "lin", "reason": "new dataset", "id": done["id"],
    }  # fmt: skip
    again = cli("store", "ack", series, "--reason", "again", "--store", store, "--format", "json").json["rows"][0]
    assert (again["outcome"], again["id"]) == ("unchanged", done["id"])
    assert "new dataset" in cli("regressions", "--store", store).out
    fill(store, levels((20, 11.0), seed=1), start=50)
    told = row(regressions(cli, store))
    assert (told["acknowledged"], told["since"]) == (None, night(50))
    assert told["before"] == pytest.approx(10.5, rel=0.003)
    assert told["change"] == pytest.approx(11 / 10.5 - 1, abs=0.004)


def test_an_acknowledgement_can_be_revoked(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    incident = row(regressions(cli, store))["incident"]
    cli("store", "ack", incident, "--reason", "looks fine", "--store", store)
    assert regressions(cli, store).code == 0
    ended = cli("store", "ack", incident, "--revoke", "--reason", "it is not", "--who", "wang", "--store", store)
    assert ended.code == 0
    ended = regressions(cli, store)
    assert (ended.code, row(ended)["acknowledged"]) == (1, None)
    assert cli("store", "ack", incident, "--revoke", "--reason", "twice", "--store", store).code == 2
    assert cli("store", "ack", incident, "--reason", "fine after all", "--store", store).code == 0
    assert regressions(cli, store).code == 0
    kept = cli("store", "history", "acks", "--store", store, "--format", "json").json["rows"]
    assert [one["state"] for one in kept] == ["acknowledged", "revoked", "acknowledged"]


def test_an_acknowledged_level_that_was_left_and_comes_back_is_a_regression(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (15, 10.5)))
    cli("store", "ack", row(regressions(cli, store))["series_id"], "--reason", "known", "--store", store)
    fill(store, levels((15, 10.0), seed=1), start=45)
    ended = regressions(cli, store)
    assert (ended.code, row(ended)["state"]) == (0, "recovered")
    fill(store, levels((15, 10.5), seed=2), start=60)
    ended = regressions(cli, store)
    assert (ended.code, row(ended)["since"]) == (1, night(60))


@pytest.mark.parametrize(
    ("change", "accepted"), [("5%", True), ("0..4.5%", True), ("-3%..6%", True), ("3%", False), ("-9..-1%", False)]
)
def test_what_was_announced_is_told_as_expected(cli: Cli, store: Path, change: str, accepted: bool) -> None:
    fill(store, levels((30, 10.0), (20, 10.45)))
    about = ("store", "expect", "net", "--from", night(29), "--change", change, "--reason", "CANN 9", "--store", store)
    assert cli(*about).code == 0
    assert cli(*about, "--format", "json").json["rows"][0]["outcome"] == "unchanged"
    ended = regressions(cli, store)
    assert ended.code == (0 if accepted else 1)
    told = row(ended)["acknowledged"]
    assert (told is not None and (told["kind"], told["reason"]) == ("expect", "CANN 9")) == accepted


def test_an_expectation_is_of_its_nights_and_its_workload(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    for workload, since in (
        ("net", night(38)),
        ("net", night(80)),
        ("net", night(10)),
        ("ne", night(29)),
        ("net/step", night(29)),
    ):
        cli("store", "expect", workload, "--from", since, "--change", "6%", "--reason", "r", "--store", store)
    assert regressions(cli, store).code == 1


def test_an_announcement_for_later_does_not_cover_the_newest_nights(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (5, 10.6)))
    cli("store", "expect", "net", "--from", night(60), "--change", "9%", "--reason", "r", "--store", store)
    assert regressions(cli, store).code == 1


def test_an_announced_change_takes_a_frozen_baseline_along(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5), (20, 11.55)))
    cli("store", "expect", "net", "--from", night(49), "--change", "11%", "--reason", "more layers", "--store", store)
    ended = regressions(cli, store)
    told = row(ended)
    assert (ended.code, told["since"]) == (1, night(30))
    assert told["change"] == pytest.approx(0.05, abs=0.004)


WRONG_USAGE = (
    (("store", "ack", "nothing", "--reason", "r"), "no series or incident"),
    (("store", "ack", "nothing", "--reason", " "), "--reason: expected text that is not empty"),
    (("store", "ack", "nothing", "--reason", "r", "--revoke"), "no active acknowledgement or expectation"),
    (
        ("store", "expect", "net", "--from", "soon", "--change", "5%", "--reason", "r"),
        "--from 'soon': expected a date",
    ),
    (
        (
            "store",
            "expect",
            "net",
            "--from",
            "2026-02-01",
            "--until",
            "2026-01-01",
            "--change",
            "5%",
            "--reason",
            "r",
        ),
        "before --from",
    ),
    (("store", "expect", "net", "--from", "2026-02-01", "--change", "much", "--reason", "r"), "--change 'much'"),
    (("store", "expect", "net", "--from", "2026-02-01", "--change", "5..1%", "--reason", "r"), "--change '5..1%'"),
    (
        ("store", "expect", "net", "--from", "9999-12-31", "--change", "1.2.3%", "--reason", "r"),
        "--change '1.2.3%'",
    ),
    (("store", "tag", "v1", "--run", "none"), "there is no such run"),
    (("regressions", "--baseline", "run:none"), "has no run none"),
    (("regressions", "--baseline", "tag:none"), "no run has this name"),
    (("regressions", "--baseline", "window:2020-01-01..2020-02-01"), "has no night in this range"),
    (("regressions", "--baseline", "window:2020-02-01..2020-01-01"), "the earlier one first"),
    (("regressions", "--baseline", "nights:0"), "expected a number of nights"),
    (("regressions", "--baseline", "yesterday"), "expected segment, run:RUN_ID"),
)
"""Commands, and what is said of them."""


def test_what_means_nothing_is_wrong_usage(cli: Cli, store: Path) -> None:
    fill(store, levels((12, 10.0)))
    for arguments, message in WRONG_USAGE:
        ended = cli(*arguments, "--store", store)
        assert (ended.code, message in ended.err) == (2, True), (arguments, ended.err)


def test_nothing_open_is_nothing_to_acknowledge(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0)))
    series = regressions(cli, store, "--all").json["rows"][0]["series_id"]
    ended = cli("store", "ack", series, "--reason", "r", "--store", store)
    assert (ended.code, "no open items" in ended.err) == (2, True)


def test_a_chosen_baseline_is_held_against_the_newest_level(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (30, 9.0), (20, 9.6)))
    runs = {
        one["night"]: one["run"] for one in cli("store", "history", "--store", store, "--format", "json").json["rows"]
    }
    assert cli("store", "tag", "v1", "--run", runs[night(5)], "--store", store).code == 0
    assert (
        cli("store", "tag", "v1", "--run", runs[night(5)], "--store", store, "--format", "json").json["rows"][0][
            "outcome"
        ]
        == "unchanged"
    )
    expected = {
        "segment": (1, "confirmed", 9.6 / 9.0 - 1),
        "tag:v1": (0, "improved", -0.04),
        f"run:{runs[night(40)]}": (1, "confirmed", 9.6 / 9.0 - 1),
        f"window:{night(0)}..{night(29)}": (0, "improved", -0.04),
        f"window:{night(30)}..{night(59)}": (1, "confirmed", 9.6 / 9.0 - 1),
        "nights:10": (0, None, 0.0),
    }
    for baseline, (code, state, change) in expected.items():
        ended = regressions(cli, store, "--baseline", baseline, "--all")
        told = row(ended)
        assert (baseline, ended.code, told["state"]) == (baseline, code, state)
        assert told["change"] == pytest.approx(change, abs=0.012)
        assert told["ci_low"] < told["change"] < told["ci_high"]
        assert told["baseline"]["kind"] == baseline
    assert ended.json["budget"]["baseline"] == "nights:10"


def test_a_chosen_baseline_may_be_older_than_the_window(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0), (160, 10.5)))
    assert regressions(cli, store).code == 0
    ended = regressions(cli, store, "--baseline", f"window:{night(2)}..{night(9)}")
    assert (ended.code, row(ended)["baseline"]["nights"]) == (1, 8)
    assert row(ended)["change"] == pytest.approx(0.05, abs=0.005)


def test_a_chosen_baseline_without_newer_nights_is_no_answer(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0)))
    ended = regressions(cli, store, "--baseline", f"window:{night(0)}..{night(18)}", "--strict-data", "--all")
    assert (ended.code, row(ended)["reason"], ended.rules()) == (4, "too-few-nights", {"not-enough-data"})


@pytest.mark.slow
def test_what_moved_on_one_night_is_one_incident_with_what_else_changed(cli: Cli, store: Path) -> None:
    def cann(index: int) -> dict[str, Any]:
        newer = index >= 30
        driver = "24.1\u001b[31m" if newer else "23.0"
        return {
            "engine_version": "8.1" if newer else "8.0",
            "software_config": {"driver": driver, "pid": index, "os": {"kernel": "5.10"}},
        }

    for place, (name, after) in enumerate({"net/a": 10.5, "net/b": 11.0, "net/c": 10.0, "net/d": 9.5}.items()):
        fill(store, levels((30, 10.0), (20, after), seed=place), workload=name, more=cann)
    fill(store, levels((40, 10.0), (10, 10.8), seed=9), workload="net/e", more=cann)
    ended = regressions(cli, store)
    one, two = sorted(ended.json["incidents"], key=lambda incident: incident["since"])
    assert [member["workload"] for member in one["members"]] == ["net/b", "net/a", "net/d"]
    assert [member["workload"] for member in two["members"]] == ["net/e"]
    assert (one["since"], two["since"], one["title"]) == (night(30), night(40), "net/b +10%")
    assert {told["name"]: (told["before"], told["after"]) for told in one["metadata"]} == {
        "engine_version": ("8.0", "8.1"),
        "software_config.driver": ("23.0", "24.1\u001b[31m"),
    }
    assert two["metadata"] == []
    text = cli("regressions", "--store", store).out
    assert text.count("Incident ") == 2
    assert "engine version 8.0 → 8.1" in text
    assert "\u001b" not in text
    assert "<script" not in cli("regressions", "--store", store, "--format", "html").out
    assert cli("store", "ack", one["incident"], "--reason", "CANN 8.1", "--store", store).code == 0
    ended = regressions(cli, store)
    assert {told["workload"]: told["acknowledged"] is not None for told in ended.json["rows"]} == {
        "net/a": True, "net/b": True, "net/d": False, "net/e": False,
    }  # fmt: skip
    assert ended.code == 1
    cli("store", "ack", two["incident"], "--reason", "too", "--store", store)
    assert regressions(cli, store).code == 0


def test_a_told_change_that_filled_in_nights_do_not_bear_out_is_withdrawn_aloud(cli: Cli, store: Path) -> None:
    wave = levels((12, 10.0), (12, 10.5))
    fill(store, [*wave[:12], *[None] * 30, *wave[12:]])
    told = row(regressions(cli, store, "--record"))
    assert (told["state"], told["since"]) == ("confirmed", night(42))
    # the nights in between, and re-runs of those before: the slower level was there all the time
    fill(store, levels((30, 10.5), seed=3), start=12)
    for hour in (3, 4):
        fill(store, levels((12, 10.5), seed=hour), start=0, hour=hour)
    ended = regressions(cli, store)
    assert ended.code == 0
    assert ended.json["rows"] == []
    assert "change-withdrawn" in ended.rules()
    assert told["incident"] in ended.json["findings"][0]["message"]
    assert "change-withdrawn" in regressions(cli, store, "--record").rules()
    assert "change-withdrawn" not in regressions(cli, store, "--record").rules()
    kept = cli("store", "history", "changes", "--store", store, "--format", "json").json["rows"]
    assert [one["state"] for one in kept] == ["confirmed", "withdrawn"]


def test_a_series_that_is_not_measured_any_more_fails_no_gate(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0), (10, 11.0)), workload="net/old")
    assert regressions(cli, store).code == 1
    fill(store, levels((15, 10.0), seed=1), start=30, workload="net/new")
    ended = regressions(cli, store)
    assert (ended.code, [(one["workload"], one["ended"]) for one in ended.json["rows"]]) == (0, [("net/old", True)])


def test_a_suspicion_does_not_hide_what_is_open(cli: Cli, store: Path) -> None:
    fill(store, [*levels((30, 10.0), (20, 10.5)), 14.0, 14.0])
    ended = regressions(cli, store)
    told = row(ended)
    assert (ended.code, told["state"]) == (1, "confirmed")
    assert told["suspicion"]["since"] == night(50)


def test_a_suspicion_on_top_of_what_a_gate_lets_through_is_told(cli: Cli, store: Path) -> None:
    fill(store, [*levels((30, 10.0), (20, 10.3)), 14.0, 14.0])
    gate = ("--gate", "effect>=10%")
    assert regressions(cli, store, *gate).code == 0
    ended = regressions(cli, store, *gate, "--fail-on", "suspect")
    assert (ended.code, row(ended)["state"], row(ended)["fails"]) == (5, "confirmed", "suspect")
    assert regressions(cli, store, "--gate", "effect>=60%", "--fail-on", "suspect").code == 0


def test_every_form_says_what_was_accepted(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    series = row(regressions(cli, store))["series_id"]
    cli("store", "ack", series, "--reason", "larger \u202evocabulary", "--who", "ada", "--store", store)
    for form in ("text", "csv", "markdown", "html", "junit", "sarif", "github", "openmetrics", "grafana"):
        ended = cli("regressions", "--store", store, "--format", form)
        assert ended.code == 0
        assert ("acknowledged_series 1" if form == "openmetrics" else "vocabulary") in ended.out, form
        assert not [word for word in ("\u202e", "<failure", '"error"') if word in ended.out], form


def test_what_is_left_of_a_regression_can_be_acknowledged(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 12.0), (20, 11.0)))
    series = row(regressions(cli, store))["series_id"]
    assert cli("store", "ack", series, "--reason", "known", "--store", store).code == 0
    ended = regressions(cli, store)
    told = row(ended)
    assert (ended.code, told["state"], told["acknowledged"]["kind"]) == (0, "confirmed", "ack")
    assert told["change"] == pytest.approx(0.1, abs=0.004)
    assert "unchanged" in cli("store", "ack", series, "--reason", "known", "--store", store).out
    fill(store, levels((20, 12.0), seed=2), start=70)
    ended = regressions(cli, store)
    assert (ended.code, row(ended)["since"]) == (1, night(70))


@pytest.mark.parametrize(
    ("before", "after"),
    [(1e-14, 1.1e-14), (1e16, 1.1e16), (1e-300, 1e300), (1e300, 1e-300), (1e-10, 1e10), (1e10, 1e-10)],
)
def test_no_time_breaks_the_store(cli: Cli, store: Path, before: float, after: float) -> None:
    fill(store, levels((30, before), (20, after)))
    first = regressions(cli, store, "--record", "--all")
    assert first.code in {0, 1}
    assert regressions(cli, store, "--all").code == first.code
    assert regressions(cli, store, "--whole-history").code == 0
    possible = all(1e-12 < level < 1e15 for level in (before, after))
    assert row(first)["nights"] + row(first)["left_out"] == 50
    assert (row(first)["left_out"] == 0) == possible


def test_a_run_without_a_time_does_not_halve_its_night(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0)))
    fill(store, [0.0] * 5, start=25, hour=4)
    told = row(regressions(cli, store, "--all"))
    assert (told["state"], told["nights"]) == (None, 30)


def test_a_workload_without_series_is_not_enough(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0)))
    fill(store, levels((3, 10.0)), workload="new")
    for asked in (("--workload", "new"), ("--scope", "step")):
        ended = regressions(cli, store, *asked, "--strict-data")
        assert (ended.code, ended.rules()) == (4, {"not-enough-data"})
    for strict in ((), ("--strict-data",)):
        ended = regressions(cli, store, "--workload", "typo", *strict)
        assert (ended.code, ended.rules()) == (4, {"nothing-selected"})
    assert "No series of workload 'typo' is stored" in cli("regressions", "--store", store, "--workload", "typo").out
    assert regressions(cli, store, "--workload", "net", "--strict-data").code == 0


def test_a_nightly_does_not_answer_for_the_clock_of_others(cli: Cli, store: Path, tmp_path: Path) -> None:
    fill(store, levels((20, 10.0)), workload="other")
    fill(store, [20.0], start=365 * 40, workload="other")
    path = write(tmp_path / "nights" / "a.jsonl", levels((20, 10.0)), workload="ours")
    ended = cli("nightly", path, "--store", store, "--workload", "ours", "--tz", "UTC", "--strict", "--format", "json")
    assert (ended.code, ended.rules() & {"clock-jump"}) == (0, set())
    assert regressions(cli, store).rules() == {"clock-jump"}


def test_a_clock_that_was_wrong_is_told_and_alarms_nobody(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0)))
    fill(store, [20.0, 20.0], start=365 * 40)
    fill(store, [20.0], start=-365 * 30)
    ended = regressions(cli, store)
    assert (ended.code, ended.json["rows"], ended.rules()) == (0, [], {"clock-jump"})
    assert len(ended.json["findings"]) == 3
    assert row(regressions(cli, store, "--all"))["last_night"] == night(19)


def test_two_kinds_of_hardware_are_two_series_and_told(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0)))
    fill(store, levels((20, 20.0)), start=20, more=lambda _: {"hardware": "310P"})
    ended = regressions(cli, store, "--all")
    assert (ended.code, ended.rules()) == (0, {"several-hardware"})
    assert {(one["hardware"], one["state"]) for one in ended.json["rows"]} == {("910B", None), ("310P", None)}


def test_several_runs_of_a_night_are_one_night(cli: Cli, store: Path) -> None:
    fill(store, levels((20, 10.0)))
    for hour in range(3, 9):
        fill(store, [10.0 + hour], start=19, hour=hour)
    ended = regressions(cli, store, "--all")
    assert (ended.code, row(ended)["nights"], row(ended)["state"]) == (0, 20, "suspect")


def test_an_empty_store_is_not_enough(cli: Cli, store: Path) -> None:
    fill(store, [10.0])
    run = cli("store", "history", "--store", store, "--format", "json").json["rows"][0]["run"]
    cli("store", "undo", run, "--store", store)
    ended = regressions(cli, store, "--strict-data")
    assert (ended.code, ended.rules(), ended.json["rows"]) == (4, {"not-enough-data"}, [])


def test_a_stored_change_that_was_meddled_with_is_left_out(cli: Cli, store: Path) -> None:
    fill(store, levels((30, 10.0), (20, 10.5)))
    regressions(cli, store, "--record")
    text = json.dumps(stored_rows(store))
    for number, broken in enumerate(
        (text.replace('\\"before\\":', '\\"befor\\":'), text.replace('\\"position\\":0', '\\"position\\":\\"x\\"'))
    ):
        assert broken != text
        copy = store.parent / f"copy{number}"
        store_unchecked(json.loads(broken), copy)
        assert "store-body" in cli("store", "verify", "--store", copy, "--format", "json").rules()
        ended = regressions(cli, copy)
        assert (ended.code, "its content differs from what was written" in ended.err) == (3, True)


def nightly(cli: Cli, store: Path, path: Path, *more: object) -> Ended:
    return cli("nightly", path, "--store", store, "--workload", "net", "--tz", "UTC", "--format", "json", *more)


@pytest.mark.slow
def test_nightly_night_by_night(cli: Cli, store: Path, tmp_path: Path) -> None:
    values = levels((20, 10.0), (12, 10.5), (12, 10.0))
    said = {}
    for start, end in pairwise([0, 3, 12, *range(18, 33), 36, 40, len(values)]):
        path = write(tmp_path / "nights" / f"{start}.jsonl", values[start:end], start=start)
        ended = nightly(cli, store, path)
        changes = ended.json["changes"]
        said[end] = (ended.code, changes[0]["state"] if changes else None)
        if end == 3:
            text = cli("nightly", path, "--store", store, "--workload", "net", "--tz", "UTC").out
            assert "Not enough nights yet (3 of 10)" in text
    assert {one for end, one in said.items() if end <= 20} == {(0, None)}
    assert {one for end, one in said.items() if 20 < end <= 32} <= {(0, None), (0, "suspect"), (1, "confirmed")}
    assert {one for end, one in said.items() if 27 < end <= 32} == {(1, "confirmed")}
    assert said[len(values)] == (0, "recovered")
    kept = cli("store", "history", "changes", "--store", store, "--format", "json").json["rows"]
    assert [one["state"] for one in kept] == ["confirmed", "recovered"]


@pytest.mark.slow
def test_nightly_takes_the_options_of_regressions(cli: Cli, store: Path, tmp_path: Path) -> None:
    values = levels((20, 10.0), (10, 10.3))
    path = write(tmp_path / "nights" / "a.jsonl", values)
    assert nightly(cli, store, path).json["reasons"] == ["regression"]
    assert nightly(cli, store, path, "--gate", "effect>=5%").code == 0
    assert nightly(cli, store, path, "--fail-on", "never").code == 0
    assert nightly(cli, store, path, "--baseline", "nights:5").code == 0
    assert nightly(cli, store, path, "--baseline", f"window:{night(0)}..{night(19)}").code == 1
    assert nightly(cli, store, path, "--gate", "colour=red").code == 2
    short = write(tmp_path / "short.jsonl", values[:3])
    ended = nightly(cli, tmp_path / "s", short, "--strict-data")
    assert (ended.code, ended.json["reasons"]) == (4, ["not-enough-data"])
    spiked = write(tmp_path / "spiked.jsonl", [*values[:20], 14.0, 14.0])
    ended = nightly(cli, tmp_path / "t", spiked, "--fail-on", "suspect")
    assert (ended.code, ended.json["reasons"]) == (5, ["suspect"])
    assert nightly(cli, tmp_path / "t", spiked).code == 0


@pytest.mark.slow
def test_a_nightly_over_the_same_nights_says_the_same(cli: Cli, store: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "nights" / "a.jsonl", levels((20, 10.0), (10, 10.3), (10, 9.8)))
    told = [nightly(cli, store, path).json["changes"] for _ in range(2)]
    assert told[0] == told[1] != []
