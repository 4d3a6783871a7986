"""TileLang behind the protocol of a tuner, and the best configurations in its cache."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import CLAIMS_FORM, CLAIMS_NO_BEST, US_PER_MS, read_claim_json, time_of
from aoe_reports.tuning.files_only import FileClaims, FilesOnly, against_reference
from aoe_reports.tuning.tilelang import BEST_CONFIG, FILES
from aoe_reports.tuning.tilelang.printed import read_printed
from aoe_reports.tuning.tuner import Claim, Tuner

_SHOWN = 12
"""Digits of the key of an entry in the cache."""


def read_latency(path: Path, most: int | None = None) -> FileClaims:
    """One entry of the cache; ReadError only where it cannot be opened."""
    findings: list[Finding] = []
    document = read_claim_json(path, most, findings)
    config = _config(path.with_name(BEST_CONFIG), most, findings)
    times = document if isinstance(document, dict) else {}
    after, reference = time_of(times.get("latency")), time_of(times.get("ref_latency"))
    if not has(findings, "error") and (after is None or (reference is None and times.get("ref_latency") is not None)):
        text = say("expected times above 0 in ms as latency and ref_latency, or null as ref_latency")
        findings.append(CLAIMS_FORM.found(str(path), text))
    if after is None or has(findings, "error"):
        return FileClaims((), tuple(findings))
    claim = Claim(f"{path.parent.name[:_SHOWN]}: {config}", (), None, after * US_PER_MS, str(path), unnamed=True)
    if reference is not None:
        claim = against_reference(claim, reference * US_PER_MS, findings)
    return FileClaims((claim,), tuple(findings), 1)


def _config(path: Path, most: int | None, findings: list[Finding]) -> str:
    """The best configuration as it is shown."""
    if not path.is_file():
        findings.append(CLAIMS_NO_BEST.found(str(path), say("the best configuration is missing")))
        return say("unknown configuration")
    document = read_claim_json(path, most, findings)
    if not isinstance(document, dict):
        if not has(findings, "error"):
            text = say("expected the parameters of a configuration by their names")
            findings.append(CLAIMS_FORM.found(str(path), text))
        return ""
    return ", ".join(f"{name}: {value}" for name, value in document.items())


def read_file(path: Path, most: int | None) -> TunerFile:
    """What `check` and `inspect` show of one entry."""
    return read_latency(path, most).shown


TUNER: Tuner = FilesOnly("TileLang", ((FILES[0], read_latency), (FILES[1], read_printed)))
