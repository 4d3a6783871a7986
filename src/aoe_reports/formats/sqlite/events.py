"""What took time in a database, as the events of a timeline: host, device, communication, overlap, marks."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from aoe_reports.formats.convert import LONGEST_NS
from aoe_reports.formats.sqlite.marks import thread_of
from aoe_reports.formats.sqlite.rules import DB_DANGLING_ID
from aoe_reports.formats.sqlite.series import (
    SPAN,
    Index,
    Series,
    cells_of,
    first_of,
    nothing,
    repeated,
    stacked,
    without_no_id,
)
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, EncodedWords, Rows, find
from aoe_reports.formats.sqlite.statistics import api_level
from aoe_reports.formats.sqlite.tasks import report_untyped
from aoe_reports.formats.table import NULL_TOKENS
from aoe_reports.model.arrays.columns import Ints, Mask, distinct, distinct_rows
from aoe_reports.model.texts import say

EVENT_TYPES: dict[str, CellType] = {
    "ph": "words",
    "name": "words",
    "category": "words",
    "flow_id": "words",
    "connection_id": "integer",
    "pid": "integer",
    "tid": "integer",
    "process": "words",
    "thread": "words",
    "start_ns": "integer",
    "duration_ns": "integer",
    "task_type": "words",
    "stream_id": "integer",
    "task_id": "integer",
    "model_id": "integer",
    "batch_id": "integer",
    "subtask_id": "integer",
    "mode": "words",
    "level": "words",
    "args": "words",
}
"""The columns of an event, of which every timeline has the same."""

_LAYERS = {"acl": "AscendCL", "runtime": "Runtime", "node": "Node", "model": "Model", "hccl": "Hccl"}
"""What stands before `@` in the names of CANN's events, by level; a level that is not here has nothing before it."""
_OVERLAPS = {0: "Computing", 1: "Communication", 2: "Communication(Not Overlapped)", 3: "Free"}
_PYTORCH_CATEGORIES = {"op": "cpu_op", "queue": "queue", "trace": "python_function", "mstx": "mstx"}


def events_of(database: Database) -> dict[str, Series]:
    """Every event of every source that is there, by start."""
    parts = [
        part
        for table, read in (
            ("TASK", _tasks),
            ("CANN_API", _calls),
            ("COMMUNICATION_OP", _operators),
            ("COMMUNICATION_TASK_INFO", _parts_of_operators),
            ("PYTORCH_API", _pytorch),
            ("OVERLAP_ANALYSIS", _overlaps),
            ("MSTX_EVENTS", _marks),
        )
        if database.has(table) and database.filled(table)
        for part in [read(database)]
    ]
    counts = [len(cells_of(part, "start_ns").values) for part in parts]
    columns = {
        name: stacked([part.get(name) for part in parts], counts, words=kind == "words")
        for name, kind in EVENT_TYPES.items()
    }
    order = np.argsort(cells_of(columns, "start_ns").values, kind="stable")
    return {name: column.take(order) for name, column in columns.items()}


def _spanned(database: Database, table: str, columns: Mapping[str, CellType]) -> tuple[Rows, Mask, dict[str, Series]]:
    """Rows with start and end that can be events, which they are, and the columns that every event has."""
    rows = database.fetch(table, {**SPAN, **columns}, frozenset(SPAN))
    length = np.where(rows.good, rows.ints("endNs") - rows.ints("startNs"), 0)
    endless = (np.abs(length) >= LONGEST_NS) | (length < 0)
    what = say("endNs is before startNs, or the difference is longer than any possible duration")
    database.implausible(table, what, rows.good & endless)
    good = rows.good & ~endless
    count = int(good.sum())
    everywhere = np.ones(count, dtype=bool)
    return (
        rows,
        good,
        {
            "ph": repeated("X", count),
            "start_ns": Cells(rows.ints("startNs")[good], everywhere),
            "duration_ns": Cells(length[good], everywhere),
        },
    )


