"""The memory of devices: how high it peaked, who held the peak, what grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Notes, Question, Request, Unit, only
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import N_, say
from aoe_reports.model.topics.memory_words import MEASURE_WORDS

if TYPE_CHECKING:
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.model.pictures.memory import MemoryPicture
    from aoe_reports.model.topics.memory import (
        AllocationCalls,
        DeviceMemory,
        Growth,
        Level,
        MemoryRecording,
        Owner,
        PoolMemory,
        Repeated,
        Statement,
    )
    from aoe_reports.topics.memory.reading import ReadDevice
    from aoe_reports.topics.memory.static import GraphMemory

SCOPES = N_({"allocator": "allocator", "component": "component", "process": "process", "device": "device"})
MEANINGS = N_({"leak": "leak", "grows": "grows", "filling cache": "filling cache", "warm-up": "warm-up"})
KINDS = N_(
    {
        "weight": "weight",
        "gradient": "gradient",
        "optimizer": "optimizer",
        "activation": "activation",
        "kv_cache": "kv_cache",
        "communication": "communication",
        "workspace": "workspace",
    }
)


@options
class MemoryOptions(CaptureOptions):
    """Which peak is taken apart, and how many of its owners are listed."""

    top: int = option(default=15, minimum=1, help="Number of owners per device; the others are one row.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")


@row
class OwnerRow:
    """Who holds part of the peak of a device; the rows of a device add up to its peak, byte for byte."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    owner: str = column("Held by")
    kind: str | None = column("Kind", "word")
    module: str | None = column("Where")
    size_bytes: int = column("Size", "size")
    share: float = column("Share", "percent")
    allocations: int = column("Allocations", "integer")
    largest_bytes: int = column("Largest", "size", detail=True)
    since_before: bool = column()
    unexplained: bool = column()


@row
class DeviceRow:
    """The memory of one device: the peak that is taken apart, and what was so then."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    component: str = column("Of")
    peak_bytes: int = column("Peak", "size")
    peak_ns: int = column()
    after_ns: int | None = column("After", unit=US)
    """Since the first sample of the recording."""
    step: int | None = column("Step", "integer")
    steps_of: str | None = column()
    reserved_bytes: int | None = column("Reserved then", "size")
    active_bytes: int | None = column("Active then", "size", detail=True)
    unusable_bytes: int | None = column("Unusable", "size")
    excess_bytes: int | None = column("Reserved beyond use", "size", detail=True)
    """The most that was reserved less the most that was in use: packing without gaps would save no more."""
    in_vain_bytes: int | None = column()
    """Reserved while as much was free already, in blocks too small or of another stream."""
    before_bytes: int = column("Since before", "size")
    unexplained_bytes: int = column()
    explained: float | None = column("Changes explained", "percent", detail=True)
    process_bytes: int | None = column("Process, highest", "size")
    device_bytes: int | None = column("Whole device, highest", "size")
    running: list[str] = column()


@row
class GrowthRow:
    """What grows from step to step on one device; the interval is one of 95%."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    owner: str = column("What grows")
    is_all: bool = column()
    """Whether it is all of the component and no single owner."""
    meaning: str = column("Meaning", "word")
    measure: str = column("Measure", "word")
    bytes_per_step: float = column("Per step", "size")
    low_bytes: float = column("At least", "size")
    high_bytes: float = column("At most", "size")
    first_step: int = column("From step", "integer")
    last_step: int = column("To step", "integer")


@row
class ChurnRow:
    """What one owner allocates and releases within a step."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    owner: str = column("Allocated by")
    allocations: int = column("Allocations", "integer")
    bytes_per_step: float = column("Per step", "size")
    largest_bytes: int = column("Largest", "size")
    median_ns: float = column("Held for (median)", unit=US)
    per_step: int | None = column("Same in each step", "integer")
    """Allocations of one size of at least 1 MiB that come in every step: one buffer each could serve all of them."""
    same_bytes: int | None = column("Of size", "size", detail=True)
    """The size that most bytes of them have."""


@row
class CallRow:
    """A call of the host that takes memory from the device or gives it back."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    name: str = column("Call")
    calls: int = column("Calls", "integer")
    total_ns: int = column("Total", unit=US)


