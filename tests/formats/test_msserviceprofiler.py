"""msServiceProfiler: tables of a service, in the form that its manual and its exporters document."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.msserviceprofiler.tables import FILES, SPAN
from aoe_reports.formats.msserviceprofiler.vendor import parse_name

VALID = FIXTURES / "msserviceprofiler" / "valid"
SERVICE, OF_2025 = VALID / "one_service", VALID / "of_spring_2025"
MERGED = FIXTURES / "msprof" / "valid" / "merged_two_devices"


@pytest.mark.parametrize("stem", FILES)
def test_each_file_of_the_manual_is_known_by_its_whole_name(stem: str) -> None:
    found = parse_name(f"{stem}.csv", "output")
    assert found is not None
    assert (found.kind, found.form, found.source) == (FILES[stem].name, "csv", "msserviceprofiler")
    for other in (f"{stem}.json", f"my_{stem}.csv", f"{stem}_1.csv", f"{stem}.csv.bak", stem):
        assert parse_name(other, "output") is None


def test_users_choose_the_names_of_spans() -> None:
    found = parse_name("BatchSchedule.csv", "span_info")
    assert found is not None
    assert found.kind == SPAN.name
    assert parse_name("BatchSchedule.csv", "output") is None


def test_times_are_exact_whatever_unit_the_header_has(cli: Cli) -> None:
    first, _ = cli("table", "service_request", SERVICE, "--format", "json").json["rows"]
    assert (first["start_ns"], first["execution_time_us"], first["first_token_latency_us"]) == (
        1768033800123456000,
        1840250.0,
        96125.0,
    )
    old, _ = cli("table", "service_request", OF_2025, "--format", "json").json["rows"]
    assert (old["start_ns"], old["execution_time_us"], old["queue_wait_time_us"]) == (
        1745217000123456000,
        1840250.0,
        12500.0,
    )


def test_a_time_whose_header_names_no_unit_is_no_time(cli: Cli, tmp_path: Path) -> None:
    text = (SERVICE / "forward.csv").read_text().replace("bubble_time(ms)", "bubble_time")
    (tmp_path / "forward.csv").write_text(text)
    first, _ = cli("table", "service_forward", tmp_path, "--format", "json").json["rows"]
    assert first["bubble_time"] == 1.5
    assert "bubble_time_us" not in first


def test_what_pandas_writes_for_none_is_null_and_a_count_may_be_a_float(cli: Cli) -> None:
    rows = cli("table", "service_batch", SERVICE, "--format", "json").json["rows"]
    assert [row["batch_size"] for row in rows] == [2.0, 2.0, 1.0]
    assert [row["total_blocks"] for row in rows] == [1000.0, None, None]
    assert rows[2]["accepted_ratio_per_pos"] == '{"0": 1.0, "1": 0.5}'
    hits = [row["cache_hit_rate"] for row in cli("table", "service_request", SERVICE, "--format", "json").json["rows"]]
    assert hits == [0.25, None]


def test_a_damaged_cell_and_a_request_that_stands_twice_are_found(cli: Cli, tmp_path: Path) -> None:
    header, first, *_ = (SERVICE / "request.csv").read_text().splitlines()
    (tmp_path / "request.csv").write_text("\n".join([header, first, first, first.replace("1840.25", "18x0"), ""]))
    ended = cli("check", tmp_path, "--format", "json")
    assert ended.code == 1
    assert ended.rules() == {"csv-unparsable", "duplicate-row"}


def test_another_file_of_such_a_name_is_not_ours(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "request.csv").write_text("id,url\n1,/\n")
    (tmp_path / "batch.csv").write_text("workload,engine,hardware,runtime_ms_mean,runtime_ms_std\nw,e,h,2.5,0.1\n")
    shutil.copy(SERVICE / "batch_summary.csv", tmp_path / "somebody.csv")
    ended = cli("inspect", tmp_path, "--format", "json")
    assert [(Path(row["path"]).name, row["kind"]) for row in ended.json["rows"]] == [("batch.csv", "record")]


NAMED = {
    "profiler.db": "it holds what request.csv",
    "chrome_tracing.json": "the events of a service",
    "ms_service_4711.db": "raw data of msServiceProfiler",
    "ascend_service_profiler_1.db": "raw data of msServiceProfiler",
    "msproftx.db": "raw data of msServiceProfiler",
    "ep_balance.csv": "a mean time for each layer",
    "node_eplb_0_summed_hot_map_by_model_expert.png": "a picture",
    "node_balance_ratio.png": "a picture",
}


def test_what_is_not_read_is_named_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(SERVICE / "request.csv", tmp_path)
    for name in NAMED:
        (tmp_path / name).write_text("x")
    ended = cli("check", tmp_path, "--strict", "--format", "json")
    said = {Path(one["path"]).name: one for one in ended.json["findings"]}
    assert set(said) == set(NAMED)
    for name, why in NAMED.items():
        assert (said[name]["severity"], said[name]["rule"]) == ("info", "not-read")
        assert said[name]["message"].startswith(f"recognised, but not read: {why}")
    assert ended.code == 0


def test_a_service_is_no_run_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    stored = cli("ingest", SERVICE, "--store", tmp_path / "s", "--format", "json")
    assert stored.json["rows"] == []
    (finding,) = stored.json["findings"]
    assert (finding["rule"], finding["path"]) == ("no-run", str(SERVICE))
    assert "service_request (csv)" in finding["message"]
    ranked = cli("hotspots", SERVICE, "--format", "json")
    assert (ranked.code, ranked.rules()) == (1, {"nothing-measured"})


@pytest.mark.parametrize("place", ["prof_dir", "output"])
def test_the_device_side_of_a_service_is_a_run(cli: Cli, tmp_path: Path, place: str) -> None:
    """`prof_dir` has PROF_*; the parser copies op_summary and op_statistic into PROF_* below its own output."""
    (capture,) = MERGED.iterdir()
    if place == "prof_dir":
        home = tmp_path / place / "0605-1551" / capture.name
        shutil.copytree(capture, home)
        (home.parent / "ms_service_4711.db").write_text("x")
    else:
        home = tmp_path / place / capture.name
        shutil.copytree(SERVICE, home.parent)
        home.mkdir()
        for file in (capture / "mindstudio_profiler_output").glob("op_*.csv"):
            shutil.copy(file, home)
    rows = cli("hotspots", tmp_path, "--format", "json").json["rows"]
    assert {row["run"] for row in rows} == {str(home)}
    stored = cli("ingest", tmp_path, "--store", tmp_path / "s", "--workload", "w", "--tz", "UTC", "--format", "json")
    assert [(row["path"], row["outcome"]) for row in stored.json["rows"]] == [(str(home), "added")]
