"""What msKL's autotuners print."""

from __future__ import annotations

import re
from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding
from aoe_reports.tuning.claim_files import read_log, time_in
from aoe_reports.tuning.files_only import Candidate, FileClaims, claim_of_log
from aoe_reports.tuning.mskl import LINE

_BEST = re.compile(r"Best config: No\.(\d{1,9})\s*$", re.ASCII)


def read_printed(path: Path, most: int | None = None) -> FileClaims:
    """One log; ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    lines = read_log(path, most, findings)
    numbered = [
        (int(match[1]), Candidate(match[3], time_in(match[2])), place)
        for place, line in enumerate(lines, start=1)
        if (match := LINE.search(line)) is not None
    ]
    best = [int(match[1]) for line in lines if (match := _BEST.search(line)) is not None]
    return claim_of_log(path, numbered, findings, best=best[0] if best else None, must_name=True)


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one log."""
    return read_printed(path, most).shown
