"""Opens a database of the profiler without trusting it: columns as numpy arrays, and what is wrong with them.

SQLite types each cell by itself, checks nothing and runs what a schema says. So only columns of plain tables are read,
one table at a time and without any join, expression or index of the file's own; every cell is held against the type
that its column must have; and a table is walked through by `quick_check` before a row of it is used.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import numpy as np

from aoe_reports.formats.rules import MISSING_VALUE
from aoe_reports.formats.sqlite.rules import DB_DANGLING_ID, DB_INCOMPLETE, DB_JOURNAL, DB_VALUE, INEXACT_TIMESTAMP
from aoe_reports.formats.table import NO_ID, NULL_TOKENS
from aoe_reports.model.arrays.columns import Floats, Ints, Mask
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, say

MAGIC = b"SQLite format 3\0"
MAX_CELL_BYTES = 16 << 20
"""The longest text that is taken: longer ones are no operator names."""
BATCH = 1 << 11
"""Rows at a time: more of them only cost the garbage collector more."""
MAX_NS = 2**62
"""Beyond this no number is a point in time, and the difference of two would not fit into 64 bits."""

_HOT_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_HEADER_BYTES = 100
_LARGEST_PAGE = 65536
_EXACT_IN_FLOAT = 2.0**53
_INT64 = 2**63
_STEPS_BETWEEN_LOOKS = 1000
_SECONDS = 120.0
_BYTES_A_SECOND = 1 << 20
_INTEGER = re.compile(r"\s*[+-]?\d{1,19}\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*", re.ASCII)

CellType = Literal["integer", "time", "number", "words"]


@dataclass(frozen=True, slots=True)
class Cells:
    """Numbers of one column and where there is one (0 elsewhere)."""

    values: Ints | Floats
    there: Mask

    @property
    def ints(self) -> Ints:
        return self.values.astype(np.int64, copy=False)

    def take(self, rows: Ints | Mask) -> Cells:
        return Cells(self.values[rows], self.there[rows])


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """Words of one column: each row's place among `words`, -1 where there is none."""

    places: Ints
    words: Sequence[str]

    def used(self) -> list[int]:
        """The places that occur, in order: a database has many more words than one column."""
        occurs = np.zeros(len(self.words) + 1, dtype=bool)  # (the last one is that of -1)
        occurs[self.places] = True
        return [int(place) for place in np.flatnonzero(occurs[:-1])]

    def renamed(self, change: Callable[[str], str]) -> EncodedWords:
        used = self.used()
        fresh = np.full(len(self.words) + 1, -1, dtype=np.int64)
        fresh[used] = np.arange(len(used), dtype=np.int64)
        return EncodedWords(fresh[self.places], [change(self.words[place]) for place in used])

    def take(self, rows: Ints | Mask) -> EncodedWords:
        return EncodedWords(self.places[rows], self.words)


