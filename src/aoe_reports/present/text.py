"""A report as plain text for a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat, zip_longest

from aoe_reports.model.documents import Cells
from aoe_reports.model.findings import Finding
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Language, in_language, join, say
from aoe_reports.present.screen import BETWEEN, PAPER, Look, Measured, Screen, fit
from aoe_reports.present.values import STATES, WORDS, cell, look_of, plain, width

MAX_CELL = 64
MAX_SENTENCE = 2000
MIN_TITLE = 8
_WHOLE = frozenset({"rule"})
"""Keys of columns whose texts are never cut: they are typed again."""
_UPPER_ENDS = frozenset({"ci_high", "ci_high_us", "high"})
"""Keys of columns with the upper end of an interval; the column on their left has the lower end."""
HELD = 10_000
"""Up to so many rows, cells are kept in memory while column widths are computed."""


def render(report: Report, screen: Screen = PAPER) -> str:
    """The whole report; ends with a line end."""
    return "".join(render_pieces(report, screen))


def render_pieces(report: Report, screen: Screen = PAPER) -> Iterator[str]:
    """The report piece by piece, for one whose rows are too many to be held."""
    if report.headline:
        yield "\n".join(screen.coloured(line, "strong") for line in _sentence(report.headline, screen)) + "\n\n"
    yield "\n".join(_sentence(report.title, screen))
    for section in report.sections:
        before = "\n\n"
        for line in _section(section, screen, report.language):
            yield before + line
            before = "\n"
    if report.verdict:
        yield "\n\n" + "\n".join(_sentence(report.verdict, screen))
    yield "\n"


def finding_line(finding: Finding, language: Language = "en", screen: Screen = PAPER) -> str:
    """A finding as a line, its severity in colour."""
    severity = f": {in_language(say(finding.severity), language)}: "
    before, severity_words, behind = plain(in_language(finding.as_text(), language)).partition(severity)
    return f"{before}{screen.coloured(severity_words, _SEVERITIES.get(finding.severity))}{behind}"


_SEVERITIES: dict[str, Look] = {"error": "bad", "warning": "odd"}


def _sentence(sentence: str, screen: Screen) -> list[str]:
    """A sentence in as many lines as it takes on a terminal."""
    return [plain(sentence)] if screen.columns is None else wrapped(plain(sentence), screen.columns)


def _section(section: Section, screen: Screen, language: Language) -> Iterator[str]:
    if section.title:
        lines = _sentence(section.title, screen)
        yield from (screen.coloured(line, "strong") for line in lines)
        yield "-" * max(map(width, lines))
    for sentence in section.sentences:
        yield from _sentence(sentence, screen)
    if section.grid is not None:
        yield from grid(section.grid, screen, language)
    yield from (plain(line) for line in section.lines)


def grid(table: Grid, screen: Screen = PAPER, language: Language = "en") -> Iterator[str]:
    """A table in aligned columns, numbers to the right; its rows are gone through twice, those of a long one without holding them.

    A terminal gets the columns that it has room for, and is told which it has none for.
    """
    columns = [column for column in table.columns if column.kind != "bars"]
    held = list(_cells(table, columns)) if len(table.rows) <= HELD else None
    widest = _widest(columns, held or _cells(table, columns))
    widths = fit([_measured(one, most) for one, most in zip(columns, widest, strict=True)], screen.columns)
    left_out = [plain(column.title) for column, room in zip(columns, widths, strict=True) if not room]
    if any(room < most for room, most in zip(widths, widest, strict=True)):
        held = None
    columns = [column for column, room in zip(columns, widths, strict=True) if room]
    widths = [room for room in widths if room]
    right = [column.kind not in WORDS | STATES for column in columns]
    yield from (_line(_padded(titles, widths, right)) for titles in _titles(columns, widths))
    yield _line("-" * w for w in widths)
    looks: Iterable[list[Look | None] | None] = repeat(None)
    if screen.colour:
        looks = ([look_of(row, one) if one.kind in STATES else None for one in columns] for row in table.rows)
    for row, look in zip(held or _cells(table, columns, widths), looks, strict=False):
        for cells in zip_longest(*row, fillvalue=""):
            padded = _padded(cells, widths, right)
            yield _line(padded if look is None else map(screen.coloured, padded, look))
    if left_out:
        said = say(
            "Left out to fit the terminal: {columns}. A file or a pipe has all columns.", columns=join(", ", left_out)
        )
        yield from _sentence(in_language(said, language), screen)


def _widest(columns: Sequence[Column], rows: Iterable[list[list[str]]]) -> list[int]:
    widths = [0] * len(columns)
    for row in rows:
        widths = [
            max(w, len(lines[0]) if len(lines) == 1 and lines[0].isascii() else max(map(width, lines)))
            for w, lines in zip(widths, row, strict=True)
        ]
    return widths


def _measured(column: Column, widest: int) -> Measured:
    title = plain(column.title)
    return Measured(
        title=width(title),
        word=_least_of_title(title),
        cells=widest,
        may_narrow=column.kind in WORDS and column.key not in _WHOLE,
        is_detail=column.detail,
        belongs_left=column.key in _UPPER_ENDS,
    )


def _least_of_title(title: str) -> int:
    """The least width of a title: its longest word, but no fewer than a few characters a line."""
    longest = max(map(width, title.split()), default=0)
    return max([min(longest, MIN_TITLE), *(width(piece.strip()) for piece in _PIECES_OF_TITLES.findall(title))])


def _titles(columns: Sequence[Column], widths: Sequence[int]) -> Iterator[Sequence[str]]:
    """The titles line by line, aligned at the bottom."""
    lines = [
        wrapped(plain(column.title), most, _PIECES_OF_TITLES) for column, most in zip(columns, widths, strict=True)
    ]
    return reversed(list(zip_longest(*(reversed(each) for each in lines), fillvalue="")))


def _cells(
    table: Grid, columns: Sequence[Column], widths: Iterable[int] = repeat(MAX_CELL)
) -> Iterator[list[list[str]]]:
    most = [min(MAX_CELL, one) for one, _ in zip(widths, columns, strict=False)]
    return ([_lines(row, column, w) for column, w in zip(columns, most, strict=True)] for row in table.rows)


def _lines(row: Cells, column: Column, most: int) -> list[str]:
    """The lines of a cell: only sentences have several. Most cells are short plain texts."""
    value = row.get(column.key)
    if value.__class__ is str and 0 < len(value) <= most and value.isascii() and value.isprintable():
        return [value]
    text = cell(row, column)
    if column.kind != "sentence":
        return [_cut(text, most)]
    return wrapped(text if len(text) <= MAX_SENTENCE else text[: MAX_SENTENCE - 1] + "…", most)


def _padded(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [
        " " * (w - width(cell)) + cell if is_right else cell + " " * (w - width(cell))
        for cell, w, is_right in zip(cells, widths, right, strict=True)
    ]


def _line(cells: Iterable[str]) -> str:
    return (" " * BETWEEN).join(cells).rstrip()


def _cut(text: str, most: int) -> str:
    """A long cell keeps its end, in which names and paths differ."""
    if width(text) <= most:
        return text
    kept = text[-2 * most :]
    while width(kept) >= most or unicodedata.combining(kept[:1] or " "):  # each by itself, with its marks
        kept = kept[1:]
    return f"…{kept}"


_PIECES = re.compile(r"[\u2e80-\uffef][\u3001\u3002\u201d\uff09\uff0c\uff1a\uff1b]*|[^\s\u2e80-\uffef]+|\s+")
"""Where a line may end: behind a word or a Chinese character, and not before the sign that closes something."""


_PIECES_OF_TITLES = re.compile(_PIECES.pattern.replace(r"|[^\s\u2e80-\uffef]+", r"|[^\s\u2e80-\uffef/]+/?|/"))
"""Titles may also end a line behind a stroke, as in after/before."""


def wrapped(text: str, most: int = MAX_CELL, pieces: re.Pattern[str] = _PIECES) -> list[str]:
    """A sentence wrapped to a width; a longer word continues on the next line."""
    if width(text) <= most:
        return [text]
    lines = [""]
    for piece in pieces.findall(text):
        if width(piece.rstrip()) > most:
            first, *rest = _pieces_of(piece, most - width(lines[-1]), most)
            lines[-1] += first
            lines += rest
            continue
        if width(lines[-1]) + width(piece.rstrip()) > most and lines[-1]:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines if line]


def _pieces_of(word: str, room: int, most: int) -> list[str]:
    """A word in pieces: the first fills the room that is left in its line, the others have a line each."""
    pieces = [""]
    for character in word:
        if width(pieces[-1]) + width(character) > (room if len(pieces) == 1 else most):
            pieces.append("")
        pieces[-1] += character
    return pieces
