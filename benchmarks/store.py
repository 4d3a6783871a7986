"""What the store costs as it grows: ingest of one more night, reading the last nights of one workload.

usage: python benchmarks/store.py [--nights 10000] [--workloads 1] [--records 200] [--rounds 20] [--keep FOLDER]
Each night is one run of so many records; with several workloads so many runs share a date. All nights are stored one
commit each, through one open store as a long `ingest` does. On the way, at 1, 1,000 and all nights, it measures what a
process that has just imported its modules does: `ingest` is opening the store, looking for small files to merge, making
the rows, looking up whether the run is there, writing and committing; `read` is opening the store and reading 19
columns of the last 90 nights of one workload as `regressions` and `site` do: texts stay dictionaries. Reading the
profile itself and imports are not counted. Figures are milliseconds: median (least to most); ingests that merged small
files are told apart. With --keep a store that is there already is filled up, and measured then.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.records.record import Record
from aoe_reports.history.runs.ingest import TEND_EVERY
from aoe_reports.history.runs.listing import _COLUMNS as READ
from aoe_reports.model.findings import Finding
from aoe_reports.store import History, Origin, Run, RunHeader, equals
from aoe_reports.store.care import compact, compact_if_needed

FIRST = datetime(1999, 1, 1, 2, tzinfo=UTC)
NIGHTS_READ = 90


def run_of(number: int, workloads: int, records: int) -> Run:
    """One made-up night of one workload."""
    start = FIRST + timedelta(days=number // workloads, minutes=number % workloads)
    model = f"model-{number % workloads}"
    at = int(start.timestamp()) * 1_000_000_000
    identity = identity_of("profile", number)
    run_id = run_id_of(at, identity)
    member = Member(identity, content_hash_of([identity]), records, named=True)
    header = RunHeader(
        run_id,
        "profile",
        at,
        f"{start:%Y-%m-%d}",
        model,
        "npu",
        content_hash_of([member.content_hash]),
        (member,),
        "ok",
        f"/data/nights/{start:%Y-%m-%d}/{model}",
    )
    rows = [
        Record(
            workload=f"{model}/op/layer{index}/conv",
            engine="cann",
            hardware="npu",
            runtime_ms_mean=0.1 + (number * 31 + index * 17) % 1000 / 1000,
            runtime_ms_std=0.01,
            timestamp=at / 1e9,
            run_id=run_id,
            timestamp_ns=at,
            model=model,
            scope="op",
            source="msprof",
            op_type="Conv2D",
            op_name=f"layer{index}/conv",
            workload_args={"task_type": "AI_CORE", "input_shapes": f"32,{index},224,224"},
            count=5,
            total_ns=500_000 + index,
        )
        for index in range(records)
    ]
    return Run(header, rows, [Finding("info", "time-zone-assumed", header.path, "a time without a zone")])


def ingest(store: str, run: Run) -> bool:
    """Store one more night as a process of its own would; whether it merged files, too."""
    history = History.open(store, create=True, origin=Origin("benchmark"))
    merged = compact_if_needed(history.log, []) is not None
    if history.add(run) != "added":
        raise SystemExit("the benchmark's own runs are not told apart")
    return merged


def read(store: str, workloads: int, number: int) -> int:
    """Read the last nights of one workload."""
    since = FIRST + timedelta(days=max(0, number // workloads - NIGHTS_READ))
    where = [equals("model", "model-0"), equals("night", f"{since:%Y-%m-%d}", ">=")]
    return sum(rows.num_rows for rows in History.open(store).coded_rows("record", READ, where))


def opened(store: str) -> int:
    """Open the store and learn which files are in force."""
    return len(History.open(store).log.parts())


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and elapsed milliseconds of some work, and what it gave."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000, result


def line(label: str, times: list[tuple[float, float, Any]]) -> None:
    """Print medians and maxima."""
    if times:
        cpu, wall = [row[0] for row in times], [row[1] for row in times]
        print(
            f"  {label:24s} CPU {statistics.median(cpu):6.1f} ({min(cpu):.1f} to {max(cpu):.1f}),"
            f" elapsed {statistics.median(wall):6.1f} ({min(wall):.1f} to {max(wall):.1f}), n={len(times)}"
        )


def measure(store: str, number: int, arguments: argparse.Namespace) -> int:
    """Measure at this size, with so many more nights; the number of nights then."""
    ingests = []
    for extra in range(arguments.rounds):
        run = run_of(number + extra, arguments.workloads, arguments.records)
        ingests.append(timed(lambda run=run: ingest(store, run)))
    number += arguments.rounds
    reads = [timed(lambda: read(store, arguments.workloads, number)) for _ in range(arguments.rounds)]
    opens = [timed(lambda: opened(store)) for _ in range(arguments.rounds)]
    history = History.open(store)
    commits = len(list((Path(store) / "_delta_log").iterdir()))
    print(f"{number} nights: {len(history.log.parts())} files, {commits} files in the log, {reads[0][2]} rows read")
    line("first ingest of all", ingests[:1])
    line("ingest", [row for row in ingests[1:] if not row[2]])
    line("ingest that merged", [row for row in ingests[1:] if row[2]])
    line("read 90 nights", reads[1:])
    line("  of it: open", opens[1:])
    return number


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=10_000)
    parser.add_argument("--workloads", type=int, default=1)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = str(arguments.keep or Path(folder) / "store")
        number = len(History.open(store).runs()) if Path(store).exists() else measure(store, 0, arguments)
        for size in (1000, arguments.nights):
            history = History.open(store, origin=Origin("benchmark"))
            cpu, wall, _ = timed(partial(fill, history, number, size, arguments))
            if size > number:
                each = size - number
                print(f"  filled: {cpu / each:7.1f} CPU, {wall / each:7.1f} elapsed a night, n={each}")
                number = measure(store, size, arguments)
        print(
            "  the same after the commits have become older than 30 days and were cleaned up, as over years they are:"
        )
        for path in (Path(store) / "_delta_log").iterdir():
            os.utime(path, (1, 1))
        cpu, wall, _ = timed(lambda: compact(History.open(store, origin=Origin("benchmark")).log))
        print(f"  compact: {cpu:7.1f} CPU, {wall:7.1f} elapsed")
        measure(store, number, arguments)


def fill(history: History, start: int, stop: int, arguments: argparse.Namespace) -> None:
    """Store nights one by one, as one long ingest."""
    for number in range(start, stop):
        if number % TEND_EVERY == 0:
            while compact_if_needed(history.log, []):
                pass
        history.add(run_of(number, arguments.workloads, arguments.records))


if __name__ == "__main__":
    main()