def find(keys: Ints, wanted: Ints) -> tuple[Ints, Mask]:
    """(the place of each of some numbers among sorted keys, whether it is there)."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    near = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return near, keys[near] == wanted


@dataclass(frozen=True, slots=True)
class Rows:
    """Some columns of one table of the database."""

    table: str
    good: Mask
    """Rows that have a value of the right type in every needed column; the others are reported."""
    cells: Mapping[str, Cells]
    words: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """All rows, good or not."""
        return len(self.good)

    def ints(self, column: str) -> Ints:
        return self.cells[column].ints


class Database:
    """One open database; `findings` grows while it is read. sqlite3.DatabaseError says that it is damaged."""

    def __init__(self, path: Path, connection: sqlite3.Connection, findings: list[Finding]) -> None:
        self.path, self.findings = path, findings
        self._connection = connection
        self._columns: dict[str, tuple[str, ...]] = {}
        self._strings: dict[str, tuple[Ints, list[str]]] = {}
        self._checked: set[str] = set()
        self._tables: frozenset[str] | None = None

    @property
    def tables(self) -> frozenset[str]:
        """Names of its plain tables: neither views nor virtual ones, which are code."""
        if self._tables is None:
            found = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
            self._tables = frozenset(str(name) for (name,) in found if isinstance(name, str))
        return self._tables

    def columns(self, table: str) -> tuple[str, ...]:
        """The stored columns of a table, none where there is no such table; generated ones are code and not listed."""
        if table not in self._columns:
            rows = self._connection.execute(f"PRAGMA table_info({_quoted(table)})") if table in self.tables else ()
            self._columns[table] = tuple(str(row[1]) for row in rows)
        return self._columns[table]

    def has(self, table: str, *columns: str) -> bool:
        return bool(self.columns(table)) and set(columns) <= set(self.columns(table))

    def filled(self, table: str) -> bool:
        if table not in self.tables:
            return False
        query = f"SELECT 1 FROM {_quoted(table)} NOT INDEXED LIMIT 1"  # noqa: S608 -- quoted
        return self._connection.execute(query).fetchone() is not None

    def names(self, table: str, column: str) -> bool:
        """Whether a column of ids stands for any word at all: not for "N/A" in every row."""
        query = (
            f"SELECT 1 FROM {_quoted(table)} NOT INDEXED WHERE {_quoted(column)} NOT IN "  # noqa: S608 -- quoted
            "(SELECT id FROM STRING_IDS WHERE value IN ('N/A', '')) LIMIT 1"
        )
        return self._connection.execute(query).fetchone() is not None

    def fetch(
        self,
        table: str,
        columns: Mapping[str, CellType],
        needed: frozenset[str] = frozenset(),
        *,
        quiet: bool = False,
    ) -> Rows:
        """Columns of a table in the order of its rows; `quiet` where what is wrong in it is reported elsewhere.

        A column that is not there has no values; sqlite3.DatabaseError where a `needed` one is missing.
        """
        if table not in self.tables:
            raise sqlite3.DatabaseError(say("no table {table}", table=table))
        for name in sorted(needed - set(self.columns(table))):
            raise sqlite3.DatabaseError(say("no column {column} in table {table}", column=name, table=table))
        self._check(table)
        stored = {name: kind for name, kind in columns.items() if name in self.columns(table)}
        read = self._read(f"FROM {_quoted(table)} NOT INDEXED", stored)
        findings, self.findings = self.findings, [] if quiet else self.findings
        rows_read = self._judged(table, columns, needed, read)
        self.findings = findings
        return rows_read

    def _read(self, source: str, stored: Mapping[str, CellType]) -> _Read:
        """All cells of some columns that are there, a batch of rows at a time."""
        words: dict[str, list[str | None]] = {name: [] for name, kind in stored.items() if kind == "words"}
        numbers: dict[str, list[_Converted]] = {name: [] for name, kind in stored.items() if kind != "words"}
        count = 0
        query = self._connection.execute(f"SELECT {', '.join(map(_quoted, stored)) or '1'} {source}")
        query.arraysize = BATCH
        while rows := query.fetchmany():
            count += len(rows)
            for (name, kind), cells in zip(stored.items(), zip(*rows, strict=True), strict=False):
                if kind == "words":
                    words[name] += map(_word, cells)
                else:
                    numbers[name].append(_CONVERTERS[kind](cells))
        joined = {name: _joined(found) for name, found in numbers.items()}
        return _Read(source, count, joined, {name: tuple(cells) for name, cells in words.items()})

    def _judged(self, table: str, columns: Mapping[str, CellType], needed: frozenset[str], read: _Read) -> Rows:
        """Report cells of the wrong type, and rows that lack what they need."""
        good = np.ones(read.count, dtype=bool)
        cells: dict[str, Cells] = {}
        words: dict[str, tuple[str | None, ...]] = {}
        for name, kind in columns.items():
            if kind == "words":
                words[name] = read.words.get(name, (None,) * read.count)
            elif name not in read.numbers:
                nothing = np.zeros(read.count) if kind == "number" else np.zeros(read.count, dtype=np.int64)
                cells[name] = Cells(nothing, np.zeros(read.count, dtype=bool))
            else:
                found = read.numbers[name]
                cells[name] = Cells(found.values, found.there)
                if name in needed:
                    self._absent(table, name, ~found.there & ~found.bad & good)
                    good &= found.there
                self._odd(table, name, kind, found, read.source, left_out=name in needed)
        return Rows(table, good, cells, words)

    def _odd(self, table: str, column: str, kind: CellType, found: _Converted, source: str, *, left_out: bool) -> None:
        if found.bad.any():
            self._bad(table, column, kind, found.bad, source, left_out=left_out)
        if found.inexact and kind == "time":
            message = say(
                "{column}: {count} timestamps are floating-point numbers and have lost their last digits",
                column=f"{table}.{column}",
                count=found.inexact,
            )
            self.report(INEXACT_TIMESTAMP, message)

    def report(self, rule: Rule, message: str) -> None:
        self.findings.append(rule.found(str(self.path), message))

    def implausible(self, table: str, what: str, bad: Mask) -> None:
        """Report rows that are left out because of a value worked out from several cells."""
        if count := int(bad.sum()):
            message = say("{table}: {count} rows whose {what}; they are left out", table=table, count=count, what=what)
            self.report(DB_VALUE, message)

    def lookup(self, ids: Cells, where: str, table: str = "STRING_IDS") -> EncodedWords:
        """The words that ids of a column stand for; what the file's dictionary does not know is null and reported."""
        keys, words = self._dictionary(table)
        there = ids.there & (ids.values != NO_ID)
        near, known = find(keys, ids.ints)
        found = there & known
        places = np.where(found, near, -1)
        dangling = int((there & ~found).sum())
        if dangling and not self._has_words(table):
            message = say(
                "no usable table {table} here: the meaning of the {count} ids of {column} is not known, those "
                "cells are empty in the table",
                column=where,
                count=dangling,
                table=table,
            )
            self.report(DB_INCOMPLETE, message)
        elif dangling:
            message = say(
                "{column}: {count} ids that do not exist in {table}; those cells are empty in the table",
                column=where,
                count=dangling,
                table=table,
            )
            self.report(DB_DANGLING_ID, message)
        return EncodedWords(places, words)

    def words(self, rows: Rows, column: str, chosen: Mask, table: str = "STRING_IDS") -> EncodedWords:
        """The words that a column of some rows stands for."""
        return self.lookup(rows.cells[column].take(chosen), f"{rows.table}.{column}", table)

    def strings(self, table: str = "STRING_IDS") -> dict[int, str]:
        """A dictionary of the file: words by id."""
        keys, words = self._dictionary(table)
        return dict(zip(keys.tolist(), words, strict=True))

    def _has_words(self, table: str) -> bool:
        return self.has(table, "id", _column_of_words(table))

    def _dictionary(self, table: str) -> tuple[Ints, list[str]]:
        if table not in self._strings:
            value = _column_of_words(table)
            if not self._has_words(table):
                self._strings[table] = np.zeros(0, dtype=np.int64), []
                return self._strings[table]
            rows = self.fetch(table, {"id": "integer", value: "words"}, frozenset({"id"}))
            keys, first = np.unique(rows.ints("id")[rows.good], return_index=True)
            kept = np.flatnonzero(rows.good)[first]
            self._strings[table] = keys, [rows.words[value][int(row)] or "" for row in kept]
        return self._strings[table]

    def _check(self, table: str) -> None:
        """Walk once through the pages of a table: a wrong pointer may lead a plain read past rows without an error."""
        if table in self._checked:
            return
        for (answer,) in self._connection.execute(f"PRAGMA quick_check({_quoted(table)})"):
            if answer != "ok" and not str(answer).startswith(_HARMLESS):
                why = " ".join(str(answer).split())[:200]
                raise sqlite3.DatabaseError(say("table {table}: {why}", table=table, why=why))
        self._checked.add(table)

    def _bad(self, table: str, column: str, kind: CellType, bad: Mask, source: str, *, left_out: bool) -> None:
        first = int(np.argmax(bad))
        try:
            where, shown = self._connection.execute(
                f"SELECT rowid, {_quoted(column)} {source} LIMIT 1 OFFSET {first}"
            ).fetchone()
        except sqlite3.DatabaseError:  # a table may have no rowid
            where, shown = "?", "?"
        message = say(
            "{column}: {count} values that are not {kind}, the first is {value!r} in the row with rowid {row}; "
            "{effect}",
            column=f"{table}.{column}",
            count=int(bad.sum()),
            kind=say("numbers" if kind == "number" else "whole numbers"),
            value=str(shown)[:60],
            row=where,
            effect=say("these rows are left out" if left_out else "these cells are empty in the table"),
        )
        self.report(DB_VALUE, message)

    def _absent(self, table: str, column: str, absent: Mask) -> None:
        if count := int(absent.sum()):
            message = say(
                "{column}: {count} rows without a value, the first is row {row}; they are left out",
                column=f"{table}.{column}",
                count=count,
                row=int(np.argmax(absent)) + 1,
            )
            self.report(MISSING_VALUE, message)


