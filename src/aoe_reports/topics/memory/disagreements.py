"""Where two sources of one profiler say different things of the memory of a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pyarrow as pa

from aoe_reports.model.arrays.columns import (
    coded_in,
    codes,
    integers,
)
from aoe_reports.model.topics.memory import (
    MemoryRecording,
)
from aoe_reports.topics.memory.samples import MOMENTS, PROFILER_SOURCES, Samples, peak_of

Disagreement = tuple[str, tuple[str, int], tuple[str, int]]
"""(component, (source, its peak), (another source, its peak))."""


def disagreements_between(recordings: Sequence[MemoryRecording], every: Sequence[Samples]) -> Iterator[Disagreement]:
    """The process is sampled by both of its sources at the same times; sums beside allocations are some of the samples of memory_record."""
    processes = [one for one in every if one.scope == "process" and one.source in PROFILER_SOURCES]
    for one, other in pairwise(processes):
        peaks = peak_of(one, "reserved"), peak_of(other, "reserved")
        if peaks[0] != peaks[1]:
            yield one.component, (one.source, peaks[0]), (other.source, peaks[1])
    events = [one.events for one in recordings if one.source == "operator_memory" and one.events.num_rows]
    for samples in every:
        if samples.source == "memory_record" and samples.has("allocated"):
            sampled = peak_of(samples, "allocated")
            beside = max((_highest_beside(one, samples) for one in events), default=sampled)
            if beside > sampled:
                yield samples.component, ("operator_memory", beside), (samples.source, sampled)


def _highest_beside(events: pa.Table, samples: Samples) -> int:
    """The highest sum beside allocations of a component while it was sampled; 0 where there is none."""
    mine = coded_in(codes(events["component"]), {samples.component})
    highest = 0
    for when, time in MOMENTS:
        (times, timed), (sums, known) = integers(events[time]), integers(events[f"{when}_allocated_bytes"])
        inside = mine & timed & known & (times >= samples.times[0]) & (times <= samples.times[-1])
        highest = max(highest, int(sums[inside].max(initial=0)))
    return highest
