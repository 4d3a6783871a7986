"""The change of a step over what ran in it, from the records of the store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import polars.selectors as cs

from aoe_reports.formats.aoe.results import join_name
from aoe_reports.formats.records.payloads import number_in, object_in
from aoe_reports.history.changes.attribution import (
    Attribution,
    OperatorShare,
    Side,
    StepNight,
    attribute_change,
    sum_known,
)
from aoe_reports.history.detection.verdicts import Change
from aoe_reports.history.series.series import Judged, SeriesLabels
from aoe_reports.model.history.changes import MovedCost, OperatorChange, StepAttribution
from aoe_reports.stats.comparison import INPUTS
from aoe_reports.store import History, equals
from aoe_reports.topics.records.from_profile import STEPS_WITH_TASKS
from aoe_reports.tuning.names import type_key

Row = dict[str, Any]

NAMED = 5
"""So many operators of an attribution are told; the rest is one sum."""

_SURROUNDINGS = ("model", "source", "hardware", "engine")


@dataclass(frozen=True, slots=True)
class TunedOperator:
    """An operator whose knowledge AOE added to its repository or updated there: in which run, and when."""

    run_id: str
    night: str
    timestamp_ns: int
    model: str
    hardware: str
    op_name: str
    op_type: str | None

    @property
    def name(self) -> str:
        """Its name, without what separates joined ones."""
        return join_name(self.op_name)

    @property
    def types(self) -> frozenset[str]:
        """Its types, as they are compared."""
        return frozenset(type_key(kind) for kind in (self.op_type or "").split(";") if kind)


def tuned_operators(history: History) -> list[TunedOperator]:
    """All operators that stored runs of AOE tuned, oldest first; subgraphs name no operators."""
    where = [equals("source", "aoe"), equals("scope", "op"), equals("phase", "after")]
    found = [row for row in history.read("record", TunedOperator, where) if row.op_name]
    return sorted(found, key=lambda one: (one.timestamp_ns, one.run_id, one.name, sorted(one.types)))


def attribute(
    records: pl.DataFrame, judged: Judged, index: int, change: Change, tuned: Sequence[TunedOperator] = ()
) -> StepAttribution | None:
    """The change of a step over the operators of the same workload, rank and device; None where nothing tells of them."""
    verdict, nights = judged.verdicts[index], judged.histories.nights
    prior = [one.until for one in verdict.changes if one.until <= change.night]
    sides: dict[str, Side] = dict.fromkeys(nights[max(prior, default=0) : change.night], "before")
    sides |= dict.fromkeys(nights[change.night : change.until], "after")
    labels = judged.histories.labels[index]
    # a rank may move to another device from night to night; without ranks the device is what tells series apart
    place = "device_id" if labels.rank_id is None else "rank_id"
    same = [pl.col(name).eq_missing(getattr(labels, name)) for name in _SURROUNDINGS]
    is_operator = pl.col("scope").is_in(["op", "op_type"])
    of_all_ranks = pl.all_horizontal(pl.col("rank_id", "device_id").is_null()) & is_operator
    same.append(pl.col(place).eq_missing(getattr(labels, place)) | of_all_ranks)
    measured = [pl.col(name).is_not_null() for name in ("count", "total_ns")]
    mine = records.filter(*same, *measured, pl.col("night").is_in(list(sides)))
    mine = mine.with_columns(cs.enum().cast(pl.String))
    mine = mine.with_columns(pl.col("night").replace_strict(sides, return_dtype=pl.String).alias("side"))
    steps = mine.filter(pl.col("series_id") == labels.series_id)
    calls = _finest(mine)
    if calls.is_empty():
        return None
    told_nights = calls.filter(pl.col("scope") != "communication")["night"].unique()
    if told_nights.len():  # a night that tells of no operator is not one in which all of them vanished
        steps = steps.filter(pl.col("night").is_in(told_nights.implode()))
    named = _name_repositories(_calls(calls), _between(steps, labels, tuned))
    attribution = attribute_change(named, _steps(steps), verdict.sigma or 0.0)
    return None if attribution is None else _told(attribution)


def _finest(records: pl.DataFrame) -> pl.DataFrame:
    """Communication, and single operators if both sides have them, else operator types."""
    for scope in ("op", "op_type"):
        if records.filter(pl.col("scope") == scope)["side"].n_unique() == len(("before", "after")):
            return records.filter(pl.col("scope").is_in([scope, "communication"]))
    return records.filter(pl.col("scope") == "communication")


def _calls(records: pl.DataFrame) -> pl.DataFrame:
    """Operators' records as calls of a night; inputs are part of what a series of operators is."""
    words = records.select(pl.col("workload_args").unique())
    inputs = words.with_columns(pl.col("workload_args").str.json_path_match(f"$.{name}").alias(name) for name in INPUTS)
    return records.join(inputs, on="workload_args", how="left", nulls_equal=True).select(
        "side",
        "night",
        "op_type",
        "op_name",
        *INPUTS,
        (pl.col("scope") == "communication").alias("communication"),
        "count",
        "total_ns",
    )


