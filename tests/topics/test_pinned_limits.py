"""Limits of which a user sees the effect: each is tried on both sides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli
from topics.communication.test_communication import MEGABYTES, messages, written

RESULT = next((FIXTURES / "aoe/valid/array_grouped").iterdir())
SLOW = (2, 3)
TASKS = "Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
KERNELS = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


@pytest.mark.parametrize(("unsatisfied", "total", "fires"), [(3, 3, False), (3, 0, True), (3, 4, True), (0, 0, False)])
def test_operators_that_were_not_satisfied_belong_to_the_total(
    cli: Cli, tmp_path: Path, unsatisfied: int, total: int, fires: bool
) -> None:
    document = json.loads(RESULT.read_text())
    summary = document[1]["OPAT"]["repo_summary"]
    summary["repo_unsatisfied_num"] = unsatisfied
    summary["total_num"] = summary["repo_hit_num"] + summary["repo_add_num"] + total
    path = tmp_path / RESULT.name
    path.write_text(json.dumps(document))
    found = cli("check", path, "--format", "json").json["findings"]
    assert [f["rule"] for f in found if f["rule"] == "total-sum"] == ["total-sum"] * fires


@pytest.mark.parametrize(("slow_in", "told"), [(1, False), (2, False), (3, True), (4, True)])
def test_a_link_is_slow_where_it_is_in_more_than_half_of_the_transfers(
    cli: Cli, tmp_path: Path, slow_in: int, told: bool
) -> None:
    """In all it is below its likes each time: two transfers of four may be chance."""
    path = written(tmp_path) / f"rank{SLOW[0]}_ascend_pt/ASCEND_PROFILER_OUTPUT/communication_matrix.json"
    document = json.loads(path.read_text())
    operators = [links for step in document.values() for links in step["collective"].values()]
    assert len(operators) == 4
    for links in operators[:slow_in]:
        links[f"{SLOW[0]}-{SLOW[1]}"] |= {"Transit Time(ms)": MEGABYTES / 2, "Bandwidth(GB/s)": 2.0}
    path.write_text(json.dumps(document))
    ended = cli("communication", tmp_path, "--format", "json")
    assert [(row["source_rank"], row["destination_rank"]) for row in ended.json["links"] if row["slow"]] == [
        SLOW
    ] * told
    assert len(messages(ended, "slow-link")) == told


@pytest.mark.parametrize(("later", "together"), [("130000", True), ("133000", True), ("133001", False)])
def test_slices_are_of_one_export_for_an_hour(cli: Cli, tmp_path: Path, later: str, together: bool) -> None:
    """A slice is written after the other, for as long as that takes."""
    rows = ["1,1,a,MatMul,AI_CORE,1736412474712511.621,10.5\n", "2,1,b,Add,AI_VECTOR_CORE,1736412474712600.000,2\n"]
    for number, time in enumerate(("123000", later)):
        (tmp_path / f"op_summary_slice_{number}_20240605{time}.csv").write_text(TASKS + rows[number])
    ended = cli("hotspots", tmp_path, "--format", "json")
    assert sum(row["count"] for row in ended.json["rows"]) == (2 if together else 1)
    assert ("superseded" in ended.rules(), "slice-missing" in ended.rules()) == (not together, not together)


@pytest.mark.parametrize(("seconds", "runs"), [(0, 1), (120, 1), (121, 2), (1199, 2)])
def test_ranks_are_of_one_job_where_they_were_made_within_two_minutes(
    cli: Cli, tmp_path: Path, seconds: int, runs: int
) -> None:
    for rank in (0, 1):
        output = tmp_path / f"host_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        end = (1736412474 + rank * seconds) * 1_000_000_000
        info = {"rank_id": rank, "end_info": {"collectionTimeEnd": end}}
        (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps(info))
        (output / "kernel_details.csv").write_text(KERNELS + "a,MatMul,AI_CORE,1736412474712511.621,10.5\n")
    rows = cli("hotspots", tmp_path, "--format", "json").json["rows"]
    assert [row["rank_id"] for row in rows] == [0, 1]
    assert len({row["run"] for row in rows}) == runs
