"""Reads a summary CSV into an Arrow table, or says with file, line and column why a row or cell is not in it.

Every row is looked at in full even where few columns are wanted: a parser that only projects hands out shifted values
from a row with one cell too many. Rows read = rows in the frame + rows reported, always.
"""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from aoe_reports.columns import Floats, Ints, Mask, bits, column_of, floats, keep_where, valid
from aoe_reports.errors import ReadError
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.tables import Column, Field, Match, Table
from aoe_reports.tables.table import NO_ID, NULL_TOKENS

BLOCK_BYTES = 1 << 20
LOOK_BYTES = 1 << 18
MAX_HEADER_BYTES = 1 << 20
MAX_TRANSCODED_BYTES = 1 << 30
"""The largest file that is read as GB18030: it has to be held in memory whole."""
LONGEST_NS = 2**50
"""Thirteen days: nothing that is measured takes longer, and sums of 8,000 such times still fit into 64 bits."""
_MAX_NS = 2**62
_EXACT_IN_FLOAT = 2.0**53
_NEWLINE = ord("\n")
_EXPONENTS = 30
_MICROSECOND = 1000
_PLAIN_STAMP = r"^(\d{1,15}|[1-8]\d{15})(\.\d{1,6})?$"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*$"
_NUMBER_TEXT = re.compile(_NUMBER, re.ASCII)


@dataclass(frozen=True, slots=True)
class TableData:
    """One file's rows that can be used, under canonical names, and what was found while reading it."""

    table: Table
    path: Path
    frame: pa.Table
    match: Match
    findings: tuple[Finding, ...]
    rows_read: int
    rows_reported: int
    sha256: str
    rows: Ints | None = None
    """The data record (from 0) of each row of the frame; None where nothing was left out."""
    lines: Ints | None = None
    """The physical line of each data record; None where record k stands on line k + 2."""

    def line(self, row: int) -> int:
        """The physical line (from 1) of a row of the frame."""
        return _line(int(self.rows[row]) if self.rows is not None else row, self.lines)

    def keep(self, mask: Mask, findings: tuple[Finding, ...]) -> TableData:
        """The same data without the rows where `mask` is false, which `findings` report."""
        rows = self.rows if self.rows is not None else np.arange(self.frame.num_rows, dtype=np.int64)
        return replace(
            self,
            frame=self.frame.filter(keep_where(mask)),
            rows=rows[mask],
            rows_reported=self.rows_reported + int((~mask).sum()),
            findings=self.findings + findings,
        )

    def with_constants(self, constants: dict[str, int]) -> TableData:
        """The same data with columns that the file's name tells and the file does not."""
        frame = self.frame
        for name, value in constants.items():
            if name not in frame.column_names:
                values = np.full(frame.num_rows, value, dtype=np.int64)
                frame = frame.append_column(name, column_of(values, np.ones(frame.num_rows, dtype=bool)))
        return replace(self, frame=frame)

    def to_polars(self) -> Any:
        """The frame as a polars DataFrame."""
        import polars as pl  # noqa: PLC0415 -- readers work without it

        return pl.DataFrame(self.frame)

    def to_pandas(self) -> Any:
        """The frame as a pandas DataFrame, for notebooks."""
        return self.frame.to_pandas()


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a look at every byte of a file tells, the header's line apart."""

    newlines: int
    last: bytes
    bad_offset: int | None
    """Where the text stops being UTF-8."""
    sha256: str


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What the structural pass gives: text columns and rows of the wrong length."""

    frame: pa.Table
    ragged: list[tuple[int, int, bool]]  # data record from 0, cells found, whether it goes over several lines


def read_header(path: Path) -> tuple[list[str], int]:
    """The header's cells and the length of its line in bytes (0 for a file without one); ReadError if unreadable."""
    try:
        with path.open("rb") as file:
            line = file.readline(MAX_HEADER_BYTES)
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), "a readable CSV file was expected") from error
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = line.decode("gb18030", errors="replace")
    try:
        return next(csv.reader([text.replace("\0", "\ufffd").replace("\r", "")]), []), len(line)
    except csv.Error as error:
        raise ReadError(
            path, f"the header cannot be taken apart ({error})", "a line of cells was expected", 1
        ) from error


