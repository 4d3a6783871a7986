"""The kernels that a GPU ran, as rocprof (`results.csv`) and rocprofv3 (`*_kernel_trace.csv`) write them.

Columns as the manuals of ROCm show them; the dates are those of the releases of ROCm whose exports have the header.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoe_reports.formats.table import Derived, Table, columns, duration, integer, text
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    import pyarrow as pa


_WRAPPING = re.compile(r"\s*\[clone [^]]*\]|\.kd$|\(anonymous namespace\)::")
_DIGITS = re.compile(r"(\d{1,18})$", re.ASCII)


def function_of(kernel: str) -> str:
    """The name of a kernel's function: `void add<float>(float*, int) [clone .kd]` → `add`."""
    plain = _WRAPPING.sub("", kernel)
    words = re.split(r"[<(]", plain, maxsplit=1)[0].split()
    return words[-1] if words else kernel


def _functions(kernels: pa.ChunkedArray) -> pa.ChunkedArray:
    from aoe_reports.model.arrays.columns import words_told  # noqa: PLC0415 -- to know a file takes no pyarrow

    return words_told(kernels, function_of)


def _devices(agents: pa.ChunkedArray) -> pa.ChunkedArray:
    """`Agent 7` and `GPU 3` by their numbers; older exports have a number alone."""
    import numpy as np  # noqa: PLC0415 -- as above

    from aoe_reports.model.arrays.columns import codes, column_of  # noqa: PLC0415 -- as above

    numbers, words = codes(agents)
    matches = [_DIGITS.search(word) for word in words]
    known = np.array([False, *(match is not None for match in matches)])
    values = np.array([0, *(int(match[1]) if match else 0 for match in matches)], dtype=np.int64)
    return column_of(values[numbers], known[numbers])


def _durations(stops: pa.ChunkedArray, starts: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc  # noqa: PLC0415 -- as above

    return pc.subtract(stops, starts)


_TYPE = Derived(text("op_type"), ("op_name",), _functions)

RESULTS = Table(
    name="rocprof_results",
    title=say("every kernel on the GPU, as rocprof writes it"),
    facts="tasks",
    columns=columns("""
        integer: Index
        free: op_name = KernelName
        integer: device_id = gpu-id, queue-id, queue-index, pid, thread_id = tid
        integer?: grid_size = grd, workgroup_size = wgr, lds_size = lds, scratch_size = scr
        integer?: vgpr_count = arch_vgpr | vgpr, accum_vgpr_count = accum_vgpr, sgpr_count = sgpr, wave_size
        integer?: barriers = fbar
        text?: signal = sig, object = obj
        timestamp? ns: dispatch = DispatchNs
        timestamp ns: task_start = BeginNs, task_stop = EndNs
        timestamp? ns: complete = CompleteNs
        duration! ns: task_duration = DurationNs
    """),
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
    columns=columns("""
        text?: Guid
        text: Kind, agent = Agent_Id
        integer: Queue_Id
        integer?: Stream_Id, Thread_Id, task_id = Dispatch_Id
        integer: Kernel_Id
        free: op_name = Kernel_Name
        integer: Correlation_Id
        timestamp! ns: task_start = Start_Timestamp, task_stop = End_Timestamp
        integer?: Private_Segment_Size, Group_Segment_Size, lds_size = LDS_Block_Size, Scratch_Size
        integer?: VGPR_Count, Accum_VGPR_Count, SGPR_Count
        integer?: Workgroup_Size_X, Workgroup_Size_Y, Workgroup_Size_Z, Grid_Size_X, Grid_Size_Y, Grid_Size_Z
    """),
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
