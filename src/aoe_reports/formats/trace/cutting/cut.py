"""A part of a timeline: every event that reaches into some time, as it stands in the file, and what names its process and thread.

The time is half open, and an event that reaches into it is kept whole. What is kept waits in temporary files: metadata may stand behind
what it names, and the other end of a flow anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, compress
from pathlib import Path
from zlib import crc32

from aoe_reports.formats.trace.cutting.texts import PAIRED, Placed, Walk, placed_of, plain_texts
from aoe_reports.formats.trace.events import collect_plain
from aoe_reports.formats.trace.json_list import NotAList
from aoe_reports.formats.trace.parser import strict_json
from aoe_reports.formats.trace.shape import Nothing, OddFileError
from aoe_reports.formats.trace.spool import Spool
from aoe_reports.formats.trace.walk import Metadata, Row, as_json, as_text
from aoe_reports.model.documents import Json, JsonObject, object_of, text_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say

FLOWS = frozenset("stf")
_FLOW_SPOOLS = 64
"""One in so many of the flows of a cut is held in memory at a time."""
_HELD_FLOW_BYTES = 128 << 10
_MAX_OPEN = 100_000
Thread = tuple[int | str | None, int | str | None]
"""pid and tid as they stand in the file."""


def _thread_of(event: JsonObject) -> Thread:
    """Process and thread; what is neither a whole number nor a text as its text."""
    pid, tid = (value if type(value) is int else as_text(value) for value in (event.get("pid"), event.get("tid")))
    return pid, tid


def _key_of(event: JsonObject, *names: str) -> str:
    """What joins the ends of a flow, or the beginning of something to its end."""
    return as_json([event.get(name) for name in names])


@dataclass(slots=True)
class _Part:
    """What is kept of one file."""

    path: Path
    start_ns: int
    end_ns: int
    body: Spool = field(default_factory=Spool)
    metadata: Spool = field(default_factory=Spool)
    paired: Spool = field(default_factory=Spool)
    """All that only begins or ends something: whether it is kept is known when the other one comes."""
    flows: defaultdict[int, Spool] = field(default_factory=lambda: defaultdict(lambda: Spool(_HELD_FLOW_BYTES)))
    threads: set[Thread] = field(default_factory=set)
    _kept: bytearray = field(default_factory=bytearray)
    """Whether each of `paired` is kept."""
    _open: defaultdict[object, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """(start, number in `paired`) of what has not ended yet, the innermost last."""
    _open_count: int = 0

    def take(self, event: Row | Metadata, text: bytes) -> None:
        """Keep an event if it reaches in, or names something."""
        if isinstance(event, Metadata):
            self.metadata.add([text])
        elif event.start_ns is None:
            return
        elif event.phase in PAIRED:
            self._take_paired(event.event, event.start_ns, text)
        elif self._holds(event.start_ns, event.start_ns + (event.duration_ns or 0)):
            if event.phase in FLOWS:  # the thread of one is that of a task
                spool = crc32(as_json(event.event["id"]).encode()) % _FLOW_SPOOLS if "id" in event.event else 0
                self.flows[spool].add([text])
            else:
                self.threads.add(_thread_of(event.event))
                self.body.add([text])

    def _holds(self, start: int, end: int) -> bool:
        return start < self.end_ns and (end > self.start_ns or start >= self.start_ns)

    def _take_paired(self, event: JsonObject, start: int, text: bytes) -> None:
        key = _thread_of(event) if event["ph"] in {"B", "E"} else _key_of(event, "cat", "id", "id2")
        number = self.paired.count
        self.paired.add([text])
        self._kept.append(0)
        if event["ph"] in {"B", "b"}:
            self._open[key].append((start, number))
            self._open_count += 1
            if self._open_count > _MAX_OPEN:
                what = say("more than {most:,} events begin that have not ended", most=_MAX_OPEN)
                raise ReadError(self.path, what, say("a timeline was expected"))
            return
        begun = self._open[key].pop() if self._open[key] else None
        self._open_count -= begun is not None
        if self._holds(start if begun is None else begun[0], start):
            self._kept[number] = 1
            if begun is not None:
                self._kept[begun[1]] = 1

    def finish(self) -> None:
        """Keep of what begins and what ends something what reaches in; what never ends lasts as long as the file."""
        for start, number in chain.from_iterable(self._open.values()):
            self._kept[number] = start < self.end_ns
        for text in compress(self.paired, self._kept):
            self.threads.add(_thread_of(strict_json(text)))
            self.body.add([text])
        self.paired.close()

    def close(self) -> None:
        for spool in (self.body, self.metadata, self.paired, *self.flows.values()):
            spool.close()


class Cut:
    """What reaches into some time of the files of one capture."""

    def __init__(self, start_ns: int, end_ns: int) -> None:
        """Nothing yet, of a time from `start_ns` to before `end_ns`."""
        self.start_ns, self.end_ns = start_ns, end_ns
        self._parts: list[_Part] = []
        self._flows = Spool()
        self._threads: set[Thread] = set()

    def read(self, path: Path, parts: int = 1) -> list[Placed]:
        """Take in one file, of one that is no whole list of events nothing; what is wrong with it.

        At most so many parts of it are looked at at a time.
        """
        plain = collect_plain(path, frozenset(), Nothing, parts)
        if plain is not None:
            with suppress(OddFileError):
                self._take(path, plain_texts(path, self.start_ns, self.end_ns))
                return placed_of(path, plain[0])
        walk = Walk(path)
        try:
            self._take(path, walk.events())
        except NotAList as error:
            return [(error.finding(path), None)]
        return walk.placed

    def _take(self, path: Path, events: Iterator[tuple[Row | Metadata, bytes]]) -> None:
        part = _Part(path, self.start_ns, self.end_ns)
        try:
            for event, text in events:
                part.take(event, text)
            part.finish()
        except BaseException:
            part.close()
            raise
        self._parts.append(part)

    @property
    def is_empty(self) -> bool:
        return not any(part.body.count for part in self._parts)

    def pair_flows(self) -> None:
        """Keep the flows that begin in it and lead to something in it, once all files are read.

        An arrow to something that is not there cannot be drawn, and importers take it for damage.
        """
        for number in range(_FLOW_SPOOLS):
            spools = [part.flows[number] for part in self._parts if number in part.flows]
            texts = list(chain.from_iterable(spools))
            events = [strict_json(text) for text in texts]
            keys = [_key_of(event, "cat", "name", "id") for event in events]
            begun = {key for event, key in zip(events, keys, strict=True) if event["ph"] == "s"}
            whole = begun & {key for event, key in zip(events, keys, strict=True) if event["ph"] != "s"}
            kept = [index for index, key in enumerate(keys) if key in whole]
            self._threads.update(_thread_of(events[index]) for index in kept)
            self._flows.add([texts[index] for index in kept])

    @property
    def processes(self) -> list[Json]:
        """The processes of what is kept, as the files name them, once flows are paired."""
        return sorted({pid for pid, _ in self._named}, key=str)

    @property
    def _named(self) -> set[Thread]:
        return self._threads.union(*(part.threads for part in self._parts))

    def metadata(self) -> Iterator[bytes]:
        """What names the processes and threads of what is kept, a line each; what several files say alike once."""
        said: set[bytes] = set()
        threads = {(as_text(pid), as_text(tid)) for pid, tid in self._named}
        processes = {pid for pid, _ in threads}
        for text in chain.from_iterable(part.metadata for part in self._parts):
            event = object_of(strict_json(text))
            pid, tid = as_text(event.get("pid")), as_text(event.get("tid"))
            of_thread = (text_of(event.get("name")) or "").startswith("thread_")
            if text not in said and ((pid, tid) in threads if of_thread else pid in processes):
                said.add(text)
                yield text + b"\n"

    def events(self) -> Iterator[bytes]:
        """Events as they stand in their files, a line each, many lines at a time; flows last."""
        for part in self._parts:
            yield from part.body.blocks()
        yield from self._flows.blocks()

    def close(self) -> None:
        for part in self._parts:
            part.close()
        self._flows.close()
