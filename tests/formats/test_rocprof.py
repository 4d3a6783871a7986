"""rocprof and rocprofv3: a vendor without types of tasks, steps and timelines goes the same ways through the command line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.rocprof.tables import function_of

VALID = FIXTURES / "rocprof" / "valid"
TRACE = VALID / "two_processes" / "node1" / "4711_kernel_trace.csv"
V62 = (
    '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
    '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
    '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
    '"KERNEL_DISPATCH",{agent},1,15,"transpose(float*, float*, int)",0,100,350,0,0,4,4,1,64,64,1\n'
)


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        ("scale(float*, float, int) [clone .kd]", "scale"),
        ("void reduce<float, 256>(float const*, float*, int) [clone .kd]", "reduce"),
        ("(anonymous namespace)::gelu(float*, int)", "gelu"),
        ("void at::native::add<at::native::(anonymous namespace)::Op>(int)", "at::native::add"),
        ("__omp_offloading_fd00_587_main_l19.kd", "__omp_offloading_fd00_587_main_l19"),
        ("Cijk_Ailk_Bljk_SB_MT64x64x16.kd", "Cijk_Ailk_Bljk_SB_MT64x64x16"),
        ("<unknown>", "<unknown>"),
    ],
)
def test_the_function_of_a_kernel_is_its_operator_type(kernel: str, function: str) -> None:
    assert function_of(kernel) == function


def test_inspect_knows_both_by_header_and_by_name(cli: Cli) -> None:
    rows = cli("inspect", VALID, "--format", "json").json["rows"]
    told = [(Path(row["path"]).name, row["kind"], row["source"], row["vintage"], row["rows"]) for row in rows]
    assert told == [
        ("results.csv", "rocprof_results", "rocprof", "2022-10", 12),
        ("4711_kernel_trace.csv", "kernel_trace", "rocprof", "2025-04", 16),
        ("4712_kernel_trace.csv", "kernel_trace", "rocprof", "2025-04", 16),
    ]
    assert (rows[1]["start_ns"], rows[1]["end_ns"]) == (880100000000000, 880100000399800)


def test_hotspots_group_kernels_by_function_and_add_up(cli: Cli) -> None:
    ended = cli("hotspots", VALID / "kernels_of_one_gpu", "--format", "json")
    rows = ended.json["rows"]
    assert [(row["op_type"], row["task_type"], row["count"], row["total_us"]) for row in rows] == [
        ("Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0", None, 3, 270.48),
        ("reduce", None, 6, 162.96),
        ("scale", None, 3, 42.48),
    ]
    assert rows[-1]["cumulative_share"] == 1.0
    assert ended.json["findings"] == []


@pytest.mark.parametrize("by", ["op_type", "op_name", "shape"])
def test_processes_are_ranked_apart_whatever_they_are_grouped_by(cli: Cli, by: str) -> None:
    rows = cli("hotspots", VALID / "two_processes", "--by", by, "--format", "json").json["rows"]
    totals = {Path(row["run"]).name: 0.0 for row in rows}
    for row in rows:
        totals[Path(row["run"]).name] += row["total_us"]
    assert {name: round(total, 3) for name, total in totals.items()} == {"4711": 324.8, "4712": 372.8}


def test_one_device_can_be_asked_for(cli: Cli) -> None:
    rows = cli("hotspots", TRACE, "--device", 8, "--format", "json").json["rows"]
    assert sum(row["count"] for row in rows) == 8


def test_a_step_that_nobody_told_is_no_step(cli: Cli) -> None:
    ended = cli("hotspots", TRACE, "--step", 1, "--format", "json")
    assert ended.json["rows"] == []
    assert ended.rules() == {"nothing-measured"}


@pytest.mark.parametrize(
    ("agent", "device"), [("1", 1), ('"Agent 7"', 7), ('"GPU 3"', 3), ("139690710949888", 139690710949888)]
)
def test_an_agent_is_a_device_in_every_form(cli: Cli, tmp_path: Path, agent: str, device: int) -> None:
    (tmp_path / "199_kernel_trace.csv").write_text(V62.format(agent=agent))
    (row,) = cli("table", "kernel_trace", tmp_path, "--format", "json").json["rows"]
    assert (row["device_id"], row["task_duration_us"], row["op_type"]) == (device, 0.25, "transpose")


SIZES = "Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z"
HEADERS = {
    "2024-08": f"Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,{SIZES}",
    "2024-12": f"Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,{SIZES}",
    "2025-04": f"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,{SIZES}",
}  # fmt: skip


@pytest.mark.parametrize("vintage", HEADERS)
def test_every_documented_header_is_known_whole(cli: Cli, tmp_path: Path, vintage: str) -> None:
    known = {"Kind": "KERNEL_DISPATCH", "Kernel_Name": '"add(int, int)"', "Start_Timestamp": "5", "End_Timestamp": "9"}
    cells = HEADERS[vintage].split(",")
    row = ",".join(known.get(cell, "1") for cell in cells)
    (tmp_path / "7_kernel_trace.csv").write_text(",".join(f'"{cell}"' for cell in cells) + f"\n{row}\n")
    assert cli("check", tmp_path, "--format", "json").json["findings"] == []
    assert cli("inspect", tmp_path, "--format", "json").json["rows"][0]["vintage"] == vintage


def test_a_packed_trace_is_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "kernel_trace.csv.gz").write_bytes(gzip.compress(TRACE.read_bytes()))
    rows = cli("hotspots", tmp_path, "--format", "json").json["rows"]
    assert sum(row["count"] for row in rows) == 16


def test_records_say_whose_they_are_and_are_stored_once(cli: Cli, tmp_path: Path) -> None:
    records = [line for line in cli("ingest", "--dry-run", TRACE).out.splitlines() if line]
    assert all('"engine": "rocm"' in line and '"source": "rocprof"' in line for line in records)
    store = tmp_path / "s"
    first, second = (cli("ingest", VALID, "--store", store, "--format", "json").json["rows"] for _ in range(2))
    assert [row["outcome"] for row in first] == ["added"] * 3
    assert [row["outcome"] for row in second] == ["unchanged"] * 3
    assert cli("store", "verify", "--store", store).code == 0


def test_rows_that_end_before_they_start_are_counted_and_left_out(cli: Cli, tmp_path: Path) -> None:
    header, row = V62.format(agent=1).splitlines()
    bad = row.replace(",100,350,", ",350,100,")
    (tmp_path / "kernel_trace.csv").write_text("\n".join([header, row, *[bad] * 30]) + "\n")
    ended = cli("hotspots", tmp_path, "--format", "json")
    assert ended.rules() == {"negative-duration"}
    assert [row["count"] for row in ended.json["rows"]] == [1]
    assert [finding["line"] for finding in ended.json["findings"]][:2] == [3, 4]
    assert ended.code == 1


def test_a_kernel_of_no_agent_is_of_no_device(cli: Cli, tmp_path: Path) -> None:
    header, row = V62.format(agent='"Agent 0"').splitlines()
    (tmp_path / "199_kernel_trace.csv").write_text("\n".join([header, row, row.replace('"Agent 0"', "").replace(",100,350", ",400,500"), ""]))  # fmt: skip
    rows = cli("table", "kernel_trace", tmp_path, "--format", "json").json["rows"]
    assert [row["device_id"] for row in rows] == [0, None]
