"""`trace`: what is cut out by step, time, rank and finding; runs side by side; what is told and what is never written."""

from __future__ import annotations

import gzip
import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from made_events import write

MS = 1000
"""What a millisecond is in the times of events."""
BEGIN = 1736405443862052


def task(name: str, us: int, dur: float = 10.5, **more: Any) -> dict[str, Any]:
    made = {
        "name": name,
        "pid": 320,
        "tid": 2,
        "ts": f"{BEGIN + us}.130",
        "dur": dur,
        "ph": "X",
        "args": {"Task Type": "AI_CORE"},
    }
    return {**made, **more}


def flow(phase: str, us: int, number: int, **more: Any) -> dict[str, Any]:
    made = {"name": "HostToDevice", "cat": "HostToDevice", "ph": phase, "id": str(number << 32), "pid": 320, "tid": 2}
    return {**made, "ts": f"{BEGIN + us}.130", **more}


NAMES = [
    {"name": "process_name", "pid": 320, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}},
    {"name": "process_sort_index", "pid": 320, "tid": 0, "ph": "M", "args": {"sort_index": 13000}},
    {"name": "thread_name", "pid": 320, "tid": 2, "ph": "M", "args": {"name": "Stream 2"}},
    {"name": "thread_name", "pid": 320, "tid": 9, "ph": "M", "args": {"name": "Stream 9"}},
    {"name": "process_name", "pid": 99, "tid": 0, "ph": "M", "args": {"name": "HBM"}},
]
STEPS = [task(f"ProfilerStep#{step}", step * 20 * MS, 20 * MS, pid=7, tid=7, args={}) for step in range(5)]
TASKS = [task(f"MatMul_{number}", number * 5 * MS) for number in range(20)]
FLOWS = [flow(phase, number * 5 * MS, number) for number in range(20) for phase in "sf"]
EVENTS = [*NAMES, *STEPS, *TASKS, *FLOWS]


def captured(folder: Path, events: Any = EVENTS, rank: int = 0) -> Path:
    """A capture of one rank with nothing but a timeline."""
    output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / f"profiler_info_{rank}.json").write_text("{}")
    return write(output, events).parents[1]


