"""op_summary and kernel_details: one row a task. torch_npu's kernel_details is op_summary under other headers."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, free_text, integer, text, timestamp
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

OP_SUMMARY = Table(
    name="op_summary",
    title=say("every task on the device, with shapes and PMU counters"),
    facts="tasks",
    columns=(
        device(),
        integer("step", "Step Id", optional=True),
        text("model_name", "Model Name", optional=True),
        integer("model_id", "Model ID", optional=True),
        integer("task_id", "Task ID", optional=True),
        integer("stream_id", "Stream ID", optional=True),
        integer("infer_id", "Infer ID", optional=True),
        free_text("op_name", "Op Name"),
        text("op_type", "OP Type"),
        text("op_state", "OP State", optional=True),
        text("task_type", "Task Type"),
        # "Start Time(us)": one real file of 2023-09 has torch_npu's word in msprof's table
        timestamp("task_start", "Task Start Time", "Start Time"),
        duration("task_duration", "Task Duration", needed=True),
        duration("task_wait", "Task Wait Time", optional=True),
        integer("block_num", "Block Num", "Block Dim", optional=True),
        integer("mix_block_num", "Mix Block Num", "Mix Block Dim", optional=True),
        text("hf32_eligible", "HF32 Eligible", optional=True),
        text("input_shapes", "Input Shapes", optional=True),
        text("input_data_types", "Input Data Types", optional=True),
        text("input_formats", "Input Formats", optional=True),
        text("output_shapes", "Output Shapes", optional=True),
        text("output_data_types", "Output Data Types", optional=True),
        text("output_formats", "Output Formats", optional=True),
        integer("context_id", "Context ID", optional=True),
    ),
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
    columns=(
        integer("step", "Step Id", optional=True),
        device(),
        integer("model_id", "Model ID", optional=True),
        integer("task_id", "Task ID", optional=True),
        integer("stream_id", "Stream ID", optional=True),
        free_text("op_name", "Name"),
        text("op_type", "Type"),
        text("op_state", "OP State", optional=True),
        text("task_type", "Accelerator Core"),
        timestamp("task_start", "Start Time"),
        duration("task_duration", "Duration", needed=True),
        duration("task_wait", "Wait Time", optional=True),
        *(
            column
            for column in OP_SUMMARY.columns
            if column.name.startswith(("block", "mix", "hf32", "input", "output", "context"))
        ),
    ),
    vintages=(
        ("2026-01", "Block Num"),
        ("2024-02", "OP State"),
        ("2023-09", "Accelerator Core"),
    ),
    source="torch_npu",
    identity=_IDENTITY,
)
