"""Reads a summary CSV into an Arrow table, or says with file, line and column why a row or cell is not in it.

Every row is looked at in full even where few columns are wanted: a parser that only projects hands out shifted values
from a row with one cell too many. Rows read = rows in the frame + rows reported, always.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.convert import Converted, arrow_type, convert, convert_rest, lists_of
from aoe_reports.formats.csv.last_row import Ending, ending_of, without_last
from aoe_reports.formats.csv.parse import BLOCK_BYTES, Parsed, no_rows, parse, read_name
from aoe_reports.formats.csv.plain import read_plain
from aoe_reports.formats.csv.ragged import Mended, Ragged, mended
from aoe_reports.formats.csv.rules import (
    COLUMN_ORDER,
    COLUMN_UNKNOWN,
    CSV_ENCODING,
    CSV_MENDED_ROW,
    CSV_RAGGED_ROW,
    CSV_SEPARATOR,
    CSV_SPREAD_ROW,
    CSV_SYNTAX,
    CSV_TRUNCATED,
    DUPLICATE_COLUMN,
    MISSING_COLUMN,
    WRAPPED_DURATION,
)
from aoe_reports.formats.csv.scan import scan
from aoe_reports.formats.rules import CSV_UNPARSABLE, EMPTY_FILE, MISSING_VALUE, UNIT_MISMATCH
from aoe_reports.formats.sources.digest import sha256_from
from aoe_reports.formats.table import NULL_TOKENS, Column, Field, Match, Table
from aoe_reports.model.arrays.columns import Ints, Mask, column_of, keep_where, valid
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import Rule
from aoe_reports.model.texts import Text, say

LOOK_BYTES = 1 << 18
MAX_HEADER_BYTES = 1 << 20
MAX_TRANSCODED_BYTES = 1 << 30
"""The largest file that is read as GB18030: it has to be held in memory whole."""
_NEWLINE = ord("\n")
START = "task_start_ns"
"""The column that tells when a task starts."""


@dataclass(frozen=True, slots=True)
class TableData:
    """One file's rows that can be used, under canonical names, and what was found while reading it."""

    table: Table
    path: Path
    frame: pa.Table
    match: Match
    findings: tuple[Finding, ...]
    rows_read: int = 0
    rows_reported: int = 0
    sha256: str = ""
    rows: Ints | None = None
    """The data record (from 0) of each row of the frame; None where nothing was left out."""
    lines: Ints | None = None
    """The physical line of each data record; None where record k stands on line k + 2."""
    is_text: bool = True
    """Whether rows stand on lines."""
    span: tuple[int, int] | None = None
    """The first and the last start in ns, where it is known without that column that each row starts later than the
    one above."""
    rows_differ: bool = False
    """Whether it is known without the columns of its identity that no row stands there twice."""
    told_by: str = ""
    """The kind of timeline that the rows are told from, where they stand in no table."""

    @property
    def name(self) -> str:
        """What people know the rows as: the table, or the timeline that they are told from."""
        return self.told_by or self.table.name

    def line(self, row: int) -> int | None:
        """The physical line (from 1) of a row of the frame; None where there are no lines."""
        if not self.is_text:
            return None
        return _line(int(self.rows[row]) if self.rows is not None else row, self.lines)

    def row(self, row: int) -> int:
        """The number (from 1) of a row of the frame among all rows that were read, for files without lines."""
        return (int(self.rows[row]) if self.rows is not None else row) + 1

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

    def with_frame(self, frame: pa.Table) -> TableData:
        return replace(self, frame=frame)

    def with_findings(self, findings: Sequence[Finding]) -> TableData:
        return replace(self, findings=(*self.findings, *findings)) if findings else self

    def with_constants(self, constants: dict[str, int]) -> TableData:
        """The same data with columns that the file's name tells and the file does not."""
        frame = self.frame
        for name, value in constants.items():
            if name not in frame.column_names:
                values = np.full(frame.num_rows, value, dtype=np.int64)
                frame = frame.append_column(name, column_of(values, np.ones(frame.num_rows, dtype=bool)))
        return replace(self, frame=frame)

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
    nul_offset: int | None
    """Where the first NUL byte stands."""
    sha256: str
    bare_returns: int = 0
    """Carriage returns with no line feed behind them."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing about the bytes has to be said."""
        return self.bad_offset is None and self.nul_offset is None and not self.bare_returns


