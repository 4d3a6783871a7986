"""Shares of a step, and what is saved of it at most, are of the steps that have tasks: a table may have more steps than these."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from commandline import REAL, Cli, needs_real

NOW_US = 1_788_647_874_000_000
KERNELS = (
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Num,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
STEPS = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"
TRACE = "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
Steps = Mapping[int, tuple[int, Sequence[int]]]
"""By its number the length of a step, and how long each of its tasks takes; us."""


def some_steps(seed: int) -> dict[int, tuple[int, list[int]]]:
    """Up to eight steps, of which one has tasks for certain: the others may have none."""
    chance = random.Random(seed)
    found = {}
    for number in range(1, chance.randint(2, 8) + 1):
        tasks = [chance.randint(1, 50) for _ in range(chance.randint(1, 3))]
        with_tasks = number == 1 or chance.random() < 0.5
        found[number] = sum(tasks) + chance.randint(1, 200), tasks if with_tasks else []
    return found


def of_torch(root: Path, steps: Steps) -> Path:
    """The steps of the tasks are told by their numbers."""
    exports = root / "h_1_20260906010305656_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    rows, parts, now = [f"Step Id,{KERNELS}"], [STEPS], NOW_US
    for number, (length, tasks) in steps.items():
        at = now
        for us in tasks:
            rows.append(
                f'{number},0,1,{len(rows)},3,drop,DropOutGenMask,static,AI_CPU,{at}.000,{us}.000,0,1,"""8""",INT64,ND,"""8""",INT64,ND'
            )
            at += us
        parts.append(f"0,{number},{sum(tasks) or length},0,0,0,{length - sum(tasks) if tasks else 0}")
        now += length
    (exports / "kernel_details.csv").write_text("\n".join([*rows, ""]))
    (exports / "step_trace_time.csv").write_text("\n".join([*parts, ""]))
    return root


def of_msprof(root: Path, steps: Steps) -> Path:
    """The steps of the tasks are told by their times."""
    exports = root / "PROF_000001_20260906010305656_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    exports.mkdir(parents=True)
    rows, parts, now = (
        [
            "Device_id,Model Name,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim"
        ],
        [TRACE],
        NOW_US,
    )
    for number, (length, tasks) in steps.items():
        at = now
        for us in tasks:
            rows.append(f"0,m,1,{len(rows)},3,drop,DropOutGenMask,AI_CPU,{at}.000,{us}.000,0,1")
            at += us
        now += length
        parts.append(f"0,{number},N/A,N/A,{now}.000,{length}.000,N/A,N/A,N/A,1")
    (exports / "op_summary_20260906010305.csv").write_text("\n".join([*rows, ""]))
    (exports / "step_trace_20260906010305.csv").write_text("\n".join([*parts, ""]))
    return root


def truth(steps: Steps) -> float:
    mine = [(length, sum(tasks)) for length, tasks in steps.values() if tasks]
    return sum(busy for _, busy in mine) / sum(length for length, _ in mine)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("write", [of_torch, of_msprof])
def test_what_is_saved_at_most_is_of_the_steps_with_tasks(cli: Cli, tmp_path: Path, write: object, seed: int) -> None:
    steps = some_steps(seed)
    path = write(tmp_path, steps)  # type: ignore[operator]
    rows = cli("advise", path, "--all-steps", "--format", "json").json["rows"]
    (saved,) = (one["bound_share"] for one in rows if one["rule"] == "ai-cpu-operator")
    assert saved >= truth(steps) - 1e-6
    records = [json.loads(line) for line in cli("ingest", "--dry-run", path).out.splitlines()]
    ours = [{**one, **one["metadata"]["aoe_reports"]} for one in records]
    (step,) = (one for one in ours if one["scope"] == "step")
    (operator,) = (one for one in ours if one["scope"] == "op_type")
    of_ms = step["metrics"].get("steps_with_tasks_ms", step["total_ns"] / 1e6)
    assert operator["total_ns"] / 1e6 / of_ms == pytest.approx(truth(steps))


@pytest.mark.parametrize("write", [of_torch, of_msprof])
def test_the_site_divides_by_the_steps_with_tasks(cli: Cli, tmp_path: Path, write: object) -> None:
    steps = {number: (100, [40] if number <= 3 else []) for number in range(1, 11)}
    store, site = tmp_path / "store", tmp_path / "site"
    assert cli("ingest", write(tmp_path / "in", steps), "--store", store, "--workload", "net").code == 0  # type: ignore[operator]
    assert cli("site", "--store", store, "--output", site).code == 0
    pages = [json.loads(page.read_text()) for page in (site / "series").glob("*.json")]
    shares = {page["row"]["op_type"]: page["share_of_step"] for page in pages if page.get("row", {}).get("op_type")}
    assert shares == {"DropOutGenMask": pytest.approx(0.4)}


@pytest.mark.parametrize("write", [of_torch, of_msprof])
def test_steps_of_warm_up_are_left_out_unless_all_are_asked_for(cli: Cli, tmp_path: Path, write: object) -> None:
    path = write(tmp_path, {1: (1000, [400])} | {number: (100, [40]) for number in range(2, 7)})  # type: ignore[operator]
    for options, steps, total_us, said in (
        ((), 5, 200, "left out, as they are not like the other steps: step 1 (warm-up); --all-steps keeps them"),
        (("--all-steps",), 6, 600, None),
        (("--step", 1), 1, 400, None),
    ):
        if options[:1] == ("--step",) and write is of_msprof:
            continue  # its tasks tell no steps
        done = cli("advise", path, *options, "--format", "json").json
        (row,) = (one for one in done["rows"] if one["rule"] == "ai-cpu-operator")
        assert (done["headlines"][0]["steps"], row["total_us"]) == (steps, total_us)
        assert [one["message"] for one in done["findings"] if one["rule"] == "trimmed"] == ([said] if said else [])


@needs_real
def test_a_real_capture_with_tasks_of_3_of_10_iterations(cli: Cli) -> None:
    ours = [json.loads(line) for line in cli("ingest", "--dry-run", REAL / "msprof_2023-08").out.splitlines()]
    (step,) = (one for one in ours if one["metadata"]["aoe_reports"]["scope"] == "step")
    assert step["execution_config"]["repeat"] == 10
    assert step["metrics"] == {"steps_with_tasks": 3, "steps_with_tasks_ms": 78.26099}
    assert [one["step_us"] for one in cli("advise", REAL / "msprof_2023-08", "--format", "json").json["headlines"]] == [
        15313.5
    ]