def read_table(path: Path, table: Table, fields: frozenset[str] | None = None, *, hashed: bool = True) -> TableData:
    """The rows of a CSV file as `table` declares them; only `fields` (canonical names) where given.

    `hashed=False` leaves the file's SHA-256 out (empty), which costs a third of the time of a large file.

    Damage is in the findings, with file, line and column; ReadError only where the file cannot be read at all.
    """
    header, header_bytes = read_header(path)
    match = table.match(header)
    if not header:
        what = "the first line holds no header" if header_bytes else "the file is empty"
        line = 1 if header_bytes else None
        finding = Finding("error", "empty-file", str(path), f"{what}; expected the header of {table.name}", line)
        return _nothing(path, table, match, finding)
    if match.missing:
        return _nothing(path, table, match, *_missing(path, table, match, header))
    wanted = [f for f in match.fields if fields is None or f.name in fields or f.needed]
    looked = _look(path, header_bytes, hashed=hashed)
    source: Path | bytes = path
    notes: list[Finding] = []
    if looked.bad_offset is not None:
        line = _line_of_offset(path, looked.bad_offset)
        transcoded = _transcode(path)
        if transcoded is None:
            message = "the bytes are neither UTF-8 nor GB18030; nothing of this file is used"
            return _nothing(path, table, match, Finding("error", "csv-encoding", str(path), message, line))
        source = transcoded
        notes.append(Finding("warning", "csv-encoding", str(path), "not UTF-8; read as GB18030", line))
    parsed = _parse(source, len(header), wanted) if looked.last else _Parsed(_no_rows(wanted), [])
    if parsed is None:
        message = "this cannot be taken apart into rows (one longer than 1 MiB?); nothing of this file is used"
        return _nothing(path, table, match, Finding("error", "csv-syntax", str(path), message))
    whole = looked.last == b"\n" or (not looked.last and _ends_with_newline(path, header_bytes))
    return _assemble(path, table, match, wanted, parsed, looked, notes, whole=whole)


def _nothing(path: Path, table: Table, match: Match, *findings: Finding) -> TableData:
    empty = pa.table({f.name: pa.array([], _arrow_type(f)) for f in match.fields})
    return TableData(table, path, empty, match, findings, 0, 0, "")


def _missing(path: Path, table: Table, match: Match, header: list[str]) -> list[Finding]:
    findings = []
    for column in match.missing:
        near = _instead(column, table, match)
        hint = f"; is it {near.header!r} (column {near.position + 1})?" if near else ""
        message = (
            f"no column {column.headers[0]!r} in the header of {len(header)} columns, which every {table.name} has"
            f"{hint}; no row of this file is used"
        )
        findings.append(Finding("error", "missing-column", str(path), message, 1, near.position + 1 if near else None))
    return findings


def _instead(column: Column, table: Table, match: Match) -> Field | None:
    """The unknown column that stands where a missing one should, behind its declared neighbour."""
    positions = {f.name: f.position for f in match.fields}
    before = [positions[c.field] for c in table.columns[: table.columns.index(column)] if c.field in positions]
    expected = before[-1] + 1 if before else 0
    return next((f for f in match.fields if f.type == "unknown" and f.position == expected), None)


def _ends_with_newline(path: Path, header_bytes: int) -> bool:
    with path.open("rb") as file:
        return file.read(header_bytes).endswith(b"\n")


def _look(path: Path, skip: int, *, hashed: bool) -> _Looked:
    """Look once at every byte: encoding, line ends, hash. pyarrow reads the file by itself, without asking Python."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    newlines, offset, last, bad_offset, plain = 0, skip, b"", None, True
    block = bytearray(LOOK_BYTES)  # one for all: new memory for each block costs more than the looking
    with path.open("rb", buffering=0) as file:
        digest = _sha256(file.read(skip)) if hashed else None
        file.seek(skip)
        while length := file.readinto(block):
            data = block if length == LOOK_BYTES else block[:length]
            if digest is not None:
                digest.update(data)
            newlines += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE))
            if bad_offset is None and not (plain and data.isascii()):
                plain = False
                bad_offset = _undecodable(decoder, bytes(data), offset)
            last = bytes(data[-1:])
            offset += length
    if not plain and bad_offset is None:
        bad_offset = _undecodable(decoder, b"", offset, final=True)
    return _Looked(newlines, last, bad_offset, digest.hexdigest() if digest else "")


def _sha256(data: bytes) -> Any:
    import hashlib  # noqa: PLC0415 -- commands that rank or check hash nothing

    return hashlib.sha256(data)


def _undecodable(decoder: codecs.IncrementalDecoder, data: bytes, offset: int, *, final: bool = False) -> int | None:
    try:
        decoder.decode(data, final)
    except UnicodeDecodeError as error:
        return offset + error.start
    return None


def _parse(source: Path | bytes, cells: int, wanted: list[Field]) -> _Parsed | None:
    """Read all rows, the wanted columns as text; None where the bytes cannot be taken apart as CSV."""
    for multiline in (False, True):
        ragged: list[tuple[int, int, bool]] = []
        frame = _read_arrow(source, cells, wanted, ragged, multiline=multiline)
        if frame is not None:
            return _Parsed(frame, ragged)
    return None


def _read_arrow(
    source: Path | bytes, cells: int, wanted: list[Field], ragged: list[tuple[int, int, bool]], *, multiline: bool
) -> pa.Table | None:
    def skip(row: Any) -> str:
        ragged.append((row.number - 2, row.actual_columns, "\n" in row.text))
        return "skip"

    names = [str(position) for position in range(cells)]
    types = {names[f.position]: _text_type(f) for f in wanted}
    try:
        with _opened(source) as file:
            return pacsv.read_csv(
                file,
                read_options=pacsv.ReadOptions(
                    use_threads=False, block_size=BLOCK_BYTES, skip_rows=1, column_names=names
                ),
                parse_options=pacsv.ParseOptions(invalid_row_handler=skip, newlines_in_values=multiline),
                convert_options=pacsv.ConvertOptions(
                    include_columns=list(types),
                    column_types=types,
                    null_values=list(NULL_TOKENS),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                    check_utf8=False,  # every byte has been looked at
                ),
            )
    except pa.ArrowInvalid as error:
        return _no_rows(wanted) if "Empty CSV file" in str(error) else None


def _opened(source: Path | bytes) -> pa.NativeFile:
    """A file of Arrow's own: its read-ahead thread must never need the interpreter, which may be ending."""
    if isinstance(source, Path):
        return pa.OSFile(os.fsencode(source))
    sink = pa.BufferOutputStream()
    sink.write(source)
    return pa.BufferReader(sink.getvalue())


