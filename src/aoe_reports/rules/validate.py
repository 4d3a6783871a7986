"""Validates one document against the JSON Schema of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aoe_reports.formats.aoe.result_files import as_utf8, parse_floats, parse_json
from aoe_reports.formats.schemas import SCHEMA_NAMES
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding, is_below
from aoe_reports.model.texts import join, say
from aoe_reports.rules.found import with_places
from aoe_reports.rules.schema import check_schema, fits_schema


def validate(document: Any, kind: str | None = None, path: str = "") -> list[Finding]:
    """What the schema of a kind (opat, sgat, gdat, record; told from the document unless given) says of a document.

    `document` is a JSON text (str or bytes: findings then have lines and columns) or what a parser made of one.
    UsageError where no kind is given and none can be told, and for what no JSON text can be made of. Only shapes and
    types are looked at: the values are for `check_result`.
    """
    if kind is not None and kind not in SCHEMA_NAMES:
        raise UsageError(say("no schema {kind!r}; expected one of {names}", kind=kind, names=join(", ", SCHEMA_NAMES)))
    if not isinstance(document, (str, bytes)):
        try:
            return check_schema(kind or kind_of(document), document, path)
        except (RecursionError, TypeError, ValueError) as error:
            raise UsageError(say("the document cannot be represented in JSON: {error}", error=error)) from error
    text = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    try:
        parsed = parse_floats(text)
    except ValueError:
        return _validate_damaged(text, kind, path)
    name = kind or kind_of(parsed)
    return [] if fits_schema(name, parsed) else with_places(check_schema(name, parsed, path), text)


def _validate_damaged(text: bytes, kind: str | None, path: str) -> list[Finding]:
    """Findings on a text that no strict parser accepts; none inside of a truncated part."""
    said: list[Finding] = []
    text = as_utf8(path_of(path), text, said)
    is_parsed, document, cut = parse_json(path_of(path), text, said, "part")
    told = check_schema(kind or kind_of(document), document, path) if is_parsed else []
    certain = [finding for finding in told if finding.pointer is None or not is_below(cut, finding.pointer)]
    return with_places([*(replace(finding, path=path) for finding in said), *certain], text)


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
    raise UsageError(
        say("the kind of the document cannot be determined; expected one of {names}", names=join(", ", SCHEMA_NAMES))
    )
