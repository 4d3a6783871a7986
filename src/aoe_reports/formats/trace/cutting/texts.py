"""Events of a timeline as they stand in the file, window by window: for what hands events on without changing them.

msgspec reads the few values that an event is chosen by, and checks the grammar of all others. A file in which anything is out of the
ordinary is walked through event by event, as by the other readers of timelines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

import msgspec

from aoe_reports.formats.native import library
from aoe_reports.formats.trace.events import KNOWN_PHASES, plain_look, with_findings
from aoe_reports.formats.trace.json_list import MAX_ELEMENT_BYTES, WINDOW_BYTES, Damage, NotAList, has_both_ends
from aoe_reports.formats.trace.native import TooManyError, keep_natively
from aoe_reports.formats.trace.parser import strict_json
from aoe_reports.formats.trace.shape import LATEST_NS, LONGEST_US, OddFileError, TimelineLook, is_stage_row
from aoe_reports.formats.trace.spool import Spool, Text
from aoe_reports.formats.trace.walk import (
    Metadata,
    Unusable,
    duration_ns,
    nanoseconds,
    unusable_events,
    walk_with_texts,
)
from aoe_reports.model.documents import JsonObject, object_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say

METADATA, PAIRED = "M", frozenset("BEbe")
_BOM, _BLANK = b"\xef\xbb\xbf", b" \t\r\n"
_TRIES = 8
_LATEST_US = LATEST_NS / 1000
_LONGEST_TIME = 40
_EVENTS_AT_ONCE = 1 << 12


Time = int | float | str | None


class Head(msgspec.Struct, gc=False):
    """The values that an event is chosen by; a time that is a number has gone through a float64."""

    ph: str
    name: str | None = None
    ts: Time = None
    dur: Time = None
    pid: int | str | None = None
    tid: int | str | None = None
    id: msgspec.Raw = msgspec.Raw()


class _Id(msgspec.Struct, gc=False):
    id: msgspec.Raw = msgspec.Raw()


_ID = msgspec.json.Decoder(_Id)
_HEADS = msgspec.json.Decoder(list[Head])
_TEXTS = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(slots=True)
class Window:
    """Some events of a file, in its order."""

    heads: list[Head]
    starts_us: list[float]
    """When each begins, to less than a microsecond; NaN for what has no time."""
    ends_us: list[float]
    """When each ends; NaN for what has no time."""
    metadata: list[int] = field(default_factory=list)
    """Which of them only name something."""
    paired: list[int] = field(default_factory=list)
    """Which of them are only the beginning or the end of something."""
    _list: bytes = b""
    _texts: list[Text] | None = None

    @property
    def texts(self) -> list[Text]:
        """Each event as it stands in the file."""
        if self._texts is None:
            self._texts = list(_TEXTS.decode(self._list))
        return self._texts

    def mentions(self, word: str) -> bool:
        """Whether a word without escapes may stand in any of them."""
        return not self._list or word.encode() in self._list

    def add(self, head: Head, start_ns: int | None, duration_ns: int, text: Text) -> None:
        if head.ph == METADATA:
            self.metadata.append(len(self.heads))
        elif head.ph in PAIRED:
            self.paired.append(len(self.heads))
        self.heads.append(head)
        self.starts_us.append(nan if start_ns is None else start_ns / 1000)
        self.ends_us.append(nan if start_ns is None else (start_ns + duration_ns) / 1000)
        if self._texts is not None:
            self._texts.append(text)


@dataclass(slots=True)
class TextReading:
    """What the events of a file tell of it, whole once all have been read."""

    path: Path
    unknown: Counter[str] = field(default_factory=Counter)
    """Events of phases that nobody writes."""
    stage_rows: int = 0
    reported: int = 0
    wrong: list[tuple[int, Unusable]] = field(default_factory=list)
    near_ns: list[int | None] = field(default_factory=list)
    """When each event that is wrong was, as far as it or the one above it tells."""
    damage: tuple[Finding, ...] = ()
    """What is wrong with the list of events, or why nothing of the file is used."""

    @staticmethod
    def of(path: Path, look: TimelineLook) -> TextReading:
        """What a look tells of a file in which no event is wrong."""
        unknown = {phase: count for phase, count in look.phases.items() if phase not in KNOWN_PHASES}
        return TextReading(path, Counter(unknown), look.stage_rows)

    def take_unknown(self, phase: str) -> None:
        self.unknown[phase] += 1

    def take_wrong(self, index: int, what: Unusable, near_ns: int | None) -> None:
        self.reported += 1
        if len(self.wrong) <= EXAMPLES_PER_RULE:
            self.wrong.append((index, what))
            self.near_ns.append(near_ns)

    @property
    def findings(self) -> list[tuple[Finding, int | None]]:
        """(something that is wrong with the file, when that is, where it is known)."""
        shown = unusable_events(self.path, self.wrong, self.reported)
        times = [*self.near_ns, *(None for _ in shown)][: len(shown)]
        look = TimelineLook(findings=self.damage, phases=dict(self.unknown), stage_rows=self.stage_rows)
        return [*zip(shown, times, strict=True), *((one, None) for one in with_findings(self.path, look).findings)]


class Taker(Protocol):
    """What takes in the events of one file."""

    def take(self, window: Window) -> None: ...


T = TypeVar("T", bound=Taker)


def read_texts(
    path: Path, new: Callable[[], T], within: tuple[int, int], parts: int = 1
) -> tuple[T | None, TextReading]:
    """(what has taken in the events of a file, None where the file is no whole list; what all of them tell of it).

    Some of those that do not reach into a time, `within` from when to before when in ns, may be left out, unless they name something, or begin
    or end something. At most `parts` parts of the file are read at the same time.
    """
    is_plain = False
    if has_both_ends(path):
        try:
            return _read_natively(path, new, within, parts)
        except TooManyError:
            is_plain = True
        except OddFileError:
            is_plain = library() is None and plain_look(path) is not None
    if is_plain:
        reading, taker = TextReading(path), new()
        try:
            for window in _plain_windows(reading):
                taker.take(window)
        except OddFileError:
            pass
        else:
            return taker, reading
    reading, taker = TextReading(path), new()
    try:
        for window in _walked_windows(reading):
            taker.take(window)
    except NotAList as error:
        return None, TextReading(path, damage=(error.finding(path),))
    return taker, reading


def _read_natively(path: Path, new: Callable[[], T], within: tuple[int, int], parts: int) -> tuple[T, TextReading]:
    """As `read_texts`, by the compiled reader; OddFileError where it does not prove that every event is as exporters write them."""
    look, kept = keep_natively(path, within, Spool, parts)
    taker, known = new(), TextReading(path)
    try:
        for spool in kept:
            for block in spool.blocks():
                text = b"[" + block[:-1].replace(b"\n", b",") + b"]"
                taker.take(_window(_HEADS.decode(text), text, known))
    except msgspec.MsgspecError as error:
        raise OddFileError from error
    finally:
        for spool in kept:
            spool.close()
    return taker, TextReading.of(path, look)


def event_of(text: Text) -> JsonObject:
    """An event from its text; OddFileError where a key stands twice, which msgspec takes."""
    try:
        return object_of(strict_json(bytes(text)))
    except ValueError as error:
        raise OddFileError from error


def times_of(text: Text) -> tuple[int, int]:
    """(when an event begins that has a time, when it ends), in ns, from its text."""
    event = event_of(text)
    start = nanoseconds(event.get("ts")) or 0
    return start, start + (duration_ns(event.get("dur")) or 0)


def _plain_windows(reading: TextReading) -> Iterator[Window]:
    """The events of a file in which each is as exporters write them; OddFileError as soon as one is not."""
    if not has_both_ends(reading.path):
        raise OddFileError
    try:
        with reading.path.open("rb") as file:
            for heads, text in _lists(file):
                if not text.isascii():
                    text.decode()
                yield _window(heads, text, reading)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise OddFileError from error
    except OSError as error:
        raise ReadError(reading.path, error.strerror or str(error), say("a timeline was expected")) from error


def _lists(file: BinaryIO) -> Iterator[tuple[list[Head], bytes]]:
    """The events of some bytes after others, and those bytes as a list."""
    rest = file.read(WINDOW_BYTES).removeprefix(_BOM).lstrip(_BLANK)
    if not rest.startswith(b"["):
        raise OddFileError  # a megabyte of blanks
    rest, size = rest[1:], WINDOW_BYTES
    while chunk := file.read(size):
        rest += chunk
        heads, text, end = _in_front(rest)
        if end:
            yield heads, text
        elif len(rest) > MAX_ELEMENT_BYTES:
            raise OddFileError
        rest, size = rest[end:], WINDOW_BYTES if end else len(rest)
    text = b"[" + rest
    yield _HEADS.decode(text), text


def _in_front(text: bytes) -> tuple[list[Head], bytes, int]:
    """(as many events as some bytes hold in full, those as a list, where the next one begins); 0 where none ends in them.

    A `},` may also stand inside an event or a text: then one further in front is tried.
    """
    at = len(text)
    for _ in range(_TRIES):
        at = text.rfind(b"},", 0, at)
        if at < 0:
            break
        whole = b"[" + text[: at + 1] + b"]"
        try:
            return _HEADS.decode(whole), whole, at + 2
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            continue
    return [], b"", 0


def _window(heads: list[Head], text: bytes, reading: TextReading) -> Window:
    """Events that are as exporters write them; OddFileError where one is not."""
    window = Window(heads, [], [], _list=text)
    starts, ends = window.starts_us, window.ends_us
    for head in heads:
        phase = head.ph
        if phase == METADATA:
            window.metadata.append(len(starts))
            start = duration = nan
        else:
            start, duration = _start_of(head.ts), _duration_of(head.dur)
            if phase == "X":
                _judge_task(head, reading)
            elif phase in PAIRED:
                window.paired.append(len(starts))
            elif phase not in KNOWN_PHASES:
                reading.take_unknown(phase)
        starts.append(start)
        ends.append(start + duration)
    return window


def _judge_task(head: Head, reading: TextReading) -> None:
    name = head.name
    if name is None or head.ts is None or head.dur is None:
        raise OddFileError
    if name.startswith("Stage"):
        reading.stage_rows += is_stage_row(name)


def _start_of(value: Time) -> float:
    """When an event begins, NaN for no time; OddFileError for what may be none."""
    if value is None:
        return nan
    start = _number_in(value) if isinstance(value, str) else value
    if not -_LATEST_US < start < _LATEST_US:
        raise OddFileError
    return start


def _duration_of(value: Time) -> float:
    """How long an event lasts, 0 for a moment; OddFileError for what may be no duration."""
    if value is None:
        return 0.0
    duration = _number_in(value) if isinstance(value, str) else value
    if not 0 <= duration < LONGEST_US:
        raise OddFileError
    return duration


def _number_in(text: str) -> float:
    if len(text) > _LONGEST_TIME or not text.isascii():
        raise OddFileError
    try:
        return float(text)
    except ValueError:
        raise OddFileError from None


def _walked_windows(reading: TextReading) -> Iterator[Window]:
    """The events of any file that can be used; NotAList where it is no whole list."""
    window = Window([], [], [], _texts=[])
    last: int | None = None
    for index, element, event, text in walk_with_texts(reading.path):
        if isinstance(event, Damage):
            reading.damage = (*reading.damage, event.finding(reading.path))
            continue
        if isinstance(event, Unusable):
            own = nanoseconds(element.get("ts")) if isinstance(element, dict) else None
            reading.take_wrong(index, event, last if own is None else own)
            continue
        if isinstance(event, Metadata):
            window.add(Head(METADATA, event.what, pid=event.pid, tid=event.tid), None, 0, text)
        else:
            last = event.start_ns if event.start_ns is not None else last
            reading.stage_rows += event.stage_row
            if event.phase not in KNOWN_PHASES:
                reading.take_unknown(event.phase)
            name, pid, tid = (event.value(column) for column in ("name", "pid", "tid"))
            head = Head(event.phase, name, pid=pid, tid=tid, id=_ID.decode(text).id)
            window.add(head, event.start_ns, event.duration_ns or 0, text)
        if len(window.heads) == _EVENTS_AT_ONCE:
            yield window
            window = Window([], [], [], _texts=[])
    yield window