def _text_type(spec: Field) -> pa.DataType:
    return pa.dictionary(pa.int32(), pa.string()) if spec.type in {"text", "unknown"} else pa.string()


def _no_rows(wanted: list[Field]) -> pa.Table:
    return pa.schema([(str(spec.position), _text_type(spec)) for spec in wanted]).empty_table()


def _transcode(path: Path) -> bytes | None:
    if path.stat().st_size > MAX_TRANSCODED_BYTES:
        return None
    try:
        return path.read_bytes().decode("gb18030").encode()
    except UnicodeDecodeError:
        return None


def _line_of_offset(path: Path, offset: int) -> int:
    line = 1
    with path.open("rb") as file:
        while offset > 0 and (data := file.read(min(offset, BLOCK_BYTES))):
            line += data.count(b"\n")
            offset -= len(data)
    return line


def _assemble(
    path: Path,
    table: Table,
    match: Match,
    wanted: list[Field],
    parsed: _Parsed,
    looked: _Looked,
    findings: list[Finding],
    *,
    whole: bool,
) -> TableData:
    """Turn text columns into typed ones; keep rows that cannot be used out, and report each."""
    frame, ragged = parsed.frame, parsed.ragged
    total = frame.num_rows + len(ragged)
    one_line_each = looked.newlines + (looked.last not in {b"", b"\n"}) == total
    lines, spread = (None, None) if one_line_each else _physical_lines(path)
    rows = _records(total, ragged)
    good = np.ones(frame.num_rows, dtype=bool)
    reported = len(ragged)
    if not whole:
        last_is_ragged = bool(ragged) and ragged[-1][0] == total - 1
        if last_is_ragged:
            ragged = ragged[:-1]
        elif total:
            good[-1] = False
        line = _line(total - 1, lines) if total else 1
        message = "the file ends in the middle of a row (no line end); that row is left out, later ones are missing"
        findings.append(Finding("error", "csv-truncated", str(path), message, line))
    findings += _ragged(path, ragged, len(match.fields), lines)
    if spread is not None:
        findings += _spread_rows(path, good, spread, rows, lines)
    columns: dict[str, pa.ChunkedArray] = {}
    for spec in wanted:
        column, bad = _convert(frame.column(str(spec.position)), spec)
        columns[spec.name] = column
        bad &= good
        if bad.any():
            findings += _bad_cells(path, spec, frame.column(str(spec.position)), np.flatnonzero(bad), rows, lines)
        if spec.needed:
            absent = good & ~bad & ~valid(column)
            if absent.any():
                findings += _absent(path, spec, np.flatnonzero(absent), rows, lines)
            good &= ~(bad | absent)
    data = pa.table(columns)
    if good.all():
        kept = rows if ragged or reported else None
        return TableData(table, path, data, match, tuple(findings), total, reported, looked.sha256, kept, lines)
    reported += int((~good).sum())
    data = data.filter(keep_where(good))
    return TableData(table, path, data, match, tuple(findings), total, reported, looked.sha256, rows[good], lines)


