"""Metrics among the facts of the dashboard: their whole histories, and values by costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from aoe_reports.history.detector_run import read_coded
from aoe_reports.history.metric_series import NEEDED, metric_records
from aoe_reports.history.regressions import Regressions
from aoe_reports.history.series import LABELS, MAX_COST, MIN_COST, Histories, put_together
from aoe_reports.history.site_facts import Floats
from aoe_reports.model.changes import METRIC, SeriesChange
from aoe_reports.model.metrics import value_of
from aoe_reports.store import History, equals
from aoe_reports.store.layout import ROWS


def with_metrics(history: History, histories: Histories, told: Regressions, incomplete: Sequence[str]) -> Histories:
    """The histories with those of metrics, which are in no column of records."""
    places = {row.series_id: place for place, row in enumerate(told.rows) if row.scope == METRIC}
    if not places:
        return histories
    columns = [name for name in (*NEEDED, *LABELS) if name in ROWS.names]
    records = read_coded(history, list(dict.fromkeys(columns)), [equals("source", "foreign")])
    records = records.filter(~pl.col("run_id").is_in(list(incomplete)))
    found = metric_records(records, told.detected.input.declarations)
    if found is None:
        return histories
    metrics = put_together(found[0], (MIN_COST, MAX_COST))
    columns_of = {night: column for column, night in enumerate(histories.nights)}
    columns_here = np.array([columns_of[night] for night in metrics.nights])
    for row, labels in enumerate(metrics.labels):
        if labels.series_id in places:
            histories.costs[places[labels.series_id], columns_here] = metrics.costs[row]
            histories.runs[places[labels.series_id], columns_here] = metrics.runs[row]
    return histories


def values_of(costs: Floats, row: SeriesChange) -> Floats:
    """The values of nights, by their costs."""
    if row.better != "higher":
        return costs
    return np.where(costs > 0, 1 / np.where(costs > 0, costs, 1.0), costs)


def level_of(cost: float | None, row: SeriesChange) -> float | None:
    """The value of a level, by its cost."""
    return None if cost is None else value_of(cost, row.better)


def of_judged(histories: Histories, told: Regressions) -> Histories:
    """The histories without what is not judged: series whose good direction nobody says."""
    undirected = [place for place, row in enumerate(told.rows) if row.better is None]
    if not undirected:
        return histories
    costs = histories.costs.copy()
    costs[undirected] = np.nan
    return replace(histories, costs=costs)
