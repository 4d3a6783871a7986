"""What TileLang's autotuner prints."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding
from aoe_reports.tuning.claim_files import US_PER_MS, read_log, time_in
from aoe_reports.tuning.files_only import Candidate, FileClaims, claim_of_log
from aoe_reports.tuning.tilelang import LINE


def read_printed(path: Path, most: int | None = None) -> FileClaims:
    """One log; ReadError only where it cannot be opened. Older releases print no index: the order stands for it."""
    findings: list[Finding] = []
    numbered: list[tuple[int, Candidate, int]] = []
    for place, line in enumerate(read_log(path, most, findings), start=1):
        match = LINE.search(line)
        if match is not None:
            time = time_in(match[1])
            candidate = Candidate(match[2], None if time is None else time * US_PER_MS)
            numbered.append((len(numbered) if match[3] is None else int(match[3]), candidate, place))
    return claim_of_log(path, numbered, findings)


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one log."""
    return read_printed(path, most).shown
