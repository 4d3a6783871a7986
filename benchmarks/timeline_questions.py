"""CPU, time and memory of questions to a large timeline against a bare pass over its events, as whole processes, in turn.

usage: python benchmarks/timeline_questions.py [FILE.json] [--megabytes 1000] [--rounds 3]
Without FILE one of --megabytes is made. The bare pass is duckdb with typed columns and one thread, which hands every event out as Arrow
and looks at none. Prints medians, and the ratios pair by pair; quote the ratios, the seconds are this machine's.
The bars are 1.5 times the CPU of the bare pass, 0.6 times its time (with two processors) and 320 MB.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from timeline import Finished, made, run, show

QUESTION = """
import sys
sys.argv = ["aoe-reports", "{question}", sys.argv[1], "--format", "json"]
from aoe_reports.cli.main import main
main()
"""
BARE_ROWS = """
import sys, duckdb
connection = duckdb.connect(config={"threads": 1, "memory_limit": "256MB"})
connection.execute("SET enable_progress_bar = false")
rows = connection.sql('''
    SELECT ph, name, cat, id, ts, dur, pid, tid, args."Task Type", args.connection_id, args."Task Id", args."Physic Stream Id"
    FROM read_json(?, format='array', maximum_object_size=4194304, columns={ph: 'VARCHAR', name: 'VARCHAR', cat: 'VARCHAR',
        id: 'VARCHAR', ts: 'VARCHAR', dur: 'DOUBLE', pid: 'BIGINT', tid: 'BIGINT', args: 'STRUCT("Task Type" VARCHAR,
        connection_id BIGINT, "Task Id" BIGINT, "Physic Stream Id" BIGINT)'})''', params=[sys.argv[1]])
print(sum(batch.num_rows for batch in rows.to_arrow_reader(1 << 15)))
"""
_ENDS = (0, 1)
"""A made timeline has no communication, which is said with 1."""
QUESTIONS = ("breakdown", "communication", "hotspots", "steps", "critical-path")


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
        events = run(BARE_ROWS, file).printed.strip()  # not counted: fills the page cache
        print(
            f"{file.stat().st_size / 1e6:.0f} MB, {events} events: {arguments.rounds} rounds, median of whole processes"
        )
        for question in QUESTIONS:
            script = QUESTION.format(question=question)
            pairs = [(run(script, file, _ENDS), run(BARE_ROWS, file)) for _ in range(arguments.rounds)]
            show(question, [ours for ours, _ in pairs])
            show("bare pass", [bare for _, bare in pairs])
            print(f"  ratios: {ratio(pairs, 'cpu_s'):.2f} of CPU, {ratio(pairs, 'wall_s'):.2f} of time")


def ratio(pairs: list[tuple[Finished, Finished]], of: str) -> float:
    """The median of ours against bare, pair by pair."""
    return statistics.median(getattr(ours, of) / getattr(bare, of) for ours, bare in pairs)


if __name__ == "__main__":
    main()
