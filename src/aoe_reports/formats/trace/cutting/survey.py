"""A look at the times of a timeline before something is cut from it: from when to when it lasts, and the ranges of some names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.formats.trace.cutting.texts import Placed, Walk, placed_of
from aoe_reports.formats.trace.events import collect_plain
from aoe_reports.formats.trace.json_list import NotAList
from aoe_reports.formats.trace.parser import DECODER, strict_json
from aoe_reports.formats.trace.walk import Row, read_event
from aoe_reports.model.arrays.columns import bits, integers
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say

Range = tuple[str, int, int]
"""(name, start, end) of an event, in ns."""
_BLOCK_BYTES = 8 << 20
_EVENT_BYTES = 64 << 10
"""No range that is found at a glance is longer."""
_TRIES = 8


def ranges_at_a_glance(path: Path, prefix: str) -> list[Range]:
    """The X events whose names begin so, as far as their bytes show it: who needs one that is not there reads the file.

    What is wrong with the rest of the file is reported by whoever reads it.
    """
    ranges: list[Range] = []
    try:
        with path.open("rb") as file:
            for data, offsets in _offsets_of(file, prefix.encode()):
                around = (_range_around(data, offset, prefix) for offset in offsets)
                ranges += [event for event in around if event is not None]
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error
    return ranges


def _offsets_of(file: BinaryIO, word: bytes) -> Iterator[tuple[bytes, list[int]]]:
    """(some bytes, where a word stands in them that has an event's length of them before and behind it)."""
    data, done, block = b"", 0, b" "
    while block:
        block = file.read(_BLOCK_BYTES)
        data += block
        stop = max(len(data) - _EVENT_BYTES, done) if block else len(data)
        hits = re.finditer(re.escape(word), data[: stop + len(word) - 1])
        yield data, [hit.start() for hit in hits if hit.start() >= done]
        kept = max(stop - _EVENT_BYTES, 0)
        data, done = data[kept:], stop - kept


def _range_around(data: bytes, offset: int, prefix: str) -> Range | None:
    """The X event around an offset, if its name begins so."""
    start = offset
    for _ in range(_TRIES):
        start = data.rfind(b"{", max(offset - _EVENT_BYTES, 0), start)
        if start < 0:
            return None
        text = data[start : offset + _EVENT_BYTES]
        try:
            _, length = DECODER.raw_decode(text.decode("latin-1"))  # a byte is a character
            event = read_event(strict_json(text[:length]))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, Row) and event.phase == "X" and str(event.event["name"]).startswith(prefix):
            start = event.start_ns or 0
            return str(event.event["name"]), start, start + (event.duration_ns or 0)
    return None


def survey(path: Path, prefix: str, parts: int = 1) -> tuple[Survey | None, list[Placed]]:
    """(from when to when the events of a file last, None where it is no whole list of them; what is wrong with it)."""
    whole = Survey(prefix)
    plain = collect_plain(path, _COLUMNS, lambda: Survey(prefix), parts)
    if plain is not None:
        for part in plain[1]:
            whole.merge(part)
        return whole, placed_of(path, plain[0])
    walk = Walk(path)
    try:
        for event, _ in walk.events():
            if isinstance(event, Row):
                whole.take(event)
    except NotAList as error:
        return None, [(error.finding(path), None)]
    return whole, walk.placed


_COLUMNS = frozenset({"ph", "name", "start_ns", "duration_ns"})


@dataclass(slots=True)
class Survey:
    """From when to when the events of a file last, and where some ranges are; all in ns."""

    prefix: str
    """What the names of ranges that are wanted begin with."""
    start_ns: int | None = None
    end_ns: int | None = None
    ranges: list[Range] = field(default_factory=list)
    """Each such range, in the order of the file."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events of a plain file."""
        starts, has_start = integers(pa.chunked_array([batch["start_ns"]]))
        times, has_time = integers(pa.chunked_array([batch["duration_ns"]]))
        ends = starts + np.where(has_time, times, 0)
        if has_start.any():
            self._reach(int(starts[has_start].min()), int(ends[has_start].max()))
        is_range = pc.starts_with(batch["name"].cast(pa.string()), self.prefix)
        is_range = pc.and_(is_range, pc.equal(batch["ph"].cast(pa.string()), "X"))
        for row in np.flatnonzero(bits(pa.chunked_array([is_range]))).tolist():
            self.ranges.append((batch["name"][row].as_py(), int(starts[row]), int(ends[row])))

    def take(self, row: Row) -> None:
        """Take in an event."""
        if row.start_ns is None:
            return
        end = row.start_ns + (row.duration_ns or 0)
        self._reach(row.start_ns, end)
        name = row.value("name") if row.phase == "X" else None
        if name is not None and name.startswith(self.prefix):
            self.ranges.append((name, row.start_ns, end))

    def merge(self, other: Survey) -> None:
        """Take in another file of the same capture, or another part of the file."""
        self.ranges += other.ranges
        if other.start_ns is not None and other.end_ns is not None:
            self._reach(other.start_ns, other.end_ns)

    def _reach(self, start: int, end: int) -> None:
        self.start_ns = start if self.start_ns is None else min(self.start_ns, start)
        self.end_ns = end if self.end_ns is None else max(self.end_ns, end)
