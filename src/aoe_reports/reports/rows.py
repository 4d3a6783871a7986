"""Reports of commands that answer with rows: which columns are shown to people, under which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aoe_reports.reports.report import Column, Grid, Report, Section
from aoe_reports.texts import say

_OF_BANKS = (
    Column("models", "Models", "integer"),
    Column("gradients", "Gradients", "integer"),
    Column("size_bytes", "Size (bytes)", "integer"),
    Column("largest_bytes", "Largest (bytes)", "integer"),
    Column("time_after_start", "Time (unit unknown)", "integer"),
)
"""What is shown of the summary of a gradient bank."""

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
    "inspect": (
        Column("path", "Path"),
        Column("kind", "Kind"),
        Column("source", "Source"),
        Column("form", "Form"),
        Column("vintage", "Vintage"),
        Column("run", "Run"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("rows", "Rows", "integer"),
        Column("superseded", "Superseded"),
        *(column for column in _OF_BANKS if column.key != "gradients"),
    ),
    "check": (
        Column("path", "Path"),
        Column("kind", "Kind"),
        Column("container", "Container"),
        Column("body", "Body"),
        Column("vocabulary", "Vocabulary"),
        Column("tasks", "Tasks", "integer"),
        *_OF_BANKS,
        Column("verdict", "Verdict", "state"),
    ),
    "config": (
        Column("command", "Command"),
        Column("option", "Option"),
        Column("value", "Value"),
        Column("source", "Said by", "word"),
        Column("path", "File"),
        Column("line", "Line", "integer"),
    ),
    "rules": (
        Column("rule", "Rule"),
        Column("severity", "Severity", "word"),
        Column("on", "On", "sentence"),
        Column("reason", "Reason", "sentence"),
        Column("source", "Source", "sentence"),
    ),
    "advise": (
        Column("position", "#", "integer"),
        Column("rule", "Rule"),
        Column("op_type", "Operator type"),
        Column("op_name", "Operator"),
        Column("input_shapes", "Input shapes"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("share", "Share", "percent"),
        Column("bound_by", "Bound by", "word"),
        Column("bound_us", "Bound (us of a step)", "us"),
        Column("bound_share", "Of the step", "percent"),
    ),
    "hotspots": (
        Column("position", "#", "integer"),
        Column("run", "Run"),
        Column("rank_id", "Rank", "integer"),
        Column("op_type", "Operator type"),
        Column("task_type", "Core"),
        Column("op_name", "Operator"),
        Column("input_shapes", "Input shapes"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("mean_us", "Mean (us)", "us"),
        Column("std_us", "Std (us)", "us"),
        Column("p95_us", "P95 (us)", "us"),
        Column("max_us", "Max (us)", "us"),
        Column("share", "Share", "percent"),
        Column("cumulative_share", "Cumulative", "percent"),
    ),
    "steps": (
        Column("run", "Run"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("model_id", "Model", "integer"),
        Column("step", "Step", "integer"),
        Column("duration_us", "Duration (us)", "us"),
        Column("fp_bp_us", "FP to BP (us)", "us"),
        Column("iteration_refresh_us", "Refresh (us)", "us"),
        Column("data_aug_bound_us", "Data aug (us)", "us"),
        Column("computing_us", "Computing (us)", "us"),
        Column("communication_us", "Communication (us)", "us"),
        Column("communication_not_overlapped_us", "Not overlapped (us)", "us"),
        Column("overlapped_us", "Overlapped (us)", "us"),
        Column("free_us", "Free (us)", "us"),
    ),
    "site": (
        Column("kind", "Kind", "word"),
        Column("pages", "Pages", "integer"),
        Column("written", "Written", "integer"),
        Column("unchanged", "Unchanged", "integer"),
        Column("removed", "Removed", "integer"),
    ),
    "breakdown": (
        Column("run", "Run"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("step", "Step", "integer"),
        Column("end_to_end_us", "End to end (us)", "us"),
        Column("computing_us", "Computing (us)", "us"),
        Column("communication_us", "Communication (us)", "us"),
        Column("communication_not_overlapped_us", "Not overlapped (us)", "us"),
        Column("overlapped_us", "Overlapped (us)", "us"),
        Column("free_us", "Free (us)", "us"),
    ),
    "gaps": (
        Column("position", "#", "integer"),
        Column("run", "Run"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("step", "Step", "integer"),
        Column("duration_us", "Gap (us)", "us"),
        Column("communication_us", "Communication in it (us)", "us"),
        Column("before", "After task"),
        Column("after", "Before task"),
        Column("cause", "Cause", "word"),
        Column("reason", "Why", "sentence"),
    ),
    "compare": (
        Column("position", "#", "integer"),
        Column("rank_id", "Rank", "integer"),
        Column("op_type", "Operator type"),
        Column("task_type", "Core"),
        Column("op_name", "Operator"),
        Column("input_shapes", "Input shapes"),
        Column("state", "State", "state"),
        Column("baseline_count", "Count before", "integer"),
        Column("candidate_count", "Count after", "integer"),
        Column("baseline_total_us", "Total before (us)", "us"),
        Column("candidate_total_us", "Total after (us)", "us"),
        Column("difference_us", "Difference (us)", "us"),
        Column("ratio", "Ratio", "ratio"),
        Column("mean_difference_us", "Difference of means (us)", "us"),
        Column("ci_low_us", "from (us)", "us"),
        Column("ci_high_us", "to (us)", "us"),
        Column("cause", "Cause", "word"),
        Column("new_inputs", "New inputs"),
        Column("vanished_inputs", "Vanished inputs"),
    ),
    "regressions": (
        Column("state", "State", "alarm"),
        Column("workload", "Workload"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("hardware", "Hardware"),
        Column("since", "Since"),
        Column("before", "Before (ms)", "ms"),
        Column("after", "After (ms)", "ms"),
        Column("change", "Change", "change"),
        Column("ci_low", "from", "change"),
        Column("ci_high", "to", "change"),
        Column("smallest_detectable", "Smallest detectable", "change"),
        Column("nights", "Nights", "integer"),
        Column("reason", "Not judged", "word"),
    ),
    "incident": (
        Column("state", "State", "alarm"),
        Column("workload", "Workload"),
        Column("rank_id", "Rank", "integer"),
        Column("device_id", "Device", "integer"),
        Column("hardware", "Hardware"),
        Column("since", "Since"),
        Column("before", "Before (ms)", "ms"),
        Column("after", "After (ms)", "ms"),
        Column("change", "Change", "change"),
        Column("ci_low", "from", "change"),
        Column("ci_high", "to", "change"),
        Column("impact_ms", "Impact on a run (ms)", "ms"),
        Column("series_id", "Series"),
    ),
    "metadata": (Column("name", "What"), Column("before", "Before"), Column("after", "Since")),
    "ack": (
        Column("id", "Id"),
        Column("subject", "About"),
        Column("outcome", "Store", "word"),
        Column("series", "Series", "integer"),
        Column("who", "Who"),
        Column("reason", "Reason", "sentence"),
    ),
    "expect": (
        Column("id", "Id"),
        Column("subject", "About"),
        Column("outcome", "Store", "word"),
        Column("since", "From"),
        Column("until", "Until"),
        Column("low", "from", "change"),
        Column("high", "to", "change"),
        Column("who", "Who"),
        Column("reason", "Reason", "sentence"),
    ),
    "tag": (
        Column("tag", "Name"),
        Column("run", "Run"),
        Column("night", "Night"),
        Column("workload", "Workload"),
        Column("outcome", "Store", "word"),
    ),
    "attribution": (
        Column("op_type", "Operator type"),
        Column("op_name", "Operator"),
        Column("before_us", "Before (us a step)", "us"),
        Column("after_us", "After (us a step)", "us"),
        Column("difference_us", "Difference (us a step)", "us"),
        Column("cause", "Cause", "word"),
        Column("repository_run", "Tuned by run"),
        Column("repository_night", "in night"),
    ),
    "plan": (
        Column("position", "#", "integer"),
        Column("kind", "Kind", "word"),
        Column("op_type", "Operator type"),
        Column("op_name", "Operator"),
        Column("input_shapes", "Input shapes"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("share", "Share of the step", "percent"),
        Column("bound_by", "Bound by", "word"),
        Column("bound_saving_us", "Bound (us of a step)", "us"),
        Column("expected_saving_us", "Expected (us of a step)", "us"),
        Column("cost_s", "Tuning (s)", "us"),
        Column("reason", "Why so much", "sentence"),
    ),
    "verify": _OF_VERDICTS,
    "preflight": (
        Column("rule", "Rule"),
        Column("verdict", "Verdict", "state"),
        Column("seen", "Seen", "sentence"),
        Column("needed", "Needed", "sentence"),
        Column("declare", "Declare", "sentence"),
    ),
    "tune": (
        Column("op_name", "Operator"),
        Column("op_type", "Operator type"),
        Column("repo_key", "Subgraph"),
        Column("status", "Status", "state"),
        Column("mode", "Mode"),
        Column("before_us", "Before (us)", "us"),
        Column("after_us", "After (us)", "us"),
        Column("gain", "Speed-up (before/after - 1)", "gain"),
        Column("total_us", "Total in the profile (us)", "us"),
        Column("reason", "Reason", "sentence"),
    ),
    "adopt": (
        Column("path", "File"),
        Column("change", "Change", "state"),
        Column("bytes_before", "Bytes before", "integer"),
        Column("bytes_after", "Bytes after", "integer"),
        Column("entries_added", "Entries added", "integer"),
        Column("entries_lost", "Entries lost", "integer"),
    ),
    "compare-steps": (
        Column("position", "#", "integer"),
        Column("rank_id", "Rank", "integer"),
        Column("metric", "What of a step", "word"),
        Column("step", "Step", "integer"),
        Column("state", "State", "state"),
        Column("baseline_count", "Steps before", "integer"),
        Column("candidate_count", "Steps after", "integer"),
        Column("baseline_mean_us", "Mean before (us)", "us"),
        Column("candidate_mean_us", "Mean after (us)", "us"),
        Column("mean_difference_us", "Difference of means (us)", "us"),
        Column("ci_low_us", "from (us)", "us"),
        Column("ci_high_us", "to (us)", "us"),
        Column("difference_us", "Difference of totals (us)", "us"),
        Column("ratio", "Ratio of totals", "ratio"),
    ),
    "ingest": (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("kind", "Kind", "word"),
        Column("workload", "Workload"),
        Column("records", "Records", "integer"),
        Column("outcome", "Store", "word"),
        Column("path", "Path"),
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
    "store-info": (
        Column("runs", "Runs", "integer"),
        Column("records", "Records", "integer"),
        Column("bytes", "Bytes", "integer"),
        Column("files", "Files", "integer"),
        Column("version", "Version", "integer"),
        Column("format", "Format", "integer"),
        Column("last_compaction", "Last compaction"),
    ),
    "store-verify": (Column("files", "Files", "integer"), Column("damaged", "Damaged", "integer")),
    "store-compact": (
        Column("files_before", "Files before", "integer"),
        Column("files", "Files", "integer"),
        Column("rows_merged", "Rows merged", "integer"),
    ),
    "store-vacuum": (
        Column("files_deleted", "Files deleted", "integer"),
        Column("bytes_deleted", "Bytes", "integer"),
        Column("days", "Days kept", "integer"),
    ),
    "store-undo": (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("workload", "Workload"),
        Column("path", "Path"),
        Column("state", "State", "word"),
    ),
    "store-export": (Column("path", "Path"), Column("rows", "Rows", "integer")),
    "store-import": (
        Column("path", "Path"),
        Column("added", "Added", "integer"),
        Column("unchanged", "Unchanged", "integer"),
        Column("superseded", "Superseded", "integer"),
        Column("less_complete", "Less complete", "integer"),
        Column("changes", "Changes", "integer"),
        Column("refused", "Refused", "integer"),
    ),
    "tables": (
        Column("kind", "Kind"),
        Column("title", "What it holds"),
        Column("source", "Written by"),
        Column("files", "Files"),
        Column("vintages", "Headers of"),
    ),
}
"""The columns of each command's rows; a column that is empty in every row is not shown."""

