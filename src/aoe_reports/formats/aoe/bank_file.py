"""Reads a gradient bank of AOE (`<soc>_gradient_fusion.json`), as strictly as its result files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aoe_reports.formats.aoe.gradients import GradientBank, bank_of_document
from aoe_reports.formats.aoe.result_files import as_utf8, parse_json, read_bytes
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.rules import JSON_TOO_LARGE, JSON_TRUNCATED
from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_BANK_BYTES = 64 << 20
"""The largest bank that is read unless told otherwise: a model takes some kilobytes."""


@dataclass(frozen=True, slots=True)
class BankFile:
    """One gradient bank: the models in it, the document as parsed, and what was found."""

    path: Path
    name: FileName
    bank: GradientBank
    document: Any
    findings: tuple[Finding, ...]
    sha256: str
    parsed: bool
    """Whether `document` is what the text says: all of it, or of a text that was cut off what is certainly whole."""
    text: bytes = field(default=b"", repr=False)
    """The document's text as UTF-8."""


def read_bank(path: Path, name: FileName | None = None, *, max_bytes: int | None = None) -> BankFile:
    """The models of a bank of at most `max_bytes` (MAX_BANK_BYTES unless told); damage is in the findings.

    ReadError only where the file cannot be opened.
    """
    path = path_of(path)
    name = name or parse_name(path.name) or FileName("gdat", "json", "aoe")
    limit = max_bytes or MAX_BANK_BYTES
    data = read_bytes(path, limit)
    sha256 = hashlib.sha256(data).hexdigest()
    if len(data) > limit:
        message = say("at most {limit} bytes are read; this file is larger", limit=limit)
        finding = JSON_TOO_LARGE.found(str(path), message)
        return BankFile(path, name, GradientBank(name.soc, ()), None, (finding,), sha256, parsed=False)
    findings: list[Finding] = []
    if not data:
        message = say("an empty bank: AOE creates the file before it has a model")
        findings.append(JSON_TRUNCATED.found(str(path), message, severity="info"))
        return BankFile(path, name, GradientBank(name.soc, ()), None, tuple(findings), sha256, parsed=False)
    text = as_utf8(path, data, findings)
    parsed, document, cut = parse_json(path, text, findings, say("model"))
    if cut and isinstance(document, list):
        document = document[: int(cut.split("/")[1])]  # of the model that was cut off nothing is certain
    bank = bank_of_document(document, name.soc)
    return BankFile(
        path=path,
        name=name,
        bank=bank,
        document=document,
        findings=tuple(findings),
        sha256=sha256,
        parsed=parsed,
        text=text,
    )
