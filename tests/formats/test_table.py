"""Headers through history."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.table import Column, snake_case, split_unit, table_of_header
from aoe_reports.formats.vendor import TABLES as ALL_TABLES

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


DOCS = Path(__file__).parents[2] / "docs" / "tables.md"


def _repeats_its_name(column: Column) -> bool:
    return [re.sub("[^a-z0-9]+", "_", header.lower()) for header in column.headers] == [
        column.field.removesuffix("_ns")
    ]


@pytest.mark.parametrize("name", ALL_TABLES)
def test_docs_tell_each_table_as_it_is_declared(name: str) -> None:
    table = ALL_TABLES[name]
    told = DOCS.read_text(encoding="utf-8").split(f"\n## {name}\n\n")[1].split("\n## ")[0].splitlines()
    files = [f"`{file}`" for file in table.called or [f"{word}*" for word in table.file_kinds]]
    writer = {"both": "msprof and torch_npu"}.get(table.source, table.source)
    dates = ", ".join(sorted({date for date, _ in table.vintages}))
    since = f"; headers of {dates}" if dates else ""
    assert told[0] == f"{table.title}. Files {', '.join(files)}, written by {writer}{since}."
    rows = [re.fullmatch(r"\| ([a-z ,]+) \| (.*) \|", line) for line in told if line.startswith("| ") and "`" in line]
    listed = {
        name: (named[1], re.findall("`([^`]+)`", of))
        for named in rows
        if named
        for name, of in re.findall(r"`(\w+)`(?: \(([^`()]*(?:`[^`]+`[^`()]*)+)\))?", named[2])
    }
    assert listed == {
        **{
            column.field: (
                column.type + (", in every row" if column.needed else ", optional" if column.optional else ""),
                [] if _repeats_its_name(column) else list(column.headers),
            )
            for column in table.columns
        },
        **{one.column.field: (f"{one.column.type}, derived", list(one.of)) for one in table.derived},
    }
    marks = [mark for _, mark in table.vintages]
    assert all(field.type != "unknown" for field in table.match(marks).fields), "a header that no exporter wrote"


IDENTITIES = {
    "op_summary": "device_id model_id stream_id task_id context_id op_name task_start_ns task_duration_ns",
    "op_statistic": "device_id model_name op_type task_type",
    "kernel_details": "device_id model_id stream_id task_id context_id op_name task_start_ns task_duration_ns",
    "step_trace": "device_id model_id iteration_id iteration_end_ns",
    "step_trace_time": "device_id step",
    "cluster_step_trace_time": "step type index",
    "task_time": "device_id op_name task_type stream_id task_id task_duration_ns task_start_ns",
    "api_statistic": "device_id level api_name",
    "communication_statistic": "device_id op_type",
    "communication": "step type op_name group",
    "communication_bandwidth": "step type op_name group transport",
    "communication_matrix": "step type op_name group source_rank destination_rank",
    "operator_memory": "device_id device op_name size_bytes allocation_ns release_ns allocation_total_allocated_bytes",
    "aicpu": "device_id timestamp_ns node stream_id task_id total_time_ns",
    "runtime_api": "api_name",
    "acl": "api_name start_ns duration_ns process_id thread_id",
    "acl_statistic": "api_name api_type process_id thread_id",
    "ge_op_execute": "thread_id op_name op_type event_type start_ns duration_ns",
    "os_runtime_statistic": "process_id thread_id api_name",
    "ai_core_utilization": "device_id core",
    "ai_vector_core_utilization": "device_id core",
    "output_timeline_data": "op_name stream_id task_start_ns task_duration_ns",
    "aicore_intermediate_type": "op_type",
    "aicore_intermediate_detail": "op_name",
    "aicpu_intermediate": "serial_number run_start",
    "step_trace_raw": "iteration_id iteration_end_ns",
    "hccl_raw": "step",
    "minddata_pipeline_raw": "op_id",
    "op_arithmetic_utilization": "block_id sub_block_id",
    "op_l2_cache": "block_id sub_block_id",
    "op_memory": "block_id sub_block_id",
    "op_memory_l0": "block_id sub_block_id",
    "op_memory_ub": "block_id sub_block_id",
    "op_pipe_utilization": "block_id sub_block_id",
    "op_resource_conflicts": "block_id sub_block_id",
    "service_request": "http_rid",
    "service_pd_communication": "rid",
    "service_batch_summary": "metric",
    "service_request_summary": "metric",
    "service_summary": "metric",
    "rocprof_results": "index op_name device_id queue_id queue_index task_start_ns task_duration_ns",
    "kernel_trace": "agent queue_id task_id correlation_id op_name task_start_ns task_stop_ns",
}
"""What no two rows of a table share."""


@pytest.mark.parametrize("name", IDENTITIES)
def test_rows_are_told_apart_by_fields_of_their_table(name: str) -> None:
    table = ALL_TABLES[name]
    assert table.identity == tuple(IDENTITIES[name].split())
    assert {*table.identity} <= {one.field for one in (*table.columns, *(derived.column for derived in table.derived))}


def test_other_tables_have_no_rows_that_cannot_be_the_same() -> None:
    assert [name for name, table in ALL_TABLES.items() if table.identity] == list(IDENTITIES)


UNITS = {
    "communication": {
        "elapsed_ns": "ms of ms",
        "transit_ns": "ms of ms",
        "wait_ns": "ms of ms",
        "synchronization_ns": "ms of ms",
        "idle_ns": "ms of ms",
    },
    "communication_bandwidth": {"transit_bytes": "MB of MB", "transit_ns": "ms of ms"},
    "communication_matrix": {"transit_bytes": "MB of MB", "transit_ns": "ms of ms"},
    "l2_cache_counts": {"timestamp_ns": "ns of us ns"},
    "aicpu": {
        "timestamp_ns": "total_time_ns of us ns",
        "compute_time_ns": "us of us ms",
        "memcpy_time_ns": "us of us ms",
        "task_time_ns": "us of us ms",
        "dispatch_time_ns": "us of us ms",
        "total_time_ns": "us of us ms",
    },
    "dp": {"timestamp_ns": "ns of us ns"},
    "ai_stack_time": {"start_ns": "ns of us ns", "duration_ns": "ns of ns"},
    "runtime_api": {
        "total_time_ns": "ns of ns",
        "avg_time_ns": "ns of ns",
        "min_time_ns": "ns of ns",
        "max_time_ns": "ns of ns",
    },
    "acl": {"start_ns": "ns of us ns"},
    "gradient_summary": {"gradient_size_bytes": "byte of byte"},
    "acc_pmu": {"timestamp_ns": " of us ns"},
    "nic": {"timestamp_ns": " of us ns"},
    "roce": {"timestamp_ns": " of us ns"},
    "ub": {"timestamp_ns": " of us ns"},
    "output_timeline_data": {"task_start_ns": "ms of ms", "task_duration_ns": "ms of ms"},
    "aicore_intermediate_type": {"total_time_ns": "ms of ms"},
    "aicore_intermediate_detail": {"mean_time_ns": "ms of ms"},
    "aicpu_intermediate": dict.fromkeys(("total_time_ns", "dispatch_time_ns", "execution_time_ns"), "ms of ms"),
    "step_trace_raw": {
        **dict.fromkeys(("iteration_start_ns", "iteration_end_ns", "fp_start_ns", "bp_end_ns"), "10 ns of us ns"),
        **dict.fromkeys(
            ("iteration_time_ns", "data_aug_bound_ns", "fp_to_bp_time_ns", "iteration_refresh_ns"), "10 ns of 10 ns"
        ),
    },
    "cluster_analyse": dict.fromkeys(
        (
            "computing_ns",
            "communication_not_overlapped_ns",
            "stage_ns",
            "receive_not_overlapped_ns",
            "collective_not_overlapped_ns",
        ),
        "ms of ms",
    ),
    "hccl_raw": {"communication_ns": "ms of ms", "wait_ns": "ms of ms"},
    "rocprof_results": {
        "dispatch_ns": "ns of us ns",
        "task_start_ns": "ns of us ns",
        "task_stop_ns": "ns of us ns",
        "complete_ns": "ns of us ns",
        "task_duration_ns": "ns of ns",
    },
    "kernel_trace": {"task_start_ns": "ns of us ns", "task_stop_ns": "ns of us ns"},
    "memscope_dump": {"timestamp_ns": "ns of us ns"},
}
"""The unit where a header names none, and those that exporters write; elsewhere times are in us, sizes in bytes."""
OF_SERVICES = dict.fromkeys(("duration", "timestamp"), " of ms microsecond")
"""In what services are told in, a header without a unit tells no time."""
OTHERS_OF_SERVICES = {
    **{
        (f"service_{kind}", f"{name}_time_ns"): "ms of ms"
        for kind in ("prefill", "decode")
        for name in ("max", "min", "mean", "std")
    },
    ("service_spec_decode", "draft_model_time_ns"): "ms of ms",
}
USUAL = {"duration": "us of us", "timestamp": "us of us ns", "size": "B of B Bytes KB MB"}


@pytest.mark.parametrize("name", ALL_TABLES)
def test_units_are_those_of_the_exporters(name: str) -> None:
    told = {one.field: f"{one.unit} of {' '.join(one.units)}" for one in ALL_TABLES[name].columns if one.type in USUAL}
    usual = USUAL | OF_SERVICES if ALL_TABLES[name].source == "msserviceprofiler" else USUAL
    expected = {one.field: usual[one.type] for one in ALL_TABLES[name].columns if one.type in usual}
    others = {field: units for (table, field), units in OTHERS_OF_SERVICES.items() if table == name}
    assert told == expected | UNITS.get(name, {}) | others


FREE = {
    "memscope_dump": "name attributes python_stack c_stack",
    "memory_block": "file_name task_name node_name graph_name user_tasks last_user_task python_stack",
    "op_summary": "op_name",
    "kernel_details": "op_name",
    "task_time": "op_name",
    "task_time_statistic": "op_name",
    "api_statistic": "api_name",
    "operator_details": "op_name",
    "operator_memory": "op_name",
    "static_op_mem": "op_name",
    "l2_cache": "op_name",
    "msprof_tx": "message",
    "fusion_op": "original_ops",
    "aicpu": "node",
    "aicpu_mi": "node_name",
    "dp": "action",
    "ai_stack_time": "api_name",
    "acl": "api_name",
    "acl_statistic": "api_name",
    "ge_op_execute": "op_name",
    "pytorch_operator_view": "call_stack",
    "ai_cpu_top_function": "function",
    "ctrl_cpu_top_function": "function",
    "process_cpu_usage": "name",
    "process_mem": "name",
    "output_timeline_data": "op_name",
    "aicore_intermediate_detail": "op_name",
    "hccl_raw": "link_info operators",
    "kernel_flops": "op_name",
    "framework_raw": "op_name framework_name kernel_name op_info",
    "minddata_pipeline_raw": "queue_sizes children_ids",
    "op_basic_info": "op_name",
    "rocprof_results": "op_name",
    "kernel_trace": "op_name",
}
"""The columns in which a user's own words stand."""