OF_RUNS = frozenset({"hotspots", "steps", "breakdown"})
"""Commands whose rows mostly are of one run: its long path then stands once above the table."""


def rows_report(kind: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Report:
    """Rows as a report of one section."""
    flat = _WithSummaries(rows)
    columns = shown_columns(kind, flat) if rows else ()
    sentences: list[str] = []
    if kind in OF_RUNS and rows:
        sentences, columns = without_one_run(columns, flat)
    return Report(title, "", [Section("", sentences, Grid(columns, flat) if rows else None)])


def breakdown_report(rows: Sequence[Mapping[str, Any]], gaps: Sequence[Mapping[str, Any]]) -> Report:
    """What devices did, and their longest gaps."""
    sections = rows_report("breakdown", "Breakdown", rows).sections
    if gaps:
        sentence = say("Between two tasks that compute; a device's longest first.")
        _, columns = without_one_run(shown_columns("gaps", gaps), gaps)
        grid = Grid(columns, gaps)
        sections = [*sections, Section("Longest gaps in computing", [sentence], grid)]
    return Report("Breakdown", "", sections)


class _WithSummaries(Sequence[Mapping[str, Any]]):
    """Rows with what their summaries hold beside their own cells, made one by one: they may be many."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (row if row.get("summary") is None else {**row, **row["summary"]} for row in self._rows)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


def without_one_run(
    columns: tuple[Column, ...], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[str], tuple[Column, ...]]:
    """(what is said above the table, its columns): where all rows are of one run, no column repeats it."""
    runs = {row.get("run") for row in rows}
    if len(runs) != 1 or not columns:
        return [], columns
    return [say("Run: {run}", run=runs.pop())], tuple(column for column in columns if column.key != "run")


def shown_columns(kind: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The columns of rows of a kind that say anything in any of them."""
    return telling_columns(COLUMNS[kind], rows)


def telling_columns(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Those of some columns that say anything in any row."""
    silent = {column.key for column in columns}
    for row in rows:  # once: they may be many, and not in memory
        silent = {key for key in silent if not _says(row.get(key))}
        if not silent:
            break
    return tuple(column for column in columns if column.key not in silent)


def _says(value: Any) -> bool:
    """Whether a cell tells anything: 0 does."""
    return value is not None and value is not False and value not in ("", [])
