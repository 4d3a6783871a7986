"""What `check` found, in the forms that every command has: piece by piece where thousands of files fit into it."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.model.findings import listed, reasons_of
from aoe_reports.model.report import Report
from aoe_reports.model.rows import as_mapping
from aoe_reports.present import RENDERERS
from aoe_reports.present.answers import report_of
from aoe_reports.present.as_json import render_pieces as json_pieces
from aoe_reports.present.csv import render_pieces as csv_pieces
from aoe_reports.present.forms import Shown
from aoe_reports.present.reports.checked import check_report
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.text import finding_line
from aoe_reports.present.text import render_pieces as text_pieces


def as_text(shown: Shown) -> Iterator[str]:
    """The files, and then the findings."""
    yield from text_pieces(report_in(report_of(shown.answer, shown.most), shown.language), shown.screen)
    for finding in listed(shown.answer.findings):
        yield finding_line(finding, shown.language, shown.screen) + "\n"


def as_json(shown: Shown) -> Iterator[str]:
    """The object that every command prints, a row or a finding a line."""
    answer = shown.answer
    rows = map(as_mapping, answer.rows)
    found = answer.findings, reasons_of(answer.findings, strict=shown.strict)
    yield from json_pieces(answer.command, list(answer.inputs), ([one] for one in rows), lambda: found)


def as_csv(shown: Shown) -> Iterator[str]:
    """A line a file."""
    yield from csv_pieces(map(as_mapping, shown.answer.rows))


def as_markdown(shown: Shown) -> Iterator[str]:
    """The report."""
    yield RENDERERS["markdown"](_report(shown))


def as_html(shown: Shown) -> Iterator[str]:
    """The report as a page."""
    yield RENDERERS["html"](_report(shown))


def _report(shown: Shown) -> Report:
    return report_in(check_report(shown.answer, shown.most), shown.language)
