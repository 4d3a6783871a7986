"""Rows of an answer, declared once: JSON keys, the header of CSV, titles, units and JSON Schemas are taken from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from dataclasses import Field as DataclassField
from operator import attrgetter
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from aoe_reports.model.classes import is_record, is_union, once_a_class, record
from aoe_reports.model.documents import Cells, JsonObject, object_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Kind = Literal[
    "text", "sentence", "integer", "us", "ms", "s", "time", "duration", "number", "percent", "ratio", "change", "gain",
    "state", "alarm", "word", "bars", "size",
]  # fmt: skip
"""`sentence` is read as a whole, and takes several lines in a terminal where it is long;
`us`, `ms` and `s` are times, which people see in the unit that fits their column: it is a `time` then, or a `duration` (in
nanoseconds) where no unit fits all of its values, and each has its own;
`change` and `gain` are signed shares, with one digit and with two; `word` is a word of ours (a severity, a cause), which is
translated, `state` one that says how something ended, with more behind a colon, `alarm` one that says what a series does: both are
called confirmed, a gain that was proved and a slow-down; `bars` are two lengths between 0 and 1, which show
as a picture what other columns say in numbers: a renderer that draws nothing leaves them out; `size` is a number of bytes, which
people see in the unit that fits."""

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
_KEY = "column"
_CELLS = "__cells__"
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: the row's key, the words above it, how its values are to be shown."""

    key: str
    title: str
    kind: Kind = "text"
    factor: float = 1
    """By what its numbers are multiplied before they are shown: they come in another unit than its title says."""
    detail: bool = False
    """Whether it is among the first that are left out where there is no room for all."""


class Unit(NamedTuple):
    """What a field's name ends with, what its key ends with, and how many of the first make one of the second."""

    field: str
    key: str
    factor: int
    kind: Kind


US = Unit(field="_ns", key="_us", factor=1000, kind="us")
"""Nanoseconds that leave as microseconds."""
MS = Unit(field="_ns", key="_ms", factor=1_000_000, kind="ms")
"""Nanoseconds that leave as milliseconds."""


class Cell(NamedTuple):
    """What a column declares beside its name and type."""

    title: str
    kind: Kind
    unit: Unit | None
    before: str | None = None
    detail: bool = False


@record
class Field:
    """A column of a row class: the attribute, the key it leaves under, how its value leaves, what people see of it.

    An attribute that a keyword of Python would be ends with `_`, its key does not.
    """

    name: str
    key: str
    type: Any
    cell: Cell

    def value(self, row: object) -> Any:
        """The value as it leaves: in the key's unit, a row within the row as a mapping."""
        value = getattr(row, self.name)
        if value is None:
            return None
        if self.cell.unit is not None:
            return round(value / self.cell.unit.factor, _DIGITS)
        if isinstance(value, list | tuple) and value and is_record(type(value[0])):
            return [as_mapping(one) for one in value]
        return as_mapping(value) if is_record(type(value)) else value


def column(
    title: str = "",
    kind: Kind = "text",
    *,
    unit: Unit | None = None,
    before: str | None = None,
    detail: bool = False,
    default: Any = MISSING,
) -> Any:
    """One column of a row; without a title it stands in JSON and CSV, and people are not shown it.

    `before` names the field that it stands before where people see it, if that is another place than in JSON and CSV;
    a `detail` is among the first columns that a narrow terminal leaves out.
    """
    kind = kind if unit is None else unit.kind
    return field(
        default=default, metadata={_KEY: Cell(title=title, kind=kind, unit=unit, before=before, detail=detail)}
    )


class Derived(Generic[T]):
    """A column whose value is computed from other fields of its row."""

    def __init__(self, function: Callable[[Any], T], cell: Cell) -> None:
        """The function takes the row."""
        self.function, self.cell = function, cell
        self.__doc__ = function.__doc__

    def __get__(self, one: object, owner: type[Any] | None = None) -> T:
        """The value of a row; of the class this itself."""
        return self if one is None else self.function(one)  # type: ignore[return-value]


