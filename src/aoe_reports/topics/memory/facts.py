"""The memory of one device, computed from its recordings: peaks of each component, and who holds the largest of them.

A peak is taken apart exactly: what is alive of the recorded allocations, what was held since before the recording, and what neither explains.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import cast, get_args

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import event_frame, sample_frame
from aoe_reports.model.arrays.columns import (
    Ints,
    Mask,
    coded_in,
    codes,
    column_of,
    distinct,
    distinct_rows,
    exact_sum,
    exact_sums_by,
    integers,
    keep_where,
    places_by,
    rising,
    valid,
)
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import (
    DeviceMemory,
    Kind,
    Level,
    MemoryRecording,
    Owner,
    PoolMemory,
)
from aoe_reports.topics.memory.churn import ShortLived
from aoe_reports.topics.memory.fragmentation import fragmentation_of
from aoe_reports.topics.memory.growth import growth_of

MEASURES = ("allocated", "reserved", "active")
PROFILER_SOURCES = ("operator_memory", "memory_record", "npu_mem", "npu_module_mem")
"""Files of one profiler, which complete each other; any other source has its own allocations and samples."""
_BEFORE_AND_AFTER = -(2**63), 2**63 - 1
_COMMUNICATION = frozenset({"HCCL", "HCCP"})
"""Components whose memory holds what is sent and received."""
_GE = "GE"
_OTHER_POOLS = "+GE"
"""What the name of a sum over the allocators of a framework and of GE ends with."""


@dataclass(frozen=True, slots=True)
class StepSpan:
    """When a step began and ended, on the clock of allocations."""

    number: int
    start_ns: int
    end_ns: int

    @property
    def bounds(self) -> tuple[int, int, int]:
        """Number, begin and end."""
        return self.number, self.start_ns, self.end_ns


class StepTimes:
    """The steps of a device, in order."""

    def __init__(self, spans: Iterable[StepSpan]) -> None:
        self.spans = sorted(spans, key=lambda span: span.start_ns)
        self._starts = [span.start_ns for span in self.spans]

    def of(self, number: int) -> StepSpan | None:
        """A step by its number."""
        return next((span for span in self.spans if span.number == number), None)

    def at(self, time: int) -> int | None:
        """The number of the step at that time."""
        place = bisect_right(self._starts, time) - 1
        return self.spans[place].number if place >= 0 and time < self.spans[place].end_ns else None


@dataclass(frozen=True, slots=True)
class Samples:
    """What one source recorded of one component, in the order of time; a measure is masked where it has no value."""

    source: str
    scope: str
    component: str
    times: Ints
    measures: dict[str, tuple[Ints, Mask]]

    @property
    def measure(self) -> str:
        """What a peak of it is a peak of."""
        return next(measure for measure in MEASURES if self.has(measure))

    def frame(self) -> pa.Table:
        """Those that have a time, with the columns of `memory_sample`."""
        columns = {f"{measure}_bytes": column_of(*column) for measure, column in self.measures.items()}
        columns["sampled_ns"] = column_of(self.times, np.ones(len(self.times), dtype=bool))
        return sample_frame(columns, len(self.times))

    def has(self, measure: str) -> bool:
        """Whether any value of a measure is recorded."""
        return bool(self.measures[measure][1].any())

    def highest(self, measure: str, steps: StepTimes) -> Level | None:
        """The highest value of a measure, and when it was reached first."""
        return _highest(self.times, *self.measures[measure], steps) if self.has(measure) else None

    def within(self, span: StepSpan) -> Samples:
        """Those of one step."""
        mine = slice(*np.searchsorted(self.times, [span.start_ns, span.end_ns]).tolist())
        measures = {what: (values[mine], known[mine]) for what, (values, known) in self.measures.items()}
        return replace(self, times=self.times[mine], measures=measures)

    def overlaps(self, other: Samples) -> bool:
        """Whether both were recorded at a time."""
        return bool(self.times[0] <= other.times[-1] and other.times[0] <= self.times[-1])

    def nearest(self, measure: str, time: int) -> int:
        """The last value until that time, or the first of all."""
        values, known = self.measures[measure]
        until = self.at(measure, time)
        return int(values[known][0]) if until is None else until

    def at(self, measure: str, time: int) -> int | None:
        """The last value until that time."""
        values, known = self.measures[measure]
        place = int(np.searchsorted(self.times[known], time, side="right")) - 1
        return int(values[known][place]) if place >= 0 else None


def _highest(times: Ints, values: Ints, known: Mask, steps: StepTimes) -> Level:
    place = int(np.argmax(np.where(known, values, _BEFORE_AND_AFTER[0])))
    time = int(times[place])
    return Level(size_bytes=int(values[place]), at_ns=time, step=steps.at(time))


@dataclass(frozen=True, slots=True)
class Allocations:
    """Recorded allocations of one pool: when each began and ended, the first or last time possible where that was not recorded."""

    frame: pa.Table
    sizes: Ints
    begins: Ints
    ends: Ints
    counted_until: Ints
    """When the recorded sum falls: with the release, or late."""

    @classmethod
    def of(cls, frame: pa.Table) -> Allocations:
        """Memory is free for others as soon as it is released or reusable, whichever the source names first."""
        sizes, known = integers(frame["size_bytes"])
        first, last = _BEFORE_AND_AFTER
        begins = _or_else(frame["allocated_ns"], first)
        ends = np.minimum(_or_else(frame["released_ns"], last), _or_else(frame["reusable_ns"], last))
        return cls(frame, np.where(known, sizes, 0), begins, ends, ends)

    @classmethod
    def none(cls) -> Allocations:
        """Where none are recorded."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(event_frame({}, 0), nothing, nothing, nothing, nothing)

    def alive_at(self, time: int) -> Mask:
        """Which are held at that time; what is released then is not."""
        return (self.begins <= time) & (self.ends > time)

    def counted_at(self, times: Ints) -> Ints:
        """How much of them the recorded sum counts at each of these times."""
        counted = _sums_until(self.begins, self.sizes, times)
        counted -= _sums_until(self.counted_until, self.sizes, times)
        return counted

    def counted_late(self, time: int) -> dict[str, int]:
        """How much each component still counts at that time of what it has released."""
        late = (self.ends <= time) & (self.counted_until > time)
        component, components = codes(self.frame["component"])
        return {
            components[number - 1]: exact_sum(self.sizes[late][places])
            for number, places in places_by(component[late])
            if number
        }

    def where_it_fits(self) -> Allocations:
        """The same, with the way to count that fits the sums beside the releases of GE.

        GE of CANN 8 records its sum before each release, and so counts what is released until its next allocation or release.
        """
        of_ge = np.flatnonzero(coded_in(codes(self.frame["component"]), {_GE}))
        mine = self.among(of_ge)
        late = replace(mine, counted_until=_next_times(mine.begins, mine.ends))
        if late.misfit() >= mine.misfit():
            return self
        until = self.counted_until.copy()
        until[of_ge] = late.counted_until
        return replace(self, counted_until=until)

    def among(self, places: Ints | Mask) -> Allocations:
        """Some of them."""
        some = np.zeros(len(self.sizes), dtype=bool)
        some[places] = True
        columns = (self.sizes, self.begins, self.ends, self.counted_until)
        return Allocations(self.frame.filter(keep_where(some)), *(column[some] for column in columns))

    def misfit(self) -> int:
        """How much of the changes of the sums that stand beside them is not explained."""
        return sum(
            exact_sum(np.abs(np.diff(balance_of(sums, self).unexplained)))
            for sums in _by_component("", sums_beside(self.frame))
            if sums.has("allocated")
        )


