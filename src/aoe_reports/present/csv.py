"""Rows as CSV; a cell that a spreadsheet would take for a formula gets an apostrophe in front."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from aoe_reports.model.documents import Cell, Cells
from aoe_reports.present.values import plain

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render_rows(rows: Sequence[Cells], *, header: bool = True) -> str:
    """Rows under the keys of the first; lists and objects as JSON, null as an empty cell."""
    if not rows:
        return ""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    keys = list(rows[0])
    if header:
        writer.writerow(keys)
    writer.writerows([cell(row.get(key)) for key in keys] for row in rows)
    return buffer.getvalue()


def cell(value: Cell) -> str:
    """A value as a cell that neither a spreadsheet nor a terminal takes for a command; null is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return "'" + plain(value) if value.startswith(_FORMULA) else plain(value)
    if isinstance(value, list | tuple | dict):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return str(value)
