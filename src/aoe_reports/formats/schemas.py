"""Finds a JSON Schema: inside the installed wheel, else in the checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import SchemaMissingError
from aoe_reports.model.texts import say

SCHEMA_NAMES = ("opat", "sgat", "gdat", "record", "plan", "verification")

_FOLDERS = (
    Path(__file__).parents[1] / "json_schemas",
    Path(__file__).parents[3] / "schemas",
)


@cache
def load_schema(name: str) -> JsonObject:
    """The schema called `name` (one of SCHEMA_NAMES) as a dict; SchemaMissingError where the installation lacks it."""
    for folder in _FOLDERS:
        path = folder / f"{name}.schema.json"
        if path.is_file():
            schema: JsonObject = json.loads(path.read_text(encoding="utf-8"))
            return schema
    message = say(
        "schema {name!r} is not part of this installation; expected in {folder}", name=name, folder=_FOLDERS[0]
    )
    raise SchemaMissingError(message)
