"""Tables held against each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import read_table
from aoe_reports.rules.forms.statistics import check_statistics
from aoe_reports.rules.forms.tasks import check_forms
from aoe_reports.rules.tables.check import check_table


def test_op_statistic_is_the_tasks_grouped(msprof: Path) -> None:
    for rank in (0, 1):
        folder = msprof / "torch_npu_two_ranks" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        tasks = read_table(folder / "kernel_details.csv", TABLES["kernel_details"])
        statistic = read_table(folder / "op_statistic.csv", TABLES["op_statistic"])
        assert statistic.frame.num_rows == 6
        assert check_statistics([statistic], tasks.frame) == []


def test_a_lost_task_is_noticed(msprof: Path) -> None:
    folder = msprof / "torch_npu_two_ranks" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    tasks = read_table(folder / "kernel_details.csv", TABLES["kernel_details"])
    statistic = read_table(folder / "op_statistic.csv", TABLES["op_statistic"])
    (finding,) = check_statistics([statistic], tasks.frame.slice(1))
    assert finding.rule == "statistic-mismatch"
    assert "TransData on AI_VECTOR_CORE: 2 tasks" in finding.message
    assert check_forms([tasks], [tasks]) == []


def rules_of(tmp_path: Path, kind: str, text: str) -> list[tuple[str, int | None]]:
    """The rules that fire for a CSV, and their lines."""
    (tmp_path / f"{kind}.csv").write_text(text)
    data = read_table(tmp_path / f"{kind}.csv", TABLES[kind])
    return [(finding.rule, finding.line) for finding in check_table(data).findings]


ITERATIONS = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us)\n"
)


@pytest.mark.parametrize(
    ("figures", "fires"),
    [
        ("20,2,10,8,12", False),
        ("20,2,10,10.01,12", False),
        ("20,2,10,10.011,12", True),  # the least is above the mean
        ("20,2,10,8,9.99", False),
        ("20,2,10,8,9.989", True),  # the mean is above the most
        ("20.03,2,10,8,12", False),
        ("20.031,2,10,8,12", True),  # the mean is not that of the total
    ],
)
def test_figures_of_a_row_fit_each_other_within_their_digits(tmp_path: Path, figures: str, fires: bool) -> None:
    head = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
    found = rules_of(tmp_path, "api_statistic", f"{head}0,acl,a,{figures},0\n")
    assert found == ([("statistic-arithmetic", 2)] if fires else [])


@pytest.mark.parametrize(
    ("start", "stop", "fires"),
    [
        ("100", "105.01", False),
        ("100", "105.011", True),
        ("1700000000000000.000", "1700000000000005.600", False),  # since 1970: a float64 of it is right to 0.25 us
        ("1700000000000000.000", "1700000000000005.601", True),
    ],
)
def test_a_task_lasts_from_its_start_to_its_stop(tmp_path: Path, start: str, stop: str, fires: bool) -> None:
    head = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
    found = rules_of(tmp_path, "task_time", f"{head}0,a,AI_CORE,1,1,5,{start},{stop}\n")
    assert found == ([("interval-mismatch", 2)] if fires else [])


@pytest.mark.parametrize(("end", "fires"), [(201, False), (200, True), (199, True)])
def test_iterations_end_one_after_the_other(tmp_path: Path, end: int, fires: bool) -> None:
    rows = f"0,1,110,190,200,100,80,10,0\n0,2,{end - 90},{end - 10},{end},100,80,10,0\n"
    assert rules_of(tmp_path, "step_trace", ITERATIONS + rows) == ([("not-monotonic", 3)] if fires else [])


@pytest.mark.parametrize(
    ("communication", "stage", "fires"),
    [
        ("25.01", "145", []),
        ("25.011", "145", ["overlap-sum"]),
        ("25", "146", []),
        ("25", "146.001", ["step-sum"]),
        ("25", "143.999", ["step-sum"]),
    ],
)
def test_the_parts_of_a_step_add_up(tmp_path: Path, communication: str, stage: str, fires: list[str]) -> None:
    head = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    found = rules_of(tmp_path, "step_trace_time", f"{head}0,1,100,20,5,{communication},30,{stage},5\n")
    assert found == [(rule, 2) for rule in fires]


@pytest.mark.parametrize(
    ("shares", "fires"),
    [
        (["60", "40.02"], False),
        (["60", "40.0225"], True),
        (["60", "39.98"], False),
        (["60", "39.9775"], True),
        (["60", "30"], True),
        (["90"], False),  # one row: a projection
    ],
)
def test_shares_of_a_table_add_up_to_the_whole(tmp_path: Path, shares: list[str], fires: bool) -> None:
    head = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    rows = "".join(f"0,Op{place},AI_CORE,1,5,5,5,5,{share}\n" for place, share in enumerate(shares))
    assert rules_of(tmp_path, "op_statistic", head + rows) == ([("share-sum", None)] if fires else [])


def test_a_share_below_0_leaves_its_cell_empty(tmp_path: Path) -> None:
    head = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    assert rules_of(tmp_path, "op_statistic", f"{head}0,Op,AI_CORE,1,5,5,5,5,-0.001\n") == [("negative-value", 2)]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([1, 2], []),
        ([2, 3], ["the first iteration here is number 2: earlier ones were not recorded"]),
        ([1, 3], ["iterations 2 between 1 and 3 are missing"]),
        ([1, 2, 5], ["iterations 3 to 4 between 1 and 5 are missing"]),
    ],
)
def test_iterations_are_counted_one_by_one(tmp_path: Path, numbers: list[int], said: list[str]) -> None:
    path = tmp_path / "step_trace.csv"
    rows = (f"0,{one},{one}10,{one}90,{one}95,85,80,5,0\n" for one in numbers)
    path.write_text(ITERATIONS + "".join(rows))
    assert [finding.message for finding in check_table(read_table(path, TABLES["step_trace"])).findings] == said
