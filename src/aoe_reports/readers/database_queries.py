"""Which tables of ours a database of the profiler holds, and how each is put together from its own tables.

What a column means was found by comparing real databases with text exports of the same model, and in the exporters'
own code: kernel_details is TASK with COMPUTE_TASK_INFO by globalTaskId, and one row for each COMMUNICATION_OP.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

from aoe_reports.columns import Ints, Mask
from aoe_reports.readers.database_source import MAX_NS, Cells, CellType, Database, Rows, Words
from aoe_reports.readers.summary import LONGEST_NS
from aoe_reports.tables.table import NO_ID, NULL_TOKENS

Series = Cells | Words
Wanted = Callable[[str], bool]

COMMUNICATION_TYPE = "COMMUNICATION"
COMMUNICATION_BYTES_A_MEGABYTE = 1_000_000
"""CommAnalyzer* divides by 10**6: the packages of COMMUNICATION_TASK_INFO are the same numbers in bytes."""
_NOT_IN_OP_SUMMARY = frozenset({"WRITE_BACK", "INVALID", "HCCL_AI_CPU", COMMUNICATION_TYPE})
"""Types whose tasks msprof leaves out of op_summary (parts of operators that have a row of their own)…"""
_KEPT_COMMUNICATION = "AivKernel"
"""… but not communication by an operator of this name's end."""
_NODE_LEVEL = 10000
_LOW_HALF = 0xFFFFFFFF
_API_LEVELS = {5000: "runtime", 5500: "hccl", 10000: "node", 15000: "model", 20000: "acl"}
_PACKED_TIMES = {"aic_total_time": "aicore_time(us)", "aiv_total_time": "aiv_time(us)", "total_time": "aicore_time(us)"}
"""Counters whose name in text is not the one of the database with a unit."""
_GIGABYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class Built:
    """The columns of one table of ours."""

    columns: Mapping[str, Series]
    """By canonical name."""
    rows: int
    reported: int
    """Rows of the database that are not among them and are in the findings."""
    extra: Mapping[str, Cells] = field(default_factory=dict)
    """Columns that no declaration names, by the header that they have in text."""


@dataclass(frozen=True, slots=True)
class Source:
    """How one kind of table is read: the database's tables that must be there and hold rows, and the reading."""

    needs: Mapping[str, tuple[str, ...]]
    """Columns by table; the first table must hold a row."""
    read: Callable[[Database, Wanted], Built]
    also: Callable[[Database], bool] | None = None
    """What else must be so for the kind to be offered."""


@dataclass(frozen=True, slots=True)
class _Picked:
    """Where a canonical column stands in one table."""

    column: str
    type: CellType = "integer"
    dictionary: str | None = None
    """The table that turns the id into a word."""


def _id(column: str, dictionary: str = "STRING_IDS") -> _Picked:
    return _Picked(column, "integer", dictionary)


def _read(
    database: Database,
    table: str,
    picked: Mapping[str, _Picked],
    always: Mapping[str, CellType],
    needed: Iterable[str],
    wanted: Wanted,
) -> tuple[Rows, dict[str, Series]]:
    """Rows of a table and, for those that are good, its wanted columns under canonical names."""
    taken = {name: pick for name, pick in picked.items() if wanted(name)}
    columns: dict[str, CellType] = {**{pick.column: pick.type for pick in taken.values()}, **always}
    rows = database.fetch(table, columns, frozenset(needed))
    series: dict[str, Series] = {}
    for name, pick in taken.items():
        cells = rows.cells[pick.column].take(rows.good)
        if pick.dictionary is not None:
            series[name] = database.lookup(cells, f"{table}.{pick.column}", pick.dictionary)
        else:
            series[name] = cells
    return rows, series


def _without_no_id(cells: Cells) -> Cells:
    return Cells(cells.values, cells.there & (cells.values != NO_ID))


def _spans(database: Database, rows: Rows) -> tuple[Ints, Ints, Mask]:
    """Start, length and which of a table's rows have both; what takes longer than anything can is reported."""
    start, end = rows.ints("startNs"), rows.ints("endNs")
    length = np.where(rows.good, end - start, 0)
    endless = np.abs(length) >= LONGEST_NS
    database.implausible(rows.table, "endNs is farther from startNs than anything can take", endless)
    return start, length, rows.good & ~endless


_SPAN: Mapping[str, CellType] = {"startNs": "time", "endNs": "time"}


# ---------------------------------------------------------------- tasks

