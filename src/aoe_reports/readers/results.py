"""Reads an AOE result file: strictly, with every printed digit; what is cut off or broken is said and not used."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import jiter

from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding
from aoe_reports.readers.names import FileName
from aoe_reports.results import Kind, TuningResult, results_of_document

MAX_RESULT_BYTES = 256 << 20
_PLACE = re.compile(r"(?P<what>.*) at line (?P<line>\d+) column (?P<column>\d+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One result file: the tasks in it, the document as parsed, and what was found."""

    path: Path
    name: FileName
    results: tuple[TuningResult, ...]
    document: Any
    findings: tuple[Finding, ...]
    sha256: str
    parsed: bool
    """Whether the text is JSON at all; `document` means nothing where it is not."""


def read_results(path: Path, name: FileName) -> ResultFile:
    """The tuning tasks of a file whose name says `name`; ReadError only where it cannot be opened."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_RESULT_BYTES else b""
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), "an AOE result file was expected") from error
    sha256 = hashlib.sha256(data).hexdigest()
    if size > MAX_RESULT_BYTES:
        finding = Finding("error", "json-too-large", str(path), f"{size} bytes; at most {MAX_RESULT_BYTES} are read")
        return ResultFile(path, name, (), None, (finding,), sha256, parsed=False)
    findings: list[Finding] = []
    parsed, document = _parse(path, _as_utf8(path, data, findings), findings)
    kind: Kind = "sgat" if name.kind == "sgat" else "opat"
    results = tuple(results_of_document(document, kind))
    return ResultFile(path, name, results, document, tuple(findings), sha256, parsed)


def _as_utf8(path: Path, data: bytes, findings: list[Finding]) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError:
            return data  # the parser says what it is
        findings.append(Finding("warning", "json-encoding", str(path), "not UTF-8; read as GB18030", line))
        return text.encode()
    return data


def _parse(path: Path, data: bytes, findings: list[Finding]) -> tuple[bool, Any]:
    """(whether it is JSON, the document)."""
    try:
        return True, jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="decimal")
    except ValueError as error:
        message = str(error)
    if message.startswith("Detected duplicate key"):
        return _with_duplicates(path, data, findings)
    findings.append(_syntax(path, data, message))
    return False, None


def _syntax(path: Path, data: bytes, message: str) -> Finding:
    found = _PLACE.match(message)
    what, line, column = (found["what"], int(found["line"]), int(found["column"])) if found else (message, None, None)
    if not data.strip():
        return Finding("error", "json-truncated", str(path), "the file is empty; nothing of it is used", 1)
    if what.startswith("EOF"):
        text = "the text ends before the document does (still being written, or cut off); nothing of it is used"
        return Finding("error", "json-truncated", str(path), text, line, column)
    return Finding("error", "json-syntax", str(path), f"not JSON: {what}; nothing of it is used", line, column)


def _with_duplicates(path: Path, data: bytes, findings: list[Finding]) -> tuple[bool, Any]:
    """Parse again, keeping both of two equal keys: the second gets ` (2)` behind it."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key, value in items:
            name, count = key, 1
            while name in merged:
                count += 1
                name = f"{key} ({count})"
            if count > 1:
                text = f"the key {key!r} stands more than once in one object; all are read"
                findings.append(Finding("warning", "json-duplicate-key", str(path), text))
            merged[name] = value
        return merged

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON number")

    try:
        return True, json.loads(data, object_pairs_hook=pairs, parse_float=Decimal, parse_constant=refuse)
    except (ValueError, ArithmeticError, RecursionError) as error:
        findings.append(Finding("error", "json-syntax", str(path), f"not JSON: {error}; nothing of it is used"))
        return False, None
