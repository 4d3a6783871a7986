"""Turns the memory of devices into records: the peak, what it consists of, and what grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from aoe_reports.formats.records.payloads import number_in
from aoe_reports.formats.records.record import Record
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.documents import Json
from aoe_reports.model.history.changes import MEMORY
from aoe_reports.model.history.metrics import (
    BYTE_UNIT,
    GROWTH,
    GROWTH_UNIT,
    MEDIAN_PEAK,
    PEAK_ALLOCATED,
    PEAK_PROCESS,
    PEAK_RESERVED,
    component_of,
    peak_of_component,
)
from aoe_reports.model.topics.memory import DeviceMemory, Owner
from aoe_reports.topics.memory.other_growth import PROGRAM
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_profile import NS_PER_MS

MAX_OWNERS: Final = 30
"""Owners of a peak that a record names, the largest; the others are one sum."""
OWNERS: Final = "peak_owners"
"""The metric of a record that lists them: no number, so it is no series."""
PARTS: Final = "process_parts"
"""The metric that lists what components held at the peak of the process."""
HOLDERS: Final[Mapping[str, str]] = {PEAK_ALLOCATED: OWNERS, PEAK_PROCESS: PARTS}
"""Which metric lists who holds a peak."""
MIN_COMPONENT_BYTES: Final = 64 << 20
MAX_COMPONENTS: Final = 8
"""Components of CANN that reserve so many bytes at least have series, the largest of them."""
PEAK_POOL: Final = "peak_pool"
"""The metric that names the component whose peak it is."""
GROWTH_RANK: Final = "growth_rank"
"""The metric that names the rank with the largest growth, in a record of all ranks."""
PROCESS_RANK: Final = "process_rank"
"""The metric that names the rank whose process holds most; its components are those of that rank."""


def records_from_memory(context: RunContext, memory: Iterable[DeviceMemory]) -> Iterator[Record]:
    """A record for each device; its run time is the time in which memory was recorded. None where only all processes together are recorded.

    Of several processes on a device, which have other numbers each night, that with the largest peak counts.
    """
    for device in _largest_of_each(one for one in memory if one.pool.scope != "device"):
        pool = device.pool
        total_ns = pool.last_ns - pool.first_ns
        yield Record(
            **context.fields(),
            workload=f"{context.model}/{MEMORY}",
            workload_metadata={"class": MEMORY},
            runtime_ms_mean=total_ns / NS_PER_MS,
            runtime_ms_std=None,
            metadata=context.metadata,
            metrics=_metrics(device),
            scope=MEMORY,
            source=context.source,
            rank_id=device.rank_id,
            device_id=device.device_id,
            count=1,
            total_ns=total_ns,
        )


def _largest_of_each(memory: Iterable[DeviceMemory]) -> Iterator[DeviceMemory]:
    for mine in lists_by_key(((one.rank_id, one.device_id), one) for one in memory).values():
        yield max(mine, key=lambda one: one.peak.size_bytes)


def _metrics(device: DeviceMemory) -> dict[str, Json]:
    """What is recorded of the component whose peak is taken apart; growth of what is allocated, where it could be judged."""
    pool = device.pool
    metrics: dict[str, Json] = {}
    if pool.allocated is not None:
        metrics[PEAK_ALLOCATED] = _number(pool.allocated.size_bytes)
        if device.growth_not_judged is None:
            metrics[GROWTH] = _number(growth_of(device), GROWTH_UNIT)
    if pool.reserved is not None:
        metrics[PEAK_RESERVED] = _number(pool.reserved.size_bytes)
    return {**metrics, PEAK_POOL: pool.component, OWNERS: _owners(device.owners), **_of_process(device)}


def _of_process(device: DeviceMemory) -> dict[str, Json]:
    """What is recorded of the process and of the largest components, beside an allocator."""
    if device.pool.scope != "allocator":
        return {}
    metrics: dict[str, Json] = {}
    if device.process is not None:
        parts = [replace(one, kind=None) for one in device.process_parts]  # a component says what it is for
        metrics |= {PEAK_PROCESS: _number(device.process.size_bytes), PARTS: _owners(parts)}
    sizes: dict[str, int] = {}
    for pool in device.pools:
        metric = peak_of_component(pool.component) if pool.scope == "component" and pool.component != PROGRAM else None
        if metric is not None and pool.reserved is not None and pool.reserved.size_bytes >= MIN_COMPONENT_BYTES:
            sizes[metric] = max(sizes.get(metric, 0), pool.reserved.size_bytes)
    largest = sorted(sizes, key=lambda metric: (-sizes[metric], metric))[:MAX_COMPONENTS]
    return {**metrics, **{metric: _number(sizes[metric]) for metric in largest}}


def growth_of(device: DeviceMemory) -> float:
    """Bytes a step by which all that is allocated grows for good, as a leak or a cache that fills; 0 where it does not."""
    whole = [
        one
        for one in device.growth
        if one.owner is None and one.component == device.pool.component and one.measure == "allocated"
    ]
    return max((one.bytes_per_step for one in whole if one.meaning != "warm-up"), default=0.0)


def _number(value: float, unit: str = BYTE_UNIT) -> Json:
    return {"value": value, "unit": unit, "better": "lower"}


def _owners(owners: Sequence[Owner]) -> list[Json]:
    """The largest owners, and the sum of the others: together the peak, byte for byte."""
    ordered = sorted(owners, key=lambda one: (-abs(one.size_bytes), one.name or "", one.kind or "", one.module or ""))
    named: list[Json] = [_owner(one) for one in ordered[:MAX_OWNERS]]
    if others := ordered[MAX_OWNERS:]:
        named.append({"others": len(others), "bytes": sum(one.size_bytes for one in others)})
    return named


def _owner(owner: Owner) -> dict[str, Json]:
    known: Mapping[str, Json] = {
        "name": owner.name,
        "kind": owner.kind,
        "module": owner.module,
        "since_before": owner.since_before or None,
        "unexplained": owner.unexplained or None,
    }
    return {**{name: value for name, value in known.items() if value is not None}, "bytes": owner.size_bytes}


def of_all_ranks(records: Sequence[Record]) -> Record:
    """The record of the rank with the largest peak, with the number of ranks, the median of their peaks, and the largest growth and process of any."""
    peaks = _in_order(records, PEAK_ALLOCATED)
    largest = (peaks or _in_order(records, PEAK_RESERVED) or list(records))[-1]
    spread: dict[str, Json] = {"ranks": len(records), "largest_rank": largest.rank_id}
    if peaks:
        spread[MEDIAN_PEAK] = peaks[(len(peaks) - 1) // 2].metrics[PEAK_ALLOCATED]
    if growing := _in_order(records, GROWTH):
        spread |= {GROWTH: growing[-1].metrics[GROWTH], GROWTH_RANK: growing[-1].rank_id}
    metrics = largest.metrics
    if processes := _in_order(records, PEAK_PROCESS):
        metrics = {name: value for name, value in metrics.items() if not _is_of_process(name)}
        spread |= {name: value for name, value in processes[-1].metrics.items() if _is_of_process(name)}
        spread[PROCESS_RANK] = processes[-1].rank_id
    return replace(largest, rank_id=None, device_id=None, metrics={**metrics, **spread})


def _is_of_process(metric: str) -> bool:
    return metric in {PEAK_PROCESS, PARTS} or component_of(metric) is not None


def _in_order(records: Sequence[Record], metric: str) -> list[Record]:
    """Those that have a metric, the largest last; of equal ones that of the lowest rank."""
    having = [record for record in records if metric in record.metrics]
    return sorted(having, key=lambda one: (_value(one, metric), -(one.rank_id or 0)))


def _value(record: Record, metric: str) -> float:
    stated = record.metrics[metric]
    value = number_in(stated, "value") if isinstance(stated, dict) else None
    return value or 0
