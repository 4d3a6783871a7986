"""Column and Table: how a file of the profiler is declared. Nothing here opens a file or computes on rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

ColumnType = Literal["text", "integer", "number", "share", "duration", "timestamp", "size", "unknown"]

NANOSECONDS = {"ns": 1, "us": 1_000, "microsecond": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Nanoseconds in one unit of time, by the unit's name in a header."""

TICK = "10 ns"
"""A unit that no header names: what the counters of older devices count."""
_TIMES = NANOSECONDS | {TICK: 10}

BYTES = {"B": 1, "byte": 1, "Byte": 1, "Bytes": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
"""Bytes in one unit of size: the exporters' KB is 1024 bytes (their databases hold the bytes of the same numbers)."""

DECIMAL_BYTES = {"B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
"""Bytes in one unit of size where data are sent: a package of 2064384 bytes is printed as 2.064384 MB."""

_OTHER_UNITS = ("%", *BYTES, "KB/s", "MB/s", "GB/s", "MHz", "pages", "Packet", "Packet/us")
_UNIT = re.compile(
    r"^(?P<stem>.*?)\s*\((?P<unit>" + "|".join(re.escape(u) for u in (*NANOSECONDS, *_OTHER_UNITS)) + r")\)$"
)

NULL_TOKENS = ("N/A", "")
"""What the exporters write where a value is missing."""

NO_ID = 4294967295
"""What the exporters write where there is no model or subtask."""

RESERVED = frozenset({"rank_id", "capture", "iteration", "device_id", "model_id"})
"""Columns that are put beside those of a file: its own of such a name get another."""

Facts = Literal["tasks", "kernels", "sums", "communication", "steps", "other"]
"""What the rows of a table are, as questions ask for it: every task with its operator; every task by its name alone; tasks summed by
operator type; communication summed by type; steps; something of their own."""

UNIT_UNKNOWN = ""
"""The unit of a column whose header named none and whose exporter is not known to have meant one."""


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
    """The unit where the header names none; another column's field means: the unit that one has in this file."""
    free: bool = False
    """Whether a user's own words stand here: exporters that do not quote may have written a comma among them."""
    wraps: bool = False
    """Whether exporters let a negative difference wrap around 2**64 here."""
    is_rest: bool = False
    """Whether exporters subtract floats to get it: less than a nanosecond below 0 is their rounding, and nothing is left."""
    null_words: tuple[str, ...] = ()
    """Words that stand for no value in this column alone."""
    decimal: bool = False
    """Whether a KB is 1000 bytes here, not 1024."""
    units: tuple[str, ...] = ()
    """The units that exporters ever wrote into this header; its default alone where none is given."""

    @property
    def field(self) -> str:
        """The column's name in a frame: times are integer nanoseconds, sizes integer bytes, and say so."""
        suffix = {"duration": "_ns", "timestamp": "_ns", "size": "_bytes"}.get(self.type, "")
        return f"{self.name}{suffix}"


def text(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of words."""
    return Column(name, headers, "text", optional)


def free_text(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of words that users chose: operator names, messages."""
    return Column(name, headers, "text", optional, free=True)


def integer(name: str, *headers: str, optional: bool = False, needed: bool = False) -> Column:
    """Return a column of whole numbers; the exporters' "no id" is null."""
    return Column(name, headers, "integer", optional, needed)


def device(name: str = "device_id", header: str = "Device_id") -> Column:
    """Return the column of merged exports that tells the device; rows of the host have none."""
    return Column(name, (header,), "integer", optional=True, null_words=("host",))


def number(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of numbers without a unit of time or size."""
    return Column(name, headers, "number", optional)


def share(name: str, *headers: str, optional: bool = False) -> Column:
    """Return a column of percentages, in a frame as parts of 1."""
    return Column(name, headers, "share", optional)


def size(
    name: str, *headers: str, optional: bool = False, needed: bool = False, unit: str = "B", decimal: bool = False
) -> Column:
    """Return a column of sizes, in a frame as `<name>_bytes` (int64)."""
    units = (unit,) if decimal else ("B", "Bytes", "KB", "MB")
    return Column(name, headers, "size", optional, needed, unit, decimal=decimal, units=units)


def duration(
    name: str,
    *headers: str,
    optional: bool = False,
    needed: bool = False,
    unit: str = "us",
    wraps: bool = False,
    is_rest: bool = False,
    units: tuple[str, ...] = (),
) -> Column:
    """Return a column of lengths of time, in a frame as `<name>_ns` (int64)."""
    units = units or (unit,)
    return Column(name, headers, "duration", optional, needed, unit, wraps=wraps, is_rest=is_rest, units=units)


def timestamp(name: str, *headers: str, optional: bool = False, needed: bool = False, unit: str = "us") -> Column:
    """Return a column of points in time, in a frame as `<name>_ns` (int64, exact)."""
    return Column(name, headers, "timestamp", optional, needed, unit, units=("us", "ns"))


_KINDS: dict[str, Callable[..., Column]] = {
    "text": text,
    "free": free_text,
    "integer": integer,
    "number": number,
    "share": share,
    "size": size,
    "duration": duration,
    "timestamp": timestamp,
}
_TRAITS = {"decimal": "decimal", "rest": "is_rest", "wraps": "wraps", "?": "optional", "!": "needed"}


def columns(lines: str, **more: Callable[..., Column]) -> tuple[Column, ...]:
    """Return the columns that lines such as `duration! ms: wait = Wait Time | Waiting, Idle Time` declare.

    A line has a kind (one of `more`, too), with `?` if exporters may leave the column out and with `!` if rows need it, then its
    unit and traits where they are not the usual ones. A column is its name, its header and older headers; the name may be left
    out if it is the header in snake case. `device` alone is the column of `device()`. A comment begins with `#`.
    """
    declared: list[Column] = []
    for line in lines.split("\n"):
        kind, colon, entries = line.partition("#")[0].strip().partition(":")
        if colon:
            word, *traits = kind.replace("?", " ?").replace("!", " !").split()
            chosen = dict((_TRAITS[trait], True) if trait in _TRAITS else ("unit", trait) for trait in traits)
            for entry in entries.split(","):
                name, _, named = entry.rpartition("=")
                headers = [header.strip() for header in named.split("|")]
                name = name.strip() or snake_case(headers[0])
                declared.append((_KINDS | more)[word](name, *headers, **chosen))
        elif kind:
            declared.append({"device": device}[kind]())
    return tuple(declared)


@dataclass(frozen=True, slots=True)
class Field:
    """One column of one real file: where it stands and what it is in a frame."""

    position: int
    header: str
    name: str
    type: ColumnType
    factor: int
    """Nanoseconds (or bytes) in one unit of the file's numbers; 1 where the column is neither time nor size."""
    needed: bool
    free: bool = False
    wraps: bool = False
    is_rest: bool = False
    null_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A real header held against a declaration."""

    fields: tuple[Field, ...]
    missing: tuple[Column, ...]
    vintage: str
    doubled: tuple[Field, ...] = ()
    """Declared columns that stand there a second time and may not."""
    unordered: Field | None = None
    """The first declared column that stands before one that every exporter writes before it."""
    strange_units: tuple[Field, ...] = ()
    """Declared columns in a unit that no exporter writes, or not that of the lengths of time beside them."""
    nearly: tuple[tuple[Field, Column], ...] = ()
    """Unknown columns whose header is one letter away from a declared one that is not there."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that no file of a kind holds, and that follows from others of the same row."""

    column: Column
    of: tuple[str, ...]
    """The fields that it is made of, in the order in which `make` takes them."""
    make: Callable[..., pa.ChunkedArray]


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of file: its name, its columns and the dates at which its header changed."""

    name: str
    title: str
    columns: tuple[Column, ...]
    """In the order in which the exporters write them."""
    vintages: tuple[tuple[str, str], ...]
    """(date of the exporter, header that came with it), newest first; the last one is what remains."""
    facts: Facts = "other"
    source: str = "msprof"
    """Who writes it: `msprof`, `torch_npu`, `both` (then the folder tells), or `aoe`."""
    files: tuple[str, ...] = ()
    """Words that files of this kind begin with, where they are not the table's own name."""
    called: tuple[str, ...] = ()
    """Patterns of the names of such files, where they begin with no word of theirs."""
    other_orders: tuple[tuple[str, ...], ...] = ()
    """Whole headers in which an exporter wrote the columns in another order than it does otherwise."""
    repeating: tuple[str, ...] = ()
    """Columns that a header repeats as often as a file needs them: lists in a frame; short rows end inside them."""
    multiline: bool = False
    """Whether cells may go over several lines."""
    form: Literal["csv", "document"] = "csv"
    """`document`: nested JSON of its own shape (and never CSV)."""
    rising: str | None = None
    """The field that rises from row to row, on each device and model by itself."""
    identity: tuple[str, ...] = ()
    """Fields that no two rows share."""
    derived: tuple[Derived, ...] = ()
    """Columns that follow from those of the file."""
    null_words: tuple[str, ...] = ()
    """Words that stand for no value in every column of numbers."""
    by_name: bool = False
    """Whether only a file's name tells that it is of this kind: anybody's table may have such a header."""
    whole_in_each_file: bool = False
    """Whether every file of one capture (one an iteration) holds the rows of all iterations."""
    spilled: bool = False
    """Whether the rows of a large file wait in a temporary file: who needs them goes through them block by block."""

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """The words that files of this kind begin with."""
        return self.files or (self.name,)

    def match(self, header: Sequence[str]) -> Match:
        """Find every declared column in a real header; what is not declared is kept under a snake-case name."""
        cells, declared = _plain(header), self._declared()
        units = self._units(cells, declared)
        fields: list[Field] = []
        doubled: list[Field] = []
        reserved = {column.field for column in self.columns} | RESERVED
        found: set[str] = set()
        seen: Counter[str] = Counter()
        for position, cell in enumerate(cells):
            column = _column_of(cell, declared)
            field = self._with_null_words(_field(position, cell, column, units, reserved))
            found |= {column.name + column.type} if column is not None else set()
            seen[field.name] += 1
            if seen[field.name] > 1:
                if column is not None and column.name not in self.repeating:
                    doubled.append(field)
                field = _again(field, seen[field.name])
            fields.append(field)
        missing = self._missing(found)
        unordered = None if tuple(cells) in self.other_orders else self._unordered(fields)
        strange = self._strange_units(fields, declared)
        nearly = self._nearly(fields, found)
        return Match(
            fields=tuple(fields),
            missing=missing,
            vintage=self.vintage(cells),
            doubled=tuple(doubled),
            unordered=unordered,
            strange_units=strange,
            nearly=nearly,
        )

    def _with_null_words(self, field: Field) -> Field:
        return replace(field, null_words=(*field.null_words, *self.null_words)) if self.null_words else field

    def vintage(self, header: Sequence[str]) -> str:
        """The date from which exporters wrote this header, as `YYYY-MM`; empty for no known one."""
        cells = {cell.strip() for cell in header}
        return next((date for date, mark in self.vintages if mark in cells), "")

    def fits(self, header: Sequence[str]) -> bool:
        """Whether every column that must be there is there."""
        declared = self._declared()
        columns = (_column_of(cell, declared) for cell in _plain(header))
        found = {column.name + column.type for column in columns if column is not None}
        return not self._missing(found)

    def _declared(self) -> dict[str, Column]:
        """The columns by their headers, in any case; those that are told apart by it alone (FLOPs, FLOPS) as they stand."""
        pairs = [(alias, column) for column in self.columns for alias in column.headers]
        return {alias.casefold(): column for alias, column in pairs} | dict(pairs)

    def _missing(self, found: set[str]) -> tuple[Column, ...]:
        return tuple(
            column for column in self.columns if not column.optional and column.name + column.type not in found
        )

    def _strange_units(self, fields: Sequence[Field], declared: dict[str, Column]) -> tuple[Field, ...]:
        """Columns whose header names a unit that cannot be: a damaged letter there would change every number."""
        known: list[tuple[Field, Column, str]] = []
        for field in fields:
            column, unit = _column_of(field.header, declared), split_unit(field.header)[1]
            if column is not None and unit is not None:
                known.append((field, column, unit))
        strange = [field for field, column, unit in known if column.units and unit not in column.units]
        units = Counter(unit for _, column, unit in known if column.type == "duration")
        usual = units.most_common(1)[0][0] if units else None
        odd = [field for field, column, unit in known if column.type == "duration" and unit != usual]
        return tuple(dict.fromkeys([*strange, *odd]))

    def _nearly(self, fields: Sequence[Field], found: set[str]) -> tuple[tuple[Field, Column], ...]:
        """Unknown columns that are a declared one but for one letter."""
        absent = [column for column in self.columns if column.name + column.type not in found]
        return tuple(
            (field, column)
            for field in fields
            if field.type == "unknown"
            for column in absent
            if any(_one_letter_apart(split_unit(field.header)[0].casefold(), h.casefold()) for h in column.headers)
        )

    def _units(self, cells: Sequence[str], declared: dict[str, Column]) -> dict[str, str]:
        """The unit that each declared column's header names, where it names one; by its field."""
        found = ((_column_of(cell, declared), split_unit(cell)[1]) for cell in cells)
        return {column.field: unit for column, unit in found if column is not None and unit is not None}

    def _unordered(self, fields: Sequence[Field]) -> Field | None:
        """The first column that breaks the declared order; unknown ones have no place of their own."""
        order = {column.field: place for place, column in enumerate(self.columns) if column.name not in self.repeating}
        last = -1
        for field in fields:
            place = order.get(field.name)
            if place is None:
                continue
            if place < last:
                return field
            last = place
        return self._odd_one_of_a_group([field for field in fields if field.name not in order])

    def _odd_one_of_a_group(self, fields: Sequence[Field]) -> Field | None:
        """The first repeated column that has not its fellows around it: of which group it is cannot be told."""
        names = [column.field for column in self.columns if column.name in self.repeating]
        repeated = [field for field in fields if field.name.split("__")[0] in names]
        for place, field in enumerate(repeated):
            if field.name.split("__")[0] != names[place % len(names)]:
                return field
        return repeated[-1] if repeated and len(repeated) % len(names) else None


@dataclass(frozen=True, slots=True)
class TaskTypes:
    """A vendor's words in the column `task_type`; a task without one is taken to compute."""

    communication: frozenset[str] = frozenset()
    compute: frozenset[str] = frozenset()
    """The types of operators in tables that hold other tasks, too (events, copies, switches of the profiler)."""


def table_among(tables: Sequence[Table], header: Sequence[str]) -> Table:
    """The table of several that this header is of; the first where it is of none."""
    return next((table for table in tables if table.fits(header)), tables[0])


_MIN_COLUMNS = 3


def table_of_header(header: Sequence[str], tables: Iterable[Table]) -> Table | None:
    """The one table whose columns are all in this header; for files whose name tells nothing."""
    fitting: list[tuple[int, Table]] = []
    for table in (one for one in tables if not one.by_name):
        match = table.match(header)
        known = sum(field.type != "unknown" for field in match.fields)
        if table.form == "csv" and not match.missing and known >= _MIN_COLUMNS:
            fitting.append((known, table))
    most = max((known for known, _ in fitting), default=0)
    best = [table for known, table in fitting if known == most]
    return best[0] if len(best) == 1 else None


def _one_letter_apart(a: str, b: str) -> bool:
    """Whether one changed, lost or added letter makes one word of the other."""
    if a == b or abs(len(a) - len(b)) > 1 or min(len(a), len(b)) < _SHORTEST_WORD:
        return False
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[same + (len(a) >= len(b)) :] == b[same + (len(b) >= len(a)) :]


_SHORTEST_WORD = 4


def _plain(header: Sequence[str]) -> list[str]:
    """The cells of a header without blanks and marks of byte order around them."""
    return [cell.strip().lstrip("\ufeff").strip() for cell in header]


def _column_of(cell: str, declared: dict[str, Column]) -> Column | None:
    stem = split_unit(cell)[0]
    return next((declared[name] for name in (cell, cell.casefold(), stem, stem.casefold()) if name in declared), None)


def _field(position: int, cell: str, column: Column | None, units: dict[str, str], reserved: set[str]) -> Field:
    """What one real header is in a frame."""
    if column is None:
        name = snake_case(cell)
        return Field(position, cell, f"other_{name}" if name in reserved else name, "unknown", 1, needed=False)
    unit = units.get(column.field) or units.get(column.unit, column.unit)
    if column.type in {"duration", "timestamp"} and unit not in _TIMES:
        return Field(position, cell, column.name, "number", 1, column.needed)
    factor = 1
    if column.type in {"duration", "timestamp"}:
        factor = _TIMES[unit]
    elif column.type == "size":
        factor = (DECIMAL_BYTES if column.decimal else BYTES).get(unit, 1)
    return Field(
        position=position,
        header=cell,
        name=column.field,
        type=column.type,
        factor=factor,
        needed=column.needed,
        free=column.free,
        wraps=column.wraps,
        is_rest=column.is_rest,
        null_words=column.null_words,
    )


@lru_cache(maxsize=256)  # a header is held against every kind of table
def split_unit(header: str) -> tuple[str, str | None]:
    """`Task Duration(us)` → (`Task Duration`, `us`); a bracket that holds no unit stays."""
    match = _UNIT.match(header)
    return (match["stem"].strip(), match["unit"]) if match else (header, None)


def snake_case(header: str) -> str:
    """A header as a name: `aic_l2_read_bw(GB/s)` → `aic_l2_read_bw_gb_per_s`."""
    words = header.replace("%", " percent").replace("/s", " per s")
    return re.sub(r"\W+", "_", words).strip("_").lower() or "unnamed"


def _again(field: Field, count: int) -> Field:
    """The second column of one name (`Reduce Start`) with a number behind it."""
    return replace(field, name=f"{field.name}__{count}", needed=False)
