"""Reads every timeline (Chrome trace JSON, a bare list of events) as one frame of events, in memory of a fixed size.

Nothing of a file that is no whole list of events is used. Events = rows + metadata + reported events, always.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.formats.trace.json_list import NotAList, has_both_ends
from aoe_reports.formats.trace.native import collect_natively
from aoe_reports.formats.trace.rules import HCCL_STAGE_ROWS, PHASE_UNKNOWN, TIMELINE_EVENT
from aoe_reports.formats.trace.shape import (
    EVENTS_SCHEMA,
    C,
    OddFileError,
    TimelineLook,
    integer_array,
    text_array,
    wanted_schema,
)
from aoe_reports.formats.trace.walk import batches_by_walking, look_by_walking
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, say

__all__ = [
    "EVENTS_SCHEMA",
    "EventStream",
    "EventSums",
    "TimelineLook",
    "collect_events",
    "look_at_timeline",
    "stream_events",
    "sum_durations",
]

SUM_KEYS = ("process", "thread", "pid", "tid", "name", "category", "task_type")
"""What durations can be summed by."""
_MAX_INT64 = 2**63
Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class EventStream:
    """A timeline's events, to be read once; `look` and `findings` are known beforehand."""

    look: TimelineLook
    batches: pa.RecordBatchReader

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.look.findings


@dataclass(frozen=True, slots=True)
class EventSums:
    """Sums over the X events: one row for each combination of keys, with `count` and `duration_ns`, longest first."""

    frame: pa.Table
    findings: tuple[Finding, ...]


def look_at_timeline(path: Path) -> TimelineLook:
    """One pass: how many events of which kind, from when to when, whose, and everything that is wrong with the file."""
    return with_findings(path, plain_look(path) or look_by_walking(path))


def with_findings(path: Path, look: TimelineLook) -> TimelineLook:
    """A look with what its counts tell of the file, too."""
    return replace(look, findings=(*look.findings, *_phases(path, look), *_second_copies(path, look.stage_rows)))


KNOWN_PHASES = frozenset("MXstfCBEiIbne")
"""Phases of the trace format that profilers write: metadata, complete, flows, counters, begin and end, instants, asyncs."""


def _phases(path: Path, look: TimelineLook) -> list[Finding]:
    """Events of a phase that nobody writes: they are in the frame, and no sum takes them for what they were."""
    strange = {phase: count for phase, count in sorted(look.phases.items()) if phase not in KNOWN_PHASES}

    def message(phase: str, count: int) -> Text:
        return say("{count} events of phase {phase!r}, which no profiler writes", count=count, phase=phase)

    return [PHASE_UNKNOWN.found(str(path), message(phase, count)) for phase, count in strange.items()]


def stream_events(path: Path, columns: Collection[str] | None = None, look: TimelineLook | None = None) -> EventStream:
    """The events, a batch at a time; only `columns` of EVENTS_SCHEMA where given, `look` where one was taken already.

    The file is looked at as a whole first: names may stand behind the events they name, and of a file that is cut off
    nothing is handed out.
    """
    schema = wanted_schema(columns)
    look = look if look is not None else look_at_timeline(path)
    return EventStream(look, pa.RecordBatchReader.from_batches(schema, _batches(path, look, schema)))


def collect_events(
    path: Path, columns: Collection[str], new: Callable[[], C], parts: int = 1, *, in_full: bool = False
) -> tuple[TimelineLook, list[C]]:
    """(what a file tells as a whole, collectors that have taken in its events), in one pass where every event is plain.

    Each collector holds one of at most `parts` parts of the file, which are read at the same time, in their order. Of a file that is no
    whole list of events none holds anything. Words may come as dictionaries; unless events are wanted `in_full`, ids of flows may come
    as whole numbers and the ends of flows without their names: their ids say as much.
    """
    schema = wanted_schema(columns)
    if has_both_ends(path):
        for collect in (_collect_quickly,) if in_full else (collect_natively, _collect_quickly):
            try:
                look, collectors = collect(path, frozenset(schema.names), new, parts)
            except OddFileError:
                continue
            return with_findings(path, look), collectors
    look, collector = with_findings(path, look_by_walking(path)), new()
    for batch in _batches(path, look, schema):
        collector.add(batch)
    return look, [collector]


def _collect_quickly(
    path: Path, columns: frozenset[str], new: Callable[[], C], parts: int
) -> tuple[TimelineLook, list[C]]:
    from aoe_reports.formats.trace.quick import collect_quickly  # noqa: PLC0415 -- duckdb takes 0.2 s to load

    return collect_quickly(path, columns, new, parts)