@row
class PoolRow:
    """The highest values of one component of one device, as one source recorded them."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    component: str = column("Component")
    scope: str = column("Scope", "word")
    source: str = column("Source", detail=True)
    allocated_bytes: int | None = column("Allocated", "size")
    allocated_ns: int | None = column()
    allocated_step: int | None = column()
    reserved_bytes: int | None = column("Reserved", "size")
    reserved_ns: int | None = column()
    reserved_step: int | None = column()
    active_bytes: int | None = column("Active", "size")
    active_ns: int | None = column()
    active_step: int | None = column()
    samples: int = column("Samples", "integer", detail=True)


@row
class ProcessRow:
    """A component that holds part of the process's memory at its peak; the rows of a device add up to that, byte for byte."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    component: str = column("Component")
    kind: str | None = column("Kind", "word")
    size_bytes: int = column("Size", "size")
    share: float = column("Share", "percent")
    unexplained: bool = column()


@row
class StaticRow:
    """An operator that holds memory of a graph of static shapes where most of it is held at a time."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    model_name: str | None = column("Model")
    graph_id: int | None = column("Graph", "integer")
    peak_bytes: int = column("Peak of the graph", "size")
    stated_bytes: int | None = column("Stated total", "size")
    peak_node: int = column("At node", "integer")
    op_name: str | None = column("Operator")
    size_bytes: int = column("Size", "size")
    share: float = column("Share", "percent")
    first_node: int = column("From node", "integer", detail=True)
    last_node: int | None = column("To node", "integer", detail=True)


STATED = N_(
    {
        "weights_bytes": "weights",
        "kv_cache_bytes": "KV cache",
        "kv_cache_needed_bytes": "KV cache for one request of full length",
        "kv_cache_tokens": "tokens in the KV cache",
        "kv_cache_blocks": "blocks of the KV cache",
        "max_concurrency": "requests of full length at a time",
        "peak_activation_bytes": "peak of activations",
        "non_torch_bytes": "outside of PyTorch",
        "non_kv_cache_bytes": "all but the KV cache",
        "graph_bytes": "captured graphs",
        "requested_bytes": "may be used",
        "device_bytes": "whole device",
        "device_used_bytes": "device, in use",
        "free_bytes": "device, free",
        "failed_allocation_bytes": "allocation that failed",
        "allocated_bytes": "allocated then",
        "active_bytes": "active then",
        "reserved_bytes": "reserved then",
        "unused_bytes": "reserved and unused then",
        "process_bytes": "process then",
    }
)
"""What lines of logs state (`formats/memory_files/log_lines.py`)."""


@row
class StatementRow:
    """What a line of a log states: bytes, or a number of something."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    name: str = column()
    """As programs know it."""
    what: str = column("Stated", "word")
    size_bytes: int | None = column("Size", "size")
    number: float | None = column("Number", "integer")
    path: str = column()
    line: int = column("Line", "integer")


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """What one capture hands on."""

    owners: list[OwnerRow] = field(default_factory=list)
    devices: list[DeviceRow] = field(default_factory=list)
    pools: list[PoolRow] = field(default_factory=list)
    growth: list[GrowthRow] = field(default_factory=list)
    churn: list[ChurnRow] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    process: list[ProcessRow] = field(default_factory=list)
    static: list[StaticRow] = field(default_factory=list)
    statements: list[StatementRow] = field(default_factory=list)
    pictures: list[MemoryPicture] = field(default_factory=list)
    """That of the device with the highest peak."""