def _numbered(cells: Cells, kind: str = "") -> EncodedWords:
    """`Stream 2`, `Thread 4711` …"""
    numbers, places = np.unique(cells.values, return_inverse=True)
    words = [f"{kind} {number}".lstrip() for number in numbers.tolist()]
    return EncodedWords(np.where(cells.there, places.reshape(-1), -1), words)


def _tasks(database: Database) -> dict[str, Series]:
    """Tasks under the name and type of their operator or else of their own type, as the timelines show them."""
    columns: dict[str, CellType] = dict.fromkeys(
        ("deviceId", "connectionId", "globalTaskId", "taskType", "contextId", "streamId", "taskId", "modelId"),
        "integer",
    )
    rows, good, events = _spanned(database, "TASK", columns)
    cells = {name: rows.cells[name].take(good) for name in columns}
    kinds = database.lookup(cells["taskType"], "TASK.taskType")
    names = kinds
    if database.has("COMPUTE_TASK_INFO", "globalTaskId", "name", "taskType"):
        numbers: dict[str, CellType] = dict.fromkeys(("globalTaskId", "name", "taskType"), "integer")
        info = database.fetch("COMPUTE_TASK_INFO", numbers, quiet=True)
        index = Index.of(info.ints("globalTaskId"))
        near, known = index.find(cells["globalTaskId"].ints)
        found = known & cells["globalTaskId"].there
        own = {name: info.cells[name].take(index.rows[near]) for name in ("name", "taskType") if len(index.keys)}
        of_operator = {
            name: database.lookup(Cells(column.values, column.there & found), f"COMPUTE_TASK_INFO.{name}")
            for name, column in own.items()
        }
        names = first_of(of_operator["name"], names) if own else names
        kinds = first_of(of_operator["taskType"], kinds) if own else kinds
    report_untyped(database, kinds)
    found_events: dict[str, Series] = {
        **events,
        "name": names,
        "connection_id": without_no_id(cells["connectionId"]),
        "pid": cells["deviceId"],
        "tid": cells["streamId"],
        "process": repeated("Ascend Hardware", int(good.sum())),
        "thread": _numbered(cells["streamId"], "Stream"),
        "task_type": kinds,
        "stream_id": without_no_id(cells["streamId"]),
        "task_id": without_no_id(cells["taskId"]),
        "model_id": without_no_id(cells["modelId"]),
        "subtask_id": without_no_id(cells["contextId"]),
    }
    start, length = rows.ints("startNs")[good], rows.ints("endNs")[good] - rows.ints("startNs")[good]
    shown = ~_shells(cells, start, start + length)
    return {name: column.take(shown) for name, column in found_events.items()}


def _shells(cells: Mapping[str, Cells], start: Ints, end: Ints) -> Mask:
    """Tasks that only hold parts with a context of their own: the timelines show the parts instead.

    So do 17 tasks in each of the real timelines (13 of mixed operators, 4 of communication operators).
    """
    group = np.zeros(len(start), dtype=np.int64)
    for name in ("deviceId", "streamId", "taskId"):
        _, code = np.unique(cells[name].ints, return_inverse=True)
        _, group = np.unique(group * (len(start) + 1) + code, return_inverse=True)
    part = without_no_id(cells["contextId"]).there
    if not part.any():
        return part
    moments = distinct(start[part])
    width = len(moments) + 1
    keys = np.sort(group[part] * width + np.searchsorted(moments, start[part]))
    first = group * width + np.searchsorted(moments, start)
    last = group * width + np.searchsorted(moments, end, side="right")
    inside = np.searchsorted(keys, last) - np.searchsorted(keys, first)
    return ~part & (inside > 0)


def _calls(database: Database) -> dict[str, Series]:
    columns: dict[str, CellType] = dict.fromkeys(("type", "globalTid", "connectionId", "name"), "integer")
    rows, good, events = _spanned(database, "CANN_API", columns)
    level = api_level(database, rows.cells["type"].take(good))
    plain = database.words(rows, "name", good)
    process, thread = thread_of(rows.cells["globalTid"].take(good))
    return {
        **events,
        "name": _with_layer(level, plain),
        "connection_id": without_no_id(rows.cells["connectionId"].take(good)),
        "pid": process,
        "tid": thread,
        "process": repeated("CANN", int(good.sum())),
        "thread": _numbered(thread, "Thread"),
        "level": level,
    }


