"""msOpTuner behind the protocol of a tuner: it runs what it is built with, so its claims are all that there is to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.tuning.bank import Bank
from aoe_reports.tuning.claim_files import read_each
from aoe_reports.tuning.msoptuner import FILES
from aoe_reports.tuning.msoptuner.candidates import Candidates, read_candidates
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner, claims_together


@dataclass(frozen=True, slots=True)
class MsOpTuner:
    """The tuner of CATLASS kernels."""

    title: str = "msOpTuner"
    driver: None = None
    bank: Bank | None = None

    def is_result(self, name: str) -> bool:
        """No name tells: the header does."""
        del name
        return False

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What its tables at or below some paths claim."""
        read = read_each(FILES[0], paths, read_candidates, lambda part: part.findings)
        told = [Claims((_claim(one),), claimed_by=(self.title,)) for one in read.parts if one.sound]
        return ClaimsRead(claims_together(told), read.findings, read.unreadable)


def _claim(one: Candidates) -> Claim:
    """How long the best candidate takes; which of them ran before is not told."""
    return Claim(one.best or "", (), None, one.best_us or 0.0, str(one.path))


TUNER: Tuner = MsOpTuner()
