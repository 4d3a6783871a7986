"""The memory of one device, as it would be computed of recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.model.topics.memory import DeviceMemory, Level, Measure, Owner, PoolMemory, Scope


def an_owner(size: int, name: str | None = "mm", **parts: Any) -> Owner:
    """One that allocated once."""
    plain = Owner(name=name, kind=None, module=None, size_bytes=size, allocations=1, largest_bytes=size)
    return replace(plain, **parts)


def a_device(
    owners: Sequence[Owner] = (),
    rank: int | None = 0,
    *,
    peak: int | None = None,
    measure: Measure = "allocated",
    component: str = "PTA",
    scope: Scope = "allocator",
    **parts: Any,
) -> DeviceMemory:
    """A device whose owners add up to its peak, unless that is given."""
    level = Level(size_bytes=sum(owner.size_bytes for owner in owners) if peak is None else peak, at_ns=0, step=None)
    pool = PoolMemory(
        scope=scope,
        component=component,
        source="memory_record",
        allocated=level if measure == "allocated" else None,
        reserved=level,
        active=None,
        first_ns=0,
        last_ns=2_000_000,
        samples=2,
    )
    plain = DeviceMemory(
        rank_id=rank,
        device_id=rank,
        pools=(pool,),
        pool=pool,
        measure=measure,
        peak=level,
        running=(),
        owners=tuple(owners),
        reserved_at_peak=None,
        active_at_peak=None,
        unusable_bytes=None,
        explained=1.0,
        growth=(),
    )
    return replace(plain, **parts)
