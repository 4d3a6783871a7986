"""What every file below some paths is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from aoe_reports.checks.records import sound_records
from aoe_reports.errors import ReadError
from aoe_reports.findings import Finding, in_order
from aoe_reports.readers.bank import read_bank
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.identify import FoundFile
from aoe_reports.readers.profile import TASK_KINDS, Capture
from aoe_reports.readers.summary import TableData
from aoe_reports.tables import TABLES
from aoe_reports.texts import say
from aoe_reports.workflows.captures import (
    aoe_files,
    bank_files,
    find_captures,
    look_at,
    read_file,
    record_files,
    unread_files,
)
from aoe_reports.workflows.load import load_tuning
from aoe_reports.workflows.options import RunOptions

_TIMES = frozenset(
    column.field
    for table in TABLES.values()
    for column in table.columns
    if column.type == "timestamp" and column.name not in table.repeating
)
"""Every column of points in time."""


def inspect_paths(
    paths: Sequence[Path], max_expanded: int | None = None
) -> tuple[list[dict[str, Any]], list[Finding], bool]:
    """(one row a file, findings, whether something could not be read)."""
    discovery = discover(paths, max_expanded=max_expanded)
    findings = list(discovery.findings)
    rows = []
    unreadable = discovery.unreadable
    for captures in find_captures(discovery):
        for capture in captures:
            findings += capture.findings
            run = str(captures[0].root if len(captures) == 1 else captures[0].root.parent)
            for file in (*capture.files, *capture.superseded):
                try:
                    rows.append(_row(file, capture, run, findings, superseded=file in capture.superseded))
                except (ReadError, OSError) as error:
                    unreadable = True
                    findings.append(Finding("error", "unreadable", str(file.path), str(error)))
    for file in aoe_files(discovery):
        try:
            tunings, found = load_tuning(file, RunOptions())
        except (ReadError, OSError) as error:
            unreadable = True
            found, tunings = [Finding("error", "unreadable", str(file.path), str(error))], []
        findings += [finding for finding in found if finding.rule.startswith("json-")]
        changed = sum(len(tuning.result.modifications) for tuning in tunings)
        rows.append(
            {**_empty(file), "run": tunings[0].run_id if tunings else None, "rows": changed if tunings else None}
        )
    for file in (*bank_files(discovery), *record_files(discovery)):
        row = _empty(file)
        try:
            row |= _bank_row(file, findings) if file.name.source == "aoe" else _records_row(file, findings)
        except ReadError as error:
            unreadable = True
            findings.append(Finding("error", "unreadable", str(file.path), str(error)))
        rows.append(row)
    rows += [{**_empty(file), "rank_id": file.name.rank_id} for file in unread_files(discovery)]
    return sorted(rows, key=lambda row: str(row["path"])), in_order(findings), unreadable


def _bank_row(file: FoundFile, findings: list[Finding]) -> dict[str, Any]:
    bank = read_bank(file.path, file.name)
    findings += bank.findings
    if not bank.parsed:
        return {}
    summary = bank.bank.summary()
    return {"rows": summary["gradients"], "summary": summary}


def _records_row(file: FoundFile, findings: list[Finding]) -> dict[str, Any]:
    return {"rows": sum(1 for _ in sound_records(file.path, findings))}


def _row(file: FoundFile, capture: Capture, run: str, findings: list[Finding], *, superseded: bool) -> dict[str, Any]:
    row = {**_empty(file), "run": run, "rank_id": capture.info.rank_id, "superseded": superseded}
    if file.size == 0:
        findings.append(Finding("error", "empty-file", str(file.path), say("the file is empty")))
        return row
    if file.name.timeline:
        look = look_at(file)
        findings += look.findings
        return {**row, "rows": look.events, "start_ns": look.start_ns, "end_ns": look.end_ns}
    if not file.holds:
        return row
    data = read_file(
        file, next((kind for kind in TASK_KINDS if kind in file.holds), file.holds[0]), _TIMES, hashed=False
    )
    findings += data.findings
    start, end = _bounds(data)
    return {**row, "vintage": data.match.vintage or None, "rows": data.rows_read, "start_ns": start, "end_ns": end}


def _bounds(data: TableData) -> tuple[int | None, int | None]:
    """The first start and the last end (or start, where a table has no ends) in a table."""
    columns = [data.frame[name] for name in data.frame.column_names if name in _TIMES]
    bounds = [pc.min_max(column).as_py() for column in columns]
    return (
        min((bound["min"] for bound in bounds if bound["min"] is not None), default=None),
        max((bound["max"] for bound in bounds if bound["max"] is not None), default=None),
    )


def _empty(file: FoundFile) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "kind": file.name.kind,
        "source": file.name.source,
        "form": file.name.form,
        "vintage": None,
        "run": None,
        "rank_id": None,
        "device_id": file.name.device_id,
        "model_id": file.name.model_id,
        "iteration": file.name.iteration,
        "slice": file.name.slice,
        "rows": None,
        "start_ns": None,
        "end_ns": None,
        "superseded": False,
        "summary": None,
    }
