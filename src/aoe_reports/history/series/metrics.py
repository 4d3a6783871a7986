"""The numbers that records have beside their times, as series: one a metric of each series of records.

Records of other tools have such series (docs/metrics.md), and of ours those of memory. What our other records have in `metrics` are
parts of the time that they state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import polars as pl

from aoe_reports.formats.records.metrics import Metric, metrics_in
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.rules import METRIC_UNITS
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import MEMORY, METRIC
from aoe_reports.model.history.metrics import Declarations, Meaning, cost_of, meaning_of
from aoe_reports.model.texts import join, say

NEEDED = ("series_id", "night", "run_id", "timestamp_ns", "metrics", "source", "model", "workload")
"""Columns of records without which there are no metrics."""


def metric_series_id(series_id: str, name: str) -> str:
    """The identity of a metric of a series of records: what is measured, how and where, and the name. Units are no part of it."""
    return hashlib.sha256(canonical_json([series_id, METRIC, name]).encode()).hexdigest()[:16]


def metric_records(records: pl.DataFrame, declarations: Declarations = ()) -> tuple[pl.DataFrame, list[Finding]] | None:
    """(metrics of foreign records and of memory as records of their own, what is odd about them); None where there are none.

    The cost of a metric stands where a record has its mean time. `records` have the columns NEEDED, and of labels what there is.
    """
    if not set(NEEDED) <= set(records.columns):
        return None
    if not may_hold(records, "source", "foreign") and not may_hold(records, "scope", MEMORY):
        return None
    is_memory = pl.col("scope").cast(pl.String) == MEMORY if "scope" in records.columns else pl.lit(value=False)
    has_metrics = (pl.col("source").cast(pl.String) == "foreign") | is_memory
    mine = records.filter(has_metrics & (pl.col("metrics").cast(pl.String) != "{}"))
    if mine.is_empty():
        return None
    mine = mine.sort("timestamp_ns", "run_id")
    columns = _Columns(mine, declarations)
    if not columns.values:
        return None
    rows = mine.drop("metrics")[columns.places].with_columns(pl.col(pl.Enum).cast(pl.String))
    rows = rows.with_columns(
        pl.Series("series_id", columns.ids),
        pl.col("series_id").alias("record_series"),
        pl.Series("metric", columns.names),
        pl.when(is_memory).then(pl.lit(MEMORY)).otherwise(pl.lit(METRIC)).alias("scope"),
        pl.Series("runtime_ms_mean", columns.costs(), dtype=pl.Float64),
        pl.lit(None, dtype=pl.Int64).alias("total_ns"),
        pl.Series("unit", [columns.meanings[one].unit for one in columns.ids], dtype=pl.String),
        pl.Series("better", [columns.meanings[one].better for one in columns.ids], dtype=pl.String),
    )
    return rows.filter(pl.Series(columns.of_one_unit())), list(columns.mixed_units())


def may_hold(records: pl.DataFrame, column: str, word: str) -> bool:
    """Whether a column of records may hold a word: of millions of records the known words of an enumeration answer at once."""
    kind = records.schema.get(column)
    return word in kind.categories if isinstance(kind, pl.Enum) else kind is not None


class _Columns:
    """Metrics of records in order of time, a column each; the newest record of a series defines its meaning."""

    def __init__(self, records: pl.DataFrame, declarations: Declarations) -> None:
        self.places: list[int] = []
        self.ids: list[str] = []
        self.names: list[str] = []
        self.values: list[float] = []
        self._told: list[Meaning] = []
        self._newest: dict[str, Meaning] = {}
        self._models: dict[str, str] = {}
        read = lru_cache(maxsize=65536)(metrics_in)
        identity = lru_cache(maxsize=None)(metric_series_id)
        columns: list[list[Any]] = [
            records[name].cast(pl.String).to_list() for name in ("series_id", "model", "source", "metrics")
        ]
        for place, (series_id, model, source, text) in enumerate(zip(*columns, strict=True)):
            for one in read(text):
                if source == "foreign" or one.told.better is not None:  # other numbers of ours describe these
                    self._add(place, identity(series_id, one.name), one, model)
        self.meanings = {
            name: meaning_of(metric, self._newest[name], declarations)
            for name, metric in dict(zip(self.ids, self.names, strict=True)).items()
        }

    def _add(self, place: int, series: str, metric: Metric, model: str) -> None:
        self.places.append(place)
        self.ids.append(series)
        self.names.append(metric.name)
        self.values.append(metric.value)
        self._told.append(metric.told)
        before = self._newest.get(series, metric.told)
        self._newest[series] = Meaning(metric.told.unit or before.unit, metric.told.better or before.better)
        self._models[series] = model

    def costs(self) -> list[float]:
        """What the detector is given of each."""
        return [cost_of(value, self.meanings[one]) for one, value in zip(self.ids, self.values, strict=True)]

    def of_one_unit(self) -> list[bool]:
        """Whether each is in the unit that the newest record of its series has: numbers of two units are never compared."""
        units = {series: told.unit for series, told in self._newest.items()}
        return [told.unit in {None, units[series]} for series, told in zip(self.ids, self._told, strict=True)]

    def mixed_units(self) -> Iterator[Finding]:
        """The series whose records name several units."""
        units: dict[str, set[str]] = {}
        for series, told in zip(self.ids, self._told, strict=True):
            if told.unit is not None:
                units.setdefault(series, set()).add(told.unit)
        names = dict(zip(self.ids, self.names, strict=True))
        for series, found in units.items():
            if len(found) > 1:
                message = say(
                    "{metric} is in {units} on different nights: only the nights in {newest} are compared",
                    metric=names[series],
                    units=join(", ", sorted(found)),
                    newest=self._newest[series].unit,
                )
                yield METRIC_UNITS.found(self._models[series], message)
