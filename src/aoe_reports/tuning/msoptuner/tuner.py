"""msOpTuner behind the protocol of a tuner: it runs what it is built with, so its claims are all that there is to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.claim_files import CLAIMS_FORM, ClaimRow, read_claim_table, read_each
from aoe_reports.tuning.msoptuner import COLUMNS, FILES, OPTUNER_NOT_MEASURED, TIME
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner, claims_together

_OF_CANDIDATE = frozenset({"case_id", TIME, "device_id", "description"})
"""What differs from candidate to candidate; the rest is the problem that all of them solve."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one file says: how many candidates there are, and the best one that was measured."""

    path: Path
    problem: str
    count: int
    measured: int
    best: str | None
    best_us: float | None
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether its times may be used."""
        return self.best is not None and not has(self.findings, "error")


def read_candidates(path: Path, most: int | None = None) -> Candidates:
    """One file; ReadError only where it cannot be opened."""
    table = read_claim_table(path, most, COLUMNS, _wrong)
    findings = list(table.findings)
    cells = ([(name, cell) for name, cell in row.cells.items() if name not in _OF_CANDIDATE] for row in table.rows)
    problems = dict.fromkeys(", ".join(f"{name}: {cell}" for name, cell in problem) for problem in cells)
    if len(problems) > 1:
        text = say("candidates of {count} problems; expected those of one", count=len(problems))
        findings.append(CLAIMS_FORM.found(str(path), text))
    measured = [(time, row.cells["description"]) for row in table.rows if (time := row.time_us(TIME)) is not None]
    left = len(table.rows) - len(measured)
    if left:
        text = say("{left} of {count} candidates were not measured", left=left, count=len(table.rows))
        findings.append(OPTUNER_NOT_MEASURED.found(str(path), text))
    best_us, best = min(measured, default=(None, None))
    return Candidates(path, next(iter(problems), ""), len(table.rows), len(measured), best, best_us, tuple(findings))


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    candidates = read_candidates(path, most)
    if not candidates.sound:
        return TunerFile(None, (), None, None, candidates.findings)
    summary: JsonObject = {
        "problem": candidates.problem,
        "candidates": candidates.count,
        "measured": candidates.measured,
        "best": candidates.best,
        "best_us": candidates.best_us,
    }
    return TunerFile(
        1, () if candidates.best is None else (candidates.best,), candidates.measured, summary, candidates.findings
    )


def _wrong(row: ClaimRow) -> str | None:
    if not row.cells["description"]:
        return say("no candidate is named")
    if row.time_us(TIME) is None and not _is_zero(row.cells[TIME]):
        return say("expected a time in us as {column}", column=TIME)
    return None


def _is_zero(cell: str) -> bool:
    try:
        return float(cell) == 0
    except ValueError:
        return False


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
        claims = [  # which candidate ran before is not recorded
            Claims((Claim(one.best or "", (), None, one.best_us or 0.0, str(one.path)),), claimed_by=(self.title,))
            for one in read.parts
            if one.sound
        ]
        return ClaimsRead(claims_together(claims), read.findings, read.unreadable)


TUNER: Tuner = MsOpTuner()
