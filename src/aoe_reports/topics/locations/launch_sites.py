"""Where in a program the tasks of a device were launched: the Python frames and modules around the calls of a framework.

A flow of the framework leads from its operator to the task; the frames that its thread was in then are the stack of the task. A thread
of autograd has no frames of the model: there the flow from the forward operator tells those of the forward call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.facts.spans import Spans, chosen_of
from aoe_reports.formats.ascend.tables.timelines import FORWARD_CATEGORY, LAUNCH_CATEGORY
from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import (
    Ints,
    LazyWordMap,
    Mask,
    Numbering,
    coded_in,
    codes,
    distinct,
    distinct_places,
    integers,
    keep_where,
    order_by,
    whole_numbers,
)
from aoe_reports.topics.locations.nests import NONE, Nest

EVENT_COLUMNS = ("ph", "name", "category", "flow_id", "pid", "tid", "start_ns", "duration_ns")
"""The columns of events that are looked at."""
FRAME_CATEGORY, _OPERATORS = "python_function", "cpu_op"
_FLOWS = (LAUNCH_CATEGORY, FORWARD_CATEGORY)
_TOO_LONG, _MAX_INT64 = 20, 2**63 - 1
_NEAR_NS = (0, 1, -1)
"""Tables and flows of communication tell a start that differs by a nanosecond, as one is rounded and the other cut off."""


@dataclass(frozen=True, slots=True)
class CallPaths:
    """The distinct stacks of calls, each a frame in the one around it: its parent stands before it."""

    parent: Ints
    name: Ints
    names: tuple[str, ...]

    def frames(self, path: int) -> list[str]:
        """The frames of a stack, the outermost first."""
        found = []
        while path >= 0:
            found.append(self.names[int(self.name[path])])
            path = int(self.parent[path])
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Sites:
    """The stack of each task, -1 for none: of its own launch, and of the forward operator that its launch belongs to."""

    paths: CallPaths
    own: Ints
    forward: Ints
    launched: Mask
    """Whether a call is recorded that launched it."""


class LaunchSites:
    """Takes the events of one capture, batch after batch, and tells where tasks were launched: 32 bytes a frame, 20 an operator, 24 an end of a flow."""

    def __init__(self) -> None:
        self._names, self._threads = Numbering(), Numbering()
        self._name = LazyWordMap(self._names.__getitem__, self._names[""], np.int64)
        self._frames = Spans("start", "end", "thread", "name")
        self._operators = Spans("start", "end", "thread")
        self._ends = {(flow, phase): Spans("start", "key", "thread") for flow in _FLOWS for phase in ("s", "f")}

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events; they need EVENT_COLUMNS."""
        frame = pa.Table.from_batches([batch])
        category = codes(frame["category"])
        if FRAME_CATEGORY in category[1] or _OPERATORS in category[1]:
            whole = coded_in(codes(frame["ph"]), {"X"})
            self._add_ranges(self._frames, frame, whole & coded_in(category, {FRAME_CATEGORY}))
            self._add_ranges(self._operators, frame, whole & coded_in(category, {_OPERATORS}))
        self.add_flows(frame)

    def add_flows(self, frame: pa.Table) -> None:
        """Take in the ends of flows among some events, which need no name and no duration."""
        category = codes(frame["category"])
        for flow in _FLOWS:
            if flow in category[1]:
                mine = coded_in(category, {flow})
                for phase in ("s", "f"):
                    self._add_ends((flow, phase), frame, mine & coded_in(codes(frame["ph"]), {phase}))

    def _add_ranges(self, spans: Spans, frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.select(["name", "pid", "tid", "start_ns", "duration_ns"]).filter(keep_where(mask))
        start, _ = integers(some["start_ns"])
        duration, _ = integers(some["duration_ns"])
        columns = {"start": start, "end": start + np.maximum(duration, 0), "thread": self._threads_of(some)}
        if spans is self._frames:
            columns["name"] = self._name.by(some["name"])
        spans.add(**columns)

    def _add_ends(self, which: tuple[str, str], frame: pa.Table, mask: Mask) -> None:
        if not mask.any():
            return
        some = frame.select(["flow_id", "pid", "tid", "start_ns"]).filter(keep_where(mask))
        start, there = integers(some["start_ns"])
        if pa.types.is_integer(some["flow_id"].type):
            key, known = integers(some["flow_id"])
        else:
            key, known = whole_numbers(some["flow_id"].combine_chunks(), there, _long_number)
        usable = there & known
        self._ends[which].add(start=start[usable], key=key[usable], thread=self._threads_of(some)[usable])

    def _threads_of(self, some: pa.Table) -> Ints:
        """Threads as numbers that are the same in every batch."""
        (process, processes), (thread, threads) = (codes(_words(some[name])) for name in ("pid", "tid"))
        pairs, place = distinct_places(process.astype(np.int64) * (len(threads) + 1) + thread)
        words = [["", *processes], ["", *threads]]
        named = [(words[0][pair // len(words[1])], words[1][pair % len(words[1])]) for pair in pairs.tolist()]
        numbers: Ints = _numbers([" ".join(pair) for pair in named], self._threads)[place]
        return numbers

    def merge(self, other: LaunchSites) -> None:
        """Take in what another one has of the same capture: of events behind its own."""
        renumbered = {"name": _numbers(other._names, self._names), "thread": _numbers(other._threads, self._threads)}
        self._frames.take(other._frames, renumbered)
        self._operators.take(other._operators, renumbered)
        for which, ends in self._ends.items():
            ends.take(other._ends[which], renumbered)

    @property
    def has_frames(self) -> bool:
        """Whether any frame is recorded."""
        return len(self._frames) > 0

    def of_tasks(self, starts: Ints) -> tuple[Sites, int]:
        """(where the tasks that start then were launched, how many frames cross others); to be asked for once: what was held is let go."""
        frames = self._frames.release()
        ends = {which: spans.release() for which, spans in self._ends.items()}
        stacks = Nest(frames["start"], frames["end"], frames["thread"])
        time, thread, launched = _launches(starts, ends[LAUNCH_CATEGORY, "f"], ends[LAUNCH_CATEGORY, "s"])
        own = np.where(launched, stacks.innermost(thread, time), NONE)
        begun = ends[FORWARD_CATEGORY, "s"]
        call = self._forward_call(ends[FORWARD_CATEGORY, "f"], begun, time, thread)
        call[~launched] = NONE
        forward = np.full(len(starts), NONE, dtype=np.int64)
        if len(begun["start"]):
            around = stacks.innermost(begun["thread"], begun["start"])
            forward = np.where(call >= 0, around[np.maximum(call, 0)], NONE)
        paths, number = _call_paths(stacks, frames["name"], np.concatenate([own, forward]), tuple(self._names))
        return Sites(paths, number[: len(starts)], number[len(starts) :], launched), stacks.crossing

    def _forward_call(self, arrives: Numbers, begun: Numbers, time: Ints, thread: Ints) -> Ints:
        """The flow from the forward operator of the backward one that each moment of a thread is in, -1 for none."""
        operators = self._operators.release()
        found = np.full(len(time), NONE, dtype=np.int64)
        if not len(arrives["start"]) or not len(begun["start"]) or not len(operators["start"]):
            return found
        calls = Nest(operators["start"], operators["end"], operators["thread"])
        order = np.lexsort((begun["start"], begun["key"]))
        near = np.minimum(np.searchsorted(begun["key"][order], arrives["key"]), len(order) - 1)
        flow = np.where(begun["key"][order][near] == arrives["key"], order[near], NONE)
        at = calls.innermost(arrives["thread"], arrives["start"])
        usable = (at >= 0) & (flow >= 0)
        flow_of = np.full(len(operators["start"]), NONE, dtype=np.int64)
        parents = calls.parents
        # autograd evaluates each backward operator in a range of its own around it: what that launches belongs to it, too
        around = parents[at[usable]]
        flow_of[around[around >= 0]] = flow[usable][around >= 0]
        flow_of[at[usable]] = flow[usable]
        inside = calls.innermost(thread, time)
        while (inside >= 0).any():
            mine = inside >= 0
            told = flow_of[np.maximum(inside, 0)]
            found = np.where(mine & (found < 0), told, found)
            inside = np.where(mine & (found < 0), parents[np.maximum(inside, 0)], NONE)
        return found


def _long_number(word: str) -> int | None:
    """An id of more digits than most: torch_npu numbers launches by the nanosecond in which their task starts."""
    return int(word) if word.isdecimal() and len(word) < _TOO_LONG and int(word) <= _MAX_INT64 else None


def _words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


def _numbers(words: Iterable[str], numbering: Numbering) -> Ints:
    """Words as the numbers of a numbering, and -1 behind them."""
    return np.asarray([*map(numbering.__getitem__, words), NONE], dtype=np.int64)


def _launches(starts: Ints, arrived: Numbers, begun: Numbers) -> tuple[Ints, Ints, Mask]:
    """(when, on which thread, and whether a flow tells) the launch of the tasks that start then."""
    nothing = np.zeros(len(starts), dtype=np.int64)
    found = np.full(len(starts), NONE, dtype=np.int64)
    if not len(arrived["start"]) or not len(begun["start"]):
        return nothing, nothing, found >= 0
    # where several flows end at one time, or begin under one key, the first: the order of the file decides nothing
    by_time = order_by(arrived["start"], arrived["key"])
    by_key = order_by(begun["key"], begun["start"], begun["thread"])
    moments, keys = arrived["start"][by_time], begun["key"][by_key]
    for apart in _NEAR_NS:
        near = np.minimum(np.searchsorted(moments, starts + apart), len(moments) - 1)
        key = arrived["key"][by_time[near]]
        source = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        fits = (moments[near] == starts + apart) & (keys[source] == key) & (found < 0)
        found[fits] = by_key[source[fits]]
    some = chosen_of(begun, np.maximum(found, 0))
    return some["start"], some["thread"], found >= 0


def _call_paths(stacks: Nest, name: Ints, places: Ints, names: tuple[str, ...]) -> tuple[CallPaths, Ints]:
    """(the distinct stacks of frames that are asked for, that of each frame asked for by its place)."""
    parents, depths = stacks.parents, stacks.depths
    used = np.zeros(len(name), dtype=bool)
    level = distinct(places[places >= 0])
    while len(level):
        used[level] = True
        level = distinct(parents[level])
        level = level[level >= 0]
        level = level[~used[level]]
    rows = np.flatnonzero(used)
    rows = rows[np.argsort(depths[rows], kind="stable")]
    bounds = np.flatnonzero(np.diff(depths[rows], prepend=-1)) if len(rows) else rows
    number = np.full(len(name) + 1, NONE, dtype=np.int64)
    of_parent, of_name, count = [], [], 0
    for mine in np.split(rows, bounds[1:]):
        key = (number[parents[mine]] + 1) * len(names) + name[mine]
        keys, place = distinct_places(key)
        number[mine] = count + place
        count += len(keys)
        of_parent.append(keys // max(len(names), 1) - 1)
        of_name.append(keys % max(len(names), 1))
    return CallPaths(np.concatenate(of_parent), np.concatenate(of_name), names), number[places]
