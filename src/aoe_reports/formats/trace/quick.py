"""Trace events in one pass, for files in which every event is as exporters write them; parts of a file at the same time.

duckdb parses in threads of its own, numpy judges batch by batch and hands events on. Anything out of the ordinary is an OddFileError: then what was
handed on is thrown away, and `walk` reads the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Semaphore
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.ascend.tables.timelines import FLOW_CATEGORY
from aoe_reports.formats.table import NO_ID
from aoe_reports.formats.trace.cuts import parts_of
from aoe_reports.formats.trace.parts import connected, opened_parts
from aoe_reports.formats.trace.scan import Glance, glance_at
from aoe_reports.formats.trace.shape import (
    EXACT_US,
    INTEGER_ARGS,
    LATEST_NS,
    LONGEST_US,
    NO_ID_COLUMNS,
    PACKED_FLOW,
    RAW_FLOW,
    TEXT_ARGS,
    THREE_DECIMALS_US,
    C,
    Names,
    OddFileError,
    TimelineLook,
    is_stage_row,
    text_array,
    thread_key,
)
from aoe_reports.formats.trace.walk import connection_of_flow, number_of
from aoe_reports.model.arrays.columns import Ints, Mask, WordMap, codes, distinct, keep_where, texts_of, whole_numbers

BATCH_ROWS = 1 << 15
MAX_EVENT_BYTES = 2 << 20
"""duckdb keeps buffers of twice this size."""
_SOURCES = {
    "ph": "ph", "name": "name", "ts": "ts", "dur": "dur", "pid": "pid", "tid": "tid", "category": "cat", "flow_id": "id",
}  # fmt: skip
_BARE = {"dur": "DOUBLE", "pid": "BIGINT", "tid": "BIGINT"}
"""What a seventh less time is taken for where no text has to be made of it."""
_ARGS = {"label": ("name",), **TEXT_ARGS, **INTEGER_ARGS}
_ALWAYS = frozenset({*_SOURCES, "label"})
"""What is read whoever asks: a key that stands twice is only seen in a column that is read."""
_MAX_DIGITS, _DECIMALS = 19, 3
_ZERO, _NINE, _HIGHEST_DIGIT = np.uint8(ord("0")), np.uint8(ord("9")), np.uint8(9)
_CODED = ("pid", "tid", "category", *TEXT_ARGS)
"""What holds few different words; names are many: each flow has its own."""
_MAYBE_VALUE = np.asarray([0 < code <= ord("9") or chr(code) in "[{tfnNiI" for code in range(256)])
"""By the first byte of a text: whether it may be a number, a list, an object, true, false, null or none of JSON's numbers."""
_MAX_WORDS = 1 << 14
_LETTERS = text_array([chr(code) for code in range(128)])


def collect_quickly(
    path: Path, columns: frozenset[str], new: Callable[[], C], parts: int
) -> tuple[TimelineLook, list[C]]:
    """(what one pass tells of a file, a collector for each part of it, in their order); OddFileError where it is not plain."""
    glance = glance_at(path)
    for _ in range(2):
        collectors: list[C] = []
        looks = _pass(path, columns, new, glance, parts, collectors)
        look = _all_of(looks)
        if look.names == glance.names:
            return look, collectors
        glance.names = look.names
    raise OddFileError


def look_quickly(path: Path) -> TimelineLook:
    """What `look_at_timeline` returns for a file in which every event is plain; OddFileError for any other."""
    return collect_quickly(path, frozenset(), _Nothing, 1)[0]


class _Nothing:
    """Collects nothing."""

    def add(self, batch: pa.RecordBatch) -> None:
        pass


