"""The tuner behind the protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead

from . import rows_of


class Timer:
    """Reads what the tuner claims."""

    title = "Timer"
    driver = None
    bank = None

    def is_result(self, name: str) -> bool:
        """Whether it calls its results so."""
        return name == "timer.csv"

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What the files at or below some paths claim."""
        files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("timer.csv")))]
        read = [(file, *rows_of(file)) for file in files if self.is_result(file.name)]
        claims = [
            Claim(name, (kind,), before, after, str(file))
            for file, rows, _ in read
            for name, kind, before, after in rows
        ]
        findings = tuple(finding for _, _, found in read for finding in found)
        return ClaimsRead(Claims(tuple(claims), claimed_by=(self.title,)), findings)


TUNER = Timer()
