"""SQL over captures or the store, as assistants ask it: the tables, and the rows of one query."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from aoe_reports.assistants.documents import MOST_ROWS, Document, Hint, findings_table, plain_table, table_of
from aoe_reports.assistants.questions import MOST_NOTES, told_warnings
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.engine.question import Stream
from aoe_reports.engine.sql import SqlOptions, list_sql_tables, query_captures, rows_of
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.findings import in_order
from aoe_reports.schema.store_tables import ALL_TABLES
from aoe_reports.schema.tables import TABLES


def listed_tables(name: str | None, *, has_store: bool) -> Document:
    """Every table that a query can name, or the columns of one; those of a store only where there is one."""
    found = list_sql_tables(name).rows_of()
    if name is None and not has_store:
        found = replace(found, rows=[row for row in found.rows if row.name in TABLES])
    headline = ALL_TABLES[name].comment if name else f"{len(found.rows)} tables; their columns: this tool, with `name`"
    return Document(answers="tables", headline=headline, tables=(table_of(found),))


def queried(path: Path | None, store: str | None, query: str) -> Document:
    """The rows of a query over the captures below a path, or over the store. Raises UsageError where it is wrong, AoeReportsError where it takes too much."""
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always", LeftOutWarning)
        with _asked(path, store, query) as stream:
            rows = (row for batch in stream.batches for row in rows_of(batch))
            first = [*islice(rows, MOST_ROWS)]
            count = len(first) + sum(1 for _ in rows)
            findings = in_order(stream.notes.findings)
    return Document(
        answers="sql",
        headline=f"{count:,} rows" if count != 1 else "1 row",
        tables=(plain_table("rows", first, count), findings_table(findings)),
        notes=tuple(told_warnings(left_out)[:MOST_NOTES]),
        hints=() if count else (Hint("tables", {}, "which tables and columns there are"),),
    )


def _asked(path: Path | None, store: str | None, query: str) -> AbstractContextManager[Stream]:
    if path is not None:
        return query_captures(path, query, SqlOptions())
    if store is None:
        raise RefusedError("sql needs path: there is no store")
    from aoe_reports.history.database import query_store  # noqa: PLC0415 -- deltalake

    return query_store(store, query, SqlOptions())
