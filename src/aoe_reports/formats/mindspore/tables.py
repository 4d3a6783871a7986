"""The tables of MindSpore's own profiler. Units that no header names are proved on real files.

Points of `step_trace_raw` are ticks of 10 ns of the device's counter: the length of a stream's part there is a hundred times what
the timeline beside it has in us, and a tenth of a million of them is a ms of `output_timeline_data`. Times of `aicore_intermediate`,
`aicpu_intermediate`, `cluster_analyse` and `hccl_raw` are ms: their smallest step is 0.00001, the tick; computing and communication alone are a step of
`step_trace_raw`. Headers that an older profiler wrote ("op" where newer ones say "kernel") stand behind the newer ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoe_reports.formats.table import (
    TICK,
    Column,
    Derived,
    Table,
    duration,
    free_text,
    integer,
    number,
    share,
    text,
    timestamp,
)
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    import pyarrow as pa


def _types(names: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.formats.mindspore.kernels import types_of  # noqa: PLC0415 -- to know a file takes no pyarrow

    return types_of(names)


def _cores(types: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.formats.mindspore.kernels import task_types_of  # noqa: PLC0415 -- as above

    return task_types_of(types)


def _no_time(types: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415 -- as above

    return pa.chunked_array([pa.nulls(len(types), pa.int64())])


def _ms(name: str, *headers: str, needed: bool = False) -> Column:
    return duration(name, *headers, needed=needed, unit="ms")


def _point(name: str, header: str) -> Column:
    return timestamp(name, header, unit=TICK)


def _part(name: str, header: str, *, needed: bool = False) -> Column:
    return duration(name, header, needed=needed, unit=TICK)


_STEP = Column("step", ("step_num",), "integer", null_words=("-",))
"""The last row has the means of all others, and "-" for a number."""
_TYPE = Derived(text("op_type"), ("op_name",), _types)
_TASK_TYPE = Derived(text("task_type"), ("op_name",), _cores)

OUTPUT_TIMELINE_DATA = Table(
    name="output_timeline_data",
    title=say("every operator on the device, as MindSpore's own profiler writes it"),
    facts="tasks",
    columns=(
        free_text("op_name", "op_name"),
        integer("stream_id", "stream_id"),
        Column("task_start", ("start_time",), "timestamp", unit="ms", units=("ms",)),
        _ms("task_duration", "duration", needed=True),
    ),
    vintages=(),
    source="mindinsight",
    called=("output_timeline_data_*.txt",),
    identity=("op_name", "stream_id", "task_start_ns", "task_duration_ns"),
    derived=(_TYPE, _TASK_TYPE),
)

AICORE_TYPES = Table(
    name="aicore_intermediate_type",
    title=say("operators of the AI cores grouped by type, as MindSpore's own profiler writes it"),
    facts="sums",
    columns=(
        text("op_type", "kernel_type", "op_type"),
        _ms("total_time", "total_time", "execution_time", needed=True),
        integer("count", "execution_frequency", needed=True),
        share("share", "percent"),
    ),
    vintages=(),
    source="mindinsight",
    called=("aicore_intermediate_*_type.csv",),
    identity=("op_type",),
    derived=(
        Derived(text("task_type"), ("op_type",), _cores),
        Derived(duration("min_time"), ("op_type",), _no_time),
        Derived(duration("max_time"), ("op_type",), _no_time),
    ),
)

AICORE_DETAIL = Table(
    name="aicore_intermediate_detail",
    title=say("operators of the AI cores: the mean time of a call and the number of calls"),
    columns=(
        free_text("op_name", "full_kernel_name", "full_kernel_time", "full_op_name"),
        _ms("mean_time", "execution_time", needed=True),
        integer("count", "execution_frequency", optional=True),
    ),
    vintages=(),
    source="mindinsight",
    called=("aicore_intermediate_*_detail.csv",),
    identity=("op_name",),
    derived=(_TYPE,),
)

STEP_TRACE_RAW = Table(
    name="step_trace_raw",
    title=say("steps: forward, backward, what comes before and behind, as MindSpore's own profiler writes it"),
    facts="steps",
    columns=(
        Column("iteration_id", ("step_num",), "integer", null_words=("-",)),
        _point("iteration_start", "start_point"),
        _point("iteration_end", "end_point"),
        _part("iteration_time", "total", needed=True),
        _point("fp_start", "fp_point"),
        _point("bp_end", "bp_point"),
        _part("data_aug_bound", "iteration_interval"),
        _part("fp_to_bp_time", "fp_and_bp"),
        _part("iteration_refresh", "tail"),
    ),
    vintages=(),
    source="mindinsight",
    called=("step_trace_raw_*_detail_time.csv",),
    identity=("iteration_id", "iteration_end_ns"),
)

CLUSTER_ANALYSE = Table(
    name="cluster_analyse",
    title=say("steps of one rank of a job: computing, and communication that nothing is computed beside"),
    columns=(
        _ms("computing", "computation_time", "computation", needed=True),
        _ms("communication_not_overlapped", "communication_alone_time"),
        duration("stage", "stage_time", optional=True, unit="ms"),
        duration("receive_not_overlapped", "receive_alone_time", optional=True, unit="ms"),
        duration("collective_not_overlapped", "collective_communication_alone_time", optional=True, unit="ms"),
    ),
    vintages=(),
    source="mindinsight",
    called=("ascend_cluster_analyse_*.csv",),
)

AICPU = Table(
    name="aicpu_intermediate",
    title=say("operators on the AI CPU, as MindSpore's own profiler writes it"),
    columns=(
        integer("serial_number", "serial_number"),
        text("op_type", "op_type", "kernel_type"),
        _ms("total_time", "total_time", needed=True),
        _ms("dispatch_time", "dispatch_time"),
        duration("execution_time", "execution_time", optional=True, unit="ms"),
        integer("run_start", "run_start"),
        integer("run_end", "run_end"),
    ),
    vintages=(),
    source="mindinsight",
    called=("aicpu_intermediate_*.csv",),
    identity=("serial_number", "run_start"),
)

HCCL_RAW = Table(
    name="hccl_raw",
    title=say("communication of each step: time, waiting, and what each link carried"),
    columns=(
        _STEP,
        _ms("communication", "communication_cost", needed=True),
        _ms("wait", "wait_cost"),
        free_text("link_info", "link_info"),
        free_text("operators", "communication_operator_cost"),
    ),
    vintages=(),
    source="mindinsight",
    called=("hccl_raw_*.csv",),
    identity=("step",),
)

KERNEL_FLOPS = Table(
    name="kernel_flops",
    title=say("floating point operations of each operator, their rate, and the part of the chip's highest rate"),
    columns=(
        free_text("op_name", "full_kernel_name"),
        number("flops", "FLOPs"),
        number("flops_per_s", "FLOPS"),
        number("utilization_percent", "FLOPS utilization"),
    ),
    vintages=(),
    source="mindinsight",
    called=("flops_*.txt",),
)

FRAMEWORK_RAW = Table(
    name="framework_raw",
    title=say("the kernels of a graph: stream, blocks, type, and the shapes and types of what goes in and comes out"),
    columns=(
        integer("task_id", "task_id"),
        integer("stream_id", "stream_id"),
        integer("block_num", "block_dim"),
        free_text("op_name", "full_kernel_name", "full_op_name"),
        free_text("framework_name", "op_name"),
        free_text("kernel_name", "kernel_name", optional=True),
        text("op_type", "kernel_type", "op_type"),
        text("subgraph", "subgraph"),
        free_text("op_info", "op_info"),
        integer("graph_id", "graph_id", optional=True),
    ),
    vintages=(),
    source="mindinsight",
    called=("framework_raw_*.csv",),
)

MINDDATA_PIPELINE_RAW = Table(
    name="minddata_pipeline_raw",
    title=say("the operators of the data pipeline and how full their queues were"),
    columns=(
        integer("op_id", "op_id", needed=True),
        text("op_type", "op_type"),
        integer("workers", "num_workers"),
        free_text("queue_sizes", "output_queue_size"),
        number("queue_average", "output_queue_average_size"),
        integer("queue_length", "output_queue_length"),
        number("queue_usage", "output_queue_usage_rate"),
        integer("sample_interval_ms", "sample_interval"),
        integer("parent_id", "parent_id"),
        free_text("children_ids", "children_id"),
    ),
    vintages=(),
    source="mindinsight",
    called=("minddata_pipeline_raw_*.csv",),
    identity=("op_id",),
)

TABLES = {
    table.name: table
    for table in (
        OUTPUT_TIMELINE_DATA,
        AICORE_TYPES,
        AICORE_DETAIL,
        AICPU,
        STEP_TRACE_RAW,
        CLUSTER_ANALYSE,
        HCCL_RAW,
        KERNEL_FLOPS,
        FRAMEWORK_RAW,
        MINDDATA_PIPELINE_RAW,
    )
}
