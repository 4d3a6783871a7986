"""Expected and absent: ranks, steps, workloads, tables. One rule for all, so that no answer silently ignores what is missing."""

from __future__ import annotations

from collections.abc import Container, Mapping

from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.rules import ALL_FILES
from aoe_reports.model.texts import N_, Text, say

EXPECTED_ABSENT = ALL_FILES.rule(
    "expected-absent",
    "error",
    "something that the rest of a run, or every earlier night, has is missing: the answer holds for the rest only; what is missing is never zero",
)


_ABSENT = N_(
    {
        "workload": "workload {name} is missing: {reason}",
        "rank": "rank {name} is missing: {reason}",
        "device": "device {name} is missing: {reason}",
        "scope": "scope {name} is missing: {reason}",
        "metric": "metric {name} is missing: {reason}",
        "time": "time of {name} is missing: {reason}",
        "step": "step {step} of rank {name} is missing: {reason}",
        "parts": "data ({parts}) of rank {name} is missing: {reason}",
    }
)


def find_absent(
    path: str,
    kind: str,
    expected: Mapping[str, Text],
    present: Container[str],
    severity: Severity | None = None,
    **more: object,
) -> list[Finding]:
    """A finding for each name of `expected` that is not in `present`; its value says what leads to expect it, `more` what else the sentence names."""
    places = [
        (say(_ABSENT[kind], name=name, reason=reason, **more), None)
        for name, reason in expected.items()
        if name not in present
    ]
    findings = EXPECTED_ABSENT.found_at(path, places)
    return (
        [EXPECTED_ABSENT.found(finding.path, finding.message, severity=severity) for finding in findings]
        if severity
        else findings
    )
