"""gradient_summary: the gradients that AOE's gradient tuning (GDAT) met, and the operators that reduce them."""

from __future__ import annotations

from aoe_reports.formats.table import Column, Table, integer, text
from aoe_reports.model.texts import say

GRADIENT_SUMMARY = Table(
    name="gradient_summary",
    title=say("gradients of a model that is being tuned: size, group, the operators that produce and reduce them"),
    columns=(
        integer("gradient", "No"),
        Column("gradient_size", ("gradient_size",), "size", needed=True, unit="byte", units=("byte",)),
        text("data_type", "data_type"),
        integer("graph_id", "graph_id"),
        text("group_name", "group_name"),
        text("gradient_node_name", "gradient_node_name"),
        text("trace_node_name", "trace_node_name"),
        text("allreduce_node_name", "allreduce_node_name"),
    ),
    vintages=(("2025", "gradient_size(byte)"),),
    source="aoe",
)
