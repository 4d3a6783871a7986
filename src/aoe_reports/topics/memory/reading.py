"""Reads the memory of the devices of a capture, and what the host did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from aoe_reports.engine.captures import (
    collect_events_of,
    read_source,
    read_steps_noting,
    read_tasks,
    timeline_tells_steps,
)
from aoe_reports.engine.memory import memory_recordings
from aoe_reports.engine.question import Notes
from aoe_reports.facts.idle import SPANNED_BY, spans_of_tasks
from aoe_reports.facts.tasks import TaskSet, split_devices
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.memory_files import recordings_of
from aoe_reports.formats.memory_files.names import GRAPHS
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import DeviceMemory, MemoryRecording
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.memory.facts import DevicePeak
from aoe_reports.topics.memory.host_ranges import EVENT_COLUMNS, NEVER, HostRanges, steps_of_host
from aoe_reports.topics.memory.samples import StepSpan, StepTimes
from aoe_reports.topics.memory.static import GraphMemory, graphs_of

Clock = Literal["host", "device", "unknown"]
"""Whose clock steps are known by."""
Place = tuple[int | None, int | None, int | None]
"""Rank, device and process."""


@dataclass(frozen=True, slots=True)
class MemorySteps:
    """The steps that memory is divided into: of each device, or of all of them where the host has steps."""

    by_device: Mapping[int | None, StepTimes]
    clock: Clock

    def of(self, device: int | None) -> StepTimes:
        """Those of a device; of the only one where a number is missing on either side."""
        if device in self.by_device:
            return self.by_device[device]
        every = list(self.by_device.values())
        is_clear = len(every) == 1 and (device is None or None in self.by_device)
        return every[0] if is_clear else StepTimes(())


@dataclass(frozen=True, slots=True)
class ReadDevice:
    """One device of a capture: what its files recorded, its steps, and its memory."""

    recordings: tuple[MemoryRecording, ...]
    steps: StepTimes
    clock: Clock
    memory: DeviceMemory
    peak: DevicePeak

    @property
    def process(self) -> int | None:
        """The process whose memory it is, where a source separates processes."""
        return self.recordings[0].process

    @property
    def has_clock(self) -> bool:
        """Whether its times are times."""
        return all(one.has_clock for one in self.recordings)


@dataclass(frozen=True, slots=True)
class ReadMemory:
    """The memory of a capture: the devices that were asked for, by rank, device and process; which devices and steps there are."""

    devices: Sequence[ReadDevice]
    device_ids: frozenset[int]
    step_numbers: frozenset[int]


def read_memory(
    capture: Capture,
    notes: Notes,
    chosen: Callable[[MemoryRecording], bool] = lambda _: True,
    step: int | None = None,
) -> ReadMemory:
    """The memory of each device of a capture; `chosen` says which recordings count, `step` in which step it peaks."""
    recordings, device_ids = _recordings_by_place(capture, notes, chosen)
    peaks = {place: peak for place, mine in recordings.items() if (peak := DevicePeak.of(mine)) is not None}
    if not peaks:
        return ReadMemory((), device_ids, frozenset())
    ranges = _host_ranges(capture, notes, peaks.values())
    give_back()
    steps = steps_for_memory(capture, notes, ranges.steps.values())
    known = {place: peak.known_steps(steps.of(place[1])) for place, peak in peaks.items()}
    numbers = frozenset(span.number for times in (*steps.by_device.values(), *known.values()) for span in times.spans)
    if step is not None:
        peaks = _within(peaks, known, step)
        if not peaks:
            return ReadMemory((), device_ids, numbers)
        ranges = _host_ranges(capture, notes, peaks.values())
    modules = ranges.modules()
    devices: list[ReadDevice] = []
    for place in _in_order(peaks):
        peak, own_steps = peaks[place], known[place]
        clock = "host" if own_steps is peak.marked and own_steps.spans else steps.clock
        memory = peak.memory(own_steps, ranges.open_at(peak.at_ns), modules)
        if not devices:
            memory = replace(memory, allocation_calls=ranges.allocation_calls())
        devices.append(ReadDevice(tuple(recordings[place]), own_steps, clock, memory, peak))
    return ReadMemory(devices, device_ids, numbers)


def _within(
    peaks: Mapping[Place, DevicePeak], steps: Mapping[Place, StepTimes], number: int
) -> dict[Place, DevicePeak]:
    """The highest peak within a step of each device that has one."""
    spans = {place: steps[place].of(number) for place in peaks}
    found = {place: peaks[place].within(span) for place, span in spans.items() if span is not None}
    return {place: peak for place, peak in found.items() if peak is not None}


def _in_order(places: Iterable[Place]) -> list[Place]:
    """By rank, device and process; an unknown number is first."""
    return sorted(places, key=lambda place: tuple(-1 if number is None else number for number in place))


def _recordings_by_place(
    capture: Capture, notes: Notes, chosen: Callable[[MemoryRecording], bool]
) -> tuple[dict[Place, list[MemoryRecording]], frozenset[int]]:
    """(the recordings of each rank, device and process that are asked for, every device)."""
    recordings = memory_recordings(capture, notes)
    give_back()
    device_ids = frozenset(one.device_id for one in recordings if one.device_id is not None)
    return by_place(filter(chosen, recordings)), device_ids


def by_place(recordings: Iterable[MemoryRecording]) -> dict[Place, list[MemoryRecording]]:
    """The recordings of each rank, device and process."""
    return lists_by_key(((one.rank_id, one.device_id, one.process), one) for one in recordings)


def memory_of(capture: Capture, notes: Notes, steps: Callable[[], MemorySteps]) -> list[DeviceMemory]:
    """The memory of each device of a capture, without what the host ran; `steps` are read only where memory is recorded."""
    return memory_by_place(memory_recordings(capture, notes), steps)


def memory_by_place(recordings: Iterable[MemoryRecording], steps: Callable[[], MemorySteps]) -> list[DeviceMemory]:
    """The memory of each process on each device, by some recordings."""
    every = by_place(recordings)
    peaks = {place: peak for place, mine in every.items() if (peak := DevicePeak.of(mine)) is not None}
    if not peaks:
        return []
    known = steps()
    return [replace(peaks[place].memory(known.of(place[1])), process_id=place[2]) for place in _in_order(peaks)]


Tables = tuple[Iterable[Step], Iterable[TaskSet]]
"""The steps and the tasks of a capture, by its tables."""


def steps_for_memory(
    capture: Capture,
    notes: Notes,
    of_host: Iterable[StepSpan] | None = None,
    of_tables: Callable[[], Tables] | None = None,
) -> MemorySteps:
    """Steps of the host, on whose clock memory is allocated; else those of each device, by a table that has their times, else by its tasks.

    `of_host` are those of the host where its timelines have been read, `of_tables` what tables say where these have been read; else they are read.
    """
    spans = tuple(steps_of_host(capture, notes) if of_host is None else of_host)
    if spans:
        return MemorySteps({None: StepTimes(spans)}, "host")
    if timeline_tells_steps(capture):
        return MemorySteps({}, "unknown")
    steps, tasks = _tables_of(capture, notes) if of_tables is None else of_tables()
    by_device = lists_by_key(
        (step.device_id, StepSpan(step.step, step.start_ns, step.start_ns + step.duration_ns))
        for step in steps
        if step.step is not None and step.start_ns is not None
    ) or lists_by_key((one.device_id, StepSpan(*span)) for one in tasks for span in spans_of_tasks(one.frame))
    return MemorySteps(
        {device: StepTimes(mine) for device, mine in by_device.items()}, "device" if by_device else "unknown"
    )


def _tables_of(capture: Capture, notes: Notes) -> Tables:
    """Tasks are read only where steps have no times."""
    steps = read_steps_noting(capture, notes.findings)
    if any(step.start_ns is not None for step in steps):
        return steps, ()
    sets, tables = read_tasks(capture, SPANNED_BY, by_type=False)
    notes.add(finding for data in tables for finding in data.findings)
    return steps, sets


def _host_ranges(capture: Capture, notes: Notes, peaks: Collection[DevicePeak]) -> HostRanges:
    """The steps of the host and what it ran at each peak, where a timeline or a database records it."""
    moments = [peak.at_ns for peak in peaks]
    in_modules = np.concatenate([NEVER, *(peak.allocated_ns for peak in peaks)])
    new = partial(HostRanges, moments, in_modules)
    whole = new()
    for files in vendor_of(capture.profiler).events(capture):
        with notes.where_unreadable(files[0].path):
            ranges, wrong = collect_events_of(files, EVENT_COLUMNS, new)
            notes.add(wrong)
            whole.merge(ranges)
    return whole


def graphs_of_capture(capture: Capture, notes: Notes) -> Iterator[tuple[int | None, GraphMemory]]:
    """(device, None for the host; memory of a graph of static shapes) of the first table that has rows, or of a plan of MindSpore."""
    for file in (file for file in capture.files if file.name.kind == GRAPHS):
        with Notes().where_unreadable(file.path):  # which is said where its recordings are read
            for recording in recordings_of(file):
                yield from ((None, graph) for graph in graphs_of(recording.graphs))
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