def _records(total: int, ragged: list[tuple[int, int, bool]]) -> Ints:
    """The data record (from 0) of each row that has the right length."""
    rows = np.arange(total, dtype=np.int64)
    return np.delete(rows, [record for record, _, _ in ragged]) if ragged else rows


def _physical_lines(path: Path) -> tuple[Ints, Ints]:
    """(first physical line, number of lines) of each data record: for empty lines and line ends inside cells."""
    starts: list[int] = []
    heights: list[int] = []
    before = 0
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.reader(line.replace("\0", "\ufffd") for line in file)
        while True:
            try:
                record = next(reader)
            except StopIteration:
                break
            except csv.Error:
                record = ["?"]
            if record:
                starts.append(before + 1)
                heights.append(reader.line_num - before)
            before = reader.line_num
    return np.asarray(starts[1:], dtype=np.int64), np.asarray(heights[1:], dtype=np.int64)


def _spread_rows(path: Path, good: Mask, heights: Ints, rows: Ints, lines: Ints | None) -> list[Finding]:
    """Rows over several lines: no cell of these tables has a line end, so stray quotes have swallowed rows."""
    high = np.asarray([heights[row] > 1 if row < len(heights) else False for row in rows], dtype=bool) & good
    good &= ~high
    found = [
        (
            _line(int(row), lines),
            None,
            f"the row goes over {heights[row]} lines (stray quotes?); all of them are left out",
        )
        for row in rows[high]
    ]
    return _capped("error", "csv-spread-row", path, found)


def _line(record: int, lines: Ints | None) -> int:
    if lines is None:
        return record + 2
    return int(lines[record]) if record < len(lines) else int(lines[-1]) if len(lines) else 1


def _ragged(path: Path, ragged: list[tuple[int, int, bool]], cells: int, lines: Ints | None) -> list[Finding]:
    def message(found: int, spread: bool) -> str:
        swallowed = "; an open quote swallows what follows on the next lines" if spread else ""
        return f"the row has {found} cells, the header {cells}; the row is left out{swallowed}"

    return _capped(
        "error",
        "csv-ragged-row",
        path,
        [(_line(record, lines), None, message(found, spread)) for record, found, spread in ragged],
    )


def _bad_cells(
    path: Path,
    spec: Field,
    column: pa.ChunkedArray,
    bad: Ints,
    rows: Ints,
    lines: Ints | None,
) -> list[Finding]:
    what = "the row is left out" if spec.needed else "the cell is empty in the table"
    found = [
        (_line(int(rows[i]), lines), spec.position + 1, f"{spec.header}: {_shown(column, i)} is not a number; {what}")
        for i in bad[: EXAMPLES_PER_RULE + 1]
    ]
    return _capped("error", "csv-unparsable", path, found, len(bad))


def _shown(column: pa.ChunkedArray, row: int) -> str:
    return repr(str(column[int(row)].as_py())[:60])


def _absent(
    path: Path,
    spec: Field,
    absent: Ints,
    rows: Ints,
    lines: Ints | None,
) -> list[Finding]:
    message = f"{spec.header}: no value; the row is left out"
    found = [(_line(int(rows[i]), lines), spec.position + 1, message) for i in absent[: EXAMPLES_PER_RULE + 1]]
    return _capped("error", "missing-value", path, found, len(absent))


def _capped(
    severity: Severity,
    rule: str,
    path: Path,
    found: Sequence[tuple[int, int | None, str]],
    count: int | None = None,
) -> list[Finding]:
    """Make findings of places; after EXAMPLES_PER_RULE of them one line counts the rest."""
    total = len(found) if count is None else count
    shown = [Finding(severity, rule, str(path), text, line, column) for line, column, text in found[:EXAMPLES_PER_RULE]]
    if total > EXAMPLES_PER_RULE:
        line, column, _ = found[EXAMPLES_PER_RULE]
        message = f"and {total - EXAMPLES_PER_RULE} more of this kind from here on, all left out"
        shown.append(Finding(severity, rule, str(path), message, line, column))
    return shown


def _arrow_type(spec: Field) -> pa.DataType:
    if spec.type in {"text", "unknown"}:
        return pa.dictionary(pa.int32(), pa.string())
    return pa.float64() if spec.type == "number" else pa.int64()


