"""What a finding can name: each rule is declared once, in the place where it is checked or raised."""

from __future__ import annotations

from dataclasses import dataclass

from aoe_reports.model.findings import Severity
from aoe_reports.model.rows import column, row


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: how bad it is where it fires, on what, why, and where the fact comes from."""

    name: str
    severity: Severity
    on: str
    reason: str
    source: str = ""


@row
class ListedRule:
    """A rule as it is listed."""

    rule: str = column("Rule")
    severity: Severity = column("Severity", "word")
    on: str = column("Applies to", "sentence")
    reason: str = column("Reason", "sentence")
    source: str = column("Source", "sentence")
