"""Events of a timeline with their texts as they stand in the file, for what hands events on without changing them.

Of a file in which every event is as exporters write it, msgspec reads the few values that an event is chosen by. Any other is walked through event
by event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from aoe_reports.formats.trace.events import with_findings
from aoe_reports.formats.trace.json_list import MAX_ELEMENT_BYTES, WINDOW_BYTES, Damage
from aoe_reports.formats.trace.parser import strict_json
from aoe_reports.formats.trace.shape import OddFileError, TimelineLook
from aoe_reports.formats.trace.walk import (
    Metadata,
    Row,
    Unusable,
    nanoseconds,
    read_event,
    unusable_events,
    walk_with_texts,
)
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.texts import say

Placed = tuple[Finding, int | None]
"""(a finding, the time that it is about, where that is known)."""
PAIRED = frozenset("BEbe")
"""Events that are only the beginning or the end of something."""
_ALWAYS = PAIRED | {"M"}
_BOM, _BLANK = b"\xef\xbb\xbf", b" \t\r\n"
_TRIES = 8
_UNSURE_US = 4.0
"""More than what goes missing of a sum of two times in a float64."""


class _Head(msgspec.Struct, gc=False):
    """The values that an event is chosen by; a time that is a number has gone through a float64."""

    ph: str
    ts: int | float | str | None = None
    dur: int | float | str | None = None


_HEADS = msgspec.json.Decoder(list[_Head])
_TEXTS = msgspec.json.Decoder(list[msgspec.Raw])


def plain_texts(path: Path, start_ns: int, end_ns: int) -> Iterator[tuple[Row | Metadata, bytes]]:
    """The events of a plain file that may reach into a time, name something, or begin or end something, with their texts.

    OddFileError as soon as one is not as exporters write it.
    """
    low, high = start_ns / 1000 - _UNSURE_US, end_ns / 1000 + _UNSURE_US
    try:
        with path.open("rb") as file:
            for heads, data in _windows(file):
                chosen = [
                    number
                    for number, head in enumerate(heads)
                    if head.ph in _ALWAYS
                    or (head.ts is not None and (ts := float(head.ts)) <= high and ts + float(head.dur or 0) >= low)
                ]
                texts = _TEXTS.decode(data) if chosen else []
                yield from (_plain(bytes(texts[number])) for number in chosen)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise OddFileError from error
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error


def _plain(text: bytes) -> tuple[Row | Metadata, bytes]:
    event = read_event(strict_json(text))
    if isinstance(event, Row | Metadata):
        return event, text
    raise OddFileError


def _windows(file: BinaryIO) -> Iterator[tuple[list[_Head], bytes]]:
    """The events of some bytes after others, and those bytes as a list."""
    rest, size = file.read(WINDOW_BYTES).removeprefix(_BOM).lstrip(_BLANK)[1:], WINDOW_BYTES
    while chunk := file.read(size):
        rest += chunk
        heads, data, end = _in_front(rest)
        if end:
            yield heads, data
        elif len(rest) > MAX_ELEMENT_BYTES:
            raise OddFileError
        rest, size = rest[end:], WINDOW_BYTES if end else len(rest)
    data = b"[" + rest
    yield _HEADS.decode(data), data


def _in_front(data: bytes) -> tuple[list[_Head], bytes, int]:
    """(as many events as some bytes hold in full, those as a list, where the next one begins); 0 where none ends in them.

    A `},` may also stand inside an event or a text: then one further in front is tried.
    """
    at = len(data)
    for _ in range(_TRIES):
        at = data.rfind(b"},", 0, at)
        if at < 0:
            break
        whole = b"[" + data[: at + 1] + b"]"
        try:
            return _HEADS.decode(whole), whole, at + 2
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            continue
    return [], b"", 0


def placed_of(path: Path, look: TimelineLook) -> list[Placed]:
    """What a look at a plain file says of it."""
    return [(finding, None) for finding in with_findings(path, look).findings]


@dataclass(slots=True)
class Walk:
    """The events of any file that can be used, one by one; what is wrong with it is known once all were read."""

    path: Path
    _phases: Counter[str] = field(default_factory=Counter)
    _stage_rows: int = 0
    _reported: int = 0
    _wrong: list[tuple[int, Unusable]] = field(default_factory=list)
    """The first events that cannot be used."""
    _times: list[int | None] = field(default_factory=list)
    """When each of them was, as far as it or the one above it says."""
    _damage: list[Finding] = field(default_factory=list)

    def events(self) -> Iterator[tuple[Row | Metadata, bytes]]:
        """Each event with its text; NotAList where the file is no list of events."""
        last: int | None = None
        for index, element, event, text in walk_with_texts(self.path):
            if isinstance(event, Damage):
                self._damage.append(event.finding(self.path))
            elif isinstance(event, Unusable):
                own = nanoseconds(element.get("ts")) if isinstance(element, dict) else None
                self._reported += 1
                if len(self._wrong) <= EXAMPLES_PER_RULE:
                    self._wrong.append((index, event))
                    self._times.append(last if own is None else own)
            else:
                if isinstance(event, Row):
                    last = event.start_ns if event.start_ns is not None else last
                    self._stage_rows += event.stage_row
                    self._phases[event.phase] += 1
                yield event, text

    @property
    def placed(self) -> list[Placed]:
        """Each thing that is wrong with the file, and when that is, where it is known."""
        shown = unusable_events(self.path, self._wrong, self._reported)
        look = TimelineLook(findings=tuple(self._damage), phases=self._phases, stage_rows=self._stage_rows)
        return [*zip(shown, self._times, strict=True), *placed_of(self.path, look)]
