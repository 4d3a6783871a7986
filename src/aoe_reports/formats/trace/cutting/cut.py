"""A part of a timeline: every event that reaches into some time, as it stands in the file, and what names its process and thread.

The time is half open, and an event that reaches into it is kept whole. What is kept waits in temporary files: metadata may stand behind
what it names, and the other end of a flow anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, compress
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from aoe_reports.formats.trace.cutting.texts import TextReading, Window, event_of, read_texts, times_of
from aoe_reports.formats.trace.parser import strict_json
from aoe_reports.formats.trace.spool import Spool, Text
from aoe_reports.formats.trace.walk import as_text
from aoe_reports.model.documents import Json, object_of, text_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say

FLOWS = frozenset("stf")
_UNSURE_US = 4.0
"""More than what goes missing of a sum of two times in a float64."""
_FLOW_SPOOLS = 64
"""One in so many of the flows of a cut is held in memory at a time."""
_HELD_FLOW_BYTES = 128 << 10
_MAX_OPEN = 100_000
Thread = tuple[int | str | None, int | str | None]
"""pid and tid as they stand in the file."""


class _Joint(msgspec.Struct, gc=False):
    """What joins the ends of a flow, or the beginning of something to its end."""

    ph: str
    cat: msgspec.Raw = msgspec.Raw()
    name: msgspec.Raw = msgspec.Raw()
    id: msgspec.Raw = msgspec.Raw()
    id2: msgspec.Raw = msgspec.Raw()
    pid: Any = None
    tid: Any = None

    @property
    def thread(self) -> Thread:
        """Process and thread; what is neither a whole number nor a text as its text."""
        pid, tid = (one if type(one) is int else as_text(one) for one in (self.pid, self.tid))
        return pid, tid


_JOINT = msgspec.json.Decoder(_Joint)


def _flow_key(joint: _Joint) -> bytes:
    return b"\0".join((joint.cat, joint.name, joint.id))


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

    def take(self, window: Window) -> None:
        """Keep what reaches in, and what names something."""
        named = [window.texts[place] for place in window.metadata]
        for text in named:
            event_of(text)  # is read again when it is handed on
        self.metadata.add(named)
        for place in window.paired:
            self._take_paired(window.texts[place], window.starts_us[place])
        starts = np.asarray(window.starts_us, dtype=np.float64)
        ends = np.asarray(window.ends_us, dtype=np.float64)
        low, high = self.start_ns / 1000, self.end_ns / 1000
        near = (starts <= high + _UNSURE_US) & (ends >= low - _UNSURE_US)
        near[window.paired] = False
        sure = (starts < high - _UNSURE_US) & (ends > low + _UNSURE_US)
        kept: list[Text] = []
        flows: defaultdict[int, list[Text]] = defaultdict(list)
        for place in np.flatnonzero(near).tolist():
            text, head = window.texts[place], window.heads[place]
            if not (sure[place] or self._holds(*times_of(text))):
                continue
            if head.ph in FLOWS:  # the thread of one is that of a task
                flows[crc32(head.id) % _FLOW_SPOOLS].append(text)
            else:
                self.threads.add((head.pid, head.tid))
                kept.append(text)
        self.body.add(kept)
        for place, some in flows.items():
            self.flows[place].add(some)

    def _holds(self, start: int, end: int) -> bool:
        return start < self.end_ns and (end > self.start_ns or start >= self.start_ns)

    def _take_paired(self, text: Text, start_us: float) -> None:
        if start_us != start_us:  # noqa: PLR0124 -- NaN: it has no time
            return
        joint, (start, _) = _JOINT.decode(text), times_of(text)
        key = joint.thread if joint.ph in "BE" else (bytes(joint.cat), bytes(joint.id), bytes(joint.id2))
        number = self.paired.count
        self.paired.add([text])
        self._kept.append(0)
        if joint.ph in "Bb":
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
            joint = _JOINT.decode(text)
            self.threads.add(joint.thread)
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

    def read(self, path: Path, parts: int = 1) -> TextReading:
        """Take in one file, at most so many parts of it at a time; of one that is no whole list of events nothing."""
        made: list[_Part] = []

        def new() -> _Part:
            made.append(_Part(path, self.start_ns, self.end_ns))
            return made[-1]

        try:
            part, told = read_texts(path, new, (self.start_ns, self.end_ns), parts)
            if part is not None:
                part.finish()
                self._parts.append(made.pop())
        finally:
            for part in made:  # what was read before something turned out to be out of the ordinary
                part.close()
        return told

    @property
    def is_empty(self) -> bool:
        return not any(part.body.count for part in self._parts)

    def pair_flows(self) -> None:
        """Keep the flows that begin in it and lead to something in it, once all files are read.

        An arrow to something that is not there cannot be drawn, and importers take it for damage.
        """
        for place in range(_FLOW_SPOOLS):
            spools = [part.flows[place] for part in self._parts if place in part.flows]
            texts = list(chain.from_iterable(spools))
            joints = [_JOINT.decode(text) for text in texts]
            keys = [_flow_key(joint) for joint in joints]
            begun = {key for joint, key in zip(joints, keys, strict=True) if joint.ph == "s"}
            whole = begun & {key for joint, key in zip(joints, keys, strict=True) if joint.ph != "s"}
            kept = [number for number, key in enumerate(keys) if key in whole]
            self._threads.update(joints[number].thread for number in kept)
            self._flows.add([texts[number] for number in kept])

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
