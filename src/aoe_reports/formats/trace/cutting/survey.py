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

from aoe_reports.formats.trace.cutting.texts import TextReading, Window, read_texts, times_of
from aoe_reports.formats.trace.json_list import has_both_ends
from aoe_reports.formats.trace.native import collect_natively
from aoe_reports.formats.trace.parser import DECODER, strict_json
from aoe_reports.formats.trace.shape import OddFileError
from aoe_reports.formats.trace.walk import Row, read_event
from aoe_reports.model.arrays.columns import bits, codes, integers, words_in
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

    Nothing is told of the rest of the file: whoever reads it finds what is wrong.
    """
    found: list[Range] = []
    try:
        with path.open("rb") as file:
            for data, places in _places_of(file, prefix.encode()):
                found += [one for place in places if (one := _range_around(data, place, prefix)) is not None]
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a timeline was expected")) from error
    return found


def _places_of(file: BinaryIO, word: bytes) -> Iterator[tuple[bytes, list[int]]]:
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


def _range_around(data: bytes, place: int, prefix: str) -> Range | None:
    """The X event around a place, if its name begins so."""
    start = place
    for _ in range(_TRIES):
        start = data.rfind(b"{", max(place - _EVENT_BYTES, 0), start)
        if start < 0:
            return None
        text = data[start : place + _EVENT_BYTES]
        try:
            _, length = DECODER.raw_decode(text.decode("latin-1"))  # a byte is a character
            event = read_event(strict_json(text[:length]))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, Row) and event.phase == "X" and str(event.event["name"]).startswith(prefix):
            start = event.start_ns or 0
            return str(event.event["name"]), start, start + (event.duration_ns or 0)
    return None


def survey(path: Path, prefix: str, parts: int = 1) -> tuple[Survey | None, TextReading]:
    """(what the events of a file tell of times, None where it is no whole list of them; what else they tell of it)."""
    if has_both_ends(path):
        try:
            look, found = collect_natively(path, _TIMES, lambda: _Times(Survey(prefix)), parts)
        except OddFileError:
            pass
        else:
            whole = Survey(prefix)
            for one in found:
                whole.merge(one.survey)
            return whole, TextReading.of(path, look)
    return read_texts(path, lambda: Survey(prefix), ALWAYS)


ALWAYS = (-(2**62), 2**62)
"""From before to after all that a timeline may tell of, in ns."""
_TIMES = frozenset({"ph", "name", "start_ns", "duration_ns"})


@dataclass(slots=True)
class _Times:
    """The times of the events of a part of a file, as columns."""

    survey: Survey

    def add(self, batch: pa.RecordBatch) -> None:
        starts, there = integers(pa.chunked_array([batch["start_ns"]]))
        times, has_time = integers(pa.chunked_array([batch["duration_ns"]]))
        ends = starts + np.where(has_time, times, 0)
        found = Survey(self.survey.prefix)
        if there.any():
            found.start_ns, found.end_ns = int(starts[there].min()), int(ends[there].max())
        names = batch["name"]
        begins = np.flatnonzero(bits(pa.chunked_array([pc.starts_with(names.dictionary, found.prefix)])))
        if len(begins):
            is_range = np.isin(codes(pa.chunked_array([names]))[0] - 1, begins)
            is_range &= words_in(pa.chunked_array([batch["ph"]]), {"X"})
            for row in np.flatnonzero(is_range).tolist():
                found.ranges.append((names[row].as_py(), int(starts[row]), int(ends[row])))
        self.survey.merge(found)


@dataclass(slots=True)
class Survey:
    """What the events of a file tell of times, all in ns."""

    prefix: str
    """What the names of ranges that are wanted begin with."""
    start_ns: int | None = None
    end_ns: int | None = None
    ranges: list[Range] = field(default_factory=list)
    """Each such range, in the order of the file."""
    _start_us: float = np.inf
    _end_us: float = -np.inf

    def take(self, window: Window) -> None:
        if window.mentions(self.prefix):
            for place, head in enumerate(window.heads):
                if head.ph == "X" and (head.name or "").startswith(self.prefix):
                    self.ranges.append((head.name or "", *times_of(window.texts[place])))
        starts = np.asarray(window.starts_us, dtype=np.float64)
        ends = np.asarray(window.ends_us, dtype=np.float64)
        if np.isnan(starts).all():
            return
        first, last = int(np.nanargmin(starts)), int(np.nanargmax(ends))
        if starts[first] < self._start_us:
            self._start_us = float(starts[first])
            self.start_ns, _ = times_of(window.texts[first])
        if ends[last] > self._end_us:
            self._end_us = float(ends[last])
            _, self.end_ns = times_of(window.texts[last])

    def merge(self, other: Survey) -> None:
        """Take in what another file of the same capture, or another part of the file, tells."""
        self.ranges += other.ranges
        times = [time for time in (self.start_ns, other.start_ns) if time is not None]
        self.start_ns = min(times, default=None)
        times = [time for time in (self.end_ns, other.end_ns) if time is not None]
        self.end_ns = max(times, default=None)
