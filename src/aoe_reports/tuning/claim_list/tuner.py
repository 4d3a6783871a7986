"""A plain table of claims behind the protocol of a tuner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.claim_files import CLAIMS_DUPLICATE, CLAIMS_NO_GAIN, ClaimRow, read_claim_table, read_each
from aoe_reports.tuning.claim_list import COLUMNS, FILES
from aoe_reports.tuning.names import shapes_key
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner, claims_together


@dataclass(frozen=True, slots=True)
class ClaimList:
    """What one file claims."""

    claims: tuple[Claim, ...]
    findings: tuple[Finding, ...]


def read_claim_list(path: Path, most: int | None = None) -> ClaimList:
    """One file; ReadError only where it cannot be opened."""
    table = read_claim_table(path, most, COLUMNS, _wrong)
    findings = list(table.findings)
    claims: dict[tuple[str, str], Claim] = {}
    for row in table.rows:
        claim = Claim(
            op_name=row.cells["operator"],
            op_types=(),
            before_us=row.time_us("before_us"),
            after_us=row.time_us("after_us") or 0.0,
            source=str(path),
            input_shapes=row.cells.get("shapes") or None,
        )
        if claim.change is not None and claim.change >= 0:
            text = say("{operator}: no gain is claimed; the row is not used", operator=claim.op_name)
            findings.append(CLAIMS_NO_GAIN.found(str(path), text, row.line))
            continue
        key = (claim.op_name, shapes_key(claim.input_shapes or ""))
        if key in claims:
            text = say("{operator}: claimed twice; the later row is used", operator=claim.op_name)
            findings.append(CLAIMS_DUPLICATE.found(str(path), text, row.line))
        claims[key] = claim
    return ClaimList(tuple(claims.values()), tuple(findings))


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    found = read_claim_list(path, most)
    names = tuple(dict.fromkeys(claim.op_name for claim in found.claims))
    return TunerFile(len(found.claims), names, len(found.claims), None, found.findings)


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells["operator"]:
        return say("no operator is named")
    if row.time_us("after_us") is None:
        return say("expected a time above 0 in us as after_us")
    if row.cells["before_us"] and row.time_us("before_us") is None:
        return say("expected a time above 0 in us as before_us, or nothing")
    return None


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
        claims = [Claims(part.claims, claimed_by=(self.title,) if part.claims else ()) for part in read.parts]
        return ClaimsRead(claims_together(claims), read.findings, read.unreadable)


TUNER: Tuner = ClaimListed()
