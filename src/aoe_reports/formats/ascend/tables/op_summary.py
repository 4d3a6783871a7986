"""op_summary and kernel_details: one row a task. torch_npu's kernel_details is op_summary under other headers."""

from __future__ import annotations

from aoe_reports.formats.table import Table, columns
from aoe_reports.model.texts import say

COMMUNICATION_TASKS = frozenset({"HCCL", "COMMUNICATION"})
"""Task types that op_statistic leaves out; everything else is a compute task (seen on real exports)."""

OPERATOR_TASKS = frozenset({"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"})
"""Task types of operators on the device in tables of tasks (seen on real exports)."""

COMPUTE_TASKS = OPERATOR_TASKS | {"KERNEL_AICORE", "KERNEL_AIVEC", "STARS_COMMON"}
"""Task types of operators (tasks that have a name) in task_time and timelines; the last three are those of level 0."""

TASK_TYPES = COMMUNICATION_TASKS | OPERATOR_TASKS
"""Every task type that real tables of tasks hold."""

_IDENTITY = (
    "device_id", "model_id", "stream_id", "task_id", "context_id", "op_name", "task_start_ns", "task_duration_ns",
)  # fmt: skip

_OPERANDS = """
        integer?: Block Num | Block Dim, Mix Block Num | Mix Block Dim
        text?: HF32 Eligible, Input Shapes, Input Data Types, Input Formats
        text?: Output Shapes, Output Data Types, Output Formats
        integer?: Context ID
"""

OP_SUMMARY = Table(
    name="op_summary",
    title=say("every task on the device, with shapes and PMU counters"),
    facts="tasks",
    columns=columns(f"""
        device
        integer?: step = Step Id
        text?: Model Name
        integer?: Model ID, Task ID, Stream ID, Infer ID
        free: Op Name
        text: OP Type
        text?: OP State
        text: Task Type
        # "Start Time(us)": one real file of 2023-09 has torch_npu's word in msprof's table
        timestamp: task_start = Task Start Time | Start Time
        duration!: Task Duration
        duration?: task_wait = Task Wait Time
        {_OPERANDS}
    """),
    vintages=(
        ("2026-01", "Block Num"),
        ("2024-02", "OP State"),
        ("2023-09", "HF32 Eligible"),
        ("2023-08", "Task Start Time(us)"),
        ("2022-11", "Mix Block Dim"),
        ("2022-03", "Op Name"),
    ),
    identity=_IDENTITY,
)

KERNEL_DETAILS = Table(
    name="kernel_details",
    title=say("every task on the device, as torch_npu writes it"),
    facts="tasks",
    columns=columns(f"""
        integer?: step = Step Id
        device
        integer?: Model ID, Task ID, Stream ID
        free: op_name = Name
        text: op_type = Type
        text?: OP State
        text: task_type = Accelerator Core
        timestamp: task_start = Start Time
        duration!: task_duration = Duration
        duration?: task_wait = Wait Time
        {_OPERANDS}
    """),
    vintages=(("2026-01", "Block Num"), ("2024-02", "OP State"), ("2023-09", "Accelerator Core")),
    source="torch_npu",
    identity=_IDENTITY,
)
