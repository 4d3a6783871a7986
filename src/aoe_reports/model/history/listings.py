"""What `store history` lists: a row class a kind of what the store holds."""

from __future__ import annotations

from collections.abc import Mapping

from aoe_reports.model.documents import Json
from aoe_reports.model.rows import column, row


@row
class ListedRun:
    """A run."""

    night: str = column("Night")
    run: str = column("Run")
    kind: str = column("Kind", "word")
    workload: str = column("Workload")
    hardware: str | None = column("Hardware", detail=True)
    status: str | None = column("Status", "word")
    time: str = column()
    timestamp_ns: int = column()
    members: int = column()
    path: str = column("Path")


@row
class ListedRecord:
    """A record, as far as columns of the store hold it."""

    night: str = column("Night")
    run: str = column("Run")
    timestamp_ns: int = column()
    workload: str | None = column("Workload")
    model: str | None = column()
    scope: str | None = column("Scope", "word")
    source: str | None = column()
    phase: str | None = column("Phase", "word", detail=True)
    op_type: str | None = column()
    op_name: str | None = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    hardware: str | None = column()
    engine_version: str | None = column()
    runtime_ms_mean: float | None = column("Mean", "ms")
    runtime_ms_std: float | None = column("Std", "ms")
    count: int | None = column("Count", "integer", detail=True)
    total_ns: int | None = column()
    series_id: str | None = column()


@row
class ListedVerdict:
    """What `verify` said of a step, a type or an operator."""

    night: str = column("Night")
    job: str = column()
    timestamp_ns: int = column()
    workload: str | None = column("Workload")
    hardware: str | None = column()
    rank_id: int | None = column("Rank", "integer")
    scope: str | None = column("Scope", "word")
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    input_shapes: str | None = column("Input shapes", detail=True)
    verdict: str | None = column("Verdict", "state")
    claimed_before_us: float | None = column("Claimed before", "us")
    claimed_after_us: float | None = column("Claimed after", "us")
    measured_before_us: float | None = column("Measured before", "us")
    measured_after_us: float | None = column("Measured after", "us")
    claim: str | None = column("Basis of claim", "word", detail=True)
    claimed_change: float | None = column("Claimed change (after/before - 1)", "gain")
    change: float | None = column("Change (after/before - 1)", "gain")
    ci_low: float | None = column("from", "gain")
    ci_high: float | None = column("to", "gain")
    reason: str | None = column("Remark", "sentence")
    verdict_of_job: str | None = column()
    bank_digest: str | None = column()


@row
class ListedObservation:
    """What a series does that is no change of its level; keys as those of `observations` in `regressions`."""

    kind: str = column("Observation", "word")
    series_id: str = column()
    workload: str = column("Workload")
    scope: str = column()
    op_type: str | None = column()
    op_name: str | None = column()
    metric: str | None = column("Metric", detail=True)
    unit: str | None = column()
    hardware: str | None = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    since: str = column("Since")
    until: str | None = column("Until")
    before: float | None = column()
    after: float | None = column()
    change: float = column("Change", "change")
    scatter_before: float | None = column("Scatter before", "percent")
    scatter_after: float | None = column("Scatter after", "percent")


@row
class ListedAdvice:
    """A row of the advice that is stored with a run; of the first one `summary` sums the others up."""

    night: str = column("Night")
    timestamp_ns: int = column()
    run: str = column("Run")
    workload: str | None = column("Workload")
    state: str = column("Row", "word")
    position: int | None = column("#", "integer")
    rule: str | None = column("Rule")
    source: str | None = column()
    rank_id: int | None = column("Rank", "integer", before="rule")
    device_id: int | None = column()
    devices: int | None = column()
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    input_shapes: str | None = column()
    count: int | None = column("Tasks", "integer", detail=True)
    total_us: float | None = column("Total", "us")
    share: float | None = column()
    bound_by: str | None = column()
    bound_us: float | None = column("Bound, per step", "us")
    bound_share: float | None = column("Bound, share of the step", "percent")
    evidence: str | None = column("Evidence", "sentence")
    advice: str | None = column("Advice", "sentence")
    kind: str | None = column()
    expected_saving_us: float | None = column("Expected, per step", "us", before="evidence")
    bound_saving_us: float | None = column()
    cost_s: float | None = column()
    reason: str | None = column("Plan", "sentence")
    operators: int | None = column("Operators", "integer", before="evidence")
    meaning: str | None = column("Reason for exclusion", "sentence")
    summary: Mapping[str, Json] | None = column()


@row
class ListedChange:
    """What people are shown of a change that was recorded, or of a run that was undone."""

    state: str | None = column("State", "alarm")
    workload: str | None = column("Workload")
    rank_id: int | None = column("Rank", "integer")
    since: str | None = column("Since")
    before: float | None = column("Before", "ms")
    after: float | None = column("After", "ms")
    change: float | None = column("Change", "change")
    found: str | None = column("Recorded", detail=True)
    withdrawn: str | None = column("Withdrawn", detail=True)
    incident: str | None = column("Incident")
    subject: str | None = column("About")


@row
class ListedWord:
    """What people are shown of what somebody said of changes and runs."""

    when: str | None = column("When")
    state: str | None = column("State", "state")
    subject: str | None = column("About")
    since: str | None = column("From")
    until: str | None = column("Until")
    low: float | None = column("from", "change")
    high: float | None = column("to", "change")
    run: str | None = column("Run")
    who: str | None = column("Author")
    reason: str | None = column("Reason", "sentence")
    id: str | None = column("Id")
