"""A plain table of claims behind the protocol of a tuner."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import LIST_COLUMNS, ClaimRow, read_claim_table
from aoe_reports.tuning.claim_list import FILES
from aoe_reports.tuning.files_only import FileClaims, FilesOnly, claims_of_rows
from aoe_reports.tuning.tuner import Claim, Tuner


def read_claim_list(path: Path, most: int | None = None) -> FileClaims:
    """One file; ReadError only where it cannot be opened."""
    table = read_claim_table(path, most, LIST_COLUMNS, _wrong)
    findings = list(table.findings)
    claims = claims_of_rows(path, [(row.line, _claim(path, row)) for row in table.rows], findings)
    return FileClaims(tuple(claims), tuple(findings), len(claims))


def _claim(path: Path, row: ClaimRow) -> Claim:
    return Claim(
        op_name=row.cells["operator"],
        op_types=(),
        before_us=row.time_us("before_us"),
        after_us=row.time_us("after_us") or 0.0,
        source=str(path),
        input_shapes=row.cells.get("shapes") or None,
    )


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    return read_claim_list(path, most).shown


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells["operator"]:
        return say("no operator is named")
    if row.time_us("after_us") is None:
        return say("expected a time above 0 in us as after_us")
    if row.cells["before_us"] and row.time_us("before_us") is None:
        return say("expected a time above 0 in us as before_us, or nothing")
    return None


TUNER: Tuner = FilesOnly("CSV", ((FILES[0], read_claim_list),))
