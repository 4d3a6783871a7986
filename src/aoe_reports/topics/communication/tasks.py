"""The communication in timelines: each operator, what it moved over which link, and which peer it waited for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.ascend.tables.timelines import COMMUNICATION_PROCESSES
from aoe_reports.model.arrays.columns import Ints, Mask, bits, codes, integers, keep_where, words_in
from aoe_reports.model.arrays.intervals import union
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.topics.communication import Alignment
from aoe_reports.topics.communication.facts import (
    LOCAL,
    POINT_TO_POINT,
    OperatorTime,
    PeerWait,
    Transfer,
    type_of_operator,
)
from aoe_reports.topics.communication.packets import ALIGNED_BYTES, alignment

TASK_COLUMNS = ("ph", "name", "pid", "tid", "process", "thread", "start_ns", "duration_ns", "stage_row", "args")
"""The columns of events that are looked at."""
_PLANE = "Plane"
_NO_RANK = 2**32 - 1
"""Stands for no rank, in `dst rank`."""
_MAX_RANKS = 2**31
_MAX_BYTES = 2**62
_ON_CHIP = frozenset({"ON_CHIP", "LOCAL"})
_UNTOLD = frozenset({"", "N/A", "INVALID_TYPE", "RESERVED"})
_NO_PLACE = -1


@dataclass(frozen=True, slots=True)
class OperatorSpan:
    """One operator of a timeline; ns."""

    pid: str | None
    tid: int
    thread: str
    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """The communication of one rank, from the tasks of its timelines."""

    operators: list[OperatorTime]
    transfers: list[Transfer]
    peer_waits: list[PeerWait]
    link_waits: dict[tuple[Any, ...], int]
    """ns of waiting by (step, group, source, destination)."""
    alignments: list[Alignment]
    unusable: int
    """Tasks whose arguments are damaged: they are in no sum."""


@dataclass(slots=True)
class _Tasks:
    """Transfers and waits of a batch as numbers: 65 bytes each."""

    start: Ints
    end: Ints
    pid: Ints
    tid: Ints
    source: Ints
    peer: Ints
    size: Ints
    transport: Ints
    waits: Mask


@dataclass(slots=True)
class CommunicationTasks:
    """Collects the communication of one capture from its events, batch by batch."""

    _operators: list[OperatorSpan] = field(default_factory=list)
    _parts: list[_Tasks] = field(default_factory=list)
    _words: dict[str | None, int] = field(default_factory=dict)
    _unusable: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need TASK_COLUMNS."""
        frame = pa.Table.from_batches([batch])
        mine = words_in(frame["ph"], {"X"}) & ~bits(frame["stage_row"])
        mine &= words_in(frame["process"], COMMUNICATION_PROCESSES)
        if not mine.any():
            return
        frame = frame.filter(keep_where(mine))
        numbers, words = codes(frame["thread"])
        plane = np.asarray([False, *(word.startswith(_PLANE) for word in words)])[numbers]
        for row in frame.filter(keep_where(~plane)).drop_columns(["args"]).to_pylist():
            start = row["start_ns"]
            pid = None if row["pid"] is None else str(row["pid"])
            end = start + (row["duration_ns"] or 0)
            self._operators.append(
                OperatorSpan(pid, _number(row["tid"]), row["thread"] or "", row["name"] or "", start, end)
            )
        if plane.any():
            self._add_tasks(frame.filter(keep_where(plane)))

    def _add_tasks(self, frame: pa.Table) -> None:
        rows: list[tuple[int, ...]] = []
        kinds = frame["name"].cast(pa.string()).to_pylist()
        for number, (kind, text) in enumerate(zip(kinds, frame["args"].to_pylist(), strict=True)):
            waiting = (kind or "").replace("_", " ").casefold() == "notify wait"
            facts = _facts(text)
            if facts is None:
                self._unusable += 1
                continue
            source, peer, size, transport = facts
            if waiting or size:
                rows.append((number, source, peer, size, self._numbered(transport), waiting))
        table = np.asarray(rows, dtype=np.int64).reshape(-1, 6)
        chosen, source_of, peer_of, size_of, transport_of, waits = (table[:, column] for column in range(6))
        start, _ = integers(frame["start_ns"])
        length, _ = integers(frame["duration_ns"])
        pids = [self._numbered(None if pid is None else str(pid)) for pid in frame["pid"].to_pylist()]
        tids = [_number(tid) for tid in frame["tid"].to_pylist()]
        self._parts.append(
            _Tasks(
                start=start[chosen],
                end=(start + length)[chosen],
                pid=np.asarray(pids, dtype=np.int64)[chosen],
                tid=np.asarray(tids, dtype=np.int64)[chosen],
                source=source_of,
                peer=peer_of,
                size=size_of,
                transport=transport_of,
                waits=waits > 0,
            )
        )

    def merge(self, other: CommunicationTasks) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        self._operators += other._operators
        words = np.asarray([*map(self._numbered, other._words)], dtype=np.int64)
        self._parts += [replace(part, pid=words[part.pid], transport=words[part.transport]) for part in other._parts]
        self._unusable += other._unusable

    def _numbered(self, word: str | None) -> int:
        return self._words.setdefault(word, len(self._words))

    def figures(self, rank_id: int | None, step: int | None = None, known: Sequence[OperatorTime] = ()) -> TaskFigures:
        """What was taken in, as of one rank; step and group of an operator from `known` ones of its name, else `step`."""
        spans = sorted(self._operators, key=lambda span: (span.start_ns, span.end_ns, span.name, span.thread))
        by_name = lists_by_key((operator.op_name, operator) for operator in known)
        labels = [_label(span, step, by_name.get(span.name, ())) for span in spans]
        operators = [
            OperatorTime(
                rank_id=rank_id,
                step=label[0],
                type="p2p" if type_of_operator(span.name) in POINT_TO_POINT else "collective",
                op_name=span.name,
                op_type=type_of_operator(span.name),
                group=label[1],
                start_ns=span.start_ns,
                elapsed_ns=span.end_ns - span.start_ns,
            )
            for span, label in zip(spans, labels, strict=True)
        ]
        tasks = _joined(self._parts)
        words = {number: word for word, number in self._words.items()}
        owner = self._owners(spans, tasks)
        transfers = _transfers(operators, tasks, owner, words, rank_id, step)
        peers, links = _waits(operators, tasks, owner)
        alignments = _alignments(operators, tasks, owner, words, rank_id, step)
        return TaskFigures(operators, transfers, peers, links, alignments, self._unusable)

    def _owners(self, spans: Sequence[OperatorSpan], tasks: _Tasks) -> Ints:
        """The operator that each task belongs to, by time and thread; below 0 where that is not certain.

        An operator's planes stand behind its own thread; with one operator at a time no thread is needed.
        """
        owner = np.full(len(tasks.start), _NO_PLACE, dtype=np.int64)
        nearest = np.full(len(tasks.start), -1, dtype=np.int64)
        count = np.zeros(len(tasks.start), dtype=np.int64)
        threads = lists_by_key(
            ((self._numbered(span.pid), span.tid, span.thread), place) for place, span in enumerate(spans)
        )
        tied = np.zeros(len(tasks.start), dtype=bool)
        for (pid, tid, _), places in sorted(threads.items()):
            starts = np.asarray([spans[place].start_ns for place in places], dtype=np.int64)
            ends = np.asarray([spans[place].end_ns for place in places], dtype=np.int64)
            last = np.searchsorted(starts, tasks.start, side="right") - 1
            inside = (last >= 0) & (tasks.pid == pid) & (tasks.start < ends[np.maximum(last, 0)])
            below = np.where(tid <= tasks.tid, tid, -1)
            better = inside & ((count == 0) | (below > nearest))
            tied = np.where(better, False, tied | (inside & (below == nearest)))
            owner = np.where(better, np.asarray(places, dtype=np.int64)[np.maximum(last, 0)], owner)
            nearest = np.where(better, below, nearest)
            count += inside
        uncertain = (count > 1) & (tied | (nearest < 0))
        return np.where((count == 0) | uncertain, _NO_PLACE, owner)