def _convert(column: pa.ChunkedArray, spec: Field) -> tuple[pa.ChunkedArray, Mask]:
    """A text column as its type, and where a cell is not of that type (null there)."""
    if spec.type in {"text", "unknown"}:
        unquoted = _unquoted(column) if spec.name.endswith("_shapes") else column
        return unquoted, np.zeros(len(column), dtype=bool)
    if spec.type == "timestamp":
        return _exact_nanoseconds(column, spec.factor)
    values, good, bad = _numbers(column)
    if spec.type == "number":
        return column_of(values, good), bad
    if spec.type == "integer":
        broken = good & ((np.rint(values) != values) | (np.abs(values) >= _EXACT_IN_FLOAT))
        good &= ~broken & (values != NO_ID)
        return column_of(np.where(good, values, 0).astype(np.int64), good), bad | broken
    return _durations(values, good, bad, spec.factor)


def _unquoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Shapes without the one pair of quotes that both exporters put around them; an empty shape is null."""
    chunks = []
    for chunk in column.chunks:
        words = [word.removeprefix('"').removesuffix('"') or None for word in chunk.dictionary.to_pylist()]
        unquoted = pa.DictionaryArray.from_arrays(chunk.indices, pa.array(words, pa.string()))
        # a null belongs into the rows, not among the words: Parquet takes no such dictionary
        chunks.append(unquoted.dictionary_decode().dictionary_encode() if None in words else unquoted)
    return pa.chunked_array(chunks, column.type)


def _durations(values: Floats, good: Mask, bad: Mask, factor: int) -> tuple[pa.ChunkedArray, Mask]:
    """Numbers of one unit of time as whole nanoseconds; what is longer than LONGEST_NS is bad."""
    values *= factor
    if values.size and values.min() < 0:
        # a negative part of a nanosecond must not become 0: it would pass for a duration
        values = np.where(values < 0, np.floor(values), values)
    np.rint(values, out=values)
    if values.size and max(values.max(), -values.min()) >= LONGEST_NS:
        too_large = np.abs(values) >= LONGEST_NS
        good, bad = good & ~too_large, bad | too_large
        values[too_large] = 0
    return column_of(values.astype(np.int64), good), bad


def _numbers(column: pa.ChunkedArray) -> tuple[Floats, Mask, Mask]:
    """Text as float64: (values, 0 where there is none; where there is one; where the text is no finite number)."""
    there = valid(column)
    try:
        values, _ = floats(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        parts = [_numbers_that_fit(pa.chunked_array([chunk])) for chunk in column.chunks]
        values = np.concatenate([part for part, _ in parts])
        fits = np.concatenate([mask for _, mask in parts])
    else:
        fits = there
    good = fits & np.isfinite(values)
    if not good.all():
        values = np.where(good, values, 0.0)
    return values, good, there & ~good


def _numbers_that_fit(column: pa.ChunkedArray) -> tuple[Floats, Mask]:
    """(values, where the text is a decimal number) of one block; only a block with other text is looked at closely."""
    try:
        return floats(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        fits = bits(pc.match_substring_regex(column, _NUMBER)) & valid(column)
        values = np.zeros(len(column))
        values[fits], _ = floats(pc.utf8_trim_whitespace(column.filter(keep_where(fits))).cast(pa.float64()))
        return values, fits


def _exact_nanoseconds(column: pa.ChunkedArray, factor: int) -> tuple[pa.ChunkedArray, Mask]:
    """Text time stamps as exact integer nanoseconds: a float64 would lose the last digits."""
    trimmed = pc.utf8_trim_whitespace(column)
    there = valid(column)
    plain = bits(pc.match_substring_regex(trimmed, _PLAIN_STAMP)) if not column.null_count else np.zeros(0, dtype=bool)
    if column.null_count == 0 and plain.all() and factor <= _MICROSECOND:
        # (Arrow's own cast is not asked about anything else: an exponent of nine digits ends the process)
        scaled = pc.multiply(trimmed.cast(pa.decimal128(26, 6)), pa.scalar(factor, pa.decimal128(10, 0)))
        return pc.round(scaled).cast(pa.int64()), np.zeros(len(column), dtype=bool)
    values = [_nanoseconds(cell, factor) for cell in trimmed.to_pylist()]
    good = np.asarray([value is not None for value in values], dtype=bool)
    whole = np.asarray([value or 0 for value in values], dtype=np.int64)
    return column_of(whole, good), there & ~good


def _nanoseconds(cell: str | None, factor: int) -> int | None:
    """One cell as nanoseconds; None for no number, and for one that no time can be."""
    if cell is None or not _NUMBER_TEXT.match(cell):
        return None
    value = Decimal(cell)
    if not -_EXPONENTS < value.adjusted() < _EXPONENTS:
        return 0 if value.is_zero() else None
    whole = (value * factor).to_integral_value(ROUND_HALF_EVEN)
    return int(whole) if abs(whole) < _MAX_NS else None
