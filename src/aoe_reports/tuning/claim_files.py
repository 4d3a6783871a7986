"""The files of claims at or below some paths, and small tables of them: a CSV with a header, each row with its line."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from aoe_reports.formats.aoe.result_files import MAX_RESULT_BYTES, read_bytes
from aoe_reports.formats.rules import JSON_DUPLICATE_KEY, JSON_SYNTAX, JSON_TOO_LARGE, JSON_TRUNCATED
from aoe_reports.formats.sources.head import head_of, header_of
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.formats.tuner_files import TunerFileKind, tuner_file_kinds
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import join, say

_FILES = Scope("files of other tuners")

CLAIMS_FORM = _FILES.rule(
    "claims-form", "error", "not in UTF-8 and the form in which its tuner writes claims: none of it is used"
)
CLAIMS_ROW = _FILES.rule("claims-row", "error", "a row of claims that cannot be used")
CLAIMS_DUPLICATE = _FILES.rule(
    "claims-duplicate", "warning", "two claims for one operator with the same shapes; the later one is used"
)
CLAIMS_NO_GAIN = _FILES.rule(
    "claims-no-gain", "warning", "a row whose time after is not below its time before: it claims no gain"
)
CLAIMS_NOT_MEASURED = _FILES.rule(
    "claims-not-measured", "info", "candidates without a measured time (0, an error, an estimate): no claim follows"
)
CLAIMS_NO_BEST = _FILES.rule(
    "claims-no-best",
    "warning",
    "the tuner names no best candidate, or another one took less: tuning may have been interrupted, or the file is not complete",
)
CLAIMS_SEVERAL = _FILES.rule(
    "claims-several",
    "info",
    "a kernel was tuned several times, or for several shapes, and no file says for which: no claim follows",
)
CLAIMS_REFERENCE = _FILES.rule(
    "claims-reference",
    "info",
    "the time before is that of a reference program: it is compared only if --operator names that program in BEFORE",
)
CANDIDATE_RULES = (CLAIMS_FORM, CLAIMS_ROW, CLAIMS_NOT_MEASURED, CLAIMS_NO_BEST, CLAIMS_SEVERAL)
"""What can be found in a file with the candidates of one kernel."""

LIST_COLUMNS = ("operator", "before_us", "after_us")
"""Those of this project's own table of claims."""
US_PER_MS = 1000
MAX_CLAIMS_BYTES = 64 << 20
"""The largest table of claims that is read unless told otherwise: half a million candidates."""
_MAX_CELL = 1 << 16
"""No name of an operator and no list of shapes is longer."""

_NUMBER = re.compile(r"\s*\+?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?\s*")
"""`float` would take `8_0` and the digits of all languages, too."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class FilesRead(Generic[Read]):
    """What was read of each file of one tuner, and what was found."""

    parts: tuple[Read, ...]
    findings: tuple[Finding, ...]
    unreadable: bool


def read_each(
    kind: TunerFileKind,
    paths: Sequence[Path],
    read: Callable[[Path], Read],
    findings_of: Callable[[Read], Sequence[Finding]],
) -> FilesRead[Read]:
    """Each file of a kind at or below some paths, once, in the order of their names; links to folders are not followed."""
    parts: list[Read] = []
    findings: list[Finding] = []
    unreadable = False
    for path in sorted(set(_candidates(paths))):
        try:
            if not _fits(kind, path, explicit=path in paths):
                continue
            part = read(path)
        except (ReadError, OSError) as error:
            unreadable = True
            findings.append(unreadable_file(path, error))
            continue
        findings += findings_of(part)
        parts.append(part)
    return FilesRead(tuple(parts), tuple(findings), unreadable)


def _candidates(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_file():
            yield path
        for place, _, names in os.walk(path):
            yield from (Path(place, name) for name in names)


def tables_below(folder: Path) -> list[Path]:
    """The files below a folder that look like tables, in the order of their names; none of a path that is a file."""
    if folder.is_file():
        return []
    return sorted({path for path in _candidates([folder]) if path.suffix.lower() in _TABLES and path.is_file()})


def files_beside(path: Path, beginning: str, ending: str) -> list[Path]:
    """The files in the folder of another one whose names begin and end so."""
    _, _, names = next(os.walk(path.parent), ("", [], []))
    return [path.with_name(name) for name in sorted(names) if name.startswith(beginning) and name.endswith(ending)]


_TABLES = frozenset({".csv", ".tsv"})


def _fits(kind: TunerFileKind, path: Path, *, explicit: bool) -> bool:
    """Whether a file is of a kind: by its name, else by its head; a text that is no table only where it is named."""
    if kind.fits(path.name, ""):
        return True
    looked_into = path.suffix.lower() in {".csv", ".json"} and path.suffix.lower() == f".{kind.form}" and path.is_file()
    return (explicit or looked_into) and kind.fits(path.name, head_of(path))


# Small tables


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One row: where it stands, its cells by the words of the header."""

    line: int
    cells: Mapping[str, str]

    def time_us(self, column: str) -> float | None:
        """A time above 0; None where there is none."""
        return time_in(self.cells[column])


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """The rows of a file that can be used, and what is wrong with the others."""

    path: Path
    rows: tuple[ClaimRow, ...]
    findings: tuple[Finding, ...]


def has_columns(head: str, columns: Sequence[str]) -> bool:
    """Whether the first line of a file names all of some columns."""
    return set(columns) <= {cell.strip() for cell in header_of(head)}


def time_in(text: str) -> float | None:
    """A time above 0 as it is written; None where there is none."""
    value = float(text) if _NUMBER.fullmatch(text) else 0.0
    return value if 0 < value < math.inf else None


def is_zero(text: str) -> bool:
    """Whether a text is a number that is 0."""
    try:
        return float(text) == 0
    except ValueError:
        return False


