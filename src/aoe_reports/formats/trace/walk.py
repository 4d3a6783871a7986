"""Trace events one by one: exact whatever they hold, and able to say which one is wrong and why.

The reader for files in which something is out of the ordinary; what duckdb reads exactly goes through `quick`,
some five times faster. Both give the same rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.formats.ascend.tables.timelines import FLOW_CATEGORY
from aoe_reports.formats.rules import JSON_SHAPE
from aoe_reports.formats.table import NO_ID
from aoe_reports.formats.trace.json_list import Broken, Damage, NotAList, elements, elements_with_texts
from aoe_reports.formats.trace.rules import TIMELINE_EVENT
from aoe_reports.formats.trace.shape import (
    INTEGER_ARGS,
    LATEST_NS,
    LONGEST_US,
    NAMED,
    NO_ID_COLUMNS,
    PACKED_FLOW,
    RAW_FLOW,
    TEXT_ARGS,
    Names,
    TimelineLook,
    boolean_array,
    integer_array,
    is_stage_row,
    text_array,
    thread_key,
)
from aoe_reports.model.documents import JsonObject, object_of, text_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say

BATCH_ROWS = 1 << 14
_KEYS = {"ph": "ph", "name": "name", "category": "cat", "flow_id": "id", "pid": "pid", "tid": "tid"}
_MAX_EXPONENT = 30
_MAX_INT64 = 2**63
_MAX_DIGITS = 20
_JSON = json.JSONEncoder(default=float, ensure_ascii=False, separators=(",", ":"))

# Made once: there may be as many such events as a file has.
NO_PHASE = say("not an event with a 'ph'")
_NO_TEXT = say("'name' is not text")
_NO_TIME = say("'ts' is not a time")
_NO_DURATION = say("'dur' is not a duration (>= 0)")
_NO_TASK = say("a task without name, ts or dur")
ODD_ARGS = say("'args' is not an object")


@dataclass(frozen=True, slots=True)
class Row:
    """An event of the frame: what had to be judged, and the rest as it stands in the file."""

    event: JsonObject
    start_ns: int | None
    duration_ns: int | None

    @property
    def phase(self) -> str:
        return str(self.event["ph"])

    @property
    def stage_row(self) -> bool:
        return self.event["ph"] == "X" and is_stage_row(text_of(self.event.get("name")))

    def value(self, column: str) -> Any:
        """The value of a column of the frame but process and thread."""
        if column in _KEYS:
            return as_text(self.event.get(_KEYS[column]))
        if column in {"start_ns", "duration_ns", "stage_row"}:
            return getattr(self, column)
        args = self.event.get("args")
        if column == "args":
            return None if args is None else as_json(args)
        args = object_of(args)
        if column in TEXT_ARGS:
            return as_text(_first(args, TEXT_ARGS[column]))
        if column == "connection_id" and self.event["ph"] != "X":
            category, flow = self.value("category"), self.value("flow_id")
            return connection_of_flow(flow or "") if category == FLOW_CATEGORY else None
        return _number(args, column, INTEGER_ARGS[column])


@dataclass(frozen=True, slots=True)
class Metadata:
    """An event that only names something."""

    what: str | None
    pid: str | None
    tid: str | None
    name: str | None


Unusable = str | Broken
"""Why an event cannot be used."""


def walk_events(path: Path) -> Iterator[tuple[int, Row | Metadata | Unusable | Damage]]:
    """Each event of a file as a row, as metadata, or why it cannot be used, then what is wrong with their list.

    NotAList where the file is no list of events.
    """
    for index, element in enumerate(elements(path)):
        _refuse_others(index, element)
        yield index, element if isinstance(element, Damage) else read_event(element)


def walk_with_texts(path: Path) -> Iterator[tuple[int, Any, Row | Metadata | Unusable | Damage, bytes]]:
    """(its number, its value, what `walk_events` makes of it, its text) of each event of a file."""
    for index, (element, text) in enumerate(elements_with_texts(path)):
        _refuse_others(index, element)
        yield index, element, element if isinstance(element, Damage) else read_event(element), text


def _refuse_others(index: int, element: Any) -> None:
    if index == 0 and isinstance(element, dict) and "ph" not in element:
        raise NotAList(JSON_SHAPE, say("expected a list of trace events (with 'ph')"))


def read_event(event: Any) -> Row | Metadata | Unusable:
    """One element of the list as a row, as metadata, or why it is neither."""
    if isinstance(event, Broken):
        return event
    if not isinstance(event, dict) or not isinstance(phase := event.get("ph"), str) or not phase:
        return NO_PHASE
    if not isinstance(event.get("args"), dict | None):  # it may have told the type of a task, or the name of a process
        return ODD_ARGS
    if phase == "M":
        args = object_of(event.get("args"))
        return Metadata(
            *(as_text(value) for value in (event.get("name"), event.get("pid"), event.get("tid"), args.get("name")))
        )
    row = Row(event, nanoseconds(event.get("ts")), duration_ns(event.get("dur")))
    return _flaw(event, row.start_ns, row.duration_ns) or row


def _flaw(event: JsonObject, start: int | None, duration: int | None) -> str | None:
    if not isinstance(event.get("name"), str | None):
        return _NO_TEXT
    if event.get("ts") is not None and start is None:
        return _NO_TIME
    if event.get("dur") is not None and duration is None:
        return _NO_DURATION
    if event["ph"] == "X" and (event.get("name") is None or start is None or duration is None):
        return _NO_TASK
    return None


def look_by_walking(path: Path) -> TimelineLook:
    """What `look_at_timeline` tells."""
    names = Names()
    phases: Counter[str] = Counter()
    wrong: list[tuple[int, Unusable]] = []
    of_list: list[Finding] = []
    reported = stage_rows = 0
    start: int | None = None
    end: int | None = None
    try:
        for index, event in walk_events(path):
            if isinstance(event, Damage):
                of_list.append(event.finding(path))
            elif isinstance(event, Unusable):
                reported += 1
                if len(wrong) <= EXAMPLES_PER_RULE:
                    wrong.append((index, event))
            elif isinstance(event, Metadata):
                phases["M"] += 1
                names.learn(event.what, event.pid, event.tid, event.name)
            else:
                phases[event.phase] += 1
                if event.phase == "X" and event.start_ns is not None and event.duration_ns is not None:
                    stage_rows += event.stage_row
                    last = event.start_ns + event.duration_ns
                    start = event.start_ns if start is None else min(start, event.start_ns)
                    end = last if end is None else max(end, last)
    except NotAList as error:
        return TimelineLook(findings=(error.finding(path),), plain=False, usable=False)
    return TimelineLook(
        events=sum(phases.values()) + reported,
        phases=dict(phases),
        reported=reported,
        start_ns=start,
        end_ns=end,
        stage_rows=stage_rows,
        findings=(*unusable_events(path, wrong, reported), *of_list),
        names=names,
        plain=False,
    )


def batches_by_walking(path: Path, names: Names, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    rows: list[Row] = []
    for _, event in walk_events(path):
        if isinstance(event, Row):
            rows.append(event)
            if len(rows) == BATCH_ROWS:
                yield _batch(rows, names, schema)
                rows = []
    if rows:
        yield _batch(rows, names, schema)


def unusable_events(path: Path, wrong: Sequence[tuple[int, Unusable]], count: int) -> list[Finding]:
    """Findings for events that are left out; after EXAMPLES_PER_RULE of them one counts the rest."""
    shown = [_left_out(path, index, why) for index, why in wrong[:EXAMPLES_PER_RULE]]
    if count > EXAMPLES_PER_RULE:
        more = say("and {count} more events that cannot be used", count=count - EXAMPLES_PER_RULE)
        pointer = f"/{wrong[EXAMPLES_PER_RULE][0]}"
        shown.append(TIMELINE_EVENT.found(str(path), more, pointer=pointer))
    return shown


def _left_out(path: Path, index: int, why: Unusable) -> Finding:
    what, line, column = (why.reason, why.line, why.column) if isinstance(why, Broken) else (why, None, None)
    return TIMELINE_EVENT.found(
        str(path), say("{what}; the event is left out", what=what), line, column, pointer=f"/{index}"
    )


def nanoseconds(value: Any) -> int | None:
    """Microseconds (a number, or since 2023-11 a text) as exact nanoseconds; None for no time."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    if isinstance(value, str) and not (value.isascii() and len(value) < 100):  # noqa: PLR2004 -- no time is that long
        return None
    try:
        exact = Decimal(value)
        if not exact.is_finite() or exact.adjusted() > _MAX_EXPONENT:
            return None
        whole = int((exact * 1000).to_integral_value(ROUND_HALF_UP))
    except (ArithmeticError, ValueError):
        return None
    return whole if abs(whole) < LATEST_NS else None


