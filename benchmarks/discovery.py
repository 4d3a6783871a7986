"""CPU of finding 10,000 profile files and putting them into runs against a bare walk that opens each, in turn.

usage: python benchmarks/discovery.py [--files 10000] [--rounds 5]
Makes captures of many ranks in a temporary folder. Prints medians of CPU seconds of whole processes and their ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

NAMES = (
    "kernel_details.csv", "op_statistic.csv", "api_statistic.csv", "l2_cache.csv", "memory_record.csv",
    "operator_memory.csv", "npu_module_mem.csv", "operator_details.csv", "step_trace_time.csv", "trace_view.json",
    "communication.json", "communication_matrix.json",
)  # fmt: skip
OURS = """
import sys
from pathlib import Path
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.capture import group_runs
from aoe_reports.formats.vendor import group_captures
found = discover([Path(sys.argv[1])])
print(len(found.files), len(group_runs(group_captures(found.files))))
"""
BARE = """
import os, sys
count = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            file.read(1)
            count += 1
print(count)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        count = make(Path(folder), arguments.files)
        commands = [[sys.executable, "-c", script, folder] for script in (OURS, BARE)]
        [run(command) for command in commands]  # once each, not counted
        pairs = [[run(command) for command in commands] for _ in range(arguments.rounds)]
    print(f"{count} files: {arguments.rounds} rounds, median of whole processes")
    for name, index in (("discover and group", 0), ("bare walk", 1)):
        print(f"  {name:20s} {statistics.median(pair[index] for pair in pairs):6.2f} CPU s")
    print(f"  ratio of CPU         {statistics.median(a / b for a, b in pairs):6.2f}")


def make(root: Path, files: int) -> int:
    """Write captures of one rank each until there are so many files."""
    written = rank = 0
    while written < files:
        capture = root / f"host_4711_{20260101000000 + rank}_ascend_pt"
        exports = capture / "ASCEND_PROFILER_OUTPUT"
        exports.mkdir(parents=True)
        (capture / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
        for name in NAMES:
            text = (
                '[{"ph": "X"}]' if name.endswith("json") else "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
            )
            (exports / name).write_text(text)
        written += len(NAMES) + 1
        rank += 1
    return written


def run(command: list[str]) -> float:
    """CPU seconds of one finished process."""
    sink = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=sink)
    _, _, usage = os.wait4(process, 0)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