_COMPUTE = {
    "op_name": _id("name"),
    "op_type": _id("opType"),
    "op_state": _id("opState"),
    "task_type": _id("taskType"),
    "hf32_eligible": _id("hf32Eligible"),
    "input_shapes": _id("inputShapes"),
    "input_data_types": _id("inputDataTypes"),
    "input_formats": _id("inputFormats"),
    "output_shapes": _id("outputShapes"),
    "output_data_types": _id("outputDataTypes"),
    "output_formats": _id("outputFormats"),
}
_PLACES = {
    "device_id": _Picked("deviceId"),
    "model_id": _Picked("modelId"),
    "task_id": _Picked("taskId"),
    "stream_id": _Picked("streamId"),
    "context_id": _Picked("contextId"),
}


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The compute tasks of a database and which row of COMPUTE_TASK_INFO tells of each."""

    series: dict[str, Series]
    start: Ints
    length: Ints
    ids: Ints
    reported: int


def _compute_tasks(database: Database, wanted: Wanted) -> _Tasks:
    """TASK with COMPUTE_TASK_INFO; one row of the latter may tell of several tasks (graphs that run again)."""
    info_columns = database.columns("COMPUTE_TASK_INFO")
    # since 2026 blockDim is something else (threads of a block) and stands beside blockNum
    numbers = {
        name: _Picked(new if new in info_columns else old)
        for name, new, old in (("block_num", "blockNum", "blockDim"), ("mix_block_num", "mixBlockNum", "mixBlockDim"))
        if new in info_columns or old in info_columns
    }
    there = {name: pick for name, pick in {**_COMPUTE, **numbers}.items() if pick.column in info_columns}

    def of_info(name: str) -> bool:
        return wanted(name) or name in {"op_name", "task_type"}  # which decide whether msprof shows the task

    info, described = _read(
        database, "COMPUTE_TASK_INFO", there, {"globalTaskId": "integer"}, {"globalTaskId"}, of_info
    )
    keys = info.ints("globalTaskId")[info.good]
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    doubled = int((sorted_keys[1:] == sorted_keys[:-1]).sum())
    if doubled:
        database.report(
            "error",
            "db-value",
            f"COMPUTE_TASK_INFO: {doubled} rows whose globalTaskId stands before; they are left out",
        )
    places = {name: pick for name, pick in _PLACES.items() if pick.column in database.columns("TASK")}
    always: dict[str, CellType] = {**_SPAN, "globalTaskId": "integer"}
    tasks, series = _read(database, "TASK", places, always, always, wanted)
    start, length, good = _spans(database, tasks)
    ids = tasks.ints("globalTaskId")
    if len(sorted_keys):
        near = np.minimum(np.searchsorted(sorted_keys, ids), len(sorted_keys) - 1)
        matched = good & (sorted_keys[near] == ids)
    else:
        near, matched = np.zeros(tasks.count, dtype=np.int64), np.zeros(tasks.count, dtype=bool)
    used = np.zeros(len(sorted_keys), dtype=bool)
    used[1:] = sorted_keys[1:] == sorted_keys[:-1]  # (doubled ones are reported already)
    used[near[matched]] = True
    lost = int((~used).sum())
    if lost:
        message = f"COMPUTE_TASK_INFO: {lost} rows whose globalTaskId no usable row of TASK has; they are left out"
        database.report("warning", "db-dangling-id", message)
    reported = int((~good).sum()) + int((~info.good).sum()) + doubled + lost
    rows = order[near[matched]]
    within = matched[tasks.good]  # (the series hold the good rows alone)
    found: dict[str, Series] = {name: column.take(within) for name, column in series.items()}
    found |= {name: column.take(rows) for name, column in described.items()}
    shown = _shown(found)
    return _Tasks(
        {name: column.take(shown) for name, column in found.items()},
        start[matched][shown],
        length[matched][shown],
        ids[matched][shown],
        reported,
    )


def _shown(found: Mapping[str, Series]) -> Mask:
    """Which compute tasks msprof shows in op_summary."""
    kinds, names = found["task_type"], found["op_name"]
    assert isinstance(kinds, Words)
    assert isinstance(names, Words)
    hidden = _among(kinds, lambda word: word in _NOT_IN_OP_SUMMARY)
    kept = _among(kinds, COMMUNICATION_TYPE.__eq__) & _among(names, lambda word: word.endswith(_KEPT_COMMUNICATION))
    return ~hidden | kept


def _among(words: Words, test: Callable[[str], bool]) -> Mask:
    passing = np.zeros(len(words.words) + 1, dtype=bool)  # (the last one is that of -1)
    for place in words.used():
        passing[place] = test(words.words[place])
    return passing[words.places]


_COMMUNICATION_OP = {"op_name": _id("opName"), "op_type": _id("opType")}


def _communication(database: Database, wanted: Wanted) -> tuple[dict[str, Series], Ints, Ints, int]:
    """One row a communication operator, as msprof adds them to op_summary."""
    if not database.filled("COMMUNICATION_OP"):
        none = np.zeros(0, dtype=np.int64)
        return {}, none, none, 0
    stored = database.columns("COMMUNICATION_OP")
    picked = {**_COMMUNICATION_OP, **({"device_id": _PLACES["device_id"]} if "deviceId" in stored else {})}
    always: dict[str, CellType] = {**_SPAN, "opId": "integer"}
    rows, series = _read(database, "COMMUNICATION_OP", picked, always, _SPAN, wanted)
    start, length, good = _spans(database, rows)
    count = int(good.sum())
    within = good[rows.good]
    found: dict[str, Series] = {name: column.take(within) for name, column in series.items()}
    if wanted("device_id") and "device_id" not in found:
        found["device_id"] = _device_of_operators(database, rows.cells["opId"].take(good))
    found["task_type"] = Words(np.zeros(count, dtype=np.int64), (COMMUNICATION_TYPE,))
    if wanted("block_num"):
        found["block_num"] = Cells(np.zeros(count, dtype=np.int64), np.ones(count, dtype=bool))
    return found, start[good], length[good], int((~good).sum())


def _device_of_operators(database: Database, operators: Cells) -> Cells:
    """Operators without a device of their own (until 2025): the one of their tasks."""
    nothing = Cells(np.zeros(len(operators.values), dtype=np.int64), np.zeros(len(operators.values), dtype=bool))
    if not database.has("TASK", "deviceId", "globalTaskId"):
        return nothing
    task = database.fetch("TASK", {"deviceId": "integer", "globalTaskId": "integer"}, quiet=True)
    devices = np.unique(task.ints("deviceId")[task.cells["deviceId"].there])
    if len(devices) == 1:
        return Cells(
            np.full(len(operators.values), devices[0], dtype=np.int64), np.ones(len(operators.values), dtype=bool)
        )
    if not database.has("COMMUNICATION_TASK_INFO", "opId", "globalTaskId"):
        return nothing
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


def _op_summary(database: Database, wanted: Wanted) -> Built:
    tasks = _compute_tasks(database, _with_device(wanted))
    others, start, length, reported = _communication(database, _with_device(wanted))
    counts = len(tasks.start), len(start)
    series = {name: _stacked(tasks.series.get(name), others.get(name), counts) for name in {**tasks.series, **others}}
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
        extra = _counters(database, ids, starts, starts + lengths, order < counts[0])
    return Built(series, len(starts), tasks.reported + reported, extra)


def _tidy(name: str, column: Series) -> Series:
    if isinstance(column, Words):
        return _unquoted(column) if name.endswith("_shapes") else column
    return _without_no_id(column)


def _unquoted(words: Words) -> Words:
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
    columns: dict[str, CellType] = {"id": "integer", **_SPAN}
    rows = database.fetch("STEP_TIME", columns, frozenset(columns))
    chosen = np.flatnonzero(rows.good)
    ids, first, last = (rows.ints(name)[chosen].tolist() for name in ("id", "startNs", "endNs"))
    ranges = list(zip(ids, first, last, strict=True))
    if not database.has("CANN_API", "startNs", "endNs", "type", "connectionId"):
        return ranges
    calls = database.fetch("CANN_API", {**_SPAN, "type": "integer", "connectionId": "integer"})
    launches = (calls.ints("type") == _NODE_LEVEL) & calls.cells["connectionId"].there
    begins, ends = calls.ints("startNs")[launches], calls.ints("endNs")[launches]
    connections = calls.ints("connectionId")[launches]
    tasks = database.fetch("TASK", {**_SPAN, "connectionId": "integer"}, quiet=True)
    usable = tasks.cells["connectionId"].there & tasks.cells["startNs"].there & tasks.cells["endNs"].there
    task_connection = tasks.ints("connectionId")[usable]
    order = np.argsort(task_connection, kind="stable")
    task_connection = task_connection[order]
    task_start, task_end = tasks.ints("startNs")[usable][order], tasks.ints("endNs")[usable][order]
    found = []
    for number, begin, end in ranges:
        inside = np.unique(connections[(begins >= begin) & (ends <= end)])
        mine = np.isin(task_connection, inside)
        if mine.any():
            found.append((number, int(task_start[mine].min()), max(int(task_end[mine].max()), end)))
        else:
            found.append((number, begin, end))
    return found


def counter_header(name: str) -> tuple[str, float]:
    """What text calls a counter of TASK_PMU_INFO, and by what its value is divided to have that header's unit."""
    if name in _PACKED_TIMES:
        return _PACKED_TIMES[name], 1000.0
    if name.endswith("_time"):
        return f"{name}(us)", 1000.0
    if "_bw" in name:
        return f"{name}(GB/s)", float(_GIGABYTE)
    return name, 1.0


