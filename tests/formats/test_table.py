"""Headers through history."""

from __future__ import annotations

import pytest

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.table import snake_case, split_unit, table_of_header

OP_SUMMARY_VINTAGES = {
    "2022-03": "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim",
    "2022-11": "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim",
    "2023-08": "Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim",
    "2023-09": "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,HF32 Eligible",
    "2024-02": "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim",
    "2026-01": "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num",
}


@pytest.mark.parametrize("vintage", OP_SUMMARY_VINTAGES)
def test_every_vintage_of_op_summary_is_known(vintage: str) -> None:
    match = TABLES["op_summary"].match(OP_SUMMARY_VINTAGES[vintage].split(","))
    assert match.missing == ()
    assert match.vintage == vintage
    assert not [field.header for field in match.fields if field.type == "unknown"]


def test_the_unit_comes_from_the_header() -> None:
    table = TABLES["task_time"]
    old = table.match(
        ["kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)", "task_start(ns)", "task_stop(ns)"]
    )
    new = table.match(
        ["kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)", "task_start(us)", "task_stop(us)"]
    )
    assert [f.factor for f in old.fields[4:]] == [1000, 1, 1]
    assert [f.factor for f in new.fields[4:]] == [1000, 1000, 1000]


def test_a_bracket_that_is_no_unit_stays_in_the_name() -> None:
    assert split_unit("Communication(Not Overlapped)") == ("Communication(Not Overlapped)", None)
    assert split_unit("Total Time(us)") == ("Total Time", "us")


def test_two_columns_of_one_name_are_told_apart() -> None:
    header = "Iteration ID,FP Start,BP End,Iteration End,Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Reduce Start,Reduce Duration(us),Reduce Start,Reduce Duration(us)"
    names = [field.name for field in TABLES["step_trace"].match(header.split(",")).fields]
    assert names[-4:] == ["reduce_start_ns", "reduce_duration_ns", "reduce_start_ns__2", "reduce_duration_ns__2"]


def test_a_byte_order_mark_and_blanks_are_stripped() -> None:
    header = ["\ufeffOP Type", " Core Type", "Count ", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)"]
    assert TABLES["op_statistic"].fits(header)


def test_unknown_columns_are_kept_under_a_name_with_their_unit() -> None:
    assert snake_case("aic_l2_read_bw(GB/s)") == "aic_l2_read_bw_gb_per_s"
    assert snake_case("cube_utilization(%)") == "cube_utilization_percent"


def test_a_table_is_told_by_its_header() -> None:
    assert table_of_header(OP_SUMMARY_VINTAGES["2024-02"].split(","), TABLES.values()) is TABLES["op_summary"]
    assert table_of_header(["a", "b"], TABLES.values()) is None


def step_trace(*reduces: str) -> list[str]:
    return [
        *["Iteration ID", "FP Start(us)", "BP End(us)", "Iteration End(us)", "Iteration Time(us)"],
        *["FP to BP Time(us)", "Iteration Refresh(us)", "Data Aug Bound(us)", "Model ID"],
        *reduces,
    ]


START, DURATION = "Reduce Start(us)", "Reduce Duration(us)"


@pytest.mark.parametrize(
    ("reduces", "odd"),
    [
        ([], None),
        ([START, DURATION], None),
        ([START, DURATION] * 5, None),
        ([DURATION, START], 9),
        ([START], 9),
        ([DURATION], 9),
        ([START, DURATION, START], 11),
        ([START, DURATION, DURATION, START], 11),
        ([START, "Reduce Durasion(us)", START, DURATION], 11),
    ],
)
def test_repeated_columns_come_in_groups(reduces: list[str], odd: int | None) -> None:
    unordered = TABLES["step_trace"].match(step_trace(*reduces)).unordered
    assert (unordered.position if unordered else None) == odd


def test_columns_of_one_name_have_a_unit_each() -> None:
    header = [
        "step",
        "type",
        "op_name",
        "group",
        "transport",
        "Transit Size(MB)",
        "Transit Time(ms)",
        "Bandwidth(GB/s)",
    ]
    fields = {field.name: field.factor for field in TABLES["communication_bandwidth"].match(header).fields}
    assert (fields["transit_bytes"], fields["transit_ns"]) == (1_000_000, 1_000_000)
    swapped = TABLES["communication_bandwidth"].match([*header[:5], header[6], header[5], header[7]])
    assert {field.name: field.factor for field in swapped.fields} == fields


@pytest.mark.parametrize("name", TABLES)
def test_every_declaration_holds_together(name: str) -> None:
    table = TABLES[name]
    fields = [column.field for column in table.columns]
    assert len(set(fields)) == len(fields)
    assert all(column.headers for column in table.columns)
    assert {*table.identity} <= {*fields}
    assert table.rising is None or table.rising in fields
    assert {*table.repeating} <= {column.name for column in table.columns}
    aliases = [alias.casefold() for column in table.columns for alias in column.headers]
    assert len(set(aliases)) == len(aliases)
    assert sum(column.free for column in table.columns) <= 1
    dates = [date for date, _ in table.vintages]
    assert dates == sorted(dates, reverse=True)
    assert not any(column.needed and column.optional for column in table.columns)


def test_the_first_of_two_equal_headers_is_used_and_the_second_is_known() -> None:
    header = [
        "Op Name",
        "OP Type",
        "Task Type",
        "Task Start Time(us)",
        "Task Duration(us)",
        "Op Name",
        "Task Duration(us)",
    ]
    match = TABLES["op_summary"].match(header)
    assert [field.position for field in match.doubled] == [5, 6]
    assert [field.name for field in match.fields[5:]] == ["op_name__2", "task_duration_ns__2"]


def test_a_column_that_stands_before_its_neighbour_is_noticed() -> None:
    header = ["Op Name", "OP Type", "Task Type", "Task Duration(us)", "Task Start Time(us)"]
    unordered = TABLES["op_summary"].match(header).unordered
    assert unordered is not None
    assert unordered.header == "Task Start Time(us)"
    assert (
        TABLES["op_summary"].match(["x", *header[:3], "y", "Task Start Time(us)", "Task Duration(us)"]).unordered
        is None
    )
