"""The memory of one device, computed from its recordings: peaks of each component, and who holds the largest of them.

A peak is taken apart exactly: what is alive of the recorded allocations, what was held since before the recording, and what neither explains.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from aoe_reports.topics.memory.other_growth import growth_beside

MEASURES = ("allocated", "reserved", "active")
KEPT = ["component", "owner", "kind", "location", "size_bytes", "allocated_ns", "released_ns", "reusable_ns"]
"""The columns of allocations that are needed once their sums have been compared."""
PROFILER_SOURCES = ("operator_memory", "memory_record", "npu_mem", "npu_module_mem")
"""Files of one profiler, which complete each other; any other source has its own allocations and samples."""
_MAX_INT32 = 2**31 - 1
_BEFORE_AND_AFTER = -(2**63), 2**63 - 1
_AT_ONCE = 1 << 20
"""So many samples are looked at at a time."""
_COMMUNICATION = frozenset({"HCCL", "HCCP"})
"""Components whose memory holds what is sent and received."""
_MOMENTS = (("allocation", "allocated_ns"), ("release", "released_ns"))
_GE = "GE"
_OTHER_POOLS = f"+{_GE}"
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
        until = self.at(measure, time)
        return int(self.known(measure)[1][0]) if until is None else until

    def at(self, measure: str, time: int) -> int | None:
        """The last value until that time."""
        times, values = self.known(measure)
        place = int(np.searchsorted(times, time, side="right")) - 1
        return int(values[place]) if place >= 0 else None

    def known(self, measure: str) -> tuple[Ints, Ints]:
        """(times, values) of those that have a value."""
        values, known = self.measures[measure]
        return (self.times, values) if known.all() else (self.times[known], values[known])


def _highest(times: Ints, values: Ints, known: Mask, steps: StepTimes) -> Level:
    place = int(np.argmax(values if known.all() else np.where(known, values, _BEFORE_AND_AFTER[0])))
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
        first, last = _BEFORE_AND_AFTER
        ends = np.minimum(_or_else(frame["released_ns"], last), _or_else(frame["reusable_ns"], last))
        begins = _or_else(frame["allocated_ns"], first)
        return cls(frame, _or_else(frame["size_bytes"], 0), begins, ends, ends)

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
        counted: Ints = np.zeros(len(times), dtype=np.int64)
        _add_until(counted, self.begins, self.sizes, times)
        np.negative(counted, out=counted)
        _add_until(counted, self.counted_until, self.sizes, times)
        return np.negative(counted, out=counted)

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
        of_ge = coded_in(codes(self.frame["component"]), {_GE})
        if not of_ge.any():
            return self
        sizes, begins, ends = self.sizes[of_ge], self.begins[of_ge], self.ends[of_ge]
        frame = self.frame.filter(keep_where(of_ge))
        at_once = Allocations(frame, sizes, begins, ends, ends)
        late = replace(at_once, counted_until=_next_times(begins, ends))
        if late.misfit() >= at_once.misfit():
            return self
        until = self.ends.copy()
        until[of_ge] = late.counted_until
        return replace(self, counted_until=until)

    def misfit(self) -> int:
        """How much of the changes of the sums that stand beside them is not explained."""
        return sum(
            balance_of(sums, self, 0).unexplained_changes
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


def _add_until(to: Ints, times: Ints, sizes: Ints, wanted: Ints) -> None:
    """Add the sum of the sizes until each wanted time, the time itself included."""
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, sizes = times[order], sizes[order]
    sums = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=sums[1:])
    for start in range(0, len(wanted), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        to[some] += sums[np.searchsorted(times, wanted[some], side="right")]


@dataclass(frozen=True, slots=True)
class Balance:
    """How far the recorded sum of a pool is explained, and what was held since before the recording at one time.

    That only falls, as older memory is released, and is never below 0; a recorded sum that rises without an allocation is not explained.
    """

    held_before: int
    unexplained_changes: int
    """Sum of all changes, up and down, of what is not explained."""
    changes: int
    """The same of the recorded sum."""

    @property
    def explained(self) -> float:
        """The share of all changes of the recorded sum that is explained."""
        if not self.changes:
            return float(not self.unexplained_changes)
        return max(0.0, 1 - self.unexplained_changes / self.changes)


def balance_of(samples: Samples, allocations: Allocations, at_ns: int) -> Balance:
    """The recorded sums of a pool, the last of each time, against its allocations; block by block, as there may be many."""
    times, recorded = samples.known("allocated")
    last = np.append(times[1:] != times[:-1], True)[: len(times)]
    if not last.all():
        times, recorded = times[last], recorded[last]
    alive = allocations.counted_at(times)
    asked = int(np.searchsorted(times, at_ns, side="right")) - 1
    held_before, least, before = 0, _BEFORE_AND_AFTER[1], 0
    changes = unexplained_changes = 0
    for start in range(0, len(times), _AT_ONCE):
        sums = recorded[start : start + _AT_ONCE]
        beyond = sums - alive[start : start + _AT_ONCE]
        lowest = np.minimum(np.minimum.accumulate(beyond), least)
        held = np.maximum(lowest, 0)
        unexplained = beyond - held
        first = start - 1 if start else 0
        changes += exact_sum(np.abs(np.diff(recorded[first : start + _AT_ONCE])))
        unexplained_changes += exact_sum(np.abs(np.diff(unexplained)))
        unexplained_changes += abs(int(unexplained[0]) - before) if start else 0
        if start <= asked < start + len(held):
            held_before = int(held[asked - start])
        least, before = int(lowest[-1]), int(unexplained[-1])
    return Balance(held_before, unexplained_changes, changes)


Disagreement = tuple[str, tuple[str, int], tuple[str, int]]
"""(component, (source, its peak), (another source, its peak))."""


@dataclass(frozen=True, slots=True)
class DevicePeak:
    """The samples of one device whose peak is taken apart, that peak, and the allocations that explain it: all that is needed of recordings."""

    rank_id: int | None
    device_id: int | None
    unusable_bytes: int | None
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
            every,
            pool,
            level,
            allocations_of(recordings, pool) if pool.measure == "allocated" else Allocations.none(),
            tuple(_disagreements(recordings, every)),
        )

    def within(self, span: StepSpan) -> DevicePeak | None:
        """The highest peak within a step; None where nothing is recorded then."""
        level = self.pool.within(span).highest(self.pool.measure, StepTimes(()))
        return None if level is None else replace(self, level=level)

    @property
    def at_ns(self) -> int:
        """When it is."""
        return self.level.at_ns

    @property
    def allocated_ns(self) -> Ints:
        """When what is alive at the peak was allocated, each time once, as far as that was recorded."""
        times = distinct(self.allocations.begins[self.allocations.alive_at(self.at_ns)])
        return times[times > _BEFORE_AND_AFTER[0]]

    def memory(
        self, steps: StepTimes, running: Sequence[str] = (), modules: Mapping[int, str] = MappingProxyType({})
    ) -> DeviceMemory:
        """The memory of the device; `modules` says in which module the program was at some times of allocation."""
        pool, every = self.pool, self.every
        peak = replace(self.level, step=steps.at(self.at_ns))
        owners: tuple[Owner, ...] = ()
        explained = 0.0
        if pool.measure == "allocated":
            balance = balance_of(pool, self.allocations, self.at_ns)
            owners = owners_at(peak, balance.held_before, self.allocations, modules)
            explained = balance.explained
        process = next((one for one in every if one.scope == "process" and one.has("reserved")), None)
        events, samples = self.allocations.frame, pool.frame()
        spans = [one.bounds for one in steps.spans]
        short_lived = ShortLived(events, spans)
        growth = growth_of(events, samples, spans, pool.component)
        return DeviceMemory(
            rank_id=self.rank_id,
            device_id=self.device_id,
            pools=tuple(_pool(samples, steps) for samples in every),
            peak_pool=pool.component,
            peak=peak,
            running=tuple(running),
            owners=owners,
            reserved_at_peak=pool.at("reserved", self.at_ns),
            active_at_peak=pool.at("active", self.at_ns),
            unusable_bytes=self.unusable_bytes,
            explained=explained,
            growth=(*growth.rows, *growth_beside(pool, growth.rows, every, spans)),
            growth_not_judged=growth.not_judged,
            churn=short_lived.churn(),
            repeated=short_lived.repeated(),
            fragmentation=fragmentation_of(_one_allocator(every, pool).frame(), self.unusable_bytes),
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
    owners = _grouped(allocations, alive, modules)
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
    return (
        samples.measure == "allocated",
        samples.component.endswith(_OTHER_POOLS),
        samples.component not in {_GE, "WORKSPACE"},
        _peak(samples, samples.measure),
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
        frame = _of_components(frame, {pool.component})
    allocations = Allocations.of(frame).where_it_fits()
    return replace(allocations, frame=frame.select(KEPT))


def _of_components(events: pa.Table, components: Collection[str]) -> pa.Table:
    """The allocations of some components; a copy only where there are others."""
    chosen = coded_in(codes(events["component"]), components)
    return events if chosen.all() else events.filter(keep_where(chosen))


def _family(source: str) -> str:
    return "profiler" if source in PROFILER_SOURCES else source


def samples_of(recordings: Sequence[MemoryRecording]) -> list[Samples]:
    """The samples of each source and component; sums that stand beside allocations where nothing else samples that component."""
    every: list[Samples] = []
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        frames = [one.samples for one in mine if one.samples.num_rows]
        if frames:
            every += _by_component(source, pa.concat_tables(frames))
    known = {(_family(one.source), one.component) for one in every if one.has("allocated")}
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        events = [one.events for one in mine if one.events.num_rows]
        if events:
            frame = pa.concat_tables(events)
            others = {one for one in codes(frame["component"])[1] if (_family(source), one) not in known}
            every += _by_component(source, sums_beside(_of_components(frame, others))) if others else []
    return every


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
        for when, time in _MOMENTS
    ]
    return pa.concat_tables(parts)


def _by_component(source: str, frame: pa.Table) -> list[Samples]:
    """The samples of each component in the order of time; one measure is looked at after another, as each may be large."""
    (component, components), (scope, scopes) = codes(frame["component"]), codes(frame["scope"])
    times, usable = integers(frame["sampled_ns"])
    usable &= np.logical_or.reduce([valid(frame[f"{what}_bytes"]) for what in MEASURES])
    chosen: dict[int, Ints | slice] = {}
    samples: list[Samples] = []
    for number, places in places_by(component):
        rows = places[usable[places]]
        if number and len(rows):
            inside = _word(scopes, int(scope[rows[0]])) or "allocator"
            mine = _in_order(rows, times)
            chosen[len(samples)] = mine
            samples.append(Samples(source, inside, components[number - 1], times[mine], {}))
    del times, usable
    for what in MEASURES:
        values, known = integers(frame[f"{what}_bytes"])
        for place, mine in chosen.items():
            samples[place].measures[what] = _shared(samples[place].measures, values[mine], known[mine])
    return samples


def _shared(measures: Mapping[str, tuple[Ints, Mask]], values: Ints, known: Mask) -> tuple[Ints, Mask]:
    """Values of a measure, in the memory of another one that is the same: active is allocated where one stream is used."""
    for other in measures.values():
        if np.array_equal(other[0], values) and np.array_equal(other[1], known):
            return other
    return values, known


def _in_order(rows: Ints, times: Ints) -> Ints | slice:
    """Some rows in the order of their times; a slice, of which nothing is copied, where these are all and in order."""
    mine = times[rows]
    if (mine[1:] < mine[:-1]).any():
        rows = rows[np.argsort(mine, kind="stable")]
        return rows if len(times) > _MAX_INT32 else rows.astype(np.int32)
    return slice(None) if len(rows) == len(times) else rows


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


def _peak(samples: Samples, measure: str) -> int:
    return int(samples.known(measure)[1].max())


def _disagreements(recordings: Sequence[MemoryRecording], every: Sequence[Samples]) -> Iterator[Disagreement]:
    """The process is sampled by both of its sources at the same times; sums beside allocations are some of the samples of memory_record."""
    processes = [one for one in every if one.scope == "process" and one.source in PROFILER_SOURCES]
    for one, other in pairwise(processes):
        peaks = _peak(one, "reserved"), _peak(other, "reserved")
        if peaks[0] != peaks[1]:
            yield one.component, (one.source, peaks[0]), (other.source, peaks[1])
    events = [one.events for one in recordings if one.source == "operator_memory" and one.events.num_rows]
    for samples in every:
        if samples.source == "memory_record" and samples.has("allocated"):
            sampled = _peak(samples, "allocated")
            beside = max((_highest_beside(one, samples) for one in events), default=sampled)
            if beside > sampled:
                yield samples.component, ("operator_memory", beside), (samples.source, sampled)


def _highest_beside(events: pa.Table, samples: Samples) -> int:
    """The highest sum beside allocations of a component while it was sampled; 0 where there is none."""
    mine = coded_in(codes(events["component"]), {samples.component})
    highest = 0
    for when, time in _MOMENTS:
        (times, timed), (sums, known) = integers(events[time]), integers(events[f"{when}_allocated_bytes"])
        inside = mine & timed & known & (times >= samples.times[0]) & (times <= samples.times[-1])
        highest = max(highest, int(sums[inside].max(initial=0)))
    return highest
