"""How often `verify --claims` gives the right verdict on simulated claims whose truth is known, sixty a seed.

usage: python benchmarks/claims.py [--seeds 20]
The truths are those of `simulation.claims`: gains as claimed, less than half of them, none, losses, and controls (the same kernel twice).
Exits with 1 when fewer than 95 of 100 are right, more than 2 of 100 are called confirmed and are not, or more than 1 of 200 controls: what an
interval of 99 % leaves on one side.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.verify_claims import check_claims
from aoe_reports.simulation.claims import EXPECTED, Truth, write_claims

MIN_RIGHT = 0.95
MAX_CONFIRMED_WRONGLY = 0.02
MAX_CONTROLS = 0.005


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    said: Counter[tuple[Truth, str]] = Counter()
    for seed in range(1, arguments.seeds + 1):
        said.update(verdicts_of(seed))
    for truth, right in EXPECTED.items():
        mine = {verdict: number for (of, verdict), number in said.items() if of == truth}
        others = ", ".join(f"{number} {verdict}" for verdict, number in sorted(mine.items()) if verdict != right)
        print(f"{truth:10s} {mine.get(right, 0):5d} of {sum(mine.values()):5d} {right}{'; ' if others else ''}{others}")
    whole = said.total()
    right_ones = sum(number for (truth, verdict), number in said.items() if verdict == EXPECTED[truth])
    wrongly = sum(number for (truth, verdict), number in said.items() if verdict == "confirmed" and truth != "true")
    print(f"right {right_ones / whole:.2%}, confirmed wrongly {wrongly / whole:.2%} of {whole}")
    missed = right_ones / whole < MIN_RIGHT or wrongly / whole > MAX_CONFIRMED_WRONGLY
    controls = sum(number for (truth, _), number in said.items() if truth == "control")
    sys.exit(int(missed or said["control", "confirmed"] / controls > MAX_CONTROLS))


def verdicts_of(seed: int) -> Iterator[tuple[Truth, str]]:
    """(the truth, the verdict) of each claim of one simulation."""
    with tempfile.TemporaryDirectory() as name:
        for case in write_claims(Path(name), seed):
            found = check_claims(case.before, case.after, VerifyOptions(claims=(case.file,)))
            verdicts = {row.op_name: row.verdict for row in found.rows if row.scope == "operator"}
            yield from ((claim.truth, verdicts[claim.op_name]) for claim in case.claims)


if __name__ == "__main__":
    main()