def read_header(path: Path) -> tuple[list[str], int]:
    """The header's cells and the length of its line in bytes (0 for a file without one); ReadError if unreadable."""
    try:
        with path.open("rb") as file:
            line = file.readline(MAX_HEADER_BYTES)
    except OSError as error:
        expected = say("a readable CSV file was expected")
        raise ReadError(path, error.strerror or str(error), expected) from error
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = line.decode("gb18030", errors="replace")
    try:
        return next(csv.reader([text.replace("\0", "\ufffd").replace("\r", "")]), []), len(line)
    except csv.Error as error:
        what = say("the header cannot be parsed ({error})", error=str(error))
        raise ReadError(path, what, say("expected a line of cells"), 1) from error


def read_table(path: Path, table: Table, fields: frozenset[str] | None = None, *, hashed: bool = True) -> TableData:
    """The rows of a CSV file as `table` declares them; only `fields` (canonical names) where given.

    `hashed=False` leaves the file's SHA-256 out (empty), which costs a third of the time of a large file.

    Damage is in the findings, with file, line and column; ReadError only where the file cannot be read at all.
    """
    header, header_bytes = read_header(path)
    match = table.match(header)
    refused, said = (
        said_of_header(path, table, match, header) if header else ([_no_header(path, table, header_bytes)], [])
    )
    if refused:
        return nothing_of(path, table, match, *(_said_of_wide_text(path) or refused))
    reading = _Reading(path, table, match, wanted_of(match, fields), said)
    if not hashed and fields is not None and (few := reading.scanned(header_bytes)) is not None:
        return few
    looked = _look(path, header_bytes, hashed=hashed)
    source = path if looked.bad_offset is None else _transcode(path)
    notes = _said_of_bytes(path, table, looked, usable=source is not None)
    if source is None:
        return nothing_of(path, table, match, *notes)
    reading.findings += notes
    whole = looked.last == b"\n" or (not looked.last and _ends_with_newline(path, header_bytes))
    if whole and looked.is_plain and not table.multiline:
        plain = read_plain(path, header_bytes, len(header), reading.wanted, spilled=table.spilled)
        if plain is not None and plain.num_rows == looked.newlines:
            return reading.of_plain(plain, looked)
    asked = reading.asked(whole=whole)
    parsed = parse(source, len(header), asked) if looked.last else Parsed(no_rows(asked), [])
    if parsed is not None and mended(table, match, parsed.frame, parsed.ragged):  # judged by the words of all columns
        parsed = parse(source, len(header), list(dict.fromkeys([*asked, *reading.words])))
    if parsed is None:
        message = say("this cannot be split into rows (one longer than 1 MiB?); the file is not used")
        return nothing_of(path, table, match, CSV_SYNTAX.found(str(path), message))
    return reading.assemble(parsed, looked, whole=whole)


_MOSTLY_ZERO = {(1, 3): "UTF-16LE", (0, 2): "UTF-16BE", (1, 2, 3): "UTF-32LE", (0, 1, 2): "UTF-32BE"}
"""Which of four bytes of a header are 0 in each encoding."""


def _said_of_wide_text(path: Path) -> list[Finding]:
    """That a file is UTF-16, as spreadsheets save text, or UTF-32: two or three of four bytes of its header are 0."""
    with path.open("rb") as file:
        line = file.readline(MAX_HEADER_BYTES)
    encoding = _MOSTLY_ZERO.get(tuple(place for place in range(4) if 2 * line[place::4].count(0) > len(line[place::4])))
    if encoding is None:
        return []
    message = say(
        "the text is {encoding}, not UTF-8: convert it (iconv -f {encoding} -t UTF-8); the file is not used",
        encoding=encoding,
    )
    return [CSV_ENCODING.found(str(path), message, 1, severity="error")]


