"""AOE behind the protocol of a tuner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.aoe.results import Modification, TuningResult
from aoe_reports.formats.ascend.names import RESULT_KINDS, parse_name
from aoe_reports.formats.sources.discovery import result_files
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import FAILED_TUNING, Finding
from aoe_reports.rules.results.check import check_result_file
from aoe_reports.tuning.aoe.bank import AOE_BANK
from aoe_reports.tuning.aoe.driver import AOE_DRIVER
from aoe_reports.tuning.banks.bank import Bank
from aoe_reports.tuning.job.driver import Driver
from aoe_reports.tuning.tuner import Claim, Claims, ClaimsRead, Tuner

TITLE = "AOE"


def read_claims(paths: Sequence[Path]) -> ClaimsRead:
    """What the results below some paths claim, in the order in which they were tuned; of damaged files nothing is used."""
    findings: list[Finding] = []
    sourced: list[tuple[str, TuningResult]] = []
    unreadable = False
    for path in _files(paths):
        try:
            file = read_results(path)
        except ReadError as error:
            unreadable = True
            findings.append(unreadable_file(path, error))
            continue
        found = check_result_file(file)
        findings += found
        if not any(f.severity == "error" and f.rule not in FAILED_TUNING for f in found):
            sourced += [(str(path), result) for result in file.results if not result.ambiguous]
    return ClaimsRead(claims_of_results(sourced), tuple(findings), unreadable)


def _files(paths: Sequence[Path]) -> list[Path]:
    return [
        found
        for path in paths
        for found in sorted((one for one, _ in result_files([path])), key=lambda one: (one.name, str(one)))
    ]


def claims_of_results(sourced: Sequence[tuple[str, TuningResult]]) -> Claims:
    """The claims of some tasks, each with its file: of an operator a later task has the last word."""
    last: dict[str, Claim] = {}
    unproven: dict[str, None] = {}
    for source, result in sourced:
        if result.kind != "opat":
            continue
        if result.broken_off:
            unproven |= dict.fromkeys(modification.join_name for modification in result.modifications)
        else:
            last |= _of_task(source, result)
    results = [result for _, result in sourced]
    return Claims(
        operators=tuple(last[name] for name in sorted(last)),
        model_us=_model_times(results),
        subgraphs=sum(len(result.modifications) for result in results if result.kind == "sgat"),
        unproven=tuple(name for name in unproven if name not in last),
        claimed_by=(TITLE,) if sourced else (),
    )


def _of_task(source: str, result: TuningResult) -> dict[str, Claim]:
    """The claims of one task: of several tuning modes the largest gain, measured ones first."""
    best: dict[str, Claim] = {}
    for modification in result.modifications:
        claim = _claim(source, modification)
        if claim is not None and (claim.op_name not in best or _rank(claim) < _rank(best[claim.op_name])):
            best[claim.op_name] = claim
    return best


def _rank(claim: Claim) -> tuple[bool, float]:
    """The smallest is the best claim."""
    return claim.unmeasured, claim.change or 0.0


def _claim(source: str, modification: Modification) -> Claim | None:
    before, after = modification.before, modification.after
    if before is None or after is None or before <= 0 or after <= 0:
        return None  # said by the rules on results
    return Claim(
        modification.join_name,
        modification.op_type,
        float(before),
        float(after),
        source,
        unmeasured=modification.unmeasured,
    )


def _model_times(results: Sequence[TuningResult]) -> tuple[float, float] | None:
    """The model's times in us by the last task; None where tasks are of several models."""
    timed = [r for r in results if r.model_baseline_ms and r.model_result_ms and not r.broken_off]
    if not timed or len({result.tuning_name for result in timed}) > 1:
        return None
    before, after = timed[-1].model_baseline_ms, timed[-1].model_result_ms
    return (float(before) * 1000, float(after) * 1000) if before and after else None


@dataclass(frozen=True, slots=True)
class Aoe:
    """The Ascend Optimization Engine."""

    title: str = TITLE
    driver: Driver[TuningResult] | None = AOE_DRIVER
    bank: Bank | None = AOE_BANK

    def is_result(self, name: str) -> bool:
        """Whether a name is one that AOE gives results, and nothing that leads elsewhere."""
        parsed = parse_name(name)
        return parsed is not None and parsed.kind in RESULT_KINDS and parsed.source == "aoe"

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What its results below some paths claim."""
        return read_claims(paths)


TUNER: Tuner = Aoe()
