"""What `check` found, whole: what the formats for CI systems are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.findings import Finding


@dataclass(frozen=True, slots=True)
class Checked:
    """The files that were checked (one row each), the findings in order, every rule; whether warnings fail; who checked."""

    rows: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding]
    rules: Sequence[Mapping[str, Any]]
    strict: bool
    version: str
    """The version of aoe-reports."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the check fail."""
        return finding.severity == "error" or (self.strict and finding.severity == "warning")