def _next_times(begins: Ints, ends: Ints) -> Ints:
    """When anything happens next after each end."""
    times = np.append(rising(np.concatenate([begins, ends])), _BEFORE_AND_AFTER[1])
    return times[np.searchsorted(times[:-1], ends, side="right")]


def _or_else(column: pa.ChunkedArray, otherwise: int) -> Ints:
    values, known = integers(column)
    return values if known.all() else np.where(known, values, otherwise)


def _sums_until(times: Ints, sizes: Ints, wanted: Ints) -> Ints:
    """The sum of the sizes until each wanted time, the time itself included."""
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, sizes = times[order], sizes[order]
    sums: Ints = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    return sums[np.searchsorted(times, wanted, side="right")]


@dataclass(frozen=True, slots=True)
class Balance:
    """The recorded sum of a pool at its last sample of each time, and what explains it."""

    times: Ints
    recorded: Ints
    alive: Ints

    @property
    def held_before(self) -> Ints:
        """What must have been held since before the recording: it only falls, as older memory is released, and is never below 0."""
        return np.maximum(np.minimum.accumulate(self.recorded - self.alive), 0)

    @property
    def unexplained(self) -> Ints:
        """What neither the recorded allocations nor older memory explains."""
        return self.recorded - self.alive - self.held_before

    @property
    def explained(self) -> float:
        """The share of all changes of the recorded sum that is explained."""
        changes = exact_sum(np.abs(np.diff(self.recorded)))
        wrong = exact_sum(np.abs(np.diff(self.unexplained)))
        return max(0.0, 1 - wrong / changes) if changes else float(not wrong)


