"""Tables held against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, read_table
from aoe_reports.model.arrays.columns import column_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.rules.forms.agreement import check_forms
from aoe_reports.rules.forms.statistics import check_statistics
from aoe_reports.rules.tables.check import check_table
from aoe_reports.rules.tables.copies import cannot_repeat, first_of_each, without_copies_between


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


TASK_TIMES = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"


def kernels_of(tmp_path: Path, rows: list[str], name: str = "a") -> TableData:
    path = tmp_path / f"{name}.csv"
    path.write_text(KERNELS + "".join(f"{row}\n" for row in rows))
    return read_table(path, TABLES["kernel_details"])


KERNELS = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


def test_a_row_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    rows = ["0,a,Add,AI_CORE,1.0,5", "0,b,Add,AI_CORE,1.0,5", "0,a,Add,AI_CORE,1.0,5", "0,a,Add,AI_CORE,2.0,5", "1,a,Add,AI_CORE,1.0,5", "0,a,Add,AI_CORE,1.0,5"]  # fmt: skip
    data = check_table(kernels_of(tmp_path, rows))
    assert [(finding.rule, finding.line) for finding in data.findings] == [("duplicate-row", 4), ("duplicate-row", 7)]
    assert data.frame["task_start_ns"].to_pylist() == [1000, 1000, 2000, 1000]
    assert data.rows_reported == 2
    assert check_table(kernels_of(tmp_path, rows), complete=False).findings == ()


def test_a_row_of_another_file_counts_once(tmp_path: Path) -> None:
    first = kernels_of(tmp_path, ["0,a,Add,AI_CORE,1.0,5", "0,a,Add,AI_CORE,2.0,5"], "a")
    second = kernels_of(tmp_path, ["0,a,Add,AI_CORE,3.0,5", "0,a,Add,AI_CORE,2.0,5", "0,a,Add,AI_CORE,1.0,5"], "b")
    third = kernels_of(tmp_path, ["0,a,Add,AI_CORE,3.0,5", "0,a,Add,AI_CORE,4.0,5"], "c")
    kept = without_copies_between([first, second, third])
    assert [data.frame["task_start_ns"].to_pylist() for data in kept] == [[1000, 2000], [3000], [4000]]
    assert [[finding.message.split()[0] for finding in data.findings] for data in kept] == [[], ["2"], ["1"]]
    assert [data.rows_reported for data in kept] == [0, 2, 1]
    assert without_copies_between([first, third]) == [first, third]
    assert without_copies_between([]) == []


@pytest.mark.parametrize(
    ("starts", "cannot"),
    [
        ([[1, 2], [3, 4]], True),
        ([[3, 4], [1, 2]], True),
        ([[2, 1], [4, 3]], True),
        ([[1, 2], [2, 3]], False),
        ([[1, 3], [2, 4]], False),
        ([[1, 1]], False),
        ([[1, 2]], True),
        ([[1, 2], []], True),
    ],
)
def test_rows_that_start_at_different_times_cannot_repeat(
    tmp_path: Path, starts: list[list[int]], cannot: bool
) -> None:
    tables = [kernels_of(tmp_path, [f"0,a,Add,AI_CORE,{start}.0,5" for start in one], str(place)) for place, one in enumerate(starts)]  # fmt: skip
    assert cannot_repeat(tables) is cannot
    assert cannot_repeat([data.with_frame(data.frame.drop_columns(["task_start_ns"])) for data in tables]) is False


def test_what_stands_where_there_is_no_value_makes_no_row_another_one() -> None:
    there = np.asarray([True, False, False, False])
    stream = column_of(np.asarray([0, 5, -7, 0], dtype=np.int64), there)
    frame = pa.table({"task_start_ns": pa.chunked_array([[1, 1, 1, 1]]), "stream_id": stream})
    assert frame["stream_id"].to_pylist() == [0, None, None, None]
    assert first_of_each(frame, ["task_start_ns", "stream_id"]).tolist() == [True, True, False, False]


def test_the_first_of_each_by_some_columns(tmp_path: Path) -> None:
    frame = kernels_of(tmp_path, ["0,a,Add,AI_CORE,1.0,5", "1,a,Add,AI_CORE,1.0,5", "0,b,Add,AI_CORE,1.0,5", "0,a,Add,AI_CORE,1.5,6"]).frame  # fmt: skip
    assert first_of_each(frame, ["device_id"]).tolist() == [True, True, False, False]
    assert first_of_each(frame, ["op_name"]).tolist() == [True, False, True, False]
    assert first_of_each(frame, ["device_id", "op_name", "not there"]).tolist() == [True, True, True, False]


@pytest.mark.parametrize("count", [1, EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 3])
def test_rows_with_negative_times_are_left_out_and_counted(tmp_path: Path, count: int) -> None:
    rows = [f"0,a,Add,AI_CORE,{number}.0,-0.001" for number in range(1, count + 1)]
    data = check_table(kernels_of(tmp_path, ["0,a,Add,AI_CORE,0.5,0", *rows]))
    assert data.frame.num_rows == 1
    shown = min(count, EXAMPLES_PER_RULE)
    rest = count - shown
    assert [finding.line for finding in data.findings] == list(range(3, 3 + shown + bool(rest)))
    assert {(finding.rule, finding.column) for finding in data.findings} == {("negative-duration", 6)}
    if rest:
        assert data.findings[-1].message == f"and {rest} more: Duration(us) is negative; the row is left out"


@pytest.mark.parametrize(("wait", "kept"), [("0", 0), ("-0.001", None), ("3", 3000)])
def test_a_negative_time_that_is_not_needed_leaves_its_cell_empty(tmp_path: Path, wait: str, kept: int | None) -> None:
    path = tmp_path / "k.csv"
    path.write_text(f"{KERNELS.strip()},Wait Time(us)\n0,a,Add,AI_CORE,1.0,5,{wait}\n0,a,Add,AI_CORE,2.0,5,7\n")
    data = check_table(read_table(path, TABLES["kernel_details"]))
    assert data.frame["task_wait_ns"].to_pylist() == [kept, 7000]
    assert [(finding.rule, finding.line, finding.column) for finding in data.findings] == ([("negative-duration", 2, 7)] if kept is None else [])  # fmt: skip


@pytest.mark.parametrize(("count", "fires"), [("1", False), ("0", True), ("-1", True)])
def test_a_group_has_a_task(tmp_path: Path, count: str, fires: bool) -> None:
    head = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us)\n"
    found = rules_of(tmp_path, "op_statistic", f"{head}0,Op,AI_CORE,{count},5,5,5,5\n0,Ob,AI_CORE,1,5,5,5,5\n")
    assert found == ([("implausible-count", 2)] if fires else [])


def test_a_share_below_0_stands_in_its_column(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n0,a,AI_CORE,1,5,5,5,5,-0.5\n0,b,AI_CORE,1,5,5,5,5,0\n")  # fmt: skip
    data = check_table(read_table(path, TABLES["op_statistic"]))
    assert [(finding.rule, finding.line, finding.column) for finding in data.findings] == [("negative-value", 2, 9)]
    assert data.frame["share"].to_pylist() == [None, 0.0]


def test_task_types_that_nobody_writes_are_told_with_their_first_row(tmp_path: Path) -> None:
    rows = [f"0,a,Add,{core},{number}.0,5" for number, core in enumerate(["AI_CORE", "AI_CROE", "HCCL", "AI_CROE", "N/A"], 1)]  # fmt: skip
    data = check_table(kernels_of(tmp_path, rows))
    told = [finding for finding in data.findings if finding.rule == "task-type-unknown"]
    assert [(finding.line, finding.message) for finding in told] == [
        (3, "2 rows of task type 'AI_CROE', which is unknown; treated as computing")
    ]
    many = kernels_of(tmp_path, [f"0,a,Add,t{number},{number}.0,5" for number in range(EXAMPLES_PER_RULE + 2)])
    assert len(check_table(many).findings) == EXAMPLES_PER_RULE


@pytest.mark.parametrize(
    ("devices", "models", "fires"), [((0, 0), (1, 1), True), ((0, 1), (1, 1), False), ((0, 0), (1, 2), False)]
)
def test_iterations_of_one_model_on_one_device_are_in_order(
    tmp_path: Path, devices: tuple[int, int], models: tuple[int, int], fires: bool
) -> None:
    head = ITERATIONS.replace("Device_id,", "Device_id,Model ID,")
    rows = "".join(f"{device},{model},{number},110,190,200,100,80,10,0\n" for number, device, model in zip((1, 2), devices, models, strict=True))  # fmt: skip
    found = [rule for rule, _ in rules_of(tmp_path, "step_trace", head + rows)]
    assert ("not-monotonic" in found) is fires


@pytest.mark.parametrize(("kind", "fires"), [("rank", ["overlap-sum", "step-sum"]), ("stage", [])])
def test_only_rows_of_ranks_add_up(tmp_path: Path, kind: str, fires: list[str]) -> None:
    head = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
    found = rules_of(tmp_path, "cluster_step_trace_time", f"{head}1,{kind},0,100,20,5,29,30,100,5\n")
    assert found == [(rule, 2) for rule in fires]


@pytest.mark.parametrize(("stop", "fires"), [("1000000000000000.600", False), ("1000000000000000.601", True)])
def test_a_stamp_since_1970_is_told_by_its_size(tmp_path: Path, stop: str, fires: bool) -> None:
    """Beyond 10**18 ns a stamp is one of a float64; up to it every digit counts."""
    row = f"0,a,AI_CORE,1,1,0,1000000000000000.001,{stop}\n"
    later = rules_of(tmp_path, "task_time", TASK_TIMES + row.replace(stop, stop[:-3] + f"{int(stop[-3:]) + 1:03}"))
    assert later == ([("interval-mismatch", 2)] if fires else [])
    exact = "0,a,AI_CORE,1,1,0,1000000000000000.000,1000000000000000.011\n"
    assert rules_of(tmp_path, "task_time", TASK_TIMES + exact) == [("interval-mismatch", 2)]


def test_only_the_first_gaps_are_named(tmp_path: Path) -> None:
    gap = range(1, 2 * EXAMPLES_PER_RULE + 4, 2)
    path = tmp_path / "step_trace.csv"
    path.write_text(ITERATIONS + "".join(f"0,{one},{one}10,{one}90,{one}95,85,80,5,0\n" for one in gap))
    (finding,) = check_table(read_table(path, TABLES["step_trace"])).findings
    assert finding.message.count(",") == EXAMPLES_PER_RULE - 1
    assert finding.message.endswith(f" between 1 and {gap[-1]} are missing")


@pytest.mark.parametrize(
    ("numbers", "first"),
    [
        ([1, 1], [True, False]),
        ([1, 2, 1, 2], [True, True, False, False]),
        ([1, 1, 1], [True, False, False]),
        ([1, 2], [True, True]),
        ([None, -1, None], [True, True, False]),
        ([], []),
    ],
)
def test_a_row_is_the_first_of_its_kind_however_many_repeat(numbers: list[int | None], first: list[bool]) -> None:
    frame = pa.table({"a": pa.array(numbers, pa.int64()), "b": pa.array([7] * len(numbers), pa.int64())})
    assert first_of_each(frame, ["a", "b"]).tolist() == first
    assert first_of_each(frame, ["a", "c"]).tolist() == first


@pytest.mark.parametrize(("kind", "head", "row"), [("op_statistic", "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)", "Op{},AI_CORE,1,5,5,5,5,40"), ("communication_statistic", "OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)", "Op{},1,5,5,5,5,40")])  # fmt: skip
def test_shares_are_those_of_a_whole_statistic(tmp_path: Path, kind: str, head: str, row: str) -> None:
    rows = "".join(f"{device},{row.format(place)}\n" for device in (0, 1) for place in (1, 2))
    text = f"Device_id,{head}\n{rows}"
    assert rules_of(tmp_path, kind, text) == [("share-sum", None)]
    whole = text.replace(",40\n", ",50\n")
    assert rules_of(tmp_path, kind, whole) == []
    damaged = text.replace("Op2", "Op2", 1).replace("1,5,5,5,5,40", "x,5,5,5,5,40", 1)
    assert "share-sum" not in {rule for rule, _ in rules_of(tmp_path, kind, damaged)}, "a row was reported already"


def test_shares_of_devices_add_up_each_by_itself(tmp_path: Path) -> None:
    head = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    rows = "".join(f"{device},Op{share},AI_CORE,1,5,5,5,5,{share}\n" for device, share in ((0, 70), (0, 31), (1, 59), (1, 40)))  # fmt: skip
    (tmp_path / "op_statistic.csv").write_text(head + rows)
    found = check_table(read_table(tmp_path / "op_statistic.csv", TABLES["op_statistic"])).findings
    assert [finding.message for finding in found] == ["the shares add up to 101.0000%: a row is missing or damaged"]


@pytest.mark.parametrize("header", ["Allocation Time", "Allocation Total Reserved", "Release Time", "Device_id"])
def test_numbers_below_0_leave_their_cell_empty(tmp_path: Path, header: str) -> None:
    table = TABLES["operator_memory"]
    cells = {column.headers[0]: "1" for column in table.columns} | {header: "-1"}
    (tmp_path / "operator_memory.csv").write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")
    data = check_table(read_table(tmp_path / "operator_memory.csv", table))
    told = [(one.message, one.line, one.column) for one in data.findings if one.rule == "negative-value"]
    assert told == [(f"{header} is negative; the cell is empty in the table", 2, list(cells).index(header) + 1)]
    (field,) = [column.field for column in table.columns if column.headers[0] == header]
    assert [name for name in data.frame.column_names if data.frame[name].null_count] == [field]
