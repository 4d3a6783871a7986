"""The change of a step over what ran in it, from the records of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from aoe_reports.regression.attribution import Attribution, StepNight, attribute_change
from aoe_reports.regression.detector import Change
from aoe_reports.regression.series import Judged

Row = dict[str, Any]

NAMED = 5
"""So many operators of an attribution are told; the rest is one sum."""


def attribute(records: pl.DataFrame, judged: Judged, index: int, change: Change) -> Row | None:
    """The change of a step over the operators of the same workload, rank and device; None where nothing tells of them."""
    verdict, nights = judged.verdicts[index], judged.histories.nights
    earlier = [one.until for one in verdict.changes if one.until <= change.night]
    sides = dict.fromkeys(nights[max(earlier, default=0) : change.night], "before")
    sides |= dict.fromkeys(nights[change.night : change.until], "after")
    facts = judged.histories.facts.row(index, named=True)
    same = [pl.col(name).eq_missing(facts[name]) for name in ("model", "source", "hardware", "rank_id", "device_id")]
    mine = records.filter(*same, pl.col("night").is_in(list(sides))).with_columns(
        pl.col("night").replace_strict(sides, return_dtype=pl.String).alias("side")
    )
    steps = mine.filter(pl.col("series_id") == facts["series_id"])
    calls = mine.filter(pl.col("scope").is_in(["op", "communication"]), pl.col("count").is_not_null())
    if calls.is_empty():
        calls = mine.filter(pl.col("scope").is_in(["op_type", "communication"]), pl.col("count").is_not_null())
    told = attribute_change(_calls(calls), _steps(steps), verdict.sigma or 0.0)
    return None if told is None or calls.is_empty() else _attribution_row(told)


def _calls(records: pl.DataFrame) -> pl.DataFrame:
    """Operators' records as calls of a night; inputs are part of what a series of operators is."""
    args = pl.col("workload_args")
    inputs = [
        args.str.json_path_match(f"$.{name}").alias(name)
        for name in ("input_shapes", "input_formats", "input_data_types")
    ]
    return records.select(
        "side",
        "night",
        "op_type",
        "op_name",
        *inputs,
        pl.lit(None, dtype=pl.String).alias("repository"),
        (pl.col("scope") == "communication").alias("communication"),
        "count",
        "total_ns",
    )


def _steps(records: pl.DataFrame) -> list[StepNight]:
    grouped = (
        records.group_by("side", "night").agg(pl.col("count").sum(), pl.col("total_ns").sum()).sort("side", "night")
    )
    return [
        StepNight(row["side"], row["night"], row["count"], row["total_ns"]) for row in grouped.iter_rows(named=True)
    ]


def _attribution_row(told: Attribution) -> Row:
    """A change of a step in us: operators + communication + free + unattributed = total; the operators that changed most."""
    summed = [one for one in told.operators if not one.communication]
    named: Sequence[Any] = [one for one in summed if one.sure_ns > 0][:NAMED]
    return {
        "total_us": told.total_ns / 1000,
        "operators_us": told.operators_ns / 1000,
        "communication_not_overlapped_us": _us(told.communication_not_overlapped_ns),
        "free_us": _us(told.free_ns),
        "unattributed_us": told.unattributed_ns / 1000,
        "operators": [
            {
                "op_type": one.op_type,
                "op_name": one.op_name,
                "difference_us": one.difference_ns / 1000,
                "cause": one.cause,
            }
            for one in named
        ],
        "shifts": [
            {"from": list(shift.sources), "to": list(shift.targets), "moved_us": shift.moved_ns / 1000}
            for shift in told.shifts
        ],
    }


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / 1000
