"""CPU, time and peak memory of `advise` on a large op_summary against `hotspots` on the same, as whole processes, in turn.

usage: python benchmarks/advise.py [FILE.csv] [--rows 1000000] [--rounds 5]
Without FILE one is made from the package's own simulated nights, repeated to --rows rows. Prints medians and the
ratio of CPU, pair by pair; quote the ratio, the seconds are this machine's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aoe_reports.simulation.nights import write_nights


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or made(Path(folder), arguments.rows)
        commands = [[sys.executable, "-m", "aoe_reports", name, str(file)] for name in ("advise", "hotspots")]
        for command in commands:  # once each, not counted: the file is in the page cache from here on
            run(command)
        pairs = [tuple(run(command) for command in commands) for _ in range(arguments.rounds)]
    print(f"{file.name}: {arguments.rounds} rounds, median of whole processes")
    for name, index in (("advise", 0), ("hotspots", 1)):
        cpu, wall, memory = (statistics.median(pair[index][n] for pair in pairs) for n in range(3))
        print(f"  {name:10s} {cpu:6.2f} CPU s {wall:6.2f} s {memory:6.0f} MB peak")
    print(f"  ratio of CPU {statistics.median(a[0] / b[0] for a, b in pairs):6.2f}")


def made(folder: Path, rows: int) -> Path:
    """Write an op_summary of so many rows: the tasks of simulated nights, again and again."""
    lines: list[str] = []
    header = ""
    for night in write_nights(folder / "nights", 45):
        export = next(night.rglob("op_summary_*.csv")).read_text(encoding="utf-8").splitlines(keepends=True)
        header, lines = export[0], lines + export[1:]
    path = folder / "op_summary.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(header)
        for _ in range(rows // len(lines)):
            file.writelines(lines)
        file.writelines(lines[: rows % len(lines)])
    return path


def run(command: list[str]) -> tuple[float, float, float]:
    """(CPU seconds, seconds, peak memory in MB) of one finished process."""
    sink = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    begun = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=sink)
    _, _, usage = os.wait4(process, 0)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1000


if __name__ == "__main__":
    main()
