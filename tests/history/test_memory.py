"""Series of memory: a peak that rises is an incident that names its owners; a kilobyte is none; growth begins at nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from captures import QUIET, write_night
from commandline import Cli
from memory_nights import MIB, write_memory_night, write_snapshot
from stores import store_at_once

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.model.history.metrics import GROWTH, GROWTH_UNIT, MIN_GROWTH, Meaning, cost_of, known_meaning
from aoe_reports.topics.records.options import RecordOptions

NIGHTS, SINCE = 22, 16


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], str]:
    """Makes the store of nights on which a cache takes so many bytes more from one night on."""
    made: dict[int, str] = {}

    def make(more: int) -> str:
        if more not in made:
            folder = tmp_path_factory.mktemp("nights")
            for number in range(NIGHTS):
                size = 2000 * MIB + (more if number >= SINCE else 0)
                write_memory_night(folder / "nights" / f"{number:02}", number, [("cache", size), ("aten::mm", 512)])
            store_at_once([folder / "nights"], folder / "store", RecordOptions(workload="llm", hardware="910B"))
            made[more] = str(folder / "store")
        return made[more]

    return make


def test_a_larger_peak_is_an_incident_that_names_its_owner(cli: Cli, nights: Callable[[int], str]) -> None:
    answer = cli("regressions", "--store", nights(130 * MIB), "--format", "json").json
    (incident,) = answer["incidents"]
    assert incident["title"] == "peak memory of llm, rank 0 +130.0 MiB (+6.2%): cache +130.0 MiB"
    assert incident["since"] == "2026-03-17"
    assert {member["metric"] for member in incident["members"]} == {"peak_allocated_bytes", "peak_reserved_bytes"}
    memory = incident["memory"]
    assert memory["total_bytes"] == 130 * MIB
    assert sum(owner["difference_bytes"] for owner in memory["owners"]) + memory["other_owners_bytes"] == 130 * MIB
    rows = {row["metric"]: row for row in answer["rows"]}
    row = rows["peak_allocated_bytes"]
    assert (row["scope"], row["unit"], row["better"], row["state"]) == ("memory", "bytes", "lower", "confirmed")
    assert (round(row["before"]), round(row["after"])) == (2100 * MIB + 512, 2230 * MIB + 512)


def test_a_larger_peak_is_named_by_what_a_recording_says_it_is_for(cli: Cli, tmp_path: Path) -> None:
    for number in range(NIGHTS):
        home = write_night(tmp_path / "nights" / f"{number:02}", number, QUIET)
        write_snapshot(home / "snapshot.json", (12 if number >= SINCE else 8) * MIB)
    store_at_once([tmp_path / "nights"], tmp_path / "store", RecordOptions(workload="llm", hardware="910B"))
    answer = cli("regressions", "--store", tmp_path / "store", "--format", "json").json
    assert [one["title"] for one in answer["incidents"]] == [
        "peak memory of llm, rank 0 +4.000 MiB (+33%): KV cache +4.000 MiB"
    ]


GIB = 1 << 30


@pytest.fixture(scope="module")
def of_components(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of nights on which HCCL takes 2 GiB more from one night on, and nothing else changes."""
    folder = tmp_path_factory.mktemp("components")
    for number in range(NIGHTS):
        held = {"HCCL": 4 * GIB + (2 * GIB if number >= SINCE else 0), "RUNTIME": 70 * MIB, "SLOG": 63 * MIB}
        write_memory_night(folder / "nights" / f"{number:02}", number, [("cache", 2000 * MIB)], components=held)
    store_at_once([folder / "nights"], folder / "store", RecordOptions(workload="llm", hardware="910B"))
    return str(folder / "store")


def test_a_component_that_takes_more_is_an_incident_of_the_process(cli: Cli, of_components: str) -> None:
    answer = cli("regressions", "--store", of_components, "--format", "json").json
    (incident,) = answer["incidents"]
    assert incident["title"] == "peak memory of the process of llm, rank 0 +2.000 GiB (+32%): HCCL +2.000 GiB"
    changed = {"peak_process_bytes", "peak_component_HCCL_bytes"}
    assert {member["metric"] for member in incident["members"]} == changed
    assert incident["memory"]["total_bytes"] == 2 * GIB
    assert incident["memory"]["other_owners_bytes"] == 0
    assert {row["metric"]: row["unit"] for row in answer["rows"]} == dict.fromkeys(changed, "bytes")
    assert answer["rows"][0]["metric"] == "peak_process_bytes"
    every = cli("regressions", "--store", of_components, "--all", "--scope", "memory", "--format", "json").json["rows"]
    components = {row["metric"] for row in every if "component" in row["metric"]}
    assert components == {"peak_component_HCCL_bytes", "peak_component_RUNTIME_bytes"}  # SLOG is too small
    said = cli("report", "--store", of_components).out
    assert said.startswith(
        "Regression: peak memory of the process of llm, rank 0 +2.000 GiB (+32%) since 2026-03-17 (6.181 GiB → 8.181 GiB): HCCL +2.000 GiB."
    )


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("metric=peak_component_HCCL_bytes,effect>=1.9GiB", 1),
        ("metric=peak_process_bytes,effect>=2.1GiB", 0),
        ("metric=peak_allocated_bytes", 0),
    ],
)
def test_a_gate_watches_a_component(cli: Cli, of_components: str, gate: str, code: int) -> None:
    assert cli("regressions", "--store", of_components, "--gate", gate).code == code


