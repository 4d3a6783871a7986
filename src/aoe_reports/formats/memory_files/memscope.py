"""msMemScope's events (msLeaks until 2025), of its CSV or its database: allocations and releases, and what was recorded of pools.

Events of a block are written when it is released, so rows are not in the order of time. Sums (`total`, `used`) are those of the pool
right after an event; the workspace is part of the pool of PyTorch. Of what the driver allocates (HAL) no sum is written: it is added up here.

Steps are marked by ranges of MSTX whose message is `step start`, or else by `msmemscope.step()`, which ends a step and begins the next (Ascend/msmemscope,
csrc/analysis/step_tracker.cpp and csrc/event_trace/event_report.cpp). As there, a step lasts until the next begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.memory import (
    constant,
    event_frame,
    nothing_recorded,
    numbers,
    refuse_impossible,
    sample_frame,
    words,
)
from aoe_reports.formats.memory_files.cells import Texts, Words, addresses_of, locations_of, row_numbers
from aoe_reports.formats.memory_files.names import MEMSCOPE
from aoe_reports.formats.memory_files.pairs import Pairs, paired
from aoe_reports.formats.memory_files.rules import MEMORY_BEFORE, MEMORY_ENTRY, MEMORY_EXHAUSTED, MEMORY_REUSED
from aoe_reports.formats.memory_files.tables import MEMSCOPE_DUMP
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sqlite import read_plain_table
from aoe_reports.formats.table_file import read_table_file
from aoe_reports.model.arrays.columns import (
    Ints,
    Mask,
    Numbering,
    distinct_rows,
    integers,
    order_by,
)
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import Text, say
from aoe_reports.model.topics.memory import FailedAllocation, Kind, MemoryRecording

_FIELDS = frozenset(
    {
        "id",
        "event",
        "event_type",
        "name",
        "timestamp_ns",
        "process_id",
        "thread_id",
        "device",
        "address",
        "attributes",
        "python_stack",
    }
)
_DATABASE_TABLES = ("memscope_dump", "leaks_dump")
_NUMBER = r'[{{,"](?:{key})"?:"?(?P<number>\d{{1,18}})(?:[,"}}]|$)'
_SUMS = r'[{,"]size"?:"?(?P<size>\d{1,18})(?:"?,"?owner"?:[^,}]*)?(?:"?,"?total"?:"?(?P<total>\d{1,18}))?(?:"?,"?used"?:"?(?P<used>\d{1,18}))?'
"""What nearly every block has among its attributes, in this order: one pattern reads all three."""
_MICROSECONDS = (10**15, 10**17)
"""Times of the first months were us below a header that says ns: as us they lie between 2001 and 5138, as ns in 1970."""
_SOURCE, _SNAPSHOT_SOURCE = "msmemscope", "msmemscope_snapshot"
_PTA, _WORKSPACE, _HAL = "PTA", "PTA_WORKSPACE", "HAL"
_KINDS: Mapping[str, Kind] = {
    "weight": "weight",
    "gradient": "gradient",
    "optimizer": "optimizer",
    "optimizer_state": "optimizer",
    "activation": "activation",
    "kv_cache": "kv_cache",
    "PTA_WORKSPACE": "workspace",
    "HCCL": "communication",
}
"""What a part of an owner says (`PTA@model@weight`, `CANN@HCCL`)."""
_NAMES_NOBODY = re.compile(r"(?:PTA|PTA_WORKSPACE|ATB|MINDSPORE|CANN)?(?:@ops(?:@aten)?|@UNKNOWN)?")
_STEP_NAMES = ("step start", '"step start"')
"""The message of the mark that begins a step; a database keeps the quotes of the CSV."""
_OPERATOR = re.compile(r"torch\._ops\.(\w+)\.(\w+)(?:\.\w+)?")
_DEVICE = re.compile(r"\d{1,6}", re.ASCII)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)


def read_memscope(file: FoundFile) -> list[MemoryRecording]:
    """What one file records of each device, process by process."""
    if file.name.form == "db":
        data = read_plain_table(file.path, MEMSCOPE_DUMP, _DATABASE_TABLES)
    else:
        data = read_table_file(file, MEMSCOPE, _FIELDS, hashed=False)
    findings = data.findings
    events = _Events.of(data) if data.frame.num_rows else None
    del data
    recordings: list[MemoryRecording] = []
    if events is not None:
        recordings = [recording for rows in events.by_device() for recording in _recordings(file, events, rows)]
    first, *others = recordings or [nothing_recorded(file, _SOURCE)]
    return [replace(first, findings=(*findings, *first.findings)), *others]


@dataclass(frozen=True, slots=True)
class _Events:
    """The rows of a file in the order of time."""

    data: TableData
    rows: Ints
    """The row of each in the frame."""
    times: Ints
    processes: Ints
    threads: Ints
    devices: Ints
    """-1 for the host, and for what belongs to all."""
    event: Words
    type: Words
    name: Words
    addresses: Ints
    """-1 where there is none."""
    attributes: Texts
    stack: Words
    known_numbers: dict[str, tuple[Ints, Mask]] = field(default_factory=dict)
    """Of each key of attributes that was asked for, by the place of the text."""

    @classmethod
    def of(cls, data: TableData) -> _Events:
        frame = data.frame
        times, _ = integers(frame["timestamp_ns"])
        if len(times) and _MICROSECONDS[0] <= times.min() and times.max() < _MICROSECONDS[1]:
            times = times * 1000
        order = order_by(times, integers(frame["id"])[0])

        def whole(name: str) -> Ints:
            values, there = integers(frame[name])
            return np.where(there, values, -1)[order]

        def words_in(name: str) -> Words:
            if name not in frame.column_names:
                return Words(np.full(len(order), -1), [])
            cells = Words.of(frame[name])
            return Words(cells.places[order], cells.words)

        device, attributes = words_in("device"), Texts.of(frame["attributes"])
        numbered = {word: int(word) for word in device.words if _DEVICE.fullmatch(word)}
        return cls(
            data=data.with_frame(frame.select(["id"])),  # its rows and lines: the columns are not kept twice
            rows=order,
            times=times[order],
            processes=whole("process_id"),
            threads=whole("thread_id"),
            devices=device.numbers_by(numbered),
            event=words_in("event"),
            type=words_in("event_type"),
            name=words_in("name"),
            addresses=addresses_of(frame["address"])[order],
            attributes=Texts(attributes.places[order], attributes.parts),
            stack=words_in("python_stack"),
        )

    def by_device(self) -> Iterator[Ints]:
        """The rows on memory of each device of each process."""
        chosen = np.flatnonzero((self.devices >= 0) & self.event.having("MALLOC", "FREE", "SNAPSHOT", "OOM_DETAIL"))
        if not len(chosen):
            return
        (_, _), place = distinct_rows(self.processes[chosen], self.devices[chosen])
        for number in range(int(place.max()) + 1):
            yield chosen[place == number]

    def numbers_in(self, rows: Ints, key: str) -> tuple[Ints, Mask]:
        """Whole numbers in the attributes of some rows under a key."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        if key not in self.known_numbers:
            is_sum = key in {"size", "total", "used"}
            extracted = self.attributes.numbers(_SUMS if is_sum else _NUMBER.format(key=key))
            self.known_numbers.update(extracted if is_sum else {key: extracted["number"]})
        values, is_number = self.known_numbers[key]
        places = self.attributes.places[rows]
        return values[places], is_number[places]

    def texts_in(self, rows: Ints, key: str) -> Words:
        """The same of texts."""
        values = Words.of(pa.chunked_array([self.attributes.values(key).dictionary_encode()]))
        return Words(values.places[self.attributes.places[rows]], values.words)

    def place(self, row: int) -> dict[str, int | None]:
        """The place of an event in its file."""
        return {"line": self.data.line(int(self.rows[row]))}