def derived(
    title: str = "", kind: Kind = "text", *, unit: Unit | None = None, before: str | None = None, detail: bool = False
) -> Callable[[Callable[[Any], T]], Derived[T]]:
    """A column like `column`, above a method that computes its value."""
    kind = kind if unit is None else unit.kind
    cell = Cell(title=title, kind=kind, unit=unit, before=before, detail=detail)
    return lambda function: Derived(function, cell)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(column, field))
def row(cls: type[T]) -> type[T]:
    """A class of rows: frozen, all by keyword; what is declared by `column` or `derived` is a column, in this order."""
    cells: dict[str, Cell] = {}
    for one in reversed(cls.__mro__):
        cells |= vars(one).get(_CELLS, {})
    for name, value in vars(cls).items():
        if isinstance(value, Derived):
            cells[name] = value.cell
        elif isinstance(value, DataclassField) and _KEY in value.metadata:
            cells[name] = value.metadata[_KEY]
    setattr(cls, _CELLS, cells)
    return record(cls)


@once_a_class
def fields_of(cls: type[Any]) -> tuple[Field, ...]:
    """The columns of a row class, in the order of JSON and CSV."""
    hints = get_type_hints(cls)
    cells: Mapping[str, Cell] = getattr(cls, _CELLS)
    return tuple(
        Field(
            name=name,
            key=_key(name, cell),
            type=hints[name] if name in hints else get_type_hints(getattr(cls, name).function)["return"],
            cell=cell,
        )
        for name, cell in cells.items()
    )


def row_from(cls: type[T], one: object, **more: Any) -> T:
    """A row with the values that something else has under the names of its columns, and with some more."""
    names = [each.name for each in fields_of(cls) if not isinstance(getattr(cls, each.name, None), Derived)]
    return cls(**{name: getattr(one, name) for name in names if name not in more and hasattr(one, name)}, **more)


def labelled(rows: Iterable[T], run: str) -> list[T]:
    """Rows with the run that they are of."""
    return [replace(cast("Any", one), run=run) for one in rows]


def _key(name: str, cell: Cell) -> str:
    return name.removesuffix("_") if cell.unit is None else name.removesuffix(cell.unit.field) + cell.unit.key


@once_a_class
def _plan_of(cls: type[Any]) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]], tuple[Field, ...]]:
    """(the keys, what reads their values all at once, the columns whose values leave in another way)."""
    every = fields_of(cls)
    names = [each.name for each in every]
    read = attrgetter(*names, names[0])  # at least two: else it would give no tuple
    return tuple(each.key for each in every), read, tuple(each for each in every if not _leaves_as_it_is(each))


def _leaves_as_it_is(each: Field) -> bool:
    """Whether a value of a column is none in another unit, and never a row, or rows, within the row."""
    kinds = get_args(each.type) if is_union(each.type) else (each.type,)
    plain = all(kind in _TYPES or (get_origin(kind) and not any(map(is_record, get_args(kind)))) for kind in kinds)
    return each.cell.unit is None and plain


def as_mapping(one: object) -> JsonObject:
    """A row under its keys, in its units: what JSON and CSV hold."""
    keys, read, others = _plan_of(type(one))
    cells = dict(zip(keys, read(one), strict=False))
    for each in others:
        cells[each.key] = each.value(one)
    return cells


@once_a_class
def columns_of(cls: type[Any]) -> tuple[Column, ...]:
    """The columns that people see; the columns of a row within the row are among them."""
    columns: list[Column] = []
    for each in _as_shown(fields_of(cls)):
        inner = _row_within(each.type)
        if inner is not None:
            columns += columns_of(inner)
        elif each.cell.title:
            columns.append(Column(each.key, each.cell.title, each.cell.kind, detail=each.cell.detail))
    return tuple(columns)


def _row_within(annotation: Any) -> type[Any] | None:
    """The class of a row within the row, if a column has that type."""
    kinds = get_args(annotation) if is_union(annotation) else (annotation,)
    return next((kind for kind in kinds if is_record(kind)), None)


def _as_shown(every: Sequence[Field]) -> list[Field]:
    """The columns in the order in which people see them."""
    fields = list(every)
    for each in every:
        if each.cell.before is not None:
            fields.remove(each)
            fields.insert([one.name for one in fields].index(each.cell.before), each)
    return fields