_SEPARATORS = (";", "\t", "|")


def why_no_table(head: str) -> str | None:
    """What keeps a text from being the table of claims that it is nearest to; None for one that is near to none."""
    near = [why for kind in tuner_file_kinds() if kind.near is not None and (why := kind.near(head)) is not None]
    if near:
        return near[0]
    known = [kind.columns for kind in tuner_file_kinds() if kind.columns]
    line = head.lstrip("\ufeff").partition("\n")[0]
    for separator in _SEPARATORS:
        cells = {cell.strip().strip('"').casefold() for cell in line.split(separator)}
        if separator in line and any(len(cells & set(columns)) > 1 for columns in known):
            name = say("a tab") if separator == "\t" else repr(separator)
            return say("its cells are separated by {name}; expected commas", name=name)
    header = [cell.strip() for cell in header_of(head)]
    plain = {_bare(cell) for cell in header}
    columns = max(known, key=lambda columns: len({_bare(column) for column in columns} & plain))
    if not any(_bare(column) in plain for column in columns):
        return None
    return say(
        "its header lacks {missing}; it has {found}",
        missing=join(", ", [column for column in columns if column not in header]),
        found=join(", ", header[:_SHOWN_CELLS]),
    )


_SHOWN_CELLS = 12


def _bare(cell: str) -> str:
    """A column's name without what people write in several ways."""
    return re.sub(r"[^a-z0-9]", "", cell.casefold())


def read_claim_table(
    path: Path, most: int | None, columns: Sequence[str], why: Callable[[ClaimRow], str | None]
) -> ClaimTable:
    """A table with some columns at least; `why` says what a row cannot be used for. ReadError only where it cannot be opened."""
    limit = most or MAX_CLAIMS_BYTES
    data = read_bytes(path, limit, say("a table of claims was expected"))
    if len(data) > limit:
        too_large = say("at most {limit} bytes are read; this file is larger", limit=limit)
        return ClaimTable(path, (), (CLAIMS_FORM.found(str(path), too_large),))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return ClaimTable(path, (), (CLAIMS_FORM.found(str(path), say("not UTF-8: none of it is used"), line),))
    rows: list[ClaimRow] = []
    findings: list[Finding] = []
    for row, wrong, line in _rows(text, columns, why):
        if wrong is not None:
            findings.append((CLAIMS_FORM if row is None and line <= 1 else CLAIMS_ROW).found(str(path), wrong, line))
        elif row is not None:
            rows.append(row)
    return ClaimTable(path, tuple(rows), tuple(findings))


def _rows(
    text: str, columns: Sequence[str], why: Callable[[ClaimRow], str | None]
) -> Iterator[tuple[ClaimRow | None, str | None, int]]:
    """(the row, what is wrong with it, its line) of each row behind the header."""
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    begin = 1
    try:
        for cells in lines:
            line, begin = begin, lines.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                missing = [column for column in columns if header.count(column) != 1]
                if missing:
                    names = join(", ", missing)
                    yield None, say("expected a header that names each of these columns once: {names}", names=names), 1
                    return
                continue
            if len(cells) != len(header):
                yield None, say("{found} cells where the header has {count}", found=len(cells), count=len(header)), line
                continue
            if any(len(cell) > _MAX_CELL for cell in cells):
                yield None, say("a cell of more than {count} characters", count=_MAX_CELL), line
                continue
            row = ClaimRow(line, dict(zip(header, (cell.strip() for cell in cells), strict=True)))
            yield row, why(row), line
    except csv.Error as error:
        yield None, say("not CSV from here on: {why}", why=error), begin
    if not header:
        yield (
            None,
            say("expected a header that names each of these columns once: {names}", names=join(", ", columns)),
            1,
        )


# JSON and logs


def read_claim_json(path: Path, most: int | None, findings: list[Finding]) -> Any:
    """The document of a file; None, and why, where it is no JSON. `Infinity` and `NaN` are read: Python writes them."""
    data, limit = read_bytes(path, most), most or MAX_RESULT_BYTES
    if len(data) > limit:
        message = say("at most {limit} bytes are read; this file is larger", limit=limit)
        findings.append(JSON_TOO_LARGE.found(str(path), message))
        return None

    def once(members: list[tuple[str, Json]]) -> JsonObject:
        for key, count in Counter(key for key, _ in members).items():
            if count > 1:
                text = say("the key {key!r} occurs more than once in one object; the last one is used", key=key[:200])
                findings.append(JSON_DUPLICATE_KEY.found(str(path), text))
        return dict(members)

    try:
        return json.loads(data, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        what = say("the text ends before the document does; its content is not used") if cut else _not_json(error.msg)
        rule = JSON_TRUNCATED if cut else JSON_SYNTAX
        findings.append(rule.found(str(path), what, error.lineno, error.colno))
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        findings.append(JSON_SYNTAX.found(str(path), _not_json(str(error))))
    return None


def _not_json(why: str) -> str:
    return say("not JSON: {why}; none of this file is used", why=why)


def time_of(value: Any) -> float | None:
    """A time above 0 in a document; None where there is none."""
    number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
    return number if 0 < number < math.inf else None


def read_log(path: Path, most: int | None, findings: list[Finding]) -> list[str]:
    """The lines of a log; none, and why, of one that is too large."""
    limit = min(most or MAX_CLAIMS_BYTES, MAX_CLAIMS_BYTES)
    data = read_bytes(path, limit, say("a log of a tuner was expected"))
    if len(data) > limit:
        text = say("at most {limit} bytes are read; this file is larger", limit=limit)
        findings.append(CLAIMS_FORM.found(str(path), text))
        return []
    return data.decode("utf-8", "replace").splitlines()
