"""CPU of reading a large made-up database: every kind that it holds, and the walk through its pages alone.

usage: python benchmarks/database.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aoe_reports.formats.sqlite import kinds_of_database, read_database, read_database_events
from aoe_reports.formats.sqlite.source import opened

START = 1_736_410_576_404_465_403
HOTSPOT_FIELDS = frozenset({"device_id", "op_name", "op_type", "task_type", "task_start_ns", "task_duration_ns"})
DDL = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
  globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,
  taskType INTEGER, opType INTEGER, inputShapes INTEGER, outputShapes INTEGER);
CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId);
"""


def made(path: Path, rows: int) -> Path:
    """Write a database of tasks that follow each other."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(DDL)
        words = ((number, f"aclnnOperatorWithALongName_{number}") for number in range(20_000))
        connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", words)
        tasks = ((START + n * 50_000, START + n * 50_000 + 30_000 + n % 7, n, n, n % 65_536) for n in range(rows))
        connection.executemany("INSERT INTO TASK VALUES (?, ?, 0, ?, ?, 1, 1, 4294967295, 2, ?, 4294967295)", tasks)
        infos = ((n % 20_000, n, n % 40, n % 3, n % 50, n % 900, n % 800) for n in range(rows))
        connection.executemany("INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?, ?, 0, ?, ?, ?, ?)", infos)
        connection.commit()
    return path


def measured(label: str, work: Callable[[], object]) -> None:
    """Print the CPU seconds of some work."""
    before = time.process_time()
    work()
    print(f"{label:24s} {time.process_time() - before:6.2f} s CPU")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder) / "msprof_20260605155140.db", parser.parse_args().rows)
        print(f"{path.stat().st_size >> 20} MiB")
        with opened(path) as database:
            measured("walk through TASK", lambda: database.fetch("TASK", {}))
        measured("hotspot columns", lambda: read_database(path, "op_summary", HOTSPOT_FIELDS, hashed=False))
        for kind in sorted(kinds_of_database(path)[0]):
            measured(kind, lambda kind=kind: read_database(path, kind, hashed=False))
        measured("events", lambda: read_database_events(path))


if __name__ == "__main__":
    main()
