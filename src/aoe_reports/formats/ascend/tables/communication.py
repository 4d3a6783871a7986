"""communication.json and communication_matrix.json of torch_npu, laid out flat: who talked to whom, how long, how fast."""

from __future__ import annotations

from aoe_reports.formats.table import Column, Table, duration, integer, number, size, text, timestamp
from aoe_reports.model.texts import say


def _operator(*, last: tuple[Column, ...] = ()) -> tuple[Column, ...]:
    return (
        text("step", "step"),
        text("type", "type"),
        text("op_name", "op_name"),
        text("group", "group"),
        *last,
    )


COMMUNICATION = Table(
    name="communication",
    title=say("communication operators: start, duration, waiting time"),
    columns=(
        *_operator(),
        timestamp("start", "Start Timestamp"),
        duration("elapsed", "Elapse Time", needed=True, unit="ms"),
        duration("transit", "Transit Time", unit="ms"),
        duration("wait", "Wait Time", unit="ms"),
        duration("synchronization", "Synchronization Time", unit="ms"),
        duration("idle", "Idle Time", unit="ms", is_rest=True),
        number("wait_ratio", "Wait Time Ratio", optional=True),
        number("synchronization_ratio", "Synchronization Time Ratio", optional=True),
    ),
    vintages=(("2023-09", "Elapse Time(ms)"),),
    source="torch_npu",
    form="document",
    identity=("step", "type", "op_name", "group"),
)

COMMUNICATION_BANDWIDTH = Table(
    name="communication_bandwidth",
    title=say("communication operators by transport: volume, time, bandwidth"),
    columns=(
        *_operator(last=(text("transport", "transport"),)),
        size("transit", "Transit Size", unit="MB", decimal=True),
        duration("transit", "Transit Time", needed=True, unit="ms"),
        number("bandwidth_gb_per_s", "Bandwidth(GB/s)"),
        number("large_packet_ratio", "Large Packet Ratio", optional=True),
        text("size_distribution", "Size Distribution", optional=True),
    ),
    vintages=(("2023-09", "Transit Time(ms)"),),
    source="torch_npu",
    files=("communication",),
    form="document",
    identity=("step", "type", "op_name", "group", "transport"),
)

COMMUNICATION_MATRIX = Table(
    name="communication_matrix",
    title=say("communication between each pair of ranks: transport, volume, time, bandwidth"),
    columns=(
        *_operator(last=(integer("source_rank", "source_rank"), integer("destination_rank", "destination_rank"))),
        text("transport", "Transport Type"),
        size("transit", "Transit Size", unit="MB", decimal=True),
        duration("transit", "Transit Time", needed=True, unit="ms"),
        number("bandwidth_gb_per_s", "Bandwidth(GB/s)"),
        text("hccl_op_name", "Op Name", optional=True),
    ),
    vintages=(("2023-09", "Transport Type"),),
    source="torch_npu",
    form="document",
    identity=("step", "type", "op_name", "group", "source_rank", "destination_rank"),
)
