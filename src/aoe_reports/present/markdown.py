"""A report as Markdown (tables as GitHub reads them); nothing from a file is taken for markup."""

from __future__ import annotations

import re
from urllib.parse import quote

from aoe_reports.model.report import PAGES, Grid, Report, Section
from aoe_reports.model.texts import in_language
from aoe_reports.present.values import STATES, WORDS, cell, plain

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~!&$])")
_BLOCK = re.compile(r"^(?:([-+=])|(\d+)(?=[.)]))")
"""What makes a paragraph a list or an underlined heading; white space before makes it code."""


def render(report: Report) -> str:
    """The whole report; a chart is a link to its picture where there is one, and said in words where not."""
    parts = [f"# {escape(report.headline)}", escape(report.title)] if report.headline else [f"# {escape(report.title)}"]
    if report.pages.first:
        parts.append(f"[{escape(in_language(PAGES, report.language))}]({quote(report.pages.first)})")
    for section in report.sections:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text in which no character is markup."""
    return _MARKUP.sub(r"\\\1", plain(text))


def _paragraph(text: str) -> str:
    """Escaped text that is a paragraph, whatever it begins with."""
    return _BLOCK.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\", escape(text).lstrip(), count=1)


def _section(section: Section) -> list[str]:
    parts = [f"## {escape(section.title)}"] if section.title else []
    parts += [_paragraph(sentence) for sentence in section.sentences]
    if section.link and section.chart is not None:
        parts.append(f"![{escape(section.chart.description)}]({quote(section.link)})")
    if section.grid is not None:
        parts.append("\n".join(_grid(section.grid)))
    if section.lines:
        parts.append("\n".join("- " + _paragraph(line) for line in section.lines))
    return parts


def _grid(table: Grid) -> list[str]:
    columns = [column for column in table.columns if column.kind != "bars"]
    lines = ["| " + " | ".join(escape(column.title) for column in columns) + " |"]
    lines.append("|" + "|".join("---:" if column.kind not in WORDS | STATES else "---" for column in columns) + "|")
    lines += ["| " + " | ".join(escape(cell(row, c)) for c in columns) + " |" for row in table.rows]
    return lines
