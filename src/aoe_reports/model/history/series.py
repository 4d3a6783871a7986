"""Series of the store as rows: a value a night, and the changes that the detector sees."""

from __future__ import annotations

from aoe_reports.model.rows import column, row


@row
class SeriesNight:
    """What one series measured in one night, in `unit`; of a night with several runs the lower median, and the newest run."""

    series_id: str = column("Series", detail=True)
    workload: str = column("Workload")
    scope: str = column("Scope")
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    metric: str | None = column("Metric", detail=True)
    unit: str | None = column("Unit")
    better: str | None = column()
    hardware: str = column("Hardware", detail=True)
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    night: str = column("Night")
    run_id: str | None = column("Run", detail=True)
    value: float = column("Value", "number")


@row
class NightChange:
    """A change of a series, `before` and `after` in its unit; `change` is `after / before - 1` with its 95 % interval.

    `until` is the last night of the level, of a drift that of the slope. A suspicion is no proof.
    """

    series_id: str = column("Series", detail=True)
    state: str = column("State", "alarm")
    since: str = column("Since")
    until: str = column("Until")
    since_run: str | None = column()
    before: float = column("Before", "number")
    after: float = column("After", "number")
    change: float = column("Change", "change")
    ci_low: float = column("from", "change", detail=True)
    ci_high: float = column("to", "change", detail=True)
