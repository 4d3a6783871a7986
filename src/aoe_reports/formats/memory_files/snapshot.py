"""PyTorch's memory snapshot: the blocks of its allocator when it was written, and a history of what was allocated and released.

`torch.cuda.memory._dump_snapshot`, `torch_npu.npu.memory._dump_snapshot` and a `json.dump` of `_snapshot()` hold the same (PyTorch,
torch/csrc/cuda/memory_snapshot.cpp; Ascend/pytorch, torch_npu/csrc/npu/memory_snapshot.cpp). Sizes of the history are those that were asked
for; the allocator rounds them up. What was in use at any time follows from the blocks of the end, backwards through the history.

Without a history (`_record_memory_history` was not called; or `torch.cuda.memory_snapshot()`, which has the list of segments alone) the blocks
are one state of no known time: its number is 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from aoe_reports.formats.json.summary import read_document
from aoe_reports.formats.memory import constant, event_frame, nothing_recorded, numbers, refuse_impossible, sample_frame
from aoe_reports.formats.memory_files.pairs import Pairs, in_use_at_end, paired
from aoe_reports.formats.memory_files.plain_pickle import NotPlain, plain_value
from aoe_reports.formats.memory_files.rules import (
    MEMORY_BEFORE,
    MEMORY_ENTRY,
    MEMORY_EXHAUSTED,
    MEMORY_ORDER,
    MEMORY_REUSED,
    MEMORY_SUM,
)
from aoe_reports.formats.memory_files.stacks import Stacks
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import Text, say
from aoe_reports.model.topics.memory import FailedAllocation, MemoryRecording

MAX_BYTES = 512 << 20
"""A larger pickle is not read: in memory it takes some 20 times its size (42 MiB with 400,000 entries: 820 MiB)."""
_BYTES_PER_ENTRY = 12
"""No entry of a history or of the blocks takes less in a file; lists that are shared would seem to hold more."""
_FEW_BYTES = 4096
_MOST = 2**52
"""Bytes of an allocation, and us since 1970: there are none of 4 PB, and none in 2112 yet."""
_MAX_ACTION = 40
"""Characters of an unknown action that a finding shows."""
_SOURCE, _COMPONENT = "snapshot", "PTA"

_ACTIONS = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_map",
    "segment_free",
    "segment_unmap",
)
_ALLOC, _RELEASE, _COMPLETE, _TAKE, _MAP, _GIVE, _UNMAP = range(len(_ACTIONS))
_NUMBERS = {action: number for number, action in enumerate(_ACTIONS)}
_USED, _PENDING, _FREE = range(3)
_STATES = {
    "active_allocated": _USED,
    "active_pending_free": _PENDING,
    "active_awaiting_free": _PENDING,  # as PyTorch called it before 2.1
    "inactive": _FREE,
}


def read_snapshot(file: FoundFile) -> list[MemoryRecording]:
    """What a snapshot records of each device that it says anything of; raises ReadError where it is none, or is not read."""
    findings: list[Finding] = []
    document, size = _document(file, findings)
    segments, traces = document["segments"], document["device_traces"]
    held = len(traces) + sum(len(trace) for trace in traces if isinstance(trace, list))
    held += sum(len(_list_in(segment, "blocks")) + 1 for segment in segments)
    if held * _BYTES_PER_ENTRY > size + _FEW_BYTES:
        raise _refused(
            file, say("its lists seem to hold {count:,} entries, more than a file of its size can", count=held)
        )
    reading = _Reading(file, findings)
    blocks = reading.blocks(segments)
    histories = reading.histories(traces)
    recordings, first = [], 1
    for device in sorted(blocks.keys() | histories.keys()):
        trace, blocks_of_device = histories.get(device, []), blocks.get(device, _Blocks())
        if trace or blocks_of_device.reserved:
            recordings.append(reading.recording(device, trace, blocks_of_device, first))
        first += len(trace) + len(blocks_of_device.addresses)
    return recordings or reading.nothing()


def _document(file: FoundFile, findings: list[Finding]) -> tuple[dict[str, Any], int]:
    """(what a file holds, its size in bytes)."""
    if file.name.form == "json":
        document, _ = read_document(file.path, findings, say("a memory snapshot of PyTorch"))
        if document is None:
            raise ReadError(
                file.path, findings[-1].message, say("a memory snapshot of PyTorch was expected"), findings[-1].line
            )
        size = file.size
    else:
        document, size = _of_pickle(file)
    if isinstance(document, list):
        document = {"segments": document}
    if isinstance(document, dict):
        document.setdefault("device_traces", [])
    if not isinstance(document, dict) or not all(
        isinstance(document.get(key), list) for key in ("segments", "device_traces")
    ):
        raise _refused(file, say("it has no lists `segments` and `device_traces`"))
    return document, size


def _of_pickle(file: FoundFile) -> tuple[Any, int]:
    size = file.path.stat().st_size
    if size > MAX_BYTES:
        raise _refused(file, say("{size} bytes; at most {limit} are read", size=size, limit=MAX_BYTES))
    data = file.path.read_bytes()
    try:
        return plain_value(data), len(data)
    except NotPlain as error:
        raise _refused(file, say("{why} (byte {position})", why=error.why, position=error.position)) from error


def _refused(file: FoundFile, why: Text) -> ReadError:
    return ReadError(file.path, why, say("a memory snapshot of PyTorch was expected"))


def _list_in(value: Any, key: str) -> list[Any]:
    value_of_key = value.get(key) if isinstance(value, dict) else None
    return value_of_key if isinstance(value_of_key, list) else []


def _size_in(value: Any, key: str) -> int | None:
    """A size, or a time in us; None for what is none."""
    value_of_key = value.get(key) if isinstance(value, dict) else None
    return value_of_key if type(value_of_key) is int and 0 <= value_of_key < _MOST else None


def _address_in(value: Any, key: str) -> int | None:
    """An address, or a stream, which PyTorch writes as signed numbers of 64 bits; None for what is none."""
    value_of_key = value.get(key) if isinstance(value, dict) else None
    return value_of_key if type(value_of_key) is int and -(2**62) <= value_of_key < 2**62 else None


def _state_of(block: Any) -> int | None:
    state = block.get("state") if isinstance(block, dict) else None
    return _STATES.get(state) if isinstance(state, str) else None


@dataclass(slots=True)
class _Blocks:
    """What the allocator of one device had at the end."""

    reserved: int = 0
    unusable: int = 0
    pending: int = 0
    """Bytes that were released while a stream still used them."""
    addresses: array[int] = field(default_factory=lambda: array("q"))
    """Of the blocks in use, as the following ones."""
    sizes: array[int] = field(default_factory=lambda: array("q"))
    streams: array[int] = field(default_factory=lambda: array("q"))
    stacks: array[int] = field(default_factory=lambda: array("q"))

    @property
    def used(self) -> int:
        return sum(self.sizes)


@dataclass(slots=True)
class _History:
    """What happened on one device, in order: columns of the entries that can be used."""

    actions: array[int] = field(default_factory=lambda: array("q"))
    addresses: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    streams: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    stacks: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))
    """The number of each entry in its list."""
    length: int = 0
    """How many entries its list has, usable or not."""
    has_clock: bool = True
    exhausted: list[tuple[int, int, Mapping[str, Any]]] = field(default_factory=list)
    """Entries on an allocation that failed, each with its place and the number of usable entries before it."""


def _ints(values: Sequence[int]) -> Ints:
    """A column of this module as numpy has it."""
    return np.asarray(values, dtype=np.int64)


class _Reading:
    """Reads one snapshot, and keeps what is wrong with it."""

    def __init__(self, file: FoundFile, findings: list[Finding]) -> None:
        self._file = file
        self._path = str(file.path)
        self._findings = findings
        self._stacks = Stacks()
        self._wrong = 0

    def wrong(self, pointer: str, what: Text) -> None:
        """Report something that cannot be used; after some the rest is counted."""
        self._wrong += 1
        if self._wrong <= EXAMPLES_PER_RULE:
            self._findings.append(MEMORY_ENTRY.found(self._path, what, pointer=pointer))

    def blocks(self, segments: Sequence[Any]) -> dict[int, _Blocks]:
        """The blocks of each device."""
        by_device: dict[int, _Blocks] = {}
        for number, segment in enumerate(segments):
            pointer = f"/segments/{number}"
            device = _size_in(segment, "device")
            if device is None or _size_in(segment, "total_size") is None:
                self.wrong(pointer, say("expected a segment with device and total_size"))
            else:
                self._add_segment(by_device.setdefault(device, _Blocks()), segment, pointer)
        return by_device

    def histories(self, traces: Sequence[Any]) -> dict[int, Sequence[Any]]:
        """The entries of each device that has any."""
        for device, trace in enumerate(traces):
            if not isinstance(trace, list):
                self.wrong(f"/device_traces/{device}", say("expected a list"))
        return {device: trace for device, trace in enumerate(traces) if isinstance(trace, list) and trace}

    def nothing(self) -> list[MemoryRecording]:
        """What is wrong with a snapshot that says nothing of any device; a recording without an event has it."""
        wrong = tuple(self._findings)
        return [replace(nothing_recorded(self._file, _SOURCE), findings=wrong)] if wrong else []

    def _add_segment(self, into: _Blocks, segment: Mapping[str, Any], pointer: str) -> None:
        into.reserved += segment["total_size"]
        free, next_address, is_used = 0, _address_in(segment, "address"), False
        for number, block in enumerate(_list_in(segment, "blocks")):
            state, size = _state_of(block), _size_in(block, "size")
            if state is None or size is None:
                self.wrong(f"{pointer}/blocks/{number}", say("expected a block with size and a known state"))
                continue
            address = _address_in(block, "address")
            address = next_address if address is None else address
            next_address = None if address is None else address + size
            asked = _size_in(block, "requested_size")
            asked = size if asked is None else asked
            is_used = is_used or state != _FREE
            free += size if state == _FREE else 0
            into.pending += asked if state == _PENDING else 0
            if state == _USED:
                into.addresses.append(address or 0)
                into.sizes.append(asked)
                into.streams.append(_address_in(segment, "stream") or 0)
                into.stacks.append(self._stacks.number(block.get("frames")))
        if is_used and segment.get("is_expandable") is not True:
            into.unusable += free

    def history(self, device: int, trace: Sequence[Any]) -> _History:
        """The entries of one device that can be used."""
        history = _History(length=len(trace))
        for place, entry in enumerate(trace):
            action = entry.get("action") if isinstance(entry, dict) else None
            number = _NUMBERS.get(action) if isinstance(action, str) else None
            if number is None:
                self._other(device, place, entry, history)
                continue
            address, size, time = _address_in(entry, "addr"), _size_in(entry, "size"), _size_in(entry, "time_us")
            if address is None or size is None:
                self.wrong(f"/device_traces/{device}/{place}", say("expected addr and size"))
                continue
            history.has_clock = history.has_clock and time is not None
            history.actions.append(number)
            history.addresses.append(address)
            history.sizes.append(size)
            history.streams.append(_address_in(entry, "stream") or 0)
            history.times.append((time or 0) * 1000)
            history.stacks.append(self._stacks.number(entry.get("frames")) if number == _ALLOC else -1)
            history.places.append(place + 1)
        return history

    def _other(self, device: int, place: int, entry: Any, history: _History) -> None:
        """An entry that neither allocates nor releases."""
        action = entry.get("action") if isinstance(entry, dict) else None
        if action == "oom":
            history.exhausted.append((place, len(history.actions), entry))
        elif action != "snapshot":
            self.wrong(
                f"/device_traces/{device}/{place}",
                say(
                    "expected an entry with a known action, not {action}",
                    action=action[:_MAX_ACTION] if isinstance(action, str) else type(action).__name__,
                ),
            )

    def recording(self, device: int, trace: Sequence[Any], blocks: _Blocks, first: int) -> MemoryRecording:
        """What is known of one device; its entries have the numbers from `first` on."""
        history = self.history(device, trace)
        refuse_impossible(
            self._file.path, _ints(history.sizes), _ints(blocks.sizes), np.array([blocks.reserved], dtype=np.float64)
        )
        replay = _Replay(history, blocks, first)
        self._findings += self._said(device, history, replay)
        if self._wrong > EXAMPLES_PER_RULE:
            more = say("and {count} more of this kind", count=self._wrong - EXAMPLES_PER_RULE)
            self._findings.append(MEMORY_ENTRY.found(self._path, more))
        self._wrong = 0
        findings, self._findings = tuple(self._findings), []
        return MemoryRecording(
            rank_id=self._file.name.rank_id,
            device_id=device,
            source=_SOURCE,
            events=replay.events(self._stacks),
            samples=replay.samples(),
            unusable_bytes=blocks.unusable,
            has_clock=history.has_clock and not replay.is_state,
            has_history=not replay.is_state,
            failed=tuple(failed for _, failed in self._failed(history, replay)),
            findings=findings,
        )

    def _said(self, device: int, history: _History, replay: _Replay) -> Iterator[Finding]:
        pointer = f"/device_traces/{device}"
        for place, what in replay.contradictions()[:EXAMPLES_PER_RULE]:
            yield MEMORY_REUSED.found(self._path, what, pointer=f"{pointer}/{place - 1}")
        if (count := len(replay.contradictions()) - EXAMPLES_PER_RULE) > 0:
            yield MEMORY_REUSED.found(self._path, say("and {count} more of this kind", count=count))
        for what in replay.unequal_sums():
            yield MEMORY_SUM.found(self._path, what, pointer=pointer)
        count, size = replay.known_before
        if count and len(history.actions):
            message = say(
                "{count:,} allocations of {size:,} bytes are older than the first entry", count=count, size=size
            )
            yield MEMORY_BEFORE.found(self._path, message, pointer=pointer)
        times = _ints(history.times)
        if history.has_clock and (falls := int((times[1:] < times[:-1]).sum())):
            message = say("{count:,} entries have a time before that of the entry before them", count=falls)
            yield MEMORY_ORDER.found(self._path, message, pointer=pointer)
        yield from self._exhausted(history, replay, pointer)

    def _exhausted(self, history: _History, replay: _Replay, pointer: str) -> Iterator[Finding]:
        for place, failed in self._failed(history, replay):
            message = say(
                "out of memory: {asked} bytes were asked for; {reserved:,} were reserved, {allocated:,} of them allocated, and the device "
                "had {free} left",
                asked=_or_unknown(failed.size_bytes),
                free=_or_unknown(failed.free_bytes),
                allocated=failed.allocated_bytes,
                reserved=failed.reserved_bytes,
            )
            yield MEMORY_EXHAUSTED.found(self._path, message, pointer=f"{pointer}/{place}")

    @staticmethod
    def _failed(history: _History, replay: _Replay) -> Iterator[tuple[int, FailedAllocation]]:
        """(place, what is known) of allocations that failed."""
        for place, before, entry in history.exhausted[:EXAMPLES_PER_RULE]:
            allocated, reserved = replay.at(before)
            yield (
                place,
                FailedAllocation(
                    size_bytes=_size_in(entry, "size"),
                    reserved_bytes=reserved,
                    allocated_bytes=allocated,
                    free_bytes=_size_in(entry, "device_free"),
                ),
            )


def _or_unknown(size: int | None) -> str:
    return "?" if size is None else f"{size:,}"


class _Replay:
    """Allocations with their releases, and what was in use after each entry."""

    def __init__(self, history: _History, blocks: _Blocks, first: int) -> None:
        self._history, self._blocks, self._first = history, blocks, first
        self._actions, self._sizes = _ints(history.actions), _ints(history.sizes)
        self._addresses, self._places = _ints(history.addresses), _ints(history.places)
        self._times = _ints(history.times) if history.has_clock else self._places
        self._release = self._releasing()
        self._knows_active = bool((self._actions == _COMPLETE).any() or not (self._actions == _RELEASE).any())
        self._released = self._pairs(self._release)
        held, in_use = _ints(blocks.addresses), self._in_use()
        self._is_old = ~np.isin(held, in_use)
        self._lost = len(in_use) - int(np.isin(in_use, held).sum())
        self._allocated = _backwards(blocks.used, self._changes((_ALLOC,), (self._release,)))
        self._active = _backwards(blocks.used + blocks.pending, self._changes((_ALLOC,), (_COMPLETE,)))
        self._reserved = _backwards(blocks.reserved, self._changes((_TAKE, _MAP), (_GIVE, _UNMAP)))
        self.is_state = not len(self._actions)
        """Whether there is no history: the blocks are all that is known."""
        if self.is_state:
            self._times, self._places = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
            self._allocated, self._active, self._reserved = (
                np.array([size]) for size in (blocks.used, blocks.used + blocks.pending, blocks.reserved)
            )

    def _releasing(self) -> int:
        """What releases: PyTorch leaves `free_requested` out where `skip_actions` says so."""
        if (self._actions == _RELEASE).any() or not (self._pairs(_COMPLETE).releases >= 0).any():
            return _RELEASE
        return _COMPLETE

    def _rows(self, release: int) -> Ints:
        return np.flatnonzero((self._actions == _ALLOC) | (self._actions == release))

    def _pairs(self, release: int) -> Pairs:
        rows = self._rows(release)
        pairs = paired(self._addresses[rows], self._actions[rows] == _ALLOC)
        ends = np.where(pairs.releases >= 0, rows[pairs.releases], -1) if len(rows) else pairs.releases
        return Pairs(rows[pairs.allocations], ends, rows[pairs.older], rows[pairs.reused], rows[pairs.repeated])

    def _in_use(self) -> Ints:
        rows = self._rows(self._release)
        return in_use_at_end(self._addresses[rows], self._actions[rows] == _ALLOC)

    def _changes(self, more: Sequence[int], less: Sequence[int]) -> Ints:
        signs = np.zeros(len(_ACTIONS), dtype=np.int64)
        signs[list(more)], signs[list(less)] = 1, -1
        return signs[self._actions] * self._sizes

    @property
    def known_before(self) -> tuple[int, int]:
        """(number, bytes) of what was allocated before the first entry."""
        released, held = self._sizes[self._released.older], _ints(self._blocks.sizes)[self._is_old]
        return len(released) + len(held), int(released.sum()) + int(held.sum())

    def at(self, entries: int) -> tuple[int, int]:
        """(allocated, reserved) after so many of the usable entries."""
        if not len(self._actions):
            return self._blocks.used, self._blocks.reserved
        if entries > 0:
            return int(self._allocated[entries - 1]), int(self._reserved[entries - 1])
        allocated, reserved = self._changes((_ALLOC,), (self._release,)), self._changes((_TAKE, _MAP), (_GIVE, _UNMAP))
        return int(self._allocated[0] - allocated[0]), int(self._reserved[0] - reserved[0])

    def contradictions(self) -> list[tuple[int, Text]]:
        """(number of the entry in its list, what is wrong) of addresses that are allocated or released twice."""
        said = ((self._released.reused, _REUSED), (self._released.repeated, _REPEATED))
        contradictions = [(int(self._places[row]), what) for rows, what in said for row in rows]
        return sorted(contradictions, key=lambda contradiction: contradiction[0])

    def unequal_sums(self) -> Iterator[Text]:
        """What does not add up."""
        if self._lost:
            yield say("{count:,} blocks that the history leaves in use are not in use in `segments`", count=self._lost)
        for name, values in ((say("allocated"), self._allocated), (say("reserved"), self._reserved)):
            if len(values) and (least := int(values.min())) < 0:
                yield say("{name}: {size:,} bytes at the least; entries are missing", name=name, size=least)

    def events(self, stacks: Stacks) -> pa.Table:
        """Each allocation of the history, what it releases of older ones, then the blocks in use that are older than it."""
        released, completed, history, blocks = self._released, self._pairs(_COMPLETE), self._history, self._blocks
        old = np.flatnonzero(self._is_old)
        none = np.full(len(old), -1, dtype=np.int64)
        begun = np.concatenate([released.allocations, np.full(len(released.older), -1), none])
        ended = np.concatenate([released.releases, released.older, none])
        reusable = np.concatenate([completed.releases, self._completions(completed.older), none])
        rows = np.concatenate([released.allocations, released.older])

        def joined(of_history: Sequence[int], of_blocks: Sequence[int]) -> Ints:
            return np.concatenate([_ints(of_history)[rows], _ints(of_blocks)[old]])

        count, sizes = len(begun), joined(history.sizes, blocks.sizes)
        stack = np.where(begun >= 0, joined(history.stacks, blocks.stacks), -1)
        stack[len(rows) :] = _ints(blocks.stacks)[old]
        behind = self._first + history.length + np.arange(len(old), dtype=np.int64)
        return event_frame(
            {
                "component": constant(_COMPONENT, count),
                **stacks.columns(stack, sizes if self.is_state else None),
                "stream": numbers(joined(history.streams, blocks.streams)),
                "address": numbers(joined(history.addresses, blocks.addresses)),
                "size_bytes": numbers(sizes),
                "allocated_ns": constant(0, count) if self.is_state else self._when(begun),
                "released_ns": self._when(ended),
                "reusable_ns": self._when(reusable),
                "source_row": numbers(np.concatenate([self._first - 1 + self._places[rows], behind])),
            },
            count,
        )

    def _completions(self, older: Ints) -> Ints:
        """The row that completes each release of something older; -1 where there is none."""
        wanted = self._addresses[self._released.older]
        if not len(older):
            return np.full(len(wanted), -1, dtype=np.int64)
        by_address = older[np.argsort(self._addresses[older], kind="stable")]
        known = self._addresses[by_address]
        near = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[near] == wanted, by_address[near], -1)

    def _when(self, rows: Ints) -> pa.ChunkedArray:
        """The times of some rows; null for -1."""
        there = rows >= 0
        values = self._times[np.where(there, rows, 0)] if len(self._times) else np.zeros(len(rows), dtype=np.int64)
        return numbers(values, there)

    def samples(self) -> pa.Table:
        """What was in use after each entry, or in the one state that is known."""
        count = len(self._times)
        return sample_frame(
            {
                "scope": constant("allocator", count),
                "component": constant(_COMPONENT, count),
                "sampled_ns": numbers(self._times),
                "allocated_bytes": numbers(self._allocated),
                "reserved_bytes": numbers(self._reserved),
                "active_bytes": numbers(self._active, np.full(count, self._knows_active)),
                "source_row": numbers(self._first - 1 + self._places),
            },
            count,
        )


_REUSED = say("it allocates an address that is in use")
_REPEATED = say("it releases an address that is not in use")


def _backwards(end: int, changes: Ints) -> Ints:
    """The sum after each change; the last sum is `end`."""
    sums = np.cumsum(changes, dtype=np.int64)
    return sums + (end - int(sums[-1])) if len(sums) else sums
