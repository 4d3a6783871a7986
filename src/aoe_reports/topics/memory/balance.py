"""Recorded allocations of one pool, and how far they explain its recorded sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import event_frame
from aoe_reports.model.arrays.columns import (
    Ints,
    Mask,
    coded_in,
    codes,
    exact_sum,
    integers,
    keep_where,
    places_by,
    rising,
)
from aoe_reports.model.topics.memory import (
    MemoryRecording,
)
from aoe_reports.topics.memory.samples import (
    GE,
    OTHER_POOLS,
    Samples,
    by_component,
    family_of,
    of_components,
    sums_beside,
)

KEPT = ["component", "owner", "kind", "location", "size_bytes", "allocated_ns", "released_ns", "reusable_ns"]
"""The columns of allocations that are needed once their sums have been compared."""
BEFORE_AND_AFTER = -(2**63), 2**63 - 1
_AT_ONCE = 1 << 20
"""So many samples are looked at at a time."""


@dataclass(frozen=True, slots=True)
class Allocations:
    """Recorded allocations of one pool: when each began and ended, the first or last time possible where that was not recorded."""

    frame: pa.Table
    sizes: Ints
    begins: Ints
    ends: Ints
    counted_until: Ints
    """When the recorded sum falls: with the release, or late."""

    @classmethod
    def of(cls, frame: pa.Table) -> Allocations:
        """Memory is free for others as soon as it is released or reusable, whichever the source names first."""
        first, last = BEFORE_AND_AFTER
        ends = np.minimum(_or_else(frame["released_ns"], last), _or_else(frame["reusable_ns"], last))
        begins = _or_else(frame["allocated_ns"], first)
        return cls(frame, _or_else(frame["size_bytes"], 0), begins, ends, ends)

    @classmethod
    def none(cls) -> Allocations:
        """Where none are recorded."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(event_frame({}, 0), nothing, nothing, nothing, nothing)

    def alive_at(self, time: int) -> Mask:
        """Which are held at that time; what is released then is not."""
        return (self.begins <= time) & (self.ends > time)

    def counted_at(self, times: Ints) -> Ints:
        """How much of them the recorded sum counts at each of these times."""
        counted: Ints = np.zeros(len(times), dtype=np.int64)
        _add_until(counted, self.begins, self.sizes, times)
        np.negative(counted, out=counted)
        _add_until(counted, self.counted_until, self.sizes, times)
        return np.negative(counted, out=counted)

    def counted_late(self, time: int) -> dict[str, int]:
        """How much each component still counts at that time of what it has released."""
        late = (self.ends <= time) & (self.counted_until > time)
        component, components = codes(self.frame["component"])
        return {
            components[number - 1]: exact_sum(self.sizes[late][places])
            for number, places in places_by(component[late])
            if number
        }

    def where_it_fits(self) -> Allocations:
        """The same, with the way to count that fits the sums beside the releases of GE.

        GE of CANN 8 records its sum before each release, and so counts what is released until its next allocation or release.
        """
        of_ge = coded_in(codes(self.frame["component"]), {GE})
        if not of_ge.any():
            return self
        sizes, begins, ends = self.sizes[of_ge], self.begins[of_ge], self.ends[of_ge]
        frame = self.frame.filter(keep_where(of_ge))
        at_once = Allocations(frame, sizes, begins, ends, ends)
        late = replace(at_once, counted_until=_next_times(begins, ends))
        if late.misfit() >= at_once.misfit():
            return self
        until = self.ends.copy()
        until[of_ge] = late.counted_until
        return replace(self, counted_until=until)

    def misfit(self) -> int:
        """How much of the changes of the sums that stand beside them is not explained."""
        return sum(
            balance_of(sums, self, 0).unexplained_changes
            for sums in by_component("", sums_beside(self.frame))
            if sums.has("allocated")
        )


def _next_times(begins: Ints, ends: Ints) -> Ints:
    """When anything happens next after each end."""
    times = np.append(rising(np.concatenate([begins, ends])), BEFORE_AND_AFTER[1])
    return times[np.searchsorted(times[:-1], ends, side="right")]


def _or_else(column: pa.ChunkedArray, otherwise: int) -> Ints:
    values, known = integers(column)
    return values if known.all() else np.where(known, values, otherwise)


def _add_until(to: Ints, times: Ints, sizes: Ints, wanted: Ints) -> None:
    """Add the sum of the sizes until each wanted time, the time itself included."""
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, sizes = times[order], sizes[order]
    sums = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=sums[1:])
    for start in range(0, len(wanted), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        to[some] += sums[np.searchsorted(times, wanted[some], side="right")]


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
    """The recorded sums of a pool, the last of each time, against its allocations; block by block, as there may be many."""
    times, recorded = samples.known("allocated")
    last = np.append(times[1:] != times[:-1], True)[: len(times)]
    if not last.all():
        times, recorded = times[last], recorded[last]
    alive = allocations.counted_at(times)
    asked = int(np.searchsorted(times, at_ns, side="right")) - 1
    held_before, least, before = 0, BEFORE_AND_AFTER[1], 0
    changes = unexplained_changes = 0
    for start in range(0, len(times), _AT_ONCE):
        sums = recorded[start : start + _AT_ONCE]
        beyond = sums - alive[start : start + _AT_ONCE]
        lowest = np.minimum(np.minimum.accumulate(beyond), least)
        held = np.maximum(lowest, 0)
        unexplained = beyond - held
        first = start - 1 if start else 0
        changes += exact_sum(np.abs(np.diff(recorded[first : start + _AT_ONCE])))
        unexplained_changes += exact_sum(np.abs(np.diff(unexplained)))
        unexplained_changes += abs(int(unexplained[0]) - before) if start else 0
        if start <= asked < start + len(held):
            held_before = int(held[asked - start])
        least, before = int(lowest[-1]), int(unexplained[-1])
    return Balance(held_before, unexplained_changes, changes)


def allocations_of(recordings: Sequence[MemoryRecording], pool: Samples) -> Allocations:
    """The recorded allocations of a pool, by the source of its samples."""
    mine = [one.events for one in recordings if family_of(one.source) == family_of(pool.source) and one.events.num_rows]
    frame = pa.concat_tables(mine) if mine else recordings[0].events.slice(0, 0)
    if not pool.component.endswith(OTHER_POOLS):
        frame = of_components(frame, {pool.component})
    allocations = Allocations.of(frame).where_it_fits()
    return replace(allocations, frame=frame.select(KEPT))


def missing_of(events: pa.Table, name: str) -> tuple[int, int]:
    """(how many allocations have no such time, how many bytes they are)."""
    missing = ~integers(events[name])[1]
    return int(missing.sum()), exact_sum(integers(events["size_bytes"])[0][missing])
