"""What an older version normalised stays until it is renewed, and then it is replaced and not doubled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from commandline import Cli, Ended

from aoe_reports.engine.question import Notes
from aoe_reports.store import History
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.runs import read_runs


def store_older(path: Path, store: Path) -> None:
    """Store a profile as an older normaliser might have made it: with one record."""
    history = History.open(str(store), create=True)
    for item in read_runs([path], RecordOptions(workload="w"), Notes()):
        header = replace(item.header, normaliser_version=0)
        assert history.add(replace(item, header=header, records=item.records[:1])) == "added"


def again(cli: Cli, command: str, path: Path, store: Path, *more: object) -> Ended:
    return cli(command, path, "--store", store, "--workload", "w", "--format", "json", *more)


def outcomes(ended: Ended) -> list[str]:
    return [row["outcome"] for row in ended.json["rows"]]


@pytest.mark.parametrize("command", ["ingest", "nightly"])
def test_an_older_run_stays_and_is_replaced_when_renewed(cli: Cli, msprof: Path, tmp_path: Path, command: str) -> None:
    path, store = msprof / "torch_npu_two_ranks", tmp_path / "s"
    store_older(path, store)
    ended = again(cli, command, path, store)
    assert outcomes(ended) == ["unchanged"]
    (said,) = [finding for finding in ended.json["findings"] if finding["rule"] == "older-normaliser"]
    assert said["message"].startswith("1 of these runs")
    ended = again(cli, command, path, store, "--renew")
    assert outcomes(ended) == ["renewed"]
    assert "older-normaliser" not in ended.rules()
    history = History.open(str(store))
    (header,) = history.runs()
    assert header.normaliser_version > 0
    fresh = tmp_path / "fresh"
    again(cli, "ingest", path, fresh)
    assert history.records(["run_id"]).num_rows == History.open(str(fresh)).records(["run_id"]).num_rows > 1
    assert outcomes(again(cli, command, path, store, "--renew")) == ["unchanged"]


def test_one_rank_does_not_renew_a_run_of_two(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path, store = msprof / "torch_npu_two_ranks", tmp_path / "s"
    store_older(path, store)
    assert outcomes(again(cli, "ingest", path / "rank0_ascend_pt", store, "--renew")) == ["unchanged"]
    assert [len(header.members) for header in History.open(str(store)).runs()] == [2]


def test_nothing_is_renewed_by_an_older_version(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path, store = msprof / "statistic_only", tmp_path / "s"
    again(cli, "ingest", path, store)
    (item,) = read_runs([path], RecordOptions(workload="w"), Notes())
    older = replace(item, header=replace(item.header, normaliser_version=0))
    assert History.open(str(store)).add(older, renew=True) == "unchanged"
