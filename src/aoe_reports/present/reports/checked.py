"""What `check` found, whole: what the formats for CI systems are made of, and the report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.model.findings import SEVERITIES, Finding, listed
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.present.reports.rows import shown_columns
from aoe_reports.present.reports.tuning import TuningTask, overview_sections, task_sections

VERDICTS = ("pass", "warn", "fail")
_FINDINGS = (
    Column("severity", "Severity", "state"),
    Column("rule", "Rule"),
    Column("place", "Place"),
    Column("message", "Message", "sentence"),
)


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


def check_report(checked: Checked, tasks: Sequence[TuningTask]) -> Report:
    """Tuning tasks at a glance, findings, files, and then task by task what was tuned."""
    unread = sum(row["kind"] in {"opat", "sgat"} and not row["tasks"] for row in checked.rows)
    sections = [*overview_sections(tasks, unread), _findings(checked), _files(checked), *task_sections(tasks)]
    return Report("Checked", _headline(checked), sections)


def _headline(checked: Checked) -> str:
    verdicts = Counter(row["verdict"] for row in checked.rows)
    severities = Counter(finding.severity for finding in checked.findings)
    files = [
        say("{count} {verdict}", count=verdicts[verdict], verdict=say(verdict))
        for verdict in VERDICTS
        if verdicts[verdict]
    ]
    found = [count_of(severities[severity], *_COUNTED[severity]) for severity in SEVERITIES if severities[severity]]
    counted = count_of(len(checked.rows), "{number} file", "{number} files")
    return say(
        "{files}; {findings}.",
        files=say("{files}: {verdicts}", files=counted, verdicts=join(", ", files)) if files else counted,
        findings=join(", ", found) if found else say("no findings"),
    )


_COUNTED = {
    "error": ("{number} error", "{number} errors"),
    "warning": ("{number} warning", "{number} warnings"),
    "info": ("{number} remark", "{number} remarks"),
}
"""How findings are counted: one, more."""


def _findings(checked: Checked) -> Section:
    rows = [
        {"severity": f.severity, "rule": f.rule, "place": _place(f), "message": f.message}
        for f in listed(checked.findings)
    ]
    return Section("Findings", [] if rows else [say("None.")], Grid(_FINDINGS, rows) if rows else None)


def _files(checked: Checked) -> Section:
    rows = checked.rows
    return Section("Files", [] if rows else [say("None.")], Grid(shown_columns("check", rows), rows) if rows else None)


def _place(finding: Finding) -> str:
    place = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)
    return say("{place} at {pointer}", place=place, pointer=finding.pointer) if finding.pointer else place