class Memory(Question[MemoryOptions, MemoryPart]):
    """Take the peak of device memory apart: who held it, since when, what is reserved beside it, what grows from step to step."""

    example = "memory profile"
    page = "memory"
    title = "Memory"
    options = MemoryOptions
    tables = (
        ("rows", OwnerRow),
        ("devices", DeviceRow),
        ("growth", GrowthRow),
        ("churn", ChurnRow),
        ("calls", CallRow),
        ("process", ProcessRow),
        ("pools", PoolRow),
        ("static", StaticRow),
        ("statements", StatementRow),
    )
    form_help = "Output format; csv has only the owners of the peaks."
    nothing = "no memory of a device is recorded here"
    has_picture = True

    def units(self, files: Discovery, asked: Request[MemoryOptions]) -> Sequence[Unit]:
        """Every capture, and recordings of memory that no profiler made."""
        from aoe_reports.engine.runs import units_of_memory

        runs = super().units(files, asked)
        return [*runs, *units_of_memory(files, len(runs))]

    def map_unit(self, unit: Unit, asked: Request[MemoryOptions]) -> MemoryPart:
        """The memory of each device of a capture."""
        from aoe_reports.topics.memory.disagreements import disagreements_of
        from aoe_reports.topics.memory.picture import picture_of
        from aoe_reports.topics.memory.reading import graphs_of_capture, read_memory
        from aoe_reports.topics.memory.words import findings_of

        capture, chosen = unit.capture, asked.options
        asked.notes.add(capture.findings)
        part = MemoryPart()
        if not capture.of_memory and not capture.info.may_hold(chosen.rank):
            return part

        def is_chosen(one: MemoryRecording) -> bool:
            return chosen.rank in {None, one.rank_id} and chosen.device in {None, one.device_id}

        devices = read_memory(capture, asked.notes, is_chosen, chosen.step).devices
        if devices:
            highest = max(devices, key=lambda read: read.memory.peak.size_bytes)
            part.pictures.append(picture_of(highest))
        for read in devices:
            device = _device(unit.run, read)
            asked.notes.add(findings_of(read))
            part.devices.append(device)
            part.owners.extend(_owners(device, read.memory, chosen.top))
            part.growth.extend(_growth(device, one) for one in read.memory.growth)
            part.churn.extend(_churn(device, read.memory, chosen.top))
            part.calls.extend(_call(device, one) for one in read.memory.allocation_calls)
            part.process.extend(_process(device, read.memory))
            part.pools.extend(_pool(device, pool) for pool in read.memory.pools if _says(pool))
        if capture.of_memory and chosen.device is None and chosen.step is None:
            part.statements.extend(one for one in _statements(unit, asked.notes) if chosen.rank in {None, one.rank_id})
        for number, graph in graphs_of_capture(capture, asked.notes):
            rank = capture.info.rank_of(number)
            if chosen.step is None and chosen.rank in {None, rank} and chosen.device in {None, number}:
                part.static.extend(_static(unit.run, rank, number, graph, chosen.top))
        asked.notes.add(disagreements_of(capture))
        return part

    def finish(self, parts: Sequence[tuple[Unit, MemoryPart]], asked: Request[MemoryOptions]) -> Finished:
        """The devices, who holds their peaks, and every component."""
        from aoe_reports.topics.memory.memory_of_ranks import sections_of
        from aoe_reports.topics.memory.words import headline_of, sentences_of, sentences_of_process

        del asked
        owners = [one for _, part in parts for one in part.owners]
        statements = [one for _, part in parts for one in part.statements]
        devices = [one for _, part in parts for one in part.devices]
        growth = [one for _, part in parts for one in part.growth]
        tables: tuple[Rows[Any], ...] = (
            Rows(
                type=OwnerRow,
                rows=owners,
                title=say("Who holds the peak"),
                sentences=sentences_of(devices),
                of_runs=True,
                place=1,
            ),
            Rows(type=DeviceRow, rows=devices, key="devices", title=say("Highest memory of each device"), of_runs=True),
            Rows(
                type=GrowthRow,
                rows=growth,
                key="growth",
                title=say("What grows from step to step"),
                of_runs=True,
                place=2,
            ),
            Rows(
                type=ProcessRow,
                rows=[one for _, part in parts for one in part.process],
                key="process",
                title=say("What the process holds at its peak"),
                sentences=sentences_of_process(devices),
                of_runs=True,
                place=3,
            ),
            Rows(
                type=ChurnRow,
                rows=[one for _, part in parts for one in part.churn],
                key="churn",
                title=say("Allocated and released within a step"),
                of_runs=True,
                place=4,
            ),
            Rows(
                type=CallRow,
                rows=[one for _, part in parts for one in part.calls],
                key="calls",
                title=say("Calls that take memory from the device"),
                of_runs=True,
                place=5,
            ),
            Rows(
                type=PoolRow,
                rows=[one for _, part in parts for one in part.pools],
                key="pools",
                title=say("Highest values of each component"),
                of_runs=True,
                place=6,
            ),
            Rows(
                type=StaticRow,
                rows=[one for _, part in parts for one in part.static],
                key="static",
                title=say("Graphs of static shapes"),
                of_runs=True,
                place=7,
            ),
            Rows(
                type=StatementRow,
                rows=statements,
                key="statements",
                title=say("What logs state"),
                of_runs=True,
                place=8,
            ),
        )
        pictures = [one for _, part in parts for one in part.pictures]
        return Finished(
            tables=tables,
            sections=sections_of(devices, tables),
            headline=headline_of(devices, owners, growth, statements),
            picture=max(pictures, key=lambda one: one.peak_bytes, default=None),
        )


