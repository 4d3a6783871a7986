"""Memory of the device: in use over time, by component, and by operator."""

from __future__ import annotations

from aoe_reports.formats.table import Table, columns
from aoe_reports.model.texts import say

NPU_MEM = Table(
    name="npu_mem",
    title=say("device memory used by the process and by all processes, over time"),
    columns=columns("""
        device
        text: event
        size: ddr, hbm
        size!: memory
        timestamp: timestamp
    """),
    vintages=(("2023-03", "event"),),
)

NPU_MODULE_MEM = Table(
    name="npu_module_mem",
    title=say("memory that components of CANN hold, over time"),
    columns=columns("""
        device
        text: Component
        timestamp: Timestamp
        size!: Total Reserved
        text: Device
    """),
    vintages=(("2023-11", "Component"),),
    source="both",
)

MEMORY_RECORD = Table(
    name="memory_record",
    title=say("memory that components hold and use, over time"),
    columns=columns("""
        device
        text: Component
        timestamp: Timestamp
        size: Total Allocated, Total Reserved
        size?: Total Active
        integer?: Stream Ptr
        text: Device | Device Type
    """),
    vintages=(("2024-01", "Total Active(MB)"), ("2023-06", "Total Allocated(KB)"), ("2023-06", "Total Allocated(MB)")),
    source="both",
    files=("memory_record", "ge_memory_record"),
    spilled=True,
)

OPERATOR_MEMORY = Table(
    name="operator_memory",
    title=say("memory used by each operator, and for how long"),
    columns=columns("""
        device
        free: op_name = Name
        size!: Size
        timestamp: allocation = Allocation Time
        timestamp?: release = Release Time, active_release = Active Release Time
        duration: Duration
        duration?: Active Duration
        size: Allocation Total Allocated, Allocation Total Reserved
        size?: Allocation Total Active
        size: Release Total Allocated, Release Total Reserved
        size?: Release Total Active
        integer?: Stream Ptr
        text: Device | Device Type
    """),
    vintages=(
        ("2024-01", "Active Release Time(us)"),
        ("2023-06", "Allocation Total Allocated(KB)"),
        ("2023-06", "Release Time(us)"),
    ),
    source="both",
    files=("operator_memory", "ge_operator_memory"),
    spilled=True,
    # two allocations never leave the same sum
    identity=(
        "device_id",
        "device",
        "op_name",
        "size_bytes",
        "allocation_ns",
        "release_ns",
        "allocation_total_allocated_bytes",
    ),
)

STATIC_OP_MEM = Table(
    name="static_op_mem",
    title=say("memory of operators in graphs of static shape"),
    columns=columns("""
        device
        free: Op Name
        text: Model Name
        integer: Graph ID, Node Index Start, Node Index End
        size: Size
    """),
    vintages=(("2024-05", "Graph ID"),),
    source="both",
)