def _with_layer(level: EncodedWords, names: EncodedWords) -> EncodedWords:
    (levels, named), places = distinct_rows(level.places, names.places)
    words = []
    for level_place, name_place in zip(levels.tolist(), named.tolist(), strict=True):
        name = names.words[name_place] if name_place >= 0 else ""
        layer = _LAYERS.get(level.words[level_place]) if level_place >= 0 else None
        words.append(f"{layer}@{name}" if layer and name else name)
    return EncodedWords(np.where(names.places >= 0, places.reshape(-1), -1), words)


def _operators(database: Database) -> dict[str, Series]:
    numbers = ("connectionId", "opName", "opType", "groupName", "algType", "dataType", "count")
    columns: dict[str, CellType] = dict.fromkeys(numbers, "integer")
    rows, good, events = _spanned(database, "COMMUNICATION_OP", columns)
    count = int(good.sum())
    groups = database.words(rows, "groupName", good)
    algorithm = database.words(rows, "algType", good)
    elements = rows.cells["count"].take(good)
    return {
        **events,
        "name": database.words(rows, "opName", good),
        "connection_id": without_no_id(rows.cells["connectionId"].take(good)),
        "process": repeated("Communication", count),
        "thread": groups.renamed(lambda word: f"Group {word} Communication"),
        "task_type": database.words(rows, "opType", good),
        "args": _arguments({"alg_type": algorithm, "count": elements}),
    }


def _parts_of_operators(database: Database) -> dict[str, Series]:
    """Transfers and notifications: their times are those of their tasks."""
    dictionaries = {"transportType": "ENUM_HCCL_TRANSPORT_TYPE", "linkType": "ENUM_HCCL_LINK_TYPE"}
    numbers = ("globalTaskId", "name", "taskType", "planeId", "srcRank", "dstRank", "size", *dictionaries)
    columns: dict[str, CellType] = dict.fromkeys(numbers, "integer")
    parts = database.fetch("COMMUNICATION_TASK_INFO", columns, frozenset({"globalTaskId"}))
    wanted: dict[str, CellType] = {**SPAN, "globalTaskId": "integer", "streamId": "integer", "taskId": "integer"}
    tasks = database.fetch("TASK", wanted, quiet=True)
    usable = np.flatnonzero(
        tasks.cells["globalTaskId"].there & tasks.cells["startNs"].there & tasks.cells["endNs"].there
    )
    length = tasks.ints("endNs")[usable] - tasks.ints("startNs")[usable]
    usable = usable[(length >= 0) & (length < LONGEST_NS)]
    index = Index.of(tasks.ints("globalTaskId")[usable], usable)
    near, known = index.find(parts.ints("globalTaskId"))
    good = parts.good & known
    if lost := int((parts.good & ~good).sum()):
        message = say(
            "{table}: {count} rows with a globalTaskId that is in no usable row of TASK; they are left out",
            table="COMMUNICATION_TASK_INFO",
            count=lost,
        )
        database.report(DB_DANGLING_ID, message)
    rows, count = index.rows[near[good]], int(good.sum())
    start, everywhere = tasks.ints("startNs")[rows], np.ones(count, dtype=bool)
    plane = parts.cells["planeId"].take(good)
    enums: dict[str, Series] = {
        name: database.words(parts, name, good, table) for name, table in dictionaries.items() if database.filled(table)
    }
    shown = {
        "src rank": parts.cells["srcRank"].take(good),
        "dst rank": without_no_id(parts.cells["dstRank"].take(good)),
        "transport type": enums.get("transportType"),
        "size(Byte)": parts.cells["size"].take(good),
        "link type": enums.get("linkType"),
    }
    kinds = database.words(parts, "taskType", good)
    return {
        "ph": repeated("X", count),
        "start_ns": Cells(start, everywhere),
        "duration_ns": Cells(tasks.ints("endNs")[rows] - start, everywhere),
        "name": kinds,
        "tid": plane,
        "process": repeated("Communication", count),
        "thread": _numbered(plane, "Plane"),
        "task_type": kinds,
        "stream_id": without_no_id(tasks.cells["streamId"].take(rows)),
        "task_id": without_no_id(tasks.cells["taskId"].take(rows)),
        "args": _arguments({name: column for name, column in shown.items() if column is not None}),
    }


