"""`plan` of a profile with a timeline: what the critical path of its steps gives up bounds what tuning is expected to save."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Cli
from made_traces import Trace, device

HEADER = "Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n"
TASKS = (("beside", "MatMulV2", 5, 0, 200), ("long", "Conv2D", 3, 0, 300), ("last", "BatchMatMulV2", 3, 300, 100))
"""Name, type, stream, start, length: what runs beside `long` keeps nothing waiting."""


def capture(folder: Path, *, damaged: bool = False) -> Path:
    trace = Trace()
    for name, _, stream, start, length in TASKS:
        trace.event(name, (device(0), stream), start, length, **{"Task Type": "AI_CORE", "Stream Id": stream})
    output = trace.write(folder) / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    rows = [f'{name},{kind},static,AI_CORE,{start + 1},{length},"8,8;8,8"\n' for name, kind, _, start, length in TASKS]
    (output / "kernel_details.csv").write_text(HEADER + "".join(rows))
    if damaged:
        file = output / "trace_view.json"
        file.write_text(file.read_text()[:-30])
    return folder


def test_an_operator_off_the_path_is_expected_to_save_nothing(cli: Cli, tmp_path: Path) -> None:
    document = cli("plan", capture(tmp_path / "a"), "-o", tmp_path / "plan", "--format", "json").json
    told = {one["op_type"]: one for one in document["rows"]}
    assert told["MatMulV2"]["path_saving_us"] == 0.0
    assert told["MatMulV2"]["expected_saving_us"] == 0.0
    assert {one["bound_saving_us"] for one in told.values()} == {None}, "no counter bounds them"
    assert told["MatMulV2"]["reason"].endswith("limited to what the critical path gives up")
    assert told["BatchMatMulV2"]["path_saving_us"] == 100.0
    assert document["rows"][-1]["op_type"] == "MatMulV2", "what saves most comes first"


def test_what_another_stream_bounds_is_given_up_in_part(cli: Cli, tmp_path: Path) -> None:
    document = cli("plan", capture(tmp_path / "a"), "-o", tmp_path / "plan", "--format", "json").json
    (conv,) = [one for one in document["rows"] if one["op_type"] == "Conv2D"]
    assert conv["path_saving_us"] == 200.0, "`beside` still takes 200 us, and `last` no longer waits for it"


def test_without_a_timeline_the_plan_has_no_bound_by_a_path(cli: Cli, tmp_path: Path) -> None:
    (capture(tmp_path / "a") / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    document = cli("plan", tmp_path / "a", "-o", tmp_path / "plan", "--format", "json").json
    assert {one["path_saving_us"] for one in document["rows"]} == {None}
    assert "plan-path-unknown" not in {finding["rule"] for finding in document["findings"]}


def test_a_damaged_timeline_is_said_and_the_plan_made_without(cli: Cli, tmp_path: Path) -> None:
    ran = cli("plan", capture(tmp_path / "a", damaged=True), "-o", tmp_path / "plan", "--format", "json")
    assert "plan-path-unknown" in {finding["rule"] for finding in ran.json["findings"]}
    assert {one["path_saving_us"] for one in ran.json["rows"]} == {None}


def test_a_large_timeline_is_not_read_for_a_plan(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.tuning.plan.measured.MAX_BYTES", 100)
    document = cli("plan", capture(tmp_path / "a"), "-o", tmp_path / "plan", "--format", "json").json
    (said,) = [finding for finding in document["findings"] if finding["rule"] == "plan-path-unknown"]
    assert said["severity"] == "info"
