"""Turns a benchmark log record in JSON, valid by the schema, into a Record: somebody else's, or one that we wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, ValidationError, convert

from aoe_reports.formats.records.identity import Int64, Member
from aoe_reports.formats.records.payloads import fits_body, is_night
from aoe_reports.formats.records.record import FIELDS, OPTIONAL_FIELDS, OURS, RECORD_SOURCES, Record, TypedFields
from aoe_reports.model.documents import Json, JsonObject, object_of

T = TypeVar("T")
_OWN_SOURCES = RECORD_SOURCES - {"foreign"}


def record_of_document(document: Mapping[str, Any], timestamp_ns: int, model: str | None = None) -> Record:
    """A record as it was: with its typed fields where we wrote it, else as a foreign one of `model`.

    A foreign record belongs to no run yet; its `run_id` is empty.
    """
    own, std = _own_fields_of(document), document["runtime_ms_std"]
    known = {name: document[name] for name in FIELDS if name in document}
    known |= {
        "runtime_ms_mean": float(document["runtime_ms_mean"]),
        "runtime_ms_std": None if std is None else float(std),
    }
    if own is None:
        model = model or document["workload"]
        own = TypedFields(run_id="", timestamp_ns=timestamp_ns, model=model, scope="model", source="foreign")
    else:
        known["metadata"] = {key: value for key, value in document["metadata"].items() if key != OURS}
    extra = {name: value for name, value in document.items() if name not in FIELDS}
    absent = tuple(name for name in OPTIONAL_FIELDS if name not in document)
    return Record(**known, **asdict(own), extra=extra, absent=absent)


def _own_fields_of(document: Mapping[str, Json]) -> TypedFields | None:
    """What one of our own records says beside v0.1; None for a record that is not ours, or not as we write it."""
    own = _converted(object_of(document.get("metadata")).get(OURS), TypedFields)
    return own if own is not None and own.source in _OWN_SOURCES else None


def _converted(value: Json, kind: type[T]) -> T | None:
    """A value as one of ours; None for what is none."""
    try:
        return convert(value, kind)
    except (ValidationError, RecursionError):
        return None


RunKind = Literal["profile", "tuning", "foreign"]


@dataclass(frozen=True, slots=True)
class OwnRun:
    """What the first of a run's records that we wrote says of the run itself."""

    kind: RunKind
    night: str
    status: str
    members: Annotated[tuple[Member, ...], Meta(min_length=1)]
    records: Int64 | None = None
    """How many records the run has; null where those at hand were picked."""
    normaliser_version: Int64 | None = None
    body: JsonObject = field(default_factory=dict)

    @property
    def as_we_write_it(self) -> bool:
        """Whether it is of a run of ours, and can be stored as it is."""
        ours = self.kind != "foreign" and self.normaliser_version is not None
        return ours and is_night(self.night) and fits_body(self.body)


def own_run_of(document: Mapping[str, Json]) -> OwnRun | None:
    """The run that a record of ours tells of; None for other records, and for what is not as we write it."""
    if _own_fields_of(document) is None:
        return None
    run = _converted(object_of(object_of(document["metadata"])[OURS]).get("run"), OwnRun)
    return run if run is not None and run.as_we_write_it else None
