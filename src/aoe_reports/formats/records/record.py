"""Record: one measured time in the benchmark log schema v0.1, with typed columns beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from msgspec import Meta

from aoe_reports.formats.records.identity import Int64
from aoe_reports.formats.vendor import VENDORS
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.history.changes import RecordScope

RecordSource = str
"""Who measured: a vendor's profiler, or `aoe`, or `foreign` (any tool that writes benchmark log records)."""
RECORD_SOURCES = frozenset({"aoe", "foreign", *(vendor.record_source for vendor in VENDORS.values())})
Phase = Literal["before", "after"]

SCHEMA_VERSION = "0.1"
JSON_FIELDS = (
    "metadata",
    "workload_args",
    "workload_metadata",
    "engine_config",
    "compilation_config",
    "software_config",
    "runtime_config",
    "hardware_config",
    "execution_config",
    "metrics",
)
"""The fields of v0.1 that are objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedFields:
    """What of a record is queried as typed columns, beside v0.1."""

    run_id: Annotated[str, Meta(pattern=r"\A[0-9]{8}T[0-9]{6}-[0-9a-f]{8}\Z")]
    """As JSON of ours says it; a foreign record that belongs to no run yet has an empty one."""
    timestamp_ns: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
    model: str
    scope: RecordScope
    source: RecordSource
    phase: Phase | None = None
    op_type: str | None = None
    op_name: str | None = None
    rank_id: Int64 | None = None
    device_id: Int64 | None = None
    count: Int64 | None = None
    total_ns: Int64 | None = None
    """What all calls together took, exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(TypedFields):
    """All 19 fields of v0.1 (times in ms, std null where there is none), and what is queried as typed columns."""

    workload: str
    engine: str
    hardware: str
    runtime_ms_mean: float
    runtime_ms_std: float | None
    timestamp: float | str
    """As it was written; `timestamp_ns` is what it means."""
    schema_version: str = SCHEMA_VERSION
    metadata: Mapping[str, Json] = field(default_factory=dict)
    workload_args: Mapping[str, Json] = field(default_factory=dict)
    workload_metadata: Mapping[str, Json] = field(default_factory=dict)
    engine_version: str = "unknown"
    engine_config: Mapping[str, Json] = field(default_factory=dict)
    compilation_config: Mapping[str, Json] = field(default_factory=dict)
    software_config: Mapping[str, Json] = field(default_factory=dict)
    runtime_config: Mapping[str, Json] = field(default_factory=dict)
    hardware_config: Mapping[str, Json] = field(default_factory=dict)
    execution_config: Mapping[str, Json] = field(default_factory=dict)
    metrics: Mapping[str, Json] = field(default_factory=dict)
    runtime_raw: Sequence[Mapping[str, Json]] | None = None

    extra: Mapping[str, Json] = field(default_factory=dict)
    """Keys that v0.1 does not name, as they stood in a foreign record."""
    absent: tuple[str, ...] = ()
    """Optional fields that a foreign record did not have."""

    @property
    def series_id(self) -> str:
        """Which history this record continues: what was measured, how and where, not when."""
        return self.series_with(self.fingerprint)

    def series_with(self, fingerprint: str) -> str:
        """The same, where the fingerprint is known."""
        key = (
            self.workload,
            self.source,
            self.phase,
            self.hardware,
            self.engine,
            self.op_type,
            self.rank_id,
            self.device_id if self.rank_id is None else None,
            fingerprint,
        )
        return hashlib.sha256(canonical_json(key).encode()).hexdigest()[:16]

    @property
    def fingerprint(self) -> str:
        """What else splits a history: shapes, types and formats of the inputs, the tuning mode; of foreign ones all configs."""
        parts: list[Any] = [self.workload_args, self.compilation_config.get("tune_mode")]
        if self.source == "foreign":
            parts += [self.engine_config, self.compilation_config, self.runtime_config]
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:16]

    def as_json(self, run: Json = None) -> JsonObject:
        """The fields of v0.1 as a JSON object, as a foreign record had them; our own say under `OURS` what v0.1 cannot.

        `run` is what the first of a run's records says of the run.
        """
        document = {name: getattr(self, name) for name in FIELDS if name not in self.absent}
        if self.runtime_raw is None:
            del document["runtime_raw"]
        if self.source != "foreign":
            typed = {name: value for name in TYPED_FIELDS if (value := getattr(self, name)) is not None}
            document["metadata"] = {**self.metadata, OURS: typed if run is None else {**typed, "run": run}}
        return {**document, **self.extra}


TYPED_FIELDS = tuple(f.name for f in fields(TypedFields))

FIELDS = tuple(f.name for f in fields(Record) if f.name not in {*TYPED_FIELDS, "extra", "absent"})
"""The fields of v0.1."""

OPTIONAL_FIELDS = ("engine_version", *JSON_FIELDS)
"""The fields of v0.1 that a record may be without; `runtime_raw` is null then."""

OURS = "aoe_reports"
"""The key in `metadata` under which we keep what has no place in v0.1."""


def canonical_json(value: Any) -> str:
    """JSON text that is the same for the same value."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
