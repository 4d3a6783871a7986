"""What is known of the memory of a device, as several rooms use it: questions, advice, records, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from aoe_reports.model.classes import record

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.model.findings import Finding

Kind = Literal["weight", "gradient", "optimizer", "activation", "kv_cache", "communication", "workspace"]
Scope = Literal["allocator", "component", "process", "device"]
Measure = Literal["allocated", "reserved", "active"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""A peak is one of the first of these that is recorded."""
Growing = Literal["leak", "grows", "filling cache", "warm-up"]
NotJudged = Literal["no history", "no steps", "few steps", "no levels"]
"""Why growth could not be judged: one state is all that is known, no step is known, too few are recorded, or nothing says how much was allocated or
reserved in them."""


@record
class FailedAllocation:
    """An allocation that failed, as the device had no memory left for it, and what was so then."""

    size_bytes: int | None
    reserved_bytes: int | None = None
    allocated_bytes: int | None = None
    free_bytes: int | None = None
    """What was left on the device."""


@record
class MemoryRecording:
    """What one file says of the memory of one device. Frames have the columns of `memory_event` and `memory_sample`.

    Columns that the source cannot fill are null. capture_id, rank_id, device_id, process_id and source_id are left out: they are the same in all rows.
    """

    rank_id: int | None
    device_id: int | None
    process: int | None = None
    """The process whose memory it is, where a source separates processes: each has a pool of its own."""
    source: str
    """Kind of file: operator_memory, snapshot, msmemscope, …"""
    path: str = ""
    events: pa.Table
    samples: pa.Table
    unusable_bytes: int | None = None
    """Reserved at the end of the recording, in blocks that hold nothing and that cannot be returned: only a snapshot says it."""
    has_clock: bool = True
    """False: the source has the order of what happened, and no time; its times are numbers of events, not ns."""
    has_history: bool = True
    """False: it is one state, and not what happened before: a snapshot without a history."""
    graphs: pa.Table | None = None
    """What a plan of the memory of graphs of static shapes holds, with the columns of static_op_mem."""
    steps: tuple[tuple[int, int, int], ...] = ()
    """Number, begin and end (ns, on its clock) of the steps that the source itself marks."""
    failed: tuple[FailedAllocation, ...] = ()
    findings: tuple[Finding, ...] = ()


@record
class Statement:
    """What a log says of memory in one line, such as the size of a KV cache."""

    rank_id: int | None
    name: str
    """Such as kv_cache_bytes, kv_cache_tokens, weights_bytes, peak_activation_bytes."""
    value: float
    path: str
    line: int


@record
class Owner:
    """Who holds part of a peak. Owners of one peak add up to it, byte for byte."""

    name: str | None
    """None: held since before the recording began, or unexplained; of an unexplained one the component that counts what it has released."""
    kind: Kind | None
    module: str | None
    size_bytes: int
    allocations: int
    largest_bytes: int
    since_before: bool = False
    unexplained: bool = False
    """The difference between the recorded sum and all that is known; may be negative."""


@record
class Level:
    """The highest value of one measure."""

    size_bytes: int
    at_ns: int
    step: int | None


@record
class PoolMemory:
    """Memory of one component of one device over the recording."""

    scope: Scope
    component: str
    source: str
    allocated: Level | None
    reserved: Level | None
    active: Level | None
    first_ns: int
    last_ns: int
    samples: int


@record
class Growth:
    """What grows from step to step."""

    component: str
    """Of the pool that grows, or that the owner allocates in."""
    owner: str | None
    """None: all of the pool."""
    meaning: Growing
    measure: Measure = "allocated"
    total_bytes: int
    """From the first of its steps to the last."""
    bytes_per_step: float
    low: float
    high: float
    """95% interval of it; warm-up has no pace, and its total alone is worth saying."""
    first_step: int
    last_step: int


@record
class Churn:
    """What one owner allocates and releases within a step; owners with the most bytes come first."""

    owner: str
    allocations: int
    bytes_per_step: float
    largest_bytes: int
    median_ns: float
    """Median of how long they are held."""


@record
class Repeated:
    """Allocations of one owner that have the same size in every step and are released within it: one buffer could serve all steps."""

    owner: str
    size_bytes: int
    per_step: int
    """Allocations in each step, at least."""
    at_once: int
    """Most of them that are held at a time: so many buffers are needed."""
    steps: int


@record
class AllocationCalls:
    """Calls of the host that take memory from the device, or give it back."""

    name: str
    calls: int
    total_ns: int


@record
class Fragmentation:
    """What is reserved and not in use."""

    reserved_bytes: int
    """The most that was reserved."""
    at_ns: int
    used_bytes: int
    """In use then: active where that is recorded, else allocated."""
    excess_bytes: int
    """By how much the most that was reserved exceeds the most that was in use: packing without gaps would save no more."""
    reserved_by_fragmentation_bytes: int
    """Reserved although as much as was requested was free, in blocks too small (external fragmentation) or of another stream."""
    fragmentation_rises: int
    """How many times that happened."""
    unusable_bytes: int | None
    """In blocks that hold nothing and cannot be returned, where the source says it."""


@record
class DeviceMemory:
    """The memory of one device of a run."""

    rank_id: int | None
    device_id: int | None
    process_id: int | None = None
    """The process whose memory it is, where a source separates processes."""
    pools: tuple[PoolMemory, ...]
    pool: PoolMemory
    """The one of these whose peak is taken apart."""
    measure: Measure
    """What it is the peak of: allocated memory, where that is recorded."""
    peak: Level
    """The highest value of that measure, and when."""
    running: tuple[str, ...]
    """What the host ran then, outermost first."""
    owners: tuple[Owner, ...]
    reserved_at_peak: int | None
    active_at_peak: int | None
    unusable_bytes: int | None
    explained: float
    """Share of changes of the recorded sum that allocations and releases explain."""
    growth: tuple[Growth, ...]
    growth_not_judged: NotJudged | None = None
    """None: it was judged, whether anything grows or not."""
    process: Level | None = None
    """The most that the process held on the device, and when."""
    process_parts: tuple[Owner, ...] = ()
    """What components held of that then; they add up to it exactly. Empty where no component was recorded."""
    churn: tuple[Churn, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    fragmentation: Fragmentation | None = None
    allocation_calls: tuple[AllocationCalls, ...] = ()
    """Where a timeline or a database of the host was read."""