def _recordings(file: FoundFile, events: _Events, rows: Ints) -> Iterator[MemoryRecording]:
    """What one process records of one device: its allocations with their sums, then what snapshots of its allocator say."""
    blocks = _Blocks.of(events, rows[events.event.having("MALLOC", "FREE")[rows]])
    process = int(events.processes[rows[0]])
    recording = MemoryRecording(
        rank_id=file.name.rank_id,
        device_id=int(events.devices[rows[0]]),
        process=None if process < 0 else process,
        source=_SOURCE,
        events=blocks.events(),
        samples=_samples(events, [_of_pools(events, blocks), _of_driver(events, blocks)]),
        steps=tuple(_steps(events, rows[0])),
        failed=tuple(_failed(events, rows)),
        findings=(*blocks.findings(str(file.path)), *_exhausted(events, rows, str(file.path))),
    )
    yield recording
    samples = _samples(events, [*_of_snapshots(events, rows)])
    if samples.num_rows:
        yield replace(
            recording,
            source=_SNAPSHOT_SOURCE,
            events=event_frame({}, 0),
            samples=samples,
            steps=(),
            failed=(),
            findings=(),
        )


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Allocations and releases of one device, with what they have in common."""

    source: _Events
    rows: Ints
    sizes: Ints
    is_allocation: Mask
    addresses: Ints
    pairs: Pairs
    without_size: Ints
    """Rows that are left out: nothing says what they allocate or release."""

    @classmethod
    def of(cls, source: _Events, rows: Ints) -> _Blocks:
        sizes, has_size = source.numbers_in(rows, "size")
        is_allocation = source.event.having("MALLOC")[rows]
        usable = has_size | ~is_allocation  # a release has the size of its allocation
        without_size, rows = rows[~usable], rows[usable]
        sizes, has_size, is_allocation = sizes[usable], has_size[usable], is_allocation[usable]
        refuse_impossible(source.data.path, sizes)
        addresses = source.addresses[rows]
        (_, _), keys = distinct_rows(source.type.places[rows].astype(np.int64), addresses)
        pairs = paired(keys, is_allocation)
        ended = pairs.releases >= 0
        releases, allocations = pairs.releases[ended], pairs.allocations[ended]
        sizes[releases] = np.where(has_size[releases], sizes[releases], sizes[allocations])
        is_known = has_size[pairs.older]
        return cls(
            source=source,
            rows=rows,
            sizes=sizes,
            is_allocation=is_allocation,
            addresses=addresses,
            pairs=replace(pairs, older=pairs.older[is_known]),
            without_size=np.sort(np.concatenate([without_size, rows[pairs.older[~is_known]]])),
        )

    def findings(self, path: str) -> Iterator[Finding]:
        """What is odd about them."""
        lines = sorted(self.source.place(int(row))["line"] or 0 for row in self.without_size)
        yield from MEMORY_ENTRY.found_at(path, [(say("a block without a size"), line or None) for line in lines])
        said = [(row, say("it allocates an address that is in use")) for row in self.pairs.reused]
        said += [(row, say("it releases an address that is not in use")) for row in self.pairs.repeated]
        places = sorted((self.source.place(int(self.rows[row]))["line"] or 0, what) for row, what in said)
        yield from MEMORY_REUSED.found_at(path, [(what, line or None) for line, what in places])
        if len(older := self.pairs.older):
            size = int(self.sizes[older].sum())
            message = say(
                "{count:,} allocations of {size:,} bytes are older than the first entry", count=len(older), size=size
            )
            yield MEMORY_BEFORE.found(path, message)

    def events(self) -> pa.Table:
        """Each allocation, then the releases of older ones."""
        pairs, source = self.pairs, self.source
        begun = np.concatenate([pairs.allocations, np.full(len(pairs.older), -1, dtype=np.int64)])
        ended = np.concatenate([pairs.releases, pairs.older])
        shown = np.where(begun >= 0, begun, ended)
        at = self.rows[shown]
        owners, kinds = self._owners(at, begun >= 0)
        used, has_used = source.numbers_in(self.rows, "used")
        total, has_total = source.numbers_in(self.rows, "total")

        def of(values: Ints, there: Mask, rows: Ints) -> pa.ChunkedArray:
            known = rows >= 0
            places = np.where(known, rows, 0)
            return numbers(
                values[places] if len(values) else np.zeros(len(rows), dtype=np.int64),
                known & (there[places] if len(there) else known),
            )

        times, always = source.times[self.rows], np.ones(len(self.rows), dtype=bool)
        count = len(shown)
        return event_frame(
            {
                "component": _components(source, at),
                "owner": owners,
                "kind": kinds,
                "location": locations_of(source.stack, np.where(begun >= 0, source.stack.places[at], -1)),
                "address": numbers(self.addresses[shown], self.addresses[shown] >= 0),
                "size_bytes": numbers(self.sizes[shown]),
                "allocated_ns": of(times, always, begun),
                "released_ns": of(times, always, ended),
                "allocation_allocated_bytes": of(used, has_used, begun),
                "allocation_reserved_bytes": of(total, has_total, begun),
                "release_allocated_bytes": of(used, has_used, ended),
                "release_reserved_bytes": of(total, has_total, ended),
                "source_row": numbers(row_numbers(source.data, source.rows[at])),
            },
            count,
        )

    def _owners(self, at: Ints, is_known: Mask) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        """(owner of the memory, what it holds): the tag of its owner, else the operator that ran in its thread."""
        tags = self.source.texts_in(at, "owner")
        running = _running(self.source)[at]
        operators, known, kinds = self.source.name.words, Numbering(), Numbering()
        tag_owner = [-1 if _NAMES_NOBODY.fullmatch(tag) else known[tag] for tag in tags.words]
        plain_owner = [known[tag] if tag else -1 for tag in tags.words]
        kind_of_tag = [-1 if (kind_of := _kind_of(tag)) is None else kinds[kind_of] for tag in tags.words]
        operator_owner = {
            place: known[_operator(operators[place])] for place in np.unique(running[running >= 0]).tolist()
        }
        named = np.array([*tag_owner, -1], dtype=np.int64)[tags.places]
        by_operator = np.array([operator_owner.get(place, -1) for place in running.tolist()], dtype=np.int64)
        last = np.array([*plain_owner, -1], dtype=np.int64)[tags.places]
        owner = np.where(named >= 0, named, np.where(by_operator >= 0, by_operator, last))
        kind = np.array([*kind_of_tag, -1], dtype=np.int64)[tags.places]
        workspace = self.source.type.having(_WORKSPACE)[at]
        kind = np.where(workspace, kinds["workspace"], kind)
        return words(np.where(is_known, owner, -1), known.words), words(np.where(is_known, kind, -1), kinds.words)


def _components(source: _Events, at: Ints) -> pa.ChunkedArray:
    names = [_PTA if word == _WORKSPACE else word for word in source.type.words]
    known = Numbering()
    places = np.array([*(known[name] for name in names), -1], dtype=np.int64)
    return words(places[source.type.places[at]], known.words)


def _operator(name: str) -> str:
    """`torch._ops.aten.addmm.default` is aten::addmm, as PyTorch's profiler calls it."""
    match = _OPERATOR.fullmatch(name)
    return f"{match[1]}::{match[2]}" if match else name


