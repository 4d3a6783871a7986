"""communication.json and communication_matrix.json of torch_npu, laid out flat: who talked to whom, how long, how fast."""

from __future__ import annotations

from aoe_reports.formats.table import Table, columns
from aoe_reports.model.texts import say

COMMUNICATION = Table(
    name="communication",
    title=say("communication operators: start, duration, waiting time"),
    columns=columns("""
        text: step, type, op_name, group
        timestamp: start = Start Timestamp
        duration! ms: elapsed = Elapse Time
        duration ms: transit = Transit Time, wait = Wait Time, synchronization = Synchronization Time
        duration ms rest: idle = Idle Time
        number?: wait_ratio = Wait Time Ratio, synchronization_ratio = Synchronization Time Ratio
    """),
    vintages=(("2023-09", "Elapse Time(ms)"),),
    source="torch_npu",
    form="document",
    identity=("step", "type", "op_name", "group"),
)

COMMUNICATION_BANDWIDTH = Table(
    name="communication_bandwidth",
    title=say("communication operators by transport: volume, time, bandwidth"),
    columns=columns("""
        text: step, type, op_name, group, transport
        size MB decimal: transit = Transit Size
        duration! ms: transit = Transit Time
        number: Bandwidth(GB/s)
        number?: Large Packet Ratio
        text?: Size Distribution
    """),
    vintages=(("2023-09", "Transit Time(ms)"),),
    source="torch_npu",
    files=("communication",),
    form="document",
    identity=("step", "type", "op_name", "group", "transport"),
)

COMMUNICATION_MATRIX = Table(
    name="communication_matrix",
    title=say("communication between each pair of ranks: transport, volume, time, bandwidth"),
    columns=columns("""
        text: step, type, op_name, group
        integer: source_rank, destination_rank
        text: transport = Transport Type
        size MB decimal: transit = Transit Size
        duration! ms: transit = Transit Time
        number: Bandwidth(GB/s)
        text?: hccl_op_name = Op Name
    """),
    vintages=(("2023-09", "Transport Type"),),
    source="torch_npu",
    form="document",
    identity=("step", "type", "op_name", "group", "source_rank", "destination_rank"),
)
