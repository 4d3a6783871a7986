"""One kind of table from everything below a path, under canonical names and units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.findings import Finding, in_order
from aoe_reports.readers.discovery import discover
from aoe_reports.readers.profile import group_captures
from aoe_reports.tables import TABLES
from aoe_reports.workflows.captures import read_file
from aoe_reports.workflows.output import write_whole


def list_tables() -> list[dict[str, Any]]:
    """Every kind that can be read, one row each."""
    return [
        {
            "kind": table.name,
            "title": table.title,
            "source": table.source,
            "files": f"{table.name}*.csv",
            "vintages": ", ".join(sorted(date for date, _ in table.vintages)),
        }
        for table in TABLES.values()
    ]


def read_tables(kind: str, path: Path) -> tuple[pa.Table, list[dict[str, Any]], list[Finding], bool]:
    """(Arrow table with durations as integer ns, the same rows with durations in us, findings, unreadable)."""
    if kind not in TABLES:
        raise UsageError(f"table: no kind {kind!r}; expected one of {', '.join(TABLES)}")
    discovery = discover([path])
    findings = list(discovery.findings)
    unreadable = discovery.unreadable
    frames = []
    for capture in group_captures(discovery.files):
        for file in capture.of_kind(kind):
            try:
                data = read_file(file)
            except (ReadError, OSError) as error:
                unreadable = True
                findings.append(Finding("error", "unreadable", str(file.path), str(error)))
                continue
            findings += data.findings
            frames.append(data.frame)
    if not frames and not findings:
        findings.append(Finding("error", "nothing-found", str(path), f"no {kind} here"))
    frame = pa.concat_tables(frames, promote_options="permissive") if frames else pa.table({})
    return frame, [_shown(row) for row in frame.to_pylist()], in_order(findings), unreadable


def write_parquet(frame: pa.Table, path: Path) -> None:
    """Write the table, whole or not at all."""
    sink = pa.BufferOutputStream()
    pq.write_table(frame, sink, write_page_checksum=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, sink.getvalue().to_pybytes())
    except OSError as error:
        raise AoeReportsError(f"{path}: cannot be written: {error.strerror or error}") from error


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Durations in us (exact to the ns), time stamps as they are: their 19 digits do not fit a float."""
    return {
        (name.removesuffix("_ns") + "_us" if _is_duration(name) else name): (
            value / 1000 if _is_duration(name) and value is not None else value
        )
        for name, value in row.items()
    }


_STAMPS = ("start_ns", "stop_ns", "end_ns")


def _is_duration(name: str) -> bool:
    return name.endswith("_ns") and not name.endswith(_STAMPS)
