"""What a capture holds, the best form of it first, and what its info files and databases say of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES

from aoe_reports.formats.capture import Capture, CaptureInfo
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import group_captures, vendor_of

HEADER = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"


def only(path: Path) -> Capture:
    (capture,) = [one for one in group_captures(discover([path]).files) if one.has_data]
    return capture


@pytest.mark.parametrize(
    ("fixture", "tasks", "steps"),
    [
        ("exports_of_2022", ["op_summary", "op_statistic"], ["step_trace"]),
        ("exports_of_spring_2022", ["op_summary"], ["step_trace"]),
        ("merged_two_devices", ["op_summary", "op_statistic", "task_time"], []),
        ("mindspore", ["kernel_details", "op_statistic"], ["step_trace_time"]),
        ("statistic_only", ["op_statistic", "task_time"], []),
        ("ten_iterations_timeline", [], ["step_trace"]),
        ("torch_npu_memory_and_communication", ["kernel_details", "op_statistic"], ["step_trace_time"]),
    ],
)
def test_where_tasks_and_steps_stand(fixture: str, tasks: list[str], steps: list[str]) -> None:
    capture = only(FIXTURES / "msprof" / "valid" / fixture)
    vendor = vendor_of(capture.profiler)
    assert [source.kind for source in vendor.tasks(capture)] == tasks
    assert [source.kind for source in vendor.steps(capture)] == steps


def test_of_both_tables_of_tasks_the_frameworks_own_is_the_first(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", tmp_path / "rank0_ascend_pt")
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    (output / "op_summary.csv").write_text(HEADER + "a,Add,AI_CORE,1,2\n")
    capture = only(tmp_path)
    kinds = [source.kind for source in vendor_of(capture.profiler).tasks(capture)]
    assert kinds == ["kernel_details", "op_summary", "op_statistic"]
    (output / "kernel_details.csv").unlink()
    capture = only(tmp_path)
    assert [source.kind for source in vendor_of(capture.profiler).tasks(capture)] == ["op_summary", "op_statistic"]


def framework(folder: Path, document: Any, name: str = "profiler_info_3.json") -> CaptureInfo:
    """What the info file of a framework's profiler says."""
    output = folder / "host_1_20250109073124_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("Name,Type,Start Time(us),Duration(us)\na,Add,1,2\n")
    (output.parent / name).write_text(document if isinstance(document, str) else json.dumps(document))
    return only(folder).info


def of_msprof(folder: Path, **files: Any) -> CaptureInfo:
    """What the info files of msprof say; `device_N__name` is a file of a device."""
    root = folder / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP"
    output = root / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20260605155140.csv").write_text(HEADER + "a,Add,AI_CORE,1,2\n")
    for key, document in files.items():
        place, _, name = key.partition("__")
        path = root / place / name.replace("_0", ".0").replace("_1", ".1")
        path.parent.mkdir(exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document))
    return only(folder).info


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"rank_id": 5}, {"rank_id": 5}),
        ({"rank_id": 0}, {"rank_id": 0}),
        ({"rank_id": -1}, {"rank_id": 3}),
        ({"rank_id": 2**31 - 1}, {"rank_id": 2**31 - 1}),
        ({"rank_id": 2**31}, {"rank_id": 3}),
        ({"rank_id": True}, {"rank_id": 3}),
        ({"rank_id": "5"}, {"rank_id": 3}),
        ({"end_info": {"collectionTimeEnd": 1736408884604643212}}, {"end_ns": 1736408884604643212}),
        ({"end_info": {"collectionTimeEnd": 0}}, {"end_ns": None}),
        ({"end_info": {"collectionTimeEnd": -5}}, {"end_ns": None}),
        ({"end_info": {"collectionTimeEnd": 1}}, {"end_ns": 1}),
        ({"end_info": {"collectionTimeEnd": "1736408884604643212"}}, {"end_ns": None}),
        ({"end_info": {"collectionTimeEnd": 10**21}}, {"end_ns": None}),
        ({"end_info": 7}, {"end_ns": None}),
        ({"end_info": {"collectionTimeEnd": 7258118399999999999}}, {"end_ns": 7258118399999999999}),
        ({"end_info": {"collectionTimeEnd": 7258118400000000000}}, {"end_ns": None}),
        ({"config": {"experimental_config": {"_profiler_level": "Level2", "_aic_metrics": "X"}}}, {"profiler_level": "Level2", "aic_metrics": "X"}),
        ({"config": {"experimental_config": {"_profiler_level": 2}}}, {"profiler_level": None}),
        ({"config": 1}, {"profiler_level": None, "aic_metrics": None}),
        ({"cann_version": "8.0.RC2"}, {"engine_version": "8.0.RC2", "engine": "cann"}),
        ({"cann_version": "x" * 300}, {"engine_version": "x" * 200}),
    ],
)  # fmt: skip
def test_what_the_frameworks_profiler_says(tmp_path: Path, document: dict[str, Any], told: dict[str, Any]) -> None:
    info = framework(tmp_path, document)
    assert {name: getattr(info, name) for name in told} == told


