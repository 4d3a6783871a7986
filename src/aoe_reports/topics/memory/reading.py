"""Reads the memory of the devices of a capture, and what the host did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.captures import (
    collect_events_of,
    joined,
    read_source,
    read_steps_noting,
    timeline_tells_steps,
)
from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.facts.tasks import split_devices
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.size_units import exact_size
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import DeviceMemory, MemoryRecording
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.memory.balance import KEPT
from aoe_reports.topics.memory.facts import DevicePeak
from aoe_reports.topics.memory.host_ranges import EVENT_COLUMNS, HostRanges
from aoe_reports.topics.memory.samples import StepSpan, StepTimes
from aoe_reports.topics.memory.static import GraphMemory, graphs_of
from aoe_reports.topics.rules import MEMORY_DISAGREES

StepSource = Literal["host", "device", "unknown"]
"""Whose clock steps are known by."""


@dataclass(frozen=True, slots=True)
class ReadDevice:
    """One device of a capture: what its files recorded, its steps, and its memory."""

    recordings: tuple[MemoryRecording, ...]
    steps: StepTimes
    steps_of: StepSource
    memory: DeviceMemory
    peak: DevicePeak

    @property
    def has_clock(self) -> bool:
        """Whether its times are times."""
        return all(one.has_clock for one in self.recordings)


def devices_of(
    capture: Capture,
    notes: Notes,
    chosen: Callable[[MemoryRecording], bool] = lambda _: True,
    step: int | None = None,
) -> list[ReadDevice]:
    """The memory of each device of a capture, by rank and device; `chosen` says which recordings count, `step` in which step it peaks."""
    by_place = _recordings_by_place(capture, notes, chosen)
    peaks = {place: peak for place, mine in by_place.items() if (peak := DevicePeak.of(mine)) is not None}
    if not peaks:
        return []
    for mine in by_place.values():  # sums beside allocations take half of the memory
        mine[:] = [replace(one, events=one.events.select(KEPT)) for one in mine]
    give_back()
    ranges = _host_ranges(capture, notes, peaks.values())
    steps, steps_of = _steps_of(capture, notes, ranges)
    if step is not None:
        span = steps.of(step)
        if span is None:
            return []
        peaks = {place: peak for place, whole in peaks.items() if (peak := whole.within(span)) is not None}
        if not peaks:
            return []
        ranges = _host_ranges(capture, notes, peaks.values())
    modules = ranges.modules()
    calls = ranges.allocation_calls() if len(by_place) == 1 else ()  # of several devices nothing says which they serve
    devices = []
    for place in sorted(peaks, key=lambda place: tuple(-1 if one is None else one for one in place)):
        peak = peaks[place]
        memory = replace(peak.memory(steps, ranges.open_at(peak.at_ns), modules), allocation_calls=calls)
        devices.append(ReadDevice(tuple(by_place[place]), steps, steps_of, memory, peak))
    return devices


def _recordings_by_place(
    capture: Capture, notes: Notes, chosen: Callable[[MemoryRecording], bool]
) -> dict[tuple[int | None, int | None], list[MemoryRecording]]:
    """The recordings of each rank and device."""
    recordings = memory_recordings(capture, notes)
    give_back()
    return lists_by_key(((one.rank_id, one.device_id), one) for one in recordings if chosen(one))


def memory_of(capture: Capture, notes: Notes, steps: Callable[[], StepTimes]) -> list[DeviceMemory]:
    """The memory of each device of a capture, without what the host ran; `steps` are read only where memory is recorded."""
    by_place = lists_by_key(((one.rank_id, one.device_id), one) for one in memory_recordings(capture, notes))
    peaks = [peak for mine in by_place.values() if (peak := DevicePeak.of(mine)) is not None]
    return [peak.memory(steps()) for peak in peaks]


def _host_ranges(capture: Capture, notes: Notes, peaks: Collection[DevicePeak]) -> HostRanges:
    """The steps of the host and what it ran at each peak, where a timeline or a database records it."""
    moments = [peak.at_ns for peak in peaks]
    in_modules = np.concatenate([peak.allocated_ns for peak in peaks])
    new = partial(HostRanges, moments, in_modules)
    whole = new()
    for files in vendor_of(capture.profiler).events(capture):
        with notes.where_unreadable(files[0].path):
            ranges, wrong = collect_events_of(files, EVENT_COLUMNS, new)
            notes.add(wrong)
            whole.merge(ranges)
    return whole


def _steps_of(capture: Capture, notes: Notes, ranges: HostRanges) -> tuple[StepTimes, StepSource]:
    """Steps of the host, on whose clock memory is allocated; else those of the device, where a table has their times."""
    if ranges.steps:
        return StepTimes(ranges.steps.values()), "host"
    if timeline_tells_steps(capture):
        return StepTimes(()), "unknown"
    spans = spans_of(read_steps_noting(capture, notes.findings))
    return StepTimes(spans), "device" if spans else "unknown"


def spans_of(steps: Iterable[Step]) -> list[StepSpan]:
    """When steps of tables began and ended, as far as they say so."""
    return [
        StepSpan(step.step, step.start_ns, step.start_ns + step.duration_ns)
        for step in steps
        if step.step is not None and step.start_ns is not None
    ]


def graphs_of_capture(capture: Capture, notes: Notes) -> Iterator[tuple[int | None, GraphMemory]]:
    """(device, None for the host; memory of a graph of static shapes) of the first table that has rows."""
    for source in capture.sources("static_op_mem"):
        tables = []
        with notes.where_unreadable(source.files[0].path):
            tables = read_source(source, hashed=False)
        notes.add(finding for data in tables for finding in data.findings)
        for tasks in (one for data in tables for one in split_devices(capture.info.rank_of, data.frame)):
            for graph in graphs_of(tasks.frame):
                yield tasks.device_id, graph
        if any(data.frame.num_rows for data in tables):
            return


def disagreements_of(capture: Capture) -> Iterator[Finding]:
    """Where another form of a table of memory (a database beside CSV) says something else than the one that is used."""
    for kind, measure in _COMPARED.items():
        sources = capture.sources(kind)
        if len(sources) <= 1:
            continue
        used, *others = sources
        try:
            expected = measure(joined(read_source(used, hashed=False)))
            compared = [(other, measure(joined(read_source(other, hashed=False)))) for other in others]
        except (ReadError, OSError):
            continue  # which reading them says
        for other, sizes in compared:
            for name, size in expected.items():
                if sizes.get(name) != size:
                    yield MEMORY_DISAGREES.found(
                        str(other.files[0].path),
                        say(
                            "{kind}, {name}: {size} here, {expected} in {file}",
                            kind=kind,
                            name=name,
                            size=exact_size(sizes.get(name)),
                            expected=exact_size(size),
                            file=used.files[0].path.name,
                        ),
                    )


def _total_of_allocations(frame: pa.Table | None) -> dict[str, int]:
    return {} if frame is None else {say("sum of sizes"): pc.sum(frame["size_bytes"]).as_py() or 0}


def _highest_by_component(frame: pa.Table | None) -> dict[str, int]:
    if frame is None:
        return {}
    highest = frame.group_by("component").aggregate([("total_reserved_bytes", "max")])
    return {row["component"]: row["total_reserved_bytes_max"] for row in highest.to_pylist()}


_COMPARED: dict[str, Callable[[pa.Table | None], dict[str, int]]] = {
    "operator_memory": _total_of_allocations,
    "memory_record": _highest_by_component,
    "npu_module_mem": _highest_by_component,
}
