"""CPU and memory of reading a large timeline against a bare duckdb script, as whole processes, in turn.

usage: python benchmarks/timeline.py [FILE.json] [--megabytes 500] [--rounds 5]
Without FILE one of --megabytes is made (in a small one the imports count, 0.2 s). Sums count and duration of X events by process, name and task type, with the
package and with the bare script, whose results have to be equal; then streams every event as Arrow batches, and into
Parquet. Prints medians of CPU seconds and peak memory and the ratio, pair by pair; quote the ratio, the seconds are
this machine's.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

BARE = """
import sys, duckdb
connection = duckdb.connect(config={"threads": 1, "memory_limit": "256MB"})
connection.execute("SET enable_progress_bar = false")
rows = connection.execute('''
    SELECT ph, pid, name, args."Task Type", last(args.name), count(*), sum(dur)
    FROM read_json(?, format='array', columns={ph: 'VARCHAR', pid: 'VARCHAR', name: 'VARCHAR', dur: 'DOUBLE',
        args: 'STRUCT(name VARCHAR, "Task Type" VARCHAR)'})
    WHERE ph IN ('X', 'M') GROUP BY ALL''', [sys.argv[1]]).fetchall()
process = {row[1]: row[4] for row in rows if row[0] == 'M' and row[2] == 'process_name'}
sums = [(process.get(row[1]), *row[2:4], *row[5:]) for row in rows if row[0] == 'X']
print(len(sums), sum(row[3] for row in sums))
"""
SUMS = """
import sys, pathlib
from aoe_reports.formats.trace.events import sum_durations
sums = sum_durations(pathlib.Path(sys.argv[1]))
assert not sums.findings, sums.findings[:1]
print(sums.frame.num_rows, sum(sums.frame["count"].to_pylist()))
"""
LOOK = """
import sys, pathlib
from aoe_reports.formats.trace.events import look_at_timeline
print(look_at_timeline(pathlib.Path(sys.argv[1])).events)
"""
ARROW = """
import sys, pathlib
from aoe_reports.formats.trace.events import stream_events
print(sum(batch.num_rows for batch in stream_events(pathlib.Path(sys.argv[1])).batches))
"""
PARQUET = """
import sys, pathlib, tempfile
import pyarrow.parquet as pq
from aoe_reports.formats.trace.events import stream_events
stream = stream_events(pathlib.Path(sys.argv[1]))
with tempfile.TemporaryFile() as file, pq.ParquetWriter(file, stream.batches.schema) as writer:
    for batch in stream.batches:
        writer.write_batch(batch)
"""
OURS = (("sum_durations", SUMS), ("look_at_timeline", LOOK), ("stream_events", ARROW), ("events to Parquet", PARQUET))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or made(Path(folder) / "trace_view.json", arguments.megabytes)
        answers = [run(script, file).printed for script in (SUMS, BARE)]  # not counted: fills the page cache
        if answers[0] != answers[1]:
            sys.exit(f"different sums: {answers[0]!r} against {answers[1]!r}")
        pairs = [(run(SUMS, file), run(BARE, file)) for _ in range(arguments.rounds)]
        others = {name: [run(script, file) for _ in range(min(arguments.rounds, 3))] for name, script in OURS[1:]}
        size = file.stat().st_size / 1e6
    print(f"{file.name}, {size:.0f} MB: {arguments.rounds} rounds, median of whole processes; {answers[0].strip()}")
    show("sum_durations", [ours for ours, _ in pairs])
    show("bare duckdb script", [bare for _, bare in pairs])
    print(f"  ratio of CPU        {statistics.median(ours.cpu_s / bare.cpu_s for ours, bare in pairs):6.2f}")
    for name, runs in others.items():
        show(name, runs)


def show(name: str, runs: list[Finished]) -> None:
    """Print one line of medians."""
    cpu, wall, memory = (statistics.median(part) for part in list(zip(*runs, strict=True))[:3])
    print(f"  {name:19s} {cpu:6.2f} CPU s  {wall:6.2f} s  {memory:6.0f} MB peak")


def made(path: Path, megabytes: int) -> Path:
    """Write a timeline of that size: host calls, flows and tasks as the exporters write them."""
    chance = random.Random(7)
    names = [f"layers.{number % 48}/{kind}_{number}" for number in range(500) for kind in ("MatMulV3", "Add", "Cast")]
    host, device = '"pid":10328480,"tid":20734', '"pid":10328512,"tid":3'
    with path.open("w", encoding="utf-8") as file:
        file.write('[{"name":"process_name","pid":10328512,"tid":0,"ph":"M","args":{"name":"Ascend Hardware"}}')
        file.write(',{"name":"process_name","pid":10328480,"tid":0,"ph":"M","args":{"name":"CANN"}}')
        clock, number = 1717575960208020758, 0
        while file.tell() < megabytes * 1_000_000:
            for _ in range(1000):
                number += 1
                clock += chance.randrange(20_000)
                ts, dur = f'"ts":"{clock // 1000}.{clock % 1000:03d}"', f'"dur":{chance.randrange(50_000) / 1000}'
                flow = f'"cat":"HostToDevice","id":"{number << 32}",{ts}'
                file.write(
                    f',{{"name":"Node@launch",{host},{ts},{dur},"ph":"X","args":{{"Thread Id":20734,"Mode":"launch",'
                    f'"level":"node","id":"0","item_id":"0","connection_id":{number}}}}}'
                    f',{{"name":"HostToDevice",{host},"ph":"s",{flow}}}'
                    f',{{"name":"{chance.choice(names)}",{device},{ts},{dur},"ph":"X","args":{{"Model Id":4294967295,'
                    f'"Task Type":"AI_CORE","Physic Stream Id":3,"Task Id":{number % 65535},"Batch Id":0,'
                    f'"Subtask Id":4294967295,"connection_id":{number}}}}}'
                    f',{{"name":"HostToDevice",{device},"ph":"f","bp":"e",{flow}}}'
                )
        file.write("]")
    return path


class Finished(NamedTuple):
    """What one finished process took, and what it printed."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    printed: str


def run(script: str, file: Path, codes: Collection[int] = (0,)) -> Finished:
    """Run a script as a process of its own, with a file as its argument; it may end with one of some codes."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", script, str(file)],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)],
        )
        _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - begun
        output.seek(0)
        printed = output.read().decode()
    if (code := os.waitstatus_to_exitcode(status)) not in codes:
        sys.exit(f"a process ended with {code}")
    return Finished(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1000, printed)


if __name__ == "__main__":
    main()
