"""Benchmark log records (schema v0.1) in files: one object, a list of them, or one a line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jiter

from aoe_reports.checks.results import with_places
from aoe_reports.checks.schema import check_schema, fits_schema
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.readers.json_text import explain
from aoe_reports.readers.results import MAX_RESULT_BYTES, as_utf8, read_bytes


def check_records_file(path: Path, max_bytes: int | None = None) -> list[Finding]:
    """What the schema says of the records in a file of at most `max_bytes`; ReadError where it cannot be opened."""
    data = read_bytes(path, max_bytes)
    limit = max_bytes or MAX_RESULT_BYTES
    if len(data) > limit:
        return [Finding("error", "json-too-large", str(path), f"at most {limit} bytes are read; this is larger")]
    findings: list[Finding] = []
    text = as_utf8(path, data, findings)
    if path.suffix.lower() == ".jsonl":
        findings += _lines(path, text)
    else:
        findings += _document(path, text)
    return findings


def _document(path: Path, text: bytes) -> list[Finding]:
    document, wrong = _parsed(path, text)
    if wrong is not None:
        return [wrong]
    if isinstance(document, dict):
        found = check_schema("record", document, str(path))
    elif isinstance(document, list):
        found = []
        for i, record in enumerate(document):
            if not fits_schema("record", record):
                told = check_schema("record", record, str(path))
                found += [replace(f, pointer=f"/{i}{f.pointer}") if f.pointer is not None else f for f in told]
    else:
        found = [Finding("error", "schema", str(path), "neither a record nor a list of records", pointer="")]
    return with_places(_capped(found), text)


def _lines(path: Path, text: bytes) -> list[Finding]:
    found: list[Finding] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        record, wrong = _parsed(path, line)
        told = [wrong] if wrong is not None else [] if fits_schema("record", record) else None
        if told is None:
            told = with_places(check_schema("record", record, str(path)), line)
        found += [replace(finding, line=number) for finding in told]
    return _capped(found)


def _parsed(path: Path, text: bytes) -> tuple[Any, Finding | None]:
    try:
        return jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True), None
    except ValueError as error:
        message = str(error)
    if message.startswith("Detected duplicate key"):
        return None, Finding("error", "json-duplicate-key", str(path), f"{message}; a record has each key once")
    wrong = explain(text)
    if message.startswith("EOF"):
        text_ends = "the text ends before the document does"
        return None, Finding("error", "json-truncated", str(path), text_ends, wrong.line, wrong.column)
    return None, Finding("error", "json-syntax", str(path), f"not JSON: {wrong.message}", wrong.line, wrong.column)


def _capped(findings: list[Finding]) -> list[Finding]:
    if len(findings) <= EXAMPLES_PER_RULE:
        return findings
    first = findings[EXAMPLES_PER_RULE]
    more = f"and {len(findings) - EXAMPLES_PER_RULE} more findings on records"
    return [*findings[:EXAMPLES_PER_RULE], Finding("error", first.rule, first.path, more, first.line)]
