"""An answer as a report: what people are shown of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar, overload

from aoe_reports.engine.question import Answer
from aoe_reports.model.documents import Cells
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Rows, columns_of, shown, telling_columns
from aoe_reports.model.texts import say


def report_of(answer: Answer, most: int | None = None) -> Report:
    """The sections of an answer, else its tables; each list has at most `most` rows."""
    sections = _sections(answer) if answer.sections is None else answer.sections
    if most is not None:
        sections = [first_rows(section, most) for section in sections]
        sections = sections if answer.sections is None else _within(sections, most)
    return Report(
        answer.title, answer.headline, sections, answer.verdict,
        pages=answer.pages, sign_off=answer.sign_off, pictures=answer.pictures,
    )  # fmt: skip


def _sections(answer: Answer) -> list[Section]:
    """The tables one after another, empty ones without their titles."""
    tables = [table for table in answer.tables if table.is_shown and (table.rows or not table.title)]
    tables.sort(key=lambda table: table.place)
    runs = {one.run for one in chain.from_iterable(table.rows for table in tables) if hasattr(one, "run")}
    if not answer.run_above or len(runs) != 1:
        return [section_of(table) for table in tables]
    above = Section("", [say("Run: {run}", run=runs.pop())])
    return [above, *(section_of(replace(table, without=table.without | {"run"})) for table in tables)]


def first_rows(section: Section, most: int) -> Section:
    """The first rows of a table and the first lines below it, and how many there are; of rows oldest first the newest."""
    rows = [] if section.grid is None else section.grid.rows
    count = max(len(rows), len(section.lines))
    if count <= most:
        return section
    newest = section.grid is not None and section.grid.oldest_first
    said = first_of(most, count, newest=newest)
    part = slice(-most, None) if newest else slice(most)
    grid = None if section.grid is None else replace(section.grid, rows=rows[part])
    return replace(section, sentences=[*section.sentences, said], grid=grid, lines=section.lines[part])


def first_of(most: int, count: int, *, newest: bool = False) -> str:
    """How many rows of a longer list are shown, and which option shows all."""
    return say(
        "The newest {shown:,} of {count:,} rows are listed; `--rows {count}` lists all."
        if newest
        else "The first {shown:,} of {count:,} rows are listed; `--rows {count}` lists all.",
        shown=most,
        count=count,
    )


def _within(sections: Sequence[Section], most: int) -> list[Section]:
    """Drop the tables of a list (one a rank, say) behind the first `most` rows, and say how many are left out."""
    kept, tables, total = [], 0, 0
    for section in sections:
        rows = 0 if section.grid is None else len(section.grid.rows)
        if not rows or total < most:
            kept.append(section)
        else:
            tables += 1
        total += rows
    if tables:
        said = say("{count:,} more tables are left out; `--rows {total}` lists all.", count=tables, total=total)
        kept.append(Section("", [said]))
    return kept


def section_of(table: Rows[Any]) -> Section:
    """A table under its title, without what is said above; where all its rows are of one run, no column repeats that."""
    if not table.rows:
        return Section(table.title, table.sentences, None)
    runs = {row.run for row in table.rows} if table.of_runs else set()
    said = [say("Run: {run}", run=run) for run in runs] if len(runs) == 1 else []
    without = table.without | {"run"} if said else table.without
    grid = replace(grid_of(table.type, table.rows, without), oldest_first=table.oldest_first)
    return Section(table.title, list(table.sentences) or said, grid)


def grid_of(kind: type[object], rows: Sequence[object], without: Collection[str] = (), *, whole: bool = False) -> Grid:
    """Rows of a class under those of its columns that say anything in any of them; under all if `whole`."""
    cells = LazyRows(rows, shown)
    columns = tuple(one for one in columns_of(kind) if one.key not in without)
    return Grid(columns if whole else telling_columns(columns, cells), cells)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LazyRows(Sequence[Cells], Generic[T]):
    """Rows that are made while they are gone through: there may be too many to be held."""

    sources: Sequence[T]
    make: Callable[[T], Cells]

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Cells]:
        return map(self.make, self.sources)

    @overload
    def __getitem__(self, index: int) -> Cells: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Cells]: ...
    def __getitem__(self, index: int | slice) -> Cells | Sequence[Cells]:
        return LazyRows(self.sources[index], self.make) if isinstance(index, slice) else self.make(self.sources[index])