def test_users_words_stand_in_these_columns_alone() -> None:
    found = {name: " ".join(one.field for one in table.columns if one.free) for name, table in ALL_TABLES.items()}
    assert {name: fields for name, fields in found.items() if fields} == FREE


def test_devices_may_be_the_host() -> None:
    words = {word for table in TABLES.values() for one in table.columns for word in one.null_words}
    assert words == {"host"}
    merged = [one for table in TABLES.values() for one in table.columns if one.headers == ("Device_id",)]
    assert all(one.null_words == ("host",) and one.optional for one in merged)


def test_what_rows_tell_is_what_questions_ask_for() -> None:
    facts: dict[str, list[str]] = {}
    for name, table in ALL_TABLES.items():
        facts.setdefault(table.facts, []).append(name)
    del facts["other"]
    assert facts == {
        "tasks": [
            "op_summary",
            "kernel_details",
            "output_timeline_data",
            "op_basic_info",
            "rocprof_results",
            "kernel_trace",
        ],
        "sums": ["op_statistic", "aicore_intermediate_type"],
        "steps": ["step_trace", "step_trace_time", "step_trace_raw"],
        "kernels": ["task_time"],
        "communication": ["communication_statistic"],
    }
    assert [name for name, table in ALL_TABLES.items() if table.rising] == ["step_trace"]
    assert [name for name, table in ALL_TABLES.items() if table.repeating] == ["step_trace"]
    assert [name for name, table in ALL_TABLES.items() if table.multiline] == [
        "operator_details",
        "memscope_dump",
        "memory_block",
    ]
    assert [name for name, table in ALL_TABLES.items() if table.whole_in_each_file] == ["step_trace"]
    assert [name for name, table in ALL_TABLES.items() if table.form == "document"] == [
        "communication",
        "communication_bandwidth",
        "communication_matrix",
        "prof_rule",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Task Typ", True), ("ask Type", True), ("Tas Type", True), ("Task Types", True), ("xTask Type", True),
        ("Task  Type", True), ("Tusk Type", True), ("task typo", True), ("Bask Type(us)", True),
        ("Task Ty", False), ("sk Type", False), ("Tsk Typ", False), ("Task Types.", False), ("Tusk Typo", False),
        ("Type", False),
    ],
)  # fmt: skip
def test_a_column_that_is_one_letter_beside_its_name_is_noticed(written: str, meant: bool) -> None:
    header = ["Op Name", "OP Type", written, "Task Start Time(us)", "Task Duration(us)"]
    match = TABLES["op_summary"].match(header)
    found = [(field.header, column.name) for field, column in match.nearly if column.name == "task_type"]
    assert found == ([(written, "task_type")] if meant else [])


@pytest.mark.parametrize(("unit", "factor"), [("B", 1), ("Bytes", 1), ("KB", 1024), ("MB", 1024**2)])
def test_sizes_in_memory_are_powers_of_two(unit: str, factor: int) -> None:
    (field, *_) = [
        one for one in TABLES["operator_memory"].match(["Name", f"Size({unit})"]).fields if one.type == "size"
    ]
    assert (field.factor, field.name) == (factor, "size_bytes")