def in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events with flows, which come last in any order, as they were made."""
    return sorted(
        events,
        key=lambda event: (
            (event["ph"] in "sf", float(event["ts"]), event["ph"] == "f") if event["ph"] in "sf" else (False, 0, False)
        ),
    )


def names_of(events: list[dict[str, Any]]) -> set[str]:
    return {event["name"] for event in events if event["ph"] == "X"}


def ns(us: int) -> int:
    return (BEGIN + us) * 1000 + 130


def test_a_step_is_what_the_range_of_the_framework_is_around(cli: Cli, tmp_path: Path) -> None:
    ended = cli("trace", captured(tmp_path), "--step", 2)
    found = in_order(json.loads(ended.out))
    assert (ended.code, ended.err) == (0, "")
    assert found == [*NAMES[:3], STEPS[2], *TASKS[8:12], *FLOWS[16:24]]


def test_an_iteration_is_what_the_table_of_msprof_says(cli: Cli) -> None:
    folder = FIXTURES / "msprof/valid/ten_iterations_timeline"
    steps = cli("steps", folder, "--format", "json").json["rows"]
    step = next(row for row in steps if row["step"] == 3)
    start, end = step["start_ns"], step["start_ns"] + round(step["duration_us"] * 1000)
    found = json.loads(cli("trace", folder, "--step", 3).out)
    assert found == json.loads(cli("trace", folder, "--from", start, "--to", end).out)
    inside = [event for event in found if event["ph"] == "X"]
    assert inside
    assert all(event["ts"] * 1000 < end and (event["ts"] + event["dur"]) * 1000 > start - 1 for event in inside)


def test_a_step_that_is_not_there_names_those_that_are(cli: Cli, tmp_path: Path) -> None:
    ended = cli("trace", captured(tmp_path), "--step", 7, "-o", tmp_path / "cut.json")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.strip().endswith("error: step 7 cannot be cut out: steps here: 0-4 [nothing-measured]")
    assert not (tmp_path / "cut.json").exists()
    bare = captured(tmp_path / "bare", [*NAMES, *TASKS])
    assert "no step here has a beginning" in cli("trace", bare, "--step", 7).err


def test_times_are_whole_ns_or_after_the_first_event(cli: Cli, tmp_path: Path) -> None:
    folder = captured(tmp_path)
    found = json.loads(cli("trace", folder, "--from", ns(10 * MS), "--to", ns(15 * MS)).out)
    assert names_of(found) == {"ProfilerStep#0", "MatMul_2"}
    assert found == json.loads(cli("trace", folder, "--from", "+10000000", "--to", "+15000000").out)
    more = json.loads(cli("trace", folder, "--from", "+10000000", "--to", "+15000001").out)
    assert names_of(more) == {"ProfilerStep#0", "MatMul_2", "MatMul_3"}
    wider = json.loads(cli("trace", folder, "--from", "+10000000", "--to", "+15000000", "--margin-ms", 5).out)
    assert names_of(wider) == {"ProfilerStep#0", "MatMul_1", "MatMul_2", "MatMul_3"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected one of --around, --step, --from with --to, or --rank alone"),
        (["--step", 1, "--around", "x"], "expected one of"),
        (["--from", 1], "expected one of"),
        (["--from", "now", "--to", 5], "--from now: expected ns, such as"),
        (["--from", 5, "--to", "-5"], "--to -5: expected ns"),
        (["--from", "9" * 20, "--to", 5], "expected ns"),
        (["--from", "+9", "--to", "+9"], "is not after --from"),
    ],
)  # fmt: skip
def test_options_that_say_nothing_are_one_line(cli: Cli, tmp_path: Path, options: list[object], message: str) -> None:
    ended = cli("trace", captured(tmp_path), *options)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


def test_a_time_without_events_says_so(cli: Cli, tmp_path: Path) -> None:
    ended = cli("trace", captured(tmp_path), "--from", 5, "--to", 6)
    assert (ended.code, ended.out) == (1, "")
    assert "no event of the timeline is between 5 and 6 ns" in ended.err


def test_ranks_keep_to_processes_whose_names_tell_the_rank(cli: Cli, tmp_path: Path) -> None:
    for rank in (0, 1):
        captured(tmp_path, rank=rank)
    one = in_order(json.loads(cli("trace", tmp_path, "--rank", 1, "--step", 2).out))
    assert one == [*NAMES[:3], STEPS[2], *TASKS[8:12], *FLOWS[16:24]]
    found = json.loads(cli("trace", tmp_path, "--step", 2).out)
    named = {event["args"]["name"]: event["pid"] for event in found if event["name"] == "process_name"}
    assert named.keys() == {"rank 0: Ascend Hardware", "rank 0: 7", "rank 1: Ascend Hardware", "rank 1: 7"}
    assert len(set(named.values())) == 4
    assert len(found) == 2 * (len(one) + 1)
    whole = json.loads(cli("trace", tmp_path, "--rank", 0).out)
    assert len(whole) == len(EVENTS) - 2
    absent = cli("trace", tmp_path, "--rank", 5, "--step", 2)
    assert absent.code == 1
    assert "(rank 5); ranks here: 0-1" in absent.err


def test_runs_side_by_side_begin_together_and_share_no_process_and_no_flow(cli: Cli, tmp_path: Path) -> None:
    moved = json.loads(json.dumps(EVENTS).replace(str(BEGIN)[:6], "173650"))
    before, after = captured(tmp_path / "before"), captured(tmp_path / "after", moved)
    found = json.loads(cli("trace", before, after, "--step", 2).out)
    labels = {event["pid"]: event["args"]["name"].split(":")[0] for event in found if event["name"] == "process_name"}
    sides = {
        label: in_order([event for event in found if labels.get(event["pid"]) == label and event["ph"] != "M"])
        for label in ("before/rank0_ascend_pt", "after/rank0_ascend_pt")
    }
    first, second = sides.values()
    assert first == [STEPS[2], *TASKS[8:12], *FLOWS[16:24]]
    assert [event["ts"] for event in second] == [event["ts"] for event in first]
    assert [event.get("args") for event in second] == [event.get("args") for event in first]
    assert {event["pid"] for event in first}.isdisjoint(event["pid"] for event in second)
    ids = [[event["id"] for event in side if event["ph"] in "sf"] for side in (first, second)]
    assert set(ids[0]).isdisjoint(ids[1])
    assert [ids[1].index(one) for one in ids[1]] == [ids[0].index(one) for one in ids[0]]
    assert "given twice" in cli("trace", before, before, "--step", 2).err


def test_a_file_is_whole_or_not_there_and_packed_by_its_name(cli: Cli, tmp_path: Path) -> None:
    folder = captured(tmp_path)
    printed = cli("trace", folder, "--step", 2).out
    plain, packed = tmp_path / "new" / "cut.json", tmp_path / "cut.json.gz"
    assert cli("trace", folder, "--step", 2, "-o", plain).code == 0
    assert cli("trace", folder, "--step", 2, "-o", packed).out == ""
    assert plain.read_text() == printed == gzip.decompress(packed.read_bytes()).decode()
    again = captured(tmp_path / "again", packed.read_bytes()).rglob("trace_view.json")
    (place,) = again
    place.rename(place.with_suffix(".json.gz"))
    assert cli("trace", tmp_path / "again", "--step", 2).out == printed


@pytest.mark.parametrize("text", [json.dumps(EVENTS)[:-40], json.dumps(EVENTS)[:-1], "{}", ""])
def test_of_a_damaged_timeline_nothing_is_written(cli: Cli, tmp_path: Path, text: str) -> None:
    folder = captured(tmp_path, text)
    place = tmp_path / "cut.json"
    place.write_text("before")
    ended = cli("trace", folder, "--from", ns(0), "--to", ns(10**6), "-o", place)
    assert (ended.code, place.read_text()) == (1, "before")
    assert any(f"[{rule}]" in ended.err for rule in ("json-truncated", "json-syntax", "json-shape", "empty-file"))
    assert list(tmp_path.glob(".*")) == []


def test_an_event_of_broken_text_is_told_marked_and_left_out(cli: Cli, tmp_path: Path) -> None:
    asked = ("--from", ns(0), "--to", ns(10**6))
    whole = json.loads(cli("trace", captured(tmp_path / "whole"), *asked).out)
    ended = cli("trace", captured(tmp_path / "broken", json.dumps(EVENTS)[:-1] + ",{]"), *asked)
    found = json.loads(ended.out)
    assert (ended.code, ended.err.count("[timeline-event]")) == (1, 1)
    assert [event["name"] for event in found if event["ph"] == "i"] == ["timeline-event"]
    assert [event for event in whole if event["ph"] == "X"] == [event for event in found if event["ph"] == "X"]


def test_an_event_that_cannot_be_used_is_told_marked_and_left_out(cli: Cli, tmp_path: Path) -> None:
    broken = [*EVENTS[:15], task("no time", 0, ts="x"), task("negative", 26 * MS, -1), *EVENTS[15:]]
    text = json.dumps(broken).replace('"MatMul_9"', '"MatMul_9", "args": {"n": NaN}')
    folder = captured(tmp_path, text)
    ended = cli("trace", folder, "--from", ns(0), "--to", ns(10**6))
    found = json.loads(ended.out, parse_constant=pytest.fail)
    assert ended.code == 1
    assert ended.err.count("[timeline-event]") == 3
    assert len(names_of(found)) == len(STEPS) + len(TASKS) - 1
    marks = [event for event in found if event["ph"] == "i"]
    assert {mark["name"] for mark in marks} == {"timeline-event"}
    assert [mark["ts"] for mark in marks] == [f"{BEGIN + us}.130" for us in (20 * MS, 26 * MS, 40 * MS)]
    assert [mark["args"]["pointer"] for mark in marks] == ["/15", "/16", "/21"]
    assert all(mark["args"]["message"] for mark in marks)
    (pid,) = {mark["pid"] for mark in marks}
    assert [event["args"]["name"] for event in found if event["pid"] == pid and event["ph"] == "M"] == ["Findings"] * 2


HEADER = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes"


def with_kernels(folder: Path, damaged: tuple[int, ...]) -> Path:
    rows = [
        f'0,MatMul_{number},MatMul,AI_CORE,{BEGIN + number * 5 * MS}.130,10.5,0,8,"""2,2"""'
        + (",1,2,3" if number in damaged else "")
        for number in range(20)
    ]
    table = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    table.write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


def test_around_a_finding_as_check_prints_it(cli: Cli, tmp_path: Path) -> None:
    folder = with_kernels(captured(tmp_path), (8,))
    line = next(line for line in cli("check", folder).out.splitlines() if "kernel_details.csv:10" in line)
    assert "csv-ragged-row" in line
    place = re.search(r"\S*kernel_details.csv:10", line)
    assert place is not None
    around = [
        cli("trace", folder, "--around", handle, "--margin-ms", 6)
        for handle in (
            "kernel_details.csv:10",
            "csv-ragged-row",
            place[0],
            "ASCEND_PROFILER_OUTPUT/kernel_details.csv:10",
        )
    ]
    assert len({ended.out for ended in around}) == 1
    found = json.loads(around[0].out)
    assert names_of(found) == {"ProfilerStep#1", "ProfilerStep#2", "MatMul_6", "MatMul_7", "MatMul_8"}
    (mark,) = [event for event in found if event["ph"] == "i"]
    assert (mark["name"], mark["args"]["rule"], mark["args"]["line"]) == ("csv-ragged-row", "csv-ragged-row", 10)
    assert mark["ts"] == f"{BEGIN + 35 * MS}.130"  # of the row above: that one is left out


def test_around_an_event_of_the_timeline(cli: Cli, tmp_path: Path) -> None:
    folder = captured(tmp_path, [*EVENTS, task("negative", 26 * MS, -1)])
    ended = cli("trace", folder, "--around", f"trace_view.json#/{len(EVENTS)}", "--margin-ms", 2)
    found = json.loads(ended.out)
    assert ended.code == 1
    assert names_of(found) == {"ProfilerStep#1", "MatMul_5"}
    assert [event["name"] for event in found if event["ph"] == "i"] == ["timeline-event"]


def test_a_finding_that_is_not_the_only_one_or_is_not_there_is_one_line_with_what_there_is(
    cli: Cli, tmp_path: Path
) -> None:
    folder = with_kernels(captured(tmp_path), (3, 8))
    for handle, message in (
        ("csv-ragged-row", "2 findings; name one: "),
        ("csv-nothing", "no such finding with a time"),
    ):
        ended = cli("trace", folder, "--around", handle)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert message in ended.err
        assert "kernel_details.csv:5 (csv-ragged-row), " in ended.err
        assert "kernel_details.csv:10 (csv-ragged-row)" in ended.err
    assert "no finding here has one" in cli("trace", captured(tmp_path / "sound"), "--around", "x").err


def test_where_there_is_no_timeline_one_line_says_what_was_looked_for(cli: Cli, tmp_path: Path) -> None:
    database = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER, value TEXT)")
    connection.close()
    for folder in (FIXTURES / "msprof/valid/statistic_only", tmp_path):
        ended = cli("trace", folder, "--step", 1)
        assert (ended.code, ended.out) == (1, "")
        assert "no JSON timeline here to cut from (trace_view, msprof*, or another list of events)" in ended.err
    assert cli("trace", tmp_path / "nowhere", "--step", 1).code == 3


def test_one_kind_of_timeline_is_cut_where_none_is_of_the_whole_device(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, [*NAMES, *TASKS], "hccl_0_1_1.json")
    found = json.loads(cli("trace", path, "--from", "+0", "--to", "+6000000").out)
    assert names_of(found) == {"MatMul_0", "MatMul_1"}


def test_a_name_that_is_no_text_stands_in_a_trace(cli: Cli, tmp_path: Path) -> None:
    folders = [captured(tmp_path / os.fsdecode(name)) for name in (b"before-\xff", b"after")]
    ended = cli("trace", *folders, "--step", 2)
    names = {event["args"]["name"] for event in json.loads(ended.out) if event["name"] == "process_name"}
    assert ended.code == 0
    assert "before-?/rank0_ascend_pt: Ascend Hardware" in names
