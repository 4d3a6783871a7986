"""Wall time, CPU and peak memory of `compare` of two large op_summary files, as whole processes.

usage: python benchmarks/compare.py [BASELINE.csv CANDIDATE.csv] [--rows 1000000] [--rounds 3]
Without files two are made from the package's own simulated nights, repeated to --rows rows; in the candidate one operator
takes a tenth longer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from hotspots import made, run

SLOWER = "layer6/conv"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = arguments.files or both(Path(folder), arguments.rows)
        for by in ("op_type", "op_name", "shape"):
            command = [sys.executable, "-m", "aoe_reports", "compare", *map(str, files), "--by", by]
            run(command)  # not counted: the files are in the page cache from here on
            rounds = [timed(command) for _ in range(arguments.rounds)]
            wall, cpu, memory = (statistics.median(values) for values in zip(*rounds, strict=True))
            print(f"compare --by {by:8s} {wall:6.2f} s wall  {cpu:6.2f} CPU s  {memory:6.0f} MB peak")


def both(folder: Path, rows: int) -> list[Path]:
    """Write the baseline and the candidate."""
    baseline, candidate = made(folder, rows), folder / "slower" / "op_summary.csv"
    candidate.parent.mkdir()
    with (
        baseline.open(encoding="utf-8", newline="") as before,
        candidate.open("w", encoding="utf-8", newline="") as after,
    ):
        header = next(before)
        after.write(header)
        place = header.split(",").index("Task Duration(us)")
        for line in before:
            cells = line.split(",", place + 1)
            if SLOWER in line:
                cells[place] = f"{float(cells[place]) * 1.1:.3f}"
            after.write(",".join(cells))
    return [baseline, candidate]


def timed(command: list[str]) -> tuple[float, float, float]:
    """(wall seconds, CPU seconds, peak memory in MB) of one finished process."""
    begin = time.perf_counter()
    cpu, memory = run(command)
    return time.perf_counter() - begin, cpu, memory


if __name__ == "__main__":
    main()
