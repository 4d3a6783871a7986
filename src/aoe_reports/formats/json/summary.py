"""Reads a summary that was exported as JSON: a list of objects, one a row, with the headers of the CSV as keys."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jiter
import numpy as np
import pyarrow as pa

from aoe_reports.formats.convert import WORDS, convert
from aoe_reports.formats.csv.summary import (
    TableData,
    nothing_of,
    repeated_as_lists,
    said_of_cell,
    said_of_header,
    wanted_of,
)
from aoe_reports.formats.json.text import of_parser
from aoe_reports.formats.rules import (
    CSV_UNPARSABLE,
    EMPTY_FILE,
    JSON_DUPLICATE_KEY,
    JSON_ENCODING,
    JSON_ROW,
    JSON_SHAPE,
    JSON_SYNTAX,
    JSON_TOO_LARGE,
    JSON_TRUNCATED,
    MISSING_VALUE,
)
from aoe_reports.formats.table import NULL_TOKENS, Field, Table
from aoe_reports.model.arrays.columns import Mask, keep_where, valid
from aoe_reports.model.documents import Json
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, say

MAX_DOCUMENT_BYTES = 1 << 30
"""A document is held in memory whole."""


def read_document(path: Path, findings: list[Finding], expected: str) -> tuple[Any, str]:
    """(what a JSON file says, None where nothing of it can be used; the file's SHA-256)."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_DOCUMENT_BYTES else b""
    except OSError as error:
        expected_here = say("{expected} was expected", expected=expected)
        raise ReadError(path, error.strerror or str(error), expected_here) from error
    sha256 = hashlib.sha256(data).hexdigest()
    rule = JSON_TOO_LARGE
    message = say("{size} bytes; at most {limit} are read", size=size, limit=MAX_DOCUMENT_BYTES)
    if size <= MAX_DOCUMENT_BYTES:
        rule, message = EMPTY_FILE, say("the file is empty; expected {expected}", expected=expected)
        data = _as_utf8(path, data, findings)
        if data.strip():
            try:
                document = jiter.from_json(
                    data, allow_inf_nan=False, cache_mode="keys", float_mode="lossless-float", catch_duplicate_keys=True
                )
            except ValueError as error:
                rule, message = _what(str(error))
            else:
                if document is not None:
                    return document, sha256
                rule, message = JSON_SHAPE, say("the document is null; expected {expected}", expected=expected)
    places = _PLACE.findall(message)  # the last one: a key that stands twice may say anything
    line, column = (int(places[-1][0]), max(int(places[-1][1]), 1)) if places else (None, None)
    findings.append(rule.found(str(path), message, line, column, severity="error"))
    return None, sha256


_PLACE = re.compile(r" at line (\d+) column (\d+)")


def _what(error: str) -> tuple[Rule, Text]:
    told = of_parser(error)
    if error.startswith("EOF"):
        return JSON_TRUNCATED, say(
            "the text ends before the document does ({error}); its content is not used", error=told
        )
    if "uplicate key" in error:
        message = say("{error}; it cannot be determined which one is right: the content is not used", error=told)
        return JSON_DUPLICATE_KEY, message
    return JSON_SYNTAX, say("not JSON: {why}; none of it is used", why=told)


def _as_utf8(path: Path, data: bytes, findings: list[Finding]) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError:
            return data  # the parser says where it breaks
        findings.append(JSON_ENCODING.found(str(path), say("not UTF-8; read as GB18030")))
        return text.encode()
    return data


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a document: its cells by header, and where it stands."""

    cells: Mapping[str, Json]
    pointer: str


def read_json_summary(path: Path, table: Table, fields: frozenset[str] | None = None) -> TableData:
    """The rows of a JSON summary as `table` declares them; only `fields` (canonical names) where given."""
    findings: list[Finding] = []
    document, sha256 = read_document(path, findings, say("a list of rows"))
    if document is None:
        return nothing_of(path, table, table.match([]), *findings)
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document[:1]):
        message = say("expected a list of rows (objects with the table's headers as keys); none of it is used")
        return nothing_of(path, table, table.match([]), JSON_SHAPE.found(str(path), message))
    header = list(document[0]) if document else []
    rows: list[Row] = []
    broken: list[Finding] = []
    for i, row in enumerate(document):
        if isinstance(row, dict) and list(row) == header:
            rows.append(Row(row, f"/{i}"))
        else:
            message = say("the keys of this row differ from those of the first row; it is left out")
            broken.append(JSON_ROW.found(str(path), message, pointer=f"/{i}"))
    findings += capped(broken[:_EXAMPLES], len(broken))
    return table_of_rows(path, table, rows, fields, findings, sha256, broken=len(broken))


def table_of_rows(
    path: Path,
    table: Table,
    rows: Sequence[Row],
    fields: frozenset[str] | None,
    findings: list[Finding],
    sha256: str,
    *,
    broken: int = 0,
) -> TableData:
    """Rows of a document as a frame; `broken` of them are reported already."""
    header = list(dict.fromkeys(name for row in rows for name in row.cells))
    match = table.match(header)
    if not rows:
        nothing = nothing_of(path, table, match, *findings)
        return replace(nothing, rows_read=broken, rows_reported=broken, sha256=sha256, is_text=False)
    refused, notes = said_of_header(path, table, match, header)  # notes are on order: keys of documents have none
    if refused:
        return nothing_of(path, table, match, *findings, *(replace(f, line=None, column=None) for f in refused))
    told = [*findings, *(replace(f, line=None, column=None) for f in notes if table.form != "document")]
    columns, good, wrong = _typed(path, rows, {header[field.position]: field for field in wanted_of(match, fields)})
    frame = pa.table(repeated_as_lists(table, columns)).filter(keep_where(good))
    read = len(rows) + broken
    return TableData(
        table=table,
        path=path,
        frame=frame,
        match=match,
        findings=(*told, *wrong),
        rows_read=read,
        rows_reported=read - frame.num_rows,
        sha256=sha256,
        rows=np.flatnonzero(good),
        is_text=False,
    )


def _typed(
    path: Path, rows: Sequence[Row], wanted: Mapping[str, Field]
) -> tuple[dict[str, pa.ChunkedArray], Mask, list[Finding]]:
    """(columns by their keys as they stand there: old exporters wrote blanks before them; the rows to be used; what is wrong)."""
    good = np.ones(len(rows), dtype=bool)
    columns: dict[str, pa.ChunkedArray] = {}
    told: list[Finding] = []
    for key, field in wanted.items():
        cells = [_text(row.cells.get(key)) for row in rows]
        column = pa.chunked_array([pa.array(cells, pa.string())])
        converted = convert(column.cast(WORDS) if field.type in {"text", "unknown"} else column, field)
        columns[field.name] = converted.column
        bad = np.flatnonzero(converted.bad & good)
        shown = [(rows[int(i)], said_of_cell(field, str(cells[i]), say("a number"))) for i in bad[:_EXAMPLES]]
        told += capped([_at(path, CSV_UNPARSABLE, row, field, text) for row, text in shown], len(bad))
        if field.needed:
            absent = np.flatnonzero(good & ~converted.bad & ~valid(converted.column))
            message = say("{column}: no value; the row is left out", column=field.header)
            found = [_at(path, MISSING_VALUE, rows[int(i)], field, message) for i in absent[:_EXAMPLES]]
            told += capped(found, len(absent))
            good &= ~converted.bad & valid(converted.column)
    return columns, good, told


_EXAMPLES = EXAMPLES_PER_RULE + 1
"""The last one says how many more there are."""


def _at(path: Path, rule: Rule, row: Row, field: Field, message: str) -> Finding:
    pointer = f"{row.pointer}/{field.header.replace('~', '~0').replace('/', '~1')}"
    return rule.found(str(path), message, pointer=pointer)


def capped(findings: list[Finding], count: int) -> list[Finding]:
    """The first of `count` findings, and how many more there are: the next one is given, too."""
    if count <= EXAMPLES_PER_RULE:
        return findings
    more = say("and {count} more of this kind", count=count - EXAMPLES_PER_RULE)
    return [*findings[:EXAMPLES_PER_RULE], replace(findings[EXAMPLES_PER_RULE], message=more)]


def _text(value: Any) -> str | None:
    """A JSON value as the CSV would have shown it."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value)
    text = value.strip("\t ") if isinstance(value, str) else str(value)
    return None if text in NULL_TOKENS else text
