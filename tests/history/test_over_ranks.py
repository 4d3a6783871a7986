"""Runs of many ranks: operators over all ranks, of a rank what it computes in all, single ranks beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, Night, write_night
from commandline import Cli
from stores import store_at_once, stored_rows

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import over_all_ranks
from aoe_reports.store import History
from aoe_reports.store.layout import RANK_KIND
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.runs import read_runs

RANKS, NIGHTS, SINCE = 5, 22, 14
SLOW = 3


def slower(night: Night, share: float, *names: str) -> Night:
    """A night whose operators, or those named, take longer by a share."""
    return replace(
        night,
        kernels=tuple(
            replace(one, us=one.us * (1 + share)) if one.name in names or not (names or one.core == "HCCL") else one
            for one in night.kernels
        ),
    )


def fleet(folder: Path, since: dict[int, Night]) -> Path:
    """Nights of all ranks; from one night on some ranks are as given."""
    for number in range(NIGHTS):
        for rank in range(RANKS):
            night = since.get(rank, QUIET) if number >= SINCE else QUIET
            write_night(folder / "nights" / f"{number:02}", number, night, rank=rank)
    store_at_once(
        [folder / "nights"], folder / "store", RecordOptions(workload="net"), lambda run: over_all_ranks(run, RANKS - 1)
    )
    return folder / "store"


@pytest.fixture(scope="module")
def slow_rank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of nights on which one rank of five becomes 6 % slower."""
    return fleet(tmp_path_factory.mktemp("slow"), {SLOW: slower(QUIET, 0.06)})


def records(store: Path, kind: str = "record") -> list[dict[str, Any]]:
    """Rows of records, or of single ranks."""
    columns = [
        *("run_id", "scope", "workload", "op_type", "op_name", "rank_id", "count", "total_ns", "runtime_ms_mean"),
        *("metrics", "workload_args", "series_id"),
    ]
    return sorted(History.open(str(store)).rows(kind, columns).to_pylist(), key=str)