def balance_of(samples: Samples, allocations: Allocations) -> Balance:
    """The recorded sums of a pool against its allocations."""
    (values, known), times = samples.measures["allocated"], samples.times
    if not known.all():
        times, values = times[known], values[known]
    last = np.append(times[1:] != times[:-1], True)[: len(times)]
    if not last.all():
        times, values = times[last], values[last]
    return Balance(times, values, allocations.counted_at(times))


class DevicePeak:
    """The samples of one device whose peak is taken apart, that peak, and the allocations that explain it."""

    def __init__(
        self, recordings: Sequence[MemoryRecording], every: Sequence[Samples], pool: Samples, level: Level
    ) -> None:
        self._recordings, self._every, self._pool, self._level = recordings, every, pool, level
        self._explains = pool.measure == "allocated"
        self._allocations = allocations_of(recordings, pool) if self._explains else Allocations.none()
        self._alive = self._allocations.alive_at(level.at_ns)

    @classmethod
    def of(cls, recordings: Sequence[MemoryRecording], span: StepSpan | None = None) -> DevicePeak | None:
        """The peak of all, or within a step; None where nothing is recorded then."""
        every = samples_of(recordings)
        if not every:
            return None
        pool = pool_to_explain(every)
        level = (pool if span is None else pool.within(span)).highest(pool.measure, StepTimes(()))
        return None if level is None else cls(recordings, every, pool, level)

    @property
    def at_ns(self) -> int:
        """When it is."""
        return self._level.at_ns

    @property
    def allocated_ns(self) -> Ints:
        """When what is alive at the peak was allocated, each time once, as far as that was recorded."""
        times = distinct(self._allocations.begins[self._alive])
        return times[times > _BEFORE_AND_AFTER[0]]

    def memory(
        self, steps: StepTimes, running: Sequence[str] = (), modules: Mapping[int, str] = MappingProxyType({})
    ) -> DeviceMemory:
        """The memory of the device; `modules` says in which module the program was at some times of allocation."""
        pool, every = self._pool, self._every
        peak = replace(self._level, step=steps.at(self.at_ns))
        owners: tuple[Owner, ...] = ()
        explained = 0.0
        if self._explains:
            balance = balance_of(pool, self._allocations)
            owners = owners_at(peak, balance, self._allocations, self._alive, modules)
            explained = balance.explained
        process = next((one for one in every if one.scope == "process" and one.has("reserved")), None)
        unusable = max((one.unusable_bytes for one in self._recordings if one.unusable_bytes is not None), default=None)
        events, samples = self._allocations.frame, pool.frame()
        spans = [one.bounds for one in steps.spans]
        short_lived = ShortLived(events, spans)
        return DeviceMemory(
            rank_id=self._recordings[0].rank_id,
            device_id=self._recordings[0].device_id,
            pools=tuple(_pool(samples, steps) for samples in every),
            peak_pool=pool.component,
            peak=peak,
            running=tuple(running),
            owners=owners,
            reserved_at_peak=pool.at("reserved", self.at_ns),
            active_at_peak=pool.at("active", self.at_ns),
            unusable_bytes=unusable,
            explained=explained,
            growth=growth_of(events, samples, spans),
            churn=short_lived.churn(),
            repeated=short_lived.repeated(),
            fragmentation=fragmentation_of(_one_allocator(every, pool).frame(), unusable),
            process=None if process is None else process.highest("reserved", steps),
            process_parts=() if process is None else parts_of_process(process, every, steps),
        )


def device_memory(recordings: Sequence[MemoryRecording], steps: StepTimes) -> DeviceMemory | None:
    """The memory of one device, by its recordings alone; None where nothing is recorded of it."""
    peak = DevicePeak.of(recordings)
    return None if peak is None else peak.memory(steps)