@pytest.mark.parametrize(
    ("document", "workload"),
    [
        ({"workload": "a", "model_name": "b"}, "a"),
        ({"workload": " ", "model_name": " b "}, "b"),
        ({"workload": 5, "model_name": "b"}, "b"),
        ({"model_name": ""}, None),
        ({}, None),
    ],
)
def test_what_a_script_says_is_measured(tmp_path: Path, document: dict[str, Any], workload: str | None) -> None:
    assert framework(tmp_path, document, "profiler_metadata.json").workload == workload


@pytest.mark.parametrize("text", ["", "[", "[1]", "5", "null", "[" * 100_000])
def test_an_info_file_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    info = framework(tmp_path, text)
    assert (info.rank_id, info.end_ns) == (3, None), "its name tells the rank"
    (finding,) = only(tmp_path).findings
    assert finding.message == "this info file cannot be read as JSON; its information (rank, time) is not known"
    assert finding.path.endswith("profiler_info_3.json")


def test_what_msprof_says_of_devices(tmp_path: Path) -> None:
    chip = {"ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": 1700, "hwts_frequency": "50", "other": 1}  # fmt: skip
    info = of_msprof(
        tmp_path,
        **{
            "device_0__info_json_0".replace("info_json_0", "info.json_0"): {"rank_id": 4, "pid": "77", "DeviceInfo": [chip, {"ai_core_num": 1}]},
            "device_1__info.json_1": '{"rank_id": 5, "pid": 78, "DeviceInfo": [{"aiv_num": 40, "aic_frequency": 1.5}]}filesize:99',
            "device_0__start_info_0": {"collectionTimeBegin": "1736408884604643"},
            "device_1__start_info_1": {"collectionTimeBegin": "1736408884604642"},
            "device_0__end_info_0": {"collectionTimeEnd": "1736408884604650"},
            "device_1__end_info_1": {"collectionTimeEnd": "1736408884604651"},
        },
    )  # fmt: skip
    assert (info.ranks, info.rank_id, info.pid, info.several_ranks) == ({0: 4, 1: 5}, None, 78, True)
    assert (info.rank_of(0), info.rank_of(1), info.rank_of(2), info.rank_of(None)) == (4, 5, None, None)
    assert info.hardware == {"ai_core_num": 24, "aiv_num": 40, "aic_frequency": "1800", "aiv_frequency": 1700, "hwts_frequency": "50"}  # fmt: skip
    assert (info.start_ns, info.end_ns) == (1736408884604642000, 1736408884604651000)
    assert info.may_hold(None)
    assert [info.may_hold(rank) for rank in (3, 4, 5)] == [False, True, True]


