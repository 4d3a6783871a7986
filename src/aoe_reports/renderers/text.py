"""A report as plain text for a terminal."""

from __future__ import annotations

from aoe_reports.renderers.values import plain, show, width
from aoe_reports.reports.report import Grid, Report, Section

MAX_CELL = 64


def render(report: Report) -> str:
    """The whole report; ends with a line end."""
    parts = [plain(report.title), *([plain(report.headline)] if report.headline else [])]
    parts += [part for section in report.sections if (part := _section(section))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> str:
    lines: list[str] = []
    if section.title:
        lines += [plain(section.title), "-" * width(section.title)]
    lines += [plain(sentence) for sentence in section.sentences]
    if section.grid is not None:
        lines += grid(section.grid)
    lines += [plain(line) for line in section.lines]
    return "\n".join(lines)


def grid(table: Grid) -> list[str]:
    """A table in aligned columns, numbers to the right."""
    columns = [column for column in table.columns if column.kind != "bars"]
    head = [plain(column.title) for column in columns]
    body = [[_cut(show(row.get(column.key), column.kind)) for column in columns] for row in table.rows]
    widths = [max(width(row[i]) for row in [head, *body]) for i in range(len(head))]
    right = [column.kind not in {"text", "state"} for column in columns]
    lines = [_line(head, widths, right), "  ".join("-" * w for w in widths)]
    return lines + [_line(row, widths, right) for row in body]


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        " " * (w - width(cell)) + cell if r else cell + " " * (w - width(cell))
        for cell, w, r in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _cut(text: str) -> str:
    """A long cell keeps its end, which tells names and paths apart."""
    return text if len(text) <= MAX_CELL else "…" + text[-(MAX_CELL - 1) :]