def test_a_kilobyte_more_is_no_change(cli: Cli, nights: Callable[[int], str]) -> None:
    assert cli("regressions", "--store", nights(1024), "--format", "json").json["rows"] == []


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("scope=memory", 1),
        ("scope=memory,effect>=5%", 1),
        ("scope=memory,effect>=7%", 0),
        ("scope=memory,effect>=129MiB", 1),
        ("effect>=0.12GiB", 1),
        ("scope=memory,effect>=131MiB", 0),
        ("scope=memory,effect>=7%,effect>=129MiB", 0),
        ("scope=step", 0),
    ],
)
def test_a_gate_watches_memory(cli: Cli, nights: Callable[[int], str], gate: str, code: int) -> None:
    assert cli("regressions", "--store", nights(130 * MIB), "--gate", gate).code == code


def test_reports_name_the_owner(cli: Cli, nights: Callable[[int], str]) -> None:
    words = "peak memory of llm, rank 0 +130.0 MiB (+6.2%) since 2026-03-17 (2.051 GiB → 2.178 GiB): cache +130.0 MiB"
    assert words in cli("report", "--store", nights(130 * MIB)).out
    for form in ("junit", "sarif"):
        text = cli("regressions", "--store", nights(130 * MIB), "--format", form).out
        assert "cache +130.0 MiB" in text


def test_a_night_without_memory_is_said(cli: Cli, tmp_path: Path) -> None:
    for number in range(6):
        write_memory_night(tmp_path / "nights" / f"{number:02}", number, [("cache", MIB)])
    write_night(tmp_path / "nights" / "06", 6, QUIET)
    store = str(tmp_path / "store")
    store_at_once([tmp_path / "nights"], Path(store), RecordOptions(workload="llm", hardware="910B"))
    answer = cli("regressions", "--store", store, "--format", "json").json
    (finding,) = [finding for finding in answer["findings"] if finding["rule"] == "expected-absent"]
    assert finding["message"].startswith("scope memory is missing")


@pytest.mark.parametrize(("after", "first"), [(32.5e9, "suspect"), (30.6e9 + 1024, None)])
def test_an_exact_series_shows_its_first_night(after: float, first: str | None) -> None:
    values = [30.6e9] * 20
    (one_night,) = detect_changes([[*values, after]])
    assert (one_night.suspect and one_night.suspect.state) == first
    (three_nights,) = detect_changes([[*values, after, after, after]])
    assert [change.state for change in three_nights.changes] == (["confirmed"] if first else [])


def test_growth_of_nothing_has_a_level_from_which_a_leak_rises() -> None:
    meaning = known_meaning(GROWTH)
    assert meaning == Meaning(GROWTH_UNIT, "lower")
    nothing, little, leak = (cost_of(value, meaning) for value in (0.0, MIN_GROWTH / 2, 1e5))
    assert nothing == little == MIN_GROWTH
    (verdict,) = detect_changes([[nothing] * 10 + [little] * 10 + [leak] * 3])
    assert [(change.state, change.night) for change in verdict.changes] == [("confirmed", 20)]


def test_of_many_ranks_peaks_are_series_and_the_number_of_ranks_is_none(cli: Cli, tmp_path: Path) -> None:
    for number in range(2):
        for rank in range(3):
            write_memory_night(tmp_path / "nights" / f"{number}", number, [("cache", (rank + 1) * MIB)], rank=rank)
    ended = cli("ingest", tmp_path / "nights", "--store", tmp_path / "store", "--workload", "llm", "--rank-series", 2)
    assert ended.code == 0
    answer = cli("regressions", "--store", tmp_path / "store", "--all", "--scope", "memory", "--format", "json").json
    assert {(row["metric"], row["rank_id"]) for row in answer["rows"]} == {
        ("peak_allocated_bytes", None), ("peak_reserved_bytes", None), ("median_rank_peak_allocated_bytes", None)
    }  # fmt: skip
