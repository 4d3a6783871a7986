"""What each table of the profiler is: one declaration a kind, and TABLES, the registry of them all."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.tables.op_statistic import OP_STATISTIC
from aoe_reports.tables.op_summary import KERNEL_DETAILS, OP_SUMMARY
from aoe_reports.tables.step_trace import STEP_TRACE, STEP_TRACE_TIME
from aoe_reports.tables.table import Column, Field, Match, Table
from aoe_reports.tables.task_time import TASK_TIME

__all__ = ["TABLES", "Column", "Field", "Match", "Table", "table_of_header"]

TABLES: dict[str, Table] = {
    table.name: table for table in (OP_SUMMARY, OP_STATISTIC, KERNEL_DETAILS, STEP_TRACE, STEP_TRACE_TIME, TASK_TIME)
}


def table_of_header(header: Sequence[str]) -> Table | None:
    """The one table whose columns are all in this header; for files whose name tells nothing."""
    fitting = [table for table in TABLES.values() if table.fits(header)]
    return max(fitting, key=lambda table: len(table.columns)) if fitting else None
