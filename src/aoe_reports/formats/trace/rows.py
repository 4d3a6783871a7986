"""Reads the step_trace and task_time timelines (Chrome trace JSON, a bare list) as the tables of the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, nothing_of
from aoe_reports.formats.rules import JSON_SHAPE
from aoe_reports.formats.sources.digest import sha256_of
from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.table import Table
from aoe_reports.formats.trace.json_list import Broken, Damage, NotAList, elements
from aoe_reports.formats.trace.walk import NO_PHASE, ODD_ARGS, Unusable, unusable_events
from aoe_reports.model.documents import JsonObject, object_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say

BATCH_ROWS = 1 << 16
_TEXT = pa.dictionary(pa.int32(), pa.string())
Row = dict[str, str | int | None]
Events = Callable[[], Iterator[Any]]
Report = Callable[[int, Unusable], None]
Extract = Callable[[Events, Report], Iterator[Row]]


def read_timeline(path: Path, name: FileName) -> TableData:
    """The rows of a timeline; damage is in the findings, ReadError only where the file cannot be opened."""
    table, extract = TIMELINES[name.kind]
    wrong: list[tuple[int, Unusable]] = []
    of_list: dict[Damage, Finding] = {}
    reported = 0

    def report(index: int, what: Unusable) -> None:
        nonlocal reported
        reported += 1
        if len(wrong) <= EXAMPLES_PER_RULE:
            wrong.append((index, what))

    schema = _SCHEMAS[name.kind]
    sha256 = sha256_of(path, say("a timeline"))
    constants = {"device_id": name.device_id, "model_id": name.model_id}
    try:
        rows = extract(lambda: _events(path, of_list), report)
        frame = pa.concat_tables([schema.empty_table(), *_tables(rows, constants, schema)])
    except NotAList as error:
        nothing = nothing_of(path, table, table.match([]), error.finding(path))
        return replace(nothing, frame=schema.empty_table(), sha256=sha256, is_text=False)
    findings = (*unusable_events(path, wrong, reported), *of_list.values())
    return TableData(
        table=table,
        path=path,
        frame=frame,
        match=table.match([]),
        findings=findings,
        rows_read=frame.num_rows + reported,
        rows_reported=reported,
        sha256=sha256,
        is_text=False,
    )


def _tables(rows: Iterator[Row], constants: Mapping[str, int | None], schema: pa.Schema) -> Iterator[pa.Table]:
    """Rows as Arrow tables, a part at a time: as objects of Python they would take many times the memory."""
    while part := [{**constants, **row} for row in islice(rows, BATCH_ROWS)]:
        yield pa.Table.from_pylist(part, schema=schema)


def _events(path: Path, findings: dict[Damage, Finding]) -> Iterator[Any]:
    """The events, as often as they are walked through; what is wrong with their list is in `findings`, once."""
    for index, event in enumerate(elements(path)):
        if isinstance(event, Damage):
            findings[event] = event.finding(path)
            continue
        if index == 0 and isinstance(event, dict) and "ph" not in event:
            raise NotAList(JSON_SHAPE, say("expected a list of trace events (with 'ph')"))
        yield event


def _iterations(events: Events, report: Report) -> Iterator[Row]:
    """Iterations of step_trace with the forward-backward and refresh times of the same number."""
    parts: dict[tuple[str, int | None], int | None] = {}
    for _, event in _complete(events, _ignore):
        category = event.get("cat")
        if isinstance(category, str) and category in _PARTS:
            parts[(category, _id(_args(event).get("Iteration ID")))] = _ns(event.get("dur"))
    for index, event in _complete(events, report):
        category = event.get("cat")
        if not isinstance(category, str):
            report(index, say("an event without a 'cat'"))
        elif category in _PARTS:
            if None in _numbered(event):
                report(index, say("a {category!r} without its iteration or dur (>= 0)", category=category))
        elif category == "Iteration Time":
            yield from _iteration(event, parts, partial(report, index))


def _numbered(event: JsonObject) -> tuple[int | None, int | None]:
    """(number of the iteration, duration) of an event; None for none."""
    duration = _ns(event.get("dur"))
    return _id(_args(event).get("Iteration ID")), None if duration is None or duration < 0 else duration


def _no_time(args: JsonObject) -> str | None:
    """The first point of an iteration that was found, and is no time."""
    points = [point for point in ("FP Start", "BP End") if args.get(point, "N/A") not in _NOT_FOUND]
    return next((point for point in points if _ns(args[point]) is None), None)


_PARTS = ("FP_BP Time", "Iteration Refresh")
_NOT_FOUND = ("N/A", "", None)


def _iteration(
    event: JsonObject, parts: Mapping[tuple[str, int | None], int | None], report: Callable[[str], None]
) -> Iterator[Row]:
    (number, duration), start, args = _numbered(event), _ns(event.get("ts")), _args(event)
    if number is None or duration is None or start is None:
        report(say("an iteration without number, ts or dur (>= 0)"))
    elif (point := _no_time(args)) is not None:
        report(say("an iteration whose {point!r} is not a time", point=point))
    else:
        yield {
            "iteration_id": number,
            "fp_start_ns": _ns(args.get("FP Start")),
            "bp_end_ns": _ns(args.get("BP End")),
            "iteration_end_ns": start + duration,
            "iteration_time_ns": duration,
            "fp_to_bp_time_ns": parts.get(("FP_BP Time", number)),
            "iteration_refresh_ns": parts.get(("Iteration Refresh", number)),
        }


def _tasks(events: Events, report: Report) -> Iterator[Row]:
    """Tasks of task_time: every complete event that names its task type."""
    for index, event in _complete(events, report):
        args = _args(event)
        if "Task Type" not in args:
            continue
        kind, name = args["Task Type"], event.get("name")
        start, duration = _ns(event.get("ts")), _ns(event.get("dur"))
        if not isinstance(kind, str):
            report(index, say("a task whose type is not text"))
            continue
        if start is None or duration is None or duration < 0 or not isinstance(name, str):
            report(index, say("a task without name, ts or dur (>= 0)"))
            continue
        stream = args.get("Stream Id", args.get("Physic Stream Id"))
        yield {
            "op_name": name,
            "task_type": kind,
            "stream_id": _id(stream),
            "task_id": _id(args.get("Task Id")),
            "task_duration_ns": duration,
            "task_start_ns": start,
            "task_stop_ns": start + duration,
        }


def _complete(events: Events, report: Report) -> Iterator[tuple[int, JsonObject]]:
    for index, event in enumerate(events()):
        if isinstance(event, Broken):
            report(index, event)
        elif not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            report(index, NO_PHASE)
        elif not isinstance(event.get("args"), dict | None):
            report(index, ODD_ARGS)
        elif event.get("ph") == "X":
            yield index, event


def _ignore(_index: int, _what: Unusable) -> None:
    """What a first pass finds, the second one reports."""


def _ns(value: object) -> int | None:
    """Microseconds (a number, or since 2023-11 a string) as exact nanoseconds; None for no time."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        scaled = (Decimal(value) * 1000).to_integral_value(ROUND_HALF_EVEN)
        return int(scaled) if abs(scaled) < 2**61 else None
    except (ArithmeticError, ValueError):
        return None


def _id(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def _args(event: JsonObject) -> JsonObject:
    return object_of(event.get("args"))


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
