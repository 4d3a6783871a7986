"""The section of a report on what was found wrong, odd or worth knowing in what was read."""

from __future__ import annotations

from collections.abc import Iterable

from aoe_reports.findings import SEVERITIES, Finding
from aoe_reports.reports.names import counted
from aoe_reports.reports.report import Section

_NOUNS = {"error": "error", "warning": "warning", "info": "remark"}


def findings_section(findings: Iterable[Finding], shown: int, whole: str) -> Section:
    """How many there are, and the gravest; `whole` has them all."""
    ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    counts = ", ".join(counted(sum(one.severity == name for one in ordered), _NOUNS[name]) for name in SEVERITIES)
    sentences = [f"{counts}."]
    if len(ordered) > shown:
        sentences.append(f"The first {shown} of {len(ordered)} are listed; {whole} has them all.")
    return Section("Findings", sentences, lines=[finding.as_text() for finding in ordered[:shown]])
