"""Which call of the framework launched a task, and whose backward operator another is, as the flows of a timeline tell it.

The database joins them by numbers: PYTORCH_API.connectionId leads through CONNECTION_IDS to those of TASK and COMMUNICATION_OP, of
which a call may have several; a number of two operators and no task joins a forward operator with its backward one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aoe_reports.formats.ascend.tables.timelines import FORWARD_CATEGORY, LAUNCH_CATEGORY
from aoe_reports.formats.sqlite.series import SPAN, Series, repeated, stacked
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, find
from aoe_reports.model.arrays.columns import Ints, Mask

FLOW_TYPES: dict[str, CellType] = {
    "ph": "words",
    "category": "words",
    "flow_id": "integer",
    "pid": "integer",
    "tid": "integer",
    "start_ns": "integer",
}
"""The columns of an end of a flow."""
_OPERATOR = "op"
_THREAD_BITS = 32


@dataclass(frozen=True, slots=True)
class _Ends:
    """Moments that a number leads to: of calls on a thread, of tasks on none (-1)."""

    number: Ints
    start: Ints
    thread: Ints

    def chosen(self, mask: Mask) -> _Ends:
        return _Ends(self.number[mask], self.start[mask], self.thread[mask])


def flows_of(database: Database) -> dict[str, Series]:
    """The ends of flows between calls of PyTorch and tasks, and between forward and backward operators."""
    calls, tasks = _calls(database), _tasks(database)
    launching = np.isin(calls.number, tasks.number)
    launches, others = calls.chosen(launching), calls.chosen(~launching)
    numbers, count = np.unique(others.number, return_counts=True)
    others = others.chosen(np.isin(others.number, numbers[count == 2]))  # noqa: PLR2004 -- a forward and a backward one
    order = np.lexsort((others.start, others.number))
    first, second = order[::2], order[1::2]
    return _below(
        [
            (launches, LAUNCH_CATEGORY, "s"),
            (tasks.chosen(np.isin(tasks.number, calls.number)), LAUNCH_CATEGORY, "f"),
            (_Ends(others.number[first], others.start[first], others.thread[first]), FORWARD_CATEGORY, "s"),
            (_Ends(others.number[second], others.start[second], others.thread[second]), FORWARD_CATEGORY, "f"),
        ]
    )


def _calls(database: Database) -> _Ends:
    """The operators of PyTorch by the numbers of what they launched."""
    if not database.has("PYTORCH_API", "startNs", "globalTid", "connectionId", "type") or not database.has(
        "CONNECTION_IDS", "id", "connectionId"
    ):
        return _nothing()
    columns: dict[str, CellType] = {
        "startNs": SPAN["startNs"],
        "globalTid": "integer",
        "connectionId": "integer",
        "type": "integer",
    }
    rows = database.fetch("PYTORCH_API", columns, frozenset({"startNs", "globalTid"}), quiet=True)
    level = database.words(rows, "type", np.ones(rows.count, dtype=bool), "ENUM_API_TYPE")
    operators = np.asarray([*(word == _OPERATOR for word in level.words), False])[level.places]
    own = rows.cells["connectionId"]
    chosen = np.flatnonzero(rows.good & own.there & operators)
    order = chosen[np.argsort(own.ints[chosen], kind="stable")]
    pairs: dict[str, CellType] = {"id": "integer", "connectionId": "integer"}
    links = database.fetch("CONNECTION_IDS", pairs, frozenset(pairs), quiet=True)
    near, known = find(own.ints[order], links.ints("id"))
    known &= links.good
    row = order[near[known]] if len(order) else near[known]
    return _Ends(links.ints("connectionId")[known], rows.ints("startNs")[row], rows.ints("globalTid")[row])


def _tasks(database: Database) -> _Ends:
    """What devices did, by number."""
    found = [_nothing()]
    for table in ("TASK", "COMMUNICATION_OP"):
        if database.has(table, "startNs", "connectionId"):
            columns: dict[str, CellType] = {"startNs": SPAN["startNs"], "connectionId": "integer"}
            rows = database.fetch(table, columns, frozenset(columns), quiet=True)
            start = rows.ints("startNs")[rows.good]
            found.append(_Ends(rows.ints("connectionId")[rows.good], start, np.full(len(start), -1, dtype=np.int64)))
    return _Ends(*(np.concatenate([getattr(one, name) for one in found]) for name in ("number", "start", "thread")))


def _nothing() -> _Ends:
    return _Ends(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


def _below(parts: Sequence[tuple[_Ends, str, str]]) -> dict[str, Series]:
    ends = [part for part, _, _ in parts]
    counts = [len(part.start) for part in ends]
    thread = np.concatenate([part.thread for part in ends])
    there = np.ones(len(thread), dtype=bool)
    return {
        "ph": stacked([repeated(phase, count) for (_, _, phase), count in zip(parts, counts, strict=True)], counts),
        "category": stacked([repeated(word, count) for (_, word, _), count in zip(parts, counts, strict=True)], counts),
        "flow_id": Cells(np.concatenate([part.number for part in ends]), there),
        "pid": Cells(thread >> _THREAD_BITS, thread >= 0),
        "tid": Cells(thread & (2**_THREAD_BITS - 1), thread >= 0),
        "start_ns": Cells(np.concatenate([part.start for part in ends]), there),
    }
