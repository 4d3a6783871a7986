"""Rules on the tasks of one stream: they run one after another, and tables list them in that order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from aoe_reports.formats.ascend.tables.op_summary import COMPUTE_TASKS
from aoe_reports.formats.csv.summary import START, TableData
from aoe_reports.model.arrays.columns import Ints, Mask, distinct_rows, integers, places_by, valid, words_in
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity
from aoe_reports.model.rules import TABLES, Rule
from aoe_reports.model.texts import say
from aoe_reports.rules.tables.rows import as_integers, placed

_Place = tuple[int, Severity, int, int]
"""(row, severity, ns, how many tasks) of a finding."""

_TASK_TABLES = frozenset({"op_summary", "kernel_details", "task_time"})
_KEYS = ("device_id", "stream_id")
_TIMES = frozenset({START, "task_stop_ns"})

STREAM_TOLERANCE_NS = 1_000
"""Stamps since 1970 that went through a float64 of microseconds are right to 0.25 us each. In real exports without
such stamps no two tasks of one stream overlap at all; in those of 2023-09 one pair does, by 0.26 us."""

ROUND_START_NS = 10_000_000_000
"""What is left of a start like 1.73641E+15 us: whole tens of seconds."""
EPOCH_NS = 10**18
"""Starts above it are counted since 1970 (those of older exporters since the device was started)."""

_MIN_PARTS = 10
"""A tenth of the tasks of a stream that start with another are rounded. Less than a tenth of the rows out of order
are damage; more are an order of somebody's own, which changes no number."""

START_ROUNDED = TABLES.rule(
    "start-rounded",
    "error",
    "start times that lost their last digits, as when a spreadsheet saves 1.73641E+15: steps, gaps and overlaps are wrong",
)
STREAM_OVERLAP = TABLES.rule(
    "stream-overlap",
    "error",
    "a task that still runs when the next one on its stream starts: tasks of one stream run one after another (a warning "
    "if no other task lies wholly within it)",
    "real exports: of 4,451 pairs of tasks on 58 streams one overlaps, by 0.26 us; 1 us is tolerated",
)
STREAM_ORDER = TABLES.rule(
    "stream-order",
    "warning",
    "a task that starts before the one above it on its stream, in a table that is otherwise in the order of time",
    "real exports: of 4,451 pairs of tasks on 58 streams none is out of order",
)


def contradict(finding: Finding) -> bool:
    """Whether a finding says that times of tasks cannot be: answers that stand on them are wrong."""
    order = finding.rule in {START_ROUNDED.name, STREAM_ORDER.name}
    return order or (finding.rule == STREAM_OVERLAP.name and finding.severity == "error")


def without_impossible_starts(data: TableData) -> TableData:
    """A table without its start times where these lost digits, or the clock was set back: steps and gaps made of them would be of any length."""
    if not any(finding.rule in {START_ROUNDED.name, STREAM_ORDER.name} for finding in data.findings):
        return data
    kept = [name for name in data.frame.column_names if name not in _TIMES]
    return data.with_frame(data.frame.select(kept))


def streams(data: TableData) -> Sequence[Finding]:
    """Tasks of one stream run one after another, in the order of the rows."""
    if data.table.name not in _TASK_TABLES or not {START, "task_duration_ns"} <= set(data.frame.column_names):
        return ()
    start, known = integers(data.frame[START])
    if known.sum() > 1 and start[known].min() > EPOCH_NS and not (start[known] % ROUND_START_NS).any():
        return [_rounded(data, int(known.sum()))]
    if "stream_id" not in data.frame.column_names:
        return ()
    stop = _stops(data, start)
    by_stream = list(_rows_of_streams(data, known))
    together = sum(_starting_together(start[rows], stop[rows]) for rows in by_stream)
    if together > 1 and together * _MIN_PARTS >= sum(len(rows) - 1 for rows in by_stream):
        return [_rounded(data, together)]
    overlapping = [place for rows in by_stream for place in _overlapping(rows, start[rows], stop[rows])]
    # events of a timeline may have any order
    falling = [] if data.told_by else [place for rows in by_stream for place in _falling(rows, start[rows])]
    return [
        *_found_at(data, STREAM_OVERLAP, overlapping, _message_of_overlap),
        *_found_at(data, STREAM_ORDER, falling, _message_of_fall),
    ]


def _stops(data: TableData, start: Ints) -> Ints:
    """The end of each task: recorded, else start plus duration."""
    stop = start + integers(data.frame["task_duration_ns"])[0]
    if "task_stop_ns" in data.frame.column_names:
        measured, known = integers(data.frame["task_stop_ns"])
        stop = np.where(known, measured, stop)
    return stop