_HARMLESS = ("NULL value in", "CHECK constraint", "non-unique entry", "NUMERIC value in", "TEXT value in")
"""What quick_check says of values: those are held against their types here, one by one."""


_OF_SQLITE = frozenset(
    {
        say("database disk image is malformed"),
        say("disk I/O error"),
        say("file is not a database"),
        say("interrupted"),
        say("out of memory"),
        say("string or blob too big"),
        say("unable to open database file"),
        say("unsupported file format"),
    }
)


def said_by(error: sqlite3.Error) -> str:
    """Why a database cannot be read, as a text that can be translated where it is ours or a usual one of SQLite."""
    if error.args and isinstance(error.args[0], Text):
        return error.args[0]
    return say(str(error)) if str(error) in _OF_SQLITE else str(error)


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """A database for reading only, never locked and never written; sqlite3.DatabaseError where it is none."""
    findings: list[Finding] = []
    size = _sound(path, findings)
    location = f"file://{quote(os.fsencode(os.path.abspath(path)))}?mode=ro&immutable=1"
    connection = sqlite3.connect(location, uri=True, isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
        connection.text_factory = _text
        deadline = time.monotonic() + _SECONDS + size / _BYTES_A_SECOND
        # a schema may hold conditions that never end; whoever wrote it shall not stop a night
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {setting}")
        yield Database(path, connection, findings)
    except UnicodeDecodeError as error:
        # sqlite3 takes names, and its own messages with a part of the schema in them, for UTF-8
        raise sqlite3.DatabaseError(say("the names in it are not UTF-8")) from error
    finally:
        connection.close()


def _sound(path: Path, findings: list[Finding]) -> int:
    """The file's length; sqlite3.DatabaseError where it is no database or is cut off."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a readable database was expected")) from error
    if not header:
        raise sqlite3.DatabaseError(say("the file is empty"))
    if not header.startswith(MAGIC) or len(header) < _HEADER_BYTES:
        raise sqlite3.DatabaseError(say("this is not a SQLite database"))
    page = int.from_bytes(header[16:18], "big")
    page = _LARGEST_PAGE if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    # SQLite believes its own page count only where both change counters agree, and so does this
    if header[24:28] == header[92:96] and size < page * pages:
        raise sqlite3.DatabaseError(
            say("the file is truncated: {size} of {whole} bytes", size=size, whole=page * pages)
        )
    for name, hot in ((f"{path.name}-wal", None), (f"{path.name}-journal", _HOT_JOURNAL)):
        if _holds(path.with_name(name), hot):
            message = say("{name} exists beside it and was not written back: its content is not read", name=name)
            findings.append(DB_JOURNAL.found(str(path), message))
    return size


def _holds(path: Path, beginning: bytes | None) -> bool:
    """Whether a journal lies there and has something in it."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_HOT_JOURNAL))
    except OSError:
        return False
    return bool(head) if beginning is None else head == beginning


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _word(cell: Any) -> str | None:
    """A cell as text; what is stored as a number by mistake of SQLite's affinity is its digits."""
    if cell is None or isinstance(cell, bytes):
        return None
    return str(cell)


@dataclass(frozen=True, slots=True)
class _Converted:
    values: Ints | Floats
    there: Mask
    bad: Mask
    inexact: int = 0
    """Whole numbers that were stored as reals too large to be exact."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The cells of some columns of a table, and where they were read from."""

    source: str
    count: int
    numbers: Mapping[str, _Converted]
    words: Mapping[str, tuple[str | None, ...]]


def _joined(parts: Sequence[_Converted]) -> _Converted:
    if not parts:
        none = np.zeros(0, dtype=bool)
        return _Converted(np.zeros(0, dtype=np.int64), none, none)
    return _Converted(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.there for part in parts]),
        np.concatenate([part.bad for part in parts]),
        sum(part.inexact for part in parts),
    )


