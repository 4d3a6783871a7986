"""What each table and timeline is: one declaration a kind; TABLES and TIMELINES are the registries."""

from __future__ import annotations

from aoe_reports.formats.ascend.tables.communication import COMMUNICATION, COMMUNICATION_BANDWIDTH, COMMUNICATION_MATRIX
from aoe_reports.formats.ascend.tables.host_api import (
    ACL,
    ACL_STATISTIC,
    AI_STACK_TIME,
    API_STATISTIC,
    GE_OP_EXECUTE,
    OS_RUNTIME_STATISTIC,
    RUNTIME_API,
)
from aoe_reports.formats.ascend.tables.memory import (
    MEMORY_RECORD,
    NPU_MEM,
    NPU_MODULE_MEM,
    OPERATOR_MEMORY,
    STATIC_OP_MEM,
)
from aoe_reports.formats.ascend.tables.op_summary import KERNEL_DETAILS, OP_SUMMARY
from aoe_reports.formats.ascend.tables.operators import (
    AI_CORE_UTILIZATION,
    AI_VECTOR_CORE_UTILIZATION,
    AICPU,
    AICPU_MI,
    COMMUNICATION_STATISTIC,
    DP,
    FUSION_OP,
    GRADIENT_SUMMARY,
    L2_CACHE,
    L2_CACHE_COUNTS,
    MSPROF_TX,
    OP_STATISTIC,
    OPERATOR_DETAILS,
    PROF_RULE,
    PYTORCH_OPERATOR_VIEW,
    TASK_TIME,
    TASK_TIME_STATISTIC,
)  # fmt: skip
from aoe_reports.formats.ascend.tables.step_trace import CLUSTER_STEP_TRACE_TIME, STEP_TRACE, STEP_TRACE_TIME
from aoe_reports.formats.ascend.tables.system import SYSTEM_TABLES
from aoe_reports.formats.ascend.tables.timelines import TIMELINES, TimelineKind
from aoe_reports.formats.table import Table

__all__ = ["FILE_KINDS", "TABLES", "TIMELINES", "TimelineKind"]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        OP_SUMMARY,
        OP_STATISTIC,
        KERNEL_DETAILS,
        STEP_TRACE,
        STEP_TRACE_TIME,
        CLUSTER_STEP_TRACE_TIME,
        TASK_TIME,
        TASK_TIME_STATISTIC,
        API_STATISTIC,
        OPERATOR_DETAILS,
        COMMUNICATION_STATISTIC,
        COMMUNICATION,
        COMMUNICATION_BANDWIDTH,
        COMMUNICATION_MATRIX,
        MEMORY_RECORD,
        OPERATOR_MEMORY,
        NPU_MEM,
        NPU_MODULE_MEM,
        STATIC_OP_MEM,
        L2_CACHE,
        L2_CACHE_COUNTS,
        MSPROF_TX,
        FUSION_OP,
        AICPU,
        AICPU_MI,
        DP,
        AI_STACK_TIME,
        RUNTIME_API,
        ACL,
        ACL_STATISTIC,
        GE_OP_EXECUTE,
        OS_RUNTIME_STATISTIC,
        PYTORCH_OPERATOR_VIEW,
        PROF_RULE,
        GRADIENT_SUMMARY,
        AI_CORE_UTILIZATION,
        AI_VECTOR_CORE_UTILIZATION,
        *SYSTEM_TABLES,
    )
}

FILE_KINDS: dict[str, tuple[Table, ...]] = {}
"""The tables that a file may hold whose name begins with this word."""
for _table in TABLES.values():
    for _word in _table.file_kinds:
        FILE_KINDS[_word] = (*FILE_KINDS.get(_word, ()), _table)