def test_operators_are_of_all_ranks_and_what_a_rank_computes_is_its_own(slow_rank: Path) -> None:
    found = records(slow_rank)
    of_rank = {row["scope"] for row in found if row["rank_id"] is not None}
    assert of_rank == {"step", "communication", "computing"}
    assert {row["scope"] for row in found if row["rank_id"] is None} == {"op", "op_type"}
    single = records(slow_rank, RANK_KIND)
    assert {row["rank_id"] for row in single} == set(range(RANKS))
    assert {row["series_id"] for row in single} == {None}
    run = max(row["run_id"] for row in found)
    for row in (row for row in found if row["run_id"] == run and row["rank_id"] is None):
        same = ("scope", "workload", "op_type", "op_name", "workload_args")
        alike = [one for one in single if one["run_id"] == run and all(one[name] == row[name] for name in same)]
        means = sorted(one["runtime_ms_mean"] for one in alike)
        told = json.loads(row["metrics"])
        assert (told["ranks"], row["runtime_ms_mean"]) == (RANKS, means[RANKS // 2])
        assert (told["slowest_rank_ms_mean"], told["slowest_rank"]) == (means[-1], SLOW)
        assert [row["count"], row["total_ns"]] in [[one["count"], one["total_ns"]] for one in alike]
    computing = {row["rank_id"]: row for row in found if row["run_id"] == run and row["scope"] == "computing"}
    for rank, row in computing.items():
        types = [one for one in single if (one["run_id"], one["rank_id"], one["scope"]) == (run, rank, "op_type")]
        assert row["total_ns"] == sum(one["total_ns"] for one in types)
        assert row["runtime_ms_mean"] == pytest.approx(row["total_ns"] / sum(one["count"] for one in types) / 1e6)


def test_a_slow_rank_is_named_as_the_cause(cli: Cli, slow_rank: Path) -> None:
    told = cli("regressions", "--store", slow_rank, "--format", "json").json
    (incident,) = told["incidents"]
    (cause,) = incident["causes"]
    assert (cause["kind"], cause["rank_id"]) == ("rank", SLOW)
    assert cause["change"] == pytest.approx(0.06, abs=0.01)
    assert f": rank {SLOW}: all operators +" in incident["title"]
    assert {(row["scope"], row["rank_id"]) for row in told["rows"]} <= {("computing", SLOW), ("step", SLOW)}


def test_an_operator_that_is_slower_on_all_ranks_is_the_only_cause(cli: Cli, tmp_path: Path) -> None:
    longest = max(QUIET.kernels, key=lambda one: one.us * one.calls * (one.core != "HCCL"))
    later = slower(QUIET, 0.2, longest.name)
    told = cli("regressions", "--store", fleet(tmp_path, dict.fromkeys(range(RANKS), later)), "--format", "json").json
    (incident,) = told["incidents"]
    (cause,) = incident["causes"]
    assert (cause["kind"], cause["op_name"], cause["rank_id"]) == ("operator", longest.name, None)
    assert cause["step_share"] is not None
    assert "computing" in {row["scope"] for row in told["rows"]}


def test_steps_and_computing_of_single_ranks_have_no_page_but_the_first_and_what_names_an_incident(
    cli: Cli, slow_rank: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    assert cli("site", "--store", slow_rank, "--output", site).code == 0
    pages = {path.stem for path in (site / "series").glob("*.html")}
    ranks = [row for row in records(slow_rank) if row["rank_id"] is not None]
    paged = {(row["scope"], row["rank_id"]) for row in ranks if row["series_id"] in pages}
    assert {rank for _, rank in paged} == {0, SLOW}
    assert len([one for one in paged if one[1] == SLOW]) == 1
    every = {row["series_id"] for row in records(slow_rank) if row["rank_id"] is None}
    assert every <= pages
    listed = json.loads((site / "series" / "index.json").read_text())["rows"]
    assert len(listed) == len({row["series_id"] for row in records(slow_rank)})
    run = max((site / "runs").glob("2*.html")).read_text()
    assert f"the time of a call against the median rank&#39;s, 4 types on {RANKS} ranks" in run
    assert f"Rank {SLOW} computes 6." in run
    assert "operator types are slower: look at the chip" in run
    assert [run.count(f'<path class="heat{number}"') for number in (0, 1, 2, 3)] == [1, 0, 1, 0]
    assert "a share is that of the median rank" in run
    told = json.loads(max((site / "runs").glob("2*.json")).read_text())["ranks"]
    assert told["headline"].startswith(f"Rank {SLOW} computes 6.")
    assert (told["rank_count"], told["rows"][0]["rank_id"]) == (RANKS, SLOW)
    assert told["rows"][0]["state"] == "slow"


def test_the_report_of_a_night_says_of_which_ranks_its_operators_are(cli: Cli, slow_rank: Path) -> None:
    told = cli("report", "--store", slow_rank, "--format", "json").json["hotspots"]
    assert (told["ranks"], told["of_median"]) == (RANKS, True)
    shown = cli("report", "--store", slow_rank).out
    assert f"by operator type, each on its median rank of {RANKS}, " in shown


def test_so_many_ranks_have_series_of_their_own(cli: Cli, tmp_path: Path) -> None:
    for rank in range(3):
        write_night(tmp_path / "night", 0, QUIET, rank=rank)
    found = {}
    for most in (2, 3):
        store = tmp_path / f"store{most}"
        options = ("--workload", "net", "--rank-series", most, "--format", "json")
        (row,) = cli("ingest", tmp_path / "night", "--store", store, *options).json["rows"]
        found[most] = {one["rank_id"] for one in records(store) if one["scope"] == "op"}
        assert row["records"] == len(records(store)) + len(records(store, RANK_KIND))
    assert found == {2: {None}, 3: {0, 1, 2}}


def test_single_ranks_come_and_go_with_their_run(cli: Cli, tmp_path: Path) -> None:
    for rank in range(3):
        write_night(tmp_path / "night", 0, QUIET, rank=rank)
    store = tmp_path / "store"
    cli("ingest", tmp_path / "night", "--store", store, "--workload", "net", "--rank-series", 1)
    kept = records(store, RANK_KIND)
    assert kept
    (run,) = {row["run_id"] for row in kept}
    asked = ("--run", run, "--scope", "op", "--store", store, "--format", "json")
    listed = cli("store", "history", "ranks", *asked).json["rows"]
    assert sorted((row["rank_id"], row["op_name"], row["total_ns"]) for row in listed) == sorted(
        (row["rank_id"], row["op_name"], row["total_ns"]) for row in kept if row["scope"] == "op"
    )
    assert cli("store", "undo", run, "--store", store).code == 0
    assert records(store, RANK_KIND) == []


def test_a_rank_that_cannot_be_read_costs_its_run_that_rank(tmp_path: Path) -> None:
    write_night(tmp_path / "0", 0, QUIET)
    homes = [write_night(tmp_path / "1", 1, QUIET, rank=rank) for rank in range(3)]
    notes = Notes()
    runs = read_runs([tmp_path], RecordOptions(workload="net"), notes)
    assert next(runs).header.status == "ok"
    gone = list(homes[1].rglob("*.csv"))
    for path in gone:
        path.unlink()  # it was there when the folder was looked through
    (second,) = runs
    assert ({one.rank_id for one in second.records}, second.header.status) == ({0, 2}, "damaged")
    (finding,) = second.findings
    assert (finding.rule, Path(finding.path) in gone) == ("unreadable", True)
    assert (notes.findings, notes.unreadable) == ([], True)


def test_several_processes_store_what_one_stores(cli: Cli, tmp_path: Path) -> None:
    for number in range(2):
        for rank in range(3):
            write_night(tmp_path / "nights" / f"{number}", number, QUIET, rank=rank)
    stored = []
    for jobs in (1, 2):
        store = tmp_path / f"store{jobs}"
        options = ("--workload", "net", "--rank-series", 2, "--jobs", jobs)
        assert cli("ingest", tmp_path / "nights", "--store", store, *options).code == 0
        stored.append(stored_rows(store))
    assert stored[0] == stored[1]
    assert len(stored[0]) > 100
