"""What is given to a parameter, as its type: typer converts with pydantic, which takes 0.15 s to load, and most values need no conversion."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

_FEW_DIGITS = 18
_NOT_PLAIN = object()


class PlainValues:
    """A command whose parameters take plain values as they are; others go through typer's conversion, which knows what to say of them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, that for help among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc] # of the command that it is mixed into
        for parameter in parameters:
            vars(parameter).setdefault("get_runtime_param", _Plainly(parameter.get_runtime_param).itself)
        return parameters


class _Plainly:
    """Stands in for typer's conversion of a parameter."""

    def __init__(self, loaded: Callable[[], Any]) -> None:
        self._loaded = loaded

    def itself(self) -> _Plainly:
        """What a parameter is asked for."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the parameter's type."""
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        kind, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if many:
            each = get_args(kind)[0] if get_origin(kind) is list and isinstance(value, list | tuple) else None
            found: Any = [_NOT_PLAIN] if each is None else [_plain(one, each, info) for one in value]
            plain = _NOT_PLAIN not in found
        else:
            found = _plain(value, kind, info)
            plain = found is not _NOT_PLAIN
        return found if plain else self._loaded().coerce(value, param=param, ctx=ctx)


def _plain(value: Any, kind: Any, info: Any) -> Any:
    """A value as a type, where nothing can be wrong with it; else `_NOT_PLAIN`."""
    if info.parser is not None:
        try:
            return info.parser(value)
        except (ValueError, AssertionError):  # typer says it in its own words
            return _NOT_PLAIN
    if kind is int and _is_number(value) and _is_within(int(value), info):
        return int(value)
    if kind is Path and isinstance(value, str | Path) and _is_any_path(value, info):
        return Path(value)
    is_whole = (kind is str and isinstance(value, str)) or (get_origin(kind) is Literal and value in get_args(kind))
    return value if is_whole else _NOT_PLAIN


def _is_number(value: Any) -> bool:
    return type(value) is int or (
        isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _FEW_DIGITS
    )


def _is_within(value: int, info: Any) -> bool:
    return (info.min is None or value >= info.min) and (info.max is None or value <= info.max)


def _is_any_path(value: str | Path, info: Any) -> bool:
    """Whether typer would ask no more of a path than that it can be read if it is there."""
    asks = info.exists or info.writable or info.resolve_path or not (info.file_okay and info.dir_okay) or info.path_type
    return not asks and "\0" not in str(value) and (not Path(value).exists() or os.access(value, os.R_OK))
