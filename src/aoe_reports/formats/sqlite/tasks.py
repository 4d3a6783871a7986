"""kernel_details, op_summary and task_time from a database.

What a column means was found by comparing real databases with text exports of the same model, and in the exporters'
own code: kernel_details is TASK with COMPUTE_TASK_INFO by globalTaskId, and one row for each COMMUNICATION_OP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aoe_reports.formats.sqlite.counters import counters_of
from aoe_reports.formats.sqlite.rules import DB_DANGLING_ID, DB_VALUE
from aoe_reports.formats.sqlite.series import (
    SPAN,
    Built,
    Index,
    Picked,
    Series,
    Wanted,
    among,
    by_id,
    each,
    first_of,
    nothing,
    read_picked,
    repeated,
    spans,
    stacked,
    without_no_id,
    words_of,
)
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, EncodedWords, Rows
from aoe_reports.model.arrays.columns import Ints, Mask, distinct
from aoe_reports.model.texts import say

COMMUNICATION_TYPE = "COMMUNICATION"

_NOT_IN_OP_SUMMARY = frozenset({"WRITE_BACK", "INVALID", "HCCL_AI_CPU", COMMUNICATION_TYPE})
"""Types whose tasks msprof leaves out of op_summary (parts of operators that have a row of their own)…"""

_KEPT_COMMUNICATION = "AivKernel"
"""… but not communication by an operator of this name's end."""

_NODE_LEVEL = 10000

