"""Questions about many ranks, as whole processes: CPU a rank, two processes against one, and what is kept.

usage: python benchmarks/fleet.py CAPTURE [--ranks 16 256 1024] [--timelines 128] [--rounds 3]
CAPTURE is a torch_npu export of one rank, of which ranks are made (fleet_ranks.py). `hotspots` is asked of each number of ranks by one
process, and `nightly` into a new store; `communication`, which reads timelines, of --timelines ranks by one and by two processes in turn, with what was kept, and in
eight shares one after another. All answers of one input are equal to the byte. Prints medians; quote ratios, seconds are this machine's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from fleet_ranks import make


class Run(NamedTuple):
    """What a command took, and what it printed."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    out: bytes


def run(*arguments: object) -> Run:
    """Run one command of ours; CPU of its own processes with it, memory of the largest."""
    with tempfile.TemporaryFile() as out:
        began_s = time.perf_counter()
        command = [sys.executable, "-m", "aoe_reports", *map(str, arguments)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began_s
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1}:
            sys.exit(f"{command}: exit code {process.returncode}")
        out.seek(0)
        return Run(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--ranks", type=int, nargs="*", default=[16, 256, 1024])
    parser.add_argument("--timelines", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start_s = 0.0
        for count in (1, *asked.ranks):
            make(asked.capture, folder / f"{count}", count)
            runs = [_hotspots(folder / f"{count}") for _ in range(asked.rounds)]
            start_s = start_s or statistics.median(one.cpu_s for one in runs)
            show(f"hotspots, {count} ranks", runs, count, start_s)
            _nightly(folder, count)
        make(asked.capture, folder / "timelines", asked.timelines, timelines=True)
        _communication(folder, asked.timelines, asked.rounds)


def _nightly(folder: Path, count: int) -> None:
    """The whole night, once into a new store: reading, storing, comparing and pages."""
    site = folder / f"site{count}"
    place = ("--store", folder / f"store{count}", "--site", site)
    show(f"  nightly, {count} ranks", [run("nightly", folder / f"{count}", *place)], count)
    pages = len(list(site.rglob("*.html")))
    stored = sum(path.stat().st_size for path in (folder / f"store{count}").rglob("*") if path.is_file())
    print(f"    {pages} pages, {stored / 1e6:.1f} MB stored")


def _hotspots(ranks: Path) -> Run:
    return run("hotspots", ranks, "--jobs", 1, "--format", "json")


def _communication(folder: Path, count: int, rounds: int) -> None:
    question = ("communication", folder / "timelines", "--format", "json")
    run(*question, "--cache", folder / "cache")  # fills the page cache, too
    one, two, kept = [], [], []
    for _ in range(rounds):
        one.append(run(*question, "--jobs", 1))
        two.append(run(*question, "--jobs", 2))
        kept.append(run(*question, "--cache", folder / "cache"))
    show(f"communication, {count} ranks with timelines", one, count)
    show("  by two processes", two, count)
    show("  kept", kept, count)
    whole = statistics.median(a.wall_s / b.wall_s for a, b in zip(one, two, strict=True))
    rounds = zip(one, two, kept, strict=True)
    reading = statistics.median((a.wall_s - k.wall_s) / (b.wall_s - k.wall_s) for a, b, k in rounds)
    print(
        f"  two processes are {whole:.2f} times as fast; without what takes as long where all is kept {reading:.2f} times"
    )
    manifest, partials = folder / "m.json", folder / "partials"
    run(*question[:2], "--manifest", manifest)
    shares = [run("map", manifest, "--partials", partials, "--shard", f"{n}/8", "--jobs", 1) for n in range(1, 9)]
    show("  one share of eight", shares, count / 8)
    reduced = run("reduce", manifest, "--partials", partials, "--format", "json")
    show("  reduced", [reduced], count)
    if len({one.out for one in (*one, *two, *kept, reduced)}) != 1:
        sys.exit("the answers differ")


def show(name: str, runs: list[Run], ranks: float, start_s: float = 0.0) -> None:
    """Print the medians of some runs; CPU a rank without that of the start, if that is said."""
    wall_s, cpu_s, peak_mb = (statistics.median(one[n] for one in runs) for n in range(3))
    print(
        f"{name:44} {wall_s:7.2f} s  CPU {cpu_s:7.2f} s = {1000 * (cpu_s - start_s) / ranks:6.1f} ms a rank  peak {peak_mb:4.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
