"""CPU, time and peak memory of `memory` on many allocations against reading their table, as whole processes, in turn.

usage: python benchmarks/memory.py [--events 5000000] [--rounds 3] [--records]
An operator_memory.csv of that many allocations in 100 steps is made, one in each step is never released; with --records also the memory_record.csv
beside it, with twice as many rows. Prints medians, and the ratios pair by pair; quote the ratios, the seconds are this machine's.
The bars are twice the CPU of reading the tables, and 300 MB.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timeline import run, show

MEMORY = """
import sys
sys.argv = ["aoe-reports", "memory", sys.argv[1], "--format", "json"]
from aoe_reports.cli.main import main
main()
"""
READING = """
import sys, pathlib
from aoe_reports.engine.captures import find_captures, read_source
from aoe_reports.formats.sources.discovery import discover
((capture,),) = find_captures(discover([pathlib.Path(sys.argv[1])]))
for kind in ("operator_memory", "memory_record"):
    for data in read_source(capture.preferred(kind), hashed=False):
        print(kind, data.frame.num_rows)
"""
OPERATORS = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\r\n"
)
RECORDS = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n"
NAMES = (
    "aten::addmm",
    "aten::gelu",
    "aten::mm",
    "aten::_foreach_add",
    "aten::native_layer_norm",
    "npu::npu_fusion_attention",
)
ORIGIN_US, STEPS, NESTED = 1_736_408_883_000_000, 100, 500
"""Allocations are made NESTED at a time, and released in reverse order."""
BASE_KB, KB = 4 << 20, 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = made(Path(folder), arguments.events, records=arguments.records)
        print(run(READING, root).printed.strip())  # not counted: fills the page cache
        pairs = [(run(MEMORY, root), run(READING, root)) for _ in range(arguments.rounds)]
    show("memory", [ours for ours, _ in pairs])
    show("reading", [reading for _, reading in pairs])
    print(f"  ratio of CPU        {statistics.median(ours.cpu_s / reading.cpu_s for ours, reading in pairs):6.2f}")


def made(folder: Path, events: int, *, records: bool) -> Path:
    """Write a capture with so many allocations."""
    root = folder / "rank0_ascend_pt"
    output = root / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (root / "profiler_info_0.json").write_text('{"rank_id": 0}')
    steps = [_step(number, events // STEPS) for number in range(STEPS)]
    (output / "trace_view.json").write_text(json.dumps(steps))
    with (output / "operator_memory.csv").open("w", newline="") as file:
        file.write(OPERATORS)
        file.writelines(operator for operator, _ in _rows(events))
    if records:
        with (output / "memory_record.csv").open("w", newline="") as file:
            file.write(RECORDS)
            file.writelines(record for _, record in _rows(events))
    return root


def _step(number: int, events: int) -> dict[str, object]:
    """Of two us an allocation: one for itself, one for its release."""
    start = ORIGIN_US + number * 2 * events
    return {
        "name": f"ProfilerStep#{number}",
        "pid": 9,
        "tid": 9,
        "ph": "X",
        "ts": f"{start}.000",
        "dur": 2 * events,
        "args": {},
    }


def _rows(events: int) -> Iterator[tuple[str, str]]:
    """(rows of operator_memory, rows of memory_record) of NESTED allocations each."""
    sizes = [KB * (1 + 7 * number % 13) for number in range(NESTED)]
    held = [sum(sizes[:number]) / KB for number in range(NESTED + 1)]
    kept, per_step = 0, events // STEPS // NESTED
    for block in range(events // NESTED):
        start, leaks = ORIGIN_US + 2 * NESTED * block, block % per_step == 0
        base = BASE_KB / KB + kept
        kept += leaks * sizes[0] // KB
        operators, records = [], {}
        for number, size in enumerate(sizes):
            begin, end = start + number + 1, start + 2 * NESTED - number
            before, after = base + held[number], base + held[number + 1]
            at_release = "" if leaks and not number else f"{before},8192.0,{before}"
            times = f"{end}.250\t,{end}.250\t,{end - begin}.000\t,{end - begin}.000\t" if at_release else ",,,"
            operators.append(
                f"{NAMES[number % len(NAMES)]},{size},{begin}.250\t,{times},{after},8192.0,{after},{at_release or ',,'},897357296,NPU:0\r\n"
            )
            records[begin] = f"PTA,{begin}.250\t,{after},8192.0,{after},897357296,NPU:0\r\n"
            if at_release:
                records[end] = f"PTA,{end}.250\t,{before},8192.0,{before},897357296,NPU:0\r\n"
        yield "".join(operators), "".join(records[time] for time in sorted(records))


if __name__ == "__main__":
    main()
