"""Rows of the advice and of the plan that are stored with a run."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.model.classes import record
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.rows import column, row


@row
class StoredAdviceRow:
    """A piece of advice, ours or msprof's own, which has no bound."""

    position: int | None = column("#", "integer")
    rule: str | None = column("Rule")
    source: str | None = column()
    rank_id: int | None = column()
    device_id: int | None = column()
    devices: int | None = column()
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    input_shapes: str | None = column()
    count: int | None = column("Tasks", "integer", detail=True)
    total_us: float | None = column("Total", "us", detail=True)
    share: float | None = column("Share", "percent", detail=True)
    bound_by: str | None = column()
    evidence: str | None = column()
    bound_us: float | None = column("Bound, per step", "us")
    bound_share: float | None = column("Bound, share of the step", "percent")
    advice: str | None = column()


@row
class StoredCandidate:
    """What is worth tuning next."""

    position: int | None = column("#", "integer")
    kind: str | None = column("Kind", "word")
    rank_id: int | None = column()
    device_id: int | None = column()
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    input_shapes: str | None = column()
    count: int | None = column("Tasks", "integer", detail=True)
    total_us: float | None = column("Total", "us", detail=True)
    share: float | None = column("Share of the step", "percent", detail=True)
    bound_by: str | None = column("Bound by", "word")
    bound_saving_us: float | None = column("Bound, per step", "us")
    expected_saving_us: float | None = column("Expected, per step", "us")
    cost_s: float | None = column("Tuning time", "s")
    reason: str | None = column()


@row
class LeftOutRow:
    """What a plan leaves out, by reason."""

    position: int | None = column()
    rule: str | None = column("Rule")
    meaning: str | None = column("Meaning")
    operators: int | None = column()
    total_us: float | None = column("Total", "us", detail=True)


@record
class StoredLinks:
    """The links of one group over one transport, the slowest first."""

    group: str | None
    transport: str
    count: int
    """How many were compared; of very many the slowest are stored."""
    shares: Sequence[tuple[int, int, float]]
    """Source, destination, numbered within the group, and the bandwidth: a share of the median of links with the same work."""


@record
class AdviceSummary:
    """What sums up the advice on a run: how much there is of it, the headline of each device and of the plan."""

    why_not: str | None = None
    found: int = 0
    stated: int = 0
    devices: int = 0
    headlines: Sequence[JsonObject] = ()
    plan: JsonObject | None = None
    notes: Sequence[str] = ()
