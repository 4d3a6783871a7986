"""Turns an AOE result into records: every modified operator or subgraph and the model, before and after as a pair."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any

from aoe_reports.facts.records.context import RunContext
from aoe_reports.formats.aoe.results import Modification, TuningResult
from aoe_reports.formats.records.record import Phase, Record, Scope


def records_from_result(context: RunContext, result: TuningResult) -> list[Record]:
    """Records of a tuning that went to its end; none of one that failed or was broken off."""
    if not result.complete:
        return []
    records = []
    for modification in result.modifications:
        if _usable(modification.before) and _usable(modification.after):
            records += _of_modification(context, result, modification)
    if _usable(result.model_baseline_ms) and _usable(result.model_result_ms):
        assert result.model_baseline_ms is not None
        assert result.model_result_ms is not None
        times = (result.model_baseline_ms, result.model_result_ms)
        metrics = {**result.summary, "tuning_time_s": plain_number(result.tuning_time_s)}
        records += _pair(context, result, "model", context.model, times, "ms", metrics=metrics)
    return records


def _usable(value: Decimal | None) -> bool:
    """Whether a time is one: there, above 0 and of a size that a number can hold."""
    return value is not None and 0 < value < LARGEST


LARGEST = Decimal("1e15")


def _of_modification(context: RunContext, result: TuningResult, modification: Modification) -> list[Record]:
    scope: Scope = "op" if result.kind == "opat" else "subgraph"
    name = f"{context.model}/{scope}/{modification.name}"
    kind: dict[str, Any] = (
        {"class": "operator", "type": list(modification.op_type)}
        if scope == "op"
        else {"class": "subgraph", "repo_key": modification.name}
    )
    assert modification.before is not None
    assert modification.after is not None
    times = (modification.before, modification.after)
    tuned = {"tune_mode": modification.mode, "update_mode": modification.update_mode}
    return _pair(
        context,
        result,
        scope,
        name,
        times,
        modification.unit,
        kind=kind,
        tuned=tuned,
        claim=modification.improvement,
        op_name=modification.name if scope == "op" else None,
        op_type=";".join(modification.op_type) or None,
        pointer=modification.pointer,
    )


def _pair(
    context: RunContext,
    result: TuningResult,
    scope: Scope,
    workload: str,
    times: tuple[Decimal, Decimal],
    unit: str,
    *,
    kind: dict[str, Any] | None = None,
    tuned: dict[str, Any] | None = None,
    metrics: dict[str, Any] | None = None,
    claim: str | None = None,
    op_name: str | None = None,
    op_type: str | None = None,
    pointer: str = "",
) -> list[Record]:
    """The time before and the time after, tied together by one pair_id."""
    pair_id = hashlib.sha256(f"{context.run_id}\n{result.pointer}\n{pointer}\n{scope}".encode()).hexdigest()[:16]
    phases: tuple[tuple[Phase, Decimal], ...] = (("before", times[0]), ("after", times[1]))
    return [
        Record(
            **context.fields(),
            workload=workload,
            runtime_ms_mean=_to_ms(value, unit),
            runtime_ms_std=None,
            metadata={
                **context.metadata,
                "pair_id": pair_id,
                "pointer": pointer or result.pointer,
                "status": result.status,
                "raw": {"value": str(value), "unit": unit},
                "claimed_improvement": claim or result.model_improvement if scope == "model" else claim,
            },
            workload_metadata=kind or {"class": "model"},
            engine_config={"accelerator": "AOE"},
            compilation_config={"tuner": result.kind, "phase": phase, **(tuned or {})},
            metrics=metrics or {},
            scope=scope,
            source="aoe",
            phase=phase,
            op_name=op_name,
            op_type=op_type,
        )
        for phase, value in phases
    ]


def _to_ms(value: Decimal, unit: str) -> float:
    return float(value / 1000 if unit == "us" else value)


def plain_number(value: Decimal | None) -> float | int | None:
    """A number of AOE as JSON has it; null where it is none that a float64 holds."""
    if value is None or not value.is_finite() or abs(value) >= LARGEST:
        return None
    return int(value) if value == value.to_integral_value() else float(value)
