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
    head = "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us)\n"
    rows = f"0,1,110,190,200,100,80,10,0\n0,2,{end - 90},{end - 10},{end},100,80,10,0\n"
    assert rules_of(tmp_path, "step_trace", head + rows) == ([("not-monotonic", 3)] if fires else [])
