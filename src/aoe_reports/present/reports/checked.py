"""What `check` found as a report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from aoe_reports.engine.question import Answer
from aoe_reports.model.banks import BankSummary
from aoe_reports.model.findings import SEVERITIES, Finding, listed
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column, columns_of
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.present.answers import first_rows, section_of
from aoe_reports.present.reports.tuning import TuningTask, overview_sections, task_sections

VERDICTS = ("pass", "warn", "fail")
_FINDINGS = (
    Column("severity", "Severity", "state"),
    Column("rule", "Rule"),
    Column("place", "Place"),
    Column("message", "Message", "sentence"),
)


def check_report(answer: Answer, most: int | None = None) -> Report:
    """Tuning tasks at a glance, findings, files, and then task by task what was tuned; of each list at most so many rows."""
    tasks: Sequence[TuningTask] = answer.details
    unread = sum(row.kind in {"opat", "sgat"} and not row.tasks for row in answer.rows)
    above, below = overview_sections(tasks, unread), [_files(answer), *task_sections(tasks)]
    if most is not None:
        above, below = ([first_rows(section, most) for section in sections] for sections in (above, below))
    return Report("Checked", _headline(answer), [*above, _findings(answer), *below])  # findings end by their rules


def _headline(answer: Answer) -> str:
    verdicts = Counter(row.verdict for row in answer.rows)
    severities = Counter(finding.severity for finding in answer.findings)
    files = [
        say("{count} {verdict}", count=verdicts[verdict], verdict=say(verdict))
        for verdict in VERDICTS
        if verdicts[verdict]
    ]
    found = [count_of(severities[severity], *_COUNTED[severity]) for severity in SEVERITIES if severities[severity]]
    counted = count_of(len(answer.rows), "{number} file", "{number} files")
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


def _findings(answer: Answer) -> Section:
    rows = [
        {"severity": f.severity, "rule": f.rule, "place": _place(f), "message": f.message}
        for f in listed(answer.findings)
    ]
    return Section("Findings", [] if rows else [say("None.")], Grid(_FINDINGS, rows) if rows else None)


_SUMMARIES = frozenset(column.key for column in columns_of(BankSummary))
"""What is said of a bank alone; the columns of the report are those that any file may have."""


def _files(answer: Answer) -> Section:
    files = section_of(replace(answer.tables[0], without=_SUMMARIES))
    return Section("Files", [] if files.grid else [say("None.")], files.grid)


def _place(finding: Finding) -> str:
    place = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)
    return say("{place} at {pointer}", place=place, pointer=finding.pointer) if finding.pointer else place
