"""What one combination of PyPTO's tuning tool changes in the sources: `[{"file": …, "lines": {"207": …}}, …, {"name": …}]`."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import CLAIMS_FORM, read_claim_json
from aoe_reports.tuning.files_only import FileClaims


def read_parameters(path: Path, most: int | None = None) -> FileClaims:
    """One file; it claims nothing. ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    document = read_claim_json(path, most, findings)
    parts = document if isinstance(document, list) else []
    files = [
        part for part in parts if isinstance(part, dict) and isinstance(part.get("lines"), dict) and part.get("file")
    ]
    if not files and not has(findings, "error"):
        findings.append(CLAIMS_FORM.found(str(path), say("expected files with the lines that are put into them")))
    lines = {f"{part['file']}:{line}": str(text) for part in files for line, text in part["lines"].items()}
    return FileClaims((), tuple(findings), 0, dict(lines))


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one file."""
    return read_parameters(path, most).shown