memory = asking(Memory(), MemoryOptions)
"""What the memory of devices below some paths peaked at, and who held it: `memory([path]).table("devices")`."""


def _statements(unit: Unit, notes: Notes) -> Iterator[StatementRow]:
    """What the logs of a capture state, line by line."""
    from aoe_reports.formats.memory_files import statements_of, states_memory

    for file in filter(states_memory, unit.capture.files):
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


def _device(run: str, read: ReadDevice) -> DeviceRow:
    measured = read.memory
    return DeviceRow(
        run=run,
        rank_id=measured.rank_id,
        device_id=measured.device_id,
        component=measured.pool.component,
        peak_bytes=measured.peak.size_bytes,
        peak_ns=measured.peak.at_ns,
        after_ns=measured.peak.at_ns - min(pool.first_ns for pool in measured.pools) if read.has_clock else None,
        step=measured.peak.step,
        steps_of=read.clock,
        reserved_bytes=measured.reserved_at_peak,
        active_bytes=measured.active_at_peak,
        unusable_bytes=measured.unusable_bytes,
        excess_bytes=None if measured.fragmentation is None else measured.fragmentation.excess_bytes,
        in_vain_bytes=None if measured.fragmentation is None else measured.fragmentation.in_vain_bytes,
        before_bytes=sum(owner.size_bytes for owner in measured.owners if owner.since_before),
        unexplained_bytes=sum(owner.size_bytes for owner in measured.owners if owner.unexplained),
        explained=round(measured.explained, 6) if measured.owners else None,
        process_bytes=_highest(measured.pools, "process"),
        device_bytes=_highest(measured.pools, "device"),
        running=list(measured.running),
    )


def _highest(pools: Sequence[PoolMemory], scope: str) -> int | None:
    return max((pool.reserved.size_bytes for pool in pools if pool.scope == scope and pool.reserved), default=None)


def _owners(device: DeviceRow, measured: DeviceMemory, top: int) -> Iterator[OwnerRow]:
    """The largest owners, all others in one row, and last what is not explained."""
    explained = [owner for owner in measured.owners if not owner.unexplained]
    named = [owner for owner in explained if owner.name is not None]
    others = named[top:] if len(named) > top + 1 else []
    rows = [_owner(device, owner) for owner in explained if owner not in others]
    if others:
        rows.append(_others(device, others))
    rows += [_owner(device, owner) for owner in measured.owners if owner.unexplained]
    for position, one in enumerate(rows, start=1):
        yield replace(one, position=position)


def _others(device: DeviceRow, others: Sequence[Owner]) -> OwnerRow:
    size = sum(owner.size_bytes for owner in others)
    return OwnerRow(
        position=0,
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        owner=say("{count:,} others", count=len(others)),
        kind=None,
        module=None,
        size_bytes=size,
        share=_share_of(size, device.peak_bytes),
        allocations=sum(owner.allocations for owner in others),
        largest_bytes=max(owner.largest_bytes for owner in others),
        since_before=False,
        unexplained=False,
    )


