"""operator_details: PyTorch's operators on the host, with the device time that they caused."""

from __future__ import annotations

from aoe_reports.formats.table import Table, duration, free_text, text
from aoe_reports.model.texts import say

OPERATOR_DETAILS = Table(
    name="operator_details",
    title=say("PyTorch's operators: shapes, call stack, time on the host and on the device"),
    columns=(
        free_text("op_name", "Name"),
        text("input_shapes", "Input Shapes"),
        text("call_stack", "Call Stack", optional=True),
        duration("host_self_duration", "Host Self Duration", needed=True),
        duration("host_total_duration", "Host Total Duration", needed=True),
        duration("device_self_duration", "Device Self Duration"),
        duration("device_total_duration", "Device Total Duration"),
        duration("device_self_duration_with_ai_core", "Device Self Duration With AICore"),
        duration("device_total_duration_with_ai_core", "Device Total Duration With AICore"),
    ),
    vintages=(("2023-09", "Host Self Duration(us)"),),
    source="torch_npu",
    multiline=True,
)
