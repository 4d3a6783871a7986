"""The time of one generated kernel, and that of the program that it replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.akg import BASE, GENERATION
from aoe_reports.tuning.claim_files import (
    CLAIMS_FORM,
    CLAIMS_NOT_MEASURED,
    CLAIMS_SEVERAL,
    files_beside,
    read_claim_json,
    time_of,
)
from aoe_reports.tuning.files_only import FileClaims, against_reference
from aoe_reports.tuning.tuner import Claim

_TIMES = ("execution_time_us", "avg_time_us")
_PROFILE, _ENDING = "profile_", "_generation.py"


def read_profile(path: Path, most: int | None = None) -> FileClaims:
    """One file; of a program that a kernel replaces nothing is claimed. ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    after = _time_us(path, most, findings)
    rows = None if after is None else 1
    if after is None or path.name != GENERATION:
        return FileClaims((), tuple(findings), rows)
    scripts = files_beside(path, _PROFILE, _ENDING)
    named = len(scripts) == 1
    name = scripts[0].name.removeprefix(_PROFILE).removesuffix(_ENDING) if named else path.parent.name
    claim = Claim(name, (), None, after, str(path), unnamed=not named)
    base = path.with_name(BASE)
    before = _time_us(base, most, []) if base.is_file() else None  # its own findings are those of its own file
    if before is not None:
        claim = against_reference(claim, before, findings)
    return FileClaims((claim,), tuple(findings), rows)


def _time_us(path: Path, most: int | None, findings: list[Finding]) -> float | None:
    """The time of a call; None, and why, where there is none that could be compared."""
    document = read_claim_json(path, most, findings)
    if has(findings, "error"):
        return None
    given = [document[name] for name in _TIMES if name in document] if isinstance(document, dict) else []
    if not given or (given[0] is not None and not _is_number(given[0])):
        findings.append(
            CLAIMS_FORM.found(str(path), say("expected a time above 0 in us as execution_time_us, or null"))
        )
        return None
    if given[0] is None or given[0] == float("inf"):
        findings.append(CLAIMS_NOT_MEASURED.found(str(path), say("profiling failed: no time here")))
        return None
    cases = max(len(document.get(name) or ()) for name in ("case_times", "per_case_us", "per_shape"))
    if cases > 1:
        text = say("the mean of {count} shapes: no claim about one of them follows", count=cases)
        findings.append(CLAIMS_SEVERAL.found(str(path), text))
        return None
    return time_of(given[0])


def _is_number(value: Any) -> bool:
    return time_of(value) is not None or value == float("inf")


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    return read_profile(path, most).shown