def _rows_of_streams(data: TableData, known: Mask) -> Iterator[Ints]:
    """The rows of each stream that are one operator each.

    Left out: whole communications, waits, the unnamed task around a mixed-core operator (in databases), and parts of a task
    with several contexts, which run in parallel.
    """
    frame = data.frame
    serial = known & integers(frame["stream_id"])[1]
    if "task_type" in frame.column_names:
        serial &= words_in(frame["task_type"], COMPUTE_TASKS)
    if "op_name" in frame.column_names:
        serial &= valid(frame["op_name"])
    if "context_id" in frame.column_names:
        serial &= ~integers(frame["context_id"])[1]
    rows = np.flatnonzero(serial)
    stream = distinct_rows(*(as_integers(frame[key])[0][rows] for key in _KEYS if key in frame.column_names))[1]
    return (rows[places] for _, places in places_by(stream))


def _starting_together(start: Ints, stop: Ints) -> int:
    """The number of tasks of a stream that start together although both take time."""
    order = np.lexsort((stop, start))
    equal = start[order][1:] == start[order][:-1]
    return int((equal & ((stop - start)[order][:-1] > STREAM_TOLERANCE_NS)).sum())


def _rounded(data: TableData, count: int) -> Finding:
    message = say(
        "the start times lost their last digits, as in a table that a spreadsheet saved: {count} tasks start when another "
        "one starts; steps, gaps and overlaps are wrong",
        count=count,
    )
    return START_ROUNDED.found(str(data.path), message)


def _overlapping(rows: Ints, start: Ints, stop: Ints) -> Iterator[_Place]:
    """Tasks of a stream that run into later ones: (times, number of the others)."""
    order = np.lexsort((stop, start))  # what takes no time may start with another one
    rows, start, stop = rows[order], start[order], stop[order]
    latest = np.maximum.accumulate(stop)
    running = np.maximum.accumulate(np.where(stop == latest, np.arange(len(stop)), 0))[:-1]
    later = np.flatnonzero(latest[:-1] - start[1:] > STREAM_TOLERANCE_NS) + 1
    running = running[later - 1]
    counts = np.bincount(running, minlength=len(rows))
    within = np.bincount(running[stop[later] <= stop[running]], minlength=len(rows))
    for place in np.flatnonzero(counts):
        severity: Severity = "error" if within[place] else "warning"
        yield int(rows[place]), severity, int(stop[place] - start[place]), int(counts[place])


def _falling(rows: Ints, start: Ints) -> Iterator[_Place]:
    """Tasks of a stream that start before the one above them, unless the order is arbitrary."""
    falls = np.flatnonzero(start[1:] < start[:-1]) + 1
    if len(falls) * _MIN_PARTS <= len(rows):
        for place in falls:
            yield int(rows[place]), "warning", int(start[place - 1] - start[place]), 1


def _message_of_overlap(time_ns: int, count: int) -> str:
    return say(
        "this task takes {duration:.3f} us, but tasks of its stream start before it ends ({count}): its duration or a start "
        "is wrong",
        duration=time_ns / 1000,
        count=count,
    )


def _message_of_fall(time_ns: int, count: int) -> str:
    del count
    return say(
        "this task starts {time:.3f} us before the one above it on its stream: the clock was set back, or rows are out of "
        "order",
        time=time_ns / 1000,
    )


def _placed(data: TableData, message: str, row: int) -> str:
    """The message with its place; in a timeline the name and start of the task."""
    if not data.told_by:
        return placed(data, message, row)
    name, start = (data.frame[column][row].as_py() for column in ("op_name", START))
    whole, part = divmod(start, 1000)
    return say("{name} at {start} us: {message}", name=name, start=f"{whole}.{part:03d}", message=message)


def _found_at(
    data: TableData, rule: Rule, places: list[_Place], message: Callable[[int, int], str]
) -> Iterator[Finding]:
    """A finding for each place in row order; EXAMPLES_PER_RULE at most, then a count."""
    places.sort()
    for row, severity, time_ns, count in places[:EXAMPLES_PER_RULE]:
        words = _placed(data, message(time_ns, count), row)
        yield rule.found(str(data.path), words, data.line(row), severity=severity)
    if rest := places[EXAMPLES_PER_RULE:]:
        severity = "error" if any(place[1] == "error" for place in rest) else "warning"
        yield rule.found(str(data.path), say("and {count} more of this kind", count=len(rest)), severity=severity)
