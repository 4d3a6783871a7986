"""What `check` found, in the forms that every command has: piece by piece where thousands of files fit into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aoe_reports.engine.question import Answer
from aoe_reports.model.findings import SEVERITIES, listed, reasons_of
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column, as_mapping, columns_of
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.model.topics.banks import BankSummary
from aoe_reports.present import RENDERERS
from aoe_reports.present.answers import first_rows, report_of, section_of
from aoe_reports.present.as_json import render_pieces as json_pieces
from aoe_reports.present.forms import Shown
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.reports.tuning import TuningTask, overview_sections, task_sections
from aoe_reports.present.text import finding_line
from aoe_reports.present.text import render_pieces as text_pieces


def as_text(shown: Shown) -> Iterator[str]:
    """The files, and then the findings."""
    answer = replace(shown.answer, headline=_headline(shown.answer))
    yield from text_pieces(report_in(report_of(answer, shown.most), shown.language), shown.screen)
    for finding in listed(shown.answer.findings):
        yield finding_line(finding, shown.language, shown.screen) + "\n"


def as_json(shown: Shown) -> Iterator[str]:
    """The object that every command prints, a row or a finding a line."""
    answer = shown.answer
    rows = map(as_mapping, answer.rows)
    end = answer.findings, reasons_of(answer.findings, strict=shown.strict)
    yield from json_pieces(answer.command, list(answer.inputs), ([row] for row in rows), lambda: end)


def as_markdown(shown: Shown) -> Iterator[str]:
    """The report."""
    yield RENDERERS["markdown"](_report(shown))


def as_html(shown: Shown) -> Iterator[str]:
    """The report as a page."""
    yield RENDERERS["html"](_report(shown))


def _report(shown: Shown) -> Report:
    return report_in(check_report(shown.answer, shown.most), shown.language)


VERDICTS = ("pass", "warn", "fail")
_FINDINGS = (
    Column("severity", "Severity", "state"),
    Column("rule", "Rule"),
    Column("place", "Place"),
    Column("message", "Message", "sentence"),
)


def check_report(answer: Answer, most: int | None = None) -> Report:
    """An overview of tuning tasks, findings, files, then each tuning task; each list has at most `most` rows."""
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
    counts = [count_of(severities[severity], *_COUNTED[severity]) for severity in SEVERITIES if severities[severity]]
    counted = count_of(len(answer.rows), "{number} file", "{number} files")
    return say(
        "{files}; {findings}.",
        files=say("{files}: {verdicts}", files=counted, verdicts=join(", ", files)) if files else counted,
        findings=join(", ", counts) if counts else say("no findings"),
    )


_COUNTED = {
    "error": ("{number} error", "{number} errors"),
    "warning": ("{number} warning", "{number} warnings"),
    "info": ("{number} remark", "{number} remarks"),
}
"""How findings are counted: one, more."""


def _findings(answer: Answer) -> Section:
    rows = [
        {
            "severity": one.severity,
            "rule": one.rule,
            "place": say("{place} at {pointer}", place=one.place, pointer=one.pointer) if one.pointer else one.place,
            "message": one.message,
        }
        for one in listed(answer.findings)
    ]
    return Section("Findings", [] if rows else [say("None.")], Grid(_FINDINGS, rows) if rows else None)


_SUMMARIES = frozenset(column.key for column in columns_of(BankSummary))
"""What is said of a bank alone; the columns of the report are those that any file may have."""


def _files(answer: Answer) -> Section:
    files = section_of(replace(answer.tables[0], without=_SUMMARIES))
    return Section("Files", [] if files.grid else [say("None.")], files.grid)
