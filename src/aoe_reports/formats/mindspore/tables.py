"""The tables of MindSpore's own profiler. Units that no header names are proved on real files.

Points of `step_trace_raw` are ticks of 10 ns of the device's counter: the length of a stream's part there is a hundred times what
the timeline beside it has in us, and a tenth of a million of them is a ms of `output_timeline_data`. Times of `aicore_intermediate`,
`aicpu_intermediate`, `cluster_analyse` and `hccl_raw` are ms: their smallest step is 0.00001, the tick; computing and communication alone are a step of
`step_trace_raw`. Headers that an older profiler wrote ("op" where newer ones say "kernel") stand behind the newer ones.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from aoe_reports.formats.mindspore.names import COMMUNICATION
from aoe_reports.formats.table import TICK, Column, Derived, Table, columns, duration, text, timestamp
from aoe_reports.model.texts import Text, say

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = re.compile(r"-op\d+$", re.ASCII)
COMMUNICATION_TYPES = frozenset(
    {
        "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AllToAll", "AllToAllv", "AlltoAll", "AlltoAllV", "Send", "Receive",
        "NeighborExchange", "NeighborExchangeV2", "Reduce", "Barrier", "CollectiveScatter", "CollectiveGather",
    }
)  # fmt: skip
"""The operators of `mindspore.ops` that send (its reference, communication operators)."""


def type_of(kernel: str) -> str:
    """The type of an operator: `Default/network/_backbone/fc3-Dense/MatMul-op97` is a MatMul (as in all real files)."""
    return _NUMBER.sub("", kernel.rpartition("/")[2])


def _types(names: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.model.arrays.columns import words_told  # noqa: PLC0415 -- to know a file takes no pyarrow

    return words_told(names, type_of)


def _task_types(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """`HCCL` for operators that communicate; for others these files do not name the core."""
    from aoe_reports.model.arrays.columns import words_told  # noqa: PLC0415 -- as above

    return words_told(names, lambda name: COMMUNICATION if type_of(name) in COMMUNICATION_TYPES else None)


def _no_time(types: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa  # noqa: PLC0415 -- as above

    return pa.chunked_array([pa.nulls(len(types), pa.int64())])


def _number(name: str, *headers: str) -> Column:
    """A column of numbers; the last row has the means of all others, and "-" for a number."""
    return Column(name, headers, "integer", null_words=("-",))


def _start(name: str, *headers: str) -> Column:
    return Column(name, headers, "timestamp", unit="ms", units=("ms",))


_KINDS: dict[str, Any] = {
    "row": _number,
    "start": _start,
    "point": partial(timestamp, unit=TICK),
    "part": partial(duration, unit=TICK),
}


def _table(name: str, file: str, title: Text, lines: str, **more: Any) -> Table:
    declared = columns(lines, **_KINDS)
    return Table(name=name, title=title, columns=declared, vintages=(), source="mindinsight", called=(file,), **more)


_TYPE = Derived(text("op_type"), ("op_name",), _types)
KERNEL_FLOPS = _table(
    "kernel_flops",
    "flops_*.txt",
    say("floating point operations of each operator, their rate, and the part of the chip's highest rate"),
    """
        free: op_name = full_kernel_name
        number: FLOPs, flops_per_s = FLOPS, utilization_percent = FLOPS utilization
    """,
)
_TABLES = (
    _table(
        "output_timeline_data",
        "output_timeline_data_*.txt",
        say("every operator on the device, as MindSpore's own profiler writes it"),
        """
            free: op_name
            integer: stream_id
            start: task_start = start_time
            duration! ms: task_duration = duration
        """,
        facts="tasks",
        identity=("op_name", "stream_id", "task_start_ns", "task_duration_ns"),
        derived=(_TYPE, Derived(text("task_type"), ("op_name",), _task_types)),
    ),
    _table(
        "aicore_intermediate_type",
        "aicore_intermediate_*_type.csv",
        say("operators of the AI cores grouped by type, as MindSpore's own profiler writes it"),
        """
            text: op_type = kernel_type | op_type
            duration! ms: total_time | execution_time
            integer!: count = execution_frequency
            share: share = percent
        """,
        facts="sums",
        identity=("op_type",),
        derived=(
            Derived(text("task_type"), ("op_type",), _task_types),
            Derived(duration("min_time"), ("op_type",), _no_time),
            Derived(duration("max_time"), ("op_type",), _no_time),
        ),
    ),
    _table(
        "aicore_intermediate_detail",
        "aicore_intermediate_*_detail.csv",
        say("operators of the AI cores: the mean time of a call and the number of calls"),
        """
            free: op_name = full_kernel_name | full_kernel_time | full_op_name
            duration! ms: mean_time = execution_time
            integer?: count = execution_frequency
        """,
        identity=("op_name",),
        derived=(_TYPE,),
    ),
    _table(
        "aicpu_intermediate",
        "aicpu_intermediate_*.csv",
        say("operators on the AI CPU, as MindSpore's own profiler writes it"),
        """
            integer: serial_number
            text: op_type | kernel_type
            duration! ms: total_time
            duration ms: dispatch_time
            duration? ms: execution_time
            integer: run_start, run_end
        """,
        identity=("serial_number", "run_start"),
    ),
    _table(
        "step_trace_raw",
        "step_trace_raw_*_detail_time.csv",
        say("steps: forward, backward, what comes before and behind, as MindSpore's own profiler writes it"),
        """
            row: iteration_id = step_num
            point: iteration_start = start_point, iteration_end = end_point
            part!: iteration_time = total
            point: fp_start = fp_point, bp_end = bp_point
            part: data_aug_bound = iteration_interval, fp_to_bp_time = fp_and_bp, iteration_refresh = tail
        """,
        facts="steps",
        identity=("iteration_id", "iteration_end_ns"),
    ),
    _table(
        "cluster_analyse",
        "ascend_cluster_analyse_*.csv",
        say("steps of one rank of a job: computing, and communication that nothing is computed beside"),
        """
            duration! ms: computing = computation_time | computation
            duration ms: communication_not_overlapped = communication_alone_time
            duration? ms: stage = stage_time, receive_not_overlapped = receive_alone_time
            duration? ms: collective_not_overlapped = collective_communication_alone_time
        """,
    ),
    _table(
        "hccl_raw",
        "hccl_raw_*.csv",
        say("communication of each step: time, waiting, and what each link carried"),
        """
            row: step = step_num
            duration! ms: communication = communication_cost
            duration ms: wait = wait_cost
            free: link_info, operators = communication_operator_cost
        """,
        identity=("step",),
    ),
    KERNEL_FLOPS,
    _table(
        "framework_raw",
        "framework_raw_*.csv",
        say("the kernels of a graph: stream, blocks, type, and the shapes and types of what goes in and comes out"),
        """
            integer: task_id, stream_id, block_num = block_dim
            free: op_name = full_kernel_name | full_op_name, framework_name = op_name
            free?: kernel_name
            text: op_type = kernel_type | op_type, subgraph
            free: op_info
            integer?: graph_id
        """,
    ),
    _table(
        "minddata_pipeline_raw",
        "minddata_pipeline_raw_*.csv",
        say("the operators of the data pipeline and how full their queues were"),
        """
            integer!: op_id
            text: op_type
            integer: workers = num_workers
            free: queue_sizes = output_queue_size
            number: queue_average = output_queue_average_size
            integer: queue_length = output_queue_length
            number: queue_usage = output_queue_usage_rate
            integer: sample_interval_ms = sample_interval, parent_id
            free: children_ids = children_id
        """,
        identity=("op_id",),
    ),
)
TABLES = {table.name: table for table in _TABLES}
