"""What a finding can name: each rule is declared once, in the place where it is checked or raised."""

from __future__ import annotations

from dataclasses import dataclass

from aoe_reports.model.findings import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: how bad it is where it fires, on what, why, and where the fact comes from."""

    name: str
    severity: Severity
    on: str
    reason: str
    source: str = ""
