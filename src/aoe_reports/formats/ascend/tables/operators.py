"""Tables of operators and their tasks beside op_summary: sums, times, memory, cache, AI CPU, advice, gradients, marks of users."""

from __future__ import annotations

from functools import partial

from aoe_reports.formats.table import Column, Table, columns, duration
from aoe_reports.model.texts import say

_TIMES = """
    integer!: Count
    duration!: Total Time
    duration: Min Time, Avg Time, Max Time
    share?: share = Ratio
"""

OP_STATISTIC = Table(
    name="op_statistic",
    title=say("tasks grouped by operator type and core type"),
    facts="sums",
    columns=columns(f"""
        device
        text?: Model Name
        text: OP Type, task_type = Core Type{_TIMES}
    """),
    vintages=(("2022-03", "OP Type"),),
    source="both",
    identity=("device_id", "model_name", "op_type", "task_type"),
)

COMMUNICATION_STATISTIC = Table(
    name="communication_statistic",
    title=say("communication operators grouped by type (hccl_statistic before 2025-02)"),
    facts="communication",
    columns=columns(f"device\ntext: OP Type{_TIMES}"),
    vintages=(("2023-08", "OP Type"),),
    files=("communication_statistic", "hccl_statistic"),
    identity=("device_id", "op_type"),
)

TASK_TIME = Table(
    name="task_time",
    title=say("every task on the device with start and stop"),
    facts="kernels",
    columns=columns("""
        device
        free: op_name = kernel_name
        text: task_type = kernel_type
        integer: stream_id, task_id
        duration!: task_duration = task_time
        timestamp: task_start, task_stop
    """),
    vintages=(("2023-09", "Device_id"), ("2023-08", "task_start(us)"), ("2022-03", "task_start(ns)")),
    identity=("device_id", "op_name", "task_type", "stream_id", "task_id", "task_duration_ns", "task_start_ns"),
)

TASK_TIME_STATISTIC = Table(
    name="task_time_statistic",
    title=say("tasks grouped by operator, in the form that old exporters used for task_time"),
    columns=columns("""
        device
        share: share = Time(%)
        duration!: total_time = Time(us)
        integer!: Count
        duration: avg_time = Avg, min_time = Min, max_time = Max, waiting_time = Waiting
        duration: running_time = Running, pending_time = Pending
        text: task_type = Type, api_name = API
        integer: Task ID
        free: Op Name
        integer: Stream ID
    """),
    vintages=(("2022-03", "Time(%)"),),
    files=("task_time",),
)

OPERATOR_DETAILS = Table(
    name="operator_details",
    title=say("PyTorch's operators: shapes, call stack, time on the host and on the device"),
    columns=columns("""
        free: op_name = Name
        text: Input Shapes
        text?: Call Stack
        duration!: Host Self Duration, Host Total Duration
        duration: Device Self Duration, Device Total Duration
        duration: device_self_duration_with_ai_core = Device Self Duration With AICore
        duration: device_total_duration_with_ai_core = Device Total Duration With AICore
    """),
    vintages=(("2023-09", "Host Self Duration(us)"),),
    source="torch_npu",
    multiline=True,
)

FUSION_OP = Table(
    name="fusion_op",
    title=say("fused operators, their source operators and their memory"),
    columns=columns("""
        device
        text: Model Name
        integer: Model ID
        text: Fusion Op
        free: Original Ops
        size: Memory Input, Memory Output, Memory Weight, Memory Workspace, Memory Total
    """),
    vintages=(("2023-08", "Memory Input(KB)"), ("2022-03", "Memory Input(Bytes)")),
)

L2_CACHE = Table(
    name="l2_cache",
    title=say("hit and victim rate of each task in the level 2 cache"),
    columns=columns("""
        device
        integer: Stream Id, Task Id
        number: Hit Rate, Victim Rate
        free?: Op Name
    """),
    vintages=(("2022-03", "Hit Rate"),),
    source="both",
)

L2_CACHE_COUNTS = Table(
    name="l2_cache_counts",
    title=say(
        "reads, writes, victims and allocations of the L2 cache, as contained in l2_cache from 2022-11 to 2023-09"
    ),
    columns=columns("""
        device
        integer: Read, Write, Victim, Allocate
        timestamp? ns: Timestamp
    """),
    vintages=(("2022-12", "Timestamp(ns)"), ("2022-11", "Read"), ("2022-11", "read")),
    files=("l2_cache",),
    other_orders=(("read", "write", "allocate", "victim"),),  # for one week of 2022-11
)

