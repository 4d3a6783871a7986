"""What a terminal has room for: how wide the columns of a table are there, which are left out, and how words look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from aoe_reports.model.classes import record
from aoe_reports.present.values import Tone

Look = Tone | Literal["strong"]
_COLOURS: Mapping[Look, str] = {"strong": "1", "good": "32", "odd": "33", "bad": "31"}
"""Select graphic rendition, ECMA-48 8.3.117: bold, green, yellow, red."""
BETWEEN = 2
"""Blanks between two columns."""
MIN_TEXT = 20
"""Terminal columns that are left to a text before details of the table are left out."""
SHORT_TEXT = 12
"""The same before columns are left out that decide."""
_KEPT = 2
"""Columns that name the row: they are never left out, but for one of them where it is a detail."""


@record
class Screen:
    """What texts are shown on: a terminal, or what takes lines of any length."""

    columns: int | None = None
    """The width of a terminal; null for a file or a pipe."""
    colour: bool = False

    def coloured(self, text: str, look: Look | None) -> str:
        """A text as it looks on this screen; it holds no control characters of its own."""
        return f"\x1b[{_COLOURS[look]}m{text}\x1b[0m" if self.colour and look and text else text


PAPER = Screen()
"""A file, or a pipe."""


class Measured(NamedTuple):
    """What is known of a column before its width is."""

    title: int
    """The width of its title."""
    word: int
    """The width of the longest word of its title."""
    cells: int
    """The width of its widest cell."""
    may_narrow: bool
    """Whether a cell may be cut or take several lines."""
    is_detail: bool
    """Whether it is left out before others."""
    belongs_left: bool = False
    """Whether it and the column on its left say nothing without each other, such as both ends of an interval."""


def fit(columns: Sequence[Measured], room: int | None) -> list[int]:
    """The width of each column; 0 for one that is left out.

    Titles take several lines first, then texts get narrower, then details are left out, then texts get narrower still, and
    other columns are left out from the right.
    """
    natural = [max(column.title, column.cells) for column in columns]
    if room is None or _total(natural) <= room:
        return natural
    left = list(range(len(columns)))
    for place in _leaving(columns):
        text = MIN_TEXT if columns[place].is_detail else SHORT_TEXT
        if _total([_narrowest(columns[one], text) for one in left]) <= room:
            break
        left = [one for one in left if one not in _pair(columns, place)]
    text = MIN_TEXT if _total([_narrowest(columns[one], MIN_TEXT) for one in left]) <= room else SHORT_TEXT
    widths = dict(zip(left, _narrowed([columns[one] for one in left], room, text), strict=True))
    return [widths.get(place, 0) for place in range(len(columns))]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1)


def _leaving(columns: Sequence[Measured]) -> list[int]:
    """The order in which columns are left out."""
    places = range(len(columns) - 1, _KEPT - 1, -1)
    names = [place for place in range(min(_KEPT, len(columns) - 1)) if columns[place].is_detail][:1]
    return sorted([*places, *names], key=lambda place: not columns[place].is_detail)


def _pair(columns: Sequence[Measured], place: int) -> set[int]:
    """A column, and its neighbour if it belongs to it."""
    if place > _KEPT and columns[place].belongs_left:
        return {place - 1, place}
    is_lower = _KEPT <= place < len(columns) - 1 and columns[place + 1].belongs_left
    return {place, place + 1} if is_lower else {place}


def _narrowest(column: Measured, text: int) -> int:
    return max(column.word, min(column.cells, text) if column.may_narrow else column.cells)


def _narrowed(columns: Sequence[Measured], room: int, text: int) -> list[int]:
    """Widths with titles in several lines, then with the widest texts as narrow as it takes."""
    widths = [max(column.word, column.cells) for column in columns]
    least = [_narrowest(column, text) for column in columns]
    while _total(widths) > room:
        place = max(range(len(widths)), key=lambda one: (widths[one] > least[one], widths[one]))
        if widths[place] <= least[place]:
            break  # what is never left out takes more
        widths[place] -= 1
    while _total(widths) < room:  # what is left over goes to titles: one line is read more easily than two
        place = max(range(len(widths)), key=lambda one: columns[one].title / widths[one])
        if columns[place].title <= widths[place]:
            break
        widths[place] += 1
    return widths
