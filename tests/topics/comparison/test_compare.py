"""`compare`, as a user would call it: planted changes are found by name, sums are those of other tools."""

from __future__ import annotations

import json
import random
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest
from commandline import FIXTURES, REAL, Cli, needs_real

from aoe_reports.simulation.nights import SLOW_NIGHT, write_nights

RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"


@dataclass(frozen=True)
class Call:
    name: str
    op_type: str = "Conv2D"
    core: str = "AI_CORE"
    us: float = 10.0
    shapes: str = "1,2;3,4"
    formats: str = "ND;ND"
    types: str = "FLOAT16;FLOAT16"


HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
    "Output Shapes,Output Data Types,Output Formats,Context ID"
)


def write(folder: Path, calls: list[Call], more: str = "", cells: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "op_summary_20260101020304.csv"
    lines = [HEADER + more]
    for number, call in enumerate(calls):
        shapes = "N/A" if call.shapes == "N/A" else f'"""{call.shapes}"""'
        lines.append(
            f"0,1,{number},2,{call.name},{call.op_type},static,{call.core},{1_700_000_000_000_000 + number * 500}.000\t,"
            f'{call.us:.3f},0.000000,24,0,NO,{shapes},{call.types},{call.formats},"""1"""'
            f",FLOAT16,ND,N/A{cells}"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return folder


def noisy(call: Call, count: int, seed: int = 1) -> list[Call]:
    noise = random.Random(seed)
    return [replace(call, us=round(call.us * (1 + noise.uniform(-0.02, 0.02)), 3)) for _ in range(count)]


BASE = [
    *noisy(Call("layer1/conv", us=100), 20),
    *noisy(Call("layer2/conv", us=50), 20),
    *noisy(Call("head/softmax", "SoftmaxV2", "AI_VECTOR_CORE", 20), 20),
    *noisy(Call("hcom_allReduce__1", "hcom_allReduce_", "HCCL", 500, "N/A", "N/A", "N/A"), 10),
]


def compared(cli: Cli, tmp_path: Path, after: list[Call], *options: object, before: list[Call] = BASE) -> list[dict]:
    first, second = write(tmp_path / "before", before), write(tmp_path / "after", after)
    ended = cli("compare", first, second, "--format", "json", *options)
    assert ended.code == 0
    return ended.json["rows"]


def test_an_operator_made_slower_is_found_by_name(cli: Cli, tmp_path: Path) -> None:
    after = [replace(call, us=call.us * 1.1) if call.name == "layer2/conv" else call for call in BASE]
    first = compared(cli, tmp_path, after, "--by", "op_name")[0]
    assert (first["op_name"], first["cause"], first["state"]) == ("layer2/conv", "slower-calls", "both")
    assert first["ratio"] == pytest.approx(1.1, rel=1e-4)
    assert 0 < first["ci_low_us"] < first["mean_difference_us"] < first["ci_high_us"]
    assert first["interval"] == "bootstrap"
    assert first["calls_us"] == pytest.approx(first["difference_us"])
    assert (first["count_us"], first["inputs_us"], first["count_difference"]) == (0.0, 0.0, 0)


def test_calls_that_are_slower_only_within_their_scatter_have_no_cause(cli: Cli, tmp_path: Path) -> None:
    """Of 6 calls that scatter by 100 us a mean that is 3 us longer says nothing; more calls, and calls far slower, do."""
    scatter = [50, 150, 60, 140, 70, 130]
    before = [Call("conv", us=us) for us in scatter] + [Call("relu", "Relu", us=10)] * 6
    after = [Call("conv", us=us + 3) for us in scatter] + [Call("relu", "Relu", us=10)] * 8
    first, second = write(tmp_path / "before", before), write(tmp_path / "after", after)
    ended = cli("compare", first, second, "--by", "op_name", "--format", "json").json
    told = {row["op_name"]: row for row in ended["rows"]}
    assert told["conv"]["ci_low_us"] < 0 < told["conv"]["ci_high_us"]
    assert {name: row["cause"] for name, row in told.items()} == {"conv": None, "relu": "more-calls"}
    text = cli("compare", first, second, "--by", "op_name").out
    assert "calls are slower" not in text
    assert "largest change: operator conv" not in text
    slower = compared(cli, tmp_path / "slower", [Call("conv", us=us + 300) for us in scatter], before=before[:6])
    assert [row["cause"] for row in slower] == ["slower-calls"]


@pytest.mark.parametrize(
    ("changed", "cause", "said"),
    [
        (Call("layer1/conv", us=100, shapes="9,9;3,4"), "changed-shapes", "9,9;3,4"),
        (Call("layer1/conv", us=100, formats="NCHW;ND"), "changed-formats", "NCHW;ND"),
        (Call("layer1/conv", us=100, types="FLOAT;FLOAT16"), "changed-data-types", "FLOAT;FLOAT16"),
    ],
)
def test_inputs_that_were_added_are_told_apart_from_slower_calls(
    cli: Cli, tmp_path: Path, changed: Call, cause: str, said: str
) -> None:
    first = compared(cli, tmp_path, [*BASE, *noisy(changed, 5)], "--by", "op_name")[0]
    assert (first["op_name"], first["cause"], first["new_inputs"]) == ("layer1/conv", cause, [said])
    assert first["inputs_us"] == pytest.approx(first["difference_us"])
    assert (first["calls_us"], first["vanished_inputs"], first["count_difference"]) == (0.0, [], 5)


def test_more_calls_are_told_apart_from_slower_calls(cli: Cli, tmp_path: Path) -> None:
    first = compared(cli, tmp_path, [*BASE, *noisy(Call("layer1/conv", us=100), 20)], "--by", "op_name")[0]
    assert (first["cause"], first["count_difference"], first["ratio"]) == ("more-calls", 20, 2.0)


def test_an_operator_that_is_gone_and_one_that_is_new_are_shown_as_such(cli: Cli, tmp_path: Path) -> None:
    after = [replace(call, name="layer9/conv") if call.name == "layer1/conv" else call for call in BASE]
    rows = compared(cli, tmp_path, after, "--by", "op_name")
    told = {row["op_name"]: row for row in rows[:2]}
    gone, new = told["layer1/conv"], told["layer9/conv"]
    assert (gone["state"], gone["cause"], gone["ratio"], gone["candidate_total_us"]) == (
        "vanished",
        "vanished",
        None,
        None,
    )
    assert gone["difference_us"] == -gone["baseline_total_us"]
    assert (new["state"], new["baseline_total_us"], new["ratio"], new["mean_difference_us"]) == (
        "new",
        None,
        None,
        None,
    )
    assert new["difference_us"] == new["candidate_total_us"]


def test_shapes_that_no_one_tells_are_not_called_the_same(cli: Cli, tmp_path: Path) -> None:
    before = [replace(call, shapes="N/A", formats="N/A", types="N/A") for call in BASE]
    after = [replace(call, us=call.us * 1.1) for call in before]
    first = compared(cli, tmp_path, after, "--by", "op_name", before=before)[0]
    assert (first["cause"], first["inputs_us"]) == (None, None)


def test_communication_has_its_own_grouping_and_is_left_out_elsewhere(cli: Cli, tmp_path: Path) -> None:
    after = [replace(call, us=call.us * 2, core="COMMUNICATION") if call.core == "HCCL" else call for call in BASE]
    rows = compared(cli, tmp_path, after, "--by", "communication")
    assert [(row["op_type"], row["ratio"]) for row in rows] == [("hcom_allReduce_", 2.0)]
    assert {row["op_type"] for row in compared(cli, tmp_path, after)} == {"Conv2D", "SoftmaxV2"}
    every = compared(cli, tmp_path, after, "--all-tasks")
    assert (every[0]["op_type"], every[0]["task_type"], every[0]["state"]) == (
        "hcom_allReduce_",
        "COMMUNICATION",
        "both",
    )


@pytest.mark.parametrize("by", ["op_type", "op_name", "shape"])
def test_every_number_is_that_of_plain_pandas(cli: Cli, tmp_path: Path, by: str) -> None:
    noise = random.Random(3)
    sides = []
    for _ in range(2):
        calls = [
            Call(
                noise.choice(["a", "b", "c"]),
                noise.choice(["Conv2D", "Add"]),
                noise.choice(["AI_CORE", "AI_CPU", "HCCL"]),
                noise.randrange(1, 500_000) / 1000,  # they start 500 us apart, on one stream
                noise.choice(["1", "2;2", "3,3"]),
            )
            for _ in range(400)
        ]
        sides.append([*calls, Call(f"only{len(sides)}", us=1)])
    rows = compared(cli, tmp_path, sides[1], "--by", by, "--top", 10_000, before=sides[0])
    columns = {"op_type": ["op_type", "core"], "op_name": ["op_type", "core", "name"]}
    keys = columns.get(by, ["op_type", "core", "name", "shapes"])
    grouped = []
    for calls in sides:
        frame = pd.DataFrame([{name: getattr(call, name) for name in (*keys, "us")} for call in calls])
        grouped.append(frame[frame["core"] != "HCCL"].groupby(keys)["us"].agg(["count", "sum", "mean"]))
    expected = grouped[0].join(grouped[1], how="outer", suffixes=("_before", "_after"))
    ours = {"op_type": "op_type", "core": "task_type", "name": "op_name", "shapes": "input_shapes"}
    got = {tuple(row[ours[key]] for key in keys): row for row in rows}
    assert set(got) == set(expected.index)
    changes = []
    for key, plain in expected.iterrows():
        row = got[key]
        for side, name in (("before", "baseline"), ("after", "candidate")):
            there = not pd.isna(plain[f"count_{side}"])
            assert row[f"{name}_count"] == (plain[f"count_{side}"] if there else 0)
            assert row[f"{name}_total_us"] == (pytest.approx(plain[f"sum_{side}"]) if there else None)
            assert row[f"{name}_mean_us"] == (pytest.approx(plain[f"mean_{side}"], abs=1e-6) if there else None)
        total = plain[["sum_before", "sum_after"]].fillna(0)
        assert row["difference_us"] == pytest.approx(total["sum_after"] - total["sum_before"], abs=1e-6)
        if row["state"] == "both":
            assert row["ratio"] == pytest.approx(total["sum_after"] / total["sum_before"], abs=1e-6)
            parts = row["calls_us"] + row["count_us"] + row["inputs_us"]
            assert parts == pytest.approx(row["difference_us"], abs=1e-4)
    changes = [abs(row["difference_us"]) for row in rows]
    assert changes == sorted(changes, reverse=True)


def test_totals_are_those_of_op_statistic(cli: Cli) -> None:
    rows = cli("compare", RANKS / "rank0_ascend_pt", RANKS / "rank1_ascend_pt", "--format", "json").json["rows"]
    for rank, side in ((0, "baseline"), (1, "candidate")):
        path = RANKS / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv"
        stated = pd.read_csv(path).set_index(["OP Type", "Core Type"])
        assert len(stated) == len(rows)
        for row in rows:
            plain = stated.loc[(row["op_type"], row["task_type"])]
            assert row[f"{side}_count"] == plain["Count"]
            assert row[f"{side}_total_us"] == pytest.approx(plain["Total Time(us)"], abs=0.02)


def test_tables_of_types_tell_no_step(cli: Cli, msprof: Path) -> None:
    ended = cli("compare", msprof / "statistic_only", msprof / "statistic_only", "--step", 1, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])
    assert "nothing-measured" in ended.rules()


def test_a_rank_that_has_only_a_table_of_types_is_not_left_out(cli: Cli, tmp_path: Path) -> None:
    for name in "ab":
        shutil.copytree(RANKS, tmp_path / name)
        (tmp_path / name / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()
    shutil.rmtree(tmp_path / "b" / "rank0_ascend_pt")
    ended = cli("compare", tmp_path / "a", tmp_path / "b", "--force", "--format", "json")
    (total,) = ended.json["totals"]
    assert (ended.code, "not-comparable" in ended.rules()) == (0, True)
    assert total["baseline_total_us"] == pytest.approx(1337.813 + 1342.897, abs=0.02)
    assert total["candidate_total_us"] == pytest.approx(1342.897, abs=0.02)


def test_the_order_of_rows_changes_no_byte(cli: Cli, tmp_path: Path) -> None:
    after = [replace(call, us=round(call.us * 1.07, 3)) for call in BASE]
    texts = set()
    for seed in range(3):
        for calls in (before := list(BASE), after):
            random.Random(seed).shuffle(calls)
        write(tmp_path / "before", before)
        write(tmp_path / "after", after)
        texts.add(cli("compare", tmp_path / "before", tmp_path / "after", "--by", "op_name", "--format", "json").out)
    assert len(texts) == 1


def test_each_further_path_is_held_against_the_baseline(cli: Cli, tmp_path: Path) -> None:
    folders = [
        write(tmp_path / name, [replace(call, us=call.us * factor) for call in BASE])
        for name, factor in (("a", 1), ("b", 1.5), ("c", 2))
    ]
    found = cli("compare", *folders, "--format", "json").json
    assert [(total["candidate"], total["ratio"]) for total in found["totals"]] == [
        (str(folders[1]), pytest.approx(1.5, rel=1e-4)),
        (str(folders[2]), pytest.approx(2, rel=1e-4)),
    ]
    assert {row["baseline"] for row in found["rows"]} == {str(folders[0])}
    assert {row["candidate"] for row in found["rows"]} == set(map(str, folders[1:]))


def test_steps_are_compared_as_a_whole_and_one_by_one(cli: Cli, simulated_nights: Path) -> None:
    nights = sorted(simulated_nights.iterdir())[:SLOW_NIGHT]
    rows = cli("compare", nights[-2], nights[-1], "--by", "step", "--format", "json").json["rows"]
    whole = rows[0]
    assert (whole["metric"], whole["step"], whole["baseline_count"], whole["interval"]) == (
        "duration",
        None,
        5,
        "bootstrap",
    )
    assert whole["ci_low_us"] <= whole["mean_difference_us"] <= whole["ci_high_us"]
    single = [row for row in rows if row["step"] is not None]
    assert {row["step"] for row in single} == {1, 2, 3, 4, 5}
    assert sum(row["difference_us"] for row in single) == pytest.approx(whole["difference_us"])


def test_steps_of_other_numbers_are_paired_in_their_order(cli: Cli, tmp_path: Path) -> None:
    for name in "ab":
        shutil.copytree(RANKS / "rank0_ascend_pt", tmp_path / f"{name}_ascend_pt")
    table = tmp_path / "b_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    table.write_text(table.read_text().replace("\n50,", "\n70,").replace("\n51,", "\n71,"))
    ended = cli("compare", tmp_path / "a_ascend_pt", tmp_path / "b_ascend_pt", "--by", "step", "--format", "json")
    assert "steps-by-place" in ended.rules()
    single = [row for row in ended.json["rows"] if row["step"] is not None]
    assert [(row["step"], row["state"], row["difference_us"]) for row in single] == [(1, "both", 0.0), (2, "both", 0.0)]
    assert {row["metric"] for row in ended.json["rows"]} >= {"computing", "communication_not_overlapped", "free"}


@pytest.mark.parametrize(
    ("what", "document"),
    [
        ("CANN version", {"cann_version": "8.0"}),
        ("profiler level", {"config": {"experimental_config": {"_profiler_level": "Level2"}}}),
        (
            "set of AI Core metrics",
            {"config": {"experimental_config": {"_aic_metrics": "ACL_AICORE_MEMORY_BANDWIDTH"}}},
        ),
    ],
)
def test_what_is_known_to_differ_is_refused(cli: Cli, tmp_path: Path, what: str, document: dict) -> None:
    known = {
        "cann_version": "8.3",
        "config": {"experimental_config": {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION"}},
    }
    for name, info in (("a_ascend_pt", known), ("b_ascend_pt", {**known, **document})):
        folder = write(tmp_path / name / "ASCEND_PROFILER_OUTPUT", BASE).parent
        (folder / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0, **info}))
    ended = cli("compare", tmp_path / "a_ascend_pt", tmp_path / "b_ascend_pt", "--format", "json")
    assert (ended.code, ended.json["reasons"], ended.json["rows"]) == (1, ["not-comparable"], [])
    (said,) = [f["message"] for f in ended.json["findings"] if f["rule"] == "not-comparable"]
    assert f": the following differ: {what} (" in said
    forced = cli("compare", tmp_path / "a_ascend_pt", tmp_path / "b_ascend_pt", "--force", "--format", "json")
    assert (forced.code, forced.json["reasons"], bool(forced.json["rows"])) == (0, [], True)
    assert "not-comparable" in forced.rules()


def test_another_set_of_metrics_is_told_by_the_header(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "a", BASE, ",aicore_time(us),aic_mac_ratio", ",1.0,0.5")
    write(tmp_path / "b", BASE, ",aicore_time(us),aic_main_mem_read_bw(GB/s)", ",1.0,0.5")
    ended = cli("compare", tmp_path / "a", tmp_path / "b", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["not-comparable"])


def test_other_hardware_is_refused(cli: Cli, tmp_path: Path) -> None:
    for name, cores in (("a", 32), ("b", 24)):
        folder = tmp_path / name / f"PROF_000001_20260101020304000_{name.upper() * 16}"
        write(folder / "mindstudio_profiler_output", BASE)
        (folder / "device_0").mkdir()
        (folder / "device_0" / "info.json.0").write_text(json.dumps({"DeviceInfo": [{"id": 0, "ai_core_num": cores}]}))
    ended = cli("compare", tmp_path / "a", tmp_path / "b", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["not-comparable"])
    assert "ai_core_num 32 before, ai_core_num 24 after" in json.dumps(ended.json["findings"])


def test_another_number_of_steps_is_refused(cli: Cli, tmp_path: Path) -> None:
    for name in "ab":
        shutil.copytree(RANKS / "rank0_ascend_pt", tmp_path / f"{name}_ascend_pt")
    table = tmp_path / "b_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join([*lines, lines[-1].replace("51", "52", 1)]))
    ended = cli("compare", tmp_path / "a_ascend_pt", tmp_path / "b_ascend_pt", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["not-comparable"])
    assert "number of steps" in json.dumps(ended.json["findings"])


def test_nothing_in_common_is_refused(cli: Cli, tmp_path: Path) -> None:
    first = write(tmp_path / "a", [call for call in BASE if call.core != "HCCL"])
    second = write(tmp_path / "b", [replace(call, shapes="7,7") for call in BASE if call.core != "HCCL"])
    ended = cli("compare", first, second, "--format", "json")
    assert (ended.code, ended.json["reasons"], ended.json["rows"]) == (1, ["not-comparable"], [])
    assert cli("compare", first, second, "--force", "--format", "json").json["rows"]


def test_what_is_not_known_warns(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "a", BASE)
    ended = cli("compare", folder, folder, "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"comparability-unknown"})
    assert cli("compare", folder, folder, "--strict").code == 1


def test_one_step_and_one_device_are_compared(cli: Cli, tmp_path: Path) -> None:
    def tasks(*options: object) -> int:
        ended = cli("compare", RANKS, RANKS, "--rank", 0, "--format", "json", *options)
        assert ended.code == 0
        rows = cli("hotspots", RANKS, "--rank", 0, "--format", "json", *options).json["rows"]
        count = sum(row["baseline_count"] for row in ended.json["rows"])
        assert count == sum(row["count"] for row in rows)
        return count

    assert 0 < tasks("--step", 50) < tasks("--step", 50) + tasks("--step", 51) == tasks()
    assert {
        row["step"]
        for row in cli("compare", RANKS, RANKS, "--by", "step", "--step", 51, "--format", "json").json["rows"]
    } == {None, 51}
    for options, words in (
        (("--step", 9), "no task to compare here (step 9)"),
        (("--device", 3, "--by", "step"), "no step to compare here (device 3)"),
        (("--rank", 77), "no task to compare here (rank 77); ranks here: 0-1"),
    ):
        ended = cli("compare", RANKS, RANKS, *options, "--format", "json")
        assert (ended.code, {finding["message"] for finding in ended.json["findings"]}) == (1, {words})
    folders = [write(tmp_path / name, BASE) for name in "ab"]
    assert cli("compare", *folders, "--device", 0, "--format", "json").json["totals"][0]["groups"] == 2
    assert "(device 1)" in cli("compare", *folders, "--device", 1).err


def test_a_candidate_of_other_ranks_hinders_no_other(cli: Cli) -> None:
    other = RANKS / "rank0_ascend_pt"
    plain = cli("compare", RANKS, RANKS, other, "--format", "json")
    assert (plain.code, plain.json["reasons"]) == (1, ["not-comparable"])
    assert [(total["candidate"], total["rank_id"]) for total in plain.json["totals"]] == [
        (str(RANKS), 0),
        (str(RANKS), 1),
    ]
    forced = cli("compare", RANKS, RANKS, other, "--force", "--format", "json").json
    assert [(total["candidate"], total["rank_id"]) for total in forced["totals"]] == [
        (str(RANKS), 0), (str(RANKS), 1), (str(other), None),
    ]  # fmt: skip
    assert cli("compare", RANKS, other, other).code == 2


def test_steps_that_changed_alike_stand_in_their_order(cli: Cli, tmp_path: Path) -> None:
    header = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID"
    for name, took in (("a", 5), ("b", 7)):
        lines = [
            f"{n},{n * 1000 + 1}.000\t,{n * 1000 + 2}.000\t,{n * 1000 + took}.000\t,{took},1,1,0,1"
            for n in range(1, 13)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "step_trace_20260101020304.csv").write_text("\n".join([header, *lines]) + "\n")
    rows = cli("compare", tmp_path / "a", tmp_path / "b", "--by", "step", "--format", "json").json["rows"]
    assert [row["step"] for row in rows if row["step"] is not None] == list(range(1, 13))
    assert (rows[0]["mean_difference_us"], rows[0]["ci_low_us"], rows[0]["ci_high_us"]) == (2.0, 2.0, 2.0)
    text = cli("compare", tmp_path / "a", tmp_path / "b", "--by", "step").out
    assert re.search(
        r"^ *1 +duration +– +both +12 +12 +5\.000 +7\.000 +2\.000 +2\.000 +2\.000 +24\.00 +1\.4000$",
        text,
        re.MULTILINE,
    )
    assert "Cause names" not in text


def test_damage_ends_with_1_and_the_rest_is_compared(cli: Cli, tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", BASE), write(tmp_path / "b", BASE)
    path = next(second.iterdir())
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "0,1,0,2,layer1/conv\n", *lines[2:]]))
    ended = cli("compare", first, second, "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    assert ended.json["rows"][0]["count_difference"] == -1


def test_several_runs_or_none_cannot_be_compared(cli: Cli, tmp_path: Path) -> None:
    nights = write_nights(tmp_path / "nights", 2)
    several = cli("compare", tmp_path / "nights", nights[0])
    assert (several.code, "contains 2 runs" in several.err) == (2, True)
    assert cli("compare", nights[0], tmp_path / "nowhere").code == 3
    (tmp_path / "empty").mkdir()
    assert cli("compare", nights[0], tmp_path / "empty").code in {1, 3}


@needs_real
def test_real_ranks_are_compared_step_by_step_with_several_others(cli: Cli) -> None:
    first, second = (REAL / "torch_npu_2025-01" / form / "level1" for form in ("text", "db"))
    alone = second / "rank0_ascend_pt"
    ended = cli("compare", first, second, alone, "--by", "step", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["not-comparable"])  # one of them lacks a rank
    told = {
        (row["candidate"], row["rank_id"]): row
        for row in ended.json["rows"]
        if row["metric"] == "duration" and row["step"] is None
    }
    assert list(told) == [(str(second), 0), (str(second), 1)]
    for (_, rank), row in told.items():
        took = [
            cli("steps", path, "--rank", rank, "--format", "json").json["rows"][0]["duration_us"]
            for path in (first, second)
        ]
        assert [row["baseline_mean_us"], row["candidate_mean_us"]] == took
        assert row["interval"] is None  # one step says nothing of the spread
    one = cli("compare", first, second, alone, "--by", "step", "--rank", 0, "--format", "json")
    assert (one.code, len(one.json["totals"])) == (0, 2)


@needs_real
def test_a_real_capture_equals_itself_step_by_step(cli: Cli) -> None:
    folder = REAL / "msprof_2023-08"
    rows = cli("compare", folder, folder, "--by", "step", "--format", "json").json["rows"]
    assert {row["difference_us"] for row in rows} == {0.0}
    assert [row["step"] for row in rows if row["step"] is not None] == list(range(1, 11))
    whole = rows[0]
    assert (whole["metric"], whole["baseline_count"], whole["interval"]) == ("duration", 10, "bootstrap")
    assert whole["ci_low_us"] < 0 < whole["ci_high_us"]


def test_ranks_that_come_apart_by_damage_are_told_with_it(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    whole = msprof / "torch_npu_two_ranks"
    shutil.copytree(whole, tmp_path / "job")
    (info,) = (tmp_path / "job").rglob("profiler_info_0.json")
    info.write_text(info.read_text()[:20])
    ended = cli("compare", whole, tmp_path / "job")
    assert ended.code == 2
    assert "contains 2 runs" in ended.err
    assert f"{info}: this info file cannot be read as JSON" in ended.err


@pytest.mark.parametrize(("top", "cut"), [(1, True), (2, False), (3, False)])
def test_sums_are_said_and_how_many_rows_are_shown(cli: Cli, tmp_path: Path, top: int, cut: bool) -> None:
    first = write(tmp_path / "a", [Call("a", us=1000.5), Call("b", "Relu", us=500.0)])
    second = write(tmp_path / "b", [Call("a", us=1200.5), Call("b", "Relu", us=500.0)])
    said = " ".join(cli("compare", first, second, "--top", top).out.split())
    sums = "Before 1,500.500 us, after 1,700.500 us: difference +200.000 us, ratio 1.1333."
    assert sums in said
    assert ("The 1 rows with the largest change of 2." in said) == cut
    assert f"{second} compared with {first}" in said


def test_what_was_zero_before_has_no_ratio(cli: Cli, tmp_path: Path) -> None:
    nothing = write(tmp_path / "a", [Call("a", us=0.0)])
    something = write(tmp_path / "b", [Call("a", us=5.0)])
    said = " ".join(cli("compare", nothing, something).out.split())
    assert "Before 0.000 us, after 5.000 us: difference +5.000 us." in said
