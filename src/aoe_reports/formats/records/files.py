"""Reads files of benchmark log records: one JSON object, a list of them (.json), one a line (.jsonl), or a table (.csv, .parquet).

Results of benchmark programs (`formats.benchmarks`) are read as the records that they tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import jiter

from aoe_reports.formats.aoe.result_files import MAX_RESULT_BYTES, as_utf8, read_bytes
from aoe_reports.formats.benchmarks import megatron, mindie, serving_log
from aoe_reports.formats.benchmarks.form import Entry
from aoe_reports.formats.benchmarks.registry import form_of
from aoe_reports.formats.json.text import explain, of_parser
from aoe_reports.formats.records.forms import is_parquet, rows_of_csv, rows_of_parquet
from aoe_reports.formats.records.record import SCHEMA_VERSION
from aoe_reports.formats.rules import BENCHMARK_RESULT, JSON_DUPLICATE_KEY, JSON_SYNTAX, JSON_TOO_LARGE, JSON_TRUNCATED
from aoe_reports.model.documents import Json
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import NS_PER_S

MAX_RECORDS_BYTES = MAX_RESULT_BYTES
"""The largest file of records that is read unless told otherwise."""


@dataclass(frozen=True, slots=True)
class RecordText:
    """One entry of a file of records, whatever it is, and where it stands."""

    document: Any
    timestamp: Any
    """The record's time with every digit that is written: a Decimal where a float has not enough."""
    pointer: str = ""
    line: int | None = None
    text: bytes = field(default=b"", repr=False)
    """What `pointer` leads into, as UTF-8: the line, or the whole file; of a row of a table nothing."""
    derived: tuple[str, ...] = ()
    """The fields that the file itself does not have."""
    of_benchmark: bool = False
    """Whether it is none itself, but made of the result of a benchmark program."""


def read_records(path: Path, findings: list[Finding], max_bytes: int | None = None) -> Iterator[RecordText]:
    """The entries of a file of at most `max_bytes`, one at a time; what is no JSON goes into `findings`.

    An entry without time or schema version has that of the file, and 0.1. ReadError where the file cannot be opened.
    """
    for entry in _entries(path, findings, max_bytes):
        yield _completed(entry, path)


def _completed(entry: RecordText, path: Path) -> RecordText:
    if not isinstance(entry.document, dict):
        return entry
    derived = tuple(name for name in _DERIVED if name not in entry.document)
    if not derived:
        return entry
    known = {name: _DERIVED[name](path) for name in derived}
    time = entry.timestamp if "timestamp" in entry.document else known["timestamp"]
    return replace(entry, document={**entry.document, **known}, timestamp=time, derived=derived)


_DERIVED: dict[str, Callable[[Path], Json]] = {
    "timestamp": lambda path: path.stat().st_mtime_ns // NS_PER_S,
    "schema_version": lambda _: SCHEMA_VERSION,
}
"""Fields of v0.1 that it demands, and that a record may be without all the same."""


def _entries(path: Path, findings: list[Finding], max_bytes: int | None) -> Iterator[RecordText]:
    limit = max_bytes or MAX_RECORDS_BYTES
    data = read_bytes(path, limit)
    if len(data) > limit:
        message = say("at most {limit} bytes are read; this file is larger", limit=limit)
        findings.append(JSON_TOO_LARGE.found(str(path), message))
        return
    if is_parquet(data):
        for row, document, time in rows_of_parquet(path, data, findings, limit):
            yield RecordText(document, time, f"/{row}")
        return
    text = as_utf8(path, data, findings)
    if mindie.is_table(text):
        yield from _of_benchmark(
            path, mindie.entries_of_table(_decoded(text), path.stem, _common_beside(path)), findings
        )
    elif path.suffix.lower() == ".csv":
        for line, document, time in rows_of_csv(path, text, findings, limit):
            yield RecordText(document, time, "", line)
    elif path.suffix.lower() == ".jsonl":
        yield from _lines(path, text, findings)
    elif megatron.is_training_log(text):
        yield from _of_benchmark(path, megatron.entries_of_log(_decoded(text), path.stem), findings)
    elif serving_log.is_serving_log(text):
        yield from _of_benchmark(path, serving_log.entries_of_log(_decoded(text), path.stem), findings)
    else:
        yield from _document(path, text, findings)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")


def _common_beside(path: Path) -> str:
    """The other table that MindIE Benchmark wrote with one on single requests: it has the model; no text where there is none."""
    name = mindie.name_of_common(path.name)
    if name is None:
        return ""
    try:
        return _decoded(read_bytes(path.with_name(name), mindie.MAX_COMMON_BYTES))
    except ReadError:
        return ""


def _lines(path: Path, text: bytes, findings: list[Finding]) -> Iterator[RecordText]:
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        document, wrong = _parsed(path, line, number)
        if wrong is None:
            yield RecordText(document, _timestamp(document, partial(_exact, line)), "", number, line)
        else:
            findings.append(wrong)


def _document(path: Path, text: bytes, findings: list[Finding]) -> Iterator[RecordText]:
    document, wrong = _parsed(path, text)
    exact = cache(partial(_exact, text))
    form = form_of(document if wrong is None else _with_nan(text))
    if form is not None:
        yield from _of_benchmark(
            path, form.entries(document if wrong is None else _with_nan(text), path.stem), findings
        )
    elif wrong is not None:
        findings.append(wrong)
    elif isinstance(document, list):
        for i, entry in enumerate(document):
            yield RecordText(entry, _timestamp(entry, exact, i), f"/{i}", None, text)
    else:
        yield RecordText(document, _timestamp(document, exact), "", None, text)


def _with_nan(text: bytes) -> Any:
    """A document with NaN and infinite numbers, which programs of Python write for what was not measured; None for none."""
    if b"NaN" not in text and b"Infinity" not in text:
        return None
    try:
        return jiter.from_json(text, allow_inf_nan=True, catch_duplicate_keys=True)
    except ValueError:
        return None


def _of_benchmark(path: Path, entries: Iterable[Entry], findings: list[Finding]) -> Iterator[RecordText]:
    for pointer, record, wrong, line in entries:
        if record is not None:
            yield RecordText(record, record.get("timestamp"), pointer, line, of_benchmark=True)
        if wrong is not None:
            findings.append(BENCHMARK_RESULT.found(str(path), wrong, line, pointer=pointer or None))


def _timestamp(document: Any, exact: Callable[[], Any], place: int | None = None) -> Any:
    """The time of a record; where it is a float, from the exact form of the text (at `place` where that is a list)."""
    value = document.get("timestamp") if isinstance(document, dict) else None
    if not isinstance(value, float):
        return value
    whole = exact()
    return (whole if place is None else whole[place])["timestamp"]


def _exact(text: bytes) -> Any:
    return jiter.from_json(text, allow_inf_nan=False, float_mode="decimal")


def _parsed(path: Path, text: bytes, line: int | None = None) -> tuple[Any, Finding | None]:
    try:
        return jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True), None
    except ValueError as error:
        message = str(error)
    if message.startswith("Detected duplicate key"):
        told = say("{error}; each key may occur only once in a record", error=of_parser(message))
        return None, JSON_DUPLICATE_KEY.found(str(path), told, line, severity="error")
    wrong = explain(message, text)
    rule, told = JSON_SYNTAX, say("not JSON: {why}", why=wrong.message)
    if message.startswith("EOF"):
        rule, told = JSON_TRUNCATED, say("the text ends before the document does")
    return None, rule.found(str(path), told, line or wrong.line, wrong.column)