@pytest.mark.parametrize(
    ("begin", "start_ns"),
    [("1736408884604643", 1736408884604643000), (1736408884604643, 1736408884604643000), ("1", 1000), ("0", None), ("-5", None), (True, None), (1.5, None), ("9" * 30, None), ("soon", None), (None, None), ("7258118399999999", 7258118399999999000), ("7258118400000000", None)],
)  # fmt: skip
def test_a_time_of_msprof_is_one(tmp_path: Path, begin: Any, start_ns: int | None) -> None:
    info = of_msprof(tmp_path, device_0__start_info_0={"collectionTimeBegin": begin}, device_0__end_info_0={"collectionTimeEnd": begin})  # fmt: skip
    assert (info.start_ns, info.end_ns) == (start_ns, start_ns)


def test_the_only_rank_of_several_devices_is_that_of_the_capture(tmp_path: Path) -> None:
    info = of_msprof(tmp_path, **{"device_0__info.json_0": {"rank_id": 4}, "device_1__info.json_1": {"rank_id": 4}})
    assert (info.rank_id, info.ranks, info.several_ranks) == (4, {0: 4, 1: 4}, False)
    assert info.rank_of(7) == 4


def database(path: Path, rank: int, chip: str, start: int) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);"
            "CREATE TABLE NPU_INFO (id INTEGER, name TEXT);"
            "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);"
            "CREATE TABLE StepTraceTime (deviceId INTEGER, step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC,"
            " overlapped NUMERIC, communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC,"
            " communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC);"
            "INSERT INTO StepTraceTime VALUES (0, '1', 100, 20, 5, 25, 30, 150, 0, 0, 0);"
            f"INSERT INTO RANK_DEVICE_MAP VALUES ({rank}, 0);"
            f"INSERT INTO NPU_INFO VALUES (0, '{chip}');"
            f"INSERT INTO SESSION_TIME_INFO VALUES ({start}, {start + 1000});"
        )
        made.commit()


@pytest.mark.parametrize("info", [None, {"rank_id": 9, "end_info": {"collectionTimeEnd": 1736408884604643212}}])
def test_a_database_says_what_info_files_do_not(tmp_path: Path, info: dict[str, Any] | None) -> None:
    output = tmp_path / "host_1_20250109073124_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("Name,Type,Start Time(us),Duration(us)\na,Add,1,2\n")
    database(output / "analysis.db", 6, "Ascend910B", 1736408884600000000)
    if info is not None:
        (output.parent / "profiler_info_3.json").write_text(json.dumps(info))
    told = only(tmp_path).info
    assert (told.ranks, told.device_type, told.start_ns) == ({0: 6}, "Ascend910B", 1736408884600000000)
    assert told.rank_id == (6 if info is None else 9)
    assert told.end_ns == (1736408884600001000 if info is None else 1736408884604643212)


def test_forms_of_the_same_tasks_are_asked_in_the_order_of_what_they_know(tmp_path: Path) -> None:
    """Text of the framework, then msprof's, merged before per device, and timelines last."""
    root = tmp_path / "PROF_000001_20230818142704322_COJGGGCANRMICFBC"
    merged, single = root / "mindstudio_profiler_output", root / "device_0" / "summary"
    for folder in (merged, single):
        folder.mkdir(parents=True)
        (folder / ("op_summary_0_1.csv" if folder == single else "op_summary_20230818142709.csv")).write_text(
            f"{HEADER}a,Add,AI_CORE,1,2\n"
        )
    task = {"name": "a", "ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": {"Task Type": "AI_CORE"}}
    (merged / "task_time_20230818142709.json").write_text(json.dumps([task]))
    (merged / "task_time_20230818142709.csv").write_text(
        "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\na,AI_CORE,1,1,1,1,2\n"
    )
    capture = only(tmp_path)
    assert [[file.path.parent for file in source.files] for source in capture.sources("op_summary")] == [
        [merged],
        [single],
    ]
    assert [[file.path.suffix for file in source.files] for source in capture.sources("task_time")] == [
        [".csv"],
        [".json"],
    ]
