"""`critical-path`: what bounds a step in a capture's timelines, and what is said where that cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Cli
from made_traces import Trace, planted

from aoe_reports import breakdown, critical_path

KINDS = ("computing", "communication", "other_tasks", "launch", "host", "unexplained")
KERNELS = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


def test_the_times_of_a_path_add_up_to_the_step_that_breakdown_tells(tmp_path: Path) -> None:
    folder = planted().write(tmp_path)
    paths = critical_path([folder]).rows
    told = {one.step: one.end_to_end_ns for one in breakdown([folder]).rows if one.step is not None}
    assert {one.step: one.duration_ns for one in paths} == told
    for one in paths:
        assert sum(getattr(one, f"{kind}_ns") for kind in KINDS) == one.duration_ns


def test_what_is_planted_is_found(cli: Cli, tmp_path: Path) -> None:
    document = cli("critical-path", planted().write(tmp_path), "--step", 7, "--format", "json").json
    assert document["findings"] == []
    (row,) = document["rows"]
    assert (row["rank_id"], row["device_id"], row["step"], row["duration_us"]) == (0, 0, 7, 1200.0)
    assert {kind: row[f"{kind}_us"] for kind in KINDS} == {
        "computing": 110.0, "communication": 0.0, "other_tasks": 0.0, "launch": 135.0, "host": 3.0, "unexplained": 952.0,
    }  # fmt: skip
    by_name = {one["op_name"] or one["op_type"]: one for one in document["operators"]}
    assert (by_name["last"]["path_us"], by_name["last"]["slack_us"], by_name["last"]["gain_us"]) == (50.0, 0.0, 50.0)
    assert (by_name["first"]["path_us"], by_name["first"]["slack_us"], by_name["first"]["gain_us"]) == (0.0, 740.0, 0.0)
    assert by_name["allreduce"]["tasks"] == 2
    assert [(one["kind"], one["lane"], one["op_name"], one["duration_us"]) for one in document["segments"]][:4] == [
        ("unexplained wait", "Thread 7", None, 679.0),
        ("unexplained wait", "Thread 7", None, 209.0),
        ("launch", "Stream 3", "behind", 135.0),
        ("computing", "Stream 3", "behind", 60.0),
    ]


def chained() -> Trace:
    """Two operators of one type on the path, one of another beside them on its own device stream."""
    trace = Trace()
    trace.task("MatMul1", 0, 100)
    trace.task("MatMul2", 100, 200)
    trace.task("Add1", 300, 40)
    return trace


def test_operators_are_shortened_one_after_the_other(cli: Cli, tmp_path: Path) -> None:
    document = cli("critical-path", chained().write(tmp_path), "--shorten", 25, "--format", "json").json
    told = [(one["op_name"], one["path_us"], one["gain_us"]) for one in document["operators"]]
    assert told == [("MatMul2", 200.0, 50.0), ("MatMul1", 100.0, 25.0), ("Add1", 40.0, 10.0)]


def test_types_are_those_of_the_table_of_tasks(cli: Cli, tmp_path: Path) -> None:
    folder = chained().write(tmp_path)
    rows = "MatMul1,MatMul,AI_CORE,1,100\nMatMul2,MatMul,AI_CORE,101,200\nAdd1,Add,AI_CORE,301,40\n"
    (folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_text(KERNELS + rows)
    document = cli("critical-path", folder, "--format", "json").json
    told = [(one["op_type"], one["op_name"], one["tasks"], one["gain_us"]) for one in document["operators"]]
    assert told == [("MatMul", None, 2, 300.0), ("Add", None, 1, 40.0)]
    by_name = cli("critical-path", folder, "--by", "op_name", "--format", "json").json["operators"]
    assert [one["op_name"] for one in by_name] == ["MatMul2", "MatMul1", "Add1"]


def test_so_many_operators_and_segments_are_shown_as_asked(cli: Cli, tmp_path: Path) -> None:
    document = cli("critical-path", chained().write(tmp_path), "--top", 2, "--format", "json").json
    assert [one["position"] for one in document["operators"]] == [1, 2]
    assert [one["duration_us"] for one in document["segments"]] == [200.0, 100.0]


def test_the_headline_names_the_largest_part_and_the_largest_gain(cli: Cli, tmp_path: Path) -> None:
    first = cli("critical-path", chained().write(tmp_path)).out.splitlines()[0]
    assert first == (
        "The critical path of the longest step takes 340.0 us, 100.0% of it computing. "
        "Without MatMul2 it is 200.0 us shorter."
    )


def test_a_timeline_of_several_devices_has_a_path_for_each(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    trace.task("zero", 0, 100)
    trace.task("one", 0, 70, on=1)
    trace.talk("allReduce_1", 100, 50)
    trace.talk("allReduce_1", 70, 20, on=1)
    document = cli("critical-path", trace.write(tmp_path, devices=2), "--format", "json").json
    assert [(one["device_id"], one["duration_us"]) for one in document["rows"]] == [(0, 150.0), (1, 90.0)]
    alone = cli("critical-path", tmp_path, "--device", 1, "--format", "json").json
    assert [one["device_id"] for one in alone["rows"]] == [1]


def test_communication_of_no_known_device_is_left_out_aloud(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    trace.task("zero", 0, 100)
    trace.task("one", 0, 70, on=1)
    trace.talk("allReduce_1", 100, 50)
    document = cli("critical-path", trace.write(tmp_path, devices=2), "--format", "json").json
    assert [finding["rule"] for finding in document["findings"]] == ["device-unknown"]


@pytest.mark.parametrize("option", [("--rank", 3), ("--step", 99), ("--device", 5)])
def test_what_is_not_there_is_said(cli: Cli, tmp_path: Path, option: tuple[str, int]) -> None:
    ran = cli("critical-path", planted().write(tmp_path), *option, "--format", "json")
    document = ran.json
    assert ran.code == 1
    assert document["rows"] == []
    assert "nothing-measured" in {finding["rule"] for finding in document["findings"]}


def test_a_damaged_timeline_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    folder = planted().write(tmp_path)
    file = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    file.write_text(file.read_text()[:-40])
    ran = cli("critical-path", folder, "--format", "json")
    document = ran.json
    assert ran.code == 1
    assert [finding["rule"] for finding in document["findings"]][:1] == ["json-truncated"]


def test_a_step_that_trace_cut_out_has_the_path_of_the_whole(cli: Cli, tmp_path: Path) -> None:
    folder, cut = planted().write(tmp_path / "whole"), tmp_path / "cut"
    cut.mkdir()
    cli("trace", folder, "--step", 7, "--margin-ms", 1, "-o", cut / "trace_view.json")
    whole, part = (critical_path([path], step=7) for path in (folder, cut))
    assert [one.duration_ns for one in whole.table("segments")] == [one.duration_ns for one in part.table("segments")]
    assert [one.kind for one in whole.table("segments")] == [one.kind for one in part.table("segments")]
