"""fusion_op: what the compiler fused, and the memory of it."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, free_text, integer, size, text
from aoe_reports.model.texts import say

FUSION_OP = Table(
    name="fusion_op",
    title=say("fused operators, their source operators and their memory"),
    columns=(
        device(),
        text("model_name", "Model Name"),
        integer("model_id", "Model ID"),
        text("fusion_op", "Fusion Op"),
        free_text("original_ops", "Original Ops"),
        size("memory_input", "Memory Input"),
        size("memory_output", "Memory Output"),
        size("memory_weight", "Memory Weight"),
        size("memory_workspace", "Memory Workspace"),
        size("memory_total", "Memory Total"),
    ),
    vintages=(("2023-08", "Memory Input(KB)"), ("2022-03", "Memory Input(Bytes)")),
)