def owners_at(
    peak: Level, balance: Balance, allocations: Allocations, alive: Mask, modules: Mapping[int, str]
) -> tuple[Owner, ...]:
    """Who holds a peak, the largest first; their sizes add up to it exactly."""
    owners = _grouped(allocations, alive, modules)
    place = int(np.searchsorted(balance.times, peak.at_ns, side="right")) - 1
    before = int(balance.held_before[place])
    late = allocations.counted_late(peak.at_ns)
    rest = peak.size_bytes - exact_sum(allocations.sizes[alive]) - before - sum(late.values())
    if before:
        owners.append(_not_allocated(None, before, since_before=True))
    owners.sort(key=lambda owner: (-owner.size_bytes, owner.name or "", owner.module or "", owner.kind or ""))
    owners += [_not_allocated(component, size, since_before=False) for component, size in late.items()]
    return (*owners, _not_allocated(None, rest, since_before=False)) if rest else tuple(owners)


def parts_of_process(process: Samples, every: Sequence[Samples], steps: StepTimes) -> tuple[Owner, ...]:
    """What components held when the process held most, the largest first, and what none of them holds; its own allocators where no component is recorded.

    Recordings that do not overlap in time are of something else.
    """
    peak = process.highest("reserved", steps)
    beside = [one for one in every if one.has("reserved") and one.overlaps(process)]
    parts = [one for one in beside if one.scope == "component"] or [
        one for one in beside if one.scope == "allocator" and not one.component.endswith(_OTHER_POOLS)
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


def _grouped(allocations: Allocations, alive: Mask, modules: Mapping[int, str]) -> list[Owner]:
    """Allocations by owner, kind and place: the stack that allocated them, else the module in which the program was then."""
    frame = allocations.frame.select(["owner", "kind", "location"]).filter(keep_where(alive))
    sizes, begins = allocations.sizes[alive], allocations.begins[alive]
    (owner, names), (kind, kinds), (location, locations) = (codes(frame[name]) for name in frame.column_names)
    every = [*locations, *sorted(set(modules.values()))]
    place_of = {word: number for number, word in enumerate(every, start=1)}
    if modules:
        known = np.array([place_of[module] if (module := modules.get(time)) else 0 for time in begins.tolist()])
        location = np.where(location > 0, location, known)
    before = (begins == _BEFORE_AND_AFTER[0]).astype(np.int64)
    keys, group = distinct_rows(owner.astype(np.int64), kind.astype(np.int64), location.astype(np.int64), before)
    count = len(keys[0])
    sums, counts = exact_sums_by(group, sizes, count), np.bincount(group, minlength=count)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, group, sizes)
    return [
        Owner(
            name=_word(names, keys[0][number]),
            kind=_kind(_word(kinds, keys[1][number])),
            module=_word(every, keys[2][number]),
            size_bytes=int(sums[number]),
            allocations=int(counts[number]),
            largest_bytes=int(largest[number]),
            since_before=bool(keys[3][number]),
        )
        for number in range(count)
    ]


def _kind(word: str | None) -> Kind | None:
    return cast("Kind", word) if word in get_args(Kind) else None


def _word(words: Sequence[str], number: int) -> str | None:
    return words[number - 1] if number else None


def pool_to_explain(every: Sequence[Samples]) -> Samples:
    """The samples whose peak is taken apart: allocated memory of all allocators, else of the framework's, else of the largest; else what is reserved."""
    return max(every, key=_importance)


def _importance(samples: Samples) -> tuple[bool, bool, bool, int]:
    values, known = samples.measures[samples.measure]
    return (
        samples.measure == "allocated",
        samples.component.endswith(_OTHER_POOLS),
        samples.component not in {_GE, "WORKSPACE"},
        int(values[known].max()),
    )


def _one_allocator(every: Sequence[Samples], pool: Samples) -> Samples:
    """A single allocator of a pool, that with most memory: what is free in one cannot be used by another."""
    family = [
        one
        for one in every
        if _family(one.source) == _family(pool.source)
        and one.scope == "allocator"
        and not one.component.endswith(_OTHER_POOLS)
        and one.has("reserved")
    ]
    return max(family, key=lambda one: _peak(one, "reserved"), default=pool)


def allocations_of(recordings: Sequence[MemoryRecording], pool: Samples) -> Allocations:
    """The recorded allocations of a pool, by the source of its samples."""
    mine = [one.events for one in recordings if _family(one.source) == _family(pool.source) and one.events.num_rows]
    frame = pa.concat_tables(mine) if mine else recordings[0].events.slice(0, 0)
    if not pool.component.endswith(_OTHER_POOLS):
        frame = _where(frame, coded_in(codes(frame["component"]), {pool.component}))
    return Allocations.of(frame).where_it_fits()


def _family(source: str) -> str:
    return "profiler" if source in PROFILER_SOURCES else source


