"""`advise`: where to look first on real exports, planted truths by name, msprof's advice beside ours, damage."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commandline import REAL, Cli, needs_real

from aoe_reports.topics.advice.advise import AdviceRow
from aoe_reports.topics.advice.folding import agreed_advice
from aoe_reports.topics.advice.registry import RULES

HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_ratio,aic_mte2_ratio"
)


def task(number: int, start: float, us: float, **more: Any) -> dict[str, Any]:
    cells = {
        "name": f"layer{number % 4}/mm",
        "type": "MatMulV2",
        "state": "static",
        "core": "AI_CORE",
        "blocks": 24,
        "shapes": '"""8,8;8,8"""',
        "mac": 0.995,
        "mte2": 0.2,
        "mhz": 1800,
        **more,
    }
    return {"number": number, "start": start, "us": us, **cells}


def line(row: dict[str, Any]) -> str:
    cycles = round(row["mhz"] * row["us"] * 24)
    if row["core"] == "COMMUNICATION":
        return (
            f"0,4294967295,N/A,N/A,{row['name']},{row['type']},N/A,COMMUNICATION,{row['start']:.3f}\t,{row['us']},0,0,0"
            + ",N/A" * 12
        )
    return (
        f"0,4294967295,{row['number']},2,{row['name']},{row['type']},{row['state']},{row['core']},{row['start']:.3f}\t,"
        f"{row['us']},0,{row['blocks']},0,NO,{row['shapes']},FLOAT16;FLOAT16,ND;ND,{row['shapes']},FLOAT16,ND,N/A,"
        f"{row['us']},{cycles},{row['mac']},{row['mte2']}"
    )


def profile(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    exports = folder / "PROF_000001_20260605155111872_JDEKRCNERPBNJEGA" / "mindstudio_profiler_output"
    exports.mkdir(parents=True)
    (exports / "op_summary_20260605155140.csv").write_text("\n".join([HEADER, *map(line, rows)]) + "\n")
    device = exports.parent / "device_0"
    device.mkdir()
    (device / "info.json.0").write_text('{"DeviceInfo":[{"ai_core_num":24,"aiv_num":48,"aic_frequency":"1800"}]}')
    return folder


def well(count: int = 40) -> list[dict[str, Any]]:
    return [task(n, 1_000_000.0 + 101 * n, 100) for n in range(count)]


def found_by(cli: Cli, folder: Path, rule: str) -> dict[str, Any]:
    rows = [row for row in cli("advise", folder, "--format", "json").json["rows"] if row["rule"] == rule]
    assert rows, rule
    return rows[0]


def test_nothing_is_said_where_there_is_nothing(cli: Cli, tmp_path: Path) -> None:
    ended = cli("advise", profile(tmp_path, well()), "--format", "json")
    assert (ended.code, ended.json["rows"], ended.json["findings"]) == (0, [], [])
    (headline,) = ended.json["headlines"]
    assert (headline["source"], headline["steps"], headline["bound_saving_us"]) == ("tasks", 1, 4000.0)
    assert "no particular problem was found" in cli("advise", tmp_path).out


def test_planted_truths_are_found_by_name(cli: Cli, tmp_path: Path) -> None:
    rows = well(80)
    rows[10] |= {"name": "lonely", "blocks": 3}
    rows[20] |= {"name": "starved", "mac": 0.1, "mte2": 0.95}
    rows[30] |= {"name": "host", "core": "AI_CPU", "type": "Unique"}
    rows[40] |= {"name": "odd", "type": "TransData"}
    for row in rows[50:]:
        row["start"] += 900.0
    rows[50]["name"] = "late"
    rows[60] |= {"name": "cold", "mhz": 1200}
    folder = profile(tmp_path, rows)
    assert found_by(cli, folder, "few-blocks")["op_name"] == "lonely"
    assert found_by(cli, folder, "mte2-bound")["op_name"] == "starved"
    assert found_by(cli, folder, "ai-cpu-operator")["op_name"] == "host"
    late = found_by(cli, folder, "wait-in-front")
    assert (late["op_name"], late["bound_us"]) == ("late", 901.0)
    assert found_by(cli, folder, "free-time")["evidence"]["task_behind_longest_gap"] == "late"
    slow = cli("advise", folder, "--format", "json", "--top", 100).json["rows"]
    assert "frequency-drop" not in {row["rule"] for row in slow}  # 33 us of 8,000: not worth a reader's time
    for row in rows[60:72]:
        row |= {"name": "cold", "mhz": 1200}
    assert found_by(cli, profile(tmp_path / "cold", rows), "frequency-drop")["op_name"] == "cold"


def test_a_slow_operator_and_an_odd_shape_are_found_by_name(cli: Cli, tmp_path: Path) -> None:
    rows = well(80)
    for row in rows[2::4]:
        row["us"] = 100.9
    rows = [task(n, 1_000_000.0 + 131 * n, 130 if n % 8 == 6 else 100, name=f"layer{n % 8}/mm") for n in range(80)]
    assert found_by(cli, profile(tmp_path / "a", rows), "slower-than-alike")["op_name"] == "layer6/mm"
    rows = well(80)
    rows[-1]["shapes"] = '"""7,8;8,8"""'
    odd = found_by(cli, profile(tmp_path / "b", rows), "odd-shape")
    assert (odd["op_name"], odd["input_shapes"]) == ("layer3/mm", "7,8;8,8")


def test_msprofs_advice_of_a_host_with_several_devices_is_shown_once(cli: Cli, tmp_path: Path, msprof: Path) -> None:
    whole = shutil.copytree(msprof / "merged_two_devices", tmp_path / "run")
    (exports,) = whole.rglob("mindstudio_profiler_output")
    result = '[{"Rule Suggestion": "Use float16", "Tuning Data": ["Conv2D1"]}]'
    (exports / "prof_rule.json").write_text(
        f'{{"status": 0, "data": {{"Op Summary": [{{"Rule Type": "Precision", "result": {result}}}]}}}}'
    )
    rows = cli("advise", whole, "--format", "json").json["rows"]
    (stated,) = [row for row in rows if row["source"] == "prof_rule"]
    assert (stated["rule"], stated["device_id"], stated["count"]) == ("precision", None, 4)
    (exports / "prof_rule.json").write_text('{"status": 0, "data": {"Op Summary": 3, "Op Parallel": [4]}}')
    assert cli("advise", whole).code == 1


def test_of_each_device_the_top_rows_of_what_was_asked_for(cli: Cli, msprof: Path) -> None:
    both = cli("advise", msprof / "torch_npu_two_ranks", "--format", "json").json
    assert {row["rank_id"] for row in both["headlines"]} == {0, 1}
    one = cli("advise", msprof / "torch_npu_two_ranks", "--rank", 1, "--top", 1, "--format", "json").json
    assert [(row["position"], row["rank_id"]) for row in one["rows"]] == [(1, 1)]
    device = cli("advise", msprof / "merged_two_devices", "--device", 1, "--format", "json").json
    assert [row["device_id"] for row in device["headlines"]] == [1]
    step = cli("advise", msprof / "torch_npu_two_ranks", "--step", 50, "--format", "json").json
    assert {row["steps"] for row in step["headlines"]} == {1}
    nothing = cli("advise", msprof / "torch_npu_two_ranks", "--step", 999, "--format", "json")
    assert (nothing.code, nothing.rules()) == (1, {"nothing-measured"})


def test_the_order_of_slices_changes_no_byte(cli: Cli, tmp_path: Path) -> None:
    rows = [{**row, "mte2": 0.9, "mac": 0.3, "blocks": 5 + n % 7} for n, row in enumerate(well(80))]
    outs = []
    for name, order in (("a", rows), ("b", list(reversed(rows)))):
        folder = profile(tmp_path / name, order)
        outs.append(cli("advise", folder, "--format", "json").out.replace(str(folder), ""))
    assert outs[0] == outs[1]


@needs_real
def test_real_communication_comes_first(cli: Cli) -> None:
    ended = cli("advise", REAL / "torch_npu_2025-01" / "text" / "level1", "--format", "json")
    assert ended.code == 0
    first = next(row for row in ended.json["headlines"] if row["rank_id"] == 0)
    sentence = (
        "communication that is not overlapped takes 74.7% of the step; computing takes 6.5%: 101.6 of 102.0 ms of the communication is waiting "
        "for rank 5 of group 17522688603477080586, which was not captured"
    )
    assert first["headline"] == sentence
    rows = [row for row in ended.json["rows"] if row["rank_id"] == 0]
    assert (rows[0]["rule"], rows[0]["bound_us"]) == ("communication-not-overlapped", 101963.203)
    assert first["bound_saving_us"] == pytest.approx(8873.756 - 4028.675, abs=0.001)
    of_operators = [row["bound_us"] for row in rows if row["rule"].endswith(("-bound", "-blocks", "-conversion"))]
    assert of_operators
    assert max(of_operators) <= first["bound_saving_us"]
    assert sentence in cli("advise", REAL / "torch_npu_2025-01" / "text" / "level1").out


@needs_real
@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
@pytest.mark.parametrize("rank", [0, 1])
def test_unions_of_real_tasks_are_the_table_of_steps(cli: Cli, tmp_path: Path, level: str, rank: int) -> None:
    capture = f"rank{rank}_ascend_pt"
    whole = REAL / "torch_npu_2025-01" / "text" / level / capture
    output = tmp_path / capture / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    shutil.copy(whole / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv", output)
    (stated,) = cli("advise", whole, "--format", "json").json["headlines"]
    (computed,) = cli("advise", tmp_path, "--format", "json").json["headlines"]
    assert (stated["source"], computed["source"]) == ("step_trace_time", "tasks")
    assert computed["step_us"] == pytest.approx(stated["step_us"], abs=0.2)
    assert computed["bound_saving_us"] == pytest.approx(stated["bound_saving_us"], abs=0.05)
    for part in ("computing_share", "communication_not_overlapped_share", "free_share"):
        assert computed[part] == pytest.approx(stated[part], abs=1e-5)


@needs_real
@pytest.mark.parametrize("level", ["level1", "level2"])
def test_real_operators_add_up_to_op_statistic(level: str) -> None:
    from aoe_reports import read_profile
    from aoe_reports.facts.bounds import measure_operators

    whole = REAL / "torch_npu_2025-01" / "text" / level / "rank0_ascend_pt"
    profile_ = read_profile(whole)
    bounds = measure_operators(profile_.frame("kernel_details"))
    assert bounds is not None
    sums: dict[tuple[str | None, str | None], list[int]] = defaultdict(lambda: [0, 0])
    for one in bounds.operators():
        entry = sums[one.op_type, one.task_type]
        entry[0] += one.count
        entry[1] += one.total_ns
        assert 0 <= one.saving_ns <= one.total_ns
    stated = {
        (row["op_type"], row["task_type"]): (row["count"], row["total_time_ns"])
        for row in profile_.frame("op_statistic").to_pylist()
    }
    assert {key: count for key, (count, _) in sums.items()} == {key: count for key, (count, _) in stated.items()}
    assert all(abs(sums[key][1] - total) <= 20 for key, (_, total) in stated.items())


@needs_real
def test_real_counters_tell_cores_and_clock() -> None:
    from aoe_reports import read_profile
    from aoe_reports.facts.bounds import measure_operators

    for level in ("level1", "level2"):
        for rank in (0, 1):
            whole = REAL / "torch_npu_2025-01" / "text" / level / f"rank{rank}_ascend_pt"
            bounds = measure_operators(read_profile(whole).frame("kernel_details"))
            assert bounds is not None
            assert bounds.clock is not None
            assert (bounds.clock.cube_cores, bounds.clock.vector_cores) == (24, 48)
            assert bounds.clock.nominal_mhz == pytest.approx(1800.0, abs=0.1)
            told = bounds.clock.relative[bounds.clock.relative >= 0]
            assert told.min() > 0.999


@needs_real
def test_where_real_tasks_tell_no_communication_the_timeline_does(cli: Cli) -> None:
    ended = cli("advise", REAL / "msprof_2023-08", "--format", "json")
    (headline,) = ended.json["headlines"]
    assert (headline["source"], headline["steps"]) == ("timeline", 2)  # the first is warm-up
    assert headline["headline"].startswith(
        "communication that is not overlapped takes 60.5% of the step; computing takes"
    )


@needs_real
def test_the_tail_of_real_all_reduce_is_bounded(cli: Cli) -> None:
    rows = cli("advise", REAL / "msprof_2023-08", "--format", "json").json["rows"]
    tails = [row for row in rows if row["rule"] == "gradient-tail"]
    assert tails
    for row in tails:
        assert 0 < row["bound_us"] <= row["evidence"]["tail_us"]


def test_the_report_says_what_to_do_once_a_rule_and_the_evidence_in_each_row(cli: Cli, tmp_path: Path) -> None:
    slow = {"mac": 0.1, "mte2": 0.95}
    rows = [task(n, 1_000_000.0 + 101 * n, 100, type="Mul" if n % 2 else "Add", **slow) for n in range(40)]
    profile(tmp_path, rows)
    found = cli("advise", tmp_path, "--format", "json").json["rows"]
    shown = cli("advise", tmp_path, "--format", "markdown").out
    bound = [row for row in found if row["rule"] == "mte2-bound"]
    assert len(bound) > 1
    assert shown.count(f"{RULES['mte2-bound'].title}. ") == 1
    for row in bound:
        line = next(line for line in shown.splitlines() if line.startswith(f"| {row['position']} | mte2-bound |"))
        assert "task type AI\\_CORE" in line
        assert "mte2 95.0%, cube 10.0%" in line
        assert line.count("inputs 8,8;8,8 |") == 1


def of_rank(rank: int, bound: float | None, position: int = 1, **more: Any) -> AdviceRow:
    values = {"rule": "free-time", "source": "aoe-reports", "evidence": {"waited_us": bound}, **more}
    return AdviceRow(run="r", rank_id=rank, device_id=0, position=position, bound_us=bound, **values)


def folded(*rows: AdviceRow) -> list[tuple[str | None, float | None, str]]:
    agreed = agreed_advice(rows, lambda row: str(row.evidence["waited_us"]), one_device=False)
    assert [one.position for one in agreed] == [*range(1, len(agreed) + 1)]
    return [(one.ranks, one.bound_us, one.evidence) for one in agreed]


def test_ranks_whose_bounds_are_near_are_one_row_with_the_evidence_of_the_worst() -> None:
    assert folded(*(of_rank(rank, 100.0 + rank) for rank in range(8))) == [("0-7", 103.5, "rank 7: 107.0")]


def test_ranks_whose_bounds_differ_are_rows_of_their_own_the_largest_first() -> None:
    rows = (of_rank(0, 50.0), of_rank(1, 100.0), of_rank(2, 48.0), of_rank(5, None))
    assert folded(*rows) == [("1", 100.0, "100.0"), ("0, 2", 49.0, "rank 0: 50.0"), ("5", None, "None")]


def test_two_pieces_of_advice_on_one_rank_and_on_two_operators_stay_apart() -> None:
    assert len(folded(of_rank(0, 50.0), of_rank(0, 50.0, 2))) == 2
    assert len(folded(of_rank(0, 50.0, op_type="Mul"), of_rank(1, 50.0, op_type="Add"))) == 2


def test_the_advice_on_a_run_of_several_ranks_is_one_table(cli: Cli, msprof: Path) -> None:
    text = cli("advise", msprof / "communication_of_four_ranks").out
    assert text.startswith("The longest step is that of rank 2: computing takes 80.9% of the step; ")
    words = next(line.split() for line in text.splitlines() if "slow-link" in line)
    assert words[:3] == ["6", "slow-link", "2"]
    table = text.split("\nSteps\n")[1].splitlines()
    assert [line.split()[0] for line in table[4:8]] == ["2", "3", "0", "1"]  # the longest step first


def test_a_step_that_one_run_alone_has_is_no_damage_of_the_others(cli: Cli, msprof: Path) -> None:
    paths = [msprof / "torch_npu_two_ranks", msprof / "cluster_of_two_ranks"]
    ended = cli("advise", *paths, "--step", 51, "--format", "json")
    assert ended.code == 0
    assert {row["run"] for row in ended.json["rows"]} == {str(paths[0])}


STEP_TABLE = """Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble
0,1,100,20,5,25,30,150,0
1,1,60,80,10,90,10,150,0
1,2,70,70,10,80,10,150,0
"""
KERNELS = """Device_id,Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim
0,1,a,MatMul,AI_CORE,1,100,0,8
1,1,b,MatMul,AI_CORE,1,60,0,8
1,2,c,MatMul,AI_CORE,200,70,0,8
"""
FIRST = (0, 1, 0.666667, 0.133333, 0.2, 95.0, [("free-time", None, 30.0), ("communication-not-overlapped", None, 20.0)])
SECOND = (1, 2, 0.433333, 0.5, 0.066667, 55.0, [("communication-not-overlapped", None, 75.0), ("free-time", "c", 10.0), ("wait-in-front", "c", 10.0)])  # fmt: skip
LAST_STEP = (1, 1, 0.466667, 0.466667, 0.066667, 60.0, [("communication-not-overlapped", None, 70.0), ("free-time", None, 10.0)])  # fmt: skip


@pytest.mark.parametrize(
    ("options", "devices"),
    [((), [FIRST, SECOND]), (("--device", 0), [FIRST]), (("--device", 1), [SECOND]), (("--step", 2), [LAST_STEP])],
)
def test_advice_by_hand(cli: Cli, tmp_path: Path, options: tuple[object, ...], devices: list[tuple[Any, ...]]) -> None:
    output = tmp_path / "x_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text(STEP_TABLE)
    (output / "kernel_details.csv").write_text(KERNELS)
    told = cli("advise", tmp_path, "--format", "json", *options).json
    shares = (
        "device_id",
        "steps",
        "computing_share",
        "communication_not_overlapped_share",
        "free_share",
        "bound_saving_us",
    )
    assert [tuple(one[name] for name in shares) for one in told["headlines"]] == [one[:-1] for one in devices]
    assert {(one["source"], one["step_us"]) for one in told["headlines"]} == {("step_trace_time", 150.0)}
    for device, *_, rows in devices:
        mine = [row for row in told["rows"] if row["device_id"] == device]
        assert [(row["rule"], row["op_name"], row["bound_us"]) for row in mine] == rows
        assert [row["position"] for row in mine] == list(range(1, len(rows) + 1))
        assert [row["bound_share"] for row in mine] == [round(us / 150, 6) for _, _, us in rows]
    (gap,) = [row for row in told["rows"] if row["rule"] == "wait-in-front"] or [None]
    if gap is not None:
        assert gap["evidence"] == {
            "waited_us": 139.0,
            "longest_us": 139.0,
            "tasks": 1,
            "source": "idle time computed from the task intervals",
        }


EAGER = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Num,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)


def of_layers(
    root: Path, shapes: Sequence[Sequence[str]], model: int = 2**32 - 1, *, name: str = "aclnnMatmul_MatMul_MatMulV2"
) -> Path:
    """Steps of products with dynamic state, as PyTorch launches them one by one: the shapes of each step."""
    exports = root / "h_1_20260906010305656_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    rows = [
        f'{step},0,{model},{step},3,{name},MatMulV2,dynamic,AI_CORE,{1788647874000000 + 1000 * step + 100 * n}.000,50.000,0,24,"""{shape}""",FLOAT16,ND,"""8""",FLOAT16,ND'
        for step, mine in enumerate(shapes, start=1)
        for n, shape in enumerate(mine)
    ]
    (exports / "kernel_details.csv").write_text("\n".join([EAGER, *rows, ""]))
    return root


@pytest.mark.parametrize(
    ("shapes", "model", "name", "calls"),
    [
        ([["16,16", "8,8"]] * 4, 2**32 - 1, "MatMul", None),  # each layer has its own, in every step
        ([["16,16", "8,8"]] * 4, 2**32 - 1, "aclnnMatmul_MatMul_MatMulV2", None),
        ([["16,16", "8,8"]] * 4, 3, "MatMul", 8),  # a graph
        ([["16,16", "8,1"], ["16,16", "8,2"], ["16,16", "8,3"]], 2**32 - 1, "aclnnMatmul_MatMul_MatMulV2", 3),
    ],
)
def test_shapes_are_dynamic_where_they_vary_or_the_model_is_a_graph(
    cli: Cli, tmp_path: Path, shapes: list[list[str]], model: int, name: str, calls: int | None
) -> None:
    rows = cli("advise", of_layers(tmp_path, shapes, model, name=name), "--format", "json").json["rows"]
    assert [one["count"] for one in rows if one["rule"] == "dynamic-shape"] == ([] if calls is None else [calls])


def of_calls(root: Path, us: Sequence[int], steps: int = 3) -> Path:
    """Steps of a product before each all-reduce, which takes so long."""
    exports = root / "h_1_20260906010305656_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    rows, now = [EAGER], 1_788_647_874_000_000
    for step in range(1, steps + 1):
        for n, length in enumerate(us):
            rows.append(
                f'{step},0,{2**32 - 1},{len(rows)},3,MatMul,MatMulV2,dynamic,AI_CORE,{now}.000,50.000,0,24,"""8""",FLOAT16,ND,"""8""",FLOAT16,ND'
            )
            rows.append(
                f"{step},0,{2**32 - 1},{len(rows)},3,hcom_allReduce__909_{n}_1,hcom_allReduce_,N/A,HCCL,{now + 50}.000,{length}.000,0,0,N/A,N/A,N/A,N/A,N/A,N/A"
            )
            now += 50 + length
    (exports / "kernel_details.csv").write_text("\n".join([*rows, ""]))
    return root


def test_one_call_that_takes_longer_than_all_others_comes_first(cli: Cli, tmp_path: Path) -> None:
    done = cli("advise", of_calls(tmp_path, [30, 30, 1_051_000, *[30] * 17]), "--format", "json").json
    first, *others = done["rows"]
    assert (first["rule"], first["op_name"], first["bound_us"]) == ("slow-call", "hcom_allReduce__909_2_1", 1_050_970)
    assert first["evidence"] == {
        "call": "hcom_allReduce__909_2_1", "step": 1, "place": 3, "duration_us": 1_051_000.0, "median_us": 30.0,
        "times_median": 35033.3, "slower_calls": 3, "calls": 60, "share_of_communication": 0.999429,
    }  # fmt: skip
    assert "communication-not-overlapped" not in {one["rule"] for one in others}
    assert done["headlines"][0]["headline"].endswith(
        "; most of the communication is single calls: hcom_allReduce__909_2_1 takes 35,033 times as long as the median of its type"
    )


@pytest.mark.parametrize(("us", "said"), [(2_999, False), (3_000, True)])
def test_a_call_is_slow_from_a_hundred_times_the_median(cli: Cli, tmp_path: Path, us: int, said: bool) -> None:
    rows = cli("advise", of_calls(tmp_path, [us, *[30] * 19]), "--format", "json").json["rows"]
    assert ("slow-call" in {one["rule"] for one in rows}) is said


def test_calls_that_are_all_long_are_communication_that_is_not_overlapped(cli: Cli, tmp_path: Path) -> None:
    """Nor is it one where many calls are long: then that is how the job is."""
    for n, us in enumerate(([5_000] * 10, [30] * 5 + [9_000] * 3)):
        rules = {one["rule"] for one in cli("advise", of_calls(tmp_path / f"{n}", us), "--format", "json").json["rows"]}
        assert "communication-not-overlapped" in rules
        assert "slow-call" not in rules


@needs_real
def test_communication_that_waits_for_a_rank_that_was_not_captured(cli: Cli) -> None:
    """Of a real job of eight ranks one was captured; its first iteration waits for rank 2."""
    done = cli("advise", REAL / "msprof_2023-08", "--all-steps", "--format", "json").json
    assert done["headlines"][0]["headline"].endswith(
        ": 32.76 of 60.05 ms of the communication is waiting for rank 2 of its group, which was not captured"
    )
    by_rule = {one["rule"]: one for one in done["rows"]}
    evidence = by_rule["communication-not-overlapped"]["evidence"]
    assert (evidence["absent_rank"], evidence["number_in_group"]) == (None, 2)
    assert (evidence["waited_us"], evidence["communication_us"]) == (32755.02, 60051.16)
    assert by_rule["communication-not-overlapped"]["advice"].startswith("Most of it is waiting for a rank that was not")
    assert by_rule["awaited-rank"]["advice"].startswith("This rank waits for one that was not captured")
    usual = cli("advise", REAL / "msprof_2023-08", "--format", "json").json  # no waiting in its usual steps
    assert usual["headlines"][0]["headline"].endswith("look at the former first")
