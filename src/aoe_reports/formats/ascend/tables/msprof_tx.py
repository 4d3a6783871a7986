"""msprof_tx: what users marked in their own code; pytorch_operator_view: what PyTorch marked for a year."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, free_text, integer, text, timestamp
from aoe_reports.model.texts import say

MSPROF_TX = Table(
    name="msprof_tx",
    title=say("marks and ranges that users added to their code"),
    columns=(
        device(),
        integer("process_id", "pid"),
        integer("thread_id", "tid"),
        text("category", "category"),
        text("event_type", "event_type"),
        text("payload_type", "payload_type"),
        text("payload_value", "payload_value"),
        timestamp("start", "Start_time"),
        timestamp("end", "End_time"),
        text("message_type", "message_type"),
        free_text("message", "message"),
        text("call_trace", "call_trace", optional=True),
        text("domain", "domain", optional=True),
        integer("mark_id", "mark_id", optional=True),
        timestamp("device_start", "Device Start_time", optional=True),
        timestamp("device_end", "Device End_time", optional=True),
    ),
    vintages=(
        ("2025-02", "domain"),
        ("2024-11", "mark_id"),
        ("2023-08", "Start_time(us)"),
        ("2023-02", "call_trace"),
        ("2022-03", "Start_time(ns)"),
    ),
    files=("msprof_tx", "msproftx"),
)

PYTORCH_OPERATOR_VIEW = Table(
    name="pytorch_operator_view",
    title=say("operators that PyTorch marked, with the calls that led to them"),
    columns=(
        integer("process_id", "pid"),
        integer("thread_id", "tid"),
        text("op_name", "operator_name"),
        free_text("call_stack", "call_stack"),
    ),
    vintages=(("2023-02", "call_stack"),),
)
