"""What a string of profiling_options collects, as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aoe_reports.model.report import Report, Section
from aoe_reports.model.texts import join


def options_report(rows: Sequence[Mapping[str, Any]]) -> Report:
    """A line a key that is given: its value, the files that it yields, what is to be known of it."""
    lines = [join(": ", (f"{row['key']}={row['value']}", *_said(row))) for row in rows]
    return Report("Options of the profiler", "", [Section("", lines=lines)] if lines else [])


def _said(row: Mapping[str, Any]) -> list[str]:
    said = [join(", ", row["files"]), row["note"]]
    return [join("; ", filter(None, said))] if any(said) else []
