"""The JSON Schema of what questions print as JSON, from the declarations of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from aoe_reports.engine.question import Question
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import SEVERITIES
from aoe_reports.model.rows import schema_of
from aoe_reports.present.as_json import FORMAT_VERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REASONS = ("damage", "tuning-failed", "not-comparable")
"""Why the exit code is 1, as `model.findings.reasons_of` says it."""
_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}
_FINDING: JsonObject = {
    "type": "object",
    "properties": {
        "severity": {"enum": list(SEVERITIES)},
        "rule": {"type": "string"},
        "path": {"type": "string"},
        "line": {"type": ["integer", "null"], "minimum": 1},
        "column": {"type": ["integer", "null"], "minimum": 1},
        "pointer": {"type": ["string", "null"]},
        "message": {"type": "string"},
    },
    "required": ["severity", "rule", "path", "line", "column", "pointer", "message"],
    "additionalProperties": False,
}


def schema_of_answers(questions: Iterable[Question[Any, Any]]) -> JsonObject:
    """One document: a definition for each command, and what they have in common."""
    of_commands: JsonObject = {question.name: _schema_of_answer(question) for question in questions}
    return {
        "$schema": DIALECT,
        "title": "What the questions of aoe-reports print with --format json",
        "anyOf": [{"$ref": f"#/$defs/{quote(name)}"} for name in of_commands],
        "$defs": {**of_commands, "finding": _FINDING},
    }


def _schema_of_answer(question: Question[Any, Any]) -> JsonObject:
    tables: JsonObject = {key: {"type": "array", "items": schema_of(kind)} for key, kind in question.tables}
    properties: JsonObject = {
        "command": {"const": question.name},
        "format_version": {"const": FORMAT_VERSION},
        "inputs": _TEXTS,
        "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
        "reasons": {"type": "array", "items": {"enum": list(REASONS)}, "uniqueItems": True},
        **tables,
        **{key: {"type": "object"} for key in question.more},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
