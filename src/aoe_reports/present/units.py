"""Tables as people read them: a time column has one unit, and what is the same in all rows stands above them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aoe_reports.model.documents import Cell, Cells
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import Column, Kind
from aoe_reports.model.texts import Language, in_language, say
from aoe_reports.model.time_units import TIME_UNITS
from aoe_reports.present.values import show

_IN_NS: Mapping[Kind, int] = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""What one of such a column is in nanoseconds."""
_CAPTIONED = ("rank_id", "device_id", "hardware")
"""Columns that stand above a table where all of its rows have the same."""


def with_units(grid: Grid) -> Grid:
    """The table with one unit for each time column, the largest of which its largest value has one."""
    return replace(grid, columns=tuple(_with_unit(column, grid.rows) for column in grid.columns))


def _with_unit(column: Column, rows: Sequence[Cells]) -> Column:
    in_ns = _IN_NS.get(column.kind)
    if in_ns is None:
        return column
    if any(isinstance(row.get(column.key), str) for row in rows) and not any(
        _size_of(row.get(column.key)) for row in rows
    ):
        return replace(column, kind="text")  # each value has its own unit
    largest = max(map(_size_of, (row.get(column.key) for row in rows)), default=0) * in_ns
    size, unit = next(
        (one for one in TIME_UNITS if largest >= one[0]), TIME_UNITS[-1] if largest else (in_ns, _name(in_ns))
    )
    return replace(column, title=f"{column.title} ({unit})", kind="time", factor=in_ns / size)


def _size_of(value: Cell) -> float:
    return abs(value) if isinstance(value, int | float) and math.isfinite(value) else 0


def _name(in_ns: int) -> str:
    return next(name for size, name in TIME_UNITS if size == in_ns)


def with_caption(section: Section, language: Language = "en") -> Section:
    """The section with what is the same in all rows of its table above them."""
    grid = section.grid
    same = (
        [] if grid is None else [one for one in grid.columns if one.key in _CAPTIONED and _is_constant(grid, one.key)]
    )
    if grid is None or not same:
        return section
    first = grid.rows[0]
    caption = " · ".join(
        in_language(say("{word}: {meaning}", word=one.title, meaning=show(first.get(one.key), one.kind)), language)
        for one in same
    )
    columns = tuple(column for column in grid.columns if column not in same)
    return replace(section, sentences=[*section.sentences, caption], grid=replace(grid, columns=columns))


def _is_constant(grid: Grid, key: str) -> bool:
    """Whether all of several rows have the same there."""
    return len(grid.rows) > 1 and all(row.get(key) == grid.rows[0].get(key) for row in grid.rows)
