"""Trace events in one pass by the compiled reader (`native/`), for files of which it proves that every event is as exporters write them.

It parses parts of a file in threads of its own and hands on columns, whose memory Arrow takes as it is. Anything else is an OddFileError, as is
an installation without the library: then what was handed on is thrown away, and `quick` reads the file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from ctypes import c_int64, c_uint64, c_void_p
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from aoe_reports.formats.native import Buffer, buffer_at, library, texts_in, there_in
from aoe_reports.formats.table import NO_ID
from aoe_reports.formats.trace.cuts import parts_of
from aoe_reports.formats.trace.shape import (
    INTEGER_ARGS,
    NO_ID_COLUMNS,
    TEXT_ARGS,
    C,
    Collector,
    Names,
    OddFileError,
    TimelineLook,
    text_array,
    thread_key,
)
from aoe_reports.model.arrays.columns import Ints, bits, column_of, column_of_words, integers

_TEXTS = tuple(TEXT_ARGS)
_NUMBERS = ("connection_id", *(name for name in INTEGER_ARGS if name != "connection_id"))
"""The library expects connections first: flows tell them in another way."""
_BATCH, _TOTALS, _ODD = 1, 2, 3
_LETTERS = text_array([chr(code) for code in range(128)])
_NO_PLACES: Ints = np.zeros(0, dtype=np.int32)
Metadata = list[tuple[str | None, ...]]


class _Found(ctypes.Structure):
    """What `reading_next` finds."""

    _fields_ = (
        ("kind", c_uint64),
        ("part", c_uint64),
        ("rows", c_uint64),
        ("batch", c_void_p),
        ("first", c_int64),
        ("last", c_int64),
        ("stage_rows", c_uint64),
        ("phases", c_uint64 * 128),
    )


def collect_natively(
    path: Path, columns: frozenset[str], new: Callable[[], C], parts: int
) -> tuple[TimelineLook, list[C]]:
    """(what one pass tells of a file, a collector for each part of it, in their order); OddFileError where that is not proved."""
    reader = library()
    if reader is None:
        raise OddFileError
    try:
        ends = [part.end for part in parts_of(path, parts)]
        with path.open("rb") as file:
            source = _Source(reader, file.fileno(), ends)
            names = source.names_at_a_glance()
            for _ in range(2):
                collectors = [new() for _ in ends]
                look = source.read(columns, names, collectors)
                if look.names == names:
                    return look, collectors
                names = look.names
    except OSError as error:
        raise OddFileError from error
    raise OddFileError


def keep_natively(
    path: Path, within: tuple[int, int], new: Callable[[], S], parts: int
) -> tuple[TimelineLook, list[S]]:
    """(what one pass tells of a file, for each part of it the texts of its events that name something, begin or end something, or reach into a time).

    OddFileError where it is not proved that every event is as exporters write them; TooManyError where it is, and these are much of the file.
    """
    reader = library()
    if reader is None:
        raise OddFileError
    kept: list[S] = []
    try:
        ends = [part.end for part in parts_of(path, parts)]
        with path.open("rb") as file:
            kept += [new() for _ in ends]
            most = max(path.stat().st_size // _MAX_KEPT, _ALWAYS_KEPT_BYTES)
            return _Source(reader, file.fileno(), ends).keep(within, kept, most), kept
    except BaseException as error:
        for one in kept:
            one.close()
        if isinstance(error, OSError):
            raise OddFileError from error
        raise


_MAX_KEPT, _ALWAYS_KEPT_BYTES = 8, 64 << 20
"""An eighth of a file, or so many bytes, are picked up and looked at again: of more all are looked at once."""


class TooManyError(Exception):
    """Much of a file, in which nothing is odd, is asked for."""


class Texts(Protocol):
    """What keeps the texts of events."""

    def add(self, texts: Sequence[bytes]) -> None: ...

    def close(self) -> None: ...


S = TypeVar("S", bound=Texts)


@dataclass(frozen=True, slots=True)
class _Source:
    """An open file, and where its parts end."""

    reader: ctypes.CDLL
    descriptor: int
    ends: Sequence[int]

    @property
    def _bounds(self) -> Any:
        return (c_uint64 * (len(self.ends) + 1))(0, *self.ends)

    def names_at_a_glance(self) -> Names:
        """What processes and threads are called: whoever reads the events knows for certain, and compares."""
        found = (c_void_p * len(self.ends))()
        self.reader.timeline_glance(self.descriptor, self._bounds, len(self.ends), found)
        return _names([event for batch in found for event in _Memory(self.reader, batch).metadata(_Layout(0, 0, 0))])

    def read(self, columns: frozenset[str], names: Names, collectors: Sequence[C]) -> TimelineLook:
        """Hand the events of each part to its collector; OddFileError where one is not as exporters write it."""
        wanted = _Wanted.of(columns)
        events = [_Events(wanted, names) for _ in self.ends]
        totals = []
        with ExitStack() as threads:
            takers = [threads.enter_context(_Taker(*one)) for one in zip(events, collectors, strict=True)]
            for part, found in self._found(wanted):
                if isinstance(found, _Memory):
                    takers[part].take(found)
                else:
                    totals.append(found)
            for taker in takers:
                taker.wait()
        return _look_of(totals, _names([event for one in events for event in one.metadata]))

    def keep(self, within: tuple[int, int], kept: Sequence[Texts], most_bytes: int) -> TimelineLook:
        """Hand the texts of the events of each part that are asked for to those who keep them; TooManyError, at the end, for too many."""
        totals = []
        for part, found in self._found(_Wanted.of(frozenset({"args"})), within):
            if isinstance(found, _Memory):
                texts = found.texts(_ARGS).cast(pa.binary())
                most_bytes -= texts.nbytes
                if most_bytes >= 0:
                    kept[part].add(texts.to_pylist())
            else:
                totals.append(found)
        if most_bytes < 0:
            raise TooManyError
        return _look_of(totals, Names())

    def _found(self, wanted: _Wanted, within: tuple[int, int] | None = None) -> Iterator[tuple[int, _Memory | _Found]]:
        """(number of a part, some of its events or what it tells as a whole), as they come."""
        keys, count = wanted.keys, len(self.ends)
        reading = self.reader.reading_open(
            self.descriptor, self._bounds, count, keys, len(keys), len(wanted.texts), len(wanted.numbers),
            "flow_id" in wanted.columns, "args" in wanted.columns, None if within is None else (c_int64 * 2)(*within),
        )  # fmt: skip
        try:
            while True:
                found = _Found()
                self.reader.reading_next(reading, ctypes.byref(found))
                if found.kind == _ODD:
                    raise OddFileError
                if not found.kind:
                    return
                yield found.part, _Memory(self.reader, found.batch, found.rows) if found.kind == _BATCH else found
        finally:
            self.reader.reading_close(reading)


class _Taker:
    """Hands the batches of one part to its collector, in a thread of their own: while numpy works at those of one part, those of another are taken in."""

    def __init__(self, events: _Events, collector: Collector) -> None:
        self._events, self._collector = events, collector
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def take(self, memory: _Memory) -> None:
        """Take in a batch when the one before it is; what that raised is raised here."""
        self.wait()
        self._last = self._thread.submit(self._take, memory)

    def wait(self) -> None:
        if self._last is not None:
            self._last.result()

    def _take(self, memory: _Memory) -> None:
        batch = self._events.of(memory)
        if batch.num_rows:
            self._collector.add(batch)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is asked of a file."""

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    numbers: tuple[str, ...]

    @staticmethod
    def of(columns: frozenset[str]) -> _Wanted:
        """Of some columns those of `args`; with connections, whoever asks, as the library expects them."""
        return _Wanted(
            tuple(sorted(columns)),
            tuple(name for name in _TEXTS if name in columns),
            tuple(name for name in _NUMBERS if name in columns or name == _NUMBERS[0]),
        )

    @property
    def keys(self) -> bytes:
        """Lines of (number of a column, place among its keys, key)."""
        every = [*(TEXT_ARGS[name] for name in self.texts), *(INTEGER_ARGS[name] for name in self.numbers)]
        lines = [f"{column} {rank} {key}" for column, some in enumerate(every) for rank, key in enumerate(some)]
        return "\n".join(lines).encode()

    @property
    def layout(self) -> _Layout:
        """Where the columns of a batch are among its buffers."""
        words = len(_CODED) + len(self.texts)
        return _Layout(words, len(self.numbers), words)


