"""A record as a row of typed columns, as Parquet holds it, and back; objects are canonical JSON texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from aoe_reports.model.texts import say

METRIC = "runtime_ms_mean"

_AS_JSON = frozenset({*JSON_FIELDS, "timestamp"})
_PLAIN = tuple(name for name in (*FIELDS, *TYPED_FIELDS) if name not in {*_AS_JSON, "runtime_raw"})


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


def row_of_record(record: Record, text: Callable[[Any], str] = canonical_json) -> dict[str, Any]:
    """The columns of a record; what a foreign one has beyond v0.1, or lacks, stands under `OURS` in `metadata`.

    `text` makes the JSON texts of objects (see JsonTexts).
    """
    row: dict[str, Any] = {name: getattr(record, name) for name in _PLAIN}
    row |= {name: text(getattr(record, name)) for name in JSON_FIELDS}
    row["timestamp"] = canonical_json(record.timestamp)
    row["metadata"] = text(_with_ours(record))
    row["runtime_raw"] = None if record.runtime_raw is None else canonical_json(record.runtime_raw)
    return {**row, "metric": METRIC, "series_id": record.series_id, "fingerprint": record.fingerprint}


def record_of_row(row: Mapping[str, Any]) -> Record:
    """The record that a row was made of."""
    facts: dict[str, Any] = {name: row[name] for name in _PLAIN}
    facts |= {name: object_in(row, name) for name in JSON_FIELDS}
    facts["timestamp"] = decode(row["timestamp"], int | float | str)
    facts["runtime_raw"] = None if row["runtime_raw"] is None else decode(row["runtime_raw"], list[dict[str, Any]])
    ours = _ours_in(facts["metadata"])
    if _ITSELF in ours:
        facts["metadata"][OURS] = ours[_ITSELF]
    return Record(**facts, extra=ours.get("extra", {}), absent=tuple(ours.get("absent", ())))


def _ours_in(metadata: dict[str, Any]) -> dict[str, Any]:
    """What stands under `OURS`, taken out of the metadata; NotDecodableError where it is not as it was written."""
    ours: dict[str, Any] = metadata.pop(OURS, {})
    extra, absent = (ours.get("extra", {}), ours.get("absent", [])) if isinstance(ours, dict) else (None, None)
    if not isinstance(extra, dict) or not isinstance(absent, list) or not set(map(str, absent)) <= set(OPTIONAL_FIELDS):
        raise NotDecodableError(say("{key} differs from what was written", key=OURS))
    if set(extra) & set(FIELDS):
        raise NotDecodableError(say("{key} differs from what was written", key=OURS))
    return ours


_ITSELF = "metadata"
"""Where a foreign record's own value of the key OURS is kept."""


def _with_ours(record: Record) -> dict[str, Any]:
    ours: dict[str, Any] = {}
    if record.extra:
        ours["extra"] = record.extra
    if record.absent:
        ours["absent"] = list(record.absent)
    if OURS in record.metadata:
        ours[_ITSELF] = record.metadata[OURS]
    return {**record.metadata, OURS: ours} if ours else record.metadata
