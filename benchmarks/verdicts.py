"""How often `verify` gives the right verdict on simulated tuning loops whose truth is known, a hundred seeds of each.

usage: python benchmarks/verdicts.py [--seeds 100]
The truths: really 20 % less time; only claimed (other kernels, the same time); slower; the bank was not in use. The verdict
on the whole has to be the right one, and the signs that the bank was not in use have to be named there and only there.
Exits with 1 when fewer than 95 of 100 are right of any truth.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.verify import verify
from aoe_reports.simulation.tuning import OUTCOMES, Outcome, write_loop
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan

EXPECTED = {
    "faster": ("confirmed", False),
    "only-claimed": ("not-reproduced", False),
    "slower": ("regressed", False),
    "bank-not-used": ("not-reproduced", True),
}
MIN = 0.95


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    worst = 1.0
    for outcome in OUTCOMES:
        said = Counter(verdict_of(outcome, seed) for seed in range(1, arguments.seeds + 1))
        right = said[EXPECTED[outcome]]
        worst = min(worst, right / arguments.seeds)
        others = ", ".join(
            f"{n} {verdict}{' with signs' if signs else ''}" for (verdict, signs), n in said.most_common()
        )
        print(f"{outcome:14s} {right:3d} of {arguments.seeds} right: {others}")
    sys.exit(int(worst < MIN))


def verdict_of(outcome: Outcome, seed: int) -> tuple[str, bool]:
    """(the verdict on the whole, whether signs were named that the bank was not in use) of one simulated loop."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loop = write_loop(folder, outcome, seed)
        write_plan(folder / "plan", Plan("offline", "opat"))
        found = verify(folder / "plan", VerifyOptions(before=loop.before, after=loop.after, results=(loop.result,)))
        return str(found.more["verdict"]), bool(found.more["signs"])


if __name__ == "__main__":
    main()
