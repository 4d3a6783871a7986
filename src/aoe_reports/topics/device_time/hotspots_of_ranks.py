"""The hotspots of a run of many ranks: one row an operator for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rank_spread import RankSpread, spread_of
from aoe_reports.model.rows import column, row

if TYPE_CHECKING:
    from aoe_reports.topics.device_time.hotspots import Hotspot


@row
class HotspotOfRanks:
    """One group of tasks on the ranks of a run that have it among their longest; tasks and share are medians of these ranks."""

    position: int = column("#", "integer")
    op_type: str | None = column("Operator type")
    task_type: str | None = column("Core", detail=True)
    op_name: str | None = column("Operator")
    input_shapes: str | None = column("Input shapes")
    location: str | None = column("Launched in")
    count: float = column("Tasks", "integer")
    spread: RankSpread = column()
    share: float | None = column("Share", "percent")


def key_of(one: Hotspot) -> tuple[str | None, ...]:
    """What a group is of."""
    return (one.op_type, one.task_type, one.op_name, one.input_shapes, one.location)


def hotspots_of_ranks(rows: Sequence[Hotspot], top: int) -> list[HotspotOfRanks]:
    """The groups of a run, that with the most time on all ranks first."""
    groups = lists_by_key((key_of(one), one) for one in rows)
    ordered = sorted(groups.values(), key=lambda group: -sum(one.total_ns for one in group))
    return [_of_group(position, group) for position, group in enumerate(ordered[:top], start=1)]


def _of_group(position: int, group: Sequence[Hotspot]) -> HotspotOfRanks:
    first, shares = group[0], [one.share for one in group if one.share is not None]
    return HotspotOfRanks(
        position=position,
        op_type=first.op_type,
        task_type=first.task_type,
        op_name=first.op_name,
        input_shapes=first.input_shapes,
        location=first.location,
        count=round(median(one.count for one in group)),
        spread=spread_of({one.rank_id: one.total_ns for one in group if one.rank_id is not None}),
        share=median(shares) if shares else None,
    )