def _integers(cells: Sequence[Any]) -> _Converted:
    try:
        values: Ints = np.frombuffer(array("q", cells), dtype=np.int64)
    except TypeError:
        found = _one_by_one(cells, np.int64, _integer)
        inexact = sum(isinstance(cell, float) and abs(cell) >= _EXACT_IN_FLOAT for cell in cells)
        return _Converted(found.values, found.there, found.bad, inexact)
    return _Converted(values, np.ones(len(cells), dtype=bool), np.zeros(len(cells), dtype=bool))


def _times(cells: Sequence[Any]) -> _Converted:
    found = _integers(cells)
    far = found.there & ((found.values >= MAX_NS) | (found.values <= -MAX_NS))
    if not far.any():
        return found
    return _Converted(np.where(far, 0, found.values), found.there & ~far, found.bad | far, found.inexact)


def _numbers(cells: Sequence[Any]) -> _Converted:
    try:
        values: Floats = np.frombuffer(array("d", cells), dtype=np.float64)
    except TypeError:
        return _one_by_one(cells, np.float64, _number)
    finite = np.isfinite(values)
    return _Converted(values if finite.all() else np.where(finite, values, 0.0), finite, ~finite)


def _one_by_one(cells: Sequence[Any], dtype: Any, convert: Any) -> _Converted:
    values = np.zeros(len(cells), dtype=dtype)
    there = np.zeros(len(cells), dtype=bool)
    bad = np.zeros(len(cells), dtype=bool)
    for place, cell in enumerate(cells):
        if cell is None or (isinstance(cell, str) and cell.strip() in NULL_TOKENS):
            continue
        value = convert(cell)
        if value is None:
            bad[place] = True
        else:
            values[place], there[place] = value, True
    return _Converted(values, there, bad)


def _integer(cell: Any) -> int | None:
    """A cell as a whole number; None for anything else. Some exporters write whole numbers as text or as reals."""
    if isinstance(cell, int):
        return cell
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < _INT64 else None
    if isinstance(cell, str) and _INTEGER.fullmatch(cell):
        return int(cell) if -_INT64 <= int(cell) < _INT64 else None
    return None


def _number(cell: Any) -> float | None:
    """A cell as a finite number; None for anything else."""
    if isinstance(cell, bytes) or (isinstance(cell, str) and not _NUMBER.fullmatch(cell)):
        return None
    value = float(cell)
    return value if np.isfinite(value) else None


_CONVERTERS: dict[CellType, Any] = {"integer": _integers, "time": _times, "number": _numbers}


def _column_of_words(dictionary: str) -> str:
    return "value" if dictionary == "STRING_IDS" else "name"