def _kind_of(tag: str) -> Kind | None:
    return next((_KINDS[part] for part in reversed(tag.split("@")) if part in _KINDS), None)


def _running(source: _Events) -> Ints:
    """The name of the innermost operator that runs in the thread of each event; -1 where none does.

    Operators of one thread nest: the one that runs at some depth is the last that began at that depth.
    """
    begins = source.type.having("ATEN_START", "ATB_START")
    change = begins.astype(np.int64) - source.type.having("ATEN_END", "ATB_END")
    (_, _), thread = distinct_rows(source.processes, source.threads)
    order = np.argsort(thread, kind="stable")
    sums = np.cumsum(change[order])
    first = np.searchsorted(thread[order], thread[order], side="left")
    depth = np.empty(len(order), dtype=np.int64)
    depth[order] = sums - np.where(first > 0, sums[first - 1], 0)
    (_, _), level = distinct_rows(thread, depth)
    by_level = np.argsort(level, kind="stable")
    began = np.where(begins[by_level], np.arange(len(by_level)), -1)
    latest = np.maximum.accumulate(began) if len(began) else began
    is_same = (latest >= 0) & (level[by_level[latest]] == level[by_level])
    running = np.full(len(order), -1, dtype=np.int64)
    running[by_level] = np.where(is_same, source.name.places[by_level[latest]], -1)
    return np.where(depth > 0, running, -1)


