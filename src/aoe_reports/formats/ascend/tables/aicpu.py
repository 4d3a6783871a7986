"""What runs on the AI CPU: its operators, its queues, and the data preprocessing."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, free_text, integer, text, timestamp
from aoe_reports.model.texts import say

AICPU = Table(
    name="aicpu",
    title=say("operators on the AI CPU, by phase; ms until 2023-07, us since"),
    columns=(
        device(),
        # a header without unit means what the times beside it say: the exporter changed both at once
        timestamp("timestamp", "Timestamp", unit="total_time_ns"),
        free_text("node", "Node"),
        duration("compute_time", "Compute_time", units=("us", "ms")),
        duration("memcpy_time", "Memcpy_time", units=("us", "ms")),
        duration("task_time", "Task_time", units=("us", "ms")),
        duration("dispatch_time", "Dispatch_time", units=("us", "ms")),
        duration("total_time", "Total_time", needed=True, units=("us", "ms")),
        integer("stream_id", "Stream ID", optional=True),
        integer("task_id", "Task ID", optional=True),
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
    columns=(
        device(),
        free_text("node_name", "Node Name"),
        timestamp("start", "Start Time"),
        timestamp("end", "End Time"),
        integer("queue_size", "Queue Size"),
    ),
    vintages=(("2024-05", "Queue Size"),),
)

DP = Table(
    name="dp",
    title=say("data preprocessing: items taken from each queue"),
    columns=(
        device(),
        timestamp("timestamp", "Timestamp", unit="ns"),
        free_text("action", "Action"),
        text("source", "Source"),
        integer("cached_buffer_size", "Cached Buffer Size"),
    ),
    vintages=(("2023-08", "Timestamp(us)"), ("2022-03", "Cached Buffer Size")),
)