def samples_of(recordings: Sequence[MemoryRecording]) -> list[Samples]:
    """The samples of each source and component; sums that stand beside allocations where nothing else samples that component."""
    found: list[Samples] = []
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        frames = [one.samples for one in mine if one.samples.num_rows]
        if frames:
            found += _by_component(source, pa.concat_tables(frames))
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        known = {one.component for one in found if _family(one.source) == _family(source) and one.has("allocated")}
        events = [
            _where(one.events, ~coded_in(codes(one.events["component"]), known)) for one in mine if one.events.num_rows
        ]
        if events:
            found += _by_component(source, sums_beside(pa.concat_tables(events)))
    return found


def _where(frame: pa.Table, mask: Mask) -> pa.Table:
    """Some rows; the very same frame where that is all of them."""
    return frame if mask.all() else frame.filter(keep_where(mask))


def sums_beside(events: pa.Table) -> pa.Table:
    """The recorded sums that stand beside allocations and releases, as samples."""
    parts = [
        pa.table(
            {
                "scope": pa.nulls(events.num_rows, pa.string()).dictionary_encode(),
                "component": events["component"],
                "sampled_ns": events[time],
                **{f"{what}_bytes": events[f"{when}_{what}_bytes"] for what in MEASURES},
            }
        )
        for when, time in (("allocation", "allocated_ns"), ("release", "released_ns"))
    ]
    return pa.concat_tables(parts)


def _by_component(source: str, frame: pa.Table) -> list[Samples]:
    (component, components), (scope, scopes) = codes(frame["component"]), codes(frame["scope"])
    times, timed = integers(frame["sampled_ns"])
    recorded = np.logical_or.reduce([valid(frame[f"{what}_bytes"]) for what in MEASURES])
    found = []
    for number, places in places_by(component):
        rows = places[(timed & recorded)[places]]
        if not number or not len(rows):
            continue
        rows = rows[np.argsort(times[rows], kind="stable")]
        measures = {what: _taken(frame[f"{what}_bytes"], rows) for what in MEASURES}
        inside = _word(scopes, int(scope[rows[0]])) or "allocator"
        found.append(Samples(source, inside, components[number - 1], times[rows], measures))
    return found


def _taken(column: pa.ChunkedArray, rows: Ints) -> tuple[Ints, Mask]:
    """Some values of a column: one column after another, as there may be millions."""
    values, known = integers(column)
    return values[rows], known[rows]


def _pool(samples: Samples, steps: StepTimes) -> PoolMemory:
    return PoolMemory(
        scope=samples.scope,  # type: ignore[arg-type]
        component=samples.component,
        source=samples.source,
        **{what: samples.highest(what, steps) for what in MEASURES},
        first_ns=int(samples.times[0]),
        last_ns=int(samples.times[-1]),
        samples=len(samples.times),
    )


def missing_of(events: pa.Table, name: str) -> tuple[int, int]:
    """(how many allocations have no such time, how many bytes they are)."""
    missing = ~integers(events[name])[1]
    return int(missing.sum()), exact_sum(integers(events["size_bytes"])[0][missing])


def disagreeing(recordings: Sequence[MemoryRecording]) -> Iterator[tuple[str, tuple[str, int], tuple[str, int]]]:
    """(component, (source, its peak), (another source, its peak)) where two sources of one profiler contradict each other.

    The process is sampled by both of its sources at the same times; sums beside allocations are some of the samples of memory_record.
    """
    every = samples_of(recordings)
    processes = [one for one in every if one.scope == "process" and one.source in PROFILER_SOURCES]
    for one, other in pairwise(processes):
        peaks = _peak(one, "reserved"), _peak(other, "reserved")
        if peaks[0] != peaks[1]:
            yield one.component, (one.source, peaks[0]), (other.source, peaks[1])
    sampled = {one.component: one for one in every if one.source == "memory_record" and one.has("allocated")}
    for events in (one.events for one in recordings if one.source == "operator_memory" and one.events.num_rows):
        for sums in _by_component("operator_memory", sums_beside(events)):
            samples = sampled.get(sums.component)
            if samples is None or not sums.has("allocated") or not sums.overlaps(samples):
                continue
            beside, of_samples = _peak(sums, "allocated"), _peak(samples, "allocated")
            if beside > of_samples:
                yield sums.component, (sums.source, beside), (samples.source, of_samples)


def _peak(samples: Samples, measure: str) -> int:
    values, known = samples.measures[measure]
    return int(values[known].max())