def _counters(database: Database, ids: Ints, starts: Ints, ends: Ints, computing: Mask) -> dict[str, Cells]:
    """Counters of each task: by its id and, where a task ran again, by the time or else by the number of the run."""
    timed = database.has("TASK_PMU_INFO", "timestampNs")
    columns: dict[str, CellType] = {"globalTaskId": "integer", "name": "integer", "value": "number"}
    if timed:
        columns["timestampNs"] = "time"
    rows = database.fetch("TASK_PMU_INFO", columns, frozenset({"globalTaskId", "name"}))
    names = database.strings()
    places = np.flatnonzero(computing)
    by_id = places[np.lexsort((starts[places], ids[places]))]
    counters: dict[str, Cells] = {}
    for name_id in np.unique(rows.ints("name")[rows.good]).tolist():
        if name_id not in names:
            message = f"TASK_PMU_INFO.name: the id {name_id} stands for no word; that counter is left out"
            database.report("warning", "db-dangling-id", message)
            continue
        mine = np.flatnonzero(rows.good & (rows.ints("name") == name_id))
        times = rows.ints("timestampNs")[mine] if timed else None
        row, source = _placed(ids[by_id], starts[by_id], ends[by_id], rows.ints("globalTaskId")[mine], times)
        header, divisor = counter_header(names[name_id])
        values, there = np.zeros(len(ids)), np.zeros(len(ids), dtype=bool)
        cells = rows.cells["value"].take(mine[source])
        values[by_id[row]], there[by_id[row]] = cells.values / divisor, cells.there
        counters[header] = Cells(values, there)
    return counters


def _placed(ids: Ints, starts: Ints, ends: Ints, owners: Ints, times: Ints | None) -> tuple[Ints, Ints]:
    """Pairs (task, counter): tasks come in the order of ids and starts; a counter has an owner's id and maybe a time."""
    if not len(ids):
        return ids, ids
    if times is None:
        order = np.argsort(owners, kind="stable")
        sought = np.searchsorted(ids, owners[order]) + _nth(owners[order])
        row = np.minimum(sought, len(ids) - 1)
        fits = (sought < len(ids)) & (ids[row] == owners[order])
        return row[fits], order[fits]
    distinct, moments = np.unique(ids), np.unique(starts)
    width = len(moments) + 1
    keys = np.searchsorted(distinct, ids) * width + np.searchsorted(moments, starts, side="right")
    sought = np.searchsorted(distinct, owners) * width + np.searchsorted(moments, times, side="right")
    row = np.maximum(np.searchsorted(keys, sought, side="right") - 1, 0)
    fits = (ids[row] == owners) & (starts[row] <= times) & (times <= ends[row])
    return row[fits], np.flatnonzero(fits)


def _nth(sorted_ids: Ints) -> Ints:
    """How many equal ones stand before each."""
    places = np.arange(len(sorted_ids), dtype=np.int64)
    first = np.ones(len(sorted_ids), dtype=bool)
    first[1:] = sorted_ids[1:] != sorted_ids[:-1]
    return places - np.maximum.accumulate(np.where(first, places, 0))


