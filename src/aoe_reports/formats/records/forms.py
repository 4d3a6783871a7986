"""Benchmark log records as tables: CSV that other programs and people write, and the Parquet files that we write.

A cell of text is the text itself, or JSON where it would look like something else: `"=1+1"`, `"20240101000000"`, `""`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from aoe_reports.formats.records.payloads import NotDecodableError, decode
from aoe_reports.formats.records.record import FIELDS, JSON_FIELDS
from aoe_reports.formats.records.row import STORED_COLUMNS, record_of_row
from aoe_reports.formats.rules import RECORDS_TABLE
from aoe_reports.formats.sources.head import HEAD_BYTES
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, say

T = TypeVar("T")

PRIORITY_FIELDS = ("workload", "engine", "hardware", "runtime_ms_mean", "runtime_ms_std")
"""What a record cannot do without."""
CSV_COLUMNS = (*FIELDS, "extra")
"""The fields of v0.1, and an object of the keys that v0.1 does not name."""
PARQUET_MARK = b"aoe_reports.records.v0.1"
"""The key in a Parquet file's own metadata that tells our records from the parts of a store."""
RUN = "run"
"""The column of Parquet in which the first record of a run tells of the run."""
_OBJECTS = frozenset({*JSON_FIELDS, "runtime_raw", "extra"})
_NUMBERS = frozenset({"runtime_ms_mean", "runtime_ms_std"})
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_AS_JSON = re.compile(r"""[\s"'=+\-@]|.*[\x00-\x1f\x7f-\x9f\ud800-\udfff]""", re.DOTALL)
"""A text that a spreadsheet or a terminal would take for a command, or that looks like JSON."""
_BATCH_ROWS, _BYTES_A_ROW = 1000, 100
_MAGIC = b"PAR1"


def is_header_of_records(cells: Iterable[str]) -> bool:
    """Whether the cells of a first line are names of fields, with all that a record needs."""
    return set(PRIORITY_FIELDS) <= {cell.strip() for cell in cells}


def is_parquet(data: bytes) -> bool:
    """Whether these are the bytes of a Parquet file."""
    return data.startswith(_MAGIC)


def is_parquet_of_records(path: Path) -> bool:
    """Whether a file is Parquet that we wrote records into: its end, where Parquet describes itself, says so."""
    with path.open("rb") as file:
        if not is_parquet(file.read(len(_MAGIC))):
            return False
        file.seek(max(file.seek(0, os.SEEK_END) - HEAD_BYTES, 0))
        return PARQUET_MARK in file.read(HEAD_BYTES)


def csv_lines(documents: Iterable[JsonObject]) -> Iterator[str]:
    """Records as the lines of a CSV file."""
    yield _line(CSV_COLUMNS)
    for document in documents:
        extra = {name: value for name, value in document.items() if name not in FIELDS}
        cells = [_cell(name, document[name]) if name in document else "" for name in FIELDS]
        yield _line([*cells, json.dumps(extra) if extra else ""])


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cell(name: str, value: Json) -> str:
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value, allow_nan=False)
    odd = not value or _AS_JSON.match(value) or (name == "timestamp" and _NUMBER.fullmatch(value))
    return json.dumps(value) if odd else value


def rows_of_csv(
    path: Path, text: bytes, findings: list[Finding], longest: int
) -> Iterator[tuple[int, dict[str, Any], Any]]:
    """(line on which it ends, the record, its exact time) of each row; what cannot be read goes into `findings`.

    No cell has more than `longest` characters.
    """
    with _cells_up_to(longest):
        rows = csv.reader(io.StringIO(text.decode("utf-8", errors="surrogateescape"), newline=""), strict=True)
        try:
            header = [cell.strip() for cell in next(rows, [])]
            if len(set(header)) < len(header):
                findings.append(RECORDS_TABLE.found(str(path), say("a column appears twice in the header"), 1))
                return
            for cells in rows:
                if any(cells) and len(cells) != len(header):
                    message = say("{count} cells, expected {expected}", count=len(cells), expected=len(header))
                    findings.append(RECORDS_TABLE.found(str(path), message, rows.line_num))
                elif any(cells):
                    row = dict(zip(header, cells, strict=True))
                    document = _document(row)
                    yield rows.line_num, document, _exact_time(document, Decimal, row.get("timestamp", "").strip())
        except csv.Error as error:
            findings.append(RECORDS_TABLE.found(str(path), str(error), rows.line_num))


