"""What was recorded of the memory of one device over time, by source and component; and when its steps were."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import (
    Ints,
    Mask,
    coded_in,
    codes,
    column_of,
    integers,
    keep_where,
    places_by,
    valid,
)
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import MEASURES, Level, Measure, MemoryRecording

PROFILER_SOURCES = ("operator_memory", "memory_record", "npu_mem", "npu_module_mem")
"""Files of one profiler, which complete each other; any other source has its own allocations and samples."""
_MAX_INT32 = 2**31 - 1
MOMENTS = (("allocation", "allocated_ns"), ("release", "released_ns"))
GE = "GE"
OTHER_POOLS = f"+{GE}"
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
    """The steps of a device in order; each contains its begin and not its end.

    Spans of one number that overlap are one step, as of several devices; where a step overlaps the next one, it ends as that begins. Steps within
    others are of no use: there are none then.
    """

    def __init__(self, spans: Iterable[StepSpan]) -> None:
        self.spans = _apart(spans)
        self._starts = [span.start_ns for span in self.spans]

    def of(self, number: int) -> StepSpan | None:
        """A step by its number."""
        return next((span for span in self.spans if span.number == number), None)

    def at(self, time: int) -> int | None:
        """The number of the step at that time."""
        place = bisect_right(self._starts, time) - 1
        return self.spans[place].number if place >= 0 and time < self.spans[place].end_ns else None


def _apart(spans: Iterable[StepSpan]) -> list[StepSpan]:
    """Spans that do not overlap."""
    apart: list[StepSpan] = []
    for span in sorted(spans, key=lambda span: (span.start_ns, span.end_ns)):
        last = apart[-1] if apart else None
        if last is not None and span.start_ns < last.end_ns:
            if span.number == last.number:
                apart[-1] = replace(last, end_ns=max(last.end_ns, span.end_ns))
                continue
            if span.start_ns == last.start_ns or span.end_ns < last.end_ns:
                return []
            apart[-1] = replace(last, end_ns=span.start_ns)
        apart.append(span)
    return apart


@dataclass(frozen=True, slots=True)
class Samples:
    """What one source recorded of one component, in the order of time; a measure is masked where it has no value."""

    source: str
    scope: str
    component: str
    times: Ints
    measures: dict[str, tuple[Ints, Mask]]

    @property
    def measure(self) -> Measure:
        """What a peak of it is a peak of."""
        return next(measure for measure in MEASURES if self.has(measure))

    def frame(self) -> pa.Table:
        """Times and measures, called as in `memory_sample`."""
        columns = {f"{measure}_bytes": column_of(*column) for measure, column in self.measures.items()}
        columns["sampled_ns"] = column_of(self.times, np.ones(len(self.times), dtype=bool))
        return pa.table(columns)

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
        """(times, values) where there is a value."""
        values, known = self.measures[measure]
        return (self.times, values) if known.all() else (self.times[known], values[known])


def _highest(times: Ints, values: Ints, known: Mask, steps: StepTimes) -> Level:
    place = int(np.argmax(values if known.all() else np.where(known, values, -(2**63))))
    time = int(times[place])
    return Level(size_bytes=int(values[place]), at_ns=time, step=steps.at(time))


def samples_of(recordings: Sequence[MemoryRecording]) -> list[Samples]:
    """The samples of each source and component; sums that stand beside allocations where nothing else samples that component."""
    every: list[Samples] = []
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        frames = [one.samples for one in mine if one.samples.num_rows]
        if frames:
            every += by_component(source, pa.concat_tables(frames))
    known = {(family_of(one.source), one.component) for one in every if one.has("allocated")}
    for source, mine in lists_by_key((one.source, one) for one in recordings).items():
        events = [one.events for one in mine if one.events.num_rows]
        if events:
            frame = pa.concat_tables(events)
            others = {one for one in codes(frame["component"])[1] if (family_of(source), one) not in known}
            every += by_component(source, sums_beside(of_components(frame, others))) if others else []
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
        for when, time in MOMENTS
    ]
    return pa.concat_tables(parts)


def by_component(source: str, frame: pa.Table) -> list[Samples]:
    """The samples of each component in the order of time; one measure is looked at after another, as each may be large."""
    (component, components), (scope, scopes) = codes(frame["component"]), codes(frame["scope"])
    times, usable = integers(frame["sampled_ns"])
    usable &= np.logical_or.reduce([valid(frame[f"{what}_bytes"]) for what in MEASURES])
    chosen: dict[int, Ints | slice] = {}
    samples: list[Samples] = []
    for number, places in places_by(component):
        rows = places if usable.all() else places[usable[places]]
        if number and len(rows):
            inside = word_of(scopes, int(scope[rows[0]])) or "allocator"
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
    """Some rows in the order of their times; a slice, which copies nothing, where these are all and in order."""
    every = len(rows) == len(times)
    mine = times if every else times[rows]
    if (mine[1:] < mine[:-1]).any():
        order = np.argsort(mine, kind="stable")
        rows = order if every else rows[order]
        return rows if len(times) > _MAX_INT32 else rows.astype(np.int32)
    return slice(None) if every else rows


def pool_to_explain(every: Sequence[Samples]) -> Samples:
    """The samples whose peak is taken apart: allocated memory of all allocators, else of the framework's, else of the largest; else what is reserved."""
    return max(every, key=_importance)


def _importance(samples: Samples) -> tuple[bool, bool, bool, bool, bool, int]:
    return (
        samples.measure == "allocated",
        samples.scope != "device",  # which other processes use, too
        not samples.source.endswith("_snapshot"),  # where no allocation stands
        samples.component.endswith(OTHER_POOLS),
        samples.component not in {GE, "WORKSPACE"},
        peak_of(samples, samples.measure),
    )


def one_allocator(every: Sequence[Samples], pool: Samples) -> Samples:
    """A single allocator of a pool, that with most memory: what is free in one cannot be used by another."""
    family = [
        one
        for one in every
        if family_of(one.source) == family_of(pool.source)
        and one.scope == "allocator"
        and not one.component.endswith(OTHER_POOLS)
        and one.has("reserved")
    ]
    return max(family, key=lambda one: peak_of(one, "reserved"), default=pool)


def of_components(events: pa.Table, components: Collection[str]) -> pa.Table:
    """The allocations of some components; a copy only where there are others."""
    chosen = coded_in(codes(events["component"]), components)
    return events if chosen.all() else events.filter(keep_where(chosen))


def family_of(source: str) -> str:
    return "profiler" if source in PROFILER_SOURCES else source


def peak_of(samples: Samples, measure: str) -> int:
    return int(samples.known(measure)[1].max())


def word_of(words: Sequence[str], number: int) -> str | None:
    """The word of a code, which counts from 1; 0 is none."""
    return words[number - 1] if number else None