def _task_time(database: Database, wanted: Wanted) -> Built:
    """Every row of TASK; type and name are those of COMPUTE_TASK_INFO where that knows them, as in msprof's text."""
    picked = {name: _PLACES[name] for name in ("device_id", "stream_id", "task_id")}
    always: dict[str, CellType] = {**_SPAN, "globalTaskId": "integer"}
    picked["task_type"] = _id("taskType")
    rows, series = _read(database, "TASK", picked, always, _SPAN, _with_device(wanted))
    start, length, good = _spans(database, rows)
    within = good[rows.good]
    series = {name: column.take(within) for name, column in series.items()}
    if database.has("COMPUTE_TASK_INFO", "globalTaskId") and (wanted("op_name") or wanted("task_type")):
        names = {"op_name": _id("name"), "task_type": _id("taskType")}
        info, described = _read(
            database, "COMPUTE_TASK_INFO", names, {"globalTaskId": "integer"}, {"globalTaskId"}, wanted
        )
        keys, ids = info.ints("globalTaskId")[info.good], rows.ints("globalTaskId")[good]
        order = np.argsort(keys, kind="stable")
        near = np.minimum(np.searchsorted(keys[order], ids), max(len(keys) - 1, 0))
        matched = (keys[order][near] == ids) if len(keys) else np.zeros(len(ids), dtype=bool)
        for name, column in described.items():
            assert isinstance(column, Words)
            if not len(keys):
                continue
            known = column.take(order[near])
            series[name] = first_of(Words(np.where(matched, known.places, -1), known.words), series.get(name))
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


def first_of(words: Words, other: Series | None) -> Words:
    """Words, and where there is none (or "N/A") those of another column."""
    if not isinstance(other, Words):
        return words
    named = (words.places >= 0) & ~_among(words, lambda word: word in NULL_TOKENS)
    shifted = np.where(other.places >= 0, other.places + len(words.words), -1)
    return Words(np.where(named, words.places, shifted), [*words.words, *other.words])


def _stacked(first: Series | None, second: Series | None, counts: tuple[int, int]) -> Series:
    """One column below another; what only one of them has is null in the other's rows."""
    if isinstance(first, Words) or isinstance(second, Words):
        upper = first if isinstance(first, Words) else Words(np.full(counts[0], -1, dtype=np.int64), ())
        lower = second if isinstance(second, Words) else Words(np.full(counts[1], -1, dtype=np.int64), ())
        shifted = np.where(lower.places >= 0, lower.places + len(upper.words), -1)
        return Words(np.concatenate([upper.places, shifted]), [*upper.words, *lower.words])
    above, below = first or _nothing(counts[0]), second or _nothing(counts[1])
    return Cells(np.concatenate([above.values, below.values]), np.concatenate([above.there, below.there]))


def _nothing(count: int) -> Cells:
    return Cells(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))


# ---------------------------------------------------------------- statistics


def _grouped(keys: Mapping[str, Series], lengths: Ints, reported: int, order: Sequence[str]) -> Built:
    """Rows of one group each: count, total, least, mean, most; and what part of its device's total it is."""
    codes = [_codes(column) for column in keys.values()]
    names = list(keys)
    if not len(lengths):
        empty = {name: column.take(np.zeros(0, dtype=np.int64)) for name, column in keys.items()}
        return Built(empty, 0, reported)
    group = np.zeros(len(lengths), dtype=np.int64)
    first = np.zeros(1, dtype=np.int64)
    for code in codes:
        _, first, group = np.unique(group * (code.max() + 2) + code, return_index=True, return_inverse=True)
    count = np.bincount(group, minlength=len(first)).astype(np.int64)
    total = _sums(group, lengths, len(first))
    least = np.full(len(first), np.iinfo(np.int64).max)
    most = np.full(len(first), np.iinfo(np.int64).min)
    np.minimum.at(least, group, lengths)
    np.maximum.at(most, group, lengths)
    everywhere = np.ones(len(first), dtype=bool)
    columns: dict[str, Series] = {name: keys[name].take(first) for name in names}
    columns |= {
        "count": Cells(count, everywhere),
        "total_time": Cells(total, everywhere),
        "min_time": Cells(least, everywhere),
        "avg_time": Cells(np.rint(total / count).astype(np.int64), everywhere),
        "max_time": Cells(most, everywhere),
    }
    device = _codes(columns["device_id"]) if "device_id" in columns else np.zeros(len(first), dtype=np.int64)
    of_device = np.zeros(len(first))
    for number in np.unique(device):
        of_device[device == number] = total[device == number].sum()
    columns["share"] = Cells(
        np.divide(total, of_device, out=np.zeros(len(first)), where=of_device != 0), of_device != 0
    )
    if "variance" in order:
        micro = lengths / 1000
        mean = (np.bincount(group, micro) / count)[group]
        columns["variance"] = Cells(np.bincount(group, (micro - mean) ** 2) / count, everywhere)
    labels = [_labels(columns[name]) for name in names if name != "device_id"]
    by_name = sorted(range(len(first)), key=lambda row: [label[row] for label in labels])
    if "variance" not in order:
        by_name.sort(key=lambda row: (int(device[row]), -int(total[row])))
    rows = np.asarray(by_name, dtype=np.int64)
    return Built({name: column.take(rows) for name, column in columns.items()}, len(first), reported)


