"""What the host called: AscendCL, GE, Runtime and, since 2023-08, api_statistic for all of them."""

from __future__ import annotations

from aoe_reports.formats.table import Table, columns, duration, free_text, integer, text, timestamp
from aoe_reports.model.texts import say

API_STATISTIC = Table(
    name="api_statistic",
    title=say("calls of the host grouped by level and function"),
    columns=columns("""
        device
        text: Level
        free: API Name
        duration!: total_time = Time
        integer!: Count
        duration: avg_time = Avg, min_time = Min, max_time = Max
        number?: Variance
    """),
    vintages=(("2023-08", "API Name"),),
    source="both",
    identity=("device_id", "level", "api_name"),
)

AI_STACK_TIME = Table(
    name="ai_stack_time",
    title=say("one row for each layer of the software stack and each inference"),
    columns=(
        integer("infer_id", "Infer ID"),
        text("module", "Module"),
        free_text("api_name", "API"),
        timestamp("start", "Start Time", unit="ns"),
        duration("duration", "Duration", needed=True, unit="ns"),
    ),
    vintages=(("2022-03", "Infer ID"),),
)

RUNTIME_API = Table(
    name="runtime_api",
    title=say("calls of the Runtime grouped by function; stream and thread are those of any one call"),
    columns=columns("""
        text: api_name = Name
        integer: Stream ID
        share: share = Time(%)
        duration! ns: total_time = Time(ns)
        integer!: count = Calls
        duration ns: avg_time = Avg, min_time = Min, max_time = Max
        integer: Process ID, Thread ID
    """),
    vintages=(("2022-03", "Calls"),),
    identity=("api_name",),
)

ACL = Table(
    name="acl",
    title=say("every call of AscendCL"),
    columns=columns("""
        free: api_name = Name
        text: api_type = Type
        timestamp ns: start = Start Time
        duration!: Duration
        integer: Process ID, Thread ID
    """),
    vintages=(("2022-03", "Process ID"),),
    identity=("api_name", "start_ns", "duration_ns", "process_id", "thread_id"),
)

ACL_STATISTIC = Table(
    name="acl_statistic",
    title=say("calls of AscendCL, grouped by function"),
    columns=columns("""
        free: api_name = Name
        text: api_type = Type
        share: share = Time(%)
        duration!: total_time = Time(us)
        integer!: Count
        duration: avg_time = Avg, min_time = Min, max_time = Max
        integer: Process ID, Thread ID
    """),
    vintages=(("2022-03", "Count"),),
    identity=("api_name", "api_type", "process_id", "thread_id"),
)

GE_OP_EXECUTE = Table(
    name="ge_op_execute",
    title=say("host work for operators with dynamic shapes"),
    columns=columns("""
        integer: Thread ID
        free?: OP Name
        text: OP Type, Event Type
        timestamp: start = Start Time
        duration!: Duration
    """),
    vintages=(("2022-12", "OP Name"), ("2022-03", "Event Type")),
    identity=("thread_id", "op_name", "op_type", "event_type", "start_ns", "duration_ns"),
)

OS_RUNTIME_STATISTIC = Table(
    name="os_runtime_statistic",
    title=say("calls of the operating system grouped by process, thread and function"),
    columns=columns("""
        integer: Process ID, Thread ID
        text: api_name = Name
        share: share = Time(%)
        duration!: total_time = Time(us)
        integer!: Count
        duration: avg_time = Avg, max_time = Max, min_time = Min
    """),
    vintages=(("2022-03", "Process ID"),),
    identity=("process_id", "thread_id", "api_name"),
)
