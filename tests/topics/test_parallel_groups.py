"""What profilers tell of tensor, pipeline, expert and data parallel groups: ranks are named by them, stages compared by them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from captures import KERNELS
from commandline import Cli

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
TYPES = {"MatMulV2": 300, "FlashAttentionScore": 200, "Cast": 40, "RmsNorm": 30}
STEP_US = 20_000


def groups_of(rank: int, *, pp: int = 4, tp: int = 2, dp: int = 2) -> dict[str, list[int]]:
    """The groups of a rank, ranks counted first within tensor, then within data, then within pipeline parallel groups."""
    t, d, p = rank % tp, rank // tp % dp, rank // (tp * dp)
    stage = p * tp * dp
    return {
        "tp": [stage + d * tp + each for each in range(tp)],
        "dp": [stage + each * tp + t for each in range(dp)],
        "pp": [each * tp * dp + d * tp + t for each in range(pp)],
        "default_group": list(range(pp * tp * dp)),
    }


def metadata_of(rank: int, groups: Mapping[str, list[int]]) -> dict[str, Any]:
    """What torch_npu writes into profiler_metadata.json."""
    told = {
        f"10.0.0.1%eth0_60000_{name}_{min(ranks)}": {
            "group_name": name,
            "group_rank": ranks.index(rank),
            "global_ranks": ranks,
        }
        for name, ranks in groups.items()
    }
    return {"ENV_VARIABLES": {}, "parallel_group_info": told}


def write_rank(
    root: Path, rank: int, *, factor: float = 1.0, layers: int = 10, table: bool = True, noise: float = 0.002
) -> tuple[Path, float]:
    """(the folder of a rank, its computing in us): layers of four operators, and a step whose rest is a bubble."""
    chance = random.Random(rank)
    output = root / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / f"profiler_info_{rank}.json").write_text("{}")
    lines, computing, start = [], 0.0, 0
    for layer in range(layers):
        for name, usual in TYPES.items():
            time = round(usual * factor * chance.gauss(1, noise), 3)
            lines.append(f"0,{name}_{layer},{name},AI_CORE,{start}.0,{time:.3f}\n")
            computing, start = computing + time, start + 2 * usual
    (output / "kernel_details.csv").write_text(KERNELS + "".join(lines))
    if table:
        (output / "step_trace_time.csv").write_text(STEPS + f"1,{','.join(parts_of(computing))}\n")
    return output.parent, computing


def parts_of(computing: float) -> list[str]:
    bubble = STEP_US - computing - 500
    parts = (computing, bubble + 500, 0, bubble + 500, 0, computing + 500, bubble)
    return [f"{part:.3f}" for part in parts]


def write_job(root: Path, slow: Mapping[int, float], *, told_by: str, layers: Mapping[int, int] | None = None) -> Path:
    """16 ranks, four stages of two tensor parallel pairs; `slow` and `layers` by rank; groups told by whom?"""
    lines, pairs = [], {}
    for rank in range(16):
        stage = rank // 4
        home, computing = write_rank(
            root, rank, factor=slow.get(rank, 1.0), layers=(layers or {}).get(rank, 10), table=told_by != "cluster"
        )
        lines.append((stage, f"1,rank,{rank},{','.join(parts_of(computing))}\n"))
        pairs |= {(name, tuple(ranks)): None for name, ranks in groups_of(rank).items()}
        if told_by == "metadata":
            (home / "profiler_metadata.json").write_text(json.dumps(metadata_of(rank, groups_of(rank))))
    if told_by in {"groups", "cluster"}:
        cluster = root / "cluster_analysis_output"
        cluster.mkdir()
        told = [{"type": "collective", "rank_set": list(ranks), "pg_name": name} for name, ranks in pairs]
        if told_by == "groups":
            (cluster / "communication_group.json").write_text(json.dumps({"comm_group_parallel_info": told}))
        else:
            table = "".join(line for _, line in lines)
            stages = "".join(
                f'1,stage,"({4 * stage}, {4 * stage + 1}, {4 * stage + 2}, {4 * stage + 3})",{",".join(parts_of(1))}\n'
                for stage in (2, 0, 3, 1)
            )
            (cluster / "cluster_step_trace_time.csv").write_text(
                STEPS.replace("Step,", "Step,Type,Index,") + table + stages
            )
    return root


def headline(cli: Cli, *arguments: object) -> str:
    return cli("stragglers", *arguments).out.split("\n", 1)[0]


def bubbles(cli: Cli, root: Path) -> str:
    found = cli("steps", root, "--format", "json").json["findings"]
    (message,) = [one["message"] for one in found if one["rule"] == "pipeline-bubbles"]
    return str(message)


@pytest.mark.parametrize("told_by", ["metadata", "groups"])
def test_a_slow_rank_is_named_by_its_stage_and_groups(cli: Cli, tmp_path: Path, told_by: str) -> None:
    write_job(tmp_path, {13: 1.08}, told_by=told_by)
    said = headline(cli, tmp_path)
    assert said.startswith(
        "Rank 13 (stage 3, tp group 6, dp group 7) computes 8.0% longer than the median of its 15 peers"
    )
    assert "look at the chip" in said
    rows = {row["rank_id"]: row for row in cli("stragglers", tmp_path, "--format", "json").json["rows"]}
    assert (rows[0]["groups"], rows[7]["groups"]) == (
        "stage 0, tp group 0, dp group 0", "stage 1, tp group 3, dp group 3",
    )  # fmt: skip
    assert bubbles(cli, tmp_path).endswith(
        "; rank 13 computes 8.0% longer than the median of its stage 3: `stragglers` shows in what"
    )


def test_the_table_of_a_cluster_tells_stages_by_their_ranks(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, dict.fromkeys(range(8, 12), 1.25), told_by="cluster")
    assert "; stage 2 computes longest, 71" in bubbles(cli, tmp_path)
    stages = cli("steps", tmp_path, "--format", "json").json["stages"]
    assert [(one["stage"], one["ranks"], round(one["slower"], 2)) for one in stages] == [
        (0, 4, 0.0), (1, 4, 0.0), (2, 4, 0.25), (3, 4, 0.0),
    ]  # fmt: skip
    assert [round(one["bubble_share"], 3) for one in stages] == [0.69, 0.69, 0.619, 0.69]
    rows = cli("stragglers", tmp_path, "--format", "json").json["rows"]
    assert {row["groups"] for row in rows} == {"stage 0", "stage 1", "stage 2", "stage 3"}


def test_a_stage_of_slow_ranks_is_told_once(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, dict.fromkeys(range(8, 12), 1.25), told_by="metadata")
    assert headline(cli, tmp_path).startswith("Stage 2 computes 25% longer than the median of the 4 stages (5.7")
    assert "Rank" not in headline(cli, tmp_path)
    assert "look at their shapes" in headline(cli, tmp_path)


def test_a_stage_with_more_layers_has_more_work(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, {}, told_by="metadata", layers=dict.fromkeys(range(4), 12))
    said = headline(cli, tmp_path)
    assert said.startswith("Stage 0 computes 20% longer than the median of the 4 stages")
    assert "; it runs 20% more calls: it has more work than the others." in said


def test_even_stages_need_more_micro_batches(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path, {}, told_by="metadata")
    assert bubbles(cli, tmp_path).endswith(
        "; no stage computes 5% longer than the median of 4 stages: more micro-batches make bubbles shorter, moving layers does not"
    )
    assert headline(cli, tmp_path) == "No rank of 16 computes notably longer than its peers."


def test_of_one_stage_ranks_are_peers_though_they_run_other_numbers_of_calls(cli: Cli, tmp_path: Path) -> None:
    """Without groups the rank of 12 layers has nobody to be compared with."""
    layers = {5: 12}
    write_job(tmp_path / "known", {}, told_by="metadata", layers=layers)
    said = headline(cli, tmp_path / "known")
    assert said.startswith(
        "Rank 5 (stage 1, tp group 2, dp group 3) computes 20% longer than the median of its 15 peers"
    )
    assert "; it runs more calls than its peers (+20%), which take most of the difference" in said
    (first,) = [row for row in cli("stragglers", tmp_path / "known", "--format", "json").json["rows"] if row["cause"]]
    assert (first["rank_id"], first["cause"]) == (5, "more calls")
    write_job(tmp_path / "unknown", {}, told_by="nobody", layers=layers)
    (row,) = [
        one for one in cli("stragglers", tmp_path / "unknown", "--format", "json").json["rows"] if one["rank_id"] == 5
    ]
    assert (row["peers"], row["groups"]) == (0, None)


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[]",
        '{"parallel_group_info": [1]}',
        '{"parallel_group_info": {"a": {"group_name": "tp", "group_rank": 2, "global_ranks": [0, 1]}}}',
        '{"parallel_group_info": {"a": {"group_name": "tp", "group_rank": 0, "global_ranks": [0, 0]}}}',
        '{"parallel_group_info": {"a": {"group_name": "tp", "group_rank": 0, "global_ranks": [0, -1]}}}',
        '{"parallel_group_info": {"a": {"group_name": "tp", "group_rank": true, "global_ranks": [0, 1]}}}',
        '{"parallel_group_info": {"a": {"group_name": "tp", "group_rank": 0, "global_ranks": [0]}}}',
        '{"parallel_group_info": {"a": {"group_name": "dp_cp", "group_rank": 0, "global_ranks": [0, 1]}}}',
        '{"parallel_group_info": {"a": {"group_name": "ep", "group_rank": 0, "global_ranks": [0, 1]}, "b": {"group_name": "ep", "group_rank": 0, "global_ranks": [0, 2]}}}',
    ],
)
def test_groups_that_are_none_or_not_certain_name_nobody(cli: Cli, tmp_path: Path, damage: str) -> None:
    for rank in range(2):
        home, _ = write_rank(tmp_path, rank)
        (home / "profiler_metadata.json").write_text(damage)
    ended = cli("stragglers", tmp_path, "--format", "json")
    assert {row["groups"] for row in ended.json["rows"]} == {None}
    assert len(ended.json["rows"]) == 2
    damaged = [one["path"] for one in ended.json["findings"] if one["rule"] == "info-file"]
    assert len(damaged) == (2 if damage in {"{", "[]"} else 0)


def test_a_damaged_file_of_groups_is_told_with_its_path(cli: Cli, tmp_path: Path) -> None:
    write_rank(tmp_path, 0)
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    (cluster / "communication_group.json").write_text('{"comm_group_parallel_info": [')
    for question in ("stragglers", "steps"):
        ended = cli(question, tmp_path, "--format", "json")
        told = [one for one in ended.json["findings"] if one["rule"] == "info-file"]
        assert [one["path"] for one in told] == [str(cluster / "communication_group.json")]
        assert len(ended.json["rows"]) == 1


def test_groups_are_the_same_from_what_is_kept(cli: Cli, tmp_path: Path) -> None:
    write_job(tmp_path / "job", {13: 1.08}, told_by="groups")
    for question in ("stragglers", "steps"):
        plain = cli(question, tmp_path / "job", "--format", "json")
        for _ in range(2):
            assert cli(question, tmp_path / "job", "--format", "json", "--cache", tmp_path / "kept") == plain


def write_experts(root: Path, factors: Mapping[int, float], *, known: bool = True) -> Path:
    """Eight ranks of two expert parallel groups, whose FlashAttentionScore are operators of experts."""
    for rank in range(8):
        home, _ = write_rank(root, rank)
        table = home / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        lines = []
        for line in table.read_text().splitlines():
            cells = line.split(",")
            if cells[2] == "FlashAttentionScore":
                cells[2], cells[5] = "GroupedMatmul", f"{float(cells[5]) * factors.get(rank, 1.0):.3f}"
            lines.append(",".join(cells) + "\n")
        table.write_text("".join(lines))
        if known:
            first = rank // 4 * 4
            groups = {"exp": list(range(first, first + 4))}
            (home / "profiler_metadata.json").write_text(json.dumps(metadata_of(rank, groups)))
    return root


def test_uneven_experts_are_told_with_their_group(cli: Cli, tmp_path: Path) -> None:
    write_experts(tmp_path, {6: 1.6})
    said = headline(cli, tmp_path)
    assert (
        "; experts are uneven: rank 6 takes 1.39 times the mean of the 4 ranks of ep group 1 in GroupedMatmul (2.3"
        in said
    )
    assert said.endswith("most likely more tokens are sent to its experts.")
    first, second = cli("stragglers", tmp_path, "--format", "json").json["experts"]
    assert (first["expert_group"], first["rank_id"], first["ranks"], first["is_uneven"]) == (1, 6, 4, True)
    assert (round(first["imbalance"], 2), round(first["others"], 2)) == (1.39, 1.0)
    assert (second["expert_group"], second["is_uneven"], round(second["imbalance"], 1)) == (0, False, 1.0)
    (only,) = cli("stragglers", tmp_path, "--format", "json", "--top", 1).json["experts"]
    assert only == first
    shown = cli("stragglers", tmp_path, "--top", 1).out
    assert "\nExperts\n-------\nThe first 1 of 2 are listed; `--top 2` lists all." in shown


def test_uneven_experts_of_unknown_groups_are_held_against_ranks_of_the_same_role(cli: Cli, tmp_path: Path) -> None:
    write_experts(tmp_path, {6: 1.6}, known=False)
    assert "; experts are uneven: rank 6 takes 1.49 times the mean of the 8 ranks of its role in GroupedMatmul" in headline(cli, tmp_path)  # fmt: skip
    (load,) = cli("stragglers", tmp_path, "--format", "json").json["experts"]
    assert (load["expert_group"], load["role"]) == (None, 1)


def test_several_uneven_groups_are_counted(cli: Cli, tmp_path: Path) -> None:
    write_experts(tmp_path, {1: 1.5, 6: 1.6})
    assert headline(cli, tmp_path).endswith("; 1 other group or type of experts is uneven, too.")


def test_even_experts_are_not_told(cli: Cli, tmp_path: Path) -> None:
    write_experts(tmp_path, {})
    assert "expert" not in headline(cli, tmp_path)
    assert "专家" in cli("--lang", "zh", "stragglers", tmp_path).out
