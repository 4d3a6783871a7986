"""A report as plain text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from aoe_reports.model.documents import Cells
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.present.values import STATES, WORDS, cell, plain, wide_characters, width

MAX_CELL = 64
MAX_SENTENCE = 2000
HELD = 10_000
"""Of so many rows the cells are held while the widths of the columns are looked for."""


def render(report: Report) -> str:
    """The whole report; ends with a line end."""
    return "".join(render_pieces(report))


def render_pieces(report: Report) -> Iterator[str]:
    """The report piece by piece, for one whose rows are too many to be held."""
    if report.headline:
        yield plain(report.headline) + "\n\n"
    yield plain(report.title)
    for section in report.sections:
        before = "\n\n"
        for line in _section(section):
            yield before + line
            before = "\n"
    if report.verdict:
        yield "\n\n" + plain(report.verdict)
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
    """A table in aligned columns, numbers to the right; its rows are gone through twice, those of a long one without holding them."""
    columns = [column for column in table.columns if column.kind != "bars"]
    head = [plain(column.title) for column in columns]
    widths = [width(cell) for cell in head]
    held = list(_cells(table, columns)) if len(table.rows) <= HELD else None
    for row in held or _cells(table, columns):
        widths = [
            max(w, len(lines[0]) if len(lines) == 1 and lines[0].isascii() else max(map(width, lines)))
            for w, lines in zip(widths, row, strict=True)
        ]
    right = [column.kind not in WORDS | STATES for column in columns]
    yield _line(head, widths, right)
    yield "  ".join("-" * w for w in widths)
    for row in held or _cells(table, columns):
        yield from (_line(cells, widths, right) for cells in zip_longest(*row, fillvalue=""))


def _cells(table: Grid, columns: Sequence[Column]) -> Iterator[list[list[str]]]:
    return ([_lines(row, column) for column in columns] for row in table.rows)


def _lines(row: Cells, column: Column) -> list[str]:
    """What stands in a cell, line by line: only sentences have more than one. Most are short plain texts."""
    value = row.get(column.key)
    if value.__class__ is str and 0 < len(value) <= MAX_CELL and value.isascii() and value.isprintable():
        return [value]
    text = cell(row, column)
    return wrapped(text) if column.kind == "sentence" else [_cut(text)]


def _line(cells: Sequence[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        cell.rjust(w - wide_characters(cell)) if is_right else cell.ljust(w - wide_characters(cell))
        for cell, w, is_right in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _cut(text: str) -> str:
    """A long cell keeps its end, which tells names and paths apart."""
    if width(text) <= MAX_CELL:
        return text
    kept = text[-(MAX_CELL - 1) :]
    while width(kept) >= MAX_CELL:  # wide characters: each is taken out by itself
        kept = kept[1:]
    return f"…{kept}"


_PIECES = re.compile(r"[\u2e80-\uffef][\u3001\u3002\u201d\uff09\uff0c\uff1a\uff1b]*|[^\s\u2e80-\uffef]+|\s+")
"""Where a line may end: behind a word or a Chinese character, and not before the sign that closes something."""


def wrapped(text: str) -> list[str]:
    """A sentence in lines of `MAX_CELL` terminal columns; a longer word goes on in the next line, one without end is cut."""
    if len(text) > MAX_SENTENCE:
        text = text[: MAX_SENTENCE - 1] + "…"
    if width(text) <= MAX_CELL:
        return [text]
    lines = [""]
    for piece in _PIECES.findall(text):
        if width(piece.rstrip()) > MAX_CELL:
            first, *rest = _pieces_of(piece, MAX_CELL - width(lines[-1]))
            lines[-1] += first
            lines += rest
            continue
        if width(lines[-1]) + width(piece.rstrip()) > MAX_CELL and lines[-1]:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines if line]


def _pieces_of(word: str, room: int) -> list[str]:
    """A word in pieces: the first fills the room that is left in its line, the others have a line each."""
    pieces = [""]
    for character in word:
        if width(pieces[-1]) + width(character) > (room if len(pieces) == 1 else MAX_CELL):
            pieces.append("")
        pieces[-1] += character
    return pieces
