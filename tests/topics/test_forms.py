"""The same facts in other forms: compressed, as JSON, as events; and from Python."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from commandline import Cli

import aoe_reports

EVENTS = [
    {"name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}, "ph": "M"},
    {"name": "thread_name", "pid": 7, "tid": 2, "args": {"name": "Stream 2"}, "ph": "M"},
    {"name": "Conv2D1", "pid": 7, "tid": 2, "ts": "1736408883704643.212", "dur": 53.896, "ph": "X",
     "args": {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": 5, "connection_id": 33}},
    {"name": "HostToDevice", "pid": 7, "tid": 2, "ts": "1736408883704643.212", "ph": "f", "bp": "e",
     "id": str(33 << 32), "cat": "HostToDevice"},
]  # fmt: skip


def rank0(msprof: Path) -> Path:
    return msprof / "torch_npu_two_ranks" / "rank0_ascend_pt"


def packed(source: Path, target: Path) -> Path:
    """A copy of a capture with every table and document compressed."""
    shutil.copytree(source, target)
    for path in [*target.rglob("*.csv")]:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return target


def test_compressed_tables_tell_the_same(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    target = packed(rank0(msprof), tmp_path / "rank0_ascend_pt")
    plain = cli("hotspots", rank0(msprof), "--format", "json").json["rows"]
    rows = cli("hotspots", target, "--format", "json").json["rows"]
    assert [{**row, "run": ""} for row in rows] == [{**row, "run": ""} for row in plain]
    ended = cli("check", target, "--format", "json")
    assert (ended.code, ended.json["findings"]) == (0, [])
    assert {Path(row["path"]).suffix for row in ended.json["rows"]} == {".gz"}


def test_a_compressed_file_expands_no_further_than_allowed(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    target = packed(rank0(msprof), tmp_path / "rank0_ascend_pt")
    for command in (["hotspots"], ["check"], ["inspect"], ["nightly", "--store", tmp_path / "s"]):
        ended = cli(*command, target, "--format", "json", "--max-expanded", "100")
        assert (ended.code, "expanded-too-large" in ended.rules()) == (1, True), command
        assert all("/tmp" not in f["path"] or str(tmp_path) in f["path"] for f in ended.json["findings"])


def test_a_cut_compressed_file_is_damage(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    target = packed(rank0(msprof), tmp_path / "rank0_ascend_pt")
    path = next(target.rglob("kernel_details.csv.gz"))
    path.write_bytes(path.read_bytes()[:-20])
    ended = cli("hotspots", path, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])
    assert "gzip-damaged" in ended.rules()


def test_an_archive_of_another_kind_is_refused_with_a_word(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    (tmp_path / "profile.7z").write_bytes(b"7z")
    ended = cli("hotspots", tmp_path / "profile.7z")
    assert ended.code == 3
    assert "unpack it first" in ended.err
    shutil.copytree(rank0(msprof), tmp_path / "rank0_ascend_pt")
    ended = cli("hotspots", tmp_path, "--format", "json")
    assert (ended.code, "archive" in ended.rules()) == (0, True)
    assert cli("hotspots", tmp_path, "--strict").code == 1


def test_a_summary_in_json_is_the_same_table(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    source = next(msprof.rglob("op_summary_20260605155140.csv"))
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (tmp_path / "op_summary_20260605155140.json").write_text(json.dumps(rows), encoding="utf-8")
    text = cli("table", "op_summary", source, "--format", "json").json["rows"]
    assert cli("table", "op_summary", tmp_path, "--format", "json").json["rows"] == text
    assert cli("inspect", tmp_path, "--format", "json").json["rows"][0]["rows"] == len(text)


def test_events_come_with_names_and_whole_nanoseconds(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "msprof_20260101000000.json").write_text(json.dumps(EVENTS), encoding="utf-8")
    task, flow = cli("table", "msprof", tmp_path, "--format", "json").json["rows"]
    assert (task["process"], task["thread"], task["task_type"], task["stream_id"]) == (
        "Ascend Hardware", "Stream 2", "AI_CORE", 2,
    )  # fmt: skip
    assert (task["start_ns"], task["duration_us"]) == (1736408883704643212, 53.896)
    assert task["connection_id"] == flow["connection_id"] == 33
    assert json.loads(task["args"])["Task Type"] == "AI_CORE"
    cli("table", "msprof", tmp_path, "--format", "parquet", "-o", tmp_path / "e.parquet")
    assert pq.read_table(tmp_path / "e.parquet")["duration_ns"].to_pylist() == [53896, None]
    rows = list(csv.DictReader(io.StringIO(cli("table", "msprof", tmp_path).out)))
    assert [row["name"] for row in rows] == ["Conv2D1", "HostToDevice"]


def test_a_timeline_is_held_against_the_tasks(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "msprof_20260101000000.json").write_text(json.dumps(EVENTS), encoding="utf-8")
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    table = tmp_path / "op_summary_20260101000000.csv"
    table.write_text(header + "Conv2D1,Conv2D,AI_CORE,1736408883704643.212,53.896\n", encoding="utf-8")
    assert cli("check", tmp_path, "--format", "json").rules() == set()
    table.write_text(header + "Conv2D1,Conv2D,AI_CORE,1736408883704643.212,53.996\n", encoding="utf-8")
    assert cli("check", tmp_path, "--format", "json").rules() == {"forms-disagree"}


@pytest.mark.parametrize("kind", ["step_trace", "step_trace_events"])
def test_files_that_repeat_the_run_are_used_once(cli: Cli, msprof: Path, kind: str) -> None:
    ended = cli("table", kind, msprof / "ten_iterations_timeline", "--format", "json")
    rows = [row for row in ended.json["rows"] if row.get("category", "Iteration Time") == "Iteration Time"]
    assert len(rows) == 10


def test_a_profile_from_python(msprof: Path) -> None:
    profile = aoe_reports.read_profile(msprof / "torch_npu_two_ranks")
    assert "kernel_details" in profile.tables
    assert profile.timelines == ()
    lazy = profile.table("kernel_details")
    assert isinstance(lazy, pl.LazyFrame)
    sums = lazy.group_by("rank_id").agg(pl.col("task_duration_ns").sum()).collect().to_pandas()
    assert sorted(sums["rank_id"]) == [0, 1]
    assert profile.findings == []
    with pytest.raises(aoe_reports.AoeReportsError):
        profile.table("nonsense")


def test_ranks_stay_apart_where_no_column_tells_the_device(cli: Cli, msprof: Path) -> None:
    rows = cli("table", "operator_details", msprof / "torch_npu_two_ranks", "--format", "json").json["rows"]
    assert {(row["rank_id"], Path(row["capture"]).name) for row in rows} == {
        (0, "rank0_ascend_pt"), (1, "rank1_ascend_pt"),
    }  # fmt: skip


def test_reduces_are_lists(cli: Cli, msprof: Path) -> None:
    rows = cli("table", "step_trace", msprof / "ten_iterations", "--format", "json").json["rows"]
    assert len(rows) == 10
    assert all(isinstance(row["reduce_duration_us"], list) and len(row["reduce_duration_us"]) == 2 for row in rows)