def _said_of_bytes(path: Path, table: Table, looked: _Looked, *, usable: bool) -> list[Finding]:
    """What is odd about the bytes of a file; whether it is `usable` where it is not UTF-8 was tried."""
    found: list[Finding] = []
    if looked.bad_offset is not None:
        line = _line_of_offset(path, looked.bad_offset)
        if not usable:
            message = say("the bytes are neither UTF-8 nor GB18030; the file is not used")
            return [CSV_ENCODING.found(str(path), message, line, severity="error")]
        found.append(CSV_ENCODING.found(str(path), say("not UTF-8; read as GB18030"), line))
    if looked.nul_offset is not None:
        message = say(
            "there is a NUL byte here, as after a crash: the content that it replaced is lost, words may be wrong"
        )
        line = _line_of_offset(path, looked.nul_offset)
        found.append(CSV_ENCODING.found(str(path), message, line))
    if looked.bare_returns and not table.multiline:
        found += _bare_returns(path)
    return found


def _no_header(path: Path, table: Table, header_bytes: int) -> Finding:
    what = say("the first line does not contain a header" if header_bytes else "the file is empty")
    message = say("{what}; expected the header of {table}", what=what, table=table.name)
    return EMPTY_FILE.found(str(path), message, 1 if header_bytes else None)


def nothing_of(path: Path, table: Table, match: Match, *findings: Finding) -> TableData:
    """No row of a file, and why."""
    empty = pa.schema([(f.name, arrow_type(f)) for f in match.fields]).empty_table()
    return TableData(table=table, path=path, frame=empty, match=match, findings=findings)


def wanted_of(match: Match, fields: frozenset[str] | None) -> list[Field]:
    """The columns that are asked for; at least one, since rows are counted by it."""
    wanted = [field for field in match.fields if fields is None or field.name in fields or field.needed]
    return wanted or list(match.fields[:1])


def said_of_header(path: Path, table: Table, match: Match, header: list[str]) -> tuple[list[Finding], list[Finding]]:
    """(why no row of a file with this header can be used, what else is odd about it)."""
    if match.missing:
        return _other_separator(path, table, match, header) or _missing(path, table, match, header), []
    if match.strange_units:
        return _in_header(path, UNIT_MISMATCH, _STRANGE_UNIT, match.strange_units), []
    if ambiguous := [field for field in match.doubled if field.needed]:
        return _in_header(path, DUPLICATE_COLUMN, _DOUBLED, ambiguous, effect=say("no row of this file is used")), []
    doubled = _in_header(path, DUPLICATE_COLUMN, _DOUBLED, match.doubled, effect=say("the first one is used"))
    nearly = [
        finding
        for field, column in match.nearly
        for finding in _in_header(path, COLUMN_UNKNOWN, _NEARLY, [field], near=column.headers[0])
    ]
    return [], [*doubled, *_unordered(path, table, match), *nearly]


_SEPARATORS = {";": say("semicolons"), "\t": say("tabs"), "|": say("bars")}


def _other_separator(path: Path, table: Table, match: Match, header: list[str]) -> list[Finding]:
    """That a header misses fewer columns where it is divided at another character, or is not in the first line."""
    if header[0].casefold().startswith("sep="):
        message = say(
            "the first line names the separator for Excel ({line}) and is not the header: export it again, or remove this "
            "line and save it as CSV with commas; the file is not used",
            line=",".join(header),
        )
        return [CSV_SEPARATOR.found(str(path), message, 1)]
    for separator, what in _SEPARATORS.items():
        cells = ",".join(header).split(separator)
        if len(cells) > 1 and len(table.match(cells).missing) < len(match.missing):
            message = say(
                "the columns are separated by {separators}, not by commas: export it again, or save it as CSV with commas; "
                "the file is not used",
                separators=what,
            )
            return [CSV_SEPARATOR.found(str(path), message, 1)]
    return []