def _sums(group: Ints, lengths: Ints, groups: int) -> Ints:
    """Sums as integers: a float64 would depend on the order."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, lengths)
    return total


def _codes(column: Series) -> Ints:
    if isinstance(column, Cells):
        _, places = np.unique(column.ints, return_inverse=True)
        return np.where(column.there, places, -1)
    numbers: dict[str, int] = {}
    used = np.unique(column.places)
    code = {
        place: -1 if place < 0 else numbers.setdefault(column.words[place], len(numbers)) for place in used.tolist()
    }
    return np.asarray([code[place] for place in used.tolist()], dtype=np.int64)[np.searchsorted(used, column.places)]


def _labels(column: Series) -> list[str]:
    if isinstance(column, Cells):
        return [str(value) for value in column.values.tolist()]
    return [column.words[place] if place >= 0 else "" for place in column.places.tolist()]


def _op_statistic(database: Database, _: Wanted) -> Built:
    tasks = _compute_tasks(database, {"device_id", "op_type", "task_type"}.__contains__)
    keys: dict[str, Series] = {
        name: tasks.series[name] for name in ("device_id", "op_type", "task_type") if name in tasks.series
    }
    return _grouped(keys, tasks.length, tasks.reported, ())


def _communication_statistic(database: Database, _: Wanted) -> Built:
    series, _starts, length, reported = _communication(database, {"device_id", "op_type"}.__contains__)
    keys: dict[str, Series] = {name: series[name] for name in ("device_id", "op_type") if name in series}
    return _grouped(keys, length, reported, ())


def _api_statistic(database: Database, _: Wanted) -> Built:
    """CANN_API by level and name; the variance is that of all calls (not of a sample), in square microseconds."""
    always: dict[str, CellType] = {**_SPAN, "type": "integer"}
    rows, series = _read(database, "CANN_API", {"api_name": _id("name")}, always, _SPAN, lambda _: True)
    _starts, length, good = _spans(database, rows)
    level = api_level(database, rows.cells["type"].take(good))
    keys: dict[str, Series] = {"level": level, "api_name": series["api_name"].take(good[rows.good])}
    return _grouped(keys, length[good], int((~good).sum()), ("variance",))


def api_level(database: Database, types: Cells) -> Words:
    """The level of each call of the host; what the file does not say itself is known from the exporter."""
    if database.filled("ENUM_API_TYPE"):
        return database.lookup(types, "the type of a call", "ENUM_API_TYPE")
    numbers = np.asarray(sorted(_API_LEVELS), dtype=np.int64)
    near = np.minimum(np.searchsorted(numbers, types.values), len(numbers) - 1)
    known = types.there & (numbers[near] == types.values)
    return Words(np.where(known, near, -1), [_API_LEVELS[number] for number in numbers.tolist()])


# ---------------------------------------------------------------- analysis.db

_PARTS = {
    "computing": "computing",
    "communication_not_overlapped": "communication_not_overlapped",
    "overlapped": "overlapped",
    "communication": "communication",
    "free": "free",
    "stage": "stage",
    "bubble": "bubble",
    "communication_not_overlapped_excluding_receive": "communication_not_overlapped_and_exclude_receive",
    "preparing": "preparing",
}
_NEEDED_PARTS = frozenset({"computing", "communication_not_overlapped", "overlapped", "communication", "free"})


def _step_trace_time(database: Database, _: Wanted) -> Built:
    return _step_parts(database, "StepTraceTime", {})


def _cluster_step_trace_time(database: Database, _: Wanted) -> Built:
    return _step_parts(database, "ClusterStepTraceTime", {"type": "type", "index": "index"})


def _step_parts(database: Database, table: str, words: Mapping[str, str]) -> Built:
    columns: dict[str, CellType] = dict.fromkeys(_PARTS.values(), "number")
    columns |= {"deviceId": "integer", "step": "words", **dict.fromkeys(words.values(), "words")}
    rows = database.fetch(table, columns, _NEEDED_PARTS)
    good = rows.good
    lengths = {name: _nanoseconds(rows.cells[column], 1_000.0) for name, column in _PARTS.items()}
    for name, column in _PARTS.items():
        endless = good & rows.cells[column].there & ~lengths[name].there
        database.implausible(table, f"{column} is longer than anything can take", endless)
        if column in _NEEDED_PARTS:
            good = good & ~endless
    series: dict[str, Series] = {"step": _step_numbers(database, table, rows.words["step"]).take(good)}
    if "deviceId" in database.columns(table):
        series["device_id"] = rows.cells["deviceId"].take(good)
    series |= {name: _listed(rows.words[column]).take(good) for name, column in words.items()}
    stored = set(database.columns(table))
    series |= {name: lengths[name].take(good) for name, column in _PARTS.items() if column in stored}
    return Built(series, int(good.sum()), int((~good).sum()))


def _step_numbers(database: Database, table: str, cells: Sequence[str | None]) -> Cells:
    """Steps as numbers: some exporters write `step50`, some `50`, and none where no step was marked."""
    values, there, bad = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool), 0
    for row, cell in enumerate(cells):
        digits = (cell or "").strip().removeprefix("step").removesuffix(".0")
        if digits.isascii() and digits.isdecimal() and len(digits) < len(str(NO_ID)) * 2 - 1:
            values[row], there[row] = int(digits), True
        elif digits not in NULL_TOKENS:
            bad += 1
    if bad:
        message = f"{table}.step: {bad} values that name no step; these cells are empty in the table"
        database.report("error", "db-value", message)
    return Cells(values, there)


def _nanoseconds(cells: Cells, factor: float) -> Cells:
    """Lengths of time in some unit as whole nanoseconds; nothing where one is longer than anything can take."""
    scaled = cells.values * factor
    # a negative part of a nanosecond must not become 0: it would pass for a duration
    whole = np.rint(np.where(scaled < 0, np.floor(scaled), scaled))
    fits = cells.there & (np.abs(whole) < LONGEST_NS)
    return Cells(np.where(fits, whole, 0).astype(np.int64), fits)


def _listed(cells: Sequence[str | None]) -> Words:
    words: dict[str, int] = {}
    places = [-1 if cell is None else words.setdefault(cell, len(words)) for cell in cells]
    return Words(np.asarray(places, dtype=np.int64), list(words))


_OPERATOR = {"step": "step", "type": "type", "op_name": "hccl_op_name", "group": "group_name"}


def _operator_words(rows: Rows, chosen: Mask | Ints) -> dict[str, Series]:
    return {name: _listed(rows.words[column]).take(chosen) for name, column in _OPERATOR.items()}


_TIMES = {
    "elapsed": "elapse_time",
    "transit": "transit_time",
    "wait": "wait_time",
    "synchronization": "synchronization_time",
    "idle": "idle_time",
}


def _comm_times(database: Database, _: Wanted) -> Built:
    """CommAnalyzerTime; the two ratios of the text form are wait (synchronization) / (wait + transit), to 4 digits."""
    columns: dict[str, CellType] = dict.fromkeys(_OPERATOR.values(), "words")
    columns |= {**dict.fromkeys(_TIMES.values(), "number"), "start_timestamp": "number"}
    rows = database.fetch("CommAnalyzerTime", columns, frozenset({"elapse_time"}))
    lengths = {name: _nanoseconds(rows.cells[column], 1_000_000.0) for name, column in _TIMES.items()}
    endless = rows.good & ~lengths["elapsed"].there
    database.implausible("CommAnalyzerTime", "elapse_time is longer than anything can take", endless)
    good = rows.good & ~endless
    series = _operator_words(rows, good)
    series["start"] = _moments(rows.cells["start_timestamp"]).take(good)
    series |= {name: cells.take(good) for name, cells in lengths.items()}
    for name, column in (("wait_ratio", "wait_time"), ("synchronization_ratio", "synchronization_time")):
        series[name] = _ratio(rows.cells[column], rows.cells["transit_time"]).take(good)
    return Built(series, int(good.sum()), int((~good).sum()))


def _moments(cells: Cells) -> Cells:
    """Microseconds since 1970 as nanoseconds: the shortest decimal of the float, as JSON of the same would show it."""
    there = cells.there & (np.abs(cells.values) < MAX_NS / 1000)
    exact = [
        int((Decimal(repr(value)) * 1000).to_integral_value(ROUND_HALF_EVEN))
        for value in np.where(there, cells.values, 0.0).tolist()
    ]
    return Cells(np.asarray(exact, dtype=np.int64), there)


def _ratio(part: Cells, transit: Cells) -> Cells:
    whole = part.values + transit.values
    values = np.divide(part.values, whole, out=np.zeros(len(whole)), where=whole > 0)
    return Cells(np.asarray([round(value, 4) for value in values.tolist()]), part.there & transit.there)


def _megabytes(cells: Cells) -> Cells:
    values = np.rint(cells.values * COMMUNICATION_BYTES_A_MEGABYTE)
    fits = cells.there & (np.abs(values) < MAX_NS)
    return Cells(np.where(fits, values, 0).astype(np.int64), fits)


def _comm_bandwidth(database: Database, _: Wanted) -> Built:
    """CommAnalyzerBandwidth has a row a size of package; here is one a transport, with the sizes as in the text form.

    The text form has rows of zeros for transports that carried nothing, the database has none for most of them.
    """
    numbers = (
        "transit_size",
        "transit_time",
        "bandwidth",
        "large_packet_ratio",
        "package_size",
        "count",
        "total_duration",
    )
    columns: dict[str, CellType] = dict.fromkeys(_OPERATOR.values(), "words")
    columns |= {"transport_type": "words", **dict.fromkeys(numbers, "number")}
    rows = database.fetch("CommAnalyzerBandwidth", columns, frozenset({"transit_time"}))
    times = _nanoseconds(rows.cells["transit_time"], 1_000_000.0)
    endless = rows.good & ~times.there
    database.implausible("CommAnalyzerBandwidth", "transit_time is longer than anything can take", endless)
    good = rows.good & ~endless
    words = [rows.words[name] for name in (*_OPERATOR.values(), "transport_type")]
    values = [rows.cells[name].values.tolist() for name in numbers]
    firsts: dict[tuple[Any, ...], int] = {}
    sizes: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in np.flatnonzero(good).tolist():
        # rows of one transport that disagree about its total stay apart: nothing tells which is right
        key = (*(column[row] for column in words), *(column[row] for column in values[:4]))
        firsts.setdefault(key, row)
        package, count, spent = (column[row] for column in values[4:])
        if count:
            sizes.setdefault(key, {})[repr(float(package))] = [int(count), float(spent)]
    chosen = np.asarray(list(firsts.values()), dtype=np.int64)
    shown = [json.dumps(sizes.get(key, {}), sort_keys=True, separators=(",", ":")) for key in firsts]
    series = _operator_words(rows, chosen)
    series |= {
        "transport": _listed(rows.words["transport_type"]).take(chosen),
        "transit_bytes": _megabytes(rows.cells["transit_size"]).take(chosen),
        "transit_ns": times.take(chosen),
        "bandwidth_gb_per_s": rows.cells["bandwidth"].take(chosen),
        "large_packet_ratio": rows.cells["large_packet_ratio"].take(chosen),
        "size_distribution": _listed(shown),
    }
    return Built(series, len(chosen), int((~good).sum()))


def _comm_matrix(database: Database, _: Wanted) -> Built:
    numbers = ("transit_size", "transit_time", "bandwidth")
    columns: dict[str, CellType] = dict.fromkeys((*_OPERATOR.values(), "transport_type", "op_name"), "words")
    columns |= {**dict.fromkeys(numbers, "number"), "src_rank": "integer", "dst_rank": "integer"}
    rows = database.fetch("CommAnalyzerMatrix", columns, frozenset({"transit_time"}))
    times = _nanoseconds(rows.cells["transit_time"], 1_000_000.0)
    endless = rows.good & ~times.there
    database.implausible("CommAnalyzerMatrix", "transit_time is longer than anything can take", endless)
    good = rows.good & ~endless
    series = _operator_words(rows, good)
    series |= {
        "source_rank": rows.cells["src_rank"].take(good),
        "destination_rank": rows.cells["dst_rank"].take(good),
        "transport": _listed(rows.words["transport_type"]).take(good),
        "transit_bytes": _megabytes(rows.cells["transit_size"]).take(good),
        "transit_ns": times.take(good),
        "bandwidth_gb_per_s": rows.cells["bandwidth"].take(good),
        "hccl_op_name": _listed(rows.words["op_name"]).take(good),
    }
    return Built(series, int(good.sum()), int((~good).sum()))


# ---------------------------------------------------------------- memory


def _sizes(cells: Cells) -> Cells:
    whole = np.rint(cells.values)
    fits = cells.there & (np.abs(whole) < MAX_NS)
    return Cells(np.where(fits, whole, 0).astype(np.int64), fits)


def _device_words(devices: Cells) -> Words:
    used = np.unique(devices.values[devices.there])
    places = np.searchsorted(used, devices.values) if len(used) else np.zeros(len(devices.values), dtype=np.int64)
    return Words(np.where(devices.there, places, -1), [f"NPU:{number}" for number in used.tolist()])


def _memory_record(database: Database, wanted: Wanted) -> Built:
    """MEMORY_RECORD of the framework with the process's own memory (NPU_MEM of type app), as torch_npu's text has it.

    The exporter puts 0 where GE, which knows of no active memory, has none: it stands beside an empty streamPtr.
    """
    picked = {
        "component": _id("component"),
        "timestamp": _Picked("timestamp", "time"),
        "total_allocated": _Picked("totalAllocated", "number"),
        "total_reserved": _Picked("totalReserved", "number"),
        "total_active": _Picked("totalActive", "number"),
        "stream_ptr": _Picked("streamPtr"),
        "device_id": _Picked("deviceId"),
    }
    _, series = _read(database, "MEMORY_RECORD", picked, {}, (), lambda _: True)
    active, stream = series["total_active"], series["stream_ptr"]
    assert isinstance(active, Cells)
    assert isinstance(stream, Cells)
    series["total_active"] = Cells(active.values, active.there & (stream.there | (active.values != 0)))
    count = len(active.there)
    app, added = _app_memory(database), 0
    if app is not None:
        added = len(app["timestamp"].there) if isinstance(app["timestamp"], Cells) else 0
        series = {name: _stacked(app.get(name), series[name], (added, count)) for name in series}
    return _memory(series, ("total_allocated", "total_reserved", "total_active"), wanted)


def _memory(series: dict[str, Series], sizes: Sequence[str], wanted: Wanted) -> Built:
    for name in sizes:
        column = series[name]
        assert isinstance(column, Cells)
        series[name] = _sizes(column)
    device = series["device_id"]
    assert isinstance(device, Cells)
    series["device"] = _device_words(device)
    return Built({name: column for name, column in series.items() if wanted(name)}, len(device.there), 0)


def _npu_memory(database: Database) -> dict[str, Series]:
    picked = {
        "event": _id("type"),
        "ddr": _Picked("ddr", "number"),
        "hbm": _Picked("hbm", "number"),
        "timestamp": _Picked("timestampNs", "time"),
        "device_id": _Picked("deviceId"),
    }
    return _read(database, "NPU_MEM", picked, {}, (), lambda _: True)[1]


def _whole_memory(series: Mapping[str, Series]) -> Cells:
    ddr, hbm = series["ddr"], series["hbm"]
    assert isinstance(ddr, Cells)
    assert isinstance(hbm, Cells)
    return Cells(ddr.values + hbm.values, ddr.there & hbm.there)


def _app_memory(database: Database) -> dict[str, Series] | None:
    if not database.filled("NPU_MEM"):
        return None
    series = _npu_memory(database)
    event = series["event"]
    assert isinstance(event, Words)
    app = _among(event, "app".__eq__)
    found: dict[str, Series] = {name: series[name].take(app) for name in ("timestamp", "device_id")}
    found["total_reserved"] = _whole_memory(series).take(app)
    found["component"] = Words(np.zeros(int(app.sum()), dtype=np.int64), ("APP",))
    return found


def _memory_of_operators(database: Database, wanted: Wanted) -> Built:
    """The memory_record of msprof itself: what each allocation of an operator left allocated and reserved."""
    picked = {
        "component": _id("component"),
        "timestamp": _Picked("timestampNs", "time"),
        "total_allocated": _Picked("totalAllocate", "number"),
        "total_reserved": _Picked("totalReserve", "number"),
        "device_id": _Picked("deviceId"),
    }
    _, series = _read(database, "NPU_OP_MEM", picked, {}, (), lambda _: True)
    return _memory(series, ("total_allocated", "total_reserved"), wanted)


def _npu_mem(database: Database, wanted: Wanted) -> Built:
    series = _npu_memory(database)
    series["memory"] = _whole_memory(series)
    built = _memory(series, ("ddr", "hbm", "memory"), wanted)
    return Built({name: column for name, column in built.columns.items() if name != "device"}, built.rows, 0)


def _npu_module_mem(database: Database, wanted: Wanted) -> Built:
    picked = {
        "component": _id("moduleId", "ENUM_MODULE"),
        "timestamp": _Picked("timestampNs", "time"),
        "total_reserved": _Picked("totalReserved", "number"),
        "device_id": _Picked("deviceId"),
    }
    _, series = _read(database, "NPU_MODULE_MEM", picked, {}, (), lambda _: True)
    return _memory(series, ("total_reserved",), wanted)


_OPERATOR_SIZES = {
    "size": "size",
    "allocation_total_allocated": "allocationTotalAllocated",
    "allocation_total_reserved": "allocationTotalReserved",
    "allocation_total_active": "allocationTotalActive",
    "release_total_allocated": "releaseTotalAllocated",
    "release_total_reserved": "releaseTotalReserved",
    "release_total_active": "releaseTotalActive",
}


def _operator_memory(database: Database, wanted: Wanted) -> Built:
    """OP_MEMORY; text says `cann::` before operators that CANN allocated for, which have no stream of the framework."""
    picked = {
        "op_name": _id("name"),
        **{name: _Picked(column, "number") for name, column in _OPERATOR_SIZES.items()},
        "allocation": _Picked("allocationTime", "time"),
        "release": _Picked("releaseTime", "time"),
        "active_release": _Picked("activeReleaseTime", "time"),
        "duration": _Picked("duration", "time"),
        "active_duration": _Picked("activeDuration", "time"),
        "stream_ptr": _Picked("streamPtr"),
        "device_id": _Picked("deviceId"),
    }
    _, series = _read(database, "OP_MEMORY", picked, {}, (), lambda _: True)
    names, stream = series["op_name"], series["stream_ptr"]
    assert isinstance(names, Words)
    assert isinstance(stream, Cells)
    of_cann = names.renamed(lambda word: f"cann::{word}")
    both = [*names.words, *of_cann.words]
    shifted = np.where(of_cann.places >= 0, of_cann.places + len(names.words), -1)
    series["op_name"] = Words(np.where(stream.there, names.places, shifted), both)
    return _memory(series, tuple(_OPERATOR_SIZES), wanted)


# ---------------------------------------------------------------- marks of users


def thread_of(global_ids: Cells) -> tuple[Cells, Cells]:
    """(process, thread) of a globalTid: its upper and its lower half."""
    values = global_ids.values.astype(np.int64)
    return Cells(values >> 32, global_ids.there), Cells(values & _LOW_HALF, global_ids.there)


def _msprof_tx(database: Database, _: Wanted) -> Built:
    picked = {
        "event_type": _id("eventType", "ENUM_MSTX_EVENT_TYPE"),
        "message": _id("message"),
        "domain": _id("domainId"),
        "category": _Picked("category"),
        "start": _Picked("startNs", "time"),
        "end": _Picked("endNs", "time"),
        "thread_id": _Picked("globalTid"),
        "connection": _Picked("connectionId"),
    }
    rows, series = _read(database, "MSTX_EVENTS", picked, {}, (), lambda _: True)
    category, thread, connection = series["category"], series["thread_id"], series.pop("connection")
    assert isinstance(category, Cells)
    assert isinstance(thread, Cells)
    assert isinstance(connection, Cells)
    numbered = _without_no_id(category)
    series["category"] = _listed(
        [str(value) if there else None for value, there in zip(numbered.values.tolist(), numbered.there, strict=True)]
    )
    series["process_id"], series["thread_id"] = thread_of(thread)
    if database.has("TASK", "connectionId", "startNs", "endNs") and connection.there.any():
        series["device_start"], series["device_end"] = _on_device(database, _without_no_id(connection))
    return Built(series, rows.count, 0)


def _on_device(database: Database, connections: Cells) -> tuple[Cells, Cells]:
    """When the device came to each mark: the first task of its connection."""
    tasks = database.fetch("TASK", {**_SPAN, "connectionId": "integer"}, quiet=True)
    usable = np.flatnonzero(tasks.cells["connectionId"].there & tasks.cells["startNs"].there)
    ids = tasks.ints("connectionId")[usable]
    order = usable[np.lexsort((tasks.ints("startNs")[usable], ids))]
    ids = tasks.ints("connectionId")[order]
    if not len(ids):
        return _nothing(len(connections.values)), _nothing(len(connections.values))
    near = np.minimum(np.searchsorted(ids, connections.values), len(ids) - 1)
    found = connections.there & (ids[near] == connections.values)
    rows = order[near]
    end = tasks.cells["endNs"].take(rows)
    return Cells(tasks.ints("startNs")[rows], found), Cells(end.values, found & end.there)


# ---------------------------------------------------------------- registry


def _has_types(database: Database) -> bool:
    """Whether any compute task has a type: msprof writes no statistic at level 0, where none has."""
    return database.names("COMPUTE_TASK_INFO", "opType")


def _has_communication_types(database: Database) -> bool:
    return database.names("COMMUNICATION_OP", "opType")


_TASKS = {
    "COMPUTE_TASK_INFO": ("globalTaskId", "name", "opType", "taskType"),
    "TASK": ("startNs", "endNs", "globalTaskId"),
    "STRING_IDS": ("id", "value"),
}
_OPERATORS = {"COMMUNICATION_OP": ("startNs", "endNs", "opName", "opType"), "STRING_IDS": ("id", "value")}

_WORDS = ("id", "value")

SOURCES: dict[str, tuple[Source, ...]] = {
    "kernel_details": (Source(_TASKS, _op_summary),),
    "op_summary": (Source(_TASKS, _op_summary),),
    "task_time": (Source({"TASK": ("startNs", "endNs", "taskType"), "STRING_IDS": _WORDS}, _task_time),),
    "op_statistic": (Source(_TASKS, _op_statistic, _has_types),),
    "communication_statistic": (Source(_OPERATORS, _communication_statistic, _has_communication_types),),
    "api_statistic": (
        Source({"CANN_API": ("startNs", "endNs", "type", "name"), "STRING_IDS": _WORDS}, _api_statistic),
    ),
    "step_trace_time": (Source({"StepTraceTime": ("step", *sorted(_NEEDED_PARTS))}, _step_trace_time),),
    "cluster_step_trace_time": (
        Source({"ClusterStepTraceTime": ("step", "type", "index", *sorted(_NEEDED_PARTS))}, _cluster_step_trace_time),
    ),
    "communication": (Source({"CommAnalyzerTime": (*_OPERATOR.values(), "elapse_time")}, _comm_times),),
    "communication_bandwidth": (
        Source({"CommAnalyzerBandwidth": (*_OPERATOR.values(), "transport_type", "transit_time")}, _comm_bandwidth),
    ),
    "communication_matrix": (
        Source({"CommAnalyzerMatrix": (*_OPERATOR.values(), "src_rank", "dst_rank", "transit_time")}, _comm_matrix),
    ),
    "memory_record": (
        Source({"MEMORY_RECORD": ("component", "timestamp"), "STRING_IDS": _WORDS}, _memory_record),
        Source({"NPU_OP_MEM": ("component", "timestampNs"), "STRING_IDS": _WORDS}, _memory_of_operators),
    ),
    "operator_memory": (Source({"OP_MEMORY": ("name", "size"), "STRING_IDS": _WORDS}, _operator_memory),),
    "npu_mem": (Source({"NPU_MEM": ("type", "ddr", "hbm", "timestampNs"), "STRING_IDS": _WORDS}, _npu_mem),),
    "npu_module_mem": (
        Source(
            {"NPU_MODULE_MEM": ("moduleId", "timestampNs", "totalReserved"), "ENUM_MODULE": ("id", "name")},
            _npu_module_mem,
        ),
    ),
    "msprof_tx": (Source({"MSTX_EVENTS": ("startNs", "endNs", "message"), "STRING_IDS": _WORDS}, _msprof_tx),),
}
"""How every kind of table that a database may hold is read, by the name in TABLES; the first that fits is used."""
