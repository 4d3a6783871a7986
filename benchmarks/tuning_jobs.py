"""How often `verify` gives the right verdict on jobs of the simulated aoe with planted outcomes: six operators a job.

usage: python benchmarks/tuning_jobs.py [--jobs 300]
Planted are: used (as claimed), not-used (the entry is of another shape; CANN's log says so), filler (the bank changed without a gain, and
AOE filled in the times), regressed (slower with the new entry), failed, and untuned operators beside them. One job in six is interrupted:
its claims prove nothing. The whole job runs in this process: results, bank, log and profiles are files as the commands write them.
Exits with 1 when fewer than 98 of 100 verdicts are right, or more than 1 of 100 are called confirmed and are not.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.verify import verify
from aoe_reports.simulation.aoe import Log, keys_of_bank, read_model, tune_operators
from aoe_reports.simulation.inference import write_log, write_run
from aoe_reports.simulation.planted import SOC, Planted, write_planted
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan

PLANTED: tuple[Planted, ...] = ("used", "not-used", "filler", "regressed", "failed")
RIGHT: dict[str, str | None] = {
    "used": "confirmed",
    "not-used": "not-used",
    "filler": "not-comparable",
    "regressed": "regressed",
    "failed": None,
    "interrupted": None,
}
"""The verdict that each has to get; null: no claim is made of it, so it has none."""
OPERATORS = 6
UNTUNED = 8
INTERRUPTED_EVERY = 6
MIN_RIGHT = 0.98
MAX_CONFIRMED_WRONGLY = 0.01


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=300)
    arguments = parser.parse_args()
    began = time.monotonic()
    said: Counter[tuple[str, str | None]] = Counter()
    for number in range(1, arguments.jobs + 1):
        said.update(verdicts_of(number))
    for planted, right in RIGHT.items():
        mine = {verdict: count for (of, verdict), count in said.items() if of == planted}
        others = ", ".join(f"{count} {verdict}" for verdict, count in sorted(mine.items(), key=str) if verdict != right)
        print(
            f"{planted:12s} {mine.get(right, 0):5d} of {sum(mine.values()):5d} {right or 'no claim'}{'; ' if others else ''}{others}"
        )
    whole = said.total()
    right_ones = sum(count for (planted, verdict), count in said.items() if verdict == RIGHT[planted])
    wrongly = sum(count for (planted, verdict), count in said.items() if verdict == "confirmed" and planted != "used")
    print(
        f"right {right_ones / whole:.2%}, confirmed wrongly {wrongly / whole:.2%} of {whole} in {arguments.jobs} jobs, {time.monotonic() - began:.0f} s"
    )
    sys.exit(int(right_ones / whole < MIN_RIGHT or wrongly / whole > MAX_CONFIRMED_WRONGLY))


def verdicts_of(number: int) -> Iterator[tuple[str, str | None]]:
    """(what was planted, the verdict) of each tuned operator of one job."""
    noise = random.Random(number)
    interrupted = number % INTERRUPTED_EVERY == 0
    planted = [(noise.choice(PLANTED), noise.uniform(150.0, 450.0)) for _ in range(OPERATORS)]
    beside: list[tuple[Planted, float]] = [("untuned", noise.uniform(40.0, 200.0)) for _ in range(UNTUNED)]
    with tempfile.TemporaryDirectory() as name:
        loop = write_planted(Path(name), [*planted, *beside])
        model, job = read_model(loop.model), Path(name) / "job"
        write_plan(job, Plan("offline", "opat", soc=SOC))
        before = write_run(Path(name) / "before", model, keys_of_bank(loop.bank / SOC), seed=2 * number + 1)
        tuned = [operator for operator in loop.planted if loop.planted[operator] != "untuned"]
        os.environ |= {"TUNE_BANK_PATH": str(loop.bank), "ASCEND_WORK_PATH": name}
        result = tune_operators({"tune_ops_name": tuned}, "incomplete" if interrupted else "succeed", model)
        keys = keys_of_bank(loop.bank / SOC)
        after = write_run(Path(name) / "after", model, keys, seed=2 * number)
        write_log(Log(Path(name) / "log"), model, keys)
        options = VerifyOptions(before=before, after=after, results=(result.path,), log=Path(name) / "log")
        verdicts = {row.op_name: row.verdict for row in verify(job, options).rows if row.scope == "operator"}
        yield from (("interrupted" if interrupted else loop.planted[one], verdicts.get(one)) for one in tuned)


if __name__ == "__main__":
    main()
