"""CPU, wall time and memory of `aoe-reports trace` on a large timeline against reading its events, as whole processes, in turn.

usage: python benchmarks/trace.py [FILE.json] [--megabytes 1000] [--rounds 3]
Without FILE one of --megabytes is made. Reading is `collect_events` with the columns that an event is chosen by, as every question
reads them, every batch looked at by nobody. What is cut out is 0.2 s from the middle, and all of the timeline. Prints medians and the ratio of CPU
and of wall time, pair by pair; quote the ratios, the seconds are this machine's. The bars are 1.1 times reading for the part, and 256 MB.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from timeline import made, run

from aoe_reports.formats.trace.events import look_at_timeline

READING = """
import sys, pathlib
from aoe_reports.formats.trace.events import collect_events
class Nobody:
    def add(self, batch):
        pass
columns = ["ph", "name", "category", "flow_id", "pid", "tid", "start_ns", "duration_ns"]
print(collect_events(pathlib.Path(sys.argv[1]), columns, Nobody, 2)[0].events)
"""
TRACE = """
import sys
sys.argv = ["aoe-reports", "trace", sys.argv[1], "--from", "{start}", "--to", "{end}", "-o", "{output}"]
from aoe_reports.cli.main import main
main()
"""
_PART_NS = 200_000_000
Run = tuple[float, float, float]
"""CPU seconds, wall seconds, peak memory in MB."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace_view.json"
        if arguments.file is None:
            made(file, arguments.megabytes)
        else:
            file.symlink_to(arguments.file.resolve())
        look = look_at_timeline(file)
        start, end = look.start_ns or 0, look.end_ns or 0
        middle = (start + end) // 2
        times = {"0.2 s": (middle, middle + _PART_NS), "all of it": (start, end + 1)}
        size = file.stat().st_size / 1e6
        print(f"{size:.0f} MB, {look.events:,} events: {arguments.rounds} rounds, median of whole processes")
        for name, (first, last) in times.items():
            output = Path(folder) / "cut.json"
            cut = TRACE.format(start=first, end=last, output=output)
            pairs = [(timed(cut, file), timed(READING, file)) for _ in range(arguments.rounds)]
            show(f"trace {name}, {output.stat().st_size / 1e6:.0f} MB", [ours for ours, _ in pairs])
            show("reading", [reading for _, reading in pairs])
            cpu, wall = (statistics.median(ours[part] / reading[part] for ours, reading in pairs) for part in (0, 1))
            print(f"  ratio of CPU {cpu:.2f}, of wall time {wall:.2f}")


def timed(script: str, file: Path) -> Run:
    """One finished process."""
    begin = time.perf_counter()
    finished = run(script, file)
    cpu, memory = finished.cpu_s, finished.peak_mb
    return cpu, time.perf_counter() - begin, memory


def show(name: str, runs: list[Run]) -> None:
    """Print one line of medians."""
    cpu, wall, memory = (statistics.median(part) for part in zip(*runs, strict=True))
    print(f"  {name:26s} {cpu:6.2f} CPU s  {wall:6.2f} s  {memory:6.0f} MB peak")


if __name__ == "__main__":
    main()