def _between(steps: pl.DataFrame, labels: SeriesLabels, tuned: Sequence[TunedOperator]) -> list[TunedOperator]:
    """What AOE tuned for this workload between the last run before and the first run after."""
    last = steps.filter(pl.col("side") == "before")["timestamp_ns"].max()
    first = steps.filter(pl.col("side") == "after")["timestamp_ns"].min()
    if not (isinstance(last, int) and isinstance(first, int)):
        return []
    hardware = {labels.hardware, "unknown"}
    return [
        operator
        for operator in tuned
        if last < operator.timestamp_ns <= first
        and operator.model == labels.model
        and (operator.hardware in hardware or labels.hardware == "unknown")
    ]


def _name_repositories(calls: pl.DataFrame, between: Sequence[TunedOperator]) -> pl.DataFrame:
    """Calls after the change with the AOE run that tuned their operator, or its type."""
    by_name = {operator.name: _label(operator) for operator in between}
    by_type = {kind: _label(operator) for operator in between for kind in operator.types}
    keys = calls.filter(pl.col("side") == "after", ~pl.col("communication")).select("op_type", "op_name").unique()
    rows = [
        (op_type, op_name, by_type.get(type_key(op_type or "")) if op_name is None else by_name.get(op_name))
        for op_type, op_name in keys.iter_rows()
    ]
    schema = {"op_type": pl.String, "op_name": pl.String, "repository": pl.String}
    known = pl.DataFrame([row for row in rows if row[2] is not None], schema=schema, orient="row").with_columns(
        pl.lit("after").alias("side"), pl.lit(value=False).alias("communication")
    )
    return calls.join(known, on=["side", "communication", "op_type", "op_name"], how="left", nulls_equal=True)


def _label(operator: TunedOperator) -> str:
    return f"{operator.night} {operator.run_id}"


def _steps(records: pl.DataFrame) -> list[StepNight]:
    nights: dict[tuple[Side, str], list[Row]] = {}
    columns = ["side", "night", "run_id", "count", "total_ns", "metrics"]
    for row in records.select(columns).sort("side", "night", "run_id").iter_rows(named=True):
        nights.setdefault((row["side"], row["night"]), []).append(row)
    return [
        StepNight(
            side,
            night,
            sum(row["count"] for row in rows),
            sum(row["total_ns"] for row in rows),
            sum_known([_part_ns(row, "communication_not_overlapped") for row in rows]),
            sum_known([_part_ns(row, "free") for row in rows]),
            sum(map(_steps_with_tasks, rows)),
        )
        for (side, night), rows in nights.items()
    ]


def _part_ns(row: Row, part: str) -> int | None:
    """What a part took in all steps of a run; exact below 2**50 ns (13 days), where the mean in ms has lost nothing."""
    mean_ms = number_in(object_in(row, "metrics"), f"{part}_ms_mean")
    part_ns = math.nan if mean_ms is None else mean_ms * 1e6 * row["count"]
    return round(part_ns) if math.isfinite(part_ns) else None


def _steps_with_tasks(row: Row) -> int:
    steps = number_in(object_in(row, "metrics"), STEPS_WITH_TASKS)
    return row["count"] if steps is None else int(steps)


def _told(attribution: Attribution) -> StepAttribution:
    """The change of a step in us, with the operators that changed most."""
    summed = [operator for operator in attribution.operators if not operator.communication]
    named = [one for one in summed if one.sure_ns > 0][:NAMED]
    talk = [operator for operator in attribution.operators if operator.communication and operator.sure_ns > 0][:NAMED]
    return StepAttribution(
        before_us=attribution.before_ns / 1000,
        after_us=attribution.after_ns / 1000,
        total_us=attribution.total_ns / 1000,
        operators_us=attribution.operators_ns / 1000,
        other_operators_us=(attribution.operators_ns - sum(one.difference_ns for one in named)) / 1000,
        communication_not_overlapped_us=_us(attribution.communication_not_overlapped_ns),
        free_us=_us(attribution.free_ns),
        unattributed_us=attribution.unattributed_ns / 1000,
        operators=[_operator(one) for one in named],
        communication=[_operator(one) for one in talk],
        shifts=[
            MovedCost(from_=list(shift.sources), to=list(shift.targets), moved_us=shift.moved_ns / 1000)
            for shift in attribution.shifts
        ],
        left_out_nights=[night for _, night in attribution.untypical],
    )


def _operator(share: OperatorShare) -> OperatorChange:
    night, _, run = (share.repository or "").partition(" ")
    return OperatorChange(
        op_type=share.op_type,
        op_name=share.op_name,
        difference_us=share.difference_ns / 1000,
        cause=share.cause,
        before_us=share.before_ns / 1000,
        after_us=share.after_ns / 1000,
        count_before=share.before_count,
        count_after=share.after_count,
        calls_us=share.calls_ns / 1000,
        count_us=share.count_ns / 1000,
        inputs_us=share.inputs_ns / 1000,
        repository_run=run or None,
        repository_night=night or None,
    )


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / 1000