def _owner(device: DeviceRow, owner: Owner) -> OwnerRow:
    from aoe_reports.topics.memory.words import name_of

    return OwnerRow(
        position=0,
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        owner=name_of(owner),
        kind=None if owner.kind is None else say(KINDS[owner.kind]),
        module=owner.module,
        size_bytes=owner.size_bytes,
        share=_share_of(owner.size_bytes, device.peak_bytes),
        allocations=owner.allocations,
        largest_bytes=owner.largest_bytes,
        since_before=owner.since_before,
        unexplained=owner.unexplained,
    )


def _share_of(size: int, whole: int) -> float:
    return round(size / whole, 6) if whole else 0.0


def _growth(device: DeviceRow, growth: Growth) -> GrowthRow:
    return GrowthRow(
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        owner=say("all of {component}", component=growth.component) if growth.owner is None else growth.owner,
        is_all=growth.owner is None,
        meaning=say(MEANINGS[growth.meaning]),
        measure=say(MEASURE_WORDS[growth.measure]),
        bytes_per_step=round(growth.bytes_per_step, 3),
        low_bytes=round(growth.low, 3),
        high_bytes=round(growth.high, 3),
        first_step=growth.first_step,
        last_step=growth.last_step,
    )


def _churn(device: DeviceRow, measured: DeviceMemory, top: int) -> Iterator[ChurnRow]:
    repeated: dict[str, Repeated] = {}
    for one in measured.repeated:
        repeated.setdefault(one.owner, one)
    for churn in measured.churn[:top]:
        same = repeated.get(churn.owner)
        yield ChurnRow(
            run=device.run,
            rank_id=device.rank_id,
            device_id=device.device_id,
            owner=churn.owner,
            allocations=churn.allocations,
            bytes_per_step=round(churn.bytes_per_step, 3),
            largest_bytes=churn.largest_bytes,
            median_ns=churn.median_ns,
            per_step=None if same is None else same.per_step,
            same_bytes=None if same is None else same.size_bytes,
        )


def _call(device: DeviceRow, calls: AllocationCalls) -> CallRow:
    return CallRow(
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        name=calls.name,
        calls=calls.calls,
        total_ns=calls.total_ns,
    )


def _process(device: DeviceRow, measured: DeviceMemory) -> Iterator[ProcessRow]:
    from aoe_reports.topics.memory.words import name_of

    whole = sum(part.size_bytes for part in measured.process_parts)
    for part in measured.process_parts:
        yield ProcessRow(
            run=device.run,
            rank_id=device.rank_id,
            device_id=device.device_id,
            component=name_of(part),
            kind=None if part.kind is None else say(KINDS[part.kind]),
            size_bytes=part.size_bytes,
            share=_share_of(part.size_bytes, whole),
            unexplained=part.unexplained,
        )


def _static(run: str, rank: int | None, device: int | None, graph: GraphMemory, top: int) -> Iterator[StaticRow]:
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
            model_name=graph.model,
            graph_id=graph.graph,
            peak_bytes=graph.peak_bytes,
            stated_bytes=graph.stated_bytes,
            peak_node=graph.node,
            op_name=one.name,
            size_bytes=one.size_bytes,
            share=_share_of(one.size_bytes, graph.peak_bytes),
            first_node=one.first_node,
            last_node=one.last_node,
        )


def _says(pool: PoolMemory) -> bool:
    """Whether a component ever held anything: CANN names many that never do."""
    levels = (pool.allocated, pool.reserved, pool.active)
    return any(level is not None and level.size_bytes for level in levels)


def _pool(device: DeviceRow, pool: PoolMemory) -> PoolRow:
    return PoolRow(
        run=device.run,
        rank_id=device.rank_id,
        device_id=device.device_id,
        component=pool.component,
        scope=say(SCOPES[pool.scope]),
        source=pool.source,
        samples=pool.samples,
        **_level("allocated", pool.allocated),
        **_level("reserved", pool.reserved),
        **_level("active", pool.active),
    )


def _level(name: str, level: Level | None) -> dict[str, int | None]:
    if level is None:
        return dict.fromkeys((f"{name}_bytes", f"{name}_ns", f"{name}_step"))
    return {f"{name}_bytes": level.size_bytes, f"{name}_ns": level.at_ns, f"{name}_step": level.step}
