"""How a series is shown in a table whose rows are of several units: a metric with its own unit, a time in that of its column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from aoe_reports.model.documents import Cells
from aoe_reports.model.history.causes import Named, series_name
from aoe_reports.model.history.changes import METRICS
from aoe_reports.model.history.metrics import BYTE_UNIT, GROWTH_UNIT, MIN_GROWTH, TIME_UNIT
from aoe_reports.model.report import Grid
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import say
from aoe_reports.present.answers import grid_of
from aoe_reports.present.values import show


class Valued(Named, Protocol):
    """A series with levels."""

    @property
    def unit(self) -> str | None:
        """Of its levels."""

    @property
    def better(self) -> str | None:
        """Its good direction."""

    @property
    def before(self) -> float | None:
        """A level."""

    @property
    def after(self) -> float | None:
        """Another one."""


def value_words(value: float, unit: str | None) -> str:
    """A value with its unit, as far as that is known."""
    if unit == TIME_UNIT:
        return say("{value} {unit}", value=show(value, "ms"), unit=unit)
    if unit == BYTE_UNIT:
        return size_words(value)
    if unit == GROWTH_UNIT and value <= MIN_GROWTH:
        return say("at most {size} per step", size=size_words(MIN_GROWTH))
    if unit == GROWTH_UNIT:
        return say("{size} per step", size=size_words(value))
    number = f"{value:,.6g}"
    return number if unit is None else say("{value} {unit}", value=number, unit=unit)


def has_metrics(rows: Collection[Named]) -> bool:
    """Whether any of some series is no time: then worse is not always slower."""
    return any(row.scope in METRICS for row in rows)


def series_grid(
    kind: type[object],
    rows: Sequence[object],
    of: Sequence[Valued],
    without: Collection[str] = (),
    *,
    whole: bool = False,
) -> Grid:
    """A table of series, whose rows of metrics have their own units; `of` are the series of the rows."""
    grid = grid_of(kind, rows, without, whole=whole)
    if not has_metrics(of):
        return grid
    return replace(grid, rows=[_in_own_unit(cells, one) for cells, one in zip(grid.rows, of, strict=True)])


def _in_own_unit(cells: Cells, one: Valued) -> Cells:
    if one.scope not in METRICS:
        return cells
    known = {"before": one.before, "after": one.after}
    levels = {name: None if value is None else value_words(value, one.unit) for name, value in known.items()}
    named = {"workload": series_name(one)} if "workload" in cells else {}
    return {**cells, **levels, **named, "impact_ms": None, "better": one.better}
