"""What the tables of a database are put together from: columns under canonical names, and how to pick and join them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aoe_reports.formats.convert import LONGEST_NS
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, EncodedWords, Rows, find
from aoe_reports.formats.table import NO_ID, NULL_TOKENS
from aoe_reports.model.arrays.columns import Ints, Mask, distinct
from aoe_reports.model.texts import say

Series = Cells | EncodedWords

Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Built:
    """The columns of one table of ours."""

    columns: Mapping[str, Series]
    """By canonical name."""
    rows: int
    reported: int
    """Rows of the database that are not among them and are in the findings."""
    extra: Mapping[str, Cells] = field(default_factory=dict)
    """Columns that no declaration names, by the header that they have in text."""


@dataclass(frozen=True, slots=True)
class Source:
    """How one kind of table is read: the database's tables that must be there and hold rows, and the reading."""

    needs: Mapping[str, tuple[str, ...]]
    """Columns by table; the first table must hold a row."""
    read: Callable[[Database, Wanted], Built]
    also: Callable[[Database], bool] | None = None
    """What else must be so for the kind to be offered."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Where a canonical column stands in one table."""

    column: str
    type: CellType = "integer"
    dictionary: str | None = None
    """The table that turns the id into a word."""


def by_id(column: str, dictionary: str = "STRING_IDS") -> Picked:
    return Picked(column, "integer", dictionary)


def each(pick: Callable[[str], Picked], *columns: str) -> dict[str, Picked]:
    """Several columns by their names in snake case, under which tables of ours have them (`opType` is `op_type`)."""
    return {_CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", column): pick(column) for column in columns}


_CAPITAL = re.compile("[A-Z]")


def read_picked(
    database: Database,
    table: str,
    picked: Mapping[str, Picked],
    always: Mapping[str, CellType],
    needed: Iterable[str],
    wanted: Wanted,
) -> tuple[Rows, dict[str, Series]]:
    """Rows of a table and, for those that are good, its wanted columns under canonical names."""
    taken = {name: pick for name, pick in picked.items() if wanted(name)}
    columns: dict[str, CellType] = {**{pick.column: pick.type for pick in taken.values()}, **always}
    rows = database.fetch(table, columns, frozenset(needed))
    series: dict[str, Series] = {}
    for name, pick in taken.items():
        cells = rows.cells[pick.column].take(rows.good)
        if pick.dictionary is not None:
            series[name] = database.lookup(cells, f"{table}.{pick.column}", pick.dictionary)
        else:
            series[name] = cells
    return rows, series


def read_all(database: Database, table: str, picked: Mapping[str, Picked]) -> dict[str, Series]:
    """All rows of a table under canonical names, whatever they lack."""
    return read_picked(database, table, picked, {}, (), lambda _: True)[1]


def cells_of(series: Mapping[str, Series], name: str) -> Cells:
    column = series[name]
    assert isinstance(column, Cells)
    return column


def words_of(series: Mapping[str, Series], name: str) -> EncodedWords:
    column = series[name]
    assert isinstance(column, EncodedWords)
    return column


@dataclass(frozen=True, slots=True)
class Index:
    """Rows by a key of theirs."""

    keys: Ints
    """In order."""
    rows: Ints
    """The row of each."""

    @classmethod
    def of(cls, keys: Ints, rows: Ints | None = None) -> Index:
        """The index of rows with these keys; `rows` are their numbers where they are some of many."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], order if rows is None else rows[order])

    @property
    def repeats(self) -> Mask:
        """Which of the keys stand there before."""
        repeats = np.zeros(len(self.keys), dtype=bool)
        repeats[1:] = self.keys[1:] == self.keys[:-1]
        return repeats

    def find(self, wanted: Ints) -> tuple[Ints, Mask]:
        """(the place of each of some keys among all, whether it is there)."""
        return find(self.keys, wanted)


def without_no_id(cells: Cells) -> Cells:
    return Cells(cells.values, cells.there & (cells.values != NO_ID))


SPAN: Mapping[str, CellType] = {"startNs": "time", "endNs": "time"}


def spans(database: Database, rows: Rows) -> tuple[Ints, Ints, Mask]:
    """Start, length and which of a table's rows have both; what takes longer than anything can is reported."""
    start, end = rows.ints("startNs"), rows.ints("endNs")
    length = np.where(rows.good, end - start, 0)
    endless = np.abs(length) >= LONGEST_NS
    database.implausible(
        rows.table, say("the difference between endNs and startNs is longer than any possible duration"), endless
    )
    return start, length, rows.good & ~endless


def among(words: EncodedWords, test: Callable[[str], bool]) -> Mask:
    passing = np.zeros(len(words.words) + 1, dtype=bool)  # (the last one is that of -1)
    for place in words.used():
        passing[place] = test(words.words[place])
    return passing[words.places]


def first_of(words: EncodedWords, other: Series | None) -> EncodedWords:
    """Words, and where there is none (or "N/A") those of another column."""
    if not isinstance(other, EncodedWords):
        return words
    named = (words.places >= 0) & ~among(words, lambda word: word in NULL_TOKENS)
    shifted = np.where(other.places >= 0, other.places + len(words.words), -1)
    return EncodedWords(np.where(named, words.places, shifted), [*words.words, *other.words])


def stacked(parts: Sequence[Series | None], counts: Sequence[int], *, words: bool = False) -> Series:
    """The columns of several sources one below the other, null where a source has none; `words` if none of them has."""
    if words or any(isinstance(part, EncodedWords) for part in parts):
        known: list[str] = []
        places: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for part, count in zip(parts, counts, strict=True):
            if isinstance(part, EncodedWords):
                places.append(np.where(part.places >= 0, part.places + len(known), -1))
                known += part.words
            else:
                places.append(np.full(count, -1, dtype=np.int64))
        return EncodedWords(np.concatenate(places), known)
    cells = [nothing(0)]
    cells += [part if isinstance(part, Cells) else nothing(count) for part, count in zip(parts, counts, strict=True)]
    return Cells(np.concatenate([cell.values for cell in cells]), np.concatenate([cell.there for cell in cells]))


def repeated(word: str, count: int) -> EncodedWords:
    return EncodedWords(np.zeros(count, dtype=np.int64), (word,))


def nothing(count: int) -> Cells:
    return Cells(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))


def codes(column: Series) -> Ints:
    if isinstance(column, Cells):
        _, places = np.unique(column.ints, return_inverse=True)
        return np.where(column.there, places, -1)
    numbers: dict[str, int] = {}
    used = distinct(column.places)
    code = {
        place: -1 if place < 0 else numbers.setdefault(column.words[place], len(numbers)) for place in used.tolist()
    }
    return np.asarray([code[place] for place in used.tolist()], dtype=np.int64)[np.searchsorted(used, column.places)]


def listed(cells: Sequence[str | None]) -> EncodedWords:
    words: dict[str, int] = {}
    places = [-1 if cell is None else words.setdefault(cell, len(words)) for cell in cells]
    return EncodedWords(np.asarray(places, dtype=np.int64), list(words))
