"""`sql`: a query over tables, and which tables there are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.question import Answer, Stream, one_table
from aoe_reports.engine.tables.cache import CacheOptions
from aoe_reports.engine.tables.query_process import DamagedError, Limits, started
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.schema.store_tables import ALL_TABLES, GROUPS
from aoe_reports.schema.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CHARACTERS = 1 << 20
"""So long may a query be that is read from a file."""


@options
class SqlOptions(CacheOptions):
    """What a query may use."""

    max_memory: int = option(
        default=1 << 30,
        minimum=1 << 26,
        help="Memory that the query may use, in bytes.",
        scope="run",
        protects=True,
    )
    deadline: int = option(
        default=60,
        minimum=1,
        maximum=86_400,
        help="Seconds after which the query is stopped.",
        scope="run",
        protects=True,
    )


@row
class SqlTable:
    """A table that queries can name."""

    name: str = column("Table")
    of: str = column("Of", "word")
    comment: str = column("Content", "sentence")
    key: str | None = column("Key")


@row
class SqlColumn:
    """A column of such a table."""

    name: str = column("Column")
    type: str = column("Type")
    unit: str | None = column("Unit")
    refers_to: str | None = column("Refers to")
    comment: str = column("Content", "sentence")


def list_sql_tables(name: str | None = None) -> Answer:
    """Every table that queries can name, or the columns of one. Raises UsageError for a table that there is not."""
    if name is None:
        tables = [
            SqlTable(name=table.name, of=of, comment=say(table.comment), key=", ".join(table.key) or None)
            for of, group in GROUPS.items()
            for table in group.values()
        ]
        return one_table("sql", "Tables", (), Rows(type=SqlTable, rows=tables))
    if name not in ALL_TABLES:
        raise UsageError(say("sql: no table {name}; the tables are {names}", name=name, names=join(", ", ALL_TABLES)))
    columns = [
        SqlColumn(
            name=one.name,
            type=one.type,
            unit=one.unit or None,
            refers_to=one.refers_to or None,
            comment=say(one.comment),
        )
        for one in ALL_TABLES[name].columns
    ]
    return one_table("sql", name, (), Rows(type=SqlColumn, rows=columns))


def read_query(file: Path) -> str:
    """The text of a query; `-` is standard input. Raises UsageError where it is no text, or too long for a query."""
    try:
        if str(file) == "-":
            text = sys.stdin.read(MAX_CHARACTERS + 1)
        else:
            with file.open(encoding="utf-8") as opened:
                text = opened.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else say("it is no UTF-8")
        raise UsageError(say("{path}: cannot be read: {why}", path=file, why=why)) from error
    if len(text) > MAX_CHARACTERS:
        raise UsageError(say("{path}: a query has at most {count:,} characters", path=file, count=MAX_CHARACTERS))
    return text


@contextmanager
def query_captures(path: Path, query: str, chosen: SqlOptions) -> Iterator[Stream]:
    """The rows of a query over everything below a path. Raises UsageError where the query is wrong or not allowed."""
    with started(query, TABLES.values(), Limits(chosen.max_memory, chosen.deadline)) as process:
        from aoe_reports.engine.tables.capture_files import files_of  # noqa: PLC0415 -- while the process starts

        files = files_of(path, max_expanded=chosen.max_expanded, cache=chosen.chosen_cache)
        files.attach(process.tables(), process.attach)
        try:
            schema, batches = process.rows()
            yield Stream(command="sql", inputs=(str(path),), batches=batches, notes=files.notes, schema=schema)
        except DamagedError as error:
            if files.discard():
                raise AoeReportsError(say("{what}; it is deleted from the cache: ask again", what=error)) from error
            raise


def rows_of(batch: pa.RecordBatch) -> list[JsonObject]:
    """Rows of a query as JSON has them."""
    for place, field in enumerate(batch.schema):
        if (kind := _with_texts(field.type)) != field.type:
            batch = batch.set_column(place, field.name, batch.column(place).cast(kind))
    return [{name: _json_value(value) for name, value in row.items()} for row in batch.to_pylist()]


def _with_texts(kind: pa.DataType) -> pa.DataType:
    """A type with texts in place of times: Python has no nanoseconds."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_with_texts(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_texts(field.type)) for field in kind])
    return kind


def _json_value(value: Any) -> Json:
    """A value of a query as JSON: whole decimals are integers (sums are exact), others floats; times and the like are text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    return value.hex() if isinstance(value, bytes) else str(value)