_COMPUTE = {
    "op_name": by_id("name"),
    **each(by_id, "opType", "opState", "taskType", "hf32Eligible", "inputShapes", "inputDataTypes", "inputFormats"),
    **each(by_id, "outputShapes", "outputDataTypes", "outputFormats"),
}
_PLACES = each(Picked, "deviceId", "modelId", "taskId", "streamId", "contextId")


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The compute tasks of a database and which row of COMPUTE_TASK_INFO tells of each."""

    series: dict[str, Series]
    start: Ints
    length: Ints
    ids: Ints
    reported: int


def compute_tasks(database: Database, wanted: Wanted) -> _Tasks:
    """TASK with COMPUTE_TASK_INFO; one row of the latter may tell of several tasks (graphs that run again)."""
    info, described = _described(database, wanted)
    index = Index.of(info.ints("globalTaskId")[info.good])
    used = index.repeats
    doubled = int(used.sum())
    if doubled:
        message = say(
            "{table}: {count} rows with a globalTaskId that occurred before; they are left out",
            table="COMPUTE_TASK_INFO",
            count=doubled,
        )
        database.report(DB_VALUE, message)
    places = {name: pick for name, pick in _PLACES.items() if pick.column in database.columns("TASK")}
    always: dict[str, CellType] = {**SPAN, "globalTaskId": "integer"}
    tasks, series = read_picked(database, "TASK", places, always, always, wanted)
    start, length, good = spans(database, tasks)
    ids = tasks.ints("globalTaskId")
    near, found = index.find(ids)
    matched = good & found
    used[near[matched]] = True  # (doubled ones are reported already)
    lost = int((~used).sum())
    if lost:
        message = say(
            "{table}: {count} rows with a globalTaskId that is in no usable row of TASK; they are left out",
            table="COMPUTE_TASK_INFO",
            count=lost,
        )
        database.report(DB_DANGLING_ID, message)
    reported = int((~good).sum()) + int((~info.good).sum()) + doubled + lost
    rows = index.rows[near[matched]]
    within = matched[tasks.good]  # (the series hold the good rows alone)
    columns: dict[str, Series] = {name: column.take(within) for name, column in series.items()}
    columns |= {name: column.take(rows) for name, column in described.items()}
    shown = _shown(columns)
    return _Tasks(
        {name: column.take(shown) for name, column in columns.items()},
        start[matched][shown],
        length[matched][shown],
        ids[matched][shown],
        reported,
    )


def _described(database: Database, wanted: Wanted) -> tuple[Rows, dict[str, Series]]:
    """The rows of COMPUTE_TASK_INFO and their wanted columns."""
    stored = database.columns("COMPUTE_TASK_INFO")
    # since 2026 blockDim is something else (threads of a block) and stands beside blockNum
    numbers = {
        name: Picked(new if new in stored else old)
        for name, new, old in (("block_num", "blockNum", "blockDim"), ("mix_block_num", "mixBlockNum", "mixBlockDim"))
    }
    there = {name: pick for name, pick in {**_COMPUTE, **numbers}.items() if pick.column in stored}

    def of_info(name: str) -> bool:
        return wanted(name) or name in {"op_name", "task_type"}  # which decide whether msprof shows the task

    return read_picked(database, "COMPUTE_TASK_INFO", there, {"globalTaskId": "integer"}, {"globalTaskId"}, of_info)


def _shown(found: Mapping[str, Series]) -> Mask:
    """Which compute tasks msprof shows in op_summary."""
    kinds, names = words_of(found, "task_type"), words_of(found, "op_name")
    hidden = among(kinds, lambda word: word in _NOT_IN_OP_SUMMARY)
    kept = among(kinds, COMMUNICATION_TYPE.__eq__) & among(names, lambda word: word.endswith(_KEPT_COMMUNICATION))
    return ~hidden | kept


_COMMUNICATION_OP = each(by_id, "opName", "opType")


def communication(database: Database, wanted: Wanted) -> tuple[dict[str, Series], Ints, Ints, int]:
    """One row a communication operator, as msprof adds them to op_summary."""
    if not database.filled("COMMUNICATION_OP"):
        none = np.zeros(0, dtype=np.int64)
        return {}, none, none, 0
    stored = database.columns("COMMUNICATION_OP")
    picked = {**_COMMUNICATION_OP, **({"device_id": _PLACES["device_id"]} if "deviceId" in stored else {})}
    always: dict[str, CellType] = {**SPAN, "opId": "integer"}
    rows, series = read_picked(database, "COMMUNICATION_OP", picked, always, SPAN, wanted)
    start, length, good = spans(database, rows)
    count = int(good.sum())
    within = good[rows.good]
    found: dict[str, Series] = {name: column.take(within) for name, column in series.items()}
    if wanted("device_id") and "device_id" not in found:
        found["device_id"] = _device_of_operators(database, rows.cells["opId"].take(good))
    found["task_type"] = repeated(COMMUNICATION_TYPE, count)
    if wanted("block_num"):
        found["block_num"] = Cells(np.zeros(count, dtype=np.int64), np.ones(count, dtype=bool))
    return found, start[good], length[good], int((~good).sum())


def _device_of_operators(database: Database, operators: Cells) -> Cells:
    """Operators without a device of their own (until 2025): the one of their tasks."""
    none = nothing(len(operators.values))
    if not database.has("TASK", "deviceId", "globalTaskId"):
        return none
    task = database.fetch("TASK", {"deviceId": "integer", "globalTaskId": "integer"}, quiet=True)
    devices = distinct(task.ints("deviceId")[task.cells["deviceId"].there])
    if len(devices) == 1:
        return Cells(
            np.full(len(operators.values), devices[0], dtype=np.int64), np.ones(len(operators.values), dtype=bool)
        )
    if not database.has("COMMUNICATION_TASK_INFO", "opId", "globalTaskId"):
        return none
    part = database.fetch("COMMUNICATION_TASK_INFO", {"opId": "integer", "globalTaskId": "integer"})
    device = dict(zip(task.ints("globalTaskId").tolist(), task.ints("deviceId").tolist(), strict=True))
    pairs = zip(part.ints("opId").tolist(), part.ints("globalTaskId").tolist(), strict=True)
    of_operator = {operator: device[task_id] for operator, task_id in pairs if task_id in device}
    found = [of_operator.get(operator) for operator in operators.values.tolist()]
    return Cells(
        np.asarray([value or 0 for value in found], dtype=np.int64),
        operators.there & np.asarray([value is not None for value in found], dtype=bool),
    )


def _with_device(wanted: Wanted) -> Wanted:
    """The order of tasks and the wait between them are those of each device."""
    return lambda name: wanted(name) or name == "device_id"


def op_summary(database: Database, wanted: Wanted) -> Built:
    tasks = compute_tasks(database, _with_device(wanted))
    others, start, length, reported = communication(database, _with_device(wanted))
    counts = len(tasks.start), len(start)
    series = {name: stacked((tasks.series.get(name), others.get(name)), counts) for name in {**tasks.series, **others}}
    starts, lengths = np.concatenate([tasks.start, start]), np.concatenate([tasks.length, length])
    device = series.get("device_id")
    devices = device.ints if isinstance(device, Cells) else np.zeros(len(starts), dtype=np.int64)
    order = np.lexsort((starts, devices))
    series = {name: _tidy(name, column.take(order)) for name, column in series.items()}
    starts, lengths, devices = starts[order], lengths[order], devices[order]
    everywhere = np.ones(len(starts), dtype=bool)
    series["task_start"] = Cells(starts, everywhere)
    series["task_duration"] = Cells(lengths, everywhere)
    if wanted("task_wait") and "device_id" in series:
        series["task_wait"] = Cells(_waits(starts, lengths, devices), everywhere)
    if wanted("step") and database.filled("STEP_TIME"):
        series["step"] = _steps(database, starts)
    extra = {}
    if wanted("*") and database.filled("TASK_PMU_INFO"):
        ids = np.concatenate([tasks.ids, np.full(len(start), -1, dtype=np.int64)])[order]
        extra = counters_of(database, ids, starts, starts + lengths, order < counts[0])
    return Built(series, len(starts), tasks.reported + reported, extra)


def _tidy(name: str, column: Series) -> Series:
    if isinstance(column, EncodedWords):
        return _unquoted(column) if name.endswith("_shapes") else column
    return without_no_id(column)


def _unquoted(words: EncodedWords) -> EncodedWords:
    """Shapes without the one pair of quotes that the exporter stores with them."""
    return words.renamed(lambda word: word.removeprefix('"').removesuffix('"'))


def _waits(starts: Ints, lengths: Ints, devices: Ints) -> Ints:
    """From the end of the row before, on the same device, to the start; 0 where they overlap and in the first row.

    The rule of msprof, which goes by rows and not by the latest end; it agrees with all 1146 rows of six real exports
    to the nanosecond that their float64 costs.
    """
    waits = np.zeros(len(starts), dtype=np.int64)
    waits[1:] = np.maximum(starts[1:] - (starts[:-1] + lengths[:-1]), 0)
    waits[1:][devices[1:] != devices[:-1]] = 0
    return waits


def _steps(database: Database, starts: Ints) -> Cells:
    """The step of each start: the first one whose range holds it, by torch_npu's rule.

    A step begins with the first task that was launched within it (its own time is that of the host) and ends with the
    last of them, but not before the host's step does.
    """
    numbers = np.zeros(len(starts), dtype=np.int64)
    there = np.zeros(len(starts), dtype=bool)
    for number, first, last in _step_ranges(database):
        inside = ~there & (starts >= first) & (starts <= last)
        numbers[inside], there[inside] = number, True
    return Cells(numbers, there)


def _step_ranges(database: Database) -> list[tuple[int, int, int]]:
    columns: dict[str, CellType] = {"id": "integer", **SPAN}
    rows = database.fetch("STEP_TIME", columns, frozenset(columns))
    chosen = np.flatnonzero(rows.good)
    ids, first, last = (rows.ints(name)[chosen].tolist() for name in ("id", "startNs", "endNs"))
    ranges = list(zip(ids, first, last, strict=True))
    if not database.has("CANN_API", "startNs", "endNs", "type", "connectionId"):
        return ranges
    calls = database.fetch("CANN_API", {**SPAN, "type": "integer", "connectionId": "integer"})
    launches = (calls.ints("type") == _NODE_LEVEL) & calls.cells["connectionId"].there
    begins, ends = calls.ints("startNs")[launches], calls.ints("endNs")[launches]
    connections = calls.ints("connectionId")[launches]
    tasks = database.fetch("TASK", {**SPAN, "connectionId": "integer"}, quiet=True)
    usable = tasks.cells["connectionId"].there & tasks.cells["startNs"].there & tasks.cells["endNs"].there
    task_connection = tasks.ints("connectionId")[usable]
    order = np.argsort(task_connection, kind="stable")
    task_connection = task_connection[order]
    task_start, task_end = tasks.ints("startNs")[usable][order], tasks.ints("endNs")[usable][order]
    found = []
    for number, begin, end in ranges:
        inside = distinct(connections[(begins >= begin) & (ends <= end)])
        mine = np.isin(task_connection, inside)
        if mine.any():
            found.append((number, int(task_start[mine].min()), max(int(task_end[mine].max()), end)))
        else:
            found.append((number, begin, end))
    return found


def task_time(database: Database, wanted: Wanted) -> Built:
    """Every row of TASK; type and name are those of COMPUTE_TASK_INFO where that knows them, as in msprof's text."""
    picked = {name: _PLACES[name] for name in ("device_id", "stream_id", "task_id")}
    always: dict[str, CellType] = {**SPAN, "globalTaskId": "integer"}
    picked["task_type"] = by_id("taskType")
    rows, series = read_picked(database, "TASK", picked, always, SPAN, _with_device(wanted))
    start, length, good = spans(database, rows)
    within = good[rows.good]
    series = {name: column.take(within) for name, column in series.items()}
    if database.has("COMPUTE_TASK_INFO", "globalTaskId") and (wanted("op_name") or wanted("task_type")):
        names = {"op_name": by_id("name"), "task_type": by_id("taskType")}
        info, described = read_picked(
            database, "COMPUTE_TASK_INFO", names, {"globalTaskId": "integer"}, {"globalTaskId"}, wanted
        )
        index = Index.of(info.ints("globalTaskId")[info.good])
        near, matched = index.find(rows.ints("globalTaskId")[good])
        for name in described if len(index.keys) else ():
            known = words_of(described, name).take(index.rows[near])
            series[name] = first_of(EncodedWords(np.where(matched, known.places, -1), known.words), series.get(name))
    if "task_type" in series:
        report_untyped(database, words_of(series, "task_type"))
    device = series.get("device_id")
    devices = device.values if isinstance(device, Cells) else np.zeros(int(good.sum()), dtype=np.int64)
    order = np.lexsort((start[good], devices))
    found: dict[str, Series] = {name: _tidy(name, column.take(order)) for name, column in series.items()}
    starts, lengths = start[good][order], length[good][order]
    everywhere = np.ones(len(starts), dtype=bool)
    found["task_duration"] = Cells(lengths, everywhere)
    found["task_start"] = Cells(starts, everywhere)
    found["task_stop"] = Cells(starts + lengths, everywhere)
    return Built(found, len(starts), int((~good).sum()))


def report_untyped(database: Database, kinds: EncodedWords) -> None:
    """Report tasks of no known type: they are neither computing nor communication, and miss in both sums."""
    if count := int((kinds.places < 0).sum()):
        message = say("TASK: the type of {count} tasks is unknown; no sum of computing includes them", count=count)
        database.findings.append(DB_DANGLING_ID.found(str(database.path), message, severity="error"))
