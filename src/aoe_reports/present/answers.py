"""An answer as a report: what people are shown of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
    runs = {one.run for table in tables for one in table.rows if hasattr(one, "run")} if answer.run_above else set()
    if len(runs) != 1:
        return [section_of(table) for table in tables]
    above = Section("", [say("Run: {run}", run=runs.pop())])
    return [above, *(section_of(replace(table, without=table.without | {"run"})) for table in tables)]


def section_of(table: Rows[Any]) -> Section:
    """A table under its title, without what is said above; where all its rows are of one run, no column repeats that."""
    if not table.rows:
        return Section(table.title, table.sentences, None)
    rows = [shown(one) for one in table.rows]
    columns = tuple(one for one in telling_columns(columns_of(table.type), rows) if one.key not in table.without)
    runs = {row.get("run") for row in rows}
    sentences = list(table.sentences)
    if table.of_runs and len(runs) == 1:
        columns = tuple(column for column in columns if column.key != "run")
        sentences = sentences or [say("Run: {run}", run=runs.pop())]
    return Section(table.title, sentences, Grid(columns, rows))
