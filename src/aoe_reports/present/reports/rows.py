"""Reports of commands that answer with rows: which columns are shown to people, under which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column, telling_columns

_OF_VERDICTS = (
    Column("scope", "Scope", "word"),
    Column("op_type", "Operator type"),
    Column("op_name", "Operator"),
    Column("input_shapes", "Input shapes"),
    Column("verdict", "Verdict", "state"),
    Column("claimed_before_us", "Claimed before (us)", "us"),
    Column("claimed_after_us", "Claimed after (us)", "us"),
    Column("measured_before_us", "Measured before (us)", "us"),
    Column("measured_after_us", "Measured after (us)", "us"),
    Column("claim", "Claim by AOE's times of", "word"),
    Column("claimed_change", "Claimed change (after/before - 1)", "gain"),
    Column("change", "Change (after/before - 1)", "gain"),
    Column("ci_low", "from", "gain"),
    Column("ci_high", "to", "gain"),
    Column("reason", "Remark", "sentence"),
)
"""What `verify` says of a step, a type or an operator."""

COLUMNS: dict[str, tuple[Column, ...]] = {
    "plan": (  # of a plan that the store keeps with the advice on a night
        Column("position", "#", "integer"),
        Column("kind", "Kind", "word"),
        Column("op_type", "Operator type"),
        Column("op_name", "Operator"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("share", "Share of the step", "percent"),
        Column("bound_by", "Bound by", "word"),
        Column("bound_saving_us", "Bound (us of a step)", "us"),
        Column("expected_saving_us", "Expected (us of a step)", "us"),
        Column("cost_s", "Tuning (s)", "us"),
    ),
    "runs": (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("kind", "Kind", "word"),
        Column("workload", "Workload"),
        Column("hardware", "Hardware"),
        Column("status", "Status", "word"),
        Column("path", "Path"),
    ),
    "changes": (
        Column("state", "State", "alarm"),
        Column("workload", "Workload"),
        Column("rank_id", "Rank", "integer"),
        Column("since", "Since"),
        Column("before", "Before (ms)", "ms"),
        Column("after", "After (ms)", "ms"),
        Column("change", "Change", "change"),
        Column("found", "Told"),
        Column("withdrawn", "Withdrawn"),
        Column("incident", "Incident"),
        Column("subject", "About"),
    ),
    "acks": (
        Column("when", "When"),
        Column("state", "State", "state"),
        Column("subject", "About"),
        Column("since", "From"),
        Column("until", "Until"),
        Column("low", "from", "change"),
        Column("high", "to", "change"),
        Column("run", "Run"),
        Column("who", "Who"),
        Column("reason", "Reason", "sentence"),
        Column("id", "Id"),
    ),
    "verdicts": (
        Column("night", "Night"),
        Column("workload", "Workload"),
        Column("rank_id", "Rank", "integer"),
        *_OF_VERDICTS,
    ),
    "history_advice": (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("workload", "Workload"),
        Column("state", "Row", "word"),
        Column("position", "#", "integer"),
        Column("rank_id", "Rank", "integer"),
        Column("rule", "Rule"),
        Column("op_type", "Operator type"),
        Column("op_name", "Operator"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("bound_us", "Bound (us of a step)", "us"),
        Column("bound_share", "Of the step", "percent"),
        Column("expected_saving_us", "Expected (us of a step)", "us"),
        Column("operators", "Operators", "integer"),
        Column("evidence", "Evidence", "sentence"),
        Column("advice", "Advice", "sentence"),
        Column("reason", "Plan", "sentence"),
        Column("meaning", "Why not", "sentence"),
    ),
    "records": (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("workload", "Workload"),
        Column("scope", "Scope", "word"),
        Column("phase", "Phase", "word"),
        Column("rank_id", "Rank", "integer"),
        Column("runtime_ms_mean", "Mean (ms)", "ms"),
        Column("runtime_ms_std", "Std (ms)", "ms"),
        Column("count", "Count", "integer"),
    ),
}
"""The columns of each command's rows; a column that is empty in every row is not shown."""


def rows_report(kind: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Report:
    """Rows as a report of one section."""
    columns = shown_columns(kind, rows) if rows else ()
    return Report(title, "", [Section("", (), Grid(columns, rows) if rows else None)])


def shown_columns(kind: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The columns of rows of a kind that say anything in any of them."""
    return telling_columns(COLUMNS[kind], rows)