def _in_header(path: Path, rule: Rule, template: Text, fields: Iterable[Field], **values: object) -> list[Finding]:
    """One thing that is wrong with some columns."""
    return [
        rule.found(str(path), say(template, column=field.header, **values), 1, field.position + 1) for field in fields
    ]


_STRANGE_UNIT = say(
    "{column!r}: no exporter writes this column in this unit (or not beside the others); no row of this file is used"
)
_NEARLY = say("{column!r} is unknown; is it {near!r}, which is missing here?")
_DOUBLED = say("{column!r} occurs twice in the header; it cannot be determined which one is right: {effect}")


def _unordered(path: Path, table: Table, match: Match) -> list[Finding]:
    """Cells that changed places under headers that did not are seen in nothing else."""
    if match.unordered is None:
        return []
    field = match.unordered
    message = say(
        "{column!r} comes after columns that follow it in every {table}; it is read by its name, but check that "
        "headers were not swapped",
        column=field.header,
        table=table.name,
    )
    return [COLUMN_ORDER.found(str(path), message, 1, field.position + 1)]


def _missing(path: Path, table: Table, match: Match, header: list[str]) -> list[Finding]:
    findings = []
    for column in match.missing:
        near = _instead(column, table, match)
        hint = (
            say("; did you mean {near!r} (column {place})?", near=near.header, place=near.position + 1) if near else ""
        )
        message = say(
            "the header of {count} columns has no column {column!r}, which every {table} has{hint}; no row of "
            "this file is used",
            column=column.headers[0],
            count=len(header),
            table=table.name,
            hint=hint,
        )
        findings.append(MISSING_COLUMN.found(str(path), message, 1, near.position + 1 if near else None))
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
    newlines, bare_returns, offset, last, plain = 0, 0, skip, b"", True
    block = bytearray(LOOK_BYTES)  # one for all: new memory for each block costs more than the looking
    with path.open("rb", buffering=0) as file:
        header = file.read(skip)
        bad_offset = _undecodable(codecs.getincrementaldecoder("utf-8")(), header, 0, final=True)
        nul_offset = _nul(header, 0)
        digest = sha256_from(header) if hashed else None
        file.seek(skip)
        while length := file.readinto(block):
            data = block if length == LOOK_BYTES else block[:length]
            if digest is not None:
                digest.update(data)
            if nul_offset is None:
                nul_offset = _nul(data, offset)
            newlines += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE))
            if data.find(b"\r") >= 0:
                bare_returns += data.count(b"\r") - data.count(b"\r\n")
            bare_returns -= last == b"\r" and data[0] == _NEWLINE
            if bad_offset is None and not (plain and data.isascii()):
                plain = False
                bad_offset = _undecodable(decoder, bytes(data), offset)
            last = bytes(data[-1:])
            offset += length
    if not plain and bad_offset is None:
        bad_offset = _undecodable(decoder, b"", offset, final=True)
    return _Looked(newlines, last, bad_offset, nul_offset, digest.hexdigest() if digest else "", bare_returns)


def _nul(data: bytes | bytearray, offset: int) -> int | None:
    """Where the first NUL byte of a part of a file stands in the file."""
    place = data.find(0)
    return offset + place if place >= 0 else None


def _undecodable(decoder: codecs.IncrementalDecoder, data: bytes, offset: int, *, final: bool = False) -> int | None:
    try:
        decoder.decode(data, final)
    except UnicodeDecodeError as error:
        return offset + error.start
    return None


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


