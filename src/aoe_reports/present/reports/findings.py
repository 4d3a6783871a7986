"""The section of a report on what was found wrong, odd or worth knowing in what was read."""

from __future__ import annotations

from collections.abc import Iterable

from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.report import Section
from aoe_reports.model.texts import count_of, join, say

_COUNTED = {
    "error": ("{number:,} error", "{number:,} errors"),
    "warning": ("{number:,} warning", "{number:,} warnings"),
    "info": ("{number:,} remark", "{number:,} remarks"),
}
"""How findings are counted: one, more."""


def findings_section(findings: Iterable[Finding], shown: int, whole: str) -> Section:
    """How many there are, and the gravest; `whole` has them all."""
    ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    counts = [count_of(sum(one.severity == name for one in ordered), *_COUNTED[name]) for name in SEVERITIES]
    sentences = [say("{text}.", text=join(", ", counts))]
    if len(ordered) > shown:
        count = len(ordered)
        sentences.append(
            say("The first {shown} of {count} are listed; {whole} has them all.", shown=shown, count=count, whole=whole)
        )
    return Section("Findings", sentences, lines=[finding.as_text() for finding in ordered[:shown]])