AI_CORE_UTILIZATION, AI_VECTOR_CORE_UTILIZATION = (
    Table(
        name=name,
        title=title,
        columns=columns("device\ntext: core = Core ID"),
        vintages=(("2022-03", "Core ID"),),
        identity=("device_id", "core"),
    )
    for name, title in (
        (
            "ai_core_utilization",
            say("counters of each AI core over the whole capture, and their average, as they were sampled"),
        ),
        (
            "ai_vector_core_utilization",
            say("counters of each vector core over the whole capture, and their average, as they were sampled"),
        ),
    )
)
"""As `--aic-mode=sample-based` has them; `--aic-metrics` says which counters."""

AICPU = Table(
    name="aicpu",
    title=say("operators on the AI CPU, by phase; ms until 2023-07, us since"),
    columns=columns(
        """
        device
        # a header without unit means what the times beside it say: the exporter changed both at once
        timestamp total_time_ns: Timestamp
        free: Node
        time: Compute_time, Memcpy_time, Task_time, Dispatch_time
        time!: Total_time
        integer?: Stream ID, Task ID
        """,
        time=partial(duration, units=("us", "ms")),
    ),
    vintages=(
        ("2023-08", "Timestamp(us)"),
        ("2023-07", "Compute_time(us)"),
        ("2022-09", "Stream ID"),
        ("2022-03", "Compute_time(ms)"),
    ),
    identity=("device_id", "timestamp_ns", "node", "stream_id", "task_id", "total_time_ns"),
)

AICPU_MI = Table(
    name="aicpu_mi",
    title=say("nodes of the AI CPU's data queues"),
    columns=columns("""
        device
        free: Node Name
        timestamp: start = Start Time, end = End Time
        integer: Queue Size
    """),
    vintages=(("2024-05", "Queue Size"),),
)

DP = Table(
    name="dp",
    title=say("data preprocessing: items taken from each queue"),
    columns=columns("""
        device
        timestamp ns: Timestamp
        free: Action
        text: Source
        integer: Cached Buffer Size
    """),
    vintages=(("2023-08", "Timestamp(us)"), ("2022-03", "Cached Buffer Size")),
)

PROF_RULE = Table(
    name="prof_rule",
    title=say("msprof's own advice: rule, suggestion, operators concerned"),
    columns=columns("""
        integer?: device_id
        text: section, Rule Type
        text?: Rule Description, Rule Subtype
        text: suggestion = Rule Suggestion
        text?: operators = Tuning Data
    """),
    vintages=(("2022-03", "Rule Type"),),
    form="document",
)

GRADIENT_SUMMARY = Table(
    name="gradient_summary",
    title=say("gradients of a model that is being tuned: size, group, the operators that produce and reduce them"),
    columns=(
        *columns("integer: gradient = No"),
        Column("gradient_size", ("gradient_size",), "size", needed=True, unit="byte", units=("byte",)),
        *columns("""
            text: data_type
            integer: graph_id
            text: group_name, gradient_node_name, trace_node_name, allreduce_node_name
        """),
    ),
    vintages=(("2025", "gradient_size(byte)"),),
    source="aoe",
)

MSPROF_TX = Table(
    name="msprof_tx",
    title=say("marks and ranges that users added to their code"),
    columns=columns("""
        device
        integer: process_id = pid, thread_id = tid
        text: category, event_type, payload_type, payload_value
        timestamp: start = Start_time, end = End_time
        text: message_type
        free: message
        text?: call_trace, domain
        integer?: mark_id
        timestamp?: device_start = Device Start_time, device_end = Device End_time
    """),
    vintages=(
        ("2025-02", "domain"),
        ("2024-11", "mark_id"),
        ("2023-08", "Start_time(us)"),
        ("2023-02", "call_trace"),
        ("2022-03", "Start_time(ns)"),
    ),
    files=("msprof_tx", "msproftx"),
)

PYTORCH_OPERATOR_VIEW = Table(
    name="pytorch_operator_view",
    title=say("operators that PyTorch marked, with the calls that led to them"),
    columns=columns("""
        integer: process_id = pid, thread_id = tid
        text: op_name = operator_name
        free: call_stack
    """),
    vintages=(("2023-02", "call_stack"),),
)
