"""step_trace (msprof, one row an iteration) and step_trace_time (torch_npu, one row a step)."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, integer, text, timestamp
from aoe_reports.model.texts import say

STEP_TRACE = Table(
    name="step_trace",
    title=say("training iterations: forward, backward, refresh, data augmentation, reduces"),
    facts="steps",
    columns=(
        device(),
        integer("iteration_id", "Iteration ID", needed=True),
        timestamp("fp_start", "FP Start"),
        timestamp("bp_end", "BP End"),
        timestamp("iteration_end", "Iteration End"),
        duration("iteration_time", "Iteration Time", needed=True),
        duration("fp_to_bp_time", "FP to BP Time"),
        duration("iteration_refresh", "Iteration Refresh", "Grad Refresh Bound"),
        duration("data_aug_bound", "Data Aug Bound"),
        integer("model_id", "Model ID", optional=True),
        timestamp("reduce_start", "Reduce Start", optional=True),
        # the C++ exporter subtracts start and end the wrong way round for the first reduce of an iteration
        duration("reduce_duration", "Reduce Duration", optional=True, wraps=True),
    ),
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

_PARTS = (
    duration("computing", "Computing", needed=True),
    duration("communication_not_overlapped", "Communication(Not Overlapped)", needed=True),
    duration("overlapped", "Overlapped", needed=True),
    duration("communication", "Communication", needed=True),
    duration("free", "Free", needed=True),
    duration("stage", "Stage", optional=True),
    duration("bubble", "Bubble", optional=True),
    duration(
        "communication_not_overlapped_excluding_receive",
        "Communication(Not Overlapped and Exclude Receive)",
        optional=True,
    ),
    duration("preparing", "Preparing", optional=True),
)

STEP_TRACE_TIME = Table(
    name="step_trace_time",
    title=say("steps: computing, communication, overlapped and free time"),
    facts="steps",
    columns=(device(), integer("step", "Step"), *_PARTS),
    vintages=(("2025-01", "Preparing"), ("2023-09", "Step")),
    source="torch_npu",
    identity=("device_id", "step"),
)

CLUSTER_STEP_TRACE_TIME = Table(
    name="cluster_step_trace_time",
    title=say("steps of every rank and every pipeline stage of a job"),
    columns=(
        integer("step", "Step"),
        text("type", "Type"),
        text("index", "Index"),
        *_PARTS,
    ),
    vintages=(("2025-01", "Preparing"), ("2023-09", "Index")),
    source="torch_npu",
    identity=("step", "type", "index"),
)
