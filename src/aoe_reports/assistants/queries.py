"""SQL over captures, as assistants ask it: the tables, and the rows of one query."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from aoe_reports.assistants.documents import MOST_ROWS, Document, Hint, findings_table, plain_table, table_of
from aoe_reports.engine.sql import SqlOptions, list_sql_tables, query_captures, rows_of
from aoe_reports.model.findings import in_order
from aoe_reports.schema.tables import TABLES


def listed_tables(name: str | None) -> Document:
    """Every table that a query can name, or the columns of one."""
    headline = TABLES[name].comment if name else f"{len(TABLES)} tables; their columns: this tool, with `name`"
    answer = list_sql_tables(name)
    return Document(answers="tables", headline=headline, tables=(table_of(answer.rows_of()),))


def queried(path: Path, query: str) -> Document:
    """The rows of a query over the captures below a path. Raises UsageError where it is wrong, AoeReportsError where it takes too much."""
    with query_captures(path, query, SqlOptions()) as stream:
        rows = (row for batch in stream.batches for row in rows_of(batch))
        first = [*islice(rows, MOST_ROWS)]
        count = len(first) + sum(1 for _ in rows)
        findings = in_order(stream.notes.findings)
    return Document(
        answers="sql",
        headline=f"{count:,} rows" if count != 1 else "1 row",
        tables=(plain_table("rows", first, count), findings_table(findings)),
        hints=() if count else (Hint("tables", {}, "which tables and columns there are"),),
    )
