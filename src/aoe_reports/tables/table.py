"""Column and Table: how a file of the profiler is declared. Nothing here opens a file or computes on rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["text", "integer", "number", "duration", "timestamp", "unknown"]

NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Nanoseconds in one unit of time, by the unit's name in a header."""

_OTHER_UNITS = ("%", "B", "Bytes", "KB", "MB", "GB", "KB/s", "MB/s", "GB/s", "MHz")
_UNIT = re.compile(
    r"^(?P<stem>.*?)\s*\((?P<unit>" + "|".join(re.escape(u) for u in (*NANOSECONDS, *_OTHER_UNITS)) + r")\)$"
)

NULL_TOKENS = ("N/A", "")
"""What the exporters write where a value is missing."""

NO_ID = 4294967295
"""What the exporters write where there is no model or subtask."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its canonical stem, every header it ever had (newest first, without units), its type."""

    name: str
    headers: tuple[str, ...]
    type: ColumnType
    optional: bool = False
    needed: bool = False
    """A row without a good value here cannot be used: it is kept out of the frame and reported."""
    unit: str = "us"
    """The unit where the header names none; durations and time stamps only."""

    @property
    def field(self) -> str:
        """The column's name in a frame: times are integer nanoseconds and say so."""
        return f"{self.name}_ns" if self.type in {"duration", "timestamp"} else self.name


def text(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of words."""
    return Column(name, headers, "text", optional)


def integer(name: str, *headers: str, optional: bool = False, needed: bool = False) -> Column:
    """Return a column of whole numbers; the exporters' "no id" is null."""
    return Column(name, headers, "integer", optional, needed)


def number(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of numbers without a unit of time."""
    return Column(name, headers, "number", optional)


def duration(name: str, *headers: str, optional: bool = False, needed: bool = False, unit: str = "us") -> Column:
    """Return a column of lengths of time, in a frame as `<name>_ns` (int64)."""
    return Column(name, headers, "duration", optional, needed, unit)


def timestamp(name: str, *headers: str, optional: bool = False, unit: str = "us") -> Column:
    """Return a column of points in time, in a frame as `<name>_ns` (int64, exact)."""
    return Column(name, headers, "timestamp", optional, unit=unit)


@dataclass(frozen=True, slots=True)
class Field:
    """One column of one real file: where it stands and what it is in a frame."""

    position: int
    header: str
    name: str
    type: ColumnType
    factor: int
    """Nanoseconds in one unit of the file's numbers; 1 where the column is no time."""
    needed: bool


@dataclass(frozen=True, slots=True)
class Match:
    """A real header held against a declaration."""

    fields: tuple[Field, ...]
    missing: tuple[Column, ...]
    vintage: str


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of file: its name, its columns and the dates at which its header changed."""

    name: str
    title: str
    columns: tuple[Column, ...]
    vintages: tuple[tuple[str, str], ...]
    """(date of the exporter, header that came with it), newest first; the last one is what remains."""
    source: str = "msprof"

    def match(self, header: Sequence[str]) -> Match:
        """Find every declared column in a real header; what is not declared is kept under a snake-case name."""
        cells = [cell.strip().lstrip("\ufeff") for cell in header]
        declared = {alias.casefold(): column for column in self.columns for alias in column.headers}
        fields: list[Field] = []
        reserved = {column.field for column in self.columns}
        seen: Counter[str] = Counter()
        for position, cell in enumerate(cells):
            stem, unit = split_unit(cell)
            column = declared.get(stem.casefold()) or declared.get(cell.casefold())
            if column is None:
                name = snake_case(cell)
                field = Field(position, cell, f"other_{name}" if name in reserved else name, "unknown", 1, needed=False)
            else:
                is_time = column.type in {"duration", "timestamp"}
                factor = NANOSECONDS.get(unit or column.unit, 1) if is_time else 1
                field = Field(position, cell, column.field, column.type, factor, column.needed)
            seen[field.name] += 1
            fields.append(field if seen[field.name] == 1 else _again(field, seen[field.name]))
        found = {field.name for field in fields}
        missing = tuple(column for column in self.columns if not column.optional and column.field not in found)
        return Match(tuple(fields), missing, self.vintage(cells))

    def vintage(self, header: Sequence[str]) -> str:
        """The date from which exporters wrote this header, as `YYYY-MM`; empty for no known one."""
        cells = set(header)
        return next((date for date, mark in self.vintages if mark in cells), "")

    def fits(self, header: Sequence[str]) -> bool:
        """Whether every column that must be there is there."""
        return not self.match(header).missing


def split_unit(header: str) -> tuple[str, str | None]:
    """`Task Duration(us)` → (`Task Duration`, `us`); a bracket that holds no unit stays."""
    found = _UNIT.match(header)
    return (found["stem"].strip(), found["unit"]) if found else (header, None)


def snake_case(header: str) -> str:
    """A header as a name: `aic_l2_read_bw(GB/s)` → `aic_l2_read_bw_gb_per_s`."""
    words = header.replace("%", " percent").replace("/s", " per s")
    return re.sub(r"\W+", "_", words).strip("_").lower() or "unnamed"


def _again(field: Field, count: int) -> Field:
    """The second column of one name (`Reduce Start`) with a number behind it."""
    return Field(field.position, field.header, f"{field.name}__{count}", field.type, field.factor, needed=False)
