"""Recorded allocations of one pool, and how far they explain its recorded sum.

What begins and what ends are two tables in the order of time: samples, begins and ends are gone through together, one block of each at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import event_frame
from aoe_reports.formats.spilled_table import SpilledTable, blocks_of, in_order, rows_where
from aoe_reports.model.arrays.columns import Ints, Mask, exact_sum, integers, valid, words_in
from aoe_reports.model.topics.memory import MemoryRecording
from aoe_reports.topics.memory.samples import (
    GE,
    OTHER_POOLS,
    Samples,
    by_component,
    family_of,
    of_components,
    sums_beside,
    with_one_dictionary,
)

KEPT = ["component", "owner", "kind", "location", "size_bytes", "allocated_ns", "released_ns", "reusable_ns"]
"""The columns of allocations that are needed once their sums have been compared."""
BEFORE_AND_AFTER = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Allocations:
    """Recorded allocations of one pool: when each began and ended, the first or last time possible where that was not recorded."""

    frame: pa.Table
    began: pa.Table
    """Times and sizes, in the order of time; of ends below only those that are recorded."""
    ended: pa.Table
    counted_until: pa.Table
    """When the recorded sum falls: with the release, or late."""

    @classmethod
    def of(cls, frame: pa.Table) -> Allocations:
        """Memory is free for others as soon as it is released or reusable, whichever the source names first."""
        began = _changes((begins, sizes) for begins, _, sizes in map(_read, blocks_of(frame, _TIMES_AND_SIZE)))
        ended = _changes((ends, sizes) for _, ends, sizes in map(_read, blocks_of(frame, _TIMES_AND_SIZE)))
        return cls(frame, began, ended, ended)

    @classmethod
    def none(cls) -> Allocations:
        """Where none are recorded."""
        return cls.of(event_frame({}, 0))

    def alive_at(self, time: int) -> pa.Table:
        """Those that are held at that time, with `begin_ns`; what is released then is not."""

        def is_alive(block: pa.Table) -> Mask:
            begins, ends, _ = _read(block)
            return (begins <= time) & (ends > time)

        alive = rows_where(self.frame, is_alive)
        begins = [_read(block)[0] for block in blocks_of(alive)]
        return alive.append_column("begin_ns", pa.array(np.concatenate(begins)))

    def counted_late(self, time: int) -> dict[str, int]:
        """How much each component still counts at that time of what it has released: only GE may."""
        (ended, released), (counted, fallen) = (_until(table, time) for table in (self.ended, self.counted_until))
        return {GE: released - fallen} if ended > counted else {}

    def where_it_fits(self) -> Allocations:
        """The same, with the way to count that fits the sums beside the releases of GE.

        GE of CANN 8 records its sum before each release, and so counts what is released until its next allocation or release.
        """
        of_ge = of_components(self.frame, {GE})
        if not of_ge.num_rows:
            return self
        at_once = Allocations.of(of_ge)
        late = replace(at_once, counted_until=_changes(_late(at_once)))
        if late.misfit() >= at_once.misfit():
            return self
        others = Allocations.of(rows_where(self.frame, lambda block: ~words_in(block["component"], {GE})))
        until = in_order(pa.concat_tables([others.ended, late.counted_until]), "at_ns")
        return replace(self, counted_until=until)

    def misfit(self) -> int:
        """How much of the changes of the sums that stand beside them is not explained."""
        return sum(
            balance_of(sums, self, 0).unexplained_changes
            for sums in by_component("", sums_beside(self.frame))
            if sums.has("allocated")
        )


_TIMES_AND_SIZE = ("allocated_ns", "released_ns", "reusable_ns", "size_bytes")


def _read(block: pa.Table) -> tuple[Ints, Ints, Ints]:
    """(begins, ends, sizes) of allocations."""
    first, last = BEFORE_AND_AFTER
    ends = np.minimum(_or_else(block["released_ns"], last), _or_else(block["reusable_ns"], last))
    return _or_else(block["allocated_ns"], first), ends, _or_else(block["size_bytes"], 0)


def _or_else(column: pa.ChunkedArray, otherwise: int) -> Ints:
    values, known = integers(column)
    return values if known.all() else np.where(known, values, otherwise)


def _changes(blocks: Iterable[tuple[Ints, Ints]]) -> pa.Table:
    """Times and sizes in the order of time, without the last time possible."""
    kept = SpilledTable()
    for times, sizes in blocks:
        some = times < BEFORE_AND_AFTER[1]
        kept.add(pa.table({"at_ns": times[some], "size_bytes": sizes[some]}))
    return in_order(kept.table(), "at_ns")


def _until(changes: pa.Table, time: int) -> tuple[int, int]:
    """(how many changes there are until a time, the time itself included; the sum of their sizes)."""
    count = size = 0
    for block in blocks_of(changes):
        times, sizes = (integers(column)[0] for column in block.columns)
        place = int(np.searchsorted(times, time, side="right"))
        count, size = count + place, size + exact_sum(sizes[:place])
    return count, size


class _Sums:
    """The sum of the changes until times that are asked for in their order; the blocks before them are forgotten."""

    def __init__(self, changes: pa.Table) -> None:
        self._blocks = blocks_of(changes)
        self._times = np.zeros(0, dtype=np.int64)
        self._sums = np.zeros(1, dtype=np.int64)
        """Before the first of the times, and from each of them on."""

    def until(self, wanted: Ints) -> Ints:
        """The sum until each of some times, the time itself included."""
        found = self._sums[np.searchsorted(self._times, wanted, side="right")]
        while not len(self._times) or self._times[-1] <= wanted[-1]:
            block = next(self._blocks, None)
            if block is None:
                break
            self._times, sizes = (integers(column)[0] for column in block.columns)
            self._sums = np.cumsum(np.append(self._sums[-1], sizes))
            later = int(np.searchsorted(wanted, self._times[0])) if len(self._times) else len(wanted)
            found[later:] = self._sums[np.searchsorted(self._times, wanted[later:], side="right")]
        return found


class _Following:
    """The first of some times after those that are asked for in their order."""

    def __init__(self, changes: pa.Table) -> None:
        self._blocks = blocks_of(changes, ["at_ns"])
        self._times = np.zeros(0, dtype=np.int64)

    def after(self, wanted: Ints) -> Ints:
        """The first time after each; the last one possible where there is none."""
        found, open_from = np.full(len(wanted), BEFORE_AND_AFTER[1]), 0
        while open_from < len(wanted):
            some = wanted[open_from:]
            known = int(np.searchsorted(some, self._times[-1])) if len(self._times) else 0
            places = np.searchsorted(self._times, some[:known], side="right")
            found[open_from : open_from + known] = self._times[places]
            open_from += known
            if open_from < len(wanted):
                block = next(self._blocks, None)
                if block is None:
                    break
                self._times = integers(block["at_ns"])[0]
        return found


def _late(allocations: Allocations) -> Iterator[tuple[Ints, Ints]]:
    """(when anything happens next after each end, the size)."""
    following = [_Following(changes) for changes in (allocations.began, allocations.ended)]
    for block in blocks_of(allocations.ended):
        ends, sizes = (integers(column)[0] for column in block.columns)
        yield np.minimum(*(one.after(ends) for one in following)), sizes


@dataclass(frozen=True, slots=True)
class Balance:
    """How far the recorded sum of a pool is explained, and what was held since before the recording at one time.

    That only falls, as older memory is released, and is never below 0; a recorded sum that rises without an allocation is not explained.
    """

    held_before: int
    unexplained_changes: int
    """Sum of all changes, up and down, of the unexplained part."""
    changes: int
    """The same of the recorded sum."""

    @property
    def explained(self) -> float:
        """The share of all changes of the recorded sum that is explained."""
        if not self.changes:
            return float(not self.unexplained_changes)
        return max(0.0, 1 - self.unexplained_changes / self.changes)


def balance_of(samples: Samples, allocations: Allocations, at_ns: int) -> Balance:
    """The recorded sums of a pool, the last of each time, against its allocations."""
    began, ended = _Sums(allocations.began), _Sums(allocations.counted_until)
    held_before, least = 0, BEFORE_AND_AFTER[1]
    changes = unexplained_changes = 0
    recorded_before: Ints = np.zeros(0, dtype=np.int64)
    unexplained_before = recorded_before
    for times, recorded in _last_of_each_time(samples.known("allocated")):
        beyond = recorded - (began.until(times) - ended.until(times))
        lowest = np.minimum(np.minimum.accumulate(beyond), least)
        held = np.maximum(lowest, 0)
        unexplained = beyond - held
        changes += exact_sum(np.abs(np.diff(np.append(recorded_before, recorded))))
        unexplained_changes += exact_sum(np.abs(np.diff(np.append(unexplained_before, unexplained))))
        if times[0] <= at_ns:
            held_before = int(held[np.searchsorted(times, at_ns, side="right") - 1])
        least, recorded_before, unexplained_before = int(lowest[-1]), recorded[-1:], unexplained[-1:]
    return Balance(held_before, unexplained_changes, changes)


def _last_of_each_time(blocks: Iterable[tuple[Ints, ...]]) -> Iterator[tuple[Ints, Ints]]:
    """Without values that another one of the same time follows."""
    before: tuple[Ints, Ints] | None = None
    for times, values in blocks:
        if before is not None:
            times, values = np.append(before[0], times), np.append(before[1], values)  # noqa: PLW2901
        last = np.append(times[1:] != times[:-1], False)
        if last.any():
            yield times[last], values[last]
        before = times[-1:], values[-1:]
    if before is not None:
        yield before


def allocations_of(recordings: Sequence[MemoryRecording], pool: Samples) -> Allocations:
    """The recorded allocations of a pool, by the source of its samples."""
    mine = [one.events for one in recordings if family_of(one.source) == family_of(pool.source) and one.events.num_rows]
    frame = pa.concat_tables(mine) if mine else recordings[0].events.slice(0, 0)
    if not pool.component.endswith(OTHER_POOLS):
        frame = of_components(frame, {pool.component})
    allocations = Allocations.of(frame).where_it_fits()
    return replace(allocations, frame=with_one_dictionary(frame.select(KEPT), "component", "owner", "kind", "location"))


def missing_of(events: pa.Table, name: str) -> tuple[int, int]:
    """(how many allocations have no such time, how many bytes they are)."""
    count = size = 0
    for block in blocks_of(events, [name, "size_bytes"]):
        missing = ~valid(block[name])
        count += int(missing.sum())
        size += exact_sum(integers(block["size_bytes"])[0][missing])
    return count, size
