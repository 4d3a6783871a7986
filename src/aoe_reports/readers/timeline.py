"""Reads the step_trace and task_time timelines (Chrome trace JSON, a bare list) as the tables of the same name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import jiter
import pyarrow as pa

from aoe_reports.errors import ReadError
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.readers.names import FileName
from aoe_reports.readers.summary import TableData
from aoe_reports.tables import TABLES, Table

MAX_TIMELINE_BYTES = 256 << 20
"""A timeline is held in memory whole; msprof itself slices its files at 200 MB."""

_TEXT = pa.dictionary(pa.int32(), pa.string())
Row = dict[str, Any]
Extract = Callable[[list[Any], list[Finding], str], Iterator[Row]]


def read_timeline(path: Path, name: FileName) -> TableData:
    """The rows of a timeline; damage is in the findings, ReadError only where the file cannot be opened."""
    table, extract = TIMELINES[name.kind]
    findings: list[Finding] = []
    events, sha256 = _events(path, findings)
    rows = [] if events is None else list(extract(events, findings, str(path)))
    for row in rows:
        row.setdefault("device_id", name.device_id)
        row.setdefault("model_id", name.model_id)
    reported = sum(finding.rule == "timeline-event" for finding in findings)
    shown = _capped(findings)
    frame = pa.Table.from_pylist(rows, schema=_SCHEMAS[name.kind])
    return TableData(table, path, frame, table.match([]), tuple(shown), len(rows) + reported, reported, sha256)


def _events(path: Path, findings: list[Finding]) -> tuple[list[Any] | None, str]:
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_TIMELINE_BYTES else b""
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), "a timeline was expected") from error
    sha256 = hashlib.sha256(data).hexdigest()

    def refuse(rule: str, message: str) -> tuple[None, str]:
        findings.append(Finding("error", rule, str(path), message))
        return None, sha256

    if size > MAX_TIMELINE_BYTES:
        return refuse("json-too-large", f"{size} bytes; at most {MAX_TIMELINE_BYTES} are read")
    if not data.strip():
        return refuse("empty-file", "the file is empty; expected a list of events")
    try:
        document = jiter.from_json(data, allow_inf_nan=False, cache_mode="keys", float_mode="decimal")
    except ValueError as error:
        what = str(error)
        rule = "json-truncated" if what.startswith("EOF") else "json-syntax"
        return refuse(rule, f"not a whole JSON document: {what}; nothing of it is used")
    if not isinstance(document, list) or any(isinstance(event, dict) and "ph" not in event for event in document[:1]):
        return refuse("json-shape", "expected a list of trace events (with 'ph'); nothing of it is used")
    return document, sha256


def _iterations(events: list[Any], findings: list[Finding], path: str) -> Iterator[Row]:
    """Iterations of step_trace with the forward-backward and refresh times of the same number."""
    parts: dict[tuple[str, Any], int | None] = {}
    for _, event in _complete(events, [], path):
        args = _dict(event.get("args"))
        if event.get("cat") in ("FP_BP Time", "Iteration Refresh"):
            parts[(event["cat"], _id(args.get("Iteration ID")))] = _ns(event.get("dur"))
    for index, event in _complete(events, findings, path):
        args = _dict(event.get("args"))
        number, duration, start = _id(args.get("Iteration ID")), _ns(event.get("dur")), _ns(event.get("ts"))
        if not isinstance(event.get("cat"), str):
            findings.append(_bad(path, index, "an event without a 'cat'"))
            continue
        if event["cat"] != "Iteration Time":
            continue
        if number is None or duration is None or start is None or duration < 0:
            findings.append(_bad(path, index, "an iteration without number, ts or dur (>= 0)"))
            continue
        yield {
            "iteration_id": number,
            "fp_start_ns": _ns(args.get("FP Start")),
            "bp_end_ns": _ns(args.get("BP End")),
            "iteration_end_ns": start + duration,
            "iteration_time_ns": duration,
            "fp_to_bp_time_ns": parts.get(("FP_BP Time", number)),
            "iteration_refresh_ns": parts.get(("Iteration Refresh", number)),
        }


def _tasks(events: list[Any], findings: list[Finding], path: str) -> Iterator[Row]:
    """Tasks of task_time: every complete event that names its task type."""
    for index, event in _complete(events, findings, path):
        args = _dict(event.get("args"))
        kind, start, duration = args.get("Task Type"), _ns(event.get("ts")), _ns(event.get("dur"))
        if "Task Type" not in args:
            continue
        if not isinstance(kind, str):
            findings.append(_bad(path, index, "a task whose type is no text"))
            continue
        if start is None or duration is None or duration < 0 or not isinstance(event.get("name"), str):
            findings.append(_bad(path, index, "a task without name, ts or dur (>= 0)"))
            continue
        stream = args.get("Stream Id", args.get("Physic Stream Id"))
        yield {
            "op_name": event["name"],
            "task_type": kind,
            "stream_id": _id(stream),
            "task_id": _id(args.get("Task Id")),
            "task_duration_ns": duration,
            "task_start_ns": start,
            "task_stop_ns": start + duration,
        }


def _complete(events: list[Any], findings: list[Finding], path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, event in enumerate(events):
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            findings.append(_bad(path, index, "no event with a 'ph'"))
        elif event.get("ph") == "X":
            yield index, event


def _bad(path: str, index: int, what: str) -> Finding:
    return Finding("error", "timeline-event", path, f"{what}; the event is left out", pointer=f"/{index}")


def _capped(findings: list[Finding]) -> list[Finding]:
    if len(findings) <= EXAMPLES_PER_RULE:
        return findings
    more = f"and {len(findings) - EXAMPLES_PER_RULE} more events that cannot be used"
    last = findings[EXAMPLES_PER_RULE]
    return [*findings[:EXAMPLES_PER_RULE], Finding("error", "timeline-event", last.path, more, pointer=last.pointer)]


def _ns(value: Any) -> int | None:
    """Microseconds (a number, or since 2023-11 a string) as exact nanoseconds; None for no time."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        scaled = (Decimal(value) * 1000).to_integral_value(ROUND_HALF_EVEN)
        return int(scaled) if abs(scaled) < 2**61 else None
    except (ArithmeticError, ValueError):
        return None


def _id(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_SCHEMAS = {
    "step_trace": pa.schema(
        [
            (name, pa.int64())
            for name in (
                "device_id", "model_id", "iteration_id", "fp_start_ns", "bp_end_ns", "iteration_end_ns",
                "iteration_time_ns", "fp_to_bp_time_ns", "iteration_refresh_ns",
            )
        ]
    ),
    "task_time": pa.schema(
        [
            ("device_id", pa.int64()),
            ("op_name", _TEXT),
            ("task_type", _TEXT),
            *((name, pa.int64()) for name in ("stream_id", "task_id", "task_duration_ns", "task_start_ns", "task_stop_ns")),
        ]
    ),
}  # fmt: skip

TIMELINES: dict[str, tuple[Table, Extract]] = {
    "step_trace": (TABLES["step_trace"], _iterations),
    "task_time": (TABLES["task_time"], _tasks),
}
"""Kinds whose timeline holds the rows of a table: the table, and how its rows are told from events."""
