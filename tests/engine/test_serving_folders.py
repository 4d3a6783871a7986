"""Folders as servers leave them: a capture for each worker of vLLM-Ascend, PROF_* for each process of MindIE."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
MERGED = FIXTURES / "msprof" / "valid" / "merged_two_devices"


def worker(folder: Path, rank: int, prefix: str = "", time: str = "20250109074800120") -> Path:
    """A worker's capture under the name that vLLM gives it (get_worker_rank_suffix), with torch_npu's time behind."""
    home = folder / f"{prefix}dp0_pp0_tp{rank}_dcp0_ep{rank}_rank{rank}_{time}_ascend_pt"
    shutil.copytree(RANKS / f"rank{rank}_ascend_pt", home)
    return home


@pytest.mark.parametrize("prefix", ["", "warmup_"])
def test_the_workers_of_vllm_are_one_run_with_their_ranks(cli: Cli, tmp_path: Path, prefix: str) -> None:
    homes = [worker(tmp_path / "vllm_profile", rank, prefix) for rank in (0, 1)]
    rows = cli("inspect", tmp_path, "--format", "json").json["rows"]
    kernels = [row for row in rows if row["kind"] == "kernel_details"]
    assert [(row["rank_id"], Path(row["path"]).parent.parent) for row in kernels] == list(enumerate(homes))
    assert {row["run"] for row in rows} == {str(tmp_path / "vllm_profile")}
    stored = cli("ingest", tmp_path, "--store", tmp_path / "s", "--workload", "w", "--tz", "UTC", "--format", "json")
    assert [row["night"] for row in stored.json["rows"]] == ["2025-01-09"]


def test_a_second_profile_of_the_same_workers_is_another_run(cli: Cli, tmp_path: Path) -> None:
    for hours, time in enumerate(("20250109074800120", "20250109084800120")):
        for rank in (0, 1):
            told = worker(tmp_path / "vllm_profile", rank, time=time) / f"profiler_info_{rank}.json"
            info = json.loads(told.read_text())
            info["end_info"]["collectionTimeEnd"] += hours * 3600 * 10**9
            told.write_text(json.dumps(info))
    runs = cli("steps", tmp_path, "--format", "json").json["rows"]
    assert sorted({row["rank_id"] for row in runs}) == [0, 1]
    stored = cli("ingest", tmp_path, "--store", tmp_path / "s", "--workload", "w", "--tz", "UTC", "--format", "json")
    assert len(stored.json["rows"]) == 2


def test_a_worker_whose_data_is_not_parsed_yet_is_named(cli: Cli, tmp_path: Path) -> None:
    """vLLM-Ascend parses in the background: the folder is there before its exports are."""
    worker(tmp_path, 0)
    waiting = tmp_path / "dp0_pp0_tp1_dcp0_ep1_rank1_20250109074800121_ascend_pt"
    (waiting / "PROF_000001_20250109074800121_ABCDEFGH" / "device_1" / "data").mkdir(parents=True)
    (waiting / "FRAMEWORK").mkdir()
    shutil.copy(RANKS / "rank1_ascend_pt" / "profiler_info_1.json", waiting)
    for command in (["hotspots", tmp_path], ["check", tmp_path], ["steps", tmp_path]):
        ended = cli(*command, "--format", "json")
        (finding,) = [one for one in ended.json["findings"] if one["rule"] == "not-read"]
        assert (finding["severity"], finding["path"]) == ("warning", str(waiting))
        assert "analyse(PATH)" in finding["message"]
        assert ended.code == 0
    for part in (waiting / "profiler_info_1.json", waiting / "PROF_000001_20250109074800121_ABCDEFGH"):
        assert "not-read" not in cli("inspect", part, "--format", "json").rules()
    alone = cli("ingest", waiting, "--store", tmp_path / "s", "--format", "json")
    assert "not-read" in alone.rules()


def test_each_process_of_mindie_is_a_run_of_its_own_with_its_rank(cli: Cli, tmp_path: Path) -> None:
    """msServiceProfiler has each process write a PROF_* below one folder a start of the service."""
    (capture,) = MERGED.iterdir()
    exports = capture / "mindstudio_profiler_output"
    for number in (0, 1):
        home = (
            tmp_path
            / "prof_dir"
            / "0605-1551"
            / f"PROF_00000{number}_2026060515511187{number}_ABCDEFGHIJKLMNO{'PQ'[number]}"
        )
        (home / f"device_{number}" / "data").mkdir(parents=True)
        shutil.copytree(exports, home / exports.name)
        (home / f"device_{number}" / f"info.json.{number}").write_text(
            json.dumps({"rank_id": number, "pid": f"{4711 + number}"})
        )
    rows = cli("inspect", tmp_path, "--format", "json").json["rows"]
    summaries = [row for row in rows if row["kind"] == "op_summary"]
    assert [row["rank_id"] for row in summaries] == [0, 1]
    assert len({row["run"] for row in rows}) == 1
