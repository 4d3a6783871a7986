"""CPU of `hotspots` on a large op_summary against a bare polars scan of three columns, as whole processes, in turn.

usage: python benchmarks/hotspots.py [FILE.csv] [--rows 1000000] [--rounds 5]
Without FILE one is made from the tasks of the package's own simulated nights, repeated to --rows rows, one a millisecond. Prints medians of CPU
seconds and peak memory and the ratio, pair by pair; quote the ratio, the seconds are this machine's.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from aoe_reports.simulation.nights import write_nights

BARE = """
import sys, polars as pl
keys, ns = ["OP Type", "Task Type"], "Task Duration(us)"
scan = pl.scan_csv(sys.argv[1], infer_schema=False).select(*keys, ns)
print(scan.group_by(keys).agg(pl.len(), pl.col(ns).cast(pl.Float64, strict=False).sum()).collect().height)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or made(Path(folder), arguments.rows)
        ours = [sys.executable, "-m", "aoe_reports", "hotspots", str(file)]
        bare = [sys.executable, "-c", BARE, str(file)]
        run(ours), run(bare)  # once each, not counted: the file is in the page cache from here on
        pairs = [(run(ours), run(bare)) for _ in range(arguments.rounds)]
    print(f"{file.name}: {arguments.rounds} rounds, median of whole processes")
    for name, index in (("aoe-reports hotspots", 0), ("bare polars scan", 1)):
        cpu = statistics.median(pair[index][0] for pair in pairs)
        memory = statistics.median(pair[index][1] for pair in pairs)
        print(f"  {name:22s} {cpu:6.2f} CPU s  {memory:6.0f} MB peak")
    print(f"  ratio of CPU           {statistics.median(a[0] / b[0] for a, b in pairs):6.2f}")


def made(folder: Path, rows: int) -> Path:
    """Write an op_summary of so many rows: the tasks of simulated nights, again and again."""
    nights = write_nights(folder / "nights", 45)
    lines: list[str] = []
    for night in nights:
        export = next(night.rglob("op_summary_*.csv")).read_text(encoding="utf-8").splitlines(keepends=True)
        header, lines = export[0], lines + export[1:]
    path = folder / "op_summary.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(header)
        file.writelines(starting(line, number) for number, line in enumerate(islice(cycle(lines), rows)))
    return path


STAMP = re.compile(r"(?<=,)\d{16}(?=\.\d{3}\t,)")
FIRST_US = 1_767_232_800_000_000


def starting(line: str, number: int) -> str:
    """The line of a task, so many milliseconds after the first: no two rows of an export are one task."""
    return STAMP.sub(str(FIRST_US + number * 1000), line)


def run(command: list[str]) -> tuple[float, float]:
    """(CPU seconds, peak memory in MB) of one finished process."""
    sink = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=sink)
    _, _, usage = os.wait4(process, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


if __name__ == "__main__":
    main()
