"""op_statistic: the tasks of op_summary grouped by operator type and core type."""

from __future__ import annotations

from aoe_reports.tables.table import Table, duration, integer, number, text

OP_STATISTIC = Table(
    name="op_statistic",
    title="tasks grouped by operator type and core type",
    columns=(
        integer("device_id", "Device_id", optional=True),
        text("model_name", "Model Name", optional=True),
        text("op_type", "OP Type"),
        text("task_type", "Core Type"),
        integer("count", "Count", needed=True),
        duration("total_time", "Total Time", needed=True),
        duration("min_time", "Min Time"),
        duration("avg_time", "Avg Time"),
        duration("max_time", "Max Time"),
        number("ratio_percent", "Ratio", optional=True),
    ),
    vintages=(("2022-03", "OP Type"),),
)
