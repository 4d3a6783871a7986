"""Validates one document against the JSON Schema of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aoe_reports.checks.results import with_places
from aoe_reports.checks.schema import check_schema, fits_schema
from aoe_reports.errors import UsageError
from aoe_reports.findings import Finding
from aoe_reports.readers.names import FileName
from aoe_reports.readers.quick_json import NotPlainError, parse_plain
from aoe_reports.readers.results import parse_results
from aoe_reports.schemas import SCHEMA_NAMES


def validate(document: Any, kind: str | None = None, path: str = "") -> list[Finding]:
    """What the schema of a kind (opat, sgat, gdat, record; told from the document unless given) says of a document.

    `document` is a JSON text (str or bytes: findings then have lines and columns) or what a parser made of one.
    UsageError where no kind is given and none can be told. Only shapes and types are looked at: the values are for
    `check_result`.
    """
    if kind is not None and kind not in SCHEMA_NAMES:
        raise UsageError(f"no schema {kind!r}; expected one of {', '.join(SCHEMA_NAMES)}")
    if not isinstance(document, (str, bytes)):
        return check_schema(kind or kind_of(document), document, path)
    text = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    try:
        parsed = parse_plain(text)
    except NotPlainError:
        read = parse_results(Path(path), FileName(kind or "opat", "json", "aoe"), text)
        told = check_schema(kind or kind_of(read.document), read.document, path) if read.parsed else []
        return with_places([*(_under(path, finding) for finding in read.findings), *told], read.text)
    name = kind or kind_of(parsed)
    return [] if fits_schema(name, parsed) else with_places(check_schema(name, parsed, path), text)


def _under(path: str, finding: Finding) -> Finding:
    return Finding(finding.severity, finding.rule, path, finding.message, finding.line, finding.column, finding.pointer)


def kind_of(document: Any) -> str:
    """The kind of a parsed document: by the segments of a result, the hashes of a bank, the fields of a record."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else document
    if isinstance(document, dict) and {"workload", "runtime_ms_mean"} & document.keys():
        return "record"
    entries = [entry for entry in first if isinstance(entry, dict)] if isinstance(first, list) else []
    keys = {key for entry in entries for key in entry}
    if "SGAT" in keys:
        return "sgat"
    if keys & {"OPAT", "basic"}:
        return "opat"
    if keys & {"modelhash", "modelvalue"}:
        return "gdat"
    raise UsageError("the kind of the document cannot be told; expected one of " + ", ".join(SCHEMA_NAMES))