def _label(span: OperatorSpan, step: int | None, same: Sequence[OperatorTime]) -> tuple[int | None, str | None]:
    """(step, group) of an operator: as the exporter's own table tells of the one of its name that began when it did."""
    if same:
        nearest = min(
            same, key=lambda other: _MAX_BYTES if other.start_ns is None else abs(other.start_ns - span.start_ns)
        )
        return nearest.step, nearest.group
    words = span.thread.split()
    group = words[1] if len(words) > 2 and words[0] == "Group" else None  # noqa: PLR2004 -- Group 0 Communication
    return step, group


def _moves(tasks: _Tasks, owner: Ints) -> Iterator[tuple[int, ...]]:
    """(operator, source, peer, transport, bytes, ns) of each task that moved something."""
    moved = np.flatnonzero(~tasks.waits & (tasks.size > 0))
    lengths = tasks.end - tasks.start
    columns = (owner, tasks.source, tasks.peer, tasks.transport, tasks.size, lengths)
    return zip(*(column[moved].tolist() for column in columns), strict=True)


def _transfers(
    operators: Sequence[OperatorTime],
    tasks: _Tasks,
    owner: Ints,
    words: Mapping[int, str | None],
    rank_id: int | None,
    step: int | None,
) -> list[Transfer]:
    """What went over each link by operator; of RDMA no time, which is in the notifications behind a send, not in it."""
    sums: dict[tuple[int, int, int, int], list[int]] = {}
    for place, source, peer, transport, size, length in _moves(tasks, owner):
        entry = sums.setdefault((place, source, source if peer < 0 else peer, transport), [0, 0])
        entry[0] += size
        entry[1] += length
    found = []
    for (place, source, peer, transport), (size, length) in sorted(sums.items()):
        own = operators[place] if place >= 0 else None
        name = words[transport] or "unknown"
        found.append(
            Transfer(
                rank_id=rank_id,
                step=own.step if own else step,
                type=own.type if own else None,
                op_name=own.op_name if own else "",
                op_type=own.op_type if own else "other",
                group=own.group if own else None,
                source_rank=source,
                destination_rank=peer,
                transport=name,
                transit_bytes=size,
                transit_ns=None if name == "RDMA" else length,
            )
        )
    return found


