"""Reads one table of one file, whatever the file's form: CSV, JSON, database, timeline, compressed or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aoe_reports.formats.csv.summary import TableData, nothing_of, read_table
from aoe_reports.formats.derive import fields_to_read, with_derived
from aoe_reports.formats.sources.expand import expanded
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import TABLES


def read_table_file(
    file: FoundFile, kind: str, fields: frozenset[str] | None = None, *, hashed: bool = True
) -> TableData:
    """The rows of table `kind` in a file that holds it; damage is in the findings.

    `fields` are the wanted columns (canonical names); ReadError where the file cannot be read at all.
    """
    with expanded(file) as (path, wrong):
        if wrong is not None:
            return nothing_of(file.path, TABLES[kind], TABLES[kind].match([]), wrong)
        data = _read(file, path, kind, fields_to_read(TABLES[kind], fields), hashed=hashed)
    if data.table.derived:
        data = with_derived(data, fields)
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
