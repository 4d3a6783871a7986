"""What rows and options have in common: frozen dataclasses that are made when they are first used, facts of a class, types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field
from functools import wraps
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, dataclass_transform, get_args, get_origin

T = TypeVar("T")
_WAITING = "__waiting__"


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A frozen dataclass, all by keyword, that is made when it is first used: making one takes a millisecond, and `--help` uses none."""
    setattr(cls, _WAITING, True)
    cls.__init__ = _first_init  # type: ignore[assignment]
    cls.__setstate__ = _first_state  # type: ignore[attr-defined]
    return cls


def _first_init(self: Any, /, **values: Any) -> None:
    """The first instance makes the class, which then has an `__init__` of its own."""
    made(type(self)).__init__(self, **values)


def _first_state(self: Any, state: dict[str, Any]) -> None:
    """The first instance may come from another process."""
    made(type(self))
    self.__dict__.update(state)


def made(cls: type[Any]) -> type[Any]:
    """The class itself, once it and those that it inherits from are dataclasses."""
    for one in reversed(cls.__mro__):
        if one.__dict__.get(_WAITING):
            for name in (_WAITING, "__init__", "__setstate__"):
                delattr(one, name)
            dataclass(frozen=True, kw_only=True)(one)
    return cls


def is_record(kind: Any) -> bool:
    """Whether something is such a class, made or not."""
    return isinstance(kind, type) and (hasattr(kind, _WAITING) or hasattr(kind, "__dataclass_fields__"))


def declared_fields(cls: type[Any]) -> Mapping[str, Field[Any]]:
    """The fields of such a class that say more than a type, by name, in order; nothing is made for that."""
    fields: dict[str, Field[Any]] = {}
    for one in reversed(cls.__mro__):
        known = one.__dict__.get("__dataclass_fields__")
        if known is None:
            known = {name: one.__dict__.get(name) for name in get_annotations(one)}
        fields |= {name: what for name, what in known.items() if isinstance(what, Field)}
    return fields


def once_a_class(function: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """What a function makes of a class, made once."""
    known: dict[Any, T] = {}

    def of(cls: type[Any]) -> T:
        if cls not in known:
            known[cls] = function(cls)
        return known[cls]

    return wraps(function)(of)


def is_union(annotation: Any) -> bool:
    """Whether a type is one of several."""
    return get_origin(annotation) in {Union, UnionType}


def without_none(annotation: Any) -> Any:
    """The type of a value that is there: `int` of `int | None`."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if is_union(annotation) and len(kinds) == 1 else annotation
