"""Tuners that are run by nobody here and keep no bank: what one of their files claims, and the protocol for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile, TunerFileKind
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.claim_files import (
    CLAIMS_DUPLICATE,
    CLAIMS_FORM,
    CLAIMS_NO_BEST,
    CLAIMS_NO_GAIN,
    CLAIMS_NOT_MEASURED,
    CLAIMS_REFERENCE,
    CLAIMS_ROW,
    CLAIMS_SEVERAL,
    ClaimRow,
    read_claim_table,
    read_each,
)
from aoe_reports.tuning.names import shapes_key
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, claims_together


@dataclass(frozen=True, slots=True)
class FileClaims:
    """What one file claims, and what `check` and `inspect` show of it."""

    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    rows: int | None = None
    """How many measured times it holds."""
    summary: JsonObject | None = None

    @property
    def shown(self) -> TunerFile:
        """As `check` and `inspect` show it."""
        names = tuple(dict.fromkeys(claim.op_name for claim in self.claims))
        if has(self.findings, "error") and not names:
            return TunerFile(None, (), None, None, self.findings)
        return TunerFile(len(names), names, self.rows, self.summary, self.findings)


@dataclass(frozen=True, slots=True)
class FilesOnly:
    """A tuner of which only files are read."""

    title: str
    reads: tuple[tuple[TunerFileKind, Callable[[Path], FileClaims]], ...]
    once_each: bool = False
    """Whether two files that claim the same kernel are about different shapes, which they do not name."""
    between: Callable[[tuple[str, str]], FilesOnly] | None = None
    """The same with claims from one version to another one, where its files have several."""
    driver: None = None
    bank: Bank | None = None

    def is_result(self, name: str) -> bool:
        """Whether the name tells that a file is one of its results."""
        return any(kind.fits(name, "") for kind, _ in self.reads)

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What its files at or below some paths claim."""
        parts: list[Claims] = []
        findings: list[Finding] = []
        unreadable = False
        for kind, read in self.reads:
            found = read_each(kind, paths, read, lambda part: part.findings)
            claims = [claim for part in found.parts for claim in part.claims]
            if self.once_each:
                claims, several = once_each(claims)
                findings += several
            parts += [Claims((claim,), claimed_by=(self.title,)) for claim in claims]
            findings += found.findings
            unreadable = unreadable or found.unreadable
        return ClaimsRead(claims_together(parts), tuple(findings), unreadable)


def once_each(claims: Sequence[Claim]) -> tuple[list[Claim], list[Finding]]:
    """(claims of kernels that were tuned once, findings on the others)."""
    counts = Counter(claim.key for claim in claims)
    several = {claim.key: claim for claim in claims if counts[claim.key] > 1}
    findings = [
        CLAIMS_SEVERAL.found(
            claim.source,
            say(
                "{kernel}: tuned {count} times, no file says for which shapes", kernel=claim.op_name, count=counts[key]
            ),
        )
        for key, claim in several.items()
    ]
    return [claim for claim in claims if claim.key not in several], findings


def claims_of_rows(path: Path, rows: Sequence[tuple[int, Claim]], findings: list[Finding]) -> list[Claim]:
    """The claims of a table, each with its line: those of a gain, the last one of equal operators and shapes."""
    kept: dict[tuple[str, str], Claim] = {}
    for line, claim in rows:
        if claim.change is not None and claim.change >= 0:
            text = say("{operator}: no gain is claimed; the row is not used", operator=claim.op_name)
            findings.append(CLAIMS_NO_GAIN.found(str(path), text, line))
            continue
        key = (claim.op_name, shapes_key(claim.input_shapes or ""))
        if key in kept:
            text = say("{operator}: claimed twice; the later row is used", operator=claim.op_name)
            findings.append(CLAIMS_DUPLICATE.found(str(path), text, line))
        kept[key] = claim
    return list(kept.values())