@contextmanager
def _cells_up_to(longest: int) -> Iterator[None]:
    before = csv.field_size_limit(longest)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _document(cells: Mapping[str, str]) -> dict[str, Any]:
    """The record in a row: fields without a value are not in it."""
    values = {name: _value(name, cell) for name, cell in cells.items() if cell.strip()}
    extra = values.pop("extra", {})
    if "runtime_ms_std" in cells:
        values.setdefault("runtime_ms_std", None)
    if not isinstance(extra, dict):
        return {**values, "extra": extra}
    return {**extra, **values}


def _value(name: str, cell: str) -> Any:
    """What a cell means; a cell that should be JSON and is not stays a text, which the schema refuses."""
    is_json = name in _OBJECTS or name in _NUMBERS or cell.startswith('"')
    if is_json or (name == "timestamp" and _NUMBER.fullmatch(cell.strip())):
        try:
            return msgspec.json.decode(cell.strip())
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return cell
    return cell


def _exact_time(document: Mapping[str, Any], exact: Callable[[T], Decimal], told: T) -> Any:
    """A record's time; where it is a float, which has not enough digits, by what else tells it."""
    value = document.get("timestamp")
    return exact(told) if isinstance(value, float) else value


def rows_of_parquet(
    path: Path, data: bytes, findings: list[Finding], most: int
) -> Iterator[tuple[int, dict[str, Any], Any]]:
    """(number, the record, its exact time) of each row of a file of ours that expands to at most `most` bytes.

    What cannot be read goes into `findings`.
    """
    import pyarrow as pa  # noqa: PLC0415 -- few files of records are Parquet
    import pyarrow.parquet as pq  # noqa: PLC0415

    def wrong(message: Text | str, row: int | None = None) -> None:
        findings.append(RECORDS_TABLE.found(str(path), message, pointer=None if row is None else f"/{row}"))

    too_large = say("it would expand to more than {limit} bytes", limit=most)
    try:
        texts = [field.name for field in pq.read_schema(pa.BufferReader(data)) if pa.types.is_string(field.type)]
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts, page_checksum_verification=True)
        groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > most:
            wrong(too_large)
            return
        if missing := sorted({*STORED_COLUMNS, RUN} - set(file.schema_arrow.names)):
            wrong(say("without the column {column}", column=missing[0]))
            return
        expanded = 0
        for number, row in enumerate(_rows_of(file)):
            expanded += _BYTES_A_ROW + sum(len(value) for value in row.values() if isinstance(value, str))
            if expanded > most:  # a text may stand for a million rows
                wrong(too_large)
                return
            try:
                document = _document_of_row(row)
                time = _exact_time(document, lambda ns: Decimal(ns).scaleb(-9), row["timestamp_ns"])
            except (NotDecodableError, LeftOutWarning, TypeError, ValueError, AttributeError) as error:
                wrong(str(error), number)
            else:
                yield number, document, time
    except (pa.ArrowException, OSError, UnicodeError) as error:
        wrong((str(error).splitlines() or [type(error).__name__])[0])


def _rows_of(file: Any) -> Iterator[dict[str, Any]]:
    """The rows one at a time: together they may be far larger than the file."""
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        for place in range(batch.num_rows):
            yield {name: batch.column(name)[place].as_py() for name in batch.schema.names}


def _document_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeftOutWarning)
        run = None if row[RUN] is None else decode(row[RUN], JsonObject)
        return record_of_row(row).as_json(run)