def stream_quickly(path: Path, names: Names, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The frame of a file that `look_quickly` has found plain, a batch at a time."""
    judge = _Batches(frozenset(schema.names), Glance(names, bare_numbers=False))
    with (
        opened_parts(parts_of(path, 1)) as (source,),
        ThreadPoolExecutor(1) as threads,
        closing(_read([judge.query.format(source=source)], threads)) as batches,
    ):
        for _, batch in batches:
            yield judge.judged(batch).select(schema.names).cast(schema)


def _pass(
    path: Path, columns: frozenset[str], new: Callable[[], C], glance: Glance, parts: int, collectors: list[C]
) -> list[_Look]:
    cut = parts_of(path, parts)
    collectors += [new() for _ in cut]
    judges = [_Batches(columns, glance) for _ in cut]
    with opened_parts(cut) as sources, ThreadPoolExecutor(len(cut)) as threads:
        queries = [judge.query.format(source=source) for judge, source in zip(judges, sources, strict=True)]
        with closing(_read(queries, threads)) as found:
            for place, batch in found:
                collectors[place].add(judges[place].judged(batch))
    return [judge.look for judge in judges]


def _read(queries: list[str], threads: ThreadPoolExecutor) -> Generator[tuple[int, pa.RecordBatch]]:
    """(number of a query, some of its rows), as they come: each query has a thread, and only the caller's runs Python for long.

    Threads that judged what they read would take turns, which takes a third more CPU time.
    """
    ready: SimpleQueue[tuple[int, pa.RecordBatch | None]] = SimpleQueue()
    room, stopped = Semaphore(len(queries)), Event()

    def read(place: int, query: str) -> None:
        try:
            with connected() as connection:
                for batch in connection.sql(query).to_arrow_reader(BATCH_ROWS):
                    room.acquire()
                    if stopped.is_set():
                        break
                    ready.put((place, batch))
        finally:
            ready.put((place, None))

    reading = [threads.submit(read, place, query) for place, query in enumerate(queries)]
    try:
        for _ in queries:
            while (found := ready.get())[1] is not None:
                yield found
                room.release()
            reading[found[0]].result()
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError) as error:
        raise OddFileError from error
    finally:
        stopped.set()
        room.release(len(queries))


@dataclass(slots=True)
class _Look:
    """What some events tell of the file."""

    phases: Ints = field(default_factory=lambda: np.zeros(128, dtype=np.int64))
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    stage_rows: int = 0
    metadata: list[tuple[str | None, ...]] = field(default_factory=list)


def _all_of(looks: list[_Look]) -> TimelineLook:
    names = Names()
    for look in looks:
        for event in look.metadata:
            names.learn(*event)
    phases = sum((look.phases for look in looks), np.zeros(128, dtype=np.int64))
    return TimelineLook(
        events=int(phases.sum()),
        phases={chr(code): int(phases[code]) for code in np.flatnonzero(phases).tolist()},
        start_ns=min((start for look in looks for start in look.starts), default=None),
        end_ns=max((end for look in looks for end in look.ends), default=None),
        stage_rows=sum(look.stage_rows for look in looks),
        names=names,
    )


class _Batches:
    """Turns what duckdb hands out into events of the frame, and takes down what they tell of the file."""

    def __init__(self, columns: frozenset[str], glance: Glance) -> None:
        names = glance.names
        self._columns = columns
        self._types = dict.fromkeys(_SOURCES.values(), "VARCHAR") | (_BARE if glance.bare_numbers else {})
        self._wanted = columns | _ALWAYS
        self._names_of_processes = text_array(list(names.processes.values()))
        self._names_of_threads = text_array(list(names.threads.values()))
        self._places_of_threads = {key: place for place, key in enumerate(names.threads)}
        self._dictionaries = {column: _Dictionary() for column in _CODED}
        processes = {key: place for place, key in enumerate(names.processes)}
        self._process_of = WordMap(lambda pid: processes.get(pid, -1), processes.get("", -1), np.int32)
        self._is_flow = WordMap(FLOW_CATEGORY.__eq__)
        self.look = _Look()

    @property
    def query(self) -> str:
        """What duckdb is asked for."""
        wanted = {name: keys for name, keys in _ARGS.items() if name in self._wanted}
        keys = [*chain.from_iterable(wanted.values())]
        if "args" in self._wanted or len({key.lower() for key in keys}) < len(keys):
            places = {key: f"found[{place}]" for place, key in enumerate(keys, 1)}
            paths = ", ".join(f"'$.\"{key}\"'" for key in keys)
            found, args = f"*, json_extract_string(args, [{paths}]) AS found, ascii(args) AS first_of_args", "JSON"
        else:  # in four fifths of the time; keys that differ in their case alone are one to duckdb
            places = {key: f'args."{key}"' for key in keys}
            members = ", ".join(f'"{key}" VARCHAR' for key in keys)
            found, args = "*", f"STRUCT({members})"
        chosen = {name: f"coalesce({', '.join(map(places.__getitem__, keys))})" for name, keys in wanted.items()}
        chosen |= _SOURCES
        if args == "JSON":
            chosen["first_of_args"] = "first_of_args"  # of a STRUCT duckdb itself refuses what is not an object
        if "args" in self._wanted:
            chosen["args"] = "CAST(args AS VARCHAR)"
        types = ", ".join(f"{source}: '{kind}'" for source, kind in self._types.items())
        return (
            f"SELECT {', '.join(f'{source} AS {name}' for name, source in chosen.items())} FROM (SELECT {found} "  # noqa: S608 -- of constants
            "FROM read_json('{source}', format='array', compression='uncompressed', "
            f"maximum_object_size={MAX_EVENT_BYTES}, hive_partitioning=false, filename=false, columns={{{{{types}, args: '{args}'}}}}))"
        )

    def judged(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The events of a batch without metadata; OddFileError where one is not as exporters write it."""
        if "first_of_args" in batch.schema.names and any(
            code not in {None, ord("{")} for code in batch["first_of_args"].unique().to_pylist()
        ):
            raise OddFileError
        phases = _phases(batch.column("ph"))
        self.look.phases += np.bincount(phases, minlength=128)
        metadata = phases == ord("M")
        if metadata.any():
            named = batch.filter(keep_where(metadata)).select(["name", "pid", "tid", "label"])
            self.look.metadata += [
                tuple(None if value is None else str(value) for value in row.values()) for row in named.to_pylist()
            ]
            batch, phases = batch.filter(keep_where(~metadata)), phases[~metadata]
        complete = phases == ord("X")
        start, timed = nanoseconds_of(batch.column("ts"))
        duration, lasting = _durations(batch.column("dur"))
        words = {
            column: pa.chunked_array([dictionary.coded(batch.column(column))])
            for column, dictionary in self._dictionaries.items()
            if column in self._wanted
        }
        name = batch.column("name")
        if not ((timed & lasting & _valid(name)) | ~complete).all():
            raise OddFileError
        first = _first_bytes(name)
        _refuse_values(name, first)
        stage = self._stage_rows(name, complete & (first == ord("S")))
        if complete.any():
            self.look.starts.append(int(start[complete].min()))
            self.look.ends.append(int((start + duration)[complete].max()))
        made: dict[str, Callable[[], pa.Array]] = {
            "ph": lambda: pa.DictionaryArray.from_arrays(integer_array_of(phases.astype(np.int32)), _LETTERS),
            "start_ns": lambda: _numbers(start, timed),
            "duration_ns": lambda: _numbers(duration, lasting),
            "stage_row": lambda: keep_where(stage),
            "process": lambda: _named(self._process_of.by(words["pid"]), self._names_of_processes),
            "thread": lambda: self._threads(codes(words["pid"]), codes(words["tid"])),
            "connection_id": lambda: _connections(batch, complete, self._is_flow.by(words["category"])),
            **{name: partial(_ids, batch, name) for name in INTEGER_ARGS if name != "connection_id"},
        }
        columns = {
            column: made[column]()
            if column in made
            else words[column].chunk(0)
            if column in words
            else batch.column(column)
            for column in sorted(self._columns)
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _stage_rows(self, name: pa.Array, maybe: Mask) -> Mask:
        stage = np.zeros(len(name), dtype=bool)
        if maybe.any():
            numbers, words = codes(pa.chunked_array([name.filter(keep_where(maybe))]))
            stage[maybe] = np.asarray([False, *map(is_stage_row, words)])[numbers]
        self.look.stage_rows += int(stage.sum())
        return stage

    def _threads(self, pids: tuple[Ints, Sequence[str]], tids: tuple[Ints, Sequence[str]]) -> pa.Array:
        (of_process, processes), (of_thread, threads) = pids, tids
        width = len(threads) + 1
        pairs = integer_array_of(of_process.astype(np.int64) * width + of_thread).dictionary_encode()
        numbers = np.frombuffer(pairs.indices.buffers()[1], dtype=np.int32)[: len(pairs)]
        keys = [
            thread_key(_word(processes, pair // width), _word(threads, pair % width))
            for pair in pairs.dictionary.to_pylist()
        ]
        found: Ints = np.asarray([self._places_of_threads.get(key, -1) for key in keys], dtype=np.int32)
        return _named(found[numbers], self._names_of_threads)


def _word(words: Sequence[str], number: int) -> str | None:
    return words[number - 1] if number else None


class _Dictionary:
    """Numbers the words of a column alike in all batches, until there are too many: then from the start. Numbers are words, too."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._words = text_array([])

    def coded(self, column: pa.Array) -> pa.DictionaryArray:
        """A column of texts or whole numbers as numbers of words; null stays null."""
        found = column.dictionary_encode()
        words = [str(word) for word in found.dictionary.to_pylist()]
        fresh = [word for word in words if word not in self._places]
        if len(self._places) + len(fresh) > _MAX_WORDS:
            self._places.clear()
            self._words, fresh = text_array([]), words
        if fresh:
            self._places |= {word: place for place, word in enumerate(fresh, len(self._places))}
            self._words = pa.concat_arrays([self._words, text_array(fresh)])
        if not words:
            return pa.DictionaryArray.from_arrays(found.indices, self._words)
        places = np.asarray([self._places[word] for word in words], dtype=np.int32)
        validity, indices = found.indices.buffers()
        numbers = places[np.frombuffer(indices, dtype=np.int32)[: len(column)]]
        made = pa.Array.from_buffers(pa.int32(), len(column), [validity, pa.py_buffer(numbers)])
        return pa.DictionaryArray.from_arrays(made, self._words)


def _phases(column: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The letters of phases; OddFileError for what is none."""
    offsets, data = texts_of(column)
    if column.null_count or len(column) != offsets[-1] - offsets[0] or (np.diff(offsets) != 1).any():
        raise OddFileError
    letters = data[offsets[0] : offsets[-1]]
    folded = letters | 32
    if ((folded < ord("a")) | (folded > ord("z"))).any():
        raise OddFileError
    return np.asarray(letters)


def nanoseconds_of(column: pa.Array) -> tuple[Ints, Mask]:
    """Microseconds as texts in whole nanoseconds, and where there is one; OddFileError for what may not be exact."""
    offsets, data = texts_of(column)
    there = _valid(column)
    lengths = np.diff(offsets)
    alike = len(column) > 0 and there.all() and lengths.min() == lengths.max()
    found = lengths[:1].tolist() if alike else distinct(lengths[there]).tolist()
    if not all(0 < length <= _MAX_DIGITS + 1 for length in found):
        raise OddFileError
    if alike:  # as they stand
        return _exact(data[offsets[0] : offsets[-1]].reshape(len(column), found[0])), there
    values = np.zeros(len(column), dtype=np.int64)
    for length in found:
        rows = np.flatnonzero(there & (lengths == length))
        values[rows] = _exact(data[offsets[:-1][rows][:, None] + np.arange(length)])
    return values, there


def _exact(texts: Any) -> Ints:
    """Texts of one length, a row each, as nanoseconds."""
    length = texts.shape[1]
    first = texts[0].tobytes().rfind(b".")
    if first >= 0 and (texts[:, first] == ord(".")).all():  # nearly always; another point would be no digit
        return _exact_with(texts, length - 1 - first)
    points = texts == ord(".")
    place = points.argmax(axis=1)
    behind = np.where(points[np.arange(len(texts)), place], length - 1 - place, 0)
    found = np.zeros(len(texts), dtype=np.int64)
    for count in distinct(behind).tolist():
        found[behind == count] = _exact_with(texts[behind == count], count)
    return found


def _exact_with(texts: Any, decimals: int) -> Ints:
    """Texts with so many decimals as nanoseconds."""
    columns = [*np.ascontiguousarray(texts.T)]
    if decimals:
        del columns[-1 - decimals]
    digits = np.stack(columns) - _ZERO
    if not decimals < len(digits) <= _MAX_DIGITS or (digits > _HIGHEST_DIGIT).any():
        raise OddFileError
    value = np.zeros(len(texts), dtype=np.uint64)
    for digit in digits:
        value *= np.uint64(10)
        value += digit
    return _scaled(value, decimals)


def _scaled(value: Any, decimals: int) -> Ints:
    """Microseconds without their point as nanoseconds, half of one rounded up; OddFileError for what a float64 may have changed."""
    if decimals <= _DECIMALS:
        limit, ns = LATEST_NS // 10 ** (_DECIMALS - decimals), value * np.uint64(10 ** (_DECIMALS - decimals))
        if (value >= limit).any():
            raise OddFileError
    else:
        unit = 10 ** (decimals - _DECIMALS)
        ns = (value + np.uint64(unit // 2)) // np.uint64(unit)
    exact = ns < EXACT_US * 1000
    if decimals == _DECIMALS:
        exact |= (ns >= THREE_DECIMALS_US * 1000) & (ns < LATEST_NS)
    if decimals and not exact.all():
        raise OddFileError
    return np.asarray(ns.astype(np.int64))


def _durations(column: pa.Array) -> tuple[Ints, Mask]:
    """Microseconds as whole nanoseconds, and where there is one; OddFileError for what is none."""
    there = _valid(column)
    try:
        read = pc.cast(column, pa.float64())
    except pa.ArrowInvalid as error:
        raise OddFileError from error
    us = np.frombuffer(read.buffers()[1], dtype=np.float64)[read.offset : read.offset + len(read)]
    if not ((us >= 0) & (us < LONGEST_US))[there].all():
        raise OddFileError
    return np.rint(np.where(there, us, 0) * 1000).astype(np.int64), there


def _refuse_values(name: pa.Array, first: Any) -> None:
    """OddFileError where a name, which begins so, may have been something else than a text in the file."""
    maybe = _MAYBE_VALUE[first]
    if not maybe.any():
        return
    for word in pc.unique(name.filter(keep_where(maybe))).to_pylist():
        try:
            json.loads(word)
        except ValueError:
            continue
        raise OddFileError


def _ids(batch: pa.RecordBatch, name: str) -> pa.Array:
    """A number of `args`; what stands for none is none."""
    number, there = whole_numbers(batch.column(name), np.ones(len(batch), dtype=bool), number_of)
    return _numbers(number, there & (number != NO_ID) if name in NO_ID_COLUMNS else there)


def _connections(batch: pa.RecordBatch, complete: Mask, of_flows: Mask) -> pa.Array:
    """What joins launches and what they launched."""
    number, there = whole_numbers(batch.column("connection_id"), complete, number_of)
    flows = ~complete & of_flows
    if flows.any():
        flow, known = whole_numbers(batch.column("flow_id"), flows, _below_zero)
        high, context = flow >> 32, flow & (RAW_FLOW - 1)
        known &= (flow < PACKED_FLOW) | (high % 2**16 != 0)
        joined = np.where(flow < 0, ~flow, np.where(flow < RAW_FLOW, flow, high + (context == RAW_FLOW - 1)))
        number, there = np.where(known, joined, number), there | known
    return _numbers(number, there)


def _below_zero(text: str) -> int | None:
    """The connection that a long id of a flow tells, as -1, -2, ... for 0, 1, ...: what is above zero is an id."""
    connection = connection_of_flow(text)
    return None if connection is None else ~connection


def _named(places: Ints, names: pa.Array) -> pa.Array:
    """The names at some places, as a column; -1 for none."""
    there = places >= 0
    validity = None if there.all() else keep_where(there).buffers()[1]
    indices = pa.Array.from_buffers(pa.int32(), len(places), [validity, pa.py_buffer(np.where(there, places, 0))])
    return pa.DictionaryArray.from_arrays(indices, names)


def _numbers(values: Ints, there: Mask) -> pa.Array:
    validity = None if there.all() else keep_where(there).buffers()[1]
    return pa.Array.from_buffers(pa.int64(), len(values), [validity, pa.py_buffer(np.ascontiguousarray(values))])


def integer_array_of(values: Ints) -> pa.Array:
    kind = pa.int32() if values.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _first_bytes(column: pa.Array) -> Any:
    """The first byte of each text; 0 for none."""
    offsets, data = texts_of(column)
    filled = (np.diff(offsets) > 0) & _valid(column)
    first = np.zeros(len(column), dtype=np.uint8)
    first[filled] = data[offsets[:-1][filled]]
    return first


def _valid(column: pa.Array) -> Mask:
    if column.null_count == 0:
        return np.ones(len(column), dtype=bool)
    validity = np.frombuffer(column.buffers()[0], dtype=np.uint8)
    return np.unpackbits(validity, count=column.offset + len(column), bitorder="little")[column.offset :].astype(bool)
