"""Which tables of ours a database of the profiler may hold, and what each is read from."""

from __future__ import annotations

from aoe_reports.formats.sqlite.analysis import (
    NEEDED_PARTS,
    OPERATOR,
    cluster_step_trace_time,
    comm_bandwidth,
    comm_matrix,
    comm_times,
    step_trace_time,
)
from aoe_reports.formats.sqlite.marks import msprof_tx
from aoe_reports.formats.sqlite.memory import (
    memory_of_operators,
    memory_record,
    npu_mem,
    npu_module_mem,
    operator_memory,
)
from aoe_reports.formats.sqlite.series import Source
from aoe_reports.formats.sqlite.source import Database
from aoe_reports.formats.sqlite.statistics import api_statistic, communication_statistic, op_statistic
from aoe_reports.formats.sqlite.tasks import op_summary, task_time


def _has_types(database: Database) -> bool:
    """Whether any compute task has a type: msprof writes no statistic at level 0, where none has."""
    return database.names("COMPUTE_TASK_INFO", "opType")


def _has_communication_types(database: Database) -> bool:
    return database.names("COMMUNICATION_OP", "opType")


_TASKS = {
    "COMPUTE_TASK_INFO": ("globalTaskId", "name", "opType", "taskType"),
    "TASK": ("startNs", "endNs", "globalTaskId"),
    "STRING_IDS": ("id", "value"),
}

_OPERATORS = {"COMMUNICATION_OP": ("startNs", "endNs", "opName", "opType"), "STRING_IDS": ("id", "value")}

_WORDS = ("id", "value")

SOURCES: dict[str, tuple[Source, ...]] = {
    "kernel_details": (Source(_TASKS, op_summary),),
    "op_summary": (Source(_TASKS, op_summary),),
    "task_time": (Source({"TASK": ("startNs", "endNs", "taskType"), "STRING_IDS": _WORDS}, task_time),),
    "op_statistic": (Source(_TASKS, op_statistic, _has_types),),
    "communication_statistic": (Source(_OPERATORS, communication_statistic, _has_communication_types),),
    "api_statistic": (Source({"CANN_API": ("startNs", "endNs", "type", "name"), "STRING_IDS": _WORDS}, api_statistic),),
    "step_trace_time": (Source({"StepTraceTime": ("step", *sorted(NEEDED_PARTS))}, step_trace_time),),
    "cluster_step_trace_time": (
        Source({"ClusterStepTraceTime": ("step", "type", "index", *sorted(NEEDED_PARTS))}, cluster_step_trace_time),
    ),
    "communication": (Source({"CommAnalyzerTime": (*OPERATOR.values(), "elapse_time")}, comm_times),),
    "communication_bandwidth": (
        Source({"CommAnalyzerBandwidth": (*OPERATOR.values(), "transport_type", "transit_time")}, comm_bandwidth),
    ),
    "communication_matrix": (
        Source({"CommAnalyzerMatrix": (*OPERATOR.values(), "src_rank", "dst_rank", "transit_time")}, comm_matrix),
    ),
    "memory_record": (
        Source({"MEMORY_RECORD": ("component", "timestamp"), "STRING_IDS": _WORDS}, memory_record),
        Source({"NPU_OP_MEM": ("component", "timestampNs"), "STRING_IDS": _WORDS}, memory_of_operators),
    ),
    "operator_memory": (Source({"OP_MEMORY": ("name", "size"), "STRING_IDS": _WORDS}, operator_memory),),
    "npu_mem": (Source({"NPU_MEM": ("type", "ddr", "hbm", "timestampNs"), "STRING_IDS": _WORDS}, npu_mem),),
    "npu_module_mem": (
        Source(
            {"NPU_MODULE_MEM": ("moduleId", "timestampNs", "totalReserved"), "ENUM_MODULE": ("id", "name")},
            npu_module_mem,
        ),
    ),
    "msprof_tx": (Source({"MSTX_EVENTS": ("startNs", "endNs", "message"), "STRING_IDS": _WORDS}, msprof_tx),),
}
"""How every kind of table that a database may hold is read, by the name in TABLES; the first that fits is used."""