@once_a_class
def _rows_within(cls: type[Any]) -> tuple[str, ...]:
    """The keys of columns with a row within the row of which people see something."""
    inner = {each.key: _row_within(each.type) for each in fields_of(cls)}
    return tuple(key for key, kind in inner.items() if kind is not None and columns_of(kind))


def shown(one: object) -> JsonObject:
    """A row as people see it: the cells of a row within the row are among its own."""
    cells = as_mapping(one)
    for key in _rows_within(type(one)):
        cells |= object_of(cells[key])
    return cells


@record
class Rows(Generic[R_co]):
    """One table of an answer: its key in JSON, the class of its rows, the sentences above it."""

    type: type[R_co]
    rows: Sequence[R_co]
    key: str = "rows"
    title: str = ""
    sentences: Sequence[str] = ()
    """What is said above the table."""
    of_runs: bool = False
    """Whether the column of runs is said above the table where all rows are of one run."""
    without: frozenset[str] = frozenset()
    """Keys of columns that people are not shown: something else says the same, or they say nothing here."""
    oldest_first: bool = False
    """Whether rows are in order of time, so that a list that is too long shows the last."""
    place: int = 0
    """Where people see it among the tables: the least first, those of one place as they are listed."""
    is_shown: bool = True
    """Whether people see it; JSON and CSV have it in any case."""
    is_csv: bool = False
    """Whether CSV, which holds one table, holds this one in place of the first."""

    def mappings(self) -> list[JsonObject]:
        """The rows as JSON and CSV hold them."""
        return [as_mapping(one) for one in self.rows]

    def to_arrow(self) -> pa.Table:
        """The rows as a table of Arrow: columns are called as the attributes of a row, so times are whole nanoseconds (int64)."""
        from aoe_reports.model.arrays.frames import table_of  # noqa: PLC0415 -- pyarrow

        return table_of(self.type, self.rows)

    def to_polars(self) -> pl.DataFrame:
        """The same as a DataFrame of polars."""
        import polars as pl  # noqa: PLC0415

        return pl.DataFrame(self.to_arrow())

    def to_pandas(self) -> pd.DataFrame:
        """The same as a DataFrame of pandas; whole numbers are `Int64`, which stay exact where some are missing."""
        from aoe_reports.model.arrays.frames import as_pandas  # noqa: PLC0415 -- pyarrow

        return as_pandas(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows by Arrow's PyCapsule interface, for polars, pandas, pyarrow and duckdb."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Which table it is, and how long."""
        return f"<Rows {self.key}: {len(self.rows)} of {self.type.__name__}>"


def schema_of(cls: type[Any]) -> JsonObject:
    """The JSON Schema of a row class."""
    properties: JsonObject = {each.key: _schema(each.type, each) for each in fields_of(cls)}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


_TYPES: Mapping[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean", NoneType: "null"}


def _schema(annotation: Any, each: Field) -> JsonObject:
    if is_union(annotation):
        kinds = [_schema(kind, each) for kind in get_args(annotation)]
        words = [kind["type"] for kind in kinds if set(kind) == {"type"}]
        return {"type": words} if len(words) == len(kinds) else {"anyOf": [*kinds]}
    if get_origin(annotation) is Literal:
        return {"enum": list(get_args(annotation))}
    if is_record(annotation):
        return schema_of(annotation)
    if annotation is int and each.cell.unit is not None:
        annotation = float
    if annotation is dict or get_origin(annotation) in {dict, Mapping}:
        return {"type": "object"}
    if get_origin(annotation) in {list, tuple, Sequence}:
        return {"type": "array", "items": _schema(get_args(annotation)[0], each)}
    kind = _TYPES.get(annotation)
    return {} if kind is None else {"type": kind}


def telling_columns(columns: Sequence[Column], rows: Sequence[Cells]) -> tuple[Column, ...]:
    """The columns with a value in any row."""
    silent = {column.key for column in columns}
    for row in rows:
        silent = {key for key in silent if not _says(row.get(key))}
        if not silent:
            break
    return tuple(column for column in columns if column.key not in silent)


def _says(value: Any) -> bool:
    """Whether a cell says anything: 0 does."""
    return value is not None and value is not False and value not in ("", [])
