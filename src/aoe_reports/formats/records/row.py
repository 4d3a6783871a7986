"""A record as a row of typed columns, as Parquet holds it, and back; objects are canonical JSON texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, to_builtins

from aoe_reports.formats.records.payloads import NotDecodableError, decode, object_in
from aoe_reports.formats.records.record import (
    FIELDS,
    JSON_FIELDS,
    OPTIONAL_FIELDS,
    OURS,
    TYPED_FIELDS,
    Record,
    canonical_json,
)
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.texts import say

METRIC = "runtime_ms_mean"

Cell = str | int | float | None
"""What a column of a stored row holds."""

_AS_JSON = frozenset({*JSON_FIELDS, "timestamp"})
_PLAIN = tuple(name for name in (*FIELDS, *TYPED_FIELDS) if name not in {*_AS_JSON, "runtime_raw"})
STORED_COLUMNS = (*FIELDS, *TYPED_FIELDS)
"""The columns that a record can be made of again."""


class JsonTexts:
    """JSON texts of objects, made once for each object: all records of a run share most of theirs."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, str]] = {}

    def __call__(self, value: Any) -> str:
        if not value and isinstance(value, dict):
            return "{}"
        made = self._made.get(id(value))
        if made is None:
            made = self._made[id(value)] = value, canonical_json(value)  # the object is kept: its id stays its own
        return made[1]


def row_of_record(record: Record, text: Callable[[Any], str] = canonical_json) -> dict[str, Cell]:
    """The columns of a record; what a foreign one has beyond v0.1, or lacks, stands under `OURS` in `metadata`.

    `text` makes the JSON texts of objects (see JsonTexts).
    """
    row: dict[str, Cell] = {name: getattr(record, name) for name in _PLAIN}
    row |= {name: text(getattr(record, name)) for name in JSON_FIELDS}
    row["timestamp"] = canonical_json(record.timestamp)
    row["metadata"] = text(_with_beyond(record))
    row["runtime_raw"] = None if record.runtime_raw is None else canonical_json(record.runtime_raw)
    return {**row, "metric": METRIC, "series_id": record.series_id, "fingerprint": record.fingerprint}


def record_of_row(row: Mapping[str, Any]) -> Record:
    """The record that a row was made of; NotDecodableError where it is not as it was written."""
    objects = {name: object_in(row, name) for name in JSON_FIELDS}
    beyond = _Beyond.of(objects["metadata"].pop(OURS, {}))
    if beyond.metadata is not UNSET:
        objects["metadata"][OURS] = beyond.metadata
    return Record(
        **{**{name: row[name] for name in _PLAIN}, **objects},
        timestamp=decode(row["timestamp"], int | float | str),
        runtime_raw=None if row["runtime_raw"] is None else decode(row["runtime_raw"], list[JsonObject]),
        extra=beyond.extra,
        absent=tuple(beyond.absent),
    )


class _Beyond(Struct, omit_defaults=True):
    """What a foreign record has beyond v0.1, or lacks, under `OURS`."""

    extra: JsonObject = {}
    absent: list[str] = []
    metadata: Json | UnsetType = UNSET
    """The record's own value of the key OURS."""

    @classmethod
    def of(cls, value: Json) -> _Beyond:
        """It as it was written."""
        with suppress(ValidationError, RecursionError):
            beyond = convert(value, cls)
            if set(beyond.absent) <= set(OPTIONAL_FIELDS) and beyond.extra.keys().isdisjoint(FIELDS):
                return beyond
        raise NotDecodableError(say("{key} differs from what was written", key=OURS))


def _with_beyond(record: Record) -> Mapping[str, Json]:
    itself = record.metadata.get(OURS, UNSET)
    if not record.extra and not record.absent and itself is UNSET:
        return record.metadata
    return {**record.metadata, OURS: to_builtins(_Beyond(dict(record.extra), list(record.absent), itself))}
