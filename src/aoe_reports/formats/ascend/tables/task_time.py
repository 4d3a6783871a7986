"""task_time: every task of the device with its start and stop, without shapes or counters."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, free_text, integer, share, text, timestamp
from aoe_reports.model.texts import say

TASK_TIME = Table(
    name="task_time",
    title=say("every task on the device with start and stop"),
    facts="kernels",
    columns=(
        device(),
        free_text("op_name", "kernel_name"),
        text("task_type", "kernel_type"),
        integer("stream_id", "stream_id"),
        integer("task_id", "task_id"),
        duration("task_duration", "task_time", needed=True),
        timestamp("task_start", "task_start"),
        timestamp("task_stop", "task_stop"),
    ),
    vintages=(("2023-09", "Device_id"), ("2023-08", "task_start(us)"), ("2022-03", "task_start(ns)")),
    identity=("device_id", "op_name", "task_type", "stream_id", "task_id", "task_duration_ns", "task_start_ns"),
)

TASK_TIME_STATISTIC = Table(
    name="task_time_statistic",
    title=say("tasks grouped by operator, in the form that old exporters used for task_time"),
    columns=(
        device(),
        share("share", "Time(%)"),
        duration("total_time", "Time(us)", needed=True),
        integer("count", "Count", needed=True),
        duration("avg_time", "Avg"),
        duration("min_time", "Min"),
        duration("max_time", "Max"),
        duration("waiting_time", "Waiting"),
        duration("running_time", "Running"),
        duration("pending_time", "Pending"),
        text("task_type", "Type"),
        text("api_name", "API"),
        integer("task_id", "Task ID"),
        free_text("op_name", "Op Name"),
        integer("stream_id", "Stream ID"),
    ),
    vintages=(("2022-03", "Time(%)"),),
    files=("task_time",),
)