def _arguments(columns: Mapping[str, Series]) -> EncodedWords:
    """Cells of several columns as JSON; each distinct text is made once."""
    lists = [_listed(column) for column in columns.values()]
    places: list[int] = []
    words: dict[str, int] = {}
    for row in zip(*lists, strict=True):
        known = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        places.append(words.setdefault(json.dumps(known), len(words)))
    return EncodedWords(np.asarray(places, dtype=np.int64), list(words))


def _listed(column: Series) -> list[int | str | None]:
    if isinstance(column, Cells):
        pairs = zip(column.values.tolist(), column.there.tolist(), strict=True)
        return [value if there else None for value, there in pairs]
    words = [None if word in NULL_TOKENS else word for word in column.words]
    return [words[place] if place >= 0 else None for place in column.places.tolist()]


def _pytorch(database: Database) -> dict[str, Series]:
    columns: dict[str, CellType] = dict.fromkeys(("globalTid", "connectionId", "name", "type"), "integer")
    rows, good, events = _spanned(database, "PYTORCH_API", columns)
    process, thread = thread_of(rows.cells["globalTid"].take(good))
    level = database.words(rows, "type", good, "ENUM_API_TYPE")
    names = [_PYTORCH_CATEGORIES.get(word, word) for word in level.words]
    own = rows.cells["connectionId"].take(good)
    return {
        **events,
        "name": database.words(rows, "name", good),
        "category": EncodedWords(level.places, names),
        "flow_id": _numbered(own),
        "connection_id": _connections(database, own),
        "pid": process,
        "tid": thread,
        "process": repeated("Python", int(good.sum())),
        "thread": _numbered(thread, "Thread"),
        "level": level,
    }


def _connections(database: Database, own: Cells) -> Cells:
    """PyTorch's own numbers lead through CONNECTION_IDS to CANN's; of several the first one stands here."""
    if not database.has("CONNECTION_IDS", "id", "connectionId"):
        return nothing(len(own.values))
    columns: dict[str, CellType] = {"id": "integer", "connectionId": "integer"}
    rows = database.fetch("CONNECTION_IDS", columns, frozenset(columns))
    if not rows.good.any():
        return nothing(len(own.values))
    keys, first = np.unique(rows.ints("id")[rows.good], return_index=True)
    values = rows.ints("connectionId")[rows.good][first]
    near, known = find(keys, own.ints)
    return Cells(values[near], own.there & known)


def _overlaps(database: Database) -> dict[str, Series]:
    rows, good, events = _spanned(database, "OVERLAP_ANALYSIS", {"deviceId": "integer", "type": "integer"})
    kinds = rows.cells["type"].take(good)
    numbers = np.asarray(list(_OVERLAPS), dtype=np.int64)
    near, known = find(numbers, kinds.ints)
    names = EncodedWords(np.where(kinds.there & known, near, -1), list(_OVERLAPS.values()))
    return {
        **events,
        "name": names,
        "pid": rows.cells["deviceId"].take(good),
        "tid": kinds,
        "process": repeated("Overlap Analysis", int(good.sum())),
        "thread": names,
    }


def _marks(database: Database) -> dict[str, Series]:
    columns: dict[str, CellType] = dict.fromkeys(("globalTid", "connectionId", "message", "eventType"), "integer")
    rows, good, events = _spanned(database, "MSTX_EVENTS", columns)
    process, thread = thread_of(rows.cells["globalTid"].take(good))
    return {
        **events,
        "name": database.words(rows, "message", good),
        "category": database.words(rows, "eventType", good, "ENUM_MSTX_EVENT_TYPE"),
        "connection_id": without_no_id(rows.cells["connectionId"].take(good)),
        "pid": process,
        "tid": thread,
        "process": repeated("Python", int(good.sum())),
        "thread": _numbered(thread, "Thread"),
    }