def against_reference(claim: Claim, reference_us: float, findings: list[Finding]) -> Claim:
    """The claim with the time of a program that computes the same as its time before, where that one is slower."""
    said = {"kernel": claim.op_name, "reference": reference_us, "after": claim.after_us}
    if reference_us <= claim.after_us:
        text = say("{kernel}: {after:,.4g} us, and the reference program takes {reference:,.4g} us", **said)
        findings.append(CLAIMS_NO_GAIN.found(claim.source, text))
        return claim
    text = say("{kernel}: the time before, {reference:,.4g} us, is that of the reference program", **said)
    findings.append(CLAIMS_REFERENCE.found(claim.source, text))
    return replace(claim, before_us=reference_us, reference=True)


# Candidates of one kernel


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration that was tried: what it is called, its time in us (null: not measured)."""

    name: str
    time_us: float | None


def claim_of_log(
    path: Path,
    numbered: Sequence[tuple[int, Candidate, int]],
    findings: Sequence[Finding],
    *,
    best: int | None = None,
    must_name: bool = False,
) -> FileClaims:
    """The claim of a log; `numbered`: (number, candidate, line) of each. Numbers that repeat are of another run: no claim follows."""
    found = list(findings)
    by_number = {number: candidate for number, candidate, _ in numbered}
    if len(by_number) < len(numbered):
        text = say("several runs in one log, and it does not say of which kernels")
        return FileClaims((), (*found, CLAIMS_SEVERAL.found(str(path), text)), len(numbered))
    for number, candidate, line in numbered:
        if candidate.time_us is None:
            text = say("No. {number}: expected a time above 0", number=number)
            found.append(CLAIMS_ROW.found(str(path), text, line))
    if not numbered and not found:
        found.append(CLAIMS_FORM.found(str(path), say("no candidate with a time here")))
    named = None if best is None else by_number.get(best, Candidate(f"No. {best}", None)).name
    return best_claim(path, list(by_number.values()), found, named=named, must_name=must_name)


def best_claim(
    path: Path,
    candidates: Sequence[Candidate],
    findings: Sequence[Finding] = (),
    *,
    kernel: str | None = None,
    problem: str = "",
    named: str | None = None,
    must_name: bool = False,
) -> FileClaims:
    """The claim of the fastest candidate, without a time before: no tuner records which one ran before.

    `kernel`: what was tuned, where the tuner says so; `named`: the candidate that the tuner calls the best; `must_name`: it always calls one so.
    """
    found = list(findings)
    measured = [(one.time_us, one.name) for one in candidates if one.time_us is not None]
    left = len(candidates) - len(measured)
    if left and not has(found, "error"):
        text = say("{left} of {count} candidates were not measured", left=left, count=len(candidates))
        found.append(CLAIMS_NOT_MEASURED.found(str(path), text))
    if not measured or has(found, "error"):
        return FileClaims((), tuple(found), len(measured))
    best_us, best = min(measured)
    if must_name and named is None:
        found.append(CLAIMS_NO_BEST.found(str(path), say("no best candidate is named; the fastest one is used")))
    elif named is not None and all(name != named or time > best_us for time, name in measured):
        text = say("{named} is named as the best candidate; {best} took less and is used", named=named, best=best)
        found.append(CLAIMS_NO_BEST.found(str(path), text))
    summary: JsonObject = {
        "problem": problem[:_SHOWN],
        "candidates": len(candidates),
        "measured": len(measured),
        "best": best,
        "best_us": best_us,
    }
    claim = Claim(best if kernel is None else kernel, (), None, best_us, str(path), unnamed=kernel is None)
    return FileClaims((claim,), tuple(found), len(measured), summary)


_SHOWN = 200


def read_candidates(
    path: Path,
    most: int | None,
    columns: Sequence[str],
    why: Callable[[ClaimRow], str | None],
    candidate: Callable[[ClaimRow], Candidate],
    problem: Callable[[ClaimRow], str] = lambda _: "",
) -> FileClaims:
    """A table with a row a candidate; `problem`: what all of its candidates solve. ReadError only where it cannot be opened."""
    table = read_claim_table(path, most, columns, why)
    problems = dict.fromkeys(problem(row) for row in table.rows)
    findings = list(table.findings)
    if len(problems) > 1:
        text = say("candidates of {count} problems; expected those of one", count=len(problems))
        findings.append(CLAIMS_FORM.found(str(path), text))
    return best_claim(path, [candidate(row) for row in table.rows], findings, problem=next(iter(problems), ""))
