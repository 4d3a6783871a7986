"""How often `verify --claims` gives the right verdict on simulated claims whose truth is known, sixty a seed and form.

usage: python benchmarks/claims.py [--seeds 20] [--form csv]
The forms are those of `simulation.claim_forms`, as each tuner writes its claims; without `--form` all of them.
The truths are those of `simulation.claims`: gains as claimed, less than half of them, none, losses, and controls (the same kernel twice).
Exits with 1 when fewer than 98 of 100 are right, more than 1 of 100 are called confirmed and are not, or more than 1 of 200 controls: what an
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
from aoe_reports.simulation.claim_forms import FORMS, FormName
from aoe_reports.simulation.claims import EXPECTED, Truth, write_claims

MIN_RIGHT = 0.98
MAX_CONFIRMED_WRONGLY = 0.01
MAX_CONTROLS = 0.005


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--form", choices=FORMS, action="append")
    arguments = parser.parse_args()
    said: Counter[tuple[Truth, str]] = Counter()
    for form in arguments.form or FORMS:
        of_form: Counter[tuple[Truth, str]] = Counter()
        for seed in range(1, arguments.seeds + 1):
            of_form.update(verdicts_of(seed, form))
        print(
            f"{form:12s} {_share_right(of_form):.2%} right of {of_form.total()}, {_wrongly(of_form)} confirmed wrongly",
            flush=True,
        )
        said += of_form
    for truth, right in EXPECTED.items():
        mine = {verdict: number for (of, verdict), number in said.items() if of == truth}
        others = ", ".join(f"{number} {verdict}" for verdict, number in sorted(mine.items()) if verdict != right)
        print(f"{truth:10s} {mine.get(right, 0):5d} of {sum(mine.values()):5d} {right}{'; ' if others else ''}{others}")
    whole = said.total()
    right_ones, wrongly = _share_right(said), _wrongly(said)
    print(f"right {right_ones:.2%}, confirmed wrongly {wrongly / whole:.2%} of {whole}")
    missed = right_ones < MIN_RIGHT or wrongly / whole > MAX_CONFIRMED_WRONGLY
    controls = sum(number for (truth, _), number in said.items() if truth == "control")
    sys.exit(int(missed or said["control", "confirmed"] / controls > MAX_CONTROLS))


def _share_right(said: Counter[tuple[Truth, str]]) -> float:
    return sum(number for (truth, verdict), number in said.items() if verdict == EXPECTED[truth]) / said.total()


def _wrongly(said: Counter[tuple[Truth, str]]) -> int:
    return sum(number for (truth, verdict), number in said.items() if verdict == "confirmed" and truth != "true")


def verdicts_of(seed: int, form: FormName = "csv") -> Iterator[tuple[Truth, str]]:
    """(the truth, the verdict) of each claim of one simulation."""
    with tempfile.TemporaryDirectory() as name:
        for case in write_claims(Path(name), seed, form):
            options = VerifyOptions(claims=(case.file,), operator=case.operator)
            rows = [row for row in check_claims(case.before, case.after, options).rows if row.scope == "operator"]
            if FORMS[form].alone:  # its row has the name that the tuner gives
                yield case.claims[0].truth, rows[0].verdict
                continue
            verdicts = {row.op_name: row.verdict for row in rows}
            yield from ((claim.truth, verdicts[claim.op_name]) for claim in case.claims)


if __name__ == "__main__":
    main()
