"""PyPTO's tuning tool behind the protocol of a tuner, and its tables."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.texts import say
from aoe_reports.tuning import files_only
from aoe_reports.tuning.claim_files import ClaimRow
from aoe_reports.tuning.files_only import Candidate, FileClaims, FilesOnly
from aoe_reports.tuning.pypto import COLUMNS, COMBINATION, FILES, TIME
from aoe_reports.tuning.pypto.parameters import read_parameters
from aoe_reports.tuning.tuner import Tuner

_ESTIMATED = "is_real"
_OTHERS = frozenset({COMBINATION, TIME, _ESTIMATED, "accepted"})


def read_performance(path: Path, most: int | None = None) -> FileClaims:
    """One table; ReadError only where it cannot be opened."""
    return files_only.read_candidates(path, most, COLUMNS, _wrong, _candidate)


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one table."""
    return read_performance(path, most).shown


def _candidate(row: ClaimRow) -> Candidate:
    parameters = ", ".join(f"{name}: {cell}" for name, cell in row.cells.items() if name not in _OTHERS)
    measured = row.cells.get(_ESTIMATED, "true").casefold() == "true"
    name = f"{row.cells[COMBINATION]} ({parameters})" if parameters else row.cells[COMBINATION]
    return Candidate(name, row.time_us(TIME) if measured else None)


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells[COMBINATION]:
        return say("no candidate is named")
    if row.time_us(TIME) is None and row.cells[TIME] != "Error":
        return say("expected a time in us as {column}", column=TIME)
    return None


TUNER: Tuner = FilesOnly("PyPTO", ((FILES[0], read_performance), (FILES[1], read_parameters)))
