"""The classes of the rows of `memory`, and how sentences call the devices that they are of."""

from __future__ import annotations

from aoe_reports.model.rows import US, column, row
from aoe_reports.model.texts import N_, Text, join, say

SCOPES = N_({"allocator": "allocator", "component": "component", "process": "process", "device": "device"})
MEANINGS = N_({"leak": "leak", "grows": "grows", "filling cache": "filling cache", "warm-up": "warm-up"})
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
class OfDevice:
    """What a row is of: one process on one device of a run."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer", detail=True)
    process_id: int | None = column("Process", "integer")
    """Where the source separates processes."""


@row
class ActionRow(OfDevice):
    """What is usually done about something that was seen; the table has the largest."""

    topic: str = column()
    """As programs know it."""
    seen: str = column("What is seen", "sentence")
    size_bytes: int = column("Size", "size")
    done: str = column("What is usually done", "sentence")


@row
class OwnerRow(OfDevice):
    """Who holds part of the peak of a device; the rows of a device add up to its peak, byte for byte."""

    position: int = column("#", "integer", before="run")
    owner: str = column("Owner")
    is_rest: bool = column()
    """Whether it is several owners in one row."""
    kind: str | None = column()
    used_for: str | None = column("Used for", "word")
    """The kind in words."""
    module: str | None = column("Where")
    size_bytes: int = column("Size", "size")
    share: float | None = column("Share", "percent")
    """Null where allocations and the recorded sum contradict each other."""
    allocations: int = column("Allocations", "integer")
    largest_bytes: int = column("Largest", "size", detail=True)
    since_before: bool = column()
    unexplained: bool = column()


@row
class DeviceRow(OfDevice):
    """The memory of one device: the peak that is broken down, and the state at that time."""

    component: str = column("Component")
    peak_bytes: int = column("Peak", "size")
    peak_ns: int = column()
    after_ns: int | None = column("After first sample", unit=US)
    step: int | None = column("Step", "integer")
    steps_of: str | None = column()
    reserved_bytes: int | None = column("Reserved at peak", "size")
    active_bytes: int | None = column("Active at peak", "size", detail=True)
    """Null where it is recorded of some of the allocators only."""
    highest_reserved_bytes: int | None = column("Peak reserved", "size")
    unusable_bytes: int | None = column("Unusable", "size")
    excess_bytes: int | None = column("Reserved, never used", "size", detail=True)
    """The most that was reserved less the most that was in use: packing without gaps would save no more."""
    reserved_by_fragmentation_bytes: int | None = column()
    """Reserved although as much was free, in blocks too small (external fragmentation) or of another stream."""
    before_bytes: int = column("Allocated before recording", "size")
    unexplained_bytes: int = column()
    adds_up: bool = column()
    """Whether allocations and the recorded sum fit together, so that owners can be named."""
    explained: float | None = column("Changes of allocated explained", "percent", detail=True)
    growth_not_judged: str | None = column()
    """Why nothing can be said of growth, where that is so."""
    process_bytes: int | None = column("Process peak", "size")
    device_bytes: int | None = column("Device peak", "size")
    running: list[str] = column()


@row
class GrowthRow(OfDevice):
    """What grows from step to step on one device; the interval is one of 95%."""

    owner: str = column("What grows")
    is_all: bool = column()
    """Whether it is all of the component and no single owner."""
    meaning: str = column("Meaning", "word")
    measure: str = column("Measure", "word")
    total_bytes: int = column("In all", "size")
    bytes_per_step: float = column("Per step", "size")
    low_bytes: float = column("At least", "size")
    high_bytes: float = column("At most", "size")
    first_step: int = column("From step", "integer")
    last_step: int = column("To step", "integer")


@row
class ChurnRow(OfDevice):
    """What one owner allocates and releases within a step."""

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
class CallRow(OfDevice):
    """A call of the host that takes memory from the device or gives it back."""

    name: str = column("Call")
    calls: int = column("Calls", "integer")
    total_ns: int = column("Total", unit=US)


@row
class PoolRow(OfDevice):
    """The highest values of one component of one device, as one source recorded them."""

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
class ProcessRow(OfDevice):
    """A component that holds part of the process's memory at its peak; the rows of a device add up to that, byte for byte."""

    component: str = column("Component")
    kind: str | None = column()
    used_for: str | None = column("Used for", "word")
    """The kind in words."""
    size_bytes: int = column("Size", "size")
    share: float = column("Share", "percent")
    unexplained: bool = column()


@row
class StaticRow(OfDevice):
    """An operator that holds memory of a graph of static shapes where most of it is held at a time."""

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


def where(one: OfDevice) -> tuple[str, int | None, int | None, int | None]:
    """What a row is of, as a key."""
    return one.run, one.rank_id, one.device_id, one.process_id


def device_words(one: OfDevice) -> Text:
    """A device within a sentence."""
    process = [] if one.process_id is None else [say("process {process}", process=one.process_id)]
    if one.rank_id is not None:
        return join(", ", [say("rank {rank}", rank=one.rank_id), *process])
    if one.device_id is not None:
        return join(", ", [say("device {device}", device=one.device_id), *process])
    return process[0] if process else say("the device")


def device_first(one: OfDevice) -> Text:
    """A device at the begin of a sentence."""
    if one.process_id is not None:
        return say("Process {process}", process=one.process_id)
    if one.rank_id is not None:
        return say("Rank {rank}", rank=one.rank_id)
    if one.device_id is not None:
        return say("Device {device}", device=one.device_id)
    return say("The device")