def _steps(events: _Events, row: int) -> Iterator[tuple[int, int, int]]:
    """(number, begin, end) of the steps of the process and the device of a row; one whose end is not marked is none."""
    is_mine = (events.processes == events.processes[row]) & np.isin(events.devices, [-1, events.devices[row]])
    ranges = is_mine & events.event.having("MSTX")
    begins = np.flatnonzero(ranges & events.type.having("Range_start") & events.name.having(*_STEP_NAMES))
    if len(begins):
        times = events.times[begins].tolist()
        numbers, ends = [*range(1, len(times) + 1)], [*times[1:], _end_of_range(events, ranges, int(begins[-1]))]
    else:
        calls = np.flatnonzero(is_mine & events.event.having("SYSTEM") & events.type.having("STEP"))
        counted = events.name.numbers_by({word: int(word) for word in events.name.words if _COUNT.fullmatch(word)})
        times = events.times[calls].tolist()
        numbers, ends = [number + 1 for number in counted[calls].tolist()], [*times[1:], None][: len(times)]
    for number, begin, end in zip(numbers, times, ends, strict=True):
        if end is not None and number > 0:
            yield number, begin, end


def _end_of_range(events: _Events, ranges: Mask, begin: int) -> int | None:
    """When a range ends, as ranges of one thread nest; None where its end is not recorded."""
    rows = begin + np.flatnonzero(ranges[begin:] & (events.threads[begin:] == events.threads[begin]))
    open_ranges = np.cumsum(
        events.type.having("Range_start")[rows].astype(np.int64) - events.type.having("Range_end")[rows]
    )
    ends = rows[open_ranges == 0]
    return int(events.times[ends[0]]) if len(ends) else None


