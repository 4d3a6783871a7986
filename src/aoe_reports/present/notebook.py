"""An answer as a notebook shows it: short, in English, without script or picture; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from aoe_reports.engine.question import Answer
from aoe_reports.model.documents import Cells
from aoe_reports.model.findings import counts_of
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.report import Report, Section
from aoe_reports.present.answers import report_of
from aoe_reports.present.html import render_part
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.values import plain

MAX_ROWS = 8
"""Rows of all tables together: the frame of the answer has the others."""
MAX_SENTENCES, MAX_ERRORS = 4, 3
MAX_CHARACTERS = 80
"""Of a cell: shapes of some operators fill a screen."""


def as_html(answer: Answer) -> str:
    """Headline, first rows without details, how many rows and findings there are."""
    report = report_of(answer)
    shown = report_in(Report(report.title, report.headline, [*_shortened(report.sections)]), "en")
    errors = (finding for finding in answer.findings if finding.severity == "error")
    return render_part(
        shown,
        errors=[plain(finding.as_text()) for finding in islice(errors, MAX_ERRORS)],
        tables=answer.lengths(),
        findings=counts_of(answer.findings),
        unreadable=answer.unreadable,
    )


def _shortened(sections: Sequence[Section]) -> Iterator[Section]:
    """The first sections, MAX_ROWS rows in all."""
    left = MAX_ROWS
    for section in sections:
        grid = section.grid
        if grid is None or left <= 0:
            continue
        columns = tuple(column for column in grid.columns if not column.detail and column.kind != "bars")
        rows = grid.rows[-left:] if grid.oldest_first else grid.rows[:left]
        grid = replace(grid, columns=columns, rows=[_short(row) for row in rows])
        left -= len(rows)
        yield replace(section, sentences=section.sentences[:MAX_SENTENCES], grid=grid, lines=())


def _short(row: Cells) -> Cells:
    return {
        key: shorten_middle(value, MAX_CHARACTERS) if isinstance(value, str) else value for key, value in row.items()
    }
