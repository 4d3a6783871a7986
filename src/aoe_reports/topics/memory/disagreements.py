"""Where two sources of one profiler, or two forms of one table, say different things of the memory of a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from aoe_reports.engine.memory import recordings_of_form
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.spilled_table import blocks_of
from aoe_reports.model.arrays.columns import exact_sum, integers, words_in
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.size_units import exact_size
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import MemoryRecording
from aoe_reports.topics.memory.samples import MOMENTS, PROFILER_SOURCES, Samples, peak_of
from aoe_reports.topics.rules import MEMORY_DISAGREES

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
    first, last, highest = samples.first_ns, samples.last_ns, 0
    for block in blocks_of(events):
        mine = words_in(block["component"], {samples.component})
        for when, time in MOMENTS:
            (times, timed), (sums, known) = integers(block[time]), integers(block[f"{when}_allocated_bytes"])
            inside = mine & timed & known & (times >= first) & (times <= last)
            highest = max(highest, int(sums[inside].max(initial=0)))
    return highest


Sizes = Mapping[str, int]
"""Of what is compared, by its name."""


def disagreements_of(capture: Capture) -> Iterator[Finding]:
    """Where another form of a table of memory (a database beside CSV) says something else than the first one that has rows, which is used."""
    for kind, measure in _COMPARED.items():
        sources = capture.sources(kind)
        if len(sources) <= 1:
            continue
        try:
            forms = [(source.files[0].path, recordings_of_form(capture, kind, source)) for source in sources]
        except (ReadError, OSError):
            continue  # which reading them says
        used, *others = [form for form in forms if form[1]] or [(Path(), [])]
        for path, recordings in others:
            for name, here, expected in _unequal(recordings, used[1], measure):
                yield MEMORY_DISAGREES.found(
                    str(path),
                    say(
                        "{kind}, {name}: {size} here, {expected} in {file}",
                        kind=kind,
                        name=name,
                        size=exact_size(here),
                        expected=exact_size(expected),
                        file=used[0].name,
                    ),
                )


def _unequal(
    some: Sequence[MemoryRecording], others: Sequence[MemoryRecording], measure: Callable[[MemoryRecording], Sizes]
) -> Iterator[tuple[str, int | None, int | None]]:
    """(what, its size in some recordings, in others), device by device where both name devices."""
    apart = None not in {one.device_id for one in (*some, *others)}
    sizes, expected = _sizes(some, measure, apart=apart), _sizes(others, measure, apart=apart)
    for device, name in sorted(sizes.keys() | expected.keys(), key=str):
        here, there = sizes.get((device, name)), expected.get((device, name))
        if here != there:
            is_clear = len({device for device, _ in (*sizes, *expected)}) == 1
            yield name if is_clear else say("device {device}, {name}", device=device, name=name), here, there


def _sizes(
    recordings: Sequence[MemoryRecording], measure: Callable[[MemoryRecording], Sizes], *, apart: bool
) -> dict[tuple[int | None, str], int]:
    """Sums of allocations, and the highest of samples, by device and name."""
    sizes: dict[tuple[int | None, str], int] = {}
    for one in recordings:
        for name, size in measure(one).items():
            key = one.device_id if apart else None, name
            sizes[key] = sizes.get(key, 0) + size if one.events.num_rows else max(sizes.get(key, 0), size)
    return sizes


def _total_of_allocations(recording: MemoryRecording) -> Sizes:
    return (
        {say("sum of sizes"): exact_sum(integers(recording.events["size_bytes"])[0])}
        if recording.events.num_rows
        else {}
    )


def _highest_by_component(recording: MemoryRecording) -> Sizes:
    highest = recording.samples.group_by("component").aggregate([("reserved_bytes", "max")]).to_pylist()
    return {row["component"]: row["reserved_bytes_max"] for row in highest if row["reserved_bytes_max"] is not None}


_COMPARED: dict[str, Callable[[MemoryRecording], Sizes]] = {
    "operator_memory": _total_of_allocations,
    "memory_record": _highest_by_component,
    "npu_module_mem": _highest_by_component,
}
