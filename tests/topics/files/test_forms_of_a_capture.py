"""The files of one capture: what each is, and whether timelines tell what tables tell."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES

from aoe_reports.formats.sources.discovery import discover
from aoe_reports.topics.files.check import check
from aoe_reports.topics.files.checked_files import checker_of
from aoe_reports.topics.files.inspect import inspect
from aoe_reports.topics.files.table import list_tables

VALID = FIXTURES / "msprof" / "valid"
RANK0 = VALID / "torch_npu_two_ranks" / "rank0_ascend_pt"


@pytest.mark.parametrize(
    ("folder", "name", "told"),
    [
        (VALID / "ten_iterations_timeline", "step_trace_0_2_1.json", ("step_trace", "msprof", "json", None, 31, 56635864652490, 56636233762031)),
        (VALID / "packed", "kernel_details.csv.gz", ("kernel_details", "torch_npu", "csv", "2024-02", 6, 1736408883704643212, 1736408883705244807)),
        (RANK0, "op_statistic.csv", ("op_statistic", "torch_npu", "csv", "2022-03", 6, None, None)),
        (RANK0, "profiler_info_0.json", ("profiler_info", "torch_npu", "json", None, None, None, None)),
        (FIXTURES / "aoe" / "valid", "Ascend910B_gradient_fusion.json", ("gdat", "aoe", "json", None, 5, None, None)),
        (FIXTURES / "records", "example_net.json", ("record", "foreign", "json", None, 1, None, None)),
    ],
)  # fmt: skip
def test_a_file_is_inspected_by_its_kind(folder: Path, name: str, told: tuple[Any, ...]) -> None:
    row = next(one for one in inspect([folder]).rows if Path(one.path).name == name)
    assert (row.kind, row.source, row.form, row.vintage, row.rows, row.start_ns, row.end_ns) == told


def test_what_holds_no_measurement_or_is_not_read_has_no_check_of_its_own() -> None:
    files = discover([VALID / "torch_npu_two_ranks", FIXTURES / "mindspore"]).files
    unchecked = {file.name.kind for file in files if checker_of(file) is None}
    assert {"profiler_info", "minddata_aicpu", "timeline_summary"} <= unchecked
    assert unchecked.isdisjoint({"kernel_details", "op_statistic", "step_trace_time", "hccl_raw", "kernel_flops"})


def test_files_are_listed_by_path_with_whose_they_are() -> None:
    rows = inspect([VALID / "torch_npu_two_ranks", FIXTURES / "triton", FIXTURES / "aoe" / "valid"]).rows
    assert [row.path for row in rows] == sorted(row.path for row in rows)
    ranks = {row.rank_id for row in rows if "rank1_ascend_pt" in row.path}
    assert ranks == {1}
    bank = next(row for row in rows if row.kind == "gdat")
    assert (bank.summary.gradients, bank.summary.models) == (5, 2)
    tuner = next(row for row in rows if row.kind == "triton_autotune" and row.rows == 1)
    assert tuner.summary["configs"] == 1
    results = {row.run is not None: row.rows for row in rows if row.kind == "opat" and row.rows is not None}
    assert True in results


def test_an_empty_file_of_a_capture_is_said_to_be_empty(tmp_path: Path) -> None:
    shutil.copytree(RANK0, tmp_path / RANK0.name)
    (path,) = (tmp_path / RANK0.name).rglob("op_statistic.csv")
    path.write_text("")
    answer = inspect([tmp_path])
    assert [(one.rule, one.path, str(one.message)) for one in answer.findings] == [
        ("empty-file", str(path), "the file is empty")
    ]
    assert next(row.rows for row in answer.rows if row.path == str(path)) is None


def test_a_damaged_result_is_listed_without_a_run(tmp_path: Path) -> None:
    path = tmp_path / "aoe_result_opat_20260101020304005_pid4711.json"
    path.write_text("[{")
    answer = inspect([path])
    (row,) = answer.rows
    assert (row.kind, row.run, row.rows) == ("opat", None, None)
    assert [one.rule for one in answer.findings] == ["json-truncated"]


# Timelines


def named(pid: int, process: str, tid: int, thread: str) -> list[dict[str, Any]]:
    return [
        {"name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}, "ph": "M"},
        {"name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}, "ph": "M"},
    ]


def event(name: str, pid: int, tid: int, start_us: float, us: float, task_type: str | None = None) -> dict[str, Any]:
    return {
        "name": name, "pid": pid, "tid": tid, "ts": f"{start_us:.3f}", "dur": us, "ph": "X",
        "args": {"Task Type": task_type} if task_type else {},
    }  # fmt: skip


KERNELS = [(name, 100.0 * place, 10.0 + place) for place, name in enumerate(("a", "b", "c"), start=1)]
HARDWARE = [*named(7, "Ascend Hardware", 2, "Stream 2")]
ON_DEVICE = [event(name, 7, 2, 1000.0 + at, us, "AI_CORE") for name, at, us in KERNELS]
OVERLAP = {"Computing": 36.0, "Communication": 8.0, "Communication(Not Overlapped)": 5.0, "Free": 20.0}


def overlap(**changed: float) -> list[dict[str, Any]]:
    """The process Overlap Analysis, a thread for each part of a step."""
    events: list[dict[str, Any]] = []
    for tid, (thread, us) in enumerate({**OVERLAP, **changed}.items(), start=1):
        events += [*named(9, "Overlap Analysis", tid, thread), event(thread, 9, tid, 1000.0, us / 2)]
        events += [event(thread, 9, tid, 1500.0, us / 2)]
    return events


def capture(folder: Path, events: Sequence[dict[str, Any]] | str, step: str = "1") -> Path:
    """A rank of three kernels and one step, with a timeline of all of it."""
    export = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    export.mkdir(parents=True)
    (export.parent / "profiler_info_0.json").write_text("{}")
    kernels = [f"{step},0,{n},2,{name},MatMul,AI_CORE,{1000.0 + at:.3f}\t,{us},0.0,8" for n, (name, at, us) in enumerate(KERNELS)]  # fmt: skip
    header = "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"
    (export / "kernel_details.csv").write_text("\n".join([header, *kernels]) + "\n")
    parts = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble"
    (export / "step_trace_time.csv").write_text(f"{parts}\n1,36.0,5.0,3.0,8.0,20.0,61.0,0.0\n")
    (export / "trace_view.json").write_text(events if isinstance(events, str) else json.dumps(events))
    return folder


def disagreements(folder: Path) -> list[str]:
    return [str(one.message) for one in check([folder]).findings if one.rule == "forms-disagree"]


def test_a_timeline_that_tells_what_the_tables_tell_is_right(tmp_path: Path) -> None:
    assert disagreements(capture(tmp_path, [*HARDWARE, *ON_DEVICE, *overlap()])) == []


@pytest.mark.parametrize(
    ("on_device", "said"),
    [
        (ON_DEVICE[1:], "2 operators, 25.000 us"),
        ([*ON_DEVICE, event("d", 7, 2, 1900.0, 5.0, "AI_VECTOR_CORE")], "4 operators, 41.000 us"),
        ([*ON_DEVICE[1:], event("a", 7, 2, 1100.0, 21.0, "AI_CORE")], "3 operators, 46.000 us"),
    ],
)
def test_operators_of_a_timeline_that_the_table_lacks_are_said(
    tmp_path: Path, on_device: list[dict[str, Any]], said: str
) -> None:
    assert disagreements(capture(tmp_path, [*HARDWARE, *on_device, *overlap()])) == [
        f"{said} on the device here, but 3 operators, 36.000 us in kernel_details.csv"
    ]


def test_what_else_runs_is_no_operator(tmp_path: Path) -> None:
    """Events of other processes, other tasks of the device, and timelines that name nobody."""
    others = [
        *named(8, "Host", 1, "python"), event("d", 8, 1, 1900.0, 5.0, "AI_CORE"), event("e", 7, 2, 1950.0, 5.0, "EVENT_WAIT"),
    ]  # fmt: skip
    assert disagreements(capture(tmp_path / "1", [*HARDWARE, *ON_DEVICE, *others, *overlap()])) == []
    assert disagreements(capture(tmp_path / "2", ON_DEVICE[1:])) == []
    assert disagreements(capture(tmp_path / "3", [*HARDWARE, *others])) == [
        "0 operators, 0.000 us on the device here, but 3 operators, 36.000 us in kernel_details.csv"
    ]


@pytest.mark.parametrize("step", ["1", "N/A"])
@pytest.mark.parametrize(("here", "less"), [(30.0, True), (42.0, False)])
def test_less_time_than_the_steps_tell_is_said_and_more_where_all_is_in_steps(
    tmp_path: Path, here: float, less: bool, step: str
) -> None:
    events = [*HARDWARE, *ON_DEVICE, *overlap(Computing=here)]
    said = f"Computing: {here:.3f} us in the process Overlap Analysis here, but 36.000 us in the table of steps"
    assert [one for one in disagreements(capture(tmp_path, events, step)) if "Overlap" in one] == (
        [said] if less or step == "1" else []
    )


def test_a_timeline_that_cannot_be_used_is_held_against_nothing(tmp_path: Path) -> None:
    assert disagreements(capture(tmp_path, "[{")) == []


# Kinds of tables


def test_kinds_of_tables_are_listed_with_their_files() -> None:
    rows = {row.kind: row for row in list_tables().rows}
    assert len(rows) == len(list_tables().rows)
    summary, kernels, statistic = (rows[kind] for kind in ("op_summary", "kernel_details", "op_statistic"))
    assert (summary.source, summary.files) == ("msprof", "op_summary*.csv, op_summary*.json")
    assert kernels.source == "torch_npu"
    assert statistic.source == "msprof, torch_npu"
    assert statistic.vintages.split(", ")[0] == "2022-03"
    timelines = [row for row in rows.values() if str(row.title).startswith("timeline: ")]
    assert {row.kind for row in timelines} >= {"msprof", "trace_view", "step_trace_events"}
    assert {row.vintages for row in timelines} == {""}
    assert rows["trace_view"].files == "trace_view*.json"