def duration_ns(value: Any) -> int | None:
    """Microseconds as nanoseconds; None for what is negative, too long or no number."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        number = float(value)
    except (ArithmeticError, ValueError):
        return None
    return round(number * 1000) if 0 <= number < LONGEST_US else None


def as_text(value: Any) -> str | None:
    """A value as text: texts as they are, the rest as JSON."""
    if value is None or isinstance(value, str):
        return value
    return str(value) if type(value) is int else as_json(value)


def as_json(value: Any) -> str:
    return _JSON.encode(value)


def _first(args: JsonObject, keys: Sequence[str]) -> Any:
    return next((args[key] for key in keys if args.get(key) is not None), None)


def _number(args: JsonObject, column: str, keys: Sequence[str]) -> int | None:
    value = _first(args, keys)
    value = number_of(value) if isinstance(value, str) else value
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MAX_INT64:
        return None
    return None if value == NO_ID and column in NO_ID_COLUMNS else value


def number_of(text: str) -> int | None:
    """A number that is written as text; None for what is none, or none of 63 bits."""
    digits = text.strip(" ")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _MAX_DIGITS else _MAX_INT64
    return number if number < _MAX_INT64 else None


def connection_of_flow(text: str) -> int | None:
    """The connection that the id of a HostToDevice flow tells, where it is sure."""
    digits = text.strip(" ")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_DIGITS:
        return None
    number = int(digits)
    if number < RAW_FLOW:
        return number
    high, context = divmod(number, RAW_FLOW)
    if number >= 2 * _MAX_INT64 or (number >= PACKED_FLOW and high % 2**16 == 0):
        return None
    return high + (context == RAW_FLOW - 1)


def _batch(rows: Sequence[Row], names: Names, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([_column(rows, names, spec) for spec in schema], schema=schema)


def _column(rows: Sequence[Row], names: Names, spec: pa.Field) -> pa.Array:
    if spec.name == "process":
        return _named([row.value("pid") or "" for row in rows], names.processes)
    if spec.name == "thread":
        return _named([thread_key(row.value("pid"), row.value("tid")) for row in rows], names.threads)
    values = [row.value(spec.name) for row in rows]
    if spec.type == pa.bool_():
        return boolean_array(values)
    return integer_array(values) if spec.type == pa.int64() else text_array(values)


def _named(keys: Sequence[str], known: dict[str, str]) -> pa.Array:
    place = {key: number for number, key in enumerate(known)}
    indices = integer_array([place.get(key) for key in keys], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, text_array(list(known.values())).cast(NAMED.value_type))
