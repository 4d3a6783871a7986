"""Damage of every kind: a finding or a line, the documented exit code, never a traceback, never a wrong sum."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli, Ended

from aoe_reports.simulation.nights import MODEL

KERNELS = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
GOOD = KERNELS + "a,MatMul,AI_CORE,1736412474712511.621\t,10.5\nb,Add,AI_VECTOR_CORE,1736412474712600\t,2\n"
STATISTIC = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
STEPS = [{"name": "Iteration 1", "cat": "Iteration Time", "ph": "X", "ts": 1, "dur": 2, "args": {"Iteration ID": 1}}]
TASK = {"name": "a", "ph": "X", "ts": 1, "dur": 2, "args": {"Task Type": "AI_CORE", "Stream Id": 1, "Task Id": 1}}
RESULT = "aoe_result_opat_20260101020304005_pid4711.json"


def opat(**changes: object) -> list:
    document = json.loads(next((FIXTURES / "aoe/valid/array_grouped").iterdir()).read_text())
    document[1]["OPAT"].update(changes)
    return document


def entry(**changes: object) -> dict:
    return {
        "repo_modified_operators": {
            "add_repo_operators": [{**opat()[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"][0], **changes}]
        }
    }


CASES: dict[str, tuple[dict[str, object], str | None, int]] = {
    "only carriage returns": ({"kernel_details.csv": GOOD.replace("\n", "\r")}, "missing-column", 1),
    "carriage returns in a stranger": ({"notes.csv": "a\rb\rc", "kernel_details.csv": GOOD}, None, 0),
    "a very long header cell": ({"kernel_details.csv": "x" * 200_000 + "\n1\n"}, "unreadable", 3),
    "ten thousand columns": ({"kernel_details.csv": KERNELS.rstrip() + ",x" * 10_000 + "\n"}, "nothing-measured", 1),
    "a column named like ours": ({"kernel_details.csv": "task_duration_ns," + GOOD.replace("\n", "\nx,", 2)}, None, 0),
    "a blank first line": ({"kernel_details.csv": "\n" + GOOD}, "empty-file", 1),
    "an empty op_statistic beside tasks": ({"kernel_details.csv": GOOD, "op_statistic.csv": ""}, "empty-file", 1),
    "a broken op_statistic beside tasks": ({"kernel_details.csv": GOOD, "op_statistic.csv": "Core Type\n1\n"}, "missing-column", 1),
    "an empty op_summary beside tasks": ({"kernel_details.csv": GOOD, "op_summary.csv": ""}, "empty-file", 1),
    "counts that are none": ({"op_statistic.csv": STATISTIC + "Conv,AI_CORE,0,500,1,1,1,1\nX,AI_CORE,-3,5,1,1,1,1\nY,AI_CORE,1e30,5,1,1,1,1\nZ,AI_CORE,1,5,5,5,5,1\n"}, "implausible-count", 1),
    "durations whose sum overflows": ({"kernel_details.csv": KERNELS + "a,b,c,1,4000000000000000\n" * 4}, "csv-unparsable", 1),
    "UTF-16": ({"kernel_details.csv": GOOD.encode("utf-16")}, None, 1),
    "an iteration without a number": ({"step_trace_0_1_1.json": [*STEPS, {**STEPS[0], "args": {"Iteration ID": True}}]}, "timeline-event", 1),
    "an iteration with a huge number": ({"step_trace_0_1_1.json": [*STEPS, {**STEPS[0], "args": {"Iteration ID": 10**30}}]}, "timeline-event", 1),
    "a category that is a list": ({"step_trace_0_1_1.json": [*STEPS, {**STEPS[0], "cat": [1]}]}, "timeline-event", 1),
    "a phase that is a list": ({"step_trace_0_1_1.json": [*STEPS, {**STEPS[0], "ph": ["X"]}]}, "timeline-event", 1),
    "a task type that is a number": ({"task_time_0_1_1.json": [TASK, {**TASK, "args": {"Task Type": 5}}]}, "timeline-event", 1),
    "ids that are none": ({"task_time_0_1_1.json": [{**TASK, "args": {"Task Type": "AI_CORE", "Stream Id": True, "Task Id": 10**30}}]}, None, 0),
    "a result that is null": ({RESULT: "null"}, "schema", 1),
    "an operator type that is a number": ({RESULT: opat(**entry(op_type=5))}, "schema", 1),
    "a time that is too large": ({RESULT: json.dumps(opat(**entry())).replace('"performance_before_tune(us)": 120', '"performance_before_tune(us)": 1e400')}, "implausible-time", 1),
    "a tuning time of a billion digits": ({RESULT: json.dumps(opat()).replace("1827", "1e999999999")}, "implausible-time", 1),
    "an improvement with a line end": ({RESULT: opat(model_performance_improvement="25.00%\n")}, "schema", 1),
    "a report key that is no time": ({RESULT: {"report_20260101000000abc_1": opat()}}, None, 0),
    "a report that is no list beside one that is": ({RESULT: {"report_20260101000000_1": opat(), "report_20260101000001_2": {"basic": {}}}}, "schema", 1),
    "a year that is none": ({"op_statistic_99991231235959.csv": STATISTIC + "Z,AI_CORE,1,5,5,5,5,1\n"}, "time-unknown", 0),
    "a result of the year 1": ({RESULT.replace("2026", "0001"): opat()}, "time-unknown", 0),
    "info files of wrong types": ({"profiler_info_0.json": {"rank_id": "x", "config": [], "end_info": 3, "cann_version": "\ud800"}, "ASCEND_PROFILER_OUTPUT/kernel_details.csv": GOOD}, None, 0),
    "an info file that is cut": ({"profiler_info_0.json": '{"rank', "ASCEND_PROFILER_OUTPUT/kernel_details.csv": GOOD}, "info-file", 0),
    "somebody else's JSON": ({"api_schema.json": {"a": 1}, "event_log.json": [1], "kernel_details.csv": GOOD}, None, 0),
    "a copy beside the export": ({"op_summary_20260101000000.csv": GOOD.replace("Name,Type,Accelerator Core,Start Time(us),Duration(us)", "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"), "op_summary_20260101000000_copy.csv": "x\n"}, "several-exports", 0),
}  # fmt: skip


def lay(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_bytes((content if isinstance(content, str) else json.dumps(content)).encode())
    return folder


@pytest.mark.parametrize("case", CASES)
def test_damage_is_said_and_ends_with_its_code(cli: Cli, tmp_path: Path, case: str) -> None:
    files, rule, code = CASES[case]
    folder = lay(tmp_path / "in", files)
    ended = cli("nightly", folder, "--store", tmp_path / "s", "--workload", "w", "--format", "json")
    found = [finding for finding in ended.json["findings"] if finding["rule"] == rule]
    assert rule is None or found, ended.json["findings"]
    assert ended.code == code, ended.json["findings"]
    for command in (
        ("inspect",),
        ("check",),
        ("hotspots",),
        ("hotspots", "--by", "shape"),
        (
            "ingest",
            "--dry-run",
        ),
    ):
        assert cli(command[0], folder, *command[1:]).code in {0, 1, 3}


def test_odd_names_are_no_obstacle(cli: Cli, tmp_path: Path) -> None:
    folder = lay(tmp_path / os.fsdecode(b"n\xff \x1b[31m[a],b%20{c}*?#&=x"), {"kernel_details.csv": GOOD})
    for form in ("text", "json", "csv", "html", "markdown"):
        ended = cli("inspect", folder, "--format", form)
        assert ended.code == 0
        assert "\x1b" not in ended.out
    store = tmp_path / "st ,中b{c}*?#&=x"
    assert cli("ingest", folder, "--store", store, "--workload", "\udcff").code == 0
    assert len(cli("store", "history", "--store", store, "--format", "json").json["rows"]) == 1
    assert store.is_dir()
    for name in ("st%41", "st[a]"):
        assert cli("ingest", folder, "--store", tmp_path / name).code == 3
        assert not (tmp_path / name).exists()
    assert cli("inspect", tmp_path / ("x" * 300)).code == 3


def test_two_layouts_of_one_export_are_counted_once(cli: Cli, tmp_path: Path) -> None:
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    rows = header + GOOD.split("\n", 1)[1]
    prof = "PROF_000001_20260605155111872_JDEKRCNERPBNJEGA"
    folder = lay(
        tmp_path,
        {
            f"{prof}/mindstudio_profiler_output/op_summary_20260605155140.csv": rows,
            f"{prof}/device_0/summary/op_summary_0_1.csv": rows,
        },
    )
    assert sum(row["count"] for row in cli("hotspots", folder, "--format", "json").json["rows"]) == 2


def test_a_reexport_without_slices_supersedes_one_with(cli: Cli, tmp_path: Path) -> None:
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    rows = header + GOOD.split("\n", 1)[1]
    names = (
        "op_summary_slice_0_20260605155140.csv",
        "op_summary_slice_1_20260605155141.csv",
        "op_summary_20260605160000.csv",
    )
    folder = lay(tmp_path, dict.fromkeys(names, rows))
    assert sum(row["count"] for row in cli("hotspots", folder, "--format", "json").json["rows"]) == 2


def test_folders_whose_names_only_look_like_parts_stay_apart(cli: Cli, tmp_path: Path) -> None:
    later = GOOD.replace("173641247", "173649247")
    folder = lay(
        tmp_path,
        {
            "device_farm_0101/kernel_details.csv": GOOD,
            "device_farm_0102/kernel_details.csv": later,
            "summary/kernel_details.csv": later.replace("10.5", "11"),
            "PROF_archive/a/kernel_details.csv": GOOD.replace("10.5", "12"),
        },
    )
    assert len({row["run"] for row in cli("hotspots", folder, "--format", "json").json["rows"]}) == 4


def test_devices_of_old_names_stay_apart(cli: Cli, tmp_path: Path) -> None:
    header = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    prof = "PROF_000001_20230605155111872_JDEKRCNERPBNJEGA"
    files = {
        f"{prof}/device_{d}/summary/op_summary_{d}_1_1.csv": f"{header}a,MatMul,AI_CORE,5,{d + 1}0\n" for d in (0, 1)
    }
    files |= {f"{prof}/device_{d}/info.json.{d}": json.dumps({"rank_id": d + 4}) for d in (0, 1)}
    lay(tmp_path / "in", files)
    rows = cli("hotspots", tmp_path / "in", "--device", 1, "--format", "json").json["rows"]
    assert [row["total_us"] for row in rows] == [20.0]
    cli("ingest", tmp_path / "in", "--store", tmp_path / "s", "--workload", "w")
    records = cli(
        "store", "history", "records", "--store", tmp_path / "s", "--scope", "op_type", "--format", "json"
    ).json["rows"]
    assert [
        (row["rank_id"], row["device_id"], row["runtime_ms_mean"])
        for row in sorted(records, key=lambda r: r["rank_id"])
    ] == [(4, 0, 0.01), (5, 1, 0.02)]


def ingested(cli: Cli, path: Path, store: Path) -> Ended:
    return cli("ingest", path, "--store", store, "--workload", "w", "--format", "json")


def test_a_grown_rank_alone_never_takes_the_others_away(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    job = shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path / "job")
    ingested(cli, job, tmp_path / "s")
    before = cli("store", "history", "records", "--store", tmp_path / "s", "--format", "json").json["rows"]
    table = job / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    whole = table.read_bytes()
    rows = whole.split(b"\n", 1)[1]
    table.write_bytes(whole + b"".join(rows.replace(b",173640", b",17364%d" % digit) for digit in range(1, 10)))
    ended = ingested(cli, job / "rank1_ascend_pt", tmp_path / "s")
    assert [row["outcome"] for row in ended.json["rows"]] == ["less-complete"]
    assert "less-complete" in ended.rules()
    assert cli("store", "history", "records", "--store", tmp_path / "s", "--format", "json").json["rows"] == before
    assert [row["outcome"] for row in ingested(cli, job, tmp_path / "s").json["rows"]] == ["superseded"]


def test_a_profile_that_grows_stays_one_run(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    source = next((msprof / "merged_two_devices").iterdir())
    target = tmp_path / source.name / "mindstudio_profiler_output"
    target.mkdir(parents=True)
    outcomes = []
    for name in ("op_statistic", "op_summary", "task_time"):
        shutil.copy(next((source / "mindstudio_profiler_output").glob(f"{name}_*")), target)
        outcomes += [row["outcome"] for row in ingested(cli, tmp_path / source.name, tmp_path / "s").json["rows"]]
    assert outcomes == ["added", "superseded", "superseded"]
    assert len(cli("store", "history", "--store", tmp_path / "s", "--format", "json").json["rows"]) == 1


def test_two_versions_with_as_many_rows_do_not_chase_each_other(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        copy = shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", tmp_path / name / "rank0_ascend_pt")
        table = copy / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        table.write_bytes(table.read_bytes().replace(b"Relu", name.encode() * 4))
    outcomes = [ingested(cli, tmp_path / name, tmp_path / "s").json["rows"][0]["outcome"] for name in "abababab"]
    assert outcomes.count("superseded") <= 1


def test_a_renamed_result_is_the_same_run(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    source = next((aoe / "array_grouped").iterdir())
    shutil.copy(source, tmp_path / "copy.json")
    ingested(cli, source, tmp_path / "s")
    assert [row["outcome"] for row in ingested(cli, tmp_path / "copy.json", tmp_path / "s").json["rows"]] == [
        "unchanged"
    ]


@pytest.mark.slow
def test_another_teams_regression_is_not_mine(
    cli: Cli, simulated_nights: Path, simulated_store: Path, tmp_path: Path
) -> None:
    newest = max(simulated_nights.iterdir())
    shutil.copytree(simulated_store, tmp_path / "s")
    mine = lay(tmp_path / "mine" / newest.name, {"kernel_details.csv": GOOD})
    assert cli("nightly", newest, "--store", tmp_path / "s", "--workload", MODEL).code == 1
    ended = cli("nightly", mine, "--store", tmp_path / "s", "--workload", "mine", "--format", "json")
    assert (ended.code, ended.json["changes"]) == (0, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_one_line_and_is_still_there(tmp_path: Path) -> None:
    lay(tmp_path, {"kernel_details.csv": GOOD})
    command = [sys.executable, "-m", "aoe_reports", "inspect", str(tmp_path)]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 3
    assert ended.stderr.startswith("aoe-reports: error: ")
    assert "Traceback" not in ended.stderr


def test_output_goes_through_links_and_pipes(cli: Cli, tmp_path: Path) -> None:
    folder = lay(tmp_path / "in", {"kernel_details.csv": GOOD})
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    cli("inspect", folder, "-o", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert "kernel_details" in (tmp_path / "target").read_text()
    os.mkfifo(tmp_path / "pipe")
    assert cli("inspect", tmp_path / "pipe").code == 3
    assert cli("demo", "-o", tmp_path / "target").code == 3


def test_an_unreadable_table_leaves_the_healthy_ones_reported(cli: Cli, tmp_path: Path) -> None:
    folder = lay(tmp_path, {"a/kernel_details.csv": "x" * 200_000 + "\n1\n", "b/kernel_details.csv": GOOD})
    for command in (("hotspots",), ("table", "kernel_details"), ("inspect",), ("check",)):
        ended = cli(*command, folder, "--format", "json")
        assert ended.code == 3, command
        assert "unreadable" in ended.rules()
        assert [row for row in ended.json["rows"] if "b" in str(row.get("path", row.get("run", "b")))]
