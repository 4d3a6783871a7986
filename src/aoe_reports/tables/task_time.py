"""task_time: every task of the device with its start and stop, without shapes or counters."""

from __future__ import annotations

from aoe_reports.tables.table import Table, duration, integer, text, timestamp

TASK_TIME = Table(
    name="task_time",
    title="every task on the device with start and stop",
    columns=(
        integer("device_id", "Device_id", optional=True),
        text("op_name", "kernel_name"),
        text("task_type", "kernel_type"),
        integer("stream_id", "stream_id"),
        integer("task_id", "task_id"),
        duration("task_duration", "task_time", needed=True),
        timestamp("task_start", "task_start"),
        timestamp("task_stop", "task_stop"),
    ),
    vintages=(("2023-09", "Device_id"), ("2023-08", "task_start(us)"), ("2022-03", "task_start(ns)")),
)
