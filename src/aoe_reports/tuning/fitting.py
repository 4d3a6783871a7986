"""JSON that fits a dataclass of plain values: what of a document is of the types that its fields have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any


def fitting(cls: type, document: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a document under the fields' names, those of another type left out; lists are tuples."""
    kinds = {entry.name: str(entry.type) for entry in fields(cls)}
    found = {name: value for name, value in document.items() if name in kinds and fits(value, kinds[name])}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def fits(value: Any, kind: str) -> bool:
    """Whether a JSON value is of the type of a field, as that is written; whole numbers count from 0."""
    if kind.startswith("Mapping"):
        return isinstance(value, dict) and all(isinstance(x, str) for pair in value.items() for x in pair)
    if value is None:
        return "None" in kind
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(fits(one, kind.removeprefix("tuple[")) for one in value)
    if kind.startswith("int"):
        return value.__class__ is int and int(value) >= 0
    kinds = {"bool": bool, "floa": float}
    return isinstance(value, kinds.get(kind[:4], str))