@dataclass(slots=True)
class _Reading:
    """A file that is being read: what it may hold, what is wanted of it, and what was found so far."""

    path: Path
    table: Table
    match: Match
    wanted: list[Field]
    findings: list[Finding]
    lines: Ints | None = None
    """As in TableData."""

    def scanned(self, header_bytes: int) -> TableData | None:
        """The few wanted columns of a large file of which one pass proves that nothing is odd; else None."""
        started = (field for field in self.match.fields if field.name == START and START in self.table.identity)
        scanned = scan(self.path, header_bytes, len(self.match.fields), self.wanted, next(started, None))
        if scanned is None:
            return None
        looked = _Looked(scanned.frame.num_rows, b"\n", None, None, "")
        data = self.assemble(Parsed(scanned.frame, []), looked, whole=True)
        return replace(data, span=scanned.span, rows_differ=scanned.differ)

    def asked(self, *, whole: bool) -> list[Field]:
        """The columns that are parsed: of a file that ends within a row the last one, too, for its last cell has to be judged."""
        last = self.match.fields[-1]
        return self.wanted if whole or last in self.wanted else [*self.wanted, last]

    @property
    def words(self) -> list[Field]:
        """The columns whose words come again."""
        return [field for field in self.match.fields if field.type == "text" and not field.free]

    def assemble(self, parsed: Parsed, looked: _Looked, *, whole: bool) -> TableData:
        """Turn text columns into typed ones; keep rows that cannot be used out, and report each."""
        total = parsed.frame.num_rows + len(parsed.ragged)
        one_line_each = looked.newlines + (looked.last not in {b"", b"\n"}) == total
        self.lines, heights = (None, None) if one_line_each else _physical_lines(self.path)
        frame, places, good = self._rows(
            parsed, total, None if self.table.multiline else heights, None if whole else looked
        )
        return self._data(self._typed(frame, places, good), looked, total, good, places.rows)

    def of_plain(self, frame: pa.Table, looked: _Looked) -> TableData:
        columns = dict(zip(frame.column_names, frame.columns, strict=True))
        return self._data(columns, looked, frame.num_rows, np.ones(frame.num_rows, dtype=bool), None)

    def _data(
        self, columns: dict[str, pa.ChunkedArray], looked: _Looked, total: int, good: Mask, rows: Ints | None
    ) -> TableData:
        """The `good` ones of some typed rows, which are those data records (None: all, in order), out of so many."""
        data = pa.table(repeated_as_lists(self.table, self._without_line_end(columns)))
        complete = bool(good.all()) and data.num_rows == total
        if not complete:
            data = data.filter(keep_where(good))
        return TableData(
            table=self.table,
            path=self.path,
            frame=data,
            match=self.match,
            findings=tuple(self.findings),
            rows_read=total,
            rows_reported=total - data.num_rows,
            sha256=looked.sha256,
            rows=None if complete or rows is None else rows[good],
            lines=self.lines,
        )

    def _without_line_end(self, columns: dict[str, pa.ChunkedArray]) -> dict[str, pa.ChunkedArray]:
        """The columns without the one that is there because all lines end with a comma: it has no header and no value."""
        last = self.match.fields[-1]
        column = columns.get(last.name)
        if last.header.strip() or column is None or column.null_count < len(column) or len(columns) == 1:
            return columns
        return {name: one for name, one in columns.items() if name != last.name}

    def _rows(
        self, parsed: Parsed, total: int, heights: Ints | None, cut_off: _Looked | None
    ) -> tuple[pa.Table, _Places, Mask]:
        """(the rows of the right length, where they stand, which of them can be used); `cut_off` where no line end is last."""
        cut = total - 1 if cut_off is not None and total else None
        frame, rows, ragged, notes = self._with_mended(parsed, cut)
        if cut_off is not None:
            spans = heights is not None and total > 0 and heights[min(total, len(heights)) - 1] > 1
            has_last = cut is not None and len(rows) > 0 and rows[-1] == cut and not spans
            frame, is_used = self._end(frame, total, cut_off.last, has_last=has_last)
            cut = None if is_used else cut
        self.findings += [*notes, *_ragged(self.path, ragged, len(self.match.fields), self.lines)]
        good = rows != cut if cut is not None else np.ones(frame.num_rows, dtype=bool)
        places = _Places(self.path, rows, self.lines)
        if heights is not None:
            self.findings += _spread_rows(places, good, heights)
        return frame, places, good

    def _end(self, frame: pa.Table, total: int, last_byte: bytes, *, has_last: bool) -> tuple[pa.Table, bool]:
        """(the rows of a file without a line end, whether the last of them is used); `has_last`: it has all its cells."""
        last = self.match.fields[-1]
        frame, ending = _with_certain_end(frame, last, last_byte) if has_last else (frame, None)
        self.findings.append(_no_line_end(self.path, last, ending, _line(total - 1, self.lines) if total else 1))
        return frame, _is_used(last, ending)  # all its cells but the last are certain

    def _typed(self, frame: pa.Table, places: _Places, good: Mask) -> dict[str, pa.ChunkedArray]:
        """The wanted columns; rows are marked as no `good` ones where a needed cell of theirs cannot be used."""
        columns: dict[str, pa.ChunkedArray] = {}
        for spec, converted in zip(self.wanted, _converted(frame, self.wanted), strict=True):
            columns[spec.name] = converted.column
            self.findings += _bad_cells(spec, frame.column(str(spec.position)), converted, good, places)
            if spec.needed:
                absent = good & ~converted.bad & ~valid(converted.column)
                if absent.any():
                    self.findings += places.findings(
                        MISSING_VALUE, np.flatnonzero(absent), partial(_said_of_absent, spec), spec
                    )
                good &= ~(converted.bad | absent)
        return columns

    def _with_mended(self, parsed: Parsed, cut: int | None) -> tuple[pa.Table, Ints, list[Ragged], list[Finding]]:
        """(all rows of the right length, the data record of each, rows that stay out, what was said of mended ones)."""
        frame, ragged = parsed.frame, [row for row in parsed.ragged if row.record != cut]
        rows = np.arange(frame.num_rows + len(parsed.ragged), dtype=np.int64)
        if parsed.ragged:
            rows = np.delete(rows, [row.record for row in parsed.ragged])
        mends = mended(self.table, self.match, frame, ragged)
        if not mends:
            return frame, rows, ragged, []
        rows = np.concatenate((rows, np.asarray([mend.record for mend in mends], dtype=np.int64)))
        order = np.argsort(rows, kind="stable")
        added = _frame_of(mends, self.wanted, frame)
        frame = pa.concat_tables([frame, added]).unify_dictionaries().take(pa.array(order))
        taken = {mend.record for mend in mends}
        found = [(_line(mend.record, self.lines), None, mend.message) for mend in mends]
        notes = _capped(CSV_MENDED_ROW, self.path, found, len(found), mended_rows=True)
        return frame, rows[order], [row for row in ragged if row.record not in taken], notes


