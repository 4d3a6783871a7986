"""JSON of the outside: what a document may hold, and how a value of it is taken as what it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    Cell: TypeAlias = "Json | Decimal | Sequence[Cell] | Mapping[str, Cell]"
    Cells: TypeAlias = Mapping[str, Cell]
    Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
else:
    Cell = Cells = Any
    Json = Any  # msgspec knows no type that names itself

JsonObject: TypeAlias = dict[str, Json]


def object_of(value: object) -> JsonObject:
    """The object that a value is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str | None:
    """The text that a value is; None for anything else."""
    return value if isinstance(value, str) else None
