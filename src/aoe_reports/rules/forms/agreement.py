"""How far forms of the same data may differ, and what their rules share."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from aoe_reports.model.arrays.columns import exact_sum, integers
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say

COUNTED_TOLERANCE_NS = 20
"""op_statistic's printed total may be off by this much (measured on real exports)."""
FORM_TOLERANCE_NS = 1
"""Two forms of one task print the same three decimals of a microsecond."""
TASK_TIME_TOLERANCE_NS = 5_000
"""task_time starts a task up to 3 us before op_summary does (measured on real exports)."""


def total_of(frame: pa.Table) -> int:
    """The whole time of some tasks in ns."""
    return exact_sum(integers(frame["task_duration_ns"])[0])


def capped(found: list[Finding]) -> list[Finding]:
    """The first findings, and how many more there are."""
    if len(found) <= EXAMPLES_PER_RULE:
        return found
    first = found[EXAMPLES_PER_RULE]
    rest = replace(first, message=say("and {count} more of this kind", count=len(found) - EXAMPLES_PER_RULE))
    return [*found[:EXAMPLES_PER_RULE], rest]