_CODED = ("pid", "tid", "category", "name")
"""What comes as numbers of words, before the texts of `args`."""
_PHASES, _STARTS, _DURATIONS, _STAGE_ROWS, _FLOW_IDS, _FLOW_NUMBERS, _ARGS, _THREADS, _PAIRS, _ANEW, _FIRST_WORDS = (
    range(11)
)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How many columns of words and numbers a batch has, and how many dictionaries, whose new words follow."""

    words: int
    numbers: int
    dictionaries: int

    @property
    def first_number(self) -> int:
        """Which buffer is the first of `numbers`."""
        return _FIRST_WORDS + self.words

    @property
    def first_fresh(self) -> int:
        """Which buffer has the new words of the first dictionary."""
        return self.first_number + self.numbers

    @property
    def first_metadata(self) -> int:
        """Which buffer is the first of what metadata events say."""
        return self.first_fresh + self.dictionaries


_MAX_BUFFERS = 64


class _Memory:
    """A batch in the memory of the library, which is freed when nothing is left that looks at it."""

    def __init__(self, reader: ctypes.CDLL, batch: int | None, rows: int = 0) -> None:
        self._free, self._batch, self.rows = reader.batch_free, batch, rows
        self._buffers = (Buffer * _MAX_BUFFERS)()
        reader.batch_buffers(batch, self._buffers, _MAX_BUFFERS)

    def __del__(self) -> None:
        self._free(self._batch)

    def has(self, place: int) -> int:
        """How many values a column has."""
        return int(self._buffers[place].rows)

    def is_marked(self, place: int) -> bool:
        """Whether a column of plain numbers is marked."""
        return bool(self._buffers[place].nulls)

    def column(self, place: int, kind: pa.DataType) -> pa.Array:
        """A column of numbers or bits."""
        buffer = self._buffers[place]
        rows = self.rows if kind == pa.bool_() else buffer.rows
        return pa.Array.from_buffers(kind, rows, [there_in(buffer, self), buffer_at(buffer.values, buffer.bytes, self)])

    def texts(self, place: int) -> pa.Array:
        return texts_in(self._buffers[place], self)

    def plain(self, place: int, kind: Any) -> Any:
        """A column of numbers without null, not copied."""
        buffer = self._buffers[place]
        return np.frombuffer(buffer_at(buffer.values, buffer.bytes, self), dtype=kind)

    def metadata(self, layout: _Layout) -> Metadata:
        """What metadata events say: (what, pid, tid, name)."""
        first = layout.first_metadata
        return list(zip(*(self.texts(first + place).to_pylist() for place in range(4)), strict=True))


@dataclass(slots=True)
class _Events:
    """Turns batches of one part into events of the frame."""

    wanted: _Wanted
    names: Names
    metadata: Metadata = field(default_factory=list)
    _words: list[pa.Array] = field(init=False)
    """Of each dictionary the words so far."""
    _process_of: Ints = field(default_factory=lambda: _NO_PLACES)
    """The place of its name by the number of a pid; -1 for none."""
    _thread_of: Ints = field(default_factory=lambda: _NO_PLACES)
    """The place of its name by the number of a pair of pid and tid; -1 for none."""
    _places_of_processes: dict[str, int] = field(init=False)
    _places_of_threads: dict[str, int] = field(init=False)
    _names_of_processes: pa.Array = field(init=False)
    _names_of_threads: pa.Array = field(init=False)

    def __post_init__(self) -> None:
        self._words = [text_array([]) for _ in range(self.wanted.layout.dictionaries)]
        self._places_of_processes = {key: place for place, key in enumerate(self.names.processes)}
        self._places_of_threads = {key: place for place, key in enumerate(self.names.threads)}
        self._names_of_processes = text_array(list(self.names.processes.values()))
        self._names_of_threads = text_array(list(self.names.threads.values()))

    def of(self, batch: _Memory) -> pa.RecordBatch:
        """The events of a batch."""
        layout = self.wanted.layout
        self._learn(batch, layout)
        self.metadata += batch.metadata(layout)
        words = (*_CODED, *self.wanted.texts)
        made: dict[str, Callable[[], pa.Array]] = {
            "ph": lambda: _coded(batch.plain(_PHASES, np.uint8).astype(np.int32), _LETTERS),
            "start_ns": lambda: batch.column(_STARTS, pa.int64()),
            "duration_ns": lambda: batch.column(_DURATIONS, pa.int64()),
            "stage_row": lambda: batch.column(_STAGE_ROWS, pa.bool_()),
            "flow_id": lambda: (
                batch.column(_FLOW_NUMBERS, pa.int64()) if batch.has(_FLOW_NUMBERS) else batch.texts(_FLOW_IDS)
            ),
            "args": lambda: batch.texts(_ARGS),
            "process": lambda: self._processes(batch),
            "thread": lambda: _coded(self._thread_of[batch.plain(_THREADS, np.int32)], self._names_of_threads),
            **{name: partial(self._word, batch, place) for place, name in enumerate(words)},
            **{
                name: partial(_number, batch, name, layout.first_number + place)
                for place, name in enumerate(self.wanted.numbers)
            },
        }
        columns = [made[name]() for name in self.wanted.columns]
        return pa.RecordBatch.from_arrays(columns, names=list(self.wanted.columns))

    def _learn(self, batch: _Memory, layout: _Layout) -> None:
        """Take in the words that are new in a batch."""
        anew = batch.plain(_ANEW, np.bool_).tolist()
        for place, begins in enumerate(anew):
            if begins:
                self._words[place] = text_array([])
            if batch.has(layout.first_fresh + place):  # joined, and so copied: the batch may go
                self._words[place] = pa.concat_arrays([self._words[place], batch.texts(layout.first_fresh + place)])
        pids, tids = self._words[0], self._words[1]
        if anew[0]:
            self._process_of = _NO_PLACES
        fresh = pids.slice(len(self._process_of)).to_pylist()
        self._process_of = _extended(self._process_of, [self._places_of_processes.get(pid, -1) for pid in fresh])
        if batch.is_marked(_PAIRS):
            self._thread_of = _NO_PLACES
        pairs = batch.plain(_PAIRS, np.int32).reshape(-1, 2).tolist()
        keys = [thread_key(_word_of(pids, pid), _word_of(tids, tid)) for pid, tid in pairs]
        self._thread_of = _extended(self._thread_of, [self._places_of_threads.get(key, -1) for key in keys])

    def _word(self, batch: _Memory, place: int) -> pa.Array:
        return pa.DictionaryArray.from_arrays(batch.column(_FIRST_WORDS + place, pa.int32()), self._words[place])

    def _processes(self, batch: _Memory) -> pa.Array:
        pids = batch.column(_FIRST_WORDS, pa.int32())
        none = self._places_of_processes.get("", -1)
        places = np.append(self._process_of, np.int32(none))[batch.plain(_FIRST_WORDS, np.int32)]
        if pids.null_count:
            places[~bits(pa.chunked_array([pids.is_valid()]))] = none
        return _coded(places, self._names_of_processes)


def _look_of(totals: Sequence[_Found], names: Names) -> TimelineLook:
    phases = np.sum([np.asarray(total.phases, dtype=np.int64) for total in totals], axis=0)
    complete = [total for total in totals if total.phases[ord("X")]]
    return TimelineLook(
        events=int(phases.sum()),
        phases={chr(code): int(phases[code]) for code in np.flatnonzero(phases).tolist()},
        start_ns=min((one.first for one in complete), default=None),
        end_ns=max((one.last for one in complete), default=None),
        stage_rows=sum(total.stage_rows for total in totals),
        names=names,
    )


def _names(metadata: Metadata) -> Names:
    names = Names()
    for event in metadata:
        names.learn(*event)
    return names


def _word_of(words: pa.Array, number: int) -> str | None:
    return words[number].as_py() if number >= 0 else None


def _extended(places: Ints, more: Sequence[int]) -> Ints:
    return np.concatenate([places, np.asarray(more, dtype=np.int32)]) if more else places


def _coded(places: Ints, words: pa.Array) -> pa.Array:
    """Words by their places, as a column; null for -1."""
    return column_of_words(places, places >= 0, words).chunk(0)


def _number(batch: _Memory, name: str, place: int) -> pa.Array:
    """A number of `args`; what stands for none is none."""
    found = batch.column(place, pa.int64())
    if name not in NO_ID_COLUMNS:
        return found
    values, there = integers(pa.chunked_array([found]))
    return column_of(values, there & (values != NO_ID)).chunk(0)
