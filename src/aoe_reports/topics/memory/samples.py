"""What was recorded of the memory of one device over time, by source and component; and when its steps were.

There may be more samples than fit in memory: they are in tables in the order of time, of which one block after another is looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import sample_frame
from aoe_reports.formats.spilled_table import blocks_of, in_order, parts_of, rows_where
from aoe_reports.model.arrays.columns import Ints, Mask, coded_in, codes, encoded, integers, valid
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import MEASURES, Level, Measure, MemoryRecording

PROFILER_SOURCES = ("operator_memory", "memory_record", "npu_mem", "npu_module_mem")
"""Files of one profiler, which complete each other; any other source has its own allocations and samples."""
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
    """What one source recorded of one component; a measure is null where it has no value."""

    source: str
    scope: str
    component: str
    rows: pa.Table
    """Times and measures, called as in `memory_sample`, in the order of time."""
    peaks: Mapping[str, tuple[int, int]]
    """(the highest value, when it was reached first) of each measure that is recorded."""

    @classmethod
    def of(cls, source: str, scope: str, component: str, rows: pa.Table) -> Samples:
        """Rows that each have a time, in any order; other columns are left out."""
        ordered = in_order(rows.select(_TIMES_AND_MEASURES), "sampled_ns")
        return cls(source, scope, component, ordered, _peaks_of(ordered))

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @property
    def first_ns(self) -> int:
        """The time of the first sample."""
        return int(self.rows["sampled_ns"][0].as_py())

    @property
    def last_ns(self) -> int:
        """The time of the last sample."""
        return int(self.rows["sampled_ns"][-1].as_py())

    @property
    def measure(self) -> Measure:
        """What a peak of it is a peak of."""
        return next(measure for measure in MEASURES if self.has(measure))

    def has(self, measure: str) -> bool:
        """Whether any value of a measure is recorded."""
        return measure in self.peaks

    def highest(self, measure: str, steps: StepTimes) -> Level | None:
        """The highest value of a measure, and when it was reached first."""
        if measure not in self.peaks:
            return None
        size, time = self.peaks[measure]
        return Level(size_bytes=size, at_ns=time, step=steps.at(time))

    def within(self, span: StepSpan) -> Samples:
        """Those of one step."""
        begin = end = 0
        for part in parts_of(self.rows["sampled_ns"]):
            first, last = np.searchsorted(integers(part)[0], [span.start_ns, span.end_ns]).tolist()
            begin, end = begin + first, end + last
        return Samples.of(self.source, self.scope, self.component, self.rows.slice(begin, max(0, end - begin)))

    def overlaps(self, other: Samples) -> bool:
        """Whether both were recorded at a time."""
        return self.first_ns <= other.last_ns and other.first_ns <= self.last_ns

    def nearest(self, measure: str, time: int) -> int:
        """The last value until that time, or the first of all."""
        until = self.at(measure, time)
        return next(int(values[0]) for _, values in self.known(measure)) if until is None else until

    def at(self, measure: str, time: int) -> int | None:
        """The last value until that time."""
        found = None
        for times, values in self.known(measure):
            place = int(np.searchsorted(times, time, side="right"))
            if place:
                found = int(values[place - 1])
            if place < len(times):
                break
        return found

    def known(self, *measures: str) -> Iterator[tuple[Ints, ...]]:
        """(times, values of some measures) where all of them have one, block by block."""
        return known_in(self.rows, *(f"{measure}_bytes" for measure in measures))


_TIMES_AND_MEASURES = ["sampled_ns", *(f"{measure}_bytes" for measure in MEASURES)]


def known_in(samples: pa.Table, *columns: str) -> Iterator[tuple[Ints, ...]]:
    """(times, values of some columns) where all of them are recorded, block by block."""
    for block in blocks_of(samples, ["sampled_ns", *columns]):
        read = [integers(column) for column in block.columns]
        known = np.logical_and.reduce([known for _, known in read])
        if known.any():
            yield tuple(values if known.all() else values[known] for values, _ in read)


def _peaks_of(rows: pa.Table) -> dict[str, tuple[int, int]]:
    peaks: dict[str, tuple[int, int]] = {}
    for block in blocks_of(rows):
        times, _ = integers(block["sampled_ns"])
        for what in MEASURES:
            values, known = integers(block[f"{what}_bytes"])
            if known.any():
                place = int(np.argmax(values if known.all() else np.where(known, values, -(2**63))))
                if what not in peaks or int(values[place]) > peaks[what][0]:
                    peaks[what] = int(values[place]), int(times[place])
    return peaks


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
            frame = with_one_dictionary(pa.concat_tables(events), "component")
            others = {one for one in _words_of(frame) if (family_of(source), one) not in known}
            every += by_component(source, sums_beside(of_components(frame, others))) if others else []
    return every


def with_one_dictionary(frame: pa.Table, *names: str) -> pa.Table:
    """The same with columns of words in which a word has the same number in each block."""
    for name in names:
        frame = frame.set_column(frame.column_names.index(name), name, encoded(frame[name]))
    return frame.unify_dictionaries()


def _words_of(frame: pa.Table) -> Sequence[str]:
    """The components that may occur."""
    return codes(frame["component"].slice(0, 1))[1]


def sums_beside(events: pa.Table) -> pa.Table:
    """The recorded sums that stand beside allocations and releases, as samples."""
    parts = [
        pa.table(
            {
                "scope": sample_frame({}, events.num_rows)["scope"],
                "component": events["component"],
                "sampled_ns": events[time],
                **{f"{what}_bytes": events[f"{when}_{what}_bytes"] for what in MEASURES},
            }
        )
        for when, time in MOMENTS
    ]
    return pa.concat_tables(parts)


def by_component(source: str, frame: pa.Table) -> list[Samples]:
    """The samples of each component, without rows that have no time or no value."""
    frame = with_one_dictionary(frame, "component", "scope")
    found = []
    for number, component in enumerate(_words_of(frame), start=1):
        rows = rows_where(frame, partial(_usable, number))
        if rows.num_rows:
            (scope, *_), scopes = codes(rows["scope"].slice(0, 1))
            found.append(Samples.of(source, word_of(scopes, int(scope)) or "allocator", component, rows))
    return found


def _usable(number: int, samples: pa.Table) -> Mask:
    """The samples of a component, by its number, that have a time and a value."""
    known: Mask = np.logical_or.reduce([valid(samples[f"{what}_bytes"]) for what in MEASURES])
    return known & valid(samples["sampled_ns"]) & (codes(samples["component"])[0] == number)


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
    return rows_where(events, lambda block: coded_in(codes(block["component"]), components))


def family_of(source: str) -> str:
    return "profiler" if source in PROFILER_SOURCES else source


def peak_of(samples: Samples, measure: str) -> int:
    return samples.peaks[measure][0]


def word_of(words: Sequence[str], number: int) -> str | None:
    """The word of a code, which counts from 1; 0 is none."""
    return words[number - 1] if number else None
