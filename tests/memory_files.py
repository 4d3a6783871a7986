"""The files that torch_npu writes about the memory of one rank, from what a simulated allocator did."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from captures import us

KIB, MIB = 1 << 10, 1 << 20
Totals = tuple[int | None, int | None, int | None]
"""Allocated, reserved and active bytes."""
UNKNOWN: Totals = (None, None, None)
STREAM = "897357296"
_TOTALS = ("Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)")
OPERATOR_MEMORY = [
    "Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)", "Duration(us)", "Active Duration(us)",
    *(f"{moment} {total}" for moment in ("Allocation", "Release") for total in _TOTALS), "Stream Ptr", "Device Type",
]  # fmt: skip
MEMORY_RECORD = ["Component", "Timestamp(us)", *_TOTALS, "Stream Ptr", "Device Type"]


class Allocation(NamedTuple):
    """A row of operator_memory; without a stream nothing is active."""

    name: str
    size: int
    allocated_ns: int | None
    released_ns: int | None = None
    at_allocation: Totals = UNKNOWN
    at_release: Totals = UNKNOWN
    stream: str = STREAM


class Record(NamedTuple):
    """A row of memory_record."""

    component: str
    ns: int
    totals: Totals
    stream: str = STREAM


def write_capture(folder: Path, rank: int, events: Iterable[dict[str, Any]], **config: bool) -> Path:
    """A capture with its timeline, an event a line; the folder for its tables."""
    output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    info = {"rank_id": rank, "config": {"common_config": {"profile_memory": True, **config}}}
    (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps(info))
    (output / "trace_view.json").write_text("[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n")
    return output


def write_tables(
    output: Path,
    allocations: Iterable[Allocation],
    records: Iterable[Record],
    modules: Iterable[tuple[str, int, int]] = (),
    *,
    device: int = 0,
) -> None:
    """The tables of one device; of components of CANN (name, ns, bytes) only where there are any."""
    place = f"NPU:{device}"
    write_table(output / "operator_memory.csv", OPERATOR_MEMORY, ([*_cells(one), place] for one in allocations))
    rows = ([one.component, _us(one.ns), *map(_mb, one.totals), one.stream, place] for one in records)
    write_table(output / "memory_record.csv", MEMORY_RECORD, rows)
    if held := [[name, _us(ns), _mb(size), place] for name, ns, size in modules]:
        header = ["Component", "Timestamp(us)", "Total Reserved(MB)", "Device"]
        write_table(output / "npu_module_mem.csv", header, held)


def write_table(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """CSV with the line ends of torch_npu; no cell needs quotes."""
    lines = [",".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\r\n".join([*lines, ""]), newline="")


def _cells(one: Allocation) -> list[str]:
    whole = None if one.allocated_ns is None or one.released_ns is None else one.released_ns - one.allocated_ns
    released, duration = _us(one.released_ns), _us(whole)
    times = [_us(one.allocated_ns), released, released if one.stream else "", duration, duration if one.stream else ""]
    totals = [_mb(size) for size in (*one.at_allocation, *one.at_release)]
    return [one.name, str(one.size / KIB), *times, *totals, one.stream]


def _us(ns: int | None) -> str:
    return "" if ns is None else f"{us(ns)}\t"


def _mb(size: int | None) -> str:
    return "" if size is None else str(size / MIB)
