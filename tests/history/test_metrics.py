"""Metrics of records as series: directions, units and budgets from the stored record to the gate."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from commandline import Cli

from aoe_reports.history.changes.rows import bad_spans, known_bad
from aoe_reports.history.series.baselines import LevelShift

NIGHTS, CHANGED = 40, 30


def noisy(seed: int, level: float, factor: float = 1.0, at: int = CHANGED) -> list[float]:
    source = random.Random(seed)
    return [
        level * (1 + 0.005 * (sum(source.random() for _ in range(12)) - 6)) * (factor if night >= at else 1)
        for night in range(NIGHTS)
    ]


def write(folder: Path, metrics: Mapping[str, list[Any]], nights: int = NIGHTS, first: int = 0) -> Path:
    """A file of records a night, with a steady time."""
    folder.mkdir(parents=True, exist_ok=True)
    times = noisy(99, 1000.0)
    for night in range(first, nights):
        when = date(2026, 1, 1) + timedelta(days=night)
        record = {
            "workload": "net",
            "engine": "vllm",
            "hardware": "npu",
            "runtime_ms_mean": times[night],
            "runtime_ms_std": None,
            "timestamp": f"{when}T02:00:00Z",
            "schema_version": "0.1",
            "metrics": {name: values[night] for name, values in metrics.items()},
        }
        (folder / f"{when}.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def store(tmp_path: Path, cli: Cli) -> Any:
    def make(metrics: Mapping[str, list[Any]], nights: int = NIGHTS) -> Path:
        uri = tmp_path / "store"
        assert cli("ingest", write(tmp_path / "nights", metrics, nights), "--store", uri).code == 0
        return uri

    return make


def rows(cli: Cli, uri: Path, *more: str) -> dict[str, dict[str, Any]]:
    told = cli("regressions", "--store", uri, "--all", "--format", "json", *more).json
    return {row["metric"]: row for row in told["rows"]}


def test_a_loss_is_a_regression_and_a_gain_an_improvement_each_with_its_own_sign(cli: Cli, store: Any) -> None:
    values = {
        "tokens/s": noisy(1, 1000.0, 0.9),
        "mean_ttft_ms": noisy(2, 200.0, 1.1),
        "mfu": noisy(3, 0.4, 1.08),
        "p99_tpot_ms": noisy(4, 30.0, 0.9),
    }
    found = rows(cli, store(values))
    states = {name: (row["state"], row["unit"], row["better"], row["scope"]) for name, row in found.items()}
    assert states == {
        "runtime_ms_mean": (None, "ms", "lower", "model"),
        "tokens/s": ("confirmed", "tokens/s", "higher", "metric"),
        "mean_ttft_ms": ("confirmed", "ms", "lower", "metric"),
        "mfu": ("improved", None, "higher", "metric"),
        "p99_tpot_ms": ("improved", "ms", "lower", "metric"),
    }
    for name, nightly in values.items():
        row, before, after = found[name], median(nightly[:CHANGED]), median(nightly[CHANGED:])
        assert row["since"] == "2026-01-31"
        assert row["before"] == pytest.approx(before, rel=0.005)
        assert row["after"] == pytest.approx(after, rel=0.01)
        assert row["change"] == pytest.approx(row["after"] / row["before"] - 1)
        assert row["ci_low"] < row["change"] < row["ci_high"]
        assert row["ci_low"] < after / before - 1 < row["ci_high"]
        assert row["impact_ms"] is None
        assert (row["fails"] == "regression") == (row["state"] == "confirmed")


def test_where_higher_is_better_the_reciprocal_is_judged(cli: Cli, store: Any) -> None:
    values = noisy(5, 50.0, 0.93)
    declared = [{"value": value, "unit": "x", "better": "higher"} for value in values]
    mirrored = [{"value": 1 / value, "unit": "1/x", "better": "lower"} for value in values]
    found = rows(cli, store({"high": declared, "low": mirrored}))
    high, low = found["high"], found["low"]
    assert (high["state"], high["since"], high["nights"]) == (low["state"], low["since"], low["nights"])
    assert 1 + high["change"] == pytest.approx(1 / (1 + low["change"]))
    assert 1 + high["ci_low"] == pytest.approx(1 / (1 + low["ci_high"]))
    assert high["before"] == pytest.approx(1 / low["before"])
    assert high["smallest_detectable"] == pytest.approx(1 - 1 / (1 + low["smallest_detectable"]))


def test_a_metric_without_a_direction_is_listed_and_not_judged(cli: Cli, store: Any, tmp_path: Path) -> None:
    uri = store({"widgets": noisy(6, 5.0, 1.3), "mfu": noisy(7, 0.4)})
    told = cli("regressions", "--store", uri, "--all", "--format", "json").json
    (widgets,) = [row for row in told["rows"] if row["metric"] == "widgets"]
    assert (widgets["state"], widgets["reason"], widgets["better"], widgets["nights"]) == (
        None,
        "no-direction",
        None,
        NIGHTS,
    )
    assert (told["budget"]["series"], told["budget"]["eligible"]) == (3, 2)
    (tmp_path / "m.toml").write_text('[widgets]\nunit = "pieces"\nbetter = "lower"\n[mfu]\nbetter = "none"\n')
    found = rows(cli, uri, "--metrics", str(tmp_path / "m.toml"))
    assert (found["widgets"]["state"], found["widgets"]["unit"]) == ("confirmed", "pieces")
    assert found["mfu"]["reason"] == "no-direction"
    (tmp_path / "m.toml").write_text('["w*"]\nbetter = "higher"\n')
    assert rows(cli, uri, "--metrics", str(tmp_path / "m.toml"))["widgets"]["state"] == "improved"


def test_gates_and_their_budgets_know_metrics(cli: Cli, store: Any) -> None:
    uri = store({"tokens/s": noisy(1, 1000.0, 0.9), "mean_ttft_ms": noisy(2, 200.0)})
    change = -rows(cli, uri)["tokens/s"]["change"] * 100

    def gate(text: str) -> int:
        return cli("regressions", "--store", uri, "--gate", text).code

    assert gate(f"metric=tokens/s,effect>={change - 0.1}%") == 1
    assert gate(f"metric=tokens/s,effect>={change + 0.1}%") == 0
    assert gate("metric!=tokens/s") == 0
    assert gate("scope=metric") == 1
    told = cli("regressions", "--store", uri, "--gate", "scope=metric,alarms<=2/year", "--format", "json").json
    assert told["budget"]["gates"] == [
        {"gate": "scope=metric,alarms<=2/year", "false_alarms_per_year": 2, "series": 2, "eligible": 2}
    ]


def test_the_store_keeps_values_and_an_acknowledgement_vouches_for_one(cli: Cli, tmp_path: Path) -> None:
    values = [value * (0.9 if night >= 37 else 1) for night, value in enumerate(noisy(1, 1000.0, 0.9, at=20))]
    uri = tmp_path / "store"
    folder = write(tmp_path / "nights", {"tokens/s": values}, nights=30)
    assert cli("nightly", folder, "--store", uri).code == 1
    (change,) = cli("store", "history", "changes", "--store", uri, "--format", "json").json["rows"]
    assert change["before"] == pytest.approx(1000, rel=0.01)
    assert change["after"] == pytest.approx(900, rel=0.01)
    assert change["change"] == pytest.approx(-0.1, abs=0.01)
    assert change["ci_low"] < change["change"] < change["ci_high"]
    told = cli("store", "ack", change["incident"], "--reason", "new model", "--store", uri)
    assert told.code == 0
    (said,) = cli("store", "history", "acks", "--store", uri, "--format", "json").json["rows"]
    assert said["accepted"][0]["limit"] < 900  # the lowest that is vouched for
    assert cli("nightly", write(tmp_path / "more", {"tokens/s": values}, 36, 30), "--store", uri).code == 0
    assert cli("nightly", write(tmp_path / "worse", {"tokens/s": values}, 40, 36), "--store", uri).code == 1
    row = rows(cli, uri)["tokens/s"]
    assert row["state"] == "confirmed"
    assert row["change"] == pytest.approx(-0.1, abs=0.015)


def test_numbers_of_two_units_are_never_compared(cli: Cli, store: Any) -> None:
    values = [{"value": 2.0 if night < 20 else 2000.0 + night, "unit": "s" if night < 20 else "ms", "better": "lower"} for night in range(NIGHTS)]  # fmt: skip
    uri = store({"load": values})
    told = cli("regressions", "--store", uri, "--all", "--format", "json")
    (row,) = [row for row in told.json["rows"] if row["metric"] == "load"]
    assert (row["unit"], row["nights"], row["state"]) == ("ms", 20, None)
    assert "metric-units" in told.rules()


def test_what_is_no_level_is_left_out_and_counted(cli: Cli, store: Any) -> None:
    values = [0.0 if night % 10 == 3 else value for night, value in enumerate(noisy(8, 0.8))]
    odd = ["n/a", None, True, [1.0]] * (NIGHTS // 4)
    found = rows(cli, store({"accuracy": values, "odd": odd}))
    assert (found["accuracy"]["nights"], found["accuracy"]["left_out"]) == (NIGHTS - 4, 4)
    assert "odd" not in found


def test_people_read_values_with_their_units(cli: Cli, store: Any, tmp_path: Path) -> None:
    uri = store({"tokens/s": noisy(1, 1000.0, 0.9), "mean_ttft_ms": noisy(2, 200.0)})
    text = cli("regressions", "--store", uri).out
    assert "tokens/s of net -" in text
    assert " tokens/s" in text.split("Before")[1]
    for form in ("junit", "sarif", "github", "grafana"):
        assert "tokens/s of net" in cli("regressions", "--store", uri, "--format", form).out
    metrics = cli("regressions", "--store", uri, "--format", "openmetrics").out
    assert "aoe_reports_metric_after{" in metrics
    assert 'metric="tokens/s",unit="tokens/s",better="higher"} -0.' in metrics
    assert "aoe_reports_series_before_seconds{" not in metrics
    assert cli("site", "--store", uri, "-o", tmp_path / "site").code == 0
    first = (tmp_path / "site" / "index.html").read_text()
    assert "tokens/s of net -" in first
    pages = [json.loads(path.read_text()) for path in (tmp_path / "site" / "series").glob("*.json")]
    page = next(page for page in pages if page.get("row", {}).get("metric") == "tokens/s")
    assert page["values"] == pytest.approx(noisy(1, 1000.0, 0.9))
    assert page["level"] == pytest.approx(900, rel=0.01)
    assert page["changes"][0]["change"] == pytest.approx(-0.1, abs=0.01)
    report = cli("report", "--store", uri, "--format", "json").json
    assert report["history"]["unit"] == "tokens/s"
    assert {"values", "metric", "better"} <= report["history"].keys()


def test_our_own_records_have_no_such_series(cli: Cli, tmp_path: Path) -> None:
    from commandline import FIXTURES

    uri = tmp_path / "s"
    cli("ingest", FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks", "--store", uri, "--workload", "w")
    told = cli("regressions", "--store", uri, "--all", "--format", "json").json
    assert told["rows"]
    assert {row["metric"] for row in told["rows"]} == {"runtime_ms_mean"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1", "[a]: expected a table"),
        ("[a]\nbetter = 'more'", "[a] better: expected one of higher, lower, none"),
        ("[a]\nunit = 3", "[a] unit: expected a quoted string"),
        ("[a]\ndirection = 'up'", "[a] direction: expected one of unit, better"),
        ("[a", "m.toml: "),
    ],
)
def test_a_mapping_file_that_is_none_is_wrong_usage(cli: Cli, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "m.toml").write_text(text)
    ended = cli("regressions", "--store", tmp_path, "--metrics", tmp_path / "m.toml")
    assert ended.code == 2
    assert words in ended.err


def test_a_baseline_with_nights_of_a_known_regression_is_told(cli: Cli, store: Any) -> None:
    uri = store({"tokens/s": noisy(1, 1000.0, 0.9)})
    for baseline, bad in (("nights:5", 5), ("window:2026-01-20..2026-02-04", 5), ("window:2026-01-05..2026-01-30", 0)):
        told = cli("regressions", "--store", uri, "--all", "--format", "json", "--baseline", baseline)
        (row,) = [row for row in told.json["rows"] if row["metric"] == "tokens/s"]
        assert len(row["baseline"]["known_bad"]) == bad
        assert ("baseline-known-bad" in told.rules()) == bool(bad)
    assert "baseline-known-bad" not in cli("regressions", "--store", uri, "--format", "json").rules()


def shift(since: str, before: float, after: float) -> LevelShift:
    state = "confirmed" if after > before else "improved"
    return LevelShift(since, None, state, before, after, 0.0, 0.0, 10, 10, 1)  # type: ignore[arg-type]


def test_nights_are_bad_until_the_level_before_is_reached_again() -> None:
    shifts = [shift("2026-01-05", 10, 12), shift("2026-01-08", 12, 11), shift("2026-01-10", 11, 10.02)]
    assert bad_spans(shifts, 0.005) == [("2026-01-05", "2026-01-10")]
    assert bad_spans(shifts[:2], 0.005) == [("2026-01-05", None)]
    nights = ["2026-01-04", "2026-01-05", "2026-01-09", "2026-01-10"]
    assert known_bad(nights, bad_spans(shifts, 0.005)) == ["2026-01-05", "2026-01-09"]
