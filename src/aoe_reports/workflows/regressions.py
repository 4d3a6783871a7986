"""What got slower or faster in the stored nights, under a budget of false alarms; steps divided over their operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from aoe_reports.findings import Finding
from aoe_reports.regression.budget import FALSE_ALARMS_PER_YEAR, WATCHED_NIGHTS
from aoe_reports.regression.gate import Gate
from aoe_reports.regression.series import FACTS, judge_histories, put_together
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import ROWS
from aoe_reports.workflows.attribution import attribute, tuned_operators
from aoe_reports.workflows.coded import read_coded

FailOn = Literal["confirmed", "suspect", "never"]
Row = dict[str, Any]

_COLUMNS = (
    "series_id",
    "night",
    "run_id",
    "timestamp_ns",
    "runtime_ms_mean",
    "count",
    "total_ns",
    "workload_args",
    "metrics",
    *FACTS,
)
_ROW = (
    "series_id", "workload", "scope", "op_type", "op_name", "metric", "hardware", "rank_id", "device_id", "state", "since_run",
    "since", "before", "after", "change", "ci_low", "ci_high", "smallest_detectable", "nights", "left_out", "reason",
)  # fmt: skip
_STATES = ("confirmed", "drift", "suspect", "recovered", "improved")
_SCOPES = ("step", "model", "op_type", "op", "communication", "subgraph")


@dataclass(frozen=True, slots=True)
class RegressionSelection:
    """What is shown (None for all), how many false alarms a year are bearable, and what fails."""

    workload: str | None = None
    scope: str | None = None
    false_alarms_per_year: float = FALSE_ALARMS_PER_YEAR
    gates: tuple[Gate, ...] = (Gate(),)
    fail_on: FailOn = "confirmed"
    every: bool = False
    whole_history: bool = False
    """Every change since the first night, looked at once, instead of what the watch says now; fails on nothing."""


@dataclass(frozen=True, slots=True)
class Regressions:
    """The rows, how the budget was shared, what was found on the way, and why the exit code is not 0."""

    rows: list[Row]
    budget: Row
    findings: list[Finding]
    reasons: list[str]


def find_regressions(store: str, selection: RegressionSelection) -> Regressions:
    """Every series of the store that changed; `every` also those that did not, and those that cannot be judged.

    `before` and `after` are milliseconds, `change` is `after / before - 1` (above 0 is slower). All series of the store share
    the budget, whatever is shown of them.
    """
    within = None if selection.whole_history else WATCHED_NIGHTS
    history = History.open(store)
    records, tuned = _records(history, within), tuned_operators(history)
    judged = judge_histories(put_together(records), selection.false_alarms_per_year, within=within)
    rows, reasons = [], set()
    for index, change, told in judged.told():
        row: Row = {name: told[name] for name in _ROW}
        if not _is_shown(told, selection):
            continue
        if (
            change is not None
            and told["scope"] == "step"
            and told["state"] in {"confirmed", "drift", "recovered", "improved"}
        ):
            row["attribution"] = attribute(records, judged, index, change, tuned)
        else:
            row["attribution"] = None
        why = _why(told, selection)
        row["fails"] = next(iter(why), None)
        rows.append(row)
        reasons |= why
    rows.sort(key=_place_in_history if selection.whole_history else _place)
    findings = []
    if not judged.eligible:
        message = (
            f"no series has enough nights to be judged ({judged.parameters.least_nights}); "
            f"{len(judged.verdicts)} series are stored"
        )
        findings.append(Finding("warning", "not-enough-data", store, message))
        reasons.add("not-enough-data")
    budget = {
        "false_alarms_per_year": judged.false_alarms_per_year,
        "series": len(judged.verdicts),
        "eligible": judged.eligible,
        "detector": judged.version,
        "whole_history": selection.whole_history,
    }
    return Regressions(rows, budget, findings, [name for name in _REASONS if name in reasons])


_REASONS = ("regression", "suspect", "not-enough-data")


def _records(history: History, within: int | None) -> pl.DataFrame:
    """Records of the last `within` nights (None: all); AOE's own measurements and cut-off captures are no nights."""
    nights = sorted(set(history.rows("run", ["night"])["night"].to_pylist()))
    where: Where = [equals("source", "aoe", "!=")]
    if within is not None and len(nights) > within:
        where = [*where, equals("night", nights[-within], ">=")]
    incomplete = history.rows("run", ["run_id"], [equals("status", "incomplete")])["run_id"].to_pylist()
    columns = [name for name in _COLUMNS if name in ROWS.names]
    return read_coded(history, columns, where).filter(~pl.col("run_id").is_in(incomplete))


def _is_shown(told: Mapping[str, Any], selection: RegressionSelection) -> bool:
    if selection.workload not in {None, told["model"], told["workload"]} or selection.scope not in {
        None,
        told["scope"],
    }:
        return False
    return selection.every or told["state"] is not None


def _why(told: Mapping[str, Any], selection: RegressionSelection) -> set[str]:
    """Why a series makes the exit code other than 0: it is slower, and passes a gate."""
    slower = told["change"] is not None and told["change"] > 0 and any(gate.holds(told) for gate in selection.gates)
    if not slower or selection.fail_on == "never" or selection.whole_history:
        return set()
    if told["state"] in {"confirmed", "drift"}:
        return {"regression"}
    return {"suspect"} if told["state"] == "suspect" and selection.fail_on == "suspect" else set()


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Steps before what they are made of, the largest change first."""
    state = _STATES.index(row["state"]) if row["state"] in _STATES else len(_STATES)
    scope = _SCOPES.index(row["scope"]) if row["scope"] in _SCOPES else len(_SCOPES)
    return state, scope, -abs(row["change"] or 0.0), row["workload"], row["series_id"]


def _place_in_history(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Steps before what they are made of, each series in the order of nights."""
    scope = _SCOPES.index(row["scope"]) if row["scope"] in _SCOPES else len(_SCOPES)
    return scope, row["workload"], row["series_id"], row["since"] or ""
