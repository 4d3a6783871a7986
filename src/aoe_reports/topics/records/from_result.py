"""Turns an AOE result into records: every modified operator or subgraph and the model, before and after as a pair."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeGuard

from aoe_reports.formats.aoe.results import Modification, TuningResult
from aoe_reports.formats.records.record import Phase, Record
from aoe_reports.model.documents import Json
from aoe_reports.model.history.changes import RecordScope
from aoe_reports.topics.records.context import RunContext


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """What was tuned, and its time before and after."""

    scope: RecordScope
    workload: str
    times: tuple[Decimal, Decimal]
    unit: str
    kind: Mapping[str, Json]
    tuned: Mapping[str, Json] = field(default_factory=dict)
    metrics: Mapping[str, Json] = field(default_factory=dict)
    claim: str | None
    unmeasured: bool = False
    """Whether AOE filled in the gain: then none is claimed."""
    op_name: str | None = None
    op_type: str | None = None
    pointer: str = ""
    """Empty: that of the result."""


def records_from_result(context: RunContext, result: TuningResult) -> list[Record]:
    """Records of a tuning that went to its end; none of one that failed or was broken off."""
    if not result.complete:
        return []
    records = []
    for modification in result.modifications:
        pair = _of_modification(context, result, modification)
        records += [] if pair is None else _records_of(pair, context, result)
    if _usable(result.model_baseline_ms) and _usable(result.model_result_ms):
        pair = _Pair(
            scope="model",
            workload=context.model,
            times=(result.model_baseline_ms, result.model_result_ms),
            unit="ms",
            kind={"class": "model"},
            metrics={**result.summary, "tuning_time_s": plain_number(result.tuning_time_s)},
            claim=result.model_improvement,
        )
        records += _records_of(pair, context, result)
    return records


def _usable(value: Decimal | None) -> TypeGuard[Decimal]:
    """Whether a time is one: there, above 0 and of a size that a number can hold."""
    return value is not None and 0 < value < LARGEST


LARGEST = Decimal("1e15")


def _of_modification(context: RunContext, result: TuningResult, modification: Modification) -> _Pair | None:
    if not (_usable(modification.before) and _usable(modification.after)):
        return None
    is_operator = result.kind == "opat"
    scope: RecordScope = "op" if is_operator else "subgraph"
    return _Pair(
        scope=scope,
        workload=f"{context.model}/{scope}/{modification.name}",
        times=(modification.before, modification.after),
        unit=modification.unit,
        kind=(
            {"class": "operator", "type": list(modification.op_type)}
            if is_operator
            else {"class": "subgraph", "repo_key": modification.name}
        ),
        tuned={"tune_mode": modification.mode, "update_mode": modification.update_mode},
        claim=None if modification.unmeasured else modification.improvement,
        unmeasured=modification.unmeasured,
        op_name=modification.name if is_operator else None,
        op_type=";".join(modification.op_type) or None,
        pointer=modification.pointer,
    )


def _records_of(pair: _Pair, context: RunContext, result: TuningResult) -> list[Record]:
    """The time before and the time after, tied together by one pair_id."""
    whose = f"{context.run_id}\n{result.pointer}\n{pair.pointer}\n{pair.scope}"
    pair_id = hashlib.sha256(whose.encode()).hexdigest()[:16]
    phases: tuple[tuple[Phase, Decimal], ...] = (("before", pair.times[0]), ("after", pair.times[1]))
    return [
        Record(
            **_fields(context, tuner=result.kind, phase=phase, **pair.tuned),
            workload=pair.workload,
            runtime_ms_mean=float(value / 1000 if pair.unit == "us" else value),
            runtime_ms_std=None,
            metadata={
                **context.metadata,
                "pair_id": pair_id,
                "pointer": pair.pointer or result.pointer,
                "status": result.status,
                "raw": {"value": str(value), "unit": pair.unit},
                "claimed_improvement": pair.claim,
                **({"unmeasured": True} if pair.unmeasured else {}),
            },
            workload_metadata=pair.kind,
            metrics=pair.metrics,
            scope=pair.scope,
            source="aoe",
            phase=phase,
            op_name=pair.op_name,
            op_type=pair.op_type,
        )
        for phase, value in phases
    ]


def _fields(context: RunContext, **tuned: Json) -> dict[str, Any]:
    return {**context.fields(), "engine_config": {"accelerator": "AOE"}, "compilation_config": tuned}


def plain_number(value: Decimal | None) -> float | int | None:
    """A number of AOE as JSON has it; null where it is none that a float64 holds."""
    if value is None or not value.is_finite() or abs(value) >= LARGEST:
        return None
    return int(value) if value == value.to_integral_value() else float(value)
