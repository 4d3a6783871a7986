"""An answer as sections: where the run is said once, and which tables and columns are left out."""

from __future__ import annotations

import pytest

from aoe_reports.engine.question import Answer
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.present.answers import first_rows, grid_of, report_of, section_of


@row
class Timed:
    """Something of a run."""

    run: str = column("Run")
    name: str = column("Name")
    note: str | None = column("Note", default=None)


@row
class Named:
    """Something of no run."""

    name: str = column("Name")


ONE, OTHER = Timed(run="r1", name="a"), Timed(run="r2", name="b", note="odd")


def answer(*tables: Rows[Timed] | Rows[Named], run_above: bool) -> Answer:
    return Answer(
        command="x", title="T", headline="H", verdict="V", inputs=(), findings=(), tables=tables, run_above=run_above
    )


def titles(section: Section) -> list[str]:
    return [] if section.grid is None else [one.title for one in section.grid.columns]


@pytest.mark.parametrize(
    ("run_above", "rows", "above"),
    [(True, [ONE], True), (True, [ONE, OTHER], False), (False, [ONE], False), (False, [ONE, OTHER], False)],
)
def test_the_run_is_said_above_all_tables_where_it_is_one_and_that_is_asked_for(
    run_above: bool, rows: list[Timed], above: bool
) -> None:
    tables = (Rows(type=Timed, rows=rows), Rows(type=Named, rows=[Named(name="n")], title="Names"))
    report = report_of(answer(*tables, run_above=run_above))
    assert (report.title, report.headline, report.verdict) == ("T", "H", "V")
    first, *rest = report.sections if above else [Section("", []), *report.sections]
    assert (first.title, list(first.sentences), first.grid) == ("", ["Run: r1"] if above else [], None)
    assert [titles(one) for one in rest] == [
        ["Name"] if above else ["Run", "Name", "Note"] if len(rows) > 1 else ["Run", "Name"],
        ["Name"],
    ]
    assert [one.title for one in rest] == ["", "Names"]


def test_empty_tables_leave_no_titles() -> None:
    none: list[Timed] = []
    tables = (Rows(type=Timed, rows=none), Rows(type=Timed, rows=none, title="Nothing"), Rows(type=Timed, rows=[ONE]))
    for run_above in (False, True):
        sections = report_of(answer(*tables, run_above=run_above)).sections
        assert [one.title for one in sections] == [""] * (3 if run_above else 2)
    assert report_of(answer(Rows(type=Timed, rows=none, title="Nothing"), run_above=False)).sections == []


def test_sections_of_an_answer_are_shown_in_the_place_of_its_tables() -> None:
    told = Answer(command="x", title="T", inputs=(), findings=(), tables=(), sections=[Section("own")])
    assert report_of(told).sections == [Section("own")]


@pytest.mark.parametrize(
    ("of_runs", "rows", "said", "columns"),
    [
        (True, [ONE], ["Run: r1"], ["Name"]),
        (True, [ONE, OTHER], [], ["Run", "Name", "Note"]),
        (False, [ONE], [], ["Run", "Name"]),
        (True, [], [], []),
    ],
)
def test_a_table_of_one_run_says_it_above(
    of_runs: bool, rows: list[Timed], said: list[str], columns: list[str]
) -> None:
    section = section_of(Rows(type=Timed, rows=rows, of_runs=of_runs))
    assert (list(section.sentences), titles(section)) == (said, columns)
    told = section_of(Rows(type=Timed, rows=rows, of_runs=of_runs, sentences=["Known."]))
    assert list(told.sentences) == ["Known."]


def test_a_grid_has_the_columns_that_say_something_or_all() -> None:
    assert [one.key for one in grid_of(Timed, [ONE]).columns] == ["run", "name"]
    assert [one.key for one in grid_of(Timed, [ONE], whole=True).columns] == ["run", "name", "note"]
    assert [one.key for one in grid_of(Timed, [ONE, OTHER], without=("name",)).columns] == ["run", "note"]
    rows = grid_of(Timed, [ONE, OTHER, ONE]).rows
    assert (len(rows), rows[1]["name"], [one["name"] for one in rows[1:]]) == (3, "b", ["b", "a"])
    assert [one["run"] for one in rows] == ["r1", "r2", "r1"]


@pytest.mark.parametrize(("most", "listed"), [(None, 3), (3, 3), (2, 2)])
def test_of_a_long_table_the_first_rows_are_listed_and_all_are_counted(most: int | None, listed: int) -> None:
    rows = [Named(name=name) for name in "abc"]
    (section,) = report_of(answer(Rows(type=Named, rows=rows, sentences=["Said."]), run_above=False), most).sections
    assert section.grid is not None
    assert [cells["name"] for cells in section.grid.rows] == list("abc")[:listed]
    cut = ["The first 2 of 3 rows are listed; `--rows 3` lists all."] if listed < 3 else []
    assert list(section.sentences) == ["Said.", *cut]


def test_of_rows_oldest_first_the_newest_are_listed() -> None:
    rows = [Named(name=name) for name in "abc"]
    (section,) = report_of(answer(Rows(type=Named, rows=rows, oldest_first=True), run_above=False), 2).sections
    assert section.grid is not None
    assert [cells["name"] for cells in section.grid.rows] == ["b", "c"]
    assert section.sentences == ["The newest 2 of 3 rows are listed; `--rows 3` lists all."]


@pytest.mark.parametrize(
    ("rows", "lines", "said"),
    [
        (0, 3, ["The first 2 of 3 rows are listed; `--rows 3` lists all."]),
        (3, 3, ["The first 2 of 3 rows are listed; `--rows 3` lists all."]),
        (1, 4, ["The first 2 of 4 rows are listed; `--rows 4` lists all."]),
        (2, 2, []),
    ],
)
def test_lines_below_a_table_are_as_many_as_its_rows(rows: int, lines: int, said: list[str]) -> None:
    grid = Grid((), [{}] * rows) if rows else None
    short = first_rows(Section("T", [], grid, lines=["said"] * lines), 2)
    assert (list(short.sentences), list(short.lines)) == (said, ["said"] * 2)
    assert len(short.grid.rows if short.grid else []) == min(rows, 2)


def test_of_many_sections_the_first_with_so_many_rows_are_listed() -> None:
    def section(title: str, rows: int) -> Section:
        return Section(title, [], Grid((), [{}] * rows))

    sections = [section("a", 3), section("b", 2), Section("no table"), section("c", 4), section("d", 1)]
    told = Answer(command="x", title="T", inputs=(), findings=(), tables=(), sections=sections)
    shown = report_of(told, 4).sections
    assert [one.title for one in shown] == ["a", "b", "no table", ""]
    assert shown[-1].sentences == ["2 more tables are left out; `--rows 10` lists all."]
    assert [one.title for one in report_of(told, 10).sections] == ["a", "b", "no table", "c", "d"]
