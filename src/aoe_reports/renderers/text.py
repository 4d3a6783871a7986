"""A report as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.renderers.values import STATES, WORDS, plain, show, width
from aoe_reports.reports.report import Column, Grid, Report, Section

MAX_CELL = 64


def render(report: Report) -> str:
    """The whole report; ends with a line end."""
    return "".join(render_pieces(report))


def render_pieces(report: Report) -> Iterator[str]:
    """The report piece by piece, for one whose rows are too many to be held."""
    yield plain(report.title)
    if report.headline:
        yield "\n\n" + plain(report.headline)
    for section in report.sections:
        before = "\n\n"
        for line in _section(section):
            yield before + line
            before = "\n"
    yield "\n"


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield plain(section.title)
        yield "-" * width(section.title)
    yield from (plain(sentence) for sentence in section.sentences)
    if section.grid is not None:
        yield from grid(section.grid)
    yield from (plain(line) for line in section.lines)


def grid(table: Grid) -> Iterator[str]:
    """A table in aligned columns, numbers to the right; its rows are gone through twice."""
    columns = [column for column in table.columns if column.kind != "bars"]
    head = [plain(column.title) for column in columns]
    widths = [width(cell) for cell in head]
    for row in _cells(table, columns):
        widths = [max(w, width(cell)) for w, cell in zip(widths, row, strict=True)]
    right = [column.kind not in WORDS | STATES for column in columns]
    yield _line(head, widths, right)
    yield "  ".join("-" * w for w in widths)
    yield from (_line(row, widths, right) for row in _cells(table, columns))


def _cells(table: Grid, columns: Sequence[Column]) -> Iterator[list[str]]:
    return ([_cut(show(row.get(column.key), column.kind)) for column in columns] for row in table.rows)


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        " " * (w - width(cell)) + cell if r else cell + " " * (w - width(cell))
        for cell, w, r in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _cut(text: str) -> str:
    """A long cell keeps its end, which tells names and paths apart."""
    return text if len(text) <= MAX_CELL else "…" + text[-(MAX_CELL - 1) :]
