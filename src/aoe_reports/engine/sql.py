"""`sql`: a query over tables, and which tables there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.question import Answer, ReadOptions, Stream, one_table
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.schema.store_tables import ALL_TABLES, GROUPS
from aoe_reports.schema.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.engine.table_database import TableDatabase


@options
class SqlOptions(ReadOptions):
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


def query_captures(path: Path, query: str, chosen: SqlOptions) -> AbstractContextManager[Stream]:
    """The rows of a query over everything below a path. Raises UsageError where the query is wrong or not allowed."""
    from aoe_reports.engine.database import open_capture  # noqa: PLC0415 -- duckdb

    def opened(file: Path) -> TableDatabase:
        return open_capture(path, max_expanded=chosen.max_expanded, into=file)

    return query_tables(TABLES, query, chosen, str(path), opened)


@contextmanager
def query_tables(
    tables: Collection[str], query: str, chosen: SqlOptions, place: str, opened: Callable[[Path], TableDatabase]
) -> Iterator[Stream]:
    """The rows of a query over some tables, which `opened` makes in a file. Raises UsageError where the query is wrong or not allowed."""
    from aoe_reports.engine.query import check_query  # noqa: PLC0415 -- duckdb
    from aoe_reports.engine.query_process import Limits, running  # noqa: PLC0415 -- duckdb
    from aoe_reports.engine.table_database import NOT_WRITTEN  # noqa: PLC0415 -- duckdb
    from aoe_reports.formats.owned import TemporaryFolder  # noqa: PLC0415 -- duckdb

    needed = check_query(query, tables)
    folder = TemporaryFolder()
    file = folder.path / "tables.duckdb"
    try:
        with opened(file) as database:
            database.load(needed)
            database.checkpoint()
    except NOT_WRITTEN as error:
        raise AoeReportsError(say("{path}: cannot be written: {why}", path=file, why=error)) from error
    with running(file, query, Limits(chosen.max_memory, chosen.deadline)) as (schema, batches):
        yield Stream(command="sql", inputs=(place,), batches=batches, notes=database.notes, schema=schema)


def rows_of(batch: pa.RecordBatch) -> list[JsonObject]:
    """Rows of a query as JSON has them."""
    import pyarrow as pa  # noqa: PLC0415

    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) or pa.types.is_time(field.type):  # Python has no nanoseconds
            batch = batch.set_column(place, field.name, batch.column(place).cast(pa.string()))
    return [{name: _json_value(value) for name, value in row.items()} for row in batch.to_pylist()]


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
