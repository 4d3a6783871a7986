"""Counters of the task's hardware (PMU) in a database: one row each, in our tables one column each."""

from __future__ import annotations

import numpy as np

from aoe_reports.formats.sqlite.rules import DB_DANGLING_ID
from aoe_reports.formats.sqlite.source import Cells, CellType, Database
from aoe_reports.model.arrays.columns import Ints, Mask, distinct
from aoe_reports.model.texts import say

_PACKED_TIMES = {"aic_total_time": "aicore_time(us)", "aiv_total_time": "aiv_time(us)", "total_time": "aicore_time(us)"}
"""Counters whose name in text is not the one of the database with a unit."""

_GIGABYTE = 1 << 30


def counter_header(name: str) -> tuple[str, float]:
    """What text calls a counter of TASK_PMU_INFO, and by what its value is divided to have that header's unit."""
    if name in _PACKED_TIMES:
        return _PACKED_TIMES[name], 1000.0
    if name.endswith("_time"):
        return f"{name}(us)", 1000.0
    if "_bw" in name:
        return f"{name}(GB/s)", float(_GIGABYTE)
    return name, 1.0


def counters_of(database: Database, ids: Ints, starts: Ints, ends: Ints, computing: Mask) -> dict[str, Cells]:
    """Counters of each task: by its id and, where a task ran again, by the time or else by the number of the run."""
    timed = database.has("TASK_PMU_INFO", "timestampNs")
    columns: dict[str, CellType] = {"globalTaskId": "integer", "name": "integer", "value": "number"}
    if timed:
        columns["timestampNs"] = "time"
    rows = database.fetch("TASK_PMU_INFO", columns, frozenset({"globalTaskId", "name"}))
    names = database.strings()
    places = np.flatnonzero(computing)
    by_id = places[np.lexsort((starts[places], ids[places]))]
    found: dict[str, Cells] = {}
    for name_id in distinct(rows.ints("name")[rows.good]).tolist():
        if name_id not in names:
            message = say(
                "{column}: the id {id} has no name; that counter is left out",
                column="TASK_PMU_INFO.name",
                id=name_id,
            )
            database.report(DB_DANGLING_ID, message)
            continue
        mine = np.flatnonzero(rows.good & (rows.ints("name") == name_id))
        times = rows.ints("timestampNs")[mine] if timed else None
        row, source = _placed(ids[by_id], starts[by_id], ends[by_id], rows.ints("globalTaskId")[mine], times)
        header, divisor = counter_header(names[name_id])
        values, there = np.zeros(len(ids)), np.zeros(len(ids), dtype=bool)
        cells = rows.cells["value"].take(mine[source])
        values[by_id[row]], there[by_id[row]] = cells.values / divisor, cells.there
        found[header] = Cells(values, there)
    return found


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
    tasks, moments = distinct(ids), distinct(starts)
    width = len(moments) + 1
    keys = np.searchsorted(tasks, ids) * width + np.searchsorted(moments, starts, side="right")
    sought = np.searchsorted(tasks, owners) * width + np.searchsorted(moments, times, side="right")
    row = np.maximum(np.searchsorted(keys, sought, side="right") - 1, 0)
    fits = (ids[row] == owners) & (starts[row] <= times) & (times <= ends[row])
    return row[fits], np.flatnonzero(fits)


def _nth(sorted_ids: Ints) -> Ints:
    """How many equal ones stand before each."""
    places = np.arange(len(sorted_ids), dtype=np.int64)
    first = np.ones(len(sorted_ids), dtype=bool)
    first[1:] = sorted_ids[1:] != sorted_ids[:-1]
    return places - np.maximum.accumulate(np.where(first, places, 0))
