"""Tables held against each other."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import read_table
from aoe_reports.rules.forms import check_forms, check_statistic


def test_op_statistic_is_the_tasks_grouped(msprof: Path) -> None:
    for rank in (0, 1):
        folder = msprof / "torch_npu_two_ranks" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        tasks = read_table(folder / "kernel_details.csv", TABLES["kernel_details"])
        statistic = read_table(folder / "op_statistic.csv", TABLES["op_statistic"])
        assert statistic.frame.num_rows == 6
        assert check_statistic(statistic, tasks.frame) == []


def test_a_lost_task_is_noticed(msprof: Path) -> None:
    folder = msprof / "torch_npu_two_ranks" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    tasks = read_table(folder / "kernel_details.csv", TABLES["kernel_details"])
    statistic = read_table(folder / "op_statistic.csv", TABLES["op_statistic"])
    (finding,) = check_statistic(statistic, tasks.frame.slice(1))
    assert finding.rule == "statistic-mismatch"
    assert "TransData on AI_VECTOR_CORE: 2 tasks" in finding.message
    assert check_forms([tasks], [tasks]) == []
