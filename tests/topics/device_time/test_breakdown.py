"""`breakdown`: truths planted in a timeline are found, and what the profiler says of itself is held against its tasks."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from commandline import REAL, Cli, needs_real
from made_traces import ORIGIN, Trace, planted


def test_what_is_planted_is_found(cli: Cli, tmp_path: Path) -> None:
    document = cli("breakdown", planted().write(tmp_path), "--format", "json").json
    assert document["findings"] == []
    whole, seven, eight = document["rows"]
    assert whole == {
        "run": str(tmp_path / "rank0_ascend_pt"), "rank_id": 0, "device_id": 0, "step": None, "start_ns": ORIGIN + 100_000,
        "end_to_end_us": 1200.0, "computing_us": 409.5, "communication_us": 330.0, "overlapped_us": 60.0,
        "communication_not_overlapped_us": 270.0, "free_us": 520.5, "tasks": 5,
    }  # fmt: skip
    assert (seven["step"], seven["tasks"], seven["computing_us"], seven["communication_us"]) == (7, 4, 349.5, 330.0)
    assert (eight["step"], eight["tasks"], eight["computing_us"], eight["end_to_end_us"]) == (8, 1, 60.0, 60.0)


def test_the_longest_gaps_have_neighbours_and_a_cause(cli: Cli, tmp_path: Path) -> None:
    gaps = cli("breakdown", planted().write(tmp_path), "--format", "json").json["gaps"]
    told = [(gap["duration_us"], gap["before"], gap["after"], gap["step"], gap["cause"]) for gap in gaps]
    assert told == [
        (500.0, "second", "late", 7, "host launched late"),
        (240.0, "late", "behind", 8, "waiting for communication"),
        (50.0, "behind", "last", 7, "unknown"),
        (0.5, "first", "second", 7, "unknown"),
    ]
    assert (gaps[0]["launch"], gaps[0]["launched_after_us"], gaps[0]["communication_us"]) == (
        "Node@launch",
        480.0,
        40.0,
    )
    assert gaps[0]["reason"] == "host launched late: Node@launch began 480.000 us after the start of the gap"
    assert gaps[1]["reason"] == "waiting for communication: 95.8% of it, longest allReduce_2"
    assert len(cli("breakdown", tmp_path, "--gaps", 2, "--format", "json").json["gaps"]) == 2
    assert cli("breakdown", tmp_path, "--gaps", 0, "--format", "json").json["gaps"] == []


def test_all_gaps_are_counted_where_the_longest_are_listed(cli: Cli, tmp_path: Path) -> None:
    told = cli("breakdown", planted().write(tmp_path), "--gaps", 2).out
    assert (
        "Gaps between two compute tasks: 4, together 0.790 ms; at most 2 of each device are listed, the longest first"
        in told
    )
    told = cli("breakdown", tmp_path, "--gaps", 3, "--step", 8).out
    assert "4, together 0.790 ms; those of step 8 of the 3 longest of each device are listed." in told
    again = cli("breakdown", tmp_path, "--device", 1)
    assert "Gaps between" not in again.out


def test_the_launch_is_found_by_its_flow_where_calls_are_not_recorded(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    trace.task("first", 0, 10)
    trace.task("late", 200, 10)
    trace.flow((3 << 64) + 5, 190, 200)
    (gap,) = cli("breakdown", trace.write(tmp_path), "--format", "json").json["gaps"]
    assert gap["reason"] == "host launched late: its call began 180.000 us after the start of the gap"
    assert gap["launch"] is None


def test_a_call_behind_its_task_tells_that_the_clocks_differ(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    trace.task("first", 0, 10)
    trace.task("late", 200, 10, launched=205)
    (gap,) = cli("breakdown", trace.write(tmp_path), "--format", "json").json["gaps"]
    assert gap["reason"].endswith(
        "began 195.000 us after the start of the gap, 5.000 us after the task: the clocks of host and device differ"
    )


def test_devices_are_told_apart(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    for number, length in ((0, 10), (1, 30)):
        trace.task("a", 0, length, on=number)
        trace.talk("allReduce", 5, 20, on=number)
    folder = trace.write(tmp_path, devices=2)
    rows = cli("breakdown", folder, "--format", "json").json["rows"]
    told = [(row["device_id"], row["computing_us"], row["overlapped_us"], row["end_to_end_us"]) for row in rows]
    assert told == [(0, 10.0, 5.0, 25.0), (1, 30.0, 20.0, 30.0)]
    assert [row["device_id"] for row in cli("breakdown", folder, "--device", 1, "--format", "json").json["rows"]] == [1]
    assert cli("breakdown", folder, "--device", 2).code == 1


def test_what_the_profiler_says_is_held_against_its_tasks(cli: Cli, tmp_path: Path) -> None:
    for name, computing, said in (
        ("same", 409.5, 0), ("near", 409.528, 0), ("too far", 409.529, 1), ("other", 400.0, 1),
    ):  # fmt: skip
        trace = planted()
        trace.overlap(Computing=computing, Communication=330, Not_Overlapped=270, Free=520.5)
        found = cli("breakdown", trace.write(tmp_path / name), "--format", "json").json["findings"]
        assert [finding["rule"] for finding in found] == ["forms-disagree"] * said
    assert found[0]["message"] == (
        "Computing: 409.500 us from the tasks here, but 400.000 us in Overlap Analysis: a difference of 9.500 us; "
        "rounding explains 0.028 us"
    )
    assert cli("breakdown", tmp_path / "other", "--strict").code == 1


def test_the_table_of_steps_is_held_against_the_tasks(cli: Cli, tmp_path: Path) -> None:
    folder = planted().write(tmp_path)
    table = next(folder.rglob("ASCEND_PROFILER_OUTPUT")) / "step_trace_time.csv"
    header = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"
    table.write_text(f"{header}\n7,349.5,270,60,330,1\n8,60,0,0,0,0\n")
    found = cli("breakdown", folder, "--format", "json").json["findings"]
    (message,) = (finding["message"] for finding in found)
    assert message == (
        "Free: 580.500 us from the tasks here, but 1.000 us for step 7 in the step table: a difference of 579.500 us; "
        "rounding explains 0.026 us"
    )


def test_tasks_outside_of_all_steps_are_told(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    trace.task("tail", 2500, 10, launched=2400)
    (finding,) = cli("breakdown", trace.write(tmp_path), "--format", "json").json["findings"]
    assert (finding["rule"], finding["message"][:32]) == ("step-missing", "1 tasks belong to no step: the h")


def test_steps_and_ranks_are_chosen(cli: Cli, tmp_path: Path) -> None:
    folder = planted().write(tmp_path)
    document = cli("breakdown", folder, "--step", 8, "--format", "json").json
    assert [row["step"] for row in document["rows"]] == [8]
    assert [gap["after"] for gap in document["gaps"]] == ["behind"]
    ended = cli("breakdown", folder, "--rank", 3)
    assert ended.code == 1
    assert "no device task in a timeline here (rank 3)" in ended.err


def test_the_order_of_events_and_of_files_decides_nothing(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    before = cli("breakdown", trace.write(tmp_path), "--format", "json").out
    trace.events.reverse()
    assert cli("breakdown", trace.write(tmp_path), "--format", "json").out == before


@needs_real
@pytest.mark.parametrize("form", ["text", "db"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_real_ranks_agree_with_the_profilers_own_analysis(cli: Cli, form: str, level: int) -> None:
    folder = REAL / "torch_npu_2025-01" / form / f"level{level}"
    broken = cli("breakdown", folder, "--format", "json").json
    assert broken["findings"] == []  # Overlap Analysis and step_trace_time agree to what rounding explains
    steps = cli("steps", folder, "--format", "json").json["rows"]
    mine = [row for row in broken["rows"] if row["step"] is not None]
    assert [(row["rank_id"], row["step"]) for row in mine] == [(row["rank_id"], row["step"]) for row in steps]
    for row, stated in zip(mine, steps, strict=True):
        for name in ("computing_us", "communication_us", "communication_not_overlapped_us", "free_us"):
            assert row[name] == pytest.approx(stated[name], abs=0.03)


@needs_real
def test_real_iterations_agree_with_the_profilers_own_analysis(cli: Cli) -> None:
    broken = cli("breakdown", REAL / "msprof_2023-08", "--format", "json").json
    (said,) = broken["findings"]
    assert said["message"] == "rank 0: not like the other steps: step 1 (warm-up); --trim excludes them (see `quality`)"
    told = [(row["device_id"], row["step"], row["computing_us"], row["communication_us"]) for row in broken["rows"]]
    assert told == [(0, 1, 5914.58, 41534.3), (0, 2, 5928.1, 9303.05), (0, 3, 5946.6, 9213.81)]


def test_of_a_damaged_timeline_the_whole_events_are_used_and_it_is_told(cli: Cli, tmp_path: Path) -> None:
    folder = planted().write(tmp_path)
    file = next(folder.rglob("trace_view.json"))
    cut = file.read_text()[:-200]
    file.write_text(cut[: cut.rindex("}, {") + 1] + "]")
    mended = cli("breakdown", folder, "--format", "json")
    assert mended.json["rows"]
    file.write_text(cut)
    ended = cli("breakdown", folder, "--format", "json")
    assert (ended.code, ended.json["rows"], ended.json["reasons"]) == (1, mended.json["rows"], ["damage"])
    assert ended.rules() == {"json-truncated"}


def test_a_timeline_without_a_task_is_told(cli: Cli, tmp_path: Path) -> None:
    ended = cli("breakdown", Trace().write(tmp_path), "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"no-timeline", "nothing-measured"})


def test_a_compressed_timeline_is_read(cli: Cli, tmp_path: Path) -> None:
    file = next(planted().write(tmp_path).rglob("trace_view.json"))
    before = cli("breakdown", tmp_path, "--format", "json").json["rows"]
    file.with_name("trace_view.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert cli("breakdown", tmp_path, "--format", "json").json["rows"] == before


def test_slices_are_one_timeline(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    before = cli("breakdown", trace.write(tmp_path / "whole"), "--format", "json").json["rows"]
    output = tmp_path / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    names = [event for event in trace.events if event["ph"] == "M"]
    others = [event for event in trace.events if event["ph"] != "M"]
    for number in (0, 1):
        file = output / f"msprof_slice_{number}_2026060515514{number}.json"
        file.write_text(json.dumps([*names, *others[number::2]]))
    rows = cli("breakdown", output.parent, "--format", "json").json["rows"]
    assert [{**row, "run": None, "rank_id": 0} for row in rows] == [{**row, "run": None} for row in before]


def test_a_database_is_read_like_a_timeline(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    connection = sqlite3.connect(output / "ascend_pytorch_profiler_0.db")
    connection.executescript("""
        CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO STRING_IDS VALUES (1, 'AI_CORE'), (2, 'first'), (3, 'late'), (4, 'allReduce'), (5, 'launch');
        CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
            globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
        INSERT INTO TASK VALUES (1000, 2000, 5, 1, 1, 0, 1, 4294967295, 2, 1, 4294967295);
        INSERT INTO TASK VALUES (9000, 9500, 5, 2, 2, 0, 1, 4294967295, 2, 2, 4294967295);
        CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER,
            mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER,
            inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
        INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES (2, 1, 1, 1), (3, 2, 1, 1);
        CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,
            groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER,
            count NUMERIC, opType INTEGER);
        INSERT INTO COMMUNICATION_OP VALUES (4, 1500, 2500, 3, 4, 1, 0, 0, 4, 4, 1, 4);
        CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
            connectionId INTEGER PRIMARY KEY, name INTEGER);
        INSERT INTO CANN_API VALUES (8000, 8100, 10000, 1, 2, 5);
    """)
    connection.commit()
    connection.close()
    document = cli("breakdown", tmp_path, "--format", "json").json
    (row,) = document["rows"]
    names = ("device_id", "start_ns", "end_to_end_us", "computing_us", "communication_us", "overlapped_us", "free_us")
    assert [row[name] for name in names] == [5, 1000, 8.5, 1.5, 1.0, 0.5, 6.5]
    (gap,) = document["gaps"]
    assert (gap["before"], gap["after"], gap["launched_after_us"]) == ("first", "late", 6.0)
    assert gap["cause"] == "host launched late"
