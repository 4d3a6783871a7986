"""The level 2 cache: rates an operator, or (old exporters) counts a moment."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, free_text, integer, number, timestamp
from aoe_reports.model.texts import say

L2_CACHE = Table(
    name="l2_cache",
    title=say("hit and victim rate of each task in the level 2 cache"),
    columns=(
        device(),
        integer("stream_id", "Stream Id"),
        integer("task_id", "Task Id"),
        number("hit_rate", "Hit Rate"),
        number("victim_rate", "Victim Rate"),
        free_text("op_name", "Op Name", optional=True),
    ),
    vintages=(("2022-03", "Hit Rate"),),
    source="both",
)

L2_CACHE_COUNTS = Table(
    name="l2_cache_counts",
    title=say(
        "reads, writes, victims and allocations of the L2 cache, as contained in l2_cache from 2022-11 to 2023-09"
    ),
    columns=(
        device(),
        integer("read", "Read"),
        integer("write", "Write"),
        integer("victim", "Victim"),
        integer("allocate", "Allocate"),
        timestamp("timestamp", "Timestamp", optional=True, unit="ns"),
    ),
    vintages=(("2022-12", "Timestamp(ns)"), ("2022-11", "Read"), ("2022-11", "read")),
    files=("l2_cache",),
    other_orders=(("read", "write", "allocate", "victim"),),  # for one week of 2022-11
)
