"""A plain table of claims behind the protocol of a tuner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.tuning.bank import Bank
from aoe_reports.tuning.claim_files import read_each
from aoe_reports.tuning.claim_list import FILES
from aoe_reports.tuning.claim_list.rows import read_claim_list
from aoe_reports.tuning.tuner import Claims, ClaimsRead, Tuner, claims_together


@dataclass(frozen=True, slots=True)
class ClaimListed:
    """Whoever wrote the table; it is run by nobody, and keeps no bank."""

    title: str = "CSV"
    driver: None = None
    bank: Bank | None = None

    def is_result(self, name: str) -> bool:
        """No name tells: the header does."""
        del name
        return False

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What the tables at or below some paths claim."""
        read = read_each(FILES[0], paths, read_claim_list, lambda part: part.findings)
        told = [Claims(part.claims, claimed_by=(self.title,) if part.claims else ()) for part in read.parts]
        return ClaimsRead(claims_together(told), read.findings, read.unreadable)


TUNER: Tuner = ClaimListed()
