"""A record as a row of typed columns, as Parquet holds it, and back; objects are canonical JSON texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
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


class _JsonTexts:
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


def columns_of_records(records: Sequence[Record]) -> dict[str, Sequence[Cell]]:
    """The columns of records; what a foreign one has beyond v0.1, or lacks, stands under `OURS` in `metadata`."""
    text = _JsonTexts()
    columns: dict[str, Sequence[Cell]] = {name: [*map(attrgetter(name), records)] for name in _PLAIN}
    columns |= {name: [*map(text, map(attrgetter(name), records))] for name in JSON_FIELDS if name != "metadata"}
    fingerprints = [record.fingerprint for record in records]
    return {
        **columns,
        "metadata": [text(_with_beyond(record)) for record in records],
        "timestamp": [text(record.timestamp) for record in records],
        "runtime_raw": [_raw_of(record) for record in records],
        "metric": [METRIC] * len(records),
        "series_id": [record.series_with(known) for record, known in zip(records, fingerprints, strict=True)],
        "fingerprint": fingerprints,
    }


def row_of_record(record: Record) -> dict[str, Cell]:
    return {name: column[0] for name, column in columns_of_records([record]).items()}


def json_column(values: Iterable[Any]) -> list[str]:
    """Objects as JSON texts; what is the same object is made a text once."""
    return [*map(_JsonTexts(), values)]


def _raw_of(record: Record) -> str | None:
    return None if record.runtime_raw is None else canonical_json(record.runtime_raw)


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