def _samples(events: _Events, parts: Sequence[_Part]) -> pa.Table:
    """Samples of several kinds by time."""
    at = np.concatenate([part.at for part in parts])
    count = len(at)
    samples = sample_frame(
        {
            "scope": pa.chunked_array([chunk for part in parts for chunk in constant(part.scope, len(part.at)).chunks]),
            "component": pa.chunked_array([chunk for part in parts for chunk in part.component.chunks]),
            "sampled_ns": numbers(events.times[at]),
            "allocated_bytes": pa.chunked_array([chunk for part in parts for chunk in part.allocated.chunks]),
            "reserved_bytes": pa.chunked_array([chunk for part in parts for chunk in part.reserved.chunks]),
            "source_row": numbers(row_numbers(events.data, events.rows[at])),
        },
        count,
    ).unify_dictionaries()
    return samples if (at[1:] >= at[:-1]).all() else samples.take(np.argsort(at, kind="stable"))


@dataclass(frozen=True, slots=True)
class _Part:
    """Samples of the same kind."""

    at: Ints
    """Their events."""
    scope: str
    component: pa.ChunkedArray
    allocated: pa.ChunkedArray
    reserved: pa.ChunkedArray


def _of_pools(events: _Events, blocks: _Blocks) -> _Part:
    used, has_used = events.numbers_in(blocks.rows, "used")
    total, has_total = events.numbers_in(blocks.rows, "total")
    stated = has_used & has_total
    at = blocks.rows[stated]
    return _Part(at, "allocator", _components(events, at), numbers(used[stated]), numbers(total[stated]))


def _of_driver(events: _Events, blocks: _Blocks) -> _Part:
    chosen = events.type.having(_HAL)[blocks.rows]
    signed = np.where(blocks.is_allocation, blocks.sizes, -blocks.sizes)[chosen]
    older = np.isin(blocks.pairs.older, np.flatnonzero(chosen))
    before = int(blocks.sizes[blocks.pairs.older[older]].sum())
    sums = np.cumsum(signed, dtype=np.int64) + before
    nothing = np.zeros(len(sums), dtype=bool)
    return _Part(blocks.rows[chosen], "process", constant(_HAL, len(sums)), numbers(sums, nothing), numbers(sums))


def _of_snapshots(events: _Events, rows: Ints) -> Iterator[_Part]:
    at = rows[events.event.having("SNAPSHOT")[rows]]
    allocated, has_allocated = events.numbers_in(at, "allocated")
    reserved, has_reserved = events.numbers_in(at, "reserved")
    component = constant(_PTA, len(at))
    yield _Part(at, "allocator", component, numbers(allocated, has_allocated), numbers(reserved, has_reserved))
    total, has_total = events.numbers_in(at, "total(?:_mem)?")
    free, has_free = events.numbers_in(at, "free(?:_mem)?")
    nothing, is_known = np.zeros(len(at), dtype=bool), has_total & has_free
    yield _Part(at, "device", constant("device", len(at)), numbers(total, nothing), numbers(total - free, is_known))


def _failed(events: _Events, rows: Ints) -> Iterator[FailedAllocation]:
    sizes, known = events.numbers_in(rows[events.type.having("OOM_TRIGGER")[rows]], "req_size")
    for size, is_known in zip(sizes.tolist()[:EXAMPLES_PER_RULE], known.tolist(), strict=False):
        yield FailedAllocation(size_bytes=size if is_known else None)


def _exhausted(events: _Events, rows: Ints, path: str) -> Iterator[Finding]:
    """Allocations that failed."""
    at = rows[events.type.having("OOM_TRIGGER")[rows]]
    if not len(at):
        return
    asked, _ = events.numbers_in(at, "req_size")
    functions = events.texts_in(at, "func")
    for place, row in enumerate(at.tolist()[:EXAMPLES_PER_RULE]):
        message: Text = say(
            "out of memory: {function} asked for {asked:,} bytes",
            function=[*functions.words, "?"][functions.places[place]],
            asked=int(asked[place]),
        )
        yield MEMORY_EXHAUSTED.found(path, message, events.place(row)["line"])
