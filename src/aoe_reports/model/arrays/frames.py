"""Rows as Arrow tables: columns are named as attributes, so times are exact nanoseconds; their types are those that the rows declare."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pyarrow as pa

from aoe_reports.model.classes import is_record, is_union, once_a_class
from aoe_reports.model.rows import Field, as_mapping, fields_of

if TYPE_CHECKING:
    import pandas as pd

_PLAIN: Mapping[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    NoneType: pa.null(),
}


def table_of(cls: type[Any], rows: Iterable[object]) -> pa.Table:
    """Rows of a class as a table, which has all columns where there are no rows, too."""
    cells = [_cells(row) for row in rows]
    return pa.Table.from_pylist(cells, schema=arrow_schema(cls))


def as_pandas(table: pa.Table) -> pd.DataFrame:
    """A table for pandas: its own integers with a missing value are floats, which hold no time of today in nanoseconds."""
    import pandas as pd  # noqa: PLC0415 -- 0.3 s

    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=kinds.get)
    return frame


@once_a_class
def arrow_schema(cls: type[Any]) -> pa.Schema:
    """The columns of a row class: a row within a row is a struct, a sequence a list, and what has any shape is text that holds JSON."""
    return pa.schema([*map(_field, fields_of(cls))])


def name_of(each: Field) -> str:
    """What the column of a field is called."""
    return each.name.removesuffix("_")


def _field(each: Field) -> pa.Field:
    return pa.field(name_of(each), _type_of(each.type), nullable=NoneType in get_args(each.type))


def _type_of(annotation: Any) -> pa.DataType:
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType] if is_union(annotation) else [annotation]
    kind = kinds[0] if len(kinds) == 1 else Any
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) is Literal:
        return pa.string()
    if is_record(kind):
        return pa.struct([*arrow_schema(kind)])
    if get_origin(kind) in {list, tuple, Sequence}:
        return pa.list_(_type_of(get_args(kind)[0]))
    return pa.string()  # JSON


def _cells(one: object) -> dict[str, Any]:
    cls = type(one)
    schema = arrow_schema(cls)
    return {
        name_of(each): _cell(getattr(one, each.name), schema.field(place).type)
        for place, each in enumerate(fields_of(cls))
    }


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return _cells(value)
    if pa.types.is_list(kind):
        return [_cell(one, kind.value_type) for one in value]
    if pa.types.is_string(kind):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=as_mapping)
        return text.encode("utf-8", "replace").decode()  # a lone surrogate (an odd file name) is no text of Arrow's
    return value
