"""Reads what the files of a capture say of the memory of its devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.engine.captures import read_source
from aoe_reports.engine.question import Notes
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory import event_frame, sample_frame
from aoe_reports.model.arrays.columns import Ints, codes, column_of, distinct, integers, keep_where, words_told
from aoe_reports.model.topics.memory import MemoryRecording

_DEVICE = re.compile(r"NPU:(\d{1,9})", re.ASCII)
_CANN = "cann::"
"""What torch_npu puts before the names of operators that GE allocated for."""
_FRAMEWORKS = {"torch_npu": "PTA", "mindspore": "MindSpore"}
"""What memory_record calls the allocator of the framework, by profiler; msprof itself records GE only."""
_SCOPES = {"APP": "process", "Device": "device"}
_COMPONENTS = {"app": "APP", "device": "Device"}
"""The events of npu_mem, as memory_record calls them where it has them."""
_TIMES_AND_SIZES = {
    "stream": "stream_ptr",
    "size_bytes": "size_bytes",
    "allocated_ns": "allocation_ns",
    "reusable_ns": "active_release_ns",
    **{
        f"{when}_{what}_bytes": f"{when}_total_{what}_bytes"
        for when in ("allocation", "release")
        for what in ("allocated", "reserved", "active")
    },
}
"""The columns of `memory_event`, and what operator_memory calls them."""
Frames = tuple[pa.Table, pa.Table]
"""(allocations, samples)."""


def recordings_of(capture: Capture, notes: Notes) -> list[MemoryRecording]:
    """What each file of a capture says of the memory of each device, the preferred form of each kind first."""
    found: list[MemoryRecording] = []
    for kind, read in _READERS.items():
        for source in capture.sources(kind):
            with notes.where_unreadable(source.files[0].path):
                tables = read_source(source, hashed=False)
                notes.add(finding for data in tables for finding in data.findings)
                for data in tables:
                    found += _by_device(data, capture, read)
    return found


def _by_device(data: TableData, capture: Capture, read: Callable[[pa.Table, str], Frames]) -> Iterator[MemoryRecording]:
    count = data.frame.num_rows
    rows = np.arange(count, dtype=np.int64) if data.rows is None else data.rows
    frame = data.frame.append_column("source_row", column_of(rows + 1, np.ones(count, dtype=bool)))
    for device, mine in by_device(frame):
        events, samples = read(mine, capture.profiler)
        yield MemoryRecording(
            rank_id=capture.info.rank_of(device),
            device_id=device,
            source=data.table.name,
            path=str(data.path),
            events=events,
            samples=samples,
        )


def by_device(frame: pa.Table) -> Iterator[tuple[int | None, pa.Table]]:
    """The rows of each device, by its number or by its name (`NPU:0`); None: of the host, or not known."""
    devices = np.full(frame.num_rows, -1, dtype=np.int64)
    for name in ("device", "device_id"):
        if name in frame.column_names:
            devices = _numbers(frame[name], devices)
    for device in distinct(devices).tolist():
        mine = frame if (devices == device).all() else frame.filter(keep_where(devices == device))
        yield (None if device < 0 else device), mine


def _numbers(column: pa.ChunkedArray, otherwise: Ints) -> Ints:
    if pa.types.is_integer(column.type):
        values, known = integers(column)
        return np.where(known, values, otherwise)
    places, words = codes(column)
    found = [_DEVICE.fullmatch(word) for word in words]
    numbers: Ints = np.array([-1, *(-1 if one is None else int(one[1]) for one in found)], dtype=np.int64)
    return np.where(numbers[places] >= 0, numbers[places], otherwise)


def _allocations(frame: pa.Table, profiler: str) -> Frames:
    own = _FRAMEWORKS.get(profiler)
    columns = {name: frame[theirs] for name, theirs in _TIMES_AND_SIZES.items() if theirs in frame.column_names}
    names = frame["op_name"]
    columns["owner"] = words_told(names, lambda word: word.removeprefix(_CANN))
    columns["component"] = words_told(names, lambda word: "GE" if own is None or word.startswith(_CANN) else own)
    columns["released_ns"] = _release(frame)
    columns["source_row"] = frame["source_row"]
    return event_frame(columns, frame.num_rows), sample_frame({}, 0)


def _release(frame: pa.Table) -> pa.ChunkedArray:
    """When each was released; msprof itself writes only how long it was held."""
    if "release_ns" in frame.column_names:
        return frame["release_ns"]
    return pc.add_checked(frame["allocation_ns"], frame["duration_ns"])


def _sums(frame: pa.Table, profiler: str) -> Frames:
    """memory_record and npu_module_mem."""
    del profiler
    inside = "allocator" if "total_allocated_bytes" in frame.column_names else "component"
    columns = {
        f"{what}_bytes": frame[f"total_{what}_bytes"]
        for what in ("allocated", "reserved", "active")
        if f"total_{what}_bytes" in frame.column_names
    }
    columns["scope"] = words_told(frame["component"], lambda word: _SCOPES.get(word, inside))
    columns |= {"component": frame["component"], "sampled_ns": frame["timestamp_ns"], "source_row": frame["source_row"]}
    return event_frame({}, 0), sample_frame(columns, frame.num_rows)


def _of_the_device(frame: pa.Table, profiler: str) -> Frames:
    """npu_mem: of this process and of all."""
    del profiler
    component = words_told(frame["event"], lambda word: _COMPONENTS.get(word, word))
    columns = {
        "scope": words_told(component, lambda word: _SCOPES.get(word, "component")),
        "component": component,
        "sampled_ns": frame["timestamp_ns"],
        "reserved_bytes": frame["memory_bytes"],
        "source_row": frame["source_row"],
    }
    return event_frame({}, 0), sample_frame(columns, frame.num_rows)


_READERS: dict[str, Callable[[pa.Table, str], Frames]] = {
    "operator_memory": _allocations,
    "memory_record": _sums,
    "npu_mem": _of_the_device,
    "npu_module_mem": _sums,
}
