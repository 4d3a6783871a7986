"""Marks that users put into their code, from a database."""

from __future__ import annotations

import numpy as np

from aoe_reports.formats.sqlite.series import (
    SPAN,
    Built,
    Picked,
    Wanted,
    by_id,
    cells_of,
    listed,
    nothing,
    read_picked,
    without_no_id,
)
from aoe_reports.formats.sqlite.source import Cells, Database, find

_LOW_HALF = 0xFFFFFFFF


def thread_of(global_ids: Cells) -> tuple[Cells, Cells]:
    """(process, thread) of a globalTid: its upper and its lower half."""
    values = global_ids.values.astype(np.int64)
    return Cells(values >> 32, global_ids.there), Cells(values & _LOW_HALF, global_ids.there)


def msprof_tx(database: Database, _: Wanted) -> Built:
    picked = {
        "event_type": by_id("eventType", "ENUM_MSTX_EVENT_TYPE"),
        "message": by_id("message"),
        "domain": by_id("domainId"),
        "category": Picked("category"),
        "start": Picked("startNs", "time"),
        "end": Picked("endNs", "time"),
        "thread_id": Picked("globalTid"),
        "connection": Picked("connectionId"),
    }
    rows, series = read_picked(database, "MSTX_EVENTS", picked, {}, (), lambda _: True)
    connection, numbered = cells_of(series, "connection"), without_no_id(cells_of(series, "category"))
    del series["connection"]
    series["category"] = listed(
        [str(value) if there else None for value, there in zip(numbered.values.tolist(), numbered.there, strict=True)]
    )
    series["process_id"], series["thread_id"] = thread_of(cells_of(series, "thread_id"))
    if database.has("TASK", "connectionId", "startNs", "endNs") and connection.there.any():
        series["device_start"], series["device_end"] = _on_device(database, without_no_id(connection))
    return Built(series, rows.count, 0)


def _on_device(database: Database, connections: Cells) -> tuple[Cells, Cells]:
    """When the device came to each mark: the first task of its connection."""
    tasks = database.fetch("TASK", {**SPAN, "connectionId": "integer"}, quiet=True)
    usable = np.flatnonzero(tasks.cells["connectionId"].there & tasks.cells["startNs"].there)
    ids = tasks.ints("connectionId")[usable]
    order = usable[np.lexsort((tasks.ints("startNs")[usable], ids))]
    ids = tasks.ints("connectionId")[order]
    if not len(ids):
        return nothing(len(connections.values)), nothing(len(connections.values))
    near, known = find(ids, connections.ints)
    found = connections.there & known
    rows = order[near]
    end = tasks.cells["endNs"].take(rows)
    return Cells(tasks.ints("startNs")[rows], found), Cells(end.values, found & end.there)
