"""op_statistic and communication_statistic: tasks grouped by type."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, integer, share, text
from aoe_reports.model.texts import say

_TIMES = (
    integer("count", "Count", needed=True),
    duration("total_time", "Total Time", needed=True),
    duration("min_time", "Min Time"),
    duration("avg_time", "Avg Time"),
    duration("max_time", "Max Time"),
    share("share", "Ratio", optional=True),
)

OP_STATISTIC = Table(
    name="op_statistic",
    title=say("tasks grouped by operator type and core type"),
    facts="sums",
    columns=(
        device(),
        text("model_name", "Model Name", optional=True),
        text("op_type", "OP Type"),
        text("task_type", "Core Type"),
        *_TIMES,
    ),
    vintages=(("2022-03", "OP Type"),),
    source="both",
    identity=("device_id", "model_name", "op_type", "task_type"),
)

COMMUNICATION_STATISTIC = Table(
    name="communication_statistic",
    title=say("communication operators grouped by type (hccl_statistic before 2025-02)"),
    facts="communication",
    columns=(device(), text("op_type", "OP Type"), *_TIMES),
    vintages=(("2023-08", "OP Type"),),
    files=("communication_statistic", "hccl_statistic"),
    identity=("device_id", "op_type"),
)
