"""Turns a benchmark log record in JSON, valid by the schema, into a Record: somebody else's, or one that we wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from aoe_reports.formats.records.identity import Member
from aoe_reports.formats.records.payloads import fits_body, is_night, members_of_document
from aoe_reports.formats.records.record import (
    FIELDS,
    OPTIONAL_FIELDS,
    OURS,
    RECORD_SOURCES,
    Phase,
    Record,
    Scope,
)

_OWN_SOURCES = RECORD_SOURCES - {"foreign"}
_INT64 = 1 << 63
_RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}", re.ASCII)


def record_of_document(document: Mapping[str, Any], timestamp_ns: int, model: str | None = None) -> Record:
    """A record as it was: with its typed fields where we wrote it, else as a foreign one of `model`.

    A foreign record belongs to no run yet; its `run_id` is empty.
    """
    own = typed_fields_of(document)
    known: dict[str, Any] = {name: document[name] for name in FIELDS if name in document}
    known["runtime_ms_mean"] = float(document["runtime_ms_mean"])
    std = document["runtime_ms_std"]
    known["runtime_ms_std"] = None if std is None else float(std)
    if own is None:
        model = model or document["workload"]
        own = {"run_id": "", "timestamp_ns": timestamp_ns, "model": model, "scope": "model", "source": "foreign"}
    else:
        known["metadata"] = {key: value for key, value in document["metadata"].items() if key != OURS}
    extra = {name: value for name, value in document.items() if name not in FIELDS}
    absent = tuple(name for name in OPTIONAL_FIELDS if name not in document)
    return Record(**known, **own, extra=extra, absent=absent)


def typed_fields_of(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """What one of our own records says beside v0.1; None for a record that is not ours, or not as we write it."""
    ours = document.get("metadata", {}).get(OURS)
    if not isinstance(ours, dict) or not all(name in ours for name in _NEEDED):
        return None
    if not all(fits(ours[name]) for name, fits in _FITS.items() if name in ours):
        return None
    return {name: ours[name] for name in _FITS if name in ours}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_int64(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


_NEEDED = ("run_id", "timestamp_ns", "model", "scope", "source")
_FITS: dict[str, Callable[[Any], bool]] = {
    "run_id": lambda value: _is_text(value) and _RUN_ID.fullmatch(value) is not None,
    "timestamp_ns": lambda value: _is_int64(value) and value >= 0,
    "model": _is_text,
    "scope": lambda value: value in get_args(Scope),
    "source": lambda value: _is_text(value) and value in _OWN_SOURCES,
    "phase": lambda value: value in get_args(Phase),
    "op_type": _is_text,
    "op_name": _is_text,
    "rank_id": _is_int64,
    "device_id": _is_int64,
    "count": _is_int64,
    "total_ns": _is_int64,
}


RunKind = Literal["profile", "tuning", "foreign"]


@dataclass(frozen=True, slots=True)
class OwnRun:
    """What the first of a run's records that we wrote says of the run itself."""

    kind: RunKind
    night: str
    status: str
    members: tuple[Member, ...]
    records: int | None = None
    """How many records the run has; null where those at hand were picked."""
    normaliser_version: int | None = None
    body: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """It as a JSON object, which `own_run_of` reads."""
        members = [[m.identity, m.content_hash, m.rows, m.named] for m in self.members]
        return {
            "kind": self.kind,
            "night": self.night,
            "status": self.status,
            "members": members,
            "records": self.records,
            "normaliser_version": self.normaliser_version,
            "body": self.body,
        }


def own_run_of(document: Mapping[str, Any]) -> OwnRun | None:
    """The run that a record of ours tells of; None for other records, and for what is not as we write it."""
    if typed_fields_of(document) is None:
        return None
    told = document["metadata"][OURS].get("run")
    if not isinstance(told, dict) or not all(name in told and fits(told[name]) for name, fits in _RUN_FITS.items()):
        return None
    members = members_of_document(told["members"])
    if members is None:
        return None
    facts = {name: told[name] for name in ("kind", "night", "status", "records", "normaliser_version", "body")}
    return OwnRun(members=members, **facts)


_RUN_FITS: dict[str, Callable[[Any], bool]] = {
    "kind": lambda value: value in ("profile", "tuning"),
    "night": is_night,
    "status": _is_text,
    "members": lambda value: isinstance(value, list),
    "records": lambda value: value is None or _is_int64(value),
    "normaliser_version": _is_int64,
    "body": lambda value: isinstance(value, dict) and fits_body(value),
}