def _frame_of(mends: Sequence[Mended], wanted: Sequence[Field], like: pa.Table) -> pa.Table:
    """Mended rows in a frame like that of the others; columns that are not requested are null."""
    texts = {
        str(spec.position): pa.array(
            [None if (cell := mend.cells[spec.position]) in NULL_TOKENS else cell for mend in mends], pa.string()
        )
        for spec in wanted
    }
    nothing = pa.nulls(len(mends), pa.string())
    return pa.table({name: texts.get(name, nothing) for name in like.column_names}).cast(like.schema)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the rows of a frame stand in their file."""

    path: Path
    rows: Ints
    """The data record of each."""
    lines: Ints | None

    def findings(
        self, rule: Rule, marked: Ints, message: Callable[[int], Text], spec: Field | None = None
    ) -> list[Finding]:
        """What is to be said of some rows, or of their cells in one column: of the first ones, and how many there are."""
        column = None if spec is None else spec.position + 1
        found = [
            (_line(int(self.rows[row]), self.lines), column, message(int(row)))
            for row in marked[: EXAMPLES_PER_RULE + 1]
        ]
        return _capped(rule, self.path, found, len(marked))


def _with_certain_end(frame: pa.Table, field: Field, last_byte: bytes) -> tuple[pa.Table, Ending]:
    """(the rows, the last cell of the last one empty where it may be a part of what was written; what it is)."""
    place = frame.column_names.index(str(field.position))
    ending = ending_of(frame.column(place), field, last_byte)
    if ending != "whole":
        frame = frame.set_column(place, frame.field(place), without_last(frame.column(place)))
    return frame, ending


def _is_used(field: Field, ending: Ending | None) -> bool:
    """Whether the last row of a file without a line end is used: not where it has too few cells, or needs its last one."""
    return ending == "whole" or (ending is not None and not field.needed and field.name not in _GROUPS)


_GROUPS = frozenset({"rank_id", "device_id", "model_id", "step", "iteration_id"})
"""Columns that say to what a row belongs: without them it would be counted, but with others or by itself."""


def _no_line_end(path: Path, field: Field, ending: Ending | None, line: int) -> Finding:
    """What becomes of the last row of a file without a line end; `ending` is None where it has not all its cells."""
    if not _is_used(field, ending):
        message = say(
            "the file ends in the middle of a row (no line end); that row is left out, later ones are missing"
        )
        return CSV_TRUNCATED.found(str(path), message, line)
    if ending == "whole":
        message = say(
            "the file does not end with a line end; its last row is complete and used, later ones may be missing"
        )
        return CSV_TRUNCATED.found(str(path), message, line, severity="warning")
    if ending == "cut":
        message = say(
            "the file ends in the middle of a cell ({column}; no line end); the cell is empty in the table, the rest of "
            "the row is used, later ones are missing",
            column=field.header,
        )
        return CSV_TRUNCATED.found(str(path), message, line, field.position + 1)
    message = say(
        "the file does not end with a line end; it is not known whether its last cell ({column}) is complete: "
        "the cell is empty in the table, the rest of the row is used, later rows may be missing",
        column=field.header,
    )
    return CSV_TRUNCATED.found(str(path), message, line, field.position + 1, severity="warning")


def _converted(frame: pa.Table, wanted: Sequence[Field]) -> Iterator[Converted]:
    """The wanted columns in their types; many columns of many rows two at a time, which costs no more."""
    present = frozenset(frame.column_names)

    def one(spec: Field) -> Converted:
        words, read = frame.column(str(spec.position)), read_name(spec)
        return convert_rest(words, frame[read], spec) if read in present else convert(words, spec)

    if frame.num_rows * len(wanted) < _MANY_CELLS:
        yield from map(one, wanted)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 -- most files are small

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(one, wanted)


_MANY_CELLS = 8_000_000
"""Below that there is less to gain than to start threads (and a scan takes at most eight columns)."""


def repeated_as_lists(table: Table, columns: dict[str, pa.ChunkedArray]) -> dict[str, pa.ChunkedArray]:
    """Columns that a header repeats become one of lists each."""
    whole = dict(columns)
    for column in table.columns:
        if column.name in table.repeating and column.field in whole:
            parts = [name for name in columns if name == column.field or name.startswith(f"{column.field}__")]
            lists = lists_of([columns[name] for name in parts])
            whole = {name: values for name, values in whole.items() if name not in parts[1:]} | {column.field: lists}
    return whole


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


def _bare_returns(path: Path) -> list[Finding]:
    """Carriage returns at the begin or the end of a row, where they make an empty line that nothing else notices.

    Where every line ends with one of them in front of its line end, a conversion put them there.
    """
    starts: list[int] = []
    ends: list[int] = []
    with path.open("rb") as file:
        lines = 0
        for lines, line in enumerate(file, 1):
            if line.endswith(b"\r\r\n"):
                ends.append(lines)
            if line.startswith(b"\r") and line.strip():
                starts.append(lines)
    found = sorted([*starts, *ends] if len(ends) < lines else starts)
    message = say(
        "there is a carriage return here without a line end: the content that it replaced is lost, words may be wrong"
    )
    places = [(line, None, message) for line in found[: EXAMPLES_PER_RULE + 1]]
    return _capped(CSV_ENCODING, path, places, len(found))


def _spread_rows(places: _Places, good: Mask, heights: Ints) -> list[Finding]:
    """Rows over several lines: no cell of these tables has a line end, so stray quotes have swallowed rows."""
    rows = places.rows
    high = np.asarray([heights[row] > 1 if row < len(heights) else False for row in rows], dtype=bool) & good
    good &= ~high

    def message(row: int) -> Text:
        lines = int(heights[rows[row]])
        return say("the row spans {lines} lines (stray quotes?); all of them are left out", lines=lines)

    return places.findings(CSV_SPREAD_ROW, np.flatnonzero(high), message)


def _line(record: int, lines: Ints | None) -> int:
    if lines is None:
        return record + 2
    return int(lines[record]) if record < len(lines) else int(lines[-1]) if len(lines) else 1


def _ragged(path: Path, ragged: list[Ragged], cells: int, lines: Ints | None) -> list[Finding]:
    def message(row: Ragged) -> Text:
        return say(
            (
                "the row has {cells} cells, the header {columns}; the row is left out; an unclosed quote takes in "
                "the content of the next lines"
            )
            if row.spread
            else "the row has {cells} cells, the header {columns}; the row is left out",
            cells=row.cells,
            columns=cells,
        )

    places = [(_line(row.record, lines), None, message(row)) for row in ragged[: EXAMPLES_PER_RULE + 1]]
    return _capped(CSV_RAGGED_ROW, path, places, len(ragged))


def _bad_cells(spec: Field, words: pa.ChunkedArray, converted: Converted, good: Mask, places: _Places) -> list[Finding]:
    """Cells that are not of their column's type, and differences that had wrapped around."""
    findings: list[Finding] = []
    if converted.bad.any():
        marked = np.flatnonzero(converted.bad & good)
        findings += places.findings(CSV_UNPARSABLE, marked, partial(_said_of_bad, spec, words), spec)
    if converted.wrapped is not None:
        marked = np.flatnonzero(converted.wrapped & good)
        findings += places.findings(WRAPPED_DURATION, marked, partial(_said_of_wrapped, spec, words), spec)
    return findings


