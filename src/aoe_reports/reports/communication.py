"""What is said of communication: by rank and group, operators, transports, links, awaited ranks, the tail of gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.reports.report import Column, Grid, Report, Section
from aoe_reports.reports.rows import telling_columns, without_one_run
from aoe_reports.texts import say

Rows = Sequence[Mapping[str, Any]]

_TIMES = (
    Column("elapsed_us", "Elapsed (us)", "us"),
    Column("transit_us", "Transit (us)", "us"),
    Column("wait_us", "Wait (us)", "us"),
    Column("synchronization_us", "Synchronization (us)", "us"),
    Column("idle_us", "Idle (us)", "us"),
    Column("wait_ratio", "Wait ratio", "percent"),
    Column("synchronization_ratio", "Synchronization ratio", "percent"),
)
_RUN, _RANK, _GROUP = Column("run", "Run"), Column("rank_id", "Rank", "integer"), Column("group", "Group")
_VOLUME = (
    Column("transport", "Transport"),
    Column("transit_bytes", "Volume (bytes)", "integer"),
    Column("transit_us", "Transit (us)", "us"),
    Column("bandwidth_gb_per_s", "GB/s", "us"),
)
_SECTIONS: tuple[tuple[str, str, str, tuple[Column, ...]], ...] = (
    (
        "rows",
        "By rank, group and type of operator",
        say("Wait ratio = wait / (wait + transit); synchronization is the waiting before the first transfer. As the profiler states "
        "them for one plane: what other planes wait for is in idle."),
        (_RUN, _RANK, _GROUP, Column("op_type", "Type"), Column("operators", "Operators", "integer"), *_TIMES),
    ),
    (
        "operators",
        "Longest operators",
        "",
        (
            Column("position", "#", "integer"), _RUN, _RANK, Column("step", "Step", "integer"), _GROUP,
            Column("op_name", "Operator"), *_TIMES,
        ),
    ),
    (
        "transports",
        "By transport",
        say("SDMA is what HCCS, PCIE and SIO carried, once more."),
        (_RUN, _RANK, _GROUP, Column("op_type", "Type"), *_VOLUME),
    ),
    (
        "links",
        "Links",
        say("Of the median of links of one transport that carried a like volume (at least 0.5 MB) in the same operators; slow: below "
        "80% of it, and out of line (more than 3 robust standard deviations) in more than half of the comparisons. Ranks are "
        "numbered within the group."),
        (
            _RUN, _GROUP, Column("source_rank", "From", "integer"), Column("destination_rank", "To", "integer"), *_VOLUME,
            Column("wait_us", "Wait (us)", "us"),
            Column("relative_bandwidth_ratio", "Of the median", "percent"),
            Column("slow_in", "Out of line", "integer"),
            Column("compared", "Compared", "integer"),
            Column("lost_us", "Longer by (us)", "us"),
            Column("slow", "Slow", "state"),
        ),
    ),
    (
        "awaited",
        "Ranks that others wait for",
        say("By the peer that a rank waits for longest before the first transfer of an operator, where a timeline names it; else by the "
        "rank that waits least. Waiting for less than 20% of an operator is none."),
        (
            _RUN, _GROUP, Column("rank", "Rank", "integer"), Column("operators", "Operators", "integer"),
            Column("of_operators", "Of", "integer"), Column("waited_us", "Others wait (us)", "us"),
            Column("waited_share", "Share", "percent"), Column("slow", "Slow", "state"),
        ),
    ),
    (
        "tails",
        "All-reduce behind the backward pass",
        say("What is reduced while gradients are still being computed is hidden. The bound is the most that tuning of gradients can "
        "save: the tail without what stays (with a bank: the last gradient's share), and no more than forward and backward pass "
        "have room for."),
        (
            _RUN, _RANK, Column("device_id", "Device", "integer"), Column("model_id", "Model", "integer"),
            Column("step", "Step", "integer"), Column("iteration_us", "Iteration (us)", "us"),
            Column("reduces", "All-reduces", "integer"), Column("late_reduces", "Late", "integer"),
            Column("reduce_us", "All-reduce (us)", "us"), Column("hidden_us", "Hidden (us)", "us"),
            Column("tail_us", "Tail (us)", "us"), Column("tail_share", "Share", "percent"),
            Column("room_us", "Room (us)", "us"), Column("necessary_us", "Stays (us)", "us"),
            Column("bound_us", "Bound (us)", "us"),
        ),
    ),
    (
        "segments",
        "Gradients of the bank",
        say("In the two segments that they are reduced in where no strategy is set (96.54% and 3.46% of the bytes); the bank holds "
        "gradients, their segments are made when a graph is compiled. Time: how much of the time between the first and the last "
        "gradient has gone by when the segment is complete."),
        (
            Column("path", "Bank"), Column("modelhash", "Model"), Column("segment", "Segment", "integer"),
            Column("first", "First", "integer"), Column("last", "Last", "integer"),
            Column("gradients", "Gradients", "integer"), Column("size_bytes", "Size (bytes)", "integer"),
            Column("size_share", "Share", "percent"), Column("time_share", "Time", "percent"),
        ),
    ),
)  # fmt: skip
"""(which rows, title, what they mean, columns) in the order in which they are shown."""


def communication_report(rows: Rows, tables: Mapping[str, Rows]) -> Report:
    """Everything that was found, a section a table; what is empty is left out."""
    given = [rows, *(found for name, found in tables.items() if name != "segments")]
    every = [row for found in given for row in found]
    once, _ = without_one_run((_RUN,), every)  # of all sections together: else one run would look like the only one
    sections = [Section("", once)] if once else []
    for name, title, sentence, columns in _SECTIONS:
        mine = rows if name == "rows" else tables[name]
        if mine:
            shown = telling_columns(columns, mine)
            if once:
                shown = tuple(column for column in shown if column is not _RUN)
            sections.append(Section(title, [sentence] if sentence else [], Grid(shown, mine)))
    return Report("Communication", "", sections)
