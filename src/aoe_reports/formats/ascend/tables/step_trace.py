"""step_trace (msprof, one row an iteration) and step_trace_time (torch_npu, one row a step)."""

from __future__ import annotations

from aoe_reports.formats.table import Table, columns
from aoe_reports.model.texts import say

STEP_TRACE = Table(
    name="step_trace",
    title=say("training iterations: forward, backward, refresh, data augmentation, reduces"),
    facts="steps",
    columns=columns("""
        device
        integer!: Iteration ID
        timestamp: FP Start, BP End, Iteration End
        duration!: Iteration Time
        duration: FP to BP Time, Iteration Refresh | Grad Refresh Bound, Data Aug Bound
        integer?: Model ID
        timestamp?: Reduce Start
        # the C++ exporter subtracts start and end the wrong way round for the first reduce of an iteration
        duration? wraps: Reduce Duration
    """),
    vintages=(
        ("2023-08", "FP Start(us)"),
        ("2022-04", "Iteration Refresh(us)"),
        ("2022-03", "Grad Refresh Bound(us)"),
    ),
    repeating=("reduce_start", "reduce_duration"),
    rising="iteration_end_ns",
    whole_in_each_file=True,
    identity=("device_id", "model_id", "iteration_id", "iteration_end_ns"),
)

_PARTS = """
    duration!: Computing, Communication(Not Overlapped), Overlapped, Communication, Free
    duration?: Stage, Bubble
    duration?: communication_not_overlapped_excluding_receive = Communication(Not Overlapped and Exclude Receive)
    duration?: Preparing
"""

STEP_TRACE_TIME = Table(
    name="step_trace_time",
    title=say("steps: computing, communication, overlapped and free time"),
    facts="steps",
    columns=columns(f"device\ninteger: Step{_PARTS}"),
    vintages=(("2025-01", "Preparing"), ("2023-09", "Step")),
    source="torch_npu",
    identity=("device_id", "step"),
)

CLUSTER_STEP_TRACE_TIME = Table(
    name="cluster_step_trace_time",
    title=say("steps of every rank and every pipeline stage of a job"),
    columns=columns(f"integer: Step\ntext: Type, Index{_PARTS}"),
    vintages=(("2025-01", "Preparing"), ("2023-09", "Index")),
    source="torch_npu",
    identity=("step", "type", "index"),
)
