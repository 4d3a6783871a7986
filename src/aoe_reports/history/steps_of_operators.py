"""Which part of the stored steps operators are a share of: their tasks may be of fewer steps than the step's record."""

from __future__ import annotations

import polars as pl

from aoe_reports.facts.records.from_profile import STEPS_WITH_TASKS_MS

STEP_OF_OPERATORS_NS = pl.coalesce(
    pl.col("metrics").cast(pl.String).str.json_path_match(f"$.{STEPS_WITH_TASKS_MS}").cast(pl.Float64) * 1e6,
    pl.col("total_ns").cast(pl.Float64),
)
"""How long the steps take that have tasks, of records of steps (`metrics`, `total_ns`); 0 where none of them has any."""


def parts_with_tasks(records: pl.DataFrame) -> dict[str, float]:
    """Of series of steps whose newest record has steps without tasks: which part of its time is of steps with tasks."""
    steps = records.filter((pl.col("scope").cast(pl.String) == "step") & (pl.col("total_ns") > 0))
    newest = steps.sort("night", "timestamp_ns", "run_id").group_by("series_id", maintain_order=True).last()
    parts = newest.select(
        pl.col("series_id").cast(pl.String), (STEP_OF_OPERATORS_NS / pl.col("total_ns")).alias("part")
    )
    return dict(parts.filter(pl.col("part") != 1).iter_rows())
