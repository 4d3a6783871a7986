"""What units are and hand on, as JSON and back: what one process has read, another machine can use tomorrow.

Only data comes back: JSON's own values, tuples, sets, paths, arrays of numbers, texts, and dataclasses of this package by their
fields. Nothing that is read names code that runs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from aoe_reports.formats.sources.objects import ObjectPath, object_of
from aoe_reports.model.classes import is_record, made
from aoe_reports.model.texts import Text, as_fields, from_fields

KIND = "$"
"""The key that tells what an object is, where JSON has no such thing."""
_PACKAGE = __name__.partition(".")[0]


def freeze(value: Any) -> str:
    """A value as JSON, in the order that it has: equal values of one order are equal texts. TypeError for what is no data."""
    return json.dumps(frozen(value), separators=(",", ":"))


def thaw(text: str | bytes) -> Any:
    """The value of such a text; ValueError where it is none."""
    try:
        return json.loads(text, object_hook=_thawed)
    except (ArithmeticError, AttributeError, ImportError, KeyError, RecursionError, SyntaxError, TypeError) as error:
        raise ValueError(str(error)) from error


def frozen(value: Any) -> Any:
    """A value in JSON's own values."""
    kind = _NAMES.get(type(value)) or ("path" if isinstance(value, Path) else None)
    if value is None or type(value) in {bool, int, float, str}:
        told = value
    elif type(value) is list:
        told = _listed(value)
    elif type(value) is dict and all(type(key) is str and key != KIND for key in value):
        told = {key: frozen(one) for key, one in value.items()}
    elif is_dataclass(value) and type(value).__module__.startswith(f"{_PACKAGE}."):
        named = f"{type(value).__module__}:{type(value).__qualname__}"
        told = {KIND: named, **{field.name: frozen(getattr(value, field.name)) for field in fields(value)}}
    elif kind is not None:
        told = {KIND: kind, "of": _KINDS[kind][1](value)}
    else:
        told = _frozen_columns(value)
    return told


def _frozen_columns(value: Any) -> Any:
    """Arrays and tables, by their bytes."""
    import numpy as np  # noqa: PLC0415 -- most values hold none
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(value, np.generic):
        return frozen(value.item())
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = np.ascontiguousarray(value).tobytes()
        return {KIND: "array", "type": value.dtype.str, "shape": list(value.shape), "of": _text(data)}
    if isinstance(value, pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_table(value.combine_chunks())
        return {KIND: "table", "of": _text(sink.getvalue().to_pybytes())}
    raise TypeError(f"{type(value).__name__} is no data that can be kept")


def _array(found: dict[str, Any]) -> Any:
    import numpy as np  # noqa: PLC0415

    dtype = np.dtype(found["type"])
    if dtype.hasobject:
        raise ValueError("an array of objects")
    return np.frombuffer(base64.b64decode(found["of"]), dtype).reshape(found["shape"]).copy()


def _table(found: dict[str, Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    with pa.ipc.open_stream(base64.b64decode(found["of"])) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _thawed(found: dict[str, Any]) -> Any:
    kind = found.pop(KIND, None)
    if kind is None:
        return found
    if kind in _KINDS:
        return _KINDS[kind][2](found["of"])
    if kind in _COLUMNS:
        return _COLUMNS[kind](found)
    cls = _class_named(kind)
    value = object.__new__(cls)
    for field in fields(cls):
        object.__setattr__(value, field.name, found[field.name])
    return value


@cache
def _class_named(kind: str) -> Any:
    module, _, name = kind.partition(":")
    if not module.startswith(f"{_PACKAGE}."):
        raise ValueError(kind)
    cls = getattr(import_module(module), name)
    if not (is_record(cls) and cls.__module__ == module):
        raise ValueError(kind)
    return made(cls)


def _listed(values: Iterable[Any]) -> list[Any]:
    return [frozen(value) for value in values]


def _in_order(values: Iterable[Any]) -> list[Any]:
    return sorted(_listed(values), key=json.dumps)


_KINDS: dict[str, tuple[type[Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "text": (Text, as_fields, from_fields),
    "path": (Path, str, Path),
    "object": (ObjectPath, lambda one: [str(one), one.size, one.version, one.modified_ns], lambda of: object_of(*of)),
    "tuple": (tuple, _listed, tuple),
    "frozenset": (frozenset, _in_order, frozenset),
    "set": (set, _in_order, set),
    "decimal": (Decimal, str, Decimal),
    "dict": (dict, lambda found: [_listed(pair) for pair in found.items()], dict),
}
"""(type, what JSON holds of it, how it is made again) of what JSON has no name for; an object with other keys than texts is one."""
_NAMES = {kind: name for name, (kind, _, _) in _KINDS.items()}
_COLUMNS = {"array": _array, "table": _table}
