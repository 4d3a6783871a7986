"""What each threshold of growth is worth: right answers on planted memory where it is halved, doubled or left out.

usage: python benchmarks/memory_growth.py [--seeds 80]
Cases are those of tests/planted_memory.py, from seed 3000 on: planted kinds are right with the owner and the meaning, healthy ones where nothing
allocated leaks, grows or fills beyond what is known to fill. Walks go up and down by chance, 40 steps each: right is no row.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from planted_memory import HEALTHY, PLANTED, Planted, event_frame_of, planted, sample_frame_of

from aoe_reports.topics.memory import gains
from aoe_reports.topics.memory.growth import growth_of

FIRST_SEED, WALKS = 3000, 400
FILLING = {"cache of many shapes", "queue"}
LEFT_OUT = {"REGULAR": math.inf, "AT_REST": math.inf, "SLOWER": 0.0, "NOISE": 0.0}
VARIANTS: dict[str, tuple[str, float]] = {"as it is": ("NOISE", gains.NOISE)} | {
    f"{name} {value:g}": (name, value)
    for name, none in LEFT_OUT.items()
    for value in (getattr(gains, name) / 2, getattr(gains, name) * 2, none)
}


class Case(NamedTuple):
    """A recording; `truth` is what is planted in it, None of a walk."""

    group: str
    kind: str
    events: pa.Table
    samples: pa.Table
    steps: Sequence[tuple[int, int, int]]
    truth: Planted | None


def main() -> None:
    """Judge all cases by each variant and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=80)
    right: dict[str, Counter[str]] = {name: Counter() for name in VARIANTS}
    count = Counter[str]()
    for case in _cases(parser.parse_args().seeds):
        count[case.group] += 1
        for name, (constant, value) in VARIANTS.items():
            before = getattr(gains, constant)
            setattr(gains, constant, value)
            right[name][case.group] += _is_right(case)
            setattr(gains, constant, before)
    print(f"{'':14}", *(f"{f'{group} of {number:,}':>18}" for group, number in count.items()))
    for name, found in right.items():
        print(f"{name:14}", *(f"{found[group]:>18,}" for group in count))


def _cases(seeds: int) -> Iterator[Case]:
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for group, kinds in (("planted", PLANTED), ("healthy", HEALTHY)):
            for kind in kinds:
                truth = planted(kind, seed)
                yield Case(group, kind, *truth.frames(), truth.run.steps, truth)
    for seed in range(FIRST_SEED, FIRST_SEED + WALKS):
        levels = 1000 + np.cumsum(np.random.default_rng(seed).normal(0, 20, 40)).astype(int)
        samples = sample_frame_of([(10 * step + 5, (int(level), None, None)) for step, level in enumerate(levels)])
        steps = [(step, 10 * step, 10 * step + 9) for step in range(len(levels))]
        yield Case("walks", "walk", event_frame_of([]), samples, steps, None)


def _is_right(case: Case) -> bool:
    rows = growth_of(case.events, case.samples, case.steps, "PTA+GE").rows
    if case.truth is None:
        return not rows
    if case.kind in HEALTHY:
        allowed = {"warm-up", *(["filling cache"] if case.kind in FILLING else [])}
        return {row.meaning for row in rows if row.measure == "allocated"} <= allowed
    owners = {(row.owner, row.meaning) for row in rows if row.owner is not None}
    pool = {(row.measure, row.meaning) for row in rows if row.owner is None}
    if not any(measure == "reserved" for measure, _ in case.truth.pool):
        pool = {pair for pair in pool if pair[0] == "allocated"}
    return (owners, pool) == (set(case.truth.owners.items()), set(case.truth.pool))


if __name__ == "__main__":
    main()
