"""Values that functions hand out: whoever holds one can rely on it, and a million of them fit into memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest


def values_in(thing: object, seen: set[int] | None = None) -> Iterator[object]:
    """All values of our own classes in something, however deep; one of each class."""
    met: set[int] = set() if seen is None else seen
    kind = type(thing)
    if isinstance(thing, Mapping):
        for inner in thing.values():
            yield from values_in(inner, met)
    elif isinstance(thing, Collection) and not isinstance(thing, str | bytes):
        for inner in thing:
            yield from values_in(inner, met)
    elif is_dataclass(kind) and kind.__module__.startswith("aoe_reports.") and id(kind) not in met:
        met.add(id(kind))
        yield thing
        for field in fields(kind):
            yield from values_in(getattr(thing, field.name), met)


def check_values(*things: object, working: Collection[str] = ()) -> set[str]:
    """Nothing that was handed out can be changed, or given what it has no place for; the names of the classes.

    `working` are classes of what is put together piece by piece while it is read: those change.
    Rows and options, which are made by keyword alone, are as others are; they only take more room.
    """
    names = set()
    for one in values_in(things):
        kind = type(one)
        names.add(kind.__name__)
        for field in fields(kind) if kind.__name__ not in working else ():  # type: ignore[arg-type]
            with pytest.raises(FrozenInstanceError):
                setattr(one, field.name, None)
        assert not hasattr(one, "__dict__") or kind.__match_args__ == (), kind  # type: ignore[attr-defined]
    return names
