"""`msprof op`: one kernel in a folder, with counters of each core of each block."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, ROOT, Cli

from aoe_reports.formats.msopprof.tables import FILES
from aoe_reports.formats.msopprof.vendor import parse_name

VALID = FIXTURES / "msopprof" / "valid"
KERNEL = VALID / "two_kernels" / "OPPROF_20260110083105456_ABCDEFGHIJKLMNOP"
REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof" / "opprof_2026"


@pytest.mark.parametrize("word", FILES)
def test_each_file_of_the_manual_is_known_with_and_without_a_time(word: str) -> None:
    for name, time in ((f"{word}.csv", None), (f"{word}_20240429111143146.csv", "20240429111143146")):
        found = parse_name(name, "")
        assert found is not None
        assert (found.kind, found.source, found.time) == (FILES[word].name, "msopprof", time)


@pytest.mark.parametrize("name", ["Memory.csv.bak", "MyMemory.csv", "memory.csv", "OpBasicInfo_1.csv"])
def test_other_names_are_somebody_elses(name: str) -> None:
    assert parse_name(name, "") is None


def test_each_kernel_is_a_run_of_its_own_dated_by_its_folder(cli: Cli, tmp_path: Path) -> None:
    rows = cli("hotspots", VALID, "--format", "json").json["rows"]
    assert [(Path(row["run"]).name[:24], row["op_type"], row["count"], row["total_us"]) for row in rows] == [
        ("OPPROF_20260110083000123", "matmul_leaky_kernel", 1, 41.62),
        ("OPPROF_20260110083105456", "add_custom", 1, 9.22),
    ]
    stored = cli("ingest", KERNEL, "--store", tmp_path / "s", "--tz", "UTC", "--workload", "w", "--format", "json")
    assert [(row["night"], row["outcome"]) for row in stored.json["rows"]] == [("2026-01-10", "added")]


def test_counters_are_numbers_where_they_were_measured_and_null_elsewhere(cli: Cli) -> None:
    rows = cli("table", "op_pipe_utilization", KERNEL, "--format", "json").json["rows"]
    assert [(row["block_id"], row["sub_block_id"]) for row in rows] == [(block, "vector0") for block in range(4)]
    assert {row["aic_time_us"] for row in rows} == {None}
    assert [row["aiv_time_us"] for row in rows] == [7.22, 7.12, 7.02, 6.92]
    assert "unnamed" not in rows[0]
    assert cli("check", VALID, "--strict", "--format", "json").json["findings"] == []


def test_a_cell_behind_the_last_header_is_no_line_end(cli: Cli, tmp_path: Path) -> None:
    text = (KERNEL / "OpBasicInfo.csv").read_text()
    (tmp_path / "OpBasicInfo.csv").write_text(text.replace("1800,1800,", "1800,1800,7"))
    (row,) = cli("table", "op_basic_info", tmp_path, "--format", "json").json["rows"]
    assert row["unnamed"] == 7


def test_elsewhere_a_file_of_such_a_name_is_anybodys_unless_its_header_tells(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(KERNEL / "OpBasicInfo.csv", tmp_path)
    (tmp_path / "Memory.csv").write_text("host,free_gb\na,3\n")
    ended = cli("inspect", tmp_path, "--format", "json")
    assert [Path(row["path"]).name for row in ended.json["rows"]] == ["OpBasicInfo.csv"]
    assert ended.json["findings"] == []


def test_raw_data_below_is_passed_over(cli: Cli, tmp_path: Path) -> None:
    home = shutil.copytree(KERNEL, tmp_path / KERNEL.name)
    for raw in ("dump", "simulator/core0"):
        shutil.copytree(KERNEL, home / raw)
    rows = cli("inspect", tmp_path, "--format", "json").json["rows"]
    assert [Path(row["path"]).parent for row in rows] == [home] * 8


def test_a_value_that_is_none_is_damage(cli: Cli, tmp_path: Path) -> None:
    text = (KERNEL / "OpBasicInfo.csv").read_text()
    (tmp_path / "OpBasicInfo.csv").write_text(text.replace("9.220000", "NA"))
    ended = cli("hotspots", tmp_path, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])
    assert "missing-value" in ended.rules()


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real files in {REAL}")
def test_a_real_kernel(cli: Cli) -> None:
    """4,993 cycles in 2.773889 us are 1,800 MHz, which its other file has."""
    (basic,) = cli("table", "op_basic_info", REAL, "--format", "json").json["rows"]
    cube, vector = cli("table", "op_pipe_utilization", REAL, "--format", "json").json["rows"]
    assert cube["aic_total_cycles"] / cube["aic_time_us"] == pytest.approx(basic["current_mhz"], rel=1e-6)
    assert (vector["sub_block_id"], vector["aic_time_us"]) == ("vector0", None)
    assert cli("check", REAL, "--strict", "--format", "json").json["findings"] == []


@pytest.mark.parametrize(("beside", "severity"), [("PipeUtilization.csv", "info"), (None, "warning")])
def test_what_a_simulator_wrote_is_named(cli: Cli, tmp_path: Path, beside: str | None, severity: str) -> None:
    folder = tmp_path / "OPPROF_20260605155111_ABCDEFGHIJ"
    core = folder / "simulator" / "core0.veccore0"
    core.mkdir(parents=True)
    (core / "trace.json").write_text("[]")
    (core / "core0.veccore0_code_exe.csv").write_text("code,call_count\n")
    if beside is not None:
        (folder / beside).write_text("")
    found = [one for one in cli("check", tmp_path, "--format", "json").json["findings"] if one["rule"] == "not-read"]
    assert [(one["path"], one["severity"]) for one in found] == [(str(folder / "simulator"), severity)]
