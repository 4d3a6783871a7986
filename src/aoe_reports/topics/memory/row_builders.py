"""Builds the rows of `memory` from what was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from aoe_reports.engine.question import Notes, Unit
from aoe_reports.formats.memory_files import statements_of
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, Level, Owner, PoolMemory, Repeated, Statement
from aoe_reports.model.topics.memory_words import MEASURE_WORDS, kind_words, owner_words
from aoe_reports.topics.memory.reading import ReadDevice
from aoe_reports.topics.memory.row_classes import (
    MEANINGS,
    SCOPES,
    STATED,
    CallRow,
    ChurnRow,
    DeviceRow,
    GrowthRow,
    OwnerRow,
    PoolRow,
    ProcessRow,
    StatementRow,
    StaticRow,
)
from aoe_reports.topics.memory.static import GraphMemory
from aoe_reports.topics.memory.words import MUCH_UNEXPLAINED


class DeviceRows:
    """The rows of one device; `place` is what all of them begin with."""

    def __init__(self, run: str, read: ReadDevice, top: int) -> None:
        self._read, self._memory, self._top = read, read.memory, top
        self.place: dict[str, Any] = {
            "run": run,
            "rank_id": self._memory.rank_id,
            "device_id": self._memory.device_id,
            "process_id": read.process,
        }
        """What each row is of."""

    def device(self) -> DeviceRow:
        """Its peak, and what was so then."""
        memory, lost = self._memory, self._memory.fragmentation
        return DeviceRow(
            **self.place,
            component=memory.pool.component,
            peak_bytes=memory.peak.size_bytes,
            peak_ns=memory.peak.at_ns,
            after_ns=memory.peak.at_ns - min(pool.first_ns for pool in memory.pools) if self._read.has_clock else None,
            step=memory.peak.step,
            steps_of=self._read.clock,
            reserved_bytes=memory.reserved_at_peak,
            active_bytes=_of_all_allocators(memory),
            highest_reserved_bytes=None if memory.pool.reserved is None else memory.pool.reserved.size_bytes,
            unusable_bytes=memory.unusable_bytes,
            excess_bytes=None if lost is None else lost.excess_bytes,
            reserved_by_fragmentation_bytes=None if lost is None else lost.reserved_by_fragmentation_bytes,
            before_bytes=sum(owner.size_bytes for owner in memory.owners if owner.since_before),
            unexplained_bytes=sum(owner.size_bytes for owner in memory.owners if owner.unexplained),
            adds_up=_adds_up(memory),
            explained=round(memory.explained, 6) if memory.owners else None,
            growth_not_judged=memory.growth_not_judged,
            process_bytes=_highest(memory.pools, "process"),
            device_bytes=_highest(memory.pools, "device"),
            running=list(memory.running),
        )

    def owners(self) -> Iterator[OwnerRow]:
        """The largest owners, all others in one row, and last the unexplained part."""
        explained = [owner for owner in self._memory.owners if not owner.unexplained]
        named = [owner for owner in explained if owner.name is not None]
        others = named[self._top :] if len(named) > self._top + 1 else []
        rows = [self._owner(owner) for owner in explained if owner not in others]
        if others:
            rows.append(self._others(others))
        rows += [self._owner(owner) for owner in self._memory.owners if owner.unexplained]
        for position, one in enumerate(rows, start=1):
            yield replace(one, position=position)

    def _owner(self, owner: Owner, name: str = "") -> OwnerRow:
        return OwnerRow(
            **self.place,
            position=0,
            owner=name or owner_words(owner, "name"),
            is_rest=bool(name),
            kind=owner.kind,
            used_for=kind_words(owner),
            module=owner.module,
            size_bytes=owner.size_bytes,
            share=share_of(owner.size_bytes, self._memory.peak.size_bytes) if _adds_up(self._memory) else None,
            allocations=owner.allocations,
            largest_bytes=owner.largest_bytes,
            since_before=owner.since_before,
            unexplained=owner.unexplained,
        )

    def _others(self, others: Sequence[Owner]) -> OwnerRow:
        whole = Owner(
            name=None,
            kind=None,
            module=None,
            size_bytes=sum(owner.size_bytes for owner in others),
            allocations=sum(owner.allocations for owner in others),
            largest_bytes=max(owner.largest_bytes for owner in others),
        )
        return self._owner(whole, say("{count:,} others", count=len(others)))

    def growth(self) -> Iterator[GrowthRow]:
        """What grows from step to step."""
        for one in self._memory.growth:
            whole = say("{component} as a whole", component=one.component)
            yield GrowthRow(
                **self.place,
                owner=whole if one.owner is None else one.owner,
                is_all=one.owner is None,
                meaning=say(MEANINGS[one.meaning]),
                measure=say(MEASURE_WORDS[one.measure]),
                total_bytes=one.total_bytes,
                bytes_per_step=round(one.bytes_per_step, 3),
                low_bytes=round(one.low, 3),
                high_bytes=round(one.high, 3),
                first_step=one.first_step,
                last_step=one.last_step,
            )

    def churn(self) -> Iterator[ChurnRow]:
        """What owners allocate and release within a step, the largest first."""
        repeated: dict[str, Repeated] = {}
        for one in self._memory.repeated:
            repeated.setdefault(one.owner, one)
        for churn in self._memory.churn[: self._top]:
            same = repeated.get(churn.owner)
            yield ChurnRow(
                **self.place,
                owner=churn.owner,
                allocations=churn.allocations,
                bytes_per_step=round(churn.bytes_per_step, 3),
                largest_bytes=churn.largest_bytes,
                median_ns=churn.median_ns,
                per_step=None if same is None else same.per_step,
                same_bytes=None if same is None else same.size_bytes,
            )

    def calls(self, *, of_several: bool) -> Iterator[CallRow]:
        """Calls that take memory from the device; of several devices of a capture nothing says which they serve."""
        place = {**self.place, "device_id": None} if of_several else self.place
        for one in self._memory.allocation_calls:
            yield CallRow(**place, name=one.name, calls=one.calls, total_ns=one.total_ns)

    def process(self) -> Iterator[ProcessRow]:
        """What components hold when the process holds most."""
        whole = sum(part.size_bytes for part in self._memory.process_parts)
        for part in self._memory.process_parts:
            yield ProcessRow(
                **self.place,
                component=owner_words(part, "name"),
                kind=part.kind,
                used_for=kind_words(part),
                size_bytes=part.size_bytes,
                share=share_of(part.size_bytes, whole),
                unexplained=part.unexplained,
            )

    def pools(self) -> Iterator[PoolRow]:
        """The highest values of each component that ever held anything: CANN names many that never do."""
        for pool in self._memory.pools:
            levels = (pool.allocated, pool.reserved, pool.active)
            if any(level is not None and level.size_bytes for level in levels):
                yield PoolRow(
                    **self.place,
                    component=pool.component,
                    scope=say(SCOPES[pool.scope]),
                    source=pool.source,
                    samples=pool.samples,
                    **_level("allocated", pool.allocated),
                    **_level("reserved", pool.reserved),
                    **_level("active", pool.active),
                )


def _adds_up(memory: DeviceMemory) -> bool:
    unexplained = sum(owner.size_bytes for owner in memory.owners if owner.unexplained and owner.name is None)
    is_small = abs(unexplained) <= MUCH_UNEXPLAINED * memory.peak.size_bytes
    return bool(memory.owners) and is_small and memory.explained >= 1 - MUCH_UNEXPLAINED


def _of_all_allocators(memory: DeviceMemory) -> int | None:
    """What was active at the peak; GE records none, so a sum with it falls short of what is allocated."""
    active = memory.active_at_peak
    return None if active is None or active < memory.peak.size_bytes else active


def _highest(pools: Sequence[PoolMemory], scope: str) -> int | None:
    return max((pool.reserved.size_bytes for pool in pools if pool.scope == scope and pool.reserved), default=None)


def share_of(size: int, whole: int) -> float:
    """A share, 0 of nothing."""
    return round(size / whole, 6) if whole else 0.0


def _level(name: str, level: Level | None) -> dict[str, Any]:
    if level is None:
        return dict.fromkeys((f"{name}_bytes", f"{name}_ns", f"{name}_step"))
    return {f"{name}_bytes": level.size_bytes, f"{name}_ns": level.at_ns, f"{name}_step": level.step}


def statements_in(unit: Unit, notes: Notes) -> Iterator[StatementRow]:
    """What the logs of a capture state, line by line."""
    for file in unit.capture.files:
        statements: list[Statement] = []
        with notes.where_unreadable(file.path):
            statements = statements_of(file)
        for one in statements:
            is_size = one.name.endswith("_bytes")
            yield StatementRow(
                run=unit.run,
                rank_id=one.rank_id,
                name=one.name,
                what=say(STATED[one.name]),
                size_bytes=int(one.value) if is_size else None,
                number=None if is_size else int(one.value) if one.value.is_integer() else one.value,
                path=one.path,
                line=one.line,
            )


def rows_of_graph(run: str, rank: int | None, device: int | None, graph: GraphMemory, top: int) -> Iterator[StaticRow]:
    """The operators that hold most of a graph, and all others in one row."""
    held = list(graph.held)
    if len(held) > top + 1:
        others = held[top:]
        name = say("{count:,} others", count=len(others))
        rest = replace(others[0], name=name, size_bytes=sum(one.size_bytes for one in others), last_node=None)
        held = [*held[:top], replace(rest, first_node=min(one.first_node for one in others))]
    for one in held:
        yield StaticRow(
            run=run,
            rank_id=rank,
            device_id=device,
            process_id=None,
            model_name=graph.model,
            graph_id=graph.graph,
            peak_bytes=graph.peak_bytes,
            stated_bytes=graph.stated_bytes,
            peak_node=graph.node,
            op_name=one.name,
            size_bytes=one.size_bytes,
            share=share_of(one.size_bytes, graph.peak_bytes),
            first_node=one.first_node,
            last_node=one.last_node,
        )