def _said_of_absent(spec: Field, _: int) -> Text:
    return say("{column}: no value; the row is left out", column=spec.header)


def _said_of_bad(spec: Field, words: pa.ChunkedArray, row: int) -> Text:
    return said_of_cell(spec, _cell(words, row), _kind(spec))


def said_of_cell(spec: Field, cell: str, kind: Text) -> Text:
    """That a cell is not of the kind that its column has, and what becomes of it."""
    effect = say("the row is left out" if spec.needed else "the cell is empty in the table")
    return say(
        "{column}: {value!r} is not {kind}; {effect}", column=spec.header, value=cell[:_SHOWN], kind=kind, effect=effect
    )


_SHOWN = 60


def _said_of_wrapped(spec: Field, words: pa.ChunkedArray, row: int) -> Text:
    return say(
        "{column}: {value!r} is a negative difference that wrapped around 2**64; the cell is empty in the table",
        column=spec.header,
        value=_cell(words, row)[:_SHOWN],
    )


def _kind(spec: Field) -> Text:
    if spec.type == "integer":
        return say("a whole number of 63 bits")
    return say("a plausible duration" if spec.type == "duration" else "a number")


def _cell(column: pa.ChunkedArray, row: int) -> str:
    return str(column[row].as_py())


def _capped(
    rule: Rule,
    path: Path,
    found: Sequence[tuple[int, int | None, str]],
    total: int,
    *,
    mended_rows: bool = False,
) -> list[Finding]:
    """Make findings of the first of `total` places; after EXAMPLES_PER_RULE of them one line counts the rest."""
    shown = [rule.found(str(path), text, line, column) for line, column, text in found[:EXAMPLES_PER_RULE]]
    if total > EXAMPLES_PER_RULE:
        line, column, _ = found[EXAMPLES_PER_RULE]
        message = say(
            "and {count} more rows repaired in the same way"
            if mended_rows
            else "and {count} more of this kind from here on, all left out",
            count=total - EXAMPLES_PER_RULE,
        )
        shown.append(rule.found(str(path), message, line, column))
    return shown
