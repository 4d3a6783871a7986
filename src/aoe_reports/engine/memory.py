"""What the tables of a capture record of the memory of its devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from aoe_reports.engine.captures import only_device_of, read_source
from aoe_reports.engine.question import Notes
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory import event_frame, refuse_impossible, sample_frame
from aoe_reports.formats.memory_files import recordings_of
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.spilled_table import blocks_of, ends_of, parts_of, rows_where
from aoe_reports.model.arrays.columns import (
    Ints,
    codes,
    column_of,
    distinct,
    integers,
    words_told,
)
from aoe_reports.model.classes import record
from aoe_reports.model.topics.memory import MemoryRecording
from aoe_reports.schema.tables import MEMORY_EVENT, MEMORY_SAMPLE

Columns = dict[str, pa.ChunkedArray | pa.Array]
Frames = tuple[pa.Table, pa.Table]
"""(events, samples) of some rows."""
Reader = Callable[[pa.Table, FoundFile], Frames]

_NAME = re.compile(r"(?:NPU:)?(\d{1,9})", re.ASCII)
_NO_DEVICE = -1
_GE, _APP, _DEVICE = "GE", "APP", "Device"
_OF_NPU_MEM = {"app": _APP, "device": _DEVICE}
"""The events of npu_mem, as components of memory_record."""
_OPERATORS = "operator_memory"
_CANN = "cann::"
"""The prefix of the names of operators that GE allocated for, in exports of a framework."""
_FRAMEWORKS = {"torch_npu": "PTA", "mindspore": "MindSpore"}
"""The component of the allocator of a framework, as its memory_record calls it; msprof alone records GE."""


@record
class MemoryFile:
    """What one file records of memory: a recording for each device."""

    file: FoundFile
    recordings: tuple[MemoryRecording, ...]
    rows: Mapping[str, tuple[int, int]]
    """(rows read, rows reported) by the table that the others are in."""


def memory_recordings(capture: Capture, notes: Notes) -> list[MemoryRecording]:
    """What each file of a capture records of the memory of each device; rows are not numbered (`source_row` is null)."""
    return [recording for file in memory_files(capture, notes, numbered=False) for recording in file.recordings]


def memory_files(capture: Capture, notes: Notes, *, numbered: bool = True) -> Iterator[MemoryFile]:
    """The recordings of a capture by file, from the first form of each table that has rows. What is wrong with a file is added to the notes."""
    if capture.of_memory:
        yield from _of_recordings(capture, notes)
    for kind, read in _READERS.items():
        table = MEMORY_EVENT if kind == _OPERATORS else MEMORY_SAMPLE
        for source in capture.sources(kind):
            tables: list[TableData] = []
            with notes.where_unreadable(source.files[0].path):
                tables = read_source(source, None if numbered else _MEASURED[kind], hashed=False)
            notes.add(finding for data in tables for finding in data.findings)
            for file, data in zip(source.files, tables, strict=False):
                with notes.where_unreadable(file.path):
                    recordings = tuple(_by_device(capture, file, _numbered(data) if numbered else data, read))
                    rows = {table.name: (data.rows_read, data.rows_reported)}
                    yield MemoryFile(file=file, recordings=recordings, rows=rows)
            if any(data.frame.num_rows for data in tables):
                break


def recordings_of_form(capture: Capture, kind: str, source: Source) -> list[MemoryRecording]:
    """What one form of a table of memory records of each device; ReadError where it cannot be read."""
    tables = read_source(source, _MEASURED[kind], hashed=False)
    return [
        recording
        for file, data in zip(source.files, tables, strict=False)
        for recording in _by_device(capture, file, data, _READERS[kind])
    ]


def _of_recordings(capture: Capture, notes: Notes) -> Iterator[MemoryFile]:
    """Files that no profiler wrote, such as snapshots of PyTorch."""
    for file in capture.files:
        with notes.where_unreadable(file.path):
            recordings = [replace(recording, path=str(file.path)) for recording in recordings_of(file)]
            notes.add(finding for recording in recordings for finding in recording.findings)
            events = sum(recording.events.num_rows for recording in recordings)
            samples = sum(recording.samples.num_rows for recording in recordings)
            rows = {MEMORY_EVENT.name: (events, 0), MEMORY_SAMPLE.name: (samples, 0)}
            yield MemoryFile(file=file, recordings=tuple(recordings), rows=rows)


def _numbered(data: TableData) -> TableData:
    rows = np.arange(data.frame.num_rows, dtype=np.int64) if data.rows is None else data.rows
    numbers = column_of(rows + 1, np.ones(len(rows), dtype=bool))
    return data.with_frame(data.frame.append_column("source_row", numbers))


def _by_device(capture: Capture, file: FoundFile, data: TableData, read: Reader) -> Iterator[MemoryRecording]:
    only = only_device_of(file, capture)
    numbers = {one for block in blocks_of(data.frame) for one in distinct(_devices_of(block, only)).tolist()}
    for number in sorted(numbers):
        device = None if number == _NO_DEVICE else number
        frame = rows_where(data.frame, lambda block, number=number: _devices_of(block, only) == number)
        events, samples = read(frame, file)
        sums = [
            (ends_of(rows[name]) or (0, 0))[1]
            for rows in (events, samples)
            for name in rows.column_names
            if name.endswith("_bytes")
        ]
        sizes = (integers(part)[0] for part in parts_of(events["size_bytes"]))
        refuse_impossible(file.path, *sizes, np.array(sums))
        yield MemoryRecording(
            rank_id=capture.info.rank_of(device),
            device_id=device,
            source=data.table.name,
            path=str(file.path),
            events=events,
            samples=samples,
        )


def _devices_of(frame: pa.Table, only: int | None) -> Ints:
    """The device of each row: its own column, else a name such as NPU:1, else the only one of the file; _NO_DEVICE where nothing says it."""
    devices = np.full(frame.num_rows, _NO_DEVICE if only is None else only, dtype=np.int64)
    if "device" in frame.column_names:
        numbers, words = codes(frame["device"])
        matches = [None, *map(_NAME.fullmatch, words)]
        named = np.array([_NO_DEVICE if match is None else int(match[1]) for match in matches], dtype=np.int64)[numbers]
        devices = np.where(named == _NO_DEVICE, devices, named)
    if "device_id" in frame.column_names:
        numbers, known = integers(frame["device_id"])
        devices = np.where(known, numbers, devices)
    return devices


def _operators(frame: pa.Table, file: FoundFile) -> Frames:
    """Allocations of operator_memory. Exporters without a time of release give the duration."""
    framework = _FRAMEWORKS.get(file.name.source, _GE)
    names = frame["op_name"]
    columns: Columns = {
        "component": words_told(names, lambda name: _GE if name.startswith(_CANN) else framework),
        "owner": words_told(names, lambda name: name.removeprefix(_CANN)),
        "released_ns": _end(frame, "release_ns", "duration_ns"),
        "reusable_ns": _end(frame, "active_release_ns", "active_duration_ns"),
    }
    return event_frame(columns | _present(frame, _EVENT_COLUMNS), frame.num_rows), sample_frame({}, 0)


def _end(frame: pa.Table, end: str, duration: str) -> pa.ChunkedArray:
    """The end of allocations: as it is recorded, else the allocation and its duration; null where neither is known."""
    if end in frame.column_names:
        return frame[end]
    start, known = integers(frame["allocation_ns"])
    if duration not in frame.column_names:
        return column_of(start, np.zeros(len(start), dtype=bool))
    took, measured = integers(frame[duration])
    return column_of(start + took, known & measured)


def _records(frame: pa.Table, file: FoundFile) -> Frames:
    """Samples of memory_record: the process in APP, allocators in other components."""
    del file
    scope = words_told(frame["component"], lambda name: "process" if name == _APP else "allocator")
    return _samples(frame, {"scope": scope, "component": frame["component"]})


def _modules(frame: pa.Table, file: FoundFile) -> Frames:
    """Samples of npu_module_mem: components of CANN."""
    del file
    scope = words_told(frame["component"], lambda _: "component")
    return _samples(frame, {"scope": scope, "component": frame["component"]})


def _devices(frame: pa.Table, file: FoundFile) -> Frames:
    """Samples of npu_mem: the process and all processes."""
    del file
    component = words_told(frame["event"], lambda name: _OF_NPU_MEM.get(name, name))
    scope = words_told(component, {_APP: "process", _DEVICE: "device"}.get)
    return _samples(frame, {"scope": scope, "component": component, "reserved_bytes": frame["memory_bytes"]})


def _samples(frame: pa.Table, columns: Columns) -> Frames:
    return event_frame({}, 0), sample_frame(columns | _present(frame, _SAMPLE_COLUMNS), frame.num_rows)


def _present(frame: pa.Table, names: Mapping[str, str]) -> Columns:
    return {name: frame[field] for name, field in names.items() if field in frame.column_names}


_EVENT_COLUMNS = {
    "stream": "stream_ptr",
    "size_bytes": "size_bytes",
    "allocated_ns": "allocation_ns",
    **{
        f"{end}_{measure}_bytes": f"{end}_total_{measure}_bytes"
        for end in ("allocation", "release")
        for measure in ("allocated", "reserved", "active")
    },
    "source_row": "source_row",
}
"""Columns of `memory_event`, and what operator_memory calls them."""
_SAMPLE_COLUMNS = {
    "sampled_ns": "timestamp_ns",
    "allocated_bytes": "total_allocated_bytes",
    "reserved_bytes": "total_reserved_bytes",
    "active_bytes": "total_active_bytes",
    "source_row": "source_row",
}
_READERS: dict[str, Reader] = {
    _OPERATORS: _operators,
    "memory_record": _records,
    "npu_module_mem": _modules,
    "npu_mem": _devices,
}
"""The tables of memory, and how their rows become events or samples."""
_MEASURED = {
    "operator_memory": frozenset(
        {"op_name", "allocation_ns", "release_ns", "active_release_ns", "duration_ns", "device", "device_id"}
        | set(_EVENT_COLUMNS.values()) - {"stream_ptr", "source_row"}
    ),
    "memory_record": frozenset({"component", "device", "device_id"} | set(_SAMPLE_COLUMNS.values()) - {"source_row"}),
    "npu_module_mem": None,
    "npu_mem": None,
}
"""What is read where rows are no rows of a table; None for all columns."""
