"""The kernels that a GPU ran, as rocprof (`results.csv`) and rocprofv3 (`*_kernel_trace.csv`) write them.

Columns as the manuals of ROCm show them; the dates are those of the releases of ROCm whose exports have the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoe_reports.formats.table import (
    Column,
    Derived,
    Table,
    duration,
    free_text,
    integer,
    text,
    timestamp,
)
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    import pyarrow as pa


def _functions(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.formats.rocprof.kernels import functions_of  # noqa: PLC0415 -- to know a file takes no pyarrow

    return functions_of(kernels)


def _devices(agents: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.formats.rocprof.kernels import numbers_of  # noqa: PLC0415 -- as above

    return numbers_of(agents)


def _durations(stops: pa.ChunkedArray, starts: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc  # noqa: PLC0415 -- as above

    return pc.subtract(stops, starts)


_TYPE = Derived(text("op_type"), ("op_name",), _functions)


def _size(name: str, *headers: str) -> Column:
    return integer(name, *headers, optional=True)


RESULTS = Table(
    name="rocprof_results",
    title=say("every kernel on the GPU, as rocprof writes it"),
    facts="tasks",
    columns=(
        integer("index", "Index"),
        free_text("op_name", "KernelName"),
        integer("device_id", "gpu-id"),
        integer("queue_id", "queue-id"),
        integer("queue_index", "queue-index"),
        integer("pid", "pid"),
        integer("thread_id", "tid"),
        _size("grid_size", "grd"),
        _size("workgroup_size", "wgr"),
        _size("lds_size", "lds"),
        _size("scratch_size", "scr"),
        _size("vgpr_count", "arch_vgpr", "vgpr"),
        _size("accum_vgpr_count", "accum_vgpr"),
        _size("sgpr_count", "sgpr"),
        _size("wave_size", "wave_size"),
        _size("barriers", "fbar"),
        text("signal", "sig", optional=True),
        text("object", "obj", optional=True),
        timestamp("dispatch", "DispatchNs", optional=True, unit="ns"),
        timestamp("task_start", "BeginNs", unit="ns"),
        timestamp("task_stop", "EndNs", unit="ns"),
        timestamp("complete", "CompleteNs", optional=True, unit="ns"),
        duration("task_duration", "DurationNs", needed=True, unit="ns"),
    ),
    vintages=(("2022-10", "accum_vgpr"), ("2019-05", "KernelName")),
    source="rocprof",
    called=("results.csv",),
    identity=("index", "op_name", "device_id", "queue_id", "queue_index", "task_start_ns", "task_duration_ns"),
    derived=(_TYPE,),
)

KERNEL_TRACE = Table(
    name="kernel_trace",
    title=say("every kernel on the GPU, as rocprofv3 writes it"),
    facts="tasks",
    columns=(
        text("guid", "Guid", optional=True),
        text("kind", "Kind"),
        text("agent", "Agent_Id"),
        integer("queue_id", "Queue_Id"),
        integer("stream_id", "Stream_Id", optional=True),
        integer("thread_id", "Thread_Id", optional=True),
        integer("task_id", "Dispatch_Id", optional=True),
        integer("kernel_id", "Kernel_Id"),
        free_text("op_name", "Kernel_Name"),
        integer("correlation_id", "Correlation_Id"),
        timestamp("task_start", "Start_Timestamp", needed=True, unit="ns"),
        timestamp("task_stop", "End_Timestamp", needed=True, unit="ns"),
        _size("private_segment_size", "Private_Segment_Size"),
        _size("group_segment_size", "Group_Segment_Size"),
        _size("lds_size", "LDS_Block_Size"),
        _size("scratch_size", "Scratch_Size"),
        _size("vgpr_count", "VGPR_Count"),
        _size("accum_vgpr_count", "Accum_VGPR_Count"),
        _size("sgpr_count", "SGPR_Count"),
        *(
            _size(f"{what.lower()}_size_{axis.lower()}", f"{what}_Size_{axis}")
            for what in ("Workgroup", "Grid")
            for axis in "XYZ"
        ),
    ),
    vintages=(("2025-04", "LDS_Block_Size"), ("2024-12", "Dispatch_Id"), ("2024-08", "Agent_Id")),
    source="rocprof",
    called=("*kernel_trace.csv",),
    identity=("agent", "queue_id", "task_id", "correlation_id", "op_name", "task_start_ns", "task_stop_ns"),
    derived=(
        Derived(integer("device_id"), ("agent",), _devices),
        _TYPE,
        Derived(duration("task_duration"), ("task_stop_ns", "task_start_ns"), _durations),
    ),
)
