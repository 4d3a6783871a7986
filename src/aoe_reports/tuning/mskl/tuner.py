"""msKL behind the protocol of a tuner, and its tables."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.texts import say
from aoe_reports.tuning import files_only
from aoe_reports.tuning.claim_files import ClaimRow
from aoe_reports.tuning.files_only import Candidate, FileClaims, FilesOnly
from aoe_reports.tuning.mskl import ARGS, COLUMNS, CONFIG, FILES, TIME
from aoe_reports.tuning.mskl.printed import read_printed
from aoe_reports.tuning.tuner import Tuner


def read_results(path: Path, most: int | None = None) -> FileClaims:
    """One table; ReadError only where it cannot be opened."""
    return files_only.read_candidates(
        path,
        most,
        COLUMNS,
        _wrong,
        lambda row: Candidate(row.cells[CONFIG], row.time_us(TIME)),
        lambda row: row.cells[ARGS],
    )


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one table."""
    return read_results(path, most).shown


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells[CONFIG]:
        return say("no candidate is named")
    return None if row.time_us(TIME) is not None else say("expected a time in us as {column}", column=TIME)


TUNER: Tuner = FilesOnly("msKL", ((FILES[0], read_results), (FILES[1], read_printed)))
