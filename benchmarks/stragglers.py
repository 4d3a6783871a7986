"""How often `stragglers` names a rank of a job that only scatters, how often it finds a slow one, and how long it takes.

usage: python benchmarks/stragglers.py [--ranks 16 256 1024 10000] [--noise 0.003 0.005 0.01] [--slower 0.03 0.05] [--jobs 500] [--seed 1]
The computing of ranks is normal around one value; "named" is the share of jobs without a slow rank in which any is called slow.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pyarrow as pa

from aoe_reports.topics.steps.straggler_facts import find_stragglers

USUAL_NS = 10_000_000


def main() -> None:
    """Print the shares, a row for each noise and number of ranks, and the time of one large job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 256, 1024, 10_000])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.003, 0.005, 0.01])
    parser.add_argument("--slower", type=float, nargs="+", default=[0.03, 0.05])
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = np.random.default_rng(asked.seed)
    for noise in asked.noise:
        for ranks in asked.ranks:
            jobs = USUAL_NS * (1 + noise * chance.standard_normal((asked.jobs, ranks)))
            told = [f"named {sum(_slow(job) > set() for job in jobs) / asked.jobs:.3f}"]
            for slower in asked.slower:
                jobs[:, 0] *= 1 + slower
                told.append(f"{slower:.0%} found {sum(0 in _slow(job) for job in jobs) / asked.jobs:.2f}")
                jobs[:, 0] /= 1 + slower
            sys.stdout.write(f"noise {noise:.1%}, {ranks} ranks: {', '.join(told)}\n")
    sys.stdout.write(
        f"1,024 ranks of 100 types: {_time_of(1024, 100):.3f} s, 10,000 ranks: {_time_of(10_000, 100):.2f} s\n"
    )


def _slow(totals: np.ndarray) -> set[int | None]:
    """The ranks that are called slow."""
    ranks = len(totals)
    columns = [range(ranks), pa.nulls(ranks), ["MatMul"] * ranks, [1] * ranks, totals.astype(np.int64)]
    found = find_stragglers(pa.table(columns, names=["rank_id", "device_id", "op_type", "count", "total_ns"]))
    return {one.rank_id for one in found if one.state == "slow"}


def _time_of(ranks: int, types: int) -> float:
    times = np.random.default_rng(1).integers(10**4, 10**6, ranks * types)
    names = [f"op{number}" for number in range(types)] * ranks
    columns = [np.repeat(np.arange(ranks), types), pa.nulls(len(times)), names, np.full(len(times), 10), times]
    sums = pa.table(columns, names=["rank_id", "device_id", "op_type", "count", "total_ns"])
    before = time.perf_counter()
    find_stragglers(sums)
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
