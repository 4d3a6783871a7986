"""The blocks of MindSpore's memory tracker (`MS_ALLOC_CONF=memory_tracker:True`): one row each, with the numbers of events as times.

What a whole graph reserves at once (`Somas`) is one block; the blocks inside of it stand there, too, without times: they are left out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory import constant, event_frame, nothing_recorded, numbers, refuse_impossible, sample_frame
from aoe_reports.formats.memory_files.cells import Words, addresses_of, locations_of, row_numbers
from aoe_reports.formats.memory_files.names import TRACKER
from aoe_reports.formats.memory_files.rules import MEMORY_ENTRY
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.table_file import read_table_file
from aoe_reports.model.arrays.columns import Ints, integers, words_told
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import Kind, MemoryRecording

_SOURCE, _COMPONENT = "memory_tracker", "MINDSPORE"
_KINDS: dict[str, Kind] = {"Weight": "weight", "WorkSpace": "workspace"}
"""Types of blocks that say what they hold; the others say what made them."""
_NEVER = 2**62
"""An end from here on is none: it is the largest number that there is."""


def read_tracker(file: FoundFile) -> list[MemoryRecording]:
    """What a file records of the device of one rank."""
    data = read_table_file(file, TRACKER, hashed=False)
    if not data.frame.num_rows:
        return [replace(nothing_recorded(file, _SOURCE), findings=data.findings, has_clock=False)]
    begin, _ = integers(data.frame["begin"])
    end, has_end = integers(data.frame["end"])
    sizes, has_size = integers(data.frame["size_bytes"])
    ends = has_end & (end >= 0) & (end < _NEVER)
    is_damaged = (begin >= 0) & (~has_size | (sizes < 0) | (ends & (end < begin)))
    chosen = np.flatnonzero((begin >= 0) & ~is_damaged)
    refuse_impossible(file.path, sizes[chosen])
    message = say("a block without a size, or that ends before it begins")
    damage = MEMORY_ENTRY.found_at(
        str(file.path), [(message, data.line(int(row))) for row in np.flatnonzero(is_damaged)]
    )
    recording = MemoryRecording(
        rank_id=file.name.rank_id,
        device_id=None,
        source=_SOURCE,
        events=_events(data, chosen, np.where(ends, end, -1)),
        samples=_samples(data, chosen, np.where(ends, end, -1)),
        has_clock=False,
        findings=(*data.findings, *damage),
    )
    return [recording]


def _events(data: TableData, chosen: Ints, end: Ints) -> pa.Table:
    count, frame = len(chosen), data.frame
    stream, has_stream = integers(frame["stream"])
    addresses = addresses_of(frame["address"])[chosen]
    columns = {
        "component": constant(_COMPONENT, count),
        "owner": frame["node_name"].take(pa.array(chosen)),
        "kind": words_told(frame["kind"], _KINDS.get).take(pa.array(chosen)),
        "stream": numbers(stream[chosen], has_stream[chosen]),
        "address": numbers(addresses, addresses >= 0),
        "size_bytes": numbers(integers(frame["size_bytes"])[0][chosen]),
        "allocated_ns": numbers(integers(frame["begin"])[0][chosen]),
        "released_ns": numbers(end[chosen], end[chosen] >= 0),
        "source_row": numbers(row_numbers(data, chosen)),
    }
    if "python_stack" in frame.column_names:
        stacks = Words.of(frame["python_stack"])
        columns["location"] = locations_of(stacks, stacks.places[chosen])
    return event_frame(columns, count)


def _samples(data: TableData, chosen: Ints, end: Ints) -> pa.Table:
    """What was allocated after each allocation and each release."""
    sizes, begin = integers(data.frame["size_bytes"])[0][chosen], integers(data.frame["begin"])[0][chosen]
    ended = np.flatnonzero(end[chosen] >= 0)
    times = np.concatenate([begin, end[chosen][ended]])
    order = np.argsort(times, kind="stable")
    sums = np.cumsum(np.concatenate([sizes, -sizes[ended]])[order], dtype=np.int64)
    rows = row_numbers(data, chosen)
    count = len(order)
    return sample_frame(
        {
            "scope": constant("allocator", count),
            "component": constant(_COMPONENT, count),
            "sampled_ns": numbers(times[order]),
            "allocated_bytes": numbers(sums),
            "source_row": numbers(np.concatenate([rows, rows[ended]])[order]),
        },
        count,
    )
