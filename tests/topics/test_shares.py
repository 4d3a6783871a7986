"""No share of any question is above the whole: sums are held against sums, unions against unions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commandline import OF_CAPTURES, Cli

NOW_US = 1_788_647_874_000_000
KERNELS = (
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Num,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
STEPS = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"
Task = tuple[str, str, str, int, int]
"""(name, type, core, start, duration), in us."""


STREAMS = {"AI_CORE": 3, "AI_VECTOR_CORE": 4}
"""Tasks run beside each other on streams of their own."""


def write_capture(root: Path, tasks: Sequence[Task], steps: Sequence[str] = ()) -> Path:
    """A capture of torch_npu with a table of tasks, and one of steps if there are any."""
    exports = root / "h_1_20260906010305656_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    rows = [
        f'0,1,{n},{STREAMS.get(core, 5)},{name},{kind},static,{core},{NOW_US + start}.000,{us}.000,0.000,24,"""16,16""",FLOAT16,ND,"""16,16""",FLOAT16,ND'
        for n, (name, kind, core, start, us) in enumerate(tasks)
    ]
    (exports / "kernel_details.csv").write_text("\n".join([KERNELS, *rows, ""]))
    if steps:
        (exports / "step_trace_time.csv").write_text("\n".join([STEPS, *steps, ""]))
    return root


def two_streams(root: Path) -> Path:
    """40 products, and 40 activations at the same time: 7.6 ms of tasks in a step of 4.195 ms, and an all-reduce of 20 ms."""
    tasks: list[Task] = []
    for n in range(40):
        tasks.append((f"MatMul{n}", "MatMulV2", "AI_CORE", 105 * n, 100))
        tasks.append((f"Swiglu{n}", "SwiGlu", "AI_VECTOR_CORE", 105 * n, 90))
    tasks.append(("hcom_allReduce__1_1", "hcom_allReduce_", "HCCL", 4195, 20_000))
    return write_capture(root, tasks, ["0,1,4000,20000,0,20000,195"])


def shares(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Every number below a name that says it is a share."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from shares(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from shares(inner, key)
    elif isinstance(value, int | float) and "share" in key.split("_"):
        yield key, value


@pytest.mark.parametrize("question", [*OF_CAPTURES, "hotspots --all-tasks", "hotspots --all-tasks --by op_name"])
def test_tasks_beside_each_other_give_no_share_above_the_whole(cli: Cli, tmp_path: Path, question: str) -> None:
    done = cli(*question.split(), two_streams(tmp_path), "--format", "json")
    if done.out:
        found = [*shares(json.loads(done.out))]
        assert not [one for one in found if not 0 <= one[1] <= 1], found


def test_advice_shares_are_of_the_sum_of_all_tasks(cli: Cli, tmp_path: Path) -> None:
    path = two_streams(tmp_path)
    tasks = path / "h_1_20260906010305656_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    tasks.write_text(tasks.read_text().replace("SwiGlu", "Cast"))
    rows = cli("advise", path, "--format", "json").json["rows"]
    (cast,) = (one for one in rows if one["rule"] == "format-conversion")
    assert (cast["share"], cast["evidence"]["share_of_computing"]) == (0.473684, 0.473684)  # 3.6 of 7.6 ms


def test_all_tasks_are_shares_of_all_tasks(cli: Cli, tmp_path: Path) -> None:
    rows = cli("hotspots", two_streams(tmp_path), "--all-tasks", "--format", "json").json["rows"]
    assert [(one["op_type"], one["share"]) for one in rows] == [
        ("hcom_allReduce_", round(20 / 27.6, 6)), ("MatMulV2", round(4 / 27.6, 6)), ("SwiGlu", round(3.6 / 27.6, 6)),
    ]  # fmt: skip
    assert rows[-1]["cumulative_share"] == 1


@pytest.mark.parametrize("question", ["hotspots", "hotspots --trim", "hotspots --by op_name", "advise"])
def test_tasks_beside_each_other_are_said(cli: Cli, tmp_path: Path, question: str) -> None:
    done = cli(*question.split(), two_streams(tmp_path), "--format", "json").json
    (said,) = (one["message"] for one in done["findings"] if one["rule"] == "tasks-beside-each-other")
    assert said == "tasks run beside each other: their durations add up to 7.600 ms, the device computes for 4.000 ms"


def test_tasks_one_after_another_are_not(cli: Cli, tmp_path: Path) -> None:
    """Nor where the steps of the table are shorter than the tasks: some of these are outside of all steps."""
    tasks: list[Task] = [(f"m{n}", "MatMulV2", "AI_CORE", 100 * n, 100) for n in range(10)]
    path = write_capture(tmp_path, tasks, ["0,1,400,0,0,0,0"])
    for question in ("hotspots", "advise"):
        assert "tasks-beside-each-other" not in cli(question, path, "--format", "json").rules()


CONTRADICTS = ["0,1,100,300,900,1200,50", "0,2,100,300,900,1200,50"]
"""More of the computing is overlapped than there is."""


@pytest.mark.parametrize("tasks", [[], [("drop", "DropOutGenMask", "AI_CPU", 0, 100)]])
def test_more_overlapped_than_computed_is_found_and_gives_no_bound_below_zero(
    cli: Cli, tmp_path: Path, tasks: list[Task]
) -> None:
    path = write_capture(tmp_path, tasks, CONTRADICTS)
    checked = cli("check", path, "--format", "json")
    said = [one["message"] for one in checked.json["findings"] if one["rule"] == "overlap-above-computing"]
    assert said == ["Overlapped is more than Computing: one of them is wrong"] * 2
    done = cli("advise", path, "--format", "json").json
    assert "overlap-above-computing" in {one["rule"] for one in done["findings"]}
    assert [one["bound_saving_us"] for one in done["headlines"]] == [100]  # what is computed in a step
    assert all(0 <= one["bound_share"] <= 1 for one in done["rows"])
