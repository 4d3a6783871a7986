"""The configurations of Triton kernels that AKG's agents let Triton time.

`timing_us` is in ms where AKG could not replace Triton's own benchmark; nothing in the file tells.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import CLAIMS_FORM, read_claim_json, time_of
from aoe_reports.tuning.files_only import Candidate, FileClaims, best_claim


def read_autotune(path: Path, most: int | None = None) -> FileClaims:
    """One case; ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    document = read_claim_json(path, most, findings)
    if not has(findings, "error") and not _is_case(document):
        text = say("expected configurations with config, timing_us and is_best by the names of kernels")
        findings.append(CLAIMS_FORM.found(str(path), text))
    if has(findings, "error"):
        return FileClaims((), tuple(findings))
    parts = [_kernel(path, kernel, configs) for kernel, configs in document.items()]
    claims = tuple(claim for part in parts for claim in part.claims)
    found = (*findings, *(finding for part in parts for finding in part.findings))
    return FileClaims(claims, found, sum(part.rows or 0 for part in parts))


def _kernel(path: Path, kernel: str, configs: list[dict[str, Any]]) -> FileClaims:
    candidates = [Candidate(str(one["config"]), time_of(one["timing_us"])) for one in configs]
    best = [str(one["config"]) for one in configs if one["is_best"]]
    return best_claim(path, candidates, kernel=kernel, named=best[0] if best else None, must_name=True)


def _is_case(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and bool(document)
        and all(
            isinstance(configs, list) and configs and all(map(_is_config, configs)) for configs in document.values()
        )
    )


def _is_config(config: Any) -> bool:
    """Whether it is a configuration with a time above 0; one that did not run has Infinity."""
    if not isinstance(config, dict) or not {"config", "timing_us", "is_best"} <= config.keys():
        return False
    return time_of(config["timing_us"]) is not None or config["timing_us"] == float("inf")


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one case."""
    return read_autotune(path, most).shown
