"""Reads one table of one file, whatever the file's form: CSV, JSON, database, timeline, compressed or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from aoe_reports.formats.csv.summary import TableData, nothing_of, read_table
from aoe_reports.formats.rules import NEGATIVE_DURATION
from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.table import Derived, Table
from aoe_reports.formats.vendor import TABLES
from aoe_reports.model.arrays.columns import Mask, integers
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import join, say


def read_table_file(
    file: FoundFile, kind: str, fields: frozenset[str] | None = None, *, hashed: bool = True
) -> TableData:
    """The rows of table `kind` in a file that holds it; damage is in the findings.

    `fields` are the wanted columns (canonical names); ReadError where the file cannot be read at all.
    """
    with expanded(file) as (path, wrong):
        if wrong is not None:
            return nothing_of(file.path, TABLES[kind], TABLES[kind].match([]), wrong)
        data = _read(file, path, kind, _fields_to_read(TABLES[kind], fields), hashed=hashed)
    if data.table.derived:
        data = _with_derived(data, fields)
    if path == file.path:
        return data
    found = tuple(replace(finding, path=str(file.path)) for finding in data.findings)
    return replace(data, path=file.path, findings=found)


def _read(file: FoundFile, path: Path, kind: str, fields: frozenset[str] | None, *, hashed: bool) -> TableData:
    table = TABLES[kind]
    if file.name.form == "csv":
        return read_table(path, table, fields, hashed=hashed)
    if file.name.form == "db":
        from aoe_reports.formats.sqlite import read_database  # noqa: PLC0415 -- most captures are text

        return read_database(path, kind, fields, hashed=hashed)
    if file.name.timeline:
        from aoe_reports.formats.trace.rows import read_timeline  # noqa: PLC0415 -- most captures have tables

        return read_timeline(path, file.name)
    if table.form == "document":
        from aoe_reports.formats.json.documents import read_table_of_document  # noqa: PLC0415

        return read_table_of_document(path, kind, fields)
    from aoe_reports.formats.json.summary import read_json_summary  # noqa: PLC0415

    return read_json_summary(path, table, fields)


def _fields_to_read(table: Table, fields: frozenset[str] | None) -> frozenset[str] | None:
    """The fields of a file that have to be read for these columns of its table."""
    if fields is None:
        return None
    return fields.union(*(derived.of for derived in table.derived if derived.column.field in fields))


def _with_derived(data: TableData, fields: frozenset[str] | None) -> TableData:
    """The table with the derived columns among `fields` (None: all), and without what only they were made of."""
    for derived in data.table.derived:
        if (fields is None or derived.column.field in fields) and set(derived.of) <= set(data.frame.column_names):
            data = _with_column(data, derived)
    if fields is None:
        return data
    needed = {column.field for column in data.table.columns if column.needed}
    extra = {name for derived in data.table.derived for name in derived.of} - fields - needed
    return data.with_frame(data.frame.drop_columns([name for name in data.frame.column_names if name in extra]))


def _with_column(data: TableData, derived: Derived) -> TableData:
    made = derived.make(*(data.frame[name] for name in derived.of))
    data = data.with_frame(data.frame.append_column(derived.column.field, made))
    if derived.column.type != "duration":
        return data
    values, there = integers(made)
    mask = there & (values < 0)
    return data.keep(~mask, _below_zero(data, derived, mask)) if mask.any() else data


def _below_zero(data: TableData, derived: Derived, mask: Mask) -> tuple[Finding, ...]:
    """A finding for each row that ends before it starts; after EXAMPLES_PER_RULE of them one counts the rest."""
    headers = {column.field: column.headers[0] for column in data.table.columns}
    what = join(" - ", (headers[name] for name in derived.of))
    message = say("{header} is negative; {effect}", header=what, effect=say("the row is left out"))
    lines = [data.line(int(row)) for row in np.flatnonzero(mask)]
    first = NEGATIVE_DURATION.found(str(data.path), message)
    found = [replace(first, line=line) for line in lines[:EXAMPLES_PER_RULE]]
    if len(lines) > EXAMPLES_PER_RULE:
        rest = say("and {count} more: {message}", count=len(lines) - EXAMPLES_PER_RULE, message=message)
        found.append(replace(first, message=rest, line=lines[EXAMPLES_PER_RULE]))
    return tuple(found)
