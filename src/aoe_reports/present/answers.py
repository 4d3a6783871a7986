"""An answer as a report: what people are shown of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, overload

from aoe_reports.engine.question import Answer
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Rows, columns_of, shown, telling_columns
from aoe_reports.model.texts import say


def report_of(answer: Answer) -> Report:
    """What people are shown: the sections of the answer, else its tables."""
    sections = _sections(answer) if answer.sections is None else answer.sections
    return Report(answer.title, answer.headline, sections)


def _sections(answer: Answer) -> list[Section]:
    """The tables one after another, empty ones without their titles."""
    tables = [table for table in answer.tables if table.rows or not table.title]
    runs = {one.run for one in chain.from_iterable(table.rows for table in tables) if hasattr(one, "run")}
    if not answer.run_above or len(runs) != 1:
        return [section_of(table) for table in tables]
    above = Section("", [say("Run: {run}", run=runs.pop())])
    return [above, *(section_of(replace(table, without=table.without | {"run"})) for table in tables)]


def section_of(table: Rows[Any]) -> Section:
    """A table under its title, without what is said above; where all its rows are of one run, no column repeats that."""
    if not table.rows:
        return Section(table.title, table.sentences, None)
    rows = _Cells(table.rows)
    runs = {row.get("run") for row in rows} if table.of_runs else set()
    said = [say("Run: {run}", run=run) for run in runs] if len(runs) == 1 else []
    without = table.without | {"run"} if said else table.without
    columns = tuple(one for one in telling_columns(columns_of(table.type), rows) if one.key not in without)
    return Section(table.title, list(table.sentences) or said, Grid(columns, rows))


class _Cells(Sequence[Mapping[str, Any]]):
    """Rows as people are shown them, made while they are gone through: there may be too many to be held."""

    def __init__(self, rows: Sequence[object]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return map(shown, self._rows)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return _Cells(self._rows[index]) if isinstance(index, slice) else shown(self._rows[index])