def sum_durations(path: Path, by: Sequence[str] = ("process", "name", "task_type")) -> EventSums:
    """Count and duration of X events by some of SUM_KEYS, in one pass; second copies of hccl tasks are left out.

    The events are those that every reading of the file has, so what is wrong with it is what `look_at_timeline` says.
    """
    if unknown := set(by) - set(SUM_KEYS):
        raise KeyError(", ".join(sorted(unknown)))
    look, collectors = collect_events(path, {*by, *_SUMMED}, lambda: _Sums(tuple(by)))
    sums: defaultdict[Key, list[int]] = defaultdict(lambda: [0, 0])
    for collector in collectors:
        for key, (count, duration) in collector.sums.items():
            _add(sums, key, count, duration)
    return EventSums(_frame(by, sums), (*look.findings, *_too_long(path, sums)))


_SUMMED = ("ph", "stage_row", "duration_ns")
_LOW_BITS = 30
"""A batch's durations (below 2**50 ns each) may exceed 64 bits; the sums of their upper and lower bits do not."""


@dataclass(slots=True)
class _Sums:
    """Sums the X events of each batch by some columns."""

    by: tuple[str, ...]
    sums: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    def add(self, batch: pa.RecordBatch) -> None:
        import pyarrow.compute as pc  # noqa: PLC0415 -- takes 10 MB

        tasks = batch.filter(pc.and_not(pc.equal(batch["ph"].cast(pa.string()), "X"), batch["stage_row"]))
        keys = [tasks[column].cast(pa.string()) for column in self.by]
        high = pc.shift_right(tasks["duration_ns"], _LOW_BITS)
        low = pc.bit_wise_and(tasks["duration_ns"], (1 << _LOW_BITS) - 1)
        names = [*self.by, "high", "low"]
        table = pa.Table.from_arrays([*keys, high, low], names=names)
        grouped = table.group_by([*self.by]).aggregate([("high", "sum"), ("low", "sum"), ("low", "count")])
        rows = (grouped[name].to_pylist() for name in (*self.by, "high_sum", "low_sum", "low_count"))
        for *key, upper, lower, count in zip(*rows, strict=True):
            if count:
                _add(self.sums, tuple(key), count, (upper << _LOW_BITS) + lower)


def plain_look(path: Path) -> TimelineLook | None:
    """The look at a file in which every event is plain; None for any other."""
    if not has_both_ends(path):
        return None
    from aoe_reports.formats.trace.quick import look_quickly  # noqa: PLC0415 -- duckdb takes 0.2 s to load

    try:
        return look_quickly(path)
    except OddFileError:
        return None


def _batches(path: Path, look: TimelineLook, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if not look.usable:
        return iter(())
    if look.plain:
        from aoe_reports.formats.trace.quick import stream_quickly  # noqa: PLC0415 -- the same

        return _unchanged(path, stream_quickly(path, look.names, schema))
    return _unchanged(path, batches_by_walking(path, look.names, schema))


def _unchanged(path: Path, items: Iterator[Any]) -> Iterator[Any]:
    """Items of a second pass; the first has found the file whole."""
    try:
        yield from items
    except (NotAList, OddFileError) as error:
        what = say("the content has just changed")
        raise ReadError(path, what, say("expected a file that is not being written")) from error


def _add(sums: dict[Key, list[int]], key: Key, count: int, duration: int) -> None:
    entry = sums[key]
    entry[0] += count
    entry[1] += duration


def _frame(by: Sequence[str], sums: dict[Key, list[int]]) -> pa.Table:
    def longest_first(item: tuple[Key, list[int]]) -> tuple[int, list[str]]:
        return -item[1][1], [part or "" for part in item[0]]

    rows = sorted(((key, entry) for key, entry in sums.items() if entry[1] < _MAX_INT64), key=longest_first)
    columns = {column: text_array([key[number] for key, _ in rows]) for number, column in enumerate(by)}
    columns["count"] = integer_array([entry[0] for _, entry in rows])
    columns["duration_ns"] = integer_array([entry[1] for _, entry in rows])
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _too_long(path: Path, sums: dict[Key, list[int]]) -> list[Finding]:
    lost = sum(entry[0] for entry in sums.values() if entry[1] >= _MAX_INT64)
    if not lost:
        return []
    message = say("the total duration of {count} events exceeds 64 bits of nanoseconds; they are left out", count=lost)
    return [TIMELINE_EVENT.found(str(path), message)]


def _second_copies(path: Path, count: int) -> list[Finding]:
    if not count:
        return []
    message = say("{count} events are second copies of hccl tasks (Stage..Step..); sums leave them out", count=count)
    return [HCCL_STAGE_ROWS.found(str(path), message)]
