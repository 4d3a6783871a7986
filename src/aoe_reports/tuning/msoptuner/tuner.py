"""msOpTuner behind the protocol of a tuner: it runs what it is built with, so its claims are all that there is to read."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.texts import say
from aoe_reports.tuning import files_only
from aoe_reports.tuning.claim_files import ClaimRow, is_zero
from aoe_reports.tuning.files_only import Candidate, FileClaims, FilesOnly
from aoe_reports.tuning.msoptuner import COLUMNS, FILES, TIME
from aoe_reports.tuning.tuner import Tuner

_OF_CANDIDATE = frozenset({"case_id", TIME, "device_id", "description"})
"""What differs from candidate to candidate; the rest is the problem that all of them solve."""


def read_candidates(path: Path, most: int | None = None) -> FileClaims:
    """One file; ReadError only where it cannot be opened."""
    return files_only.read_candidates(
        path,
        most,
        COLUMNS,
        _wrong,
        lambda row: Candidate(row.cells["description"], row.time_us(TIME)),
        lambda row: ", ".join(f"{name}: {cell}" for name, cell in row.cells.items() if name not in _OF_CANDIDATE),
    )


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    return read_candidates(path, most).shown


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells["description"]:
        return say("no candidate is named")
    if row.time_us(TIME) is None and not is_zero(row.cells[TIME]):
        return say("expected a time in us as {column}", column=TIME)
    return None


TUNER: Tuner = FilesOnly("msOpTuner", ((FILES[0], read_candidates),))