def _alignments(
    operators: Sequence[OperatorTime],
    tasks: _Tasks,
    owner: Ints,
    words: Mapping[int, str | None],
    rank_id: int | None,
    step: int | None,
) -> list[Alignment]:
    """The copies over each transport by step; RDMA has other rules, and a copy within the chip is none of a link."""
    sums: dict[tuple[int | None, int], list[int]] = {}
    for place, _, _, transport, size, length in _moves(tasks, owner):
        if words[transport] not in {"RDMA", LOCAL}:
            of_step = operators[place].step if place >= 0 else step
            entry = sums.setdefault((of_step, transport), [0] * 6)
            unaligned = size > ALIGNED_BYTES and size % ALIGNED_BYTES != 0
            for at, value in enumerate((1, size, length)):
                entry[at] += value
                entry[at + 3] += value if unaligned else 0
    return [alignment(rank_id, of_step, words[way] or "unknown", entry) for (of_step, way), entry in sums.items()]


def _waits(
    operators: Sequence[OperatorTime], tasks: _Tasks, owner: Ints
) -> tuple[list[PeerWait], dict[tuple[Any, ...], int]]:
    """(the peer that each operator waited for longest before its first transfer, all waiting by link)."""
    first = np.full(len(operators), np.iinfo(np.int64).max, dtype=np.int64)
    sent = np.flatnonzero(~tasks.waits & (tasks.size > 0) & (tasks.peer >= 0) & (tasks.peer != tasks.source))
    sent = sent[owner[sent] >= 0]
    np.minimum.at(first, owner[sent], tasks.start[sent])
    chosen = np.flatnonzero(tasks.waits & (tasks.peer >= 0) & (tasks.peer != tasks.source) & (owner >= 0))
    spans = lists_by_key(
        ((int(owner[task]), int(tasks.source[task]), int(tasks.peer[task])), task) for task in chosen.tolist()
    )
    by_operator: dict[int, dict[int, int]] = {}
    links: dict[tuple[Any, ...], int] = {}
    for (place, source, peer), mine in spans.items():
        rows = np.asarray(mine, dtype=np.int64)
        # several planes wait for one peer at the same time
        at = (operators[place].step, operators[place].group, source, peer)
        links[at] = links.get(at, 0) + union(tasks.start[rows], tasks.end[rows]).total
        early = rows[tasks.start[rows] < first[place]]
        peers = by_operator.setdefault(place, {})
        peers[peer] = peers.get(peer, 0) + union(tasks.start[early], tasks.end[early]).total
    found = []
    for place, peers in sorted(by_operator.items()):
        own = operators[place]
        if own.type == "p2p":  # who receives waits for who sends: that is how a pipeline works
            continue
        peer = min(peers, key=lambda rank: (-peers[rank], rank))
        found.append(
            PeerWait(
                rank_id=own.rank_id,
                op_name=own.op_name,
                group=own.group,
                step=own.step,
                peer=peer,
                waited_ns=peers[peer],
                elapsed_ns=own.elapsed_ns,
            )
        )
    return found, links


def _facts(text: str | None) -> tuple[int, int, int, str] | None:
    """(source, peer or -1, bytes, transport) of a task's arguments; None where they are damaged."""
    try:
        facts = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict):
        return None
    source, peer, size = facts.get("src rank", 0), facts.get("dst rank"), facts.get("size(Byte)", 0)
    if not _is_count(source, _MAX_RANKS) or not _is_count(size, _MAX_BYTES):
        return None
    if peer is None or peer == _NO_RANK:
        peer = _NO_PLACE
    elif not _is_count(peer, _MAX_RANKS):
        return None
    return source, peer, size, _transport(facts)


def _is_count(value: Any, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit


def _transport(facts: JsonObject) -> str:
    """The words of the matrix: RDMA between servers, else the link (HCCS, PCIE, SIO), LOCAL on one chip."""
    way, link = facts.get("transport type"), facts.get("link type")
    if way == "RDMA":
        return "RDMA"
    told = link if isinstance(link, str) and link not in _UNTOLD else way
    if not isinstance(told, str) or told in _UNTOLD:
        return "unknown"
    return LOCAL if told in _ON_CHIP else told


def _number(value: Any) -> int:
    """A thread's number; -1 for none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else _NO_PLACE  # noqa: PLR2004 -- int64


def _joined(parts: Sequence[_Tasks]) -> _Tasks:
    kinds = {each.name: np.bool_ if each.name == "waits" else np.int64 for each in fields(_Tasks)}
    columns: dict[str, Any] = {
        name: np.concatenate([np.zeros(0, dtype=kind), *(getattr(part, name) for part in parts)])
        for name, kind in kinds.items()
    }
    return _Tasks(**columns)
