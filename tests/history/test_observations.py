"""What is told of a series beside changes of its level: by its name, and never as an alarm."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from commandline import Cli

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.history.detection.verdicts import Observed, Verdict

COUNT = 40
FIRST = date(2026, 1, 1)


def gauss(seed: int, nights: int = 120) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((COUNT, nights))


def of_kind(verdict: Verdict, kind: str) -> Observed | None:
    """The one observation of this kind; None where there is none."""
    found = [one for one in verdict.observed if one.kind == kind]
    assert len(found) <= 1
    return found[0] if found else None


def test_noise_alone_is_no_observation() -> None:
    assert [verdict.observed for verdict in detect_changes(100 * np.exp(0.01 * gauss(1)))] == [()] * COUNT


@pytest.mark.parametrize(("before", "after"), [(0.005, 0.02), (0.02, 0.005)])
def test_a_scatter_that_changed_is_told_with_both_scatters(before: float, after: float) -> None:
    values = 100 * np.exp(gauss(2) * np.where(np.arange(120) < 60, before, after))
    told = [of_kind(verdict, "scatter-change") for verdict in detect_changes(values) if not verdict.changes]
    found = [one for one in told if one is not None]
    assert len(found) >= 0.8 * len(told) >= 0.7 * COUNT
    assert all(one.until is None for one in found)
    assert np.median([abs(one.night - 60) for one in found]) <= 3
    assert np.median([one.before for one in found]) == pytest.approx(before, rel=0.2)
    assert np.median([one.after for one in found]) == pytest.approx(after, rel=0.2)


@pytest.mark.parametrize("length", [2, 3])
def test_bad_nights_that_ended_are_an_episode_and_those_that_last_are_none_yet(length: int) -> None:
    values = 100 * np.exp(0.01 * gauss(3))
    values[:, 80 : 80 + length] *= 1.15
    lasting = detect_changes(values[:, : 80 + length])
    assert not any(verdict.observed for verdict in lasting)
    told = [of_kind(verdict, "episode") for verdict in detect_changes(values)]
    found = [one for one in told if one is not None]
    assert len(found) >= 0.95 * COUNT  # a neighbour may be out of line by chance
    for one in found:
        assert (one.night, one.until) == (80, 80 + length)
        assert one.after / one.before == pytest.approx(1.15, rel=0.03)


def test_one_bad_night_is_a_spike_and_four_are_a_level() -> None:
    for length in (1, 4):
        values = 100 * np.exp(0.01 * gauss(4))
        values[:, 80 : 80 + length] *= 1.15
        # a neighbour may be out of line, too, by chance
        assert sum(bool(verdict.observed) for verdict in detect_changes(values)) <= 1


def test_a_switch_of_a_series_that_goes_to_and_fro_is_told_as_one() -> None:
    mode = np.arange(120) // 12 % 2
    for verdict in detect_changes(100 * np.exp(0.005 * gauss(5) + 0.05 * mode)):
        one = of_kind(verdict, "mode-switch")
        assert one is not None
        assert (one.night, one.until) == (108, None)
        assert one.after / one.before == pytest.approx(np.exp(0.05), rel=0.01)
        assert verdict.changes == ()


def test_a_warm_up_is_told_as_one_and_not_as_an_improvement() -> None:
    warm = 0.1 * np.maximum(1 - np.arange(60) / 10, 0)
    verdicts = detect_changes(100 * (1 + warm + 0.003 * gauss(6, 60)))
    assert not any(verdict.changes for verdict in verdicts)
    found = [of_kind(verdict, "warm-up") for verdict in verdicts]
    told = [one for one in found if one is not None]
    assert len(told) >= 0.8 * COUNT
    assert all(one.night == 0 and one.until is not None and one.until <= 14 for one in told)
    assert all(one.after < one.before for one in told)


def stored(cli: Cli, folder: Path, times_ms: np.ndarray) -> Path:
    """A store of one workload with a time a night."""
    lines = [
        json.dumps(
            {
                "schema_version": "0.1", "workload": "w", "engine": "e", "hardware": "h", "runtime_ms_mean": float(time_ms),
                "runtime_ms_std": None, "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z",
            }
        )
        for night, time_ms in enumerate(times_ms)
    ]  # fmt: skip
    (folder / "w.jsonl").write_text("\n".join(lines) + "\n")
    assert cli("ingest", folder / "w.jsonl", "--store", folder / "s").code == 0
    return folder / "s"


@pytest.fixture
def episode(cli: Cli, tmp_path: Path) -> Path:
    """A store in which two of the newest nights were bad, and the newest is as before."""
    times_ms = 10 * np.exp(0.01 * gauss(7)[0, :50])
    times_ms[45:47] *= 1.2
    return stored(cli, tmp_path, times_ms)


def test_an_observation_fails_no_gate_and_is_not_recorded(cli: Cli, episode: Path) -> None:
    ended = cli("regressions", "--store", episode, "--fail-on", "suspect", "--record", "--format", "json")
    assert (ended.code, ended.json["rows"]) == (0, [])
    (one,) = ended.json["observations"]
    assert (one["kind"], one["workload"], one["since"], one["until"]) == ("episode", "w", "2026-02-15", "2026-02-16")
    assert one["recent"] is True
    assert one["change"] == pytest.approx(0.2, abs=0.03)
    assert one["after"] == pytest.approx(one["before"] * (1 + one["change"]))
    assert (one["scatter_before"], one["scatter_after"]) == (None, None)
    assert cli("store", "history", "changes", "--store", episode, "--format", "json").json["rows"] == []


@pytest.mark.parametrize("command", ["regressions", "report"])
def test_reports_list_it_below_the_changes(cli: Cli, episode: Path, command: str) -> None:
    said = cli(command, "--store", episode).out
    assert "Observed" in said
    assert "episode" in said
    assert "短暂异常" in cli(command, "--store", episode, "--lang", "zh").out


def test_a_report_lists_what_is_recent_and_json_all(cli: Cli, tmp_path: Path) -> None:
    times_ms = 10 * np.exp(0.01 * gauss(7)[0, :50])
    times_ms[25:27] *= 1.2
    store = stored(cli, tmp_path, times_ms)
    assert "episode" not in cli("regressions", "--store", store).out
    assert "episode" in cli("regressions", "--store", store, "--whole-history").out
    (one,) = cli("regressions", "--store", store, "--format", "json").json["observations"]
    assert one["recent"] is False


def test_history_lists_what_regressions_observes_oldest_first(cli: Cli, tmp_path: Path) -> None:
    times_ms = 10 * np.exp(0.01 * gauss(7)[0, :50])
    times_ms[25:27] *= 1.2
    times_ms[45:47] *= 1.2
    store = stored(cli, tmp_path, times_ms)
    told = cli("regressions", "--store", store, "--format", "json").json["observations"]
    listed = cli("store", "history", "observations", "--store", store, "--format", "json").json["rows"]
    assert [one["since"] for one in listed] == ["2026-01-26", "2026-02-15"]
    assert listed == [{key: one[key] for key in listed[0]} for one in reversed(told)]
    for asked, count in (("--since 2026-01-27", 1), ("--last 1", 1), ("--workload w", 2), ("--workload no", 0)):
        rows = cli("store", "history", "observations", "--store", store, *asked.split(), "--format", "json").json[
            "rows"
        ]
        assert rows == listed[2 - count :]
    assert "短暂异常" in cli("store", "history", "observations", "--store", store, "--lang", "zh").out


def test_the_page_of_the_series_has_it(cli: Cli, episode: Path, tmp_path: Path) -> None:
    assert cli("site", "--output", tmp_path / "pages", "--store", episode).code == 0
    pages = [page.read_text() for page in (tmp_path / "pages" / "series").glob("*.html") if page.stem != "index"]
    assert [("episode" in page, "Observed" in page) for page in pages] == [(True, True)]
