"""Holds a document against its JSON Schema; one finding a place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from aoe_reports.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.results import escape
from aoe_reports.schemas import load_schema


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 -- costs much of a second where formats are installed

    return Draft202012Validator(load_schema(name))


def check_schema(name: str, document: Any, path: str) -> list[Finding]:
    """What the schema called `name` says of a document, with JSON Pointers, in the order of the document."""
    errors = sorted(
        _validator(name).iter_errors(document), key=lambda error: (pointer(error.absolute_path), error.message)
    )
    found = [
        Finding("error", "schema", path, error.message[:300], pointer=pointer(error.absolute_path)) for error in errors
    ]
    if len(found) > EXAMPLES_PER_RULE:
        more = f"and {len(found) - EXAMPLES_PER_RULE} more places that the schema does not allow"
        found = [*found[:EXAMPLES_PER_RULE], Finding("error", "schema", path, more)]
    return found


def pointer(steps: Sequence[object]) -> str:
    """Steps into a document as a JSON Pointer."""
    return "".join("/" + escape(str(step)) for step in steps)
