"""Memory of the device: in use over time, by component, and by operator."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, free_text, integer, size, text, timestamp
from aoe_reports.model.texts import say

NPU_MEM = Table(
    name="npu_mem",
    title=say("device memory used by the process and by all processes, over time"),
    columns=(
        device(),
        text("event", "event"),
        size("ddr", "ddr"),
        size("hbm", "hbm"),
        size("memory", "memory"),
        timestamp("timestamp", "timestamp"),
    ),
    vintages=(("2023-03", "event"),),
)

NPU_MODULE_MEM = Table(
    name="npu_module_mem",
    title=say("memory that components of CANN hold, over time"),
    columns=(
        device(),
        text("component", "Component"),
        timestamp("timestamp", "Timestamp"),
        size("total_reserved", "Total Reserved"),
        text("device", "Device"),
    ),
    vintages=(("2023-11", "Component"),),
    source="both",
)

MEMORY_RECORD = Table(
    name="memory_record",
    title=say("memory that components hold and use, over time"),
    columns=(
        device(),
        text("component", "Component"),
        timestamp("timestamp", "Timestamp"),
        size("total_allocated", "Total Allocated"),
        size("total_reserved", "Total Reserved"),
        size("total_active", "Total Active", optional=True),
        integer("stream_ptr", "Stream Ptr", optional=True),
        text("device", "Device", "Device Type"),
    ),
    vintages=(("2024-01", "Total Active(MB)"), ("2023-06", "Total Allocated(KB)"), ("2023-06", "Total Allocated(MB)")),
    source="both",
    files=("memory_record", "ge_memory_record"),
)

OPERATOR_MEMORY = Table(
    name="operator_memory",
    title=say("memory used by each operator, and for how long"),
    columns=(
        device(),
        free_text("op_name", "Name"),
        size("size", "Size"),
        timestamp("allocation", "Allocation Time"),
        timestamp("release", "Release Time", optional=True),
        timestamp("active_release", "Active Release Time", optional=True),
        duration("duration", "Duration"),
        duration("active_duration", "Active Duration", optional=True),
        size("allocation_total_allocated", "Allocation Total Allocated"),
        size("allocation_total_reserved", "Allocation Total Reserved"),
        size("allocation_total_active", "Allocation Total Active", optional=True),
        size("release_total_allocated", "Release Total Allocated"),
        size("release_total_reserved", "Release Total Reserved"),
        size("release_total_active", "Release Total Active", optional=True),
        integer("stream_ptr", "Stream Ptr", optional=True),
        text("device", "Device", "Device Type"),
    ),
    vintages=(
        ("2024-01", "Active Release Time(us)"),
        ("2023-06", "Allocation Total Allocated(KB)"),
        ("2023-06", "Release Time(us)"),
    ),
    source="both",
    files=("operator_memory", "ge_operator_memory"),
)

STATIC_OP_MEM = Table(
    name="static_op_mem",
    title=say("memory of operators in graphs of static shape"),
    columns=(
        device(),
        free_text("op_name", "Op Name"),
        text("model_name", "Model Name"),
        integer("graph_id", "Graph ID"),
        integer("node_index_start", "Node Index Start"),
        integer("node_index_end", "Node Index End"),
        size("size", "Size"),
    ),
    vintages=(("2024-05", "Graph ID"),),
    source="both",
)
