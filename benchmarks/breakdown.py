"""CPU and memory of `aoe-reports breakdown` on a large timeline against reading its events, as whole processes, in turn.

usage: python benchmarks/breakdown.py [FILE.json] [--megabytes 1000] [--rounds 3]
Without FILE one of --megabytes is made. Reading is `stream_events` with all columns, every batch looked at by nobody. Prints
medians of CPU seconds and peak memory and the ratio, pair by pair; quote the ratio, the seconds are this machine's.
The bars are 1.5 times the CPU of reading and 400 MB.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from timeline import ARROW, made, run, show

BREAKDOWN = """
import sys
sys.argv = ["aoe-reports", "breakdown", sys.argv[1], "--format", "json"]
from aoe_reports.cli.main import main
main()
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace_view.json"
        if arguments.file:
            file.symlink_to(arguments.file.absolute())
        else:
            made(file, arguments.megabytes)
        printed = run(BREAKDOWN, file)[2]  # not counted: fills the page cache
        if '"end_to_end_us"' not in printed:
            sys.exit(f"no breakdown: {printed[:500]}")
        pairs = [(run(BREAKDOWN, file), run(ARROW, file)) for _ in range(arguments.rounds)]
        size = file.stat().st_size / 1e6
    print(f"{size:.0f} MB: {arguments.rounds} rounds, median of whole processes")
    show("breakdown", [ours for ours, _ in pairs])
    show("stream_events", [reading for _, reading in pairs])
    print(f"  ratio of CPU        {statistics.median(ours[0] / reading[0] for ours, reading in pairs):6.2f}")


if __name__ == "__main__":
    main()
