"""The memory of one device, computed from its recordings: peaks of each component, and who holds the largest of them.

A peak is taken apart exactly: what is alive of the recorded allocations, what was held since before the recording, and what neither explains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast, get_args

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import (
    Ints,
    codes,
    distinct,
    distinct_rows,
    exact_sum,
    exact_sums_by,
    integers,
)
from aoe_reports.model.topics.memory import (
    MEASURES,
    DeviceMemory,
    Kind,
    Level,
    MemoryRecording,
    Owner,
    PoolMemory,
)
from aoe_reports.topics.memory.balance import BEFORE_AND_AFTER, Allocations, allocations_of, balance_of
from aoe_reports.topics.memory.churn import churn_of
from aoe_reports.topics.memory.disagreements import Disagreement, disagreements_between
from aoe_reports.topics.memory.fragmentation import fragmentation_of
from aoe_reports.topics.memory.growth import growth_of, steps_within
from aoe_reports.topics.memory.other_growth import growth_beside
from aoe_reports.topics.memory.samples import (
    OTHER_POOLS,
    Samples,
    StepSpan,
    StepTimes,
    one_allocator,
    pool_to_explain,
    samples_of,
    word_of,
)

_APP = "APP"
_COMMUNICATION = frozenset({"HCCL", "HCCP"})
"""Components whose memory holds what is sent and received."""


@dataclass(frozen=True, slots=True)
class DevicePeak:
    """The samples of one device whose peak is taken apart, that peak, and the allocations that explain it: all that is needed of recordings."""

    rank_id: int | None
    device_id: int | None
    unusable_bytes: int | None
    has_history: bool
    marked: StepTimes
    """The steps that its recordings themselves mark."""
    every: Sequence[Samples]
    pool: Samples
    level: Level
    allocations: Allocations
    disagreements: tuple[Disagreement, ...]
    """Where two sources of one profiler contradict each other."""

    @classmethod
    def of(cls, recordings: Sequence[MemoryRecording]) -> DevicePeak | None:
        """The highest peak; None where nothing is recorded."""
        every = samples_of(recordings)
        if not every:
            return None
        pool = pool_to_explain(every)
        level = pool.highest(pool.measure, StepTimes(()))
        assert level is not None
        unusable = [one.unusable_bytes for one in recordings if one.unusable_bytes is not None]
        return cls(
            recordings[0].rank_id,
            recordings[0].device_id,
            max(unusable, default=None),
            all(one.has_history for one in recordings),
            StepTimes({StepSpan(*step) for one in recordings for step in one.steps}),
            every,
            pool,
            level,
            allocations_of(recordings, pool) if pool.measure == "allocated" else Allocations.none(),
            tuple(disagreements_between(recordings, every)),
        )

    def within(self, span: StepSpan) -> DevicePeak | None:
        """The highest peak within a step; None where nothing is recorded then."""
        level = self.pool.within(span).highest(self.pool.measure, StepTimes(()))
        return None if level is None else replace(self, level=level)

    def known_steps(self, steps: StepTimes) -> StepTimes:
        """Steps that are known otherwise, else those that its recordings mark."""
        return steps if steps.spans else self.marked

    @property
    def at_ns(self) -> int:
        """When it is."""
        return self.level.at_ns

    @property
    def allocated_ns(self) -> Ints:
        """When what is alive at the peak was allocated, each time once, as far as that was recorded."""
        times = distinct(integers(self.allocations.alive_at(self.at_ns)["begin_ns"])[0])
        return times[times > BEFORE_AND_AFTER[0]]

    def memory(
        self, steps: StepTimes, running: Sequence[str] = (), modules: Mapping[int, str] = MappingProxyType({})
    ) -> DeviceMemory:
        """The memory of the device; `modules` says in which module the program was at some times of allocation."""
        pool, every, steps = self.pool, self.every, self.known_steps(steps)
        pools = [_pool(samples, steps) for samples in every]
        peak = replace(self.level, step=steps.at(self.at_ns))
        owners: tuple[Owner, ...] = ()
        explained = 0.0
        if pool.measure == "allocated":
            balance = balance_of(pool, self.allocations, self.at_ns)
            owners = owners_at(peak, balance.held_before, self.allocations, modules)
            explained = balance.explained
        process = next((one for one in every if one.scope == "process" and one.has("reserved")), None)
        spans = steps_within([one.bounds for one in steps.spans], pool.first_ns, pool.last_ns)
        churn, repeated = churn_of(self.allocations.frame, spans)
        growth = growth_of(self.allocations.frame, pool.rows, spans, pool.component)
        return DeviceMemory(
            rank_id=self.rank_id,
            device_id=self.device_id,
            pools=tuple(pools),
            pool=next(one for one, samples in zip(pools, every, strict=True) if samples is pool),
            measure=pool.measure,
            peak=peak,
            running=tuple(running),
            owners=owners,
            reserved_at_peak=pool.at("reserved", self.at_ns),
            active_at_peak=pool.at("active", self.at_ns),
            unusable_bytes=self.unusable_bytes,
            explained=explained,
            growth=(*growth.rows, *growth_beside(pool, growth.rows, every, spans)),
            growth_not_judged=growth.not_judged if self.has_history else "no history",
            churn=churn,
            repeated=repeated,
            fragmentation=fragmentation_of(one_allocator(every, pool).rows, self.unusable_bytes),
            process=None if process is None else process.highest("reserved", steps),
            process_parts=() if process is None else parts_of_process(process, every, steps),
        )


def device_memory(recordings: Sequence[MemoryRecording], steps: StepTimes) -> DeviceMemory | None:
    """The memory of one device, by its recordings alone; None where nothing is recorded of it."""
    peak = DevicePeak.of(recordings)
    return None if peak is None else peak.memory(steps)


def owners_at(peak: Level, before: int, allocations: Allocations, modules: Mapping[int, str]) -> tuple[Owner, ...]:
    """Who holds a peak, the largest first; their sizes add up to it exactly. `before` is what was held since before the recording."""
    alive = allocations.alive_at(peak.at_ns)
    owners = _grouped(alive, modules)
    late = allocations.counted_late(peak.at_ns)
    rest = peak.size_bytes - exact_sum(integers(alive["size_bytes"])[0]) - before - sum(late.values())
    if before:
        owners.append(_not_allocated(None, before, since_before=True))
    owners.sort(key=lambda owner: (-owner.size_bytes, owner.name or "", owner.module or "", owner.kind or ""))
    owners += [_not_allocated(component, size, since_before=False) for component, size in late.items()]
    return (*owners, _not_allocated(None, rest, since_before=False)) if rest else tuple(owners)


def parts_of_process(process: Samples, every: Sequence[Samples], steps: StepTimes) -> tuple[Owner, ...]:
    """What components held when the process held most, the largest first, and what none of them holds; its own allocators where no component is what the program took.

    Recordings that do not overlap in time are of something else.
    """
    peak = process.highest("reserved", steps)
    beside = [one for one in every if one.has("reserved") and one.overlaps(process)]
    parts = [one for one in beside if one.scope == "component"]
    if not any(one.component == _APP for one in parts):  # which contains what allocators reserve
        names = {one.component for one in parts}
        parts += [
            one
            for one in beside
            if one.scope == "allocator" and one.component not in names and not one.component.endswith(OTHER_POOLS)
        ]
    if peak is None or not parts:
        return ()
    held = [(one.component, one.nearest("reserved", peak.at_ns)) for one in parts]
    owners = [
        Owner(
            name=component,
            kind="communication" if component in _COMMUNICATION else None,
            module=None,
            size_bytes=size,
            allocations=0,
            largest_bytes=0,
        )
        for component, size in held
        if size
    ]
    owners.sort(key=lambda owner: (-owner.size_bytes, owner.name or ""))
    rest = peak.size_bytes - sum(size for _, size in held)
    return (*owners, _not_allocated(None, rest, since_before=False)) if rest else tuple(owners)


def _not_allocated(name: str | None, size: int, *, since_before: bool) -> Owner:
    """What no recorded allocation holds: since before the recording, counted late by a component, or not explained at all."""
    return Owner(
        name=name,
        kind=None,
        module=None,
        size_bytes=size,
        allocations=0,
        largest_bytes=0,
        since_before=since_before,
        unexplained=not since_before,
    )


def _grouped(alive: pa.Table, modules: Mapping[int, str]) -> list[Owner]:
    """Allocations by owner, kind and place: the stack that allocated them, else the module in which the program was then."""
    frame = alive.select(["owner", "kind", "location"])
    sizes, begins = (integers(alive[name])[0] for name in ("size_bytes", "begin_ns"))
    (owner, names), (kind, kinds), (location, locations) = (codes(frame[name]) for name in frame.column_names)
    every = [*locations, *sorted(set(modules.values()))]
    place_of = {word: number for number, word in enumerate(every, start=1)}
    if modules:
        known = np.array([place_of[module] if (module := modules.get(time)) else 0 for time in begins.tolist()])
        location = np.where(location > 0, location, known)
    before = (begins == BEFORE_AND_AFTER[0]).astype(np.int64)
    keys, group = distinct_rows(owner.astype(np.int64), kind.astype(np.int64), location.astype(np.int64), before)
    count = len(keys[0])
    sums, counts = exact_sums_by(group, sizes, count), np.bincount(group, minlength=count)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, group, sizes)
    return [
        Owner(
            name=word_of(names, keys[0][number]),
            kind=_kind(word_of(kinds, keys[1][number])),
            module=word_of(every, keys[2][number]),
            size_bytes=int(sums[number]),
            allocations=int(counts[number]),
            largest_bytes=int(largest[number]),
            since_before=bool(keys[3][number]),
        )
        for number in range(count)
    ]


def _kind(word: str | None) -> Kind | None:
    return cast("Kind", word) if word in get_args(Kind) else None


def _pool(samples: Samples, steps: StepTimes) -> PoolMemory:
    return PoolMemory(
        scope=samples.scope,  # type: ignore[arg-type]
        component=samples.component,
        source=samples.source,
        **{what: samples.highest(what, steps) for what in MEASURES},
        first_ns=samples.first_ns,
        last_ns=samples.last_ns,
        samples=len(samples),
    )
