"""What grows from step to step in one pool of memory: a leak, growth without a pace, a cache that fills, or warm-up.

An owner gains what it allocates and never releases, or, where it replaces what it holds by something larger, what it holds more at the end of each
step. The last steps are not judged: what they allocate may yet be released, as older memory of the owner was after some steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.formats.spilled_table import blocks_of, ends_of, in_order
from aoe_reports.model.arrays.columns import Dictionary, Ints, codes, distinct_rows, integers, places_by, sums_by
from aoe_reports.model.topics.memory import Growth, Measure, NotJudged
from aoe_reports.topics.memory.gains import MIN_STEPS, Gains, Pace, lasting_rises
from aoe_reports.topics.memory.samples import known_in, with_one_dictionary

Steps = Sequence[tuple[int, int, int]]
"""(number, start, end) of each, in ns."""

PATIENCE = 2
"""Memory counts as never released after this times the longest that its owner held other memory. Requests of a server are of any length: with 1, one
in eight recordings of a healthy one has a leak."""
MIN_SEEN, SEEN_IN = 0.5, 0.75
"""Nothing grows where the recorded sum rises by less than this part of it in three quarters of all spans of steps, else releases are missing; in the
other quarter older memory may be released. What fills, or warms up, rises in few spans."""


@dataclass(frozen=True, slots=True)
class JudgedGrowth:
    """What grows, or why nothing could be said of that."""

    rows: tuple[Growth, ...] = ()
    not_judged: NotJudged | None = None


def growth_of(events: pa.Table, samples: pa.Table, steps: Steps, component: str = "") -> JudgedGrowth:
    """What grows in one pool: all of it first, then owners by bytes a step.

    Events and samples are those of the pool, as MEMORY_EVENT and MEMORY_SAMPLE; steps are on their clock, and only those are judged that lie within
    the recording.
    """
    samples = in_order(samples, "sampled_ns")
    recorded_at = _recorded_at(events, samples)
    if not steps or recorded_at is None:
        return JudgedGrowth(not_judged="no levels" if steps else "no steps")
    steps = steps_within(steps, *recorded_at)
    if len(steps) <= MIN_STEPS:
        return JudgedGrowth(not_judged="few steps")
    bounds, numbers = bounds_of(steps)
    lasting = _lasting(events, bounds)
    recorded = _floors(samples, "allocated_bytes", steps)
    levels = lasting.levels(slice(None)) if recorded is None else recorded
    size = max(int(levels.max(initial=0)), (ends_of(samples["allocated_bytes"]) or (0, 0))[1])
    rises = lasting_rises(levels, lasting.unsure(slice(None)))
    pool = rises.paces(size)

    leaking: list[Gains] = []
    of_owners: list[Growth] = []
    for owner, places in places_by(lasting.owners):
        gains, paces = _of_owner(lasting, places, size)
        paces = [pace for pace in paces if recorded is None or _is_borne_out(recorded, pace, pool)]
        leaking += [gains] if _leaks(paces) else []
        of_owners += _rows(component, lasting.names[owner - 1], paces, numbers) if owner else []
    if leaking and not _leaks(pool):
        pool = _sum(leaking).paces(size) or pool
    whole = _rows(component, None, pool, numbers)
    if all(pace.meaning == "warm-up" for pace in pool):
        whole += [row for row in growth_of_reserved(samples, steps, component) if not pool or row.meaning != "warm-up"]
    is_short = not whole and len(rises.sizes) < MIN_STEPS
    ordered = sorted(of_owners, key=lambda row: (-row.bytes_per_step, row.owner or "", row.meaning))
    return JudgedGrowth((*whole, *ordered), "few steps" if is_short and not ordered else None)


def growth_of_reserved(samples: pa.Table, steps: Steps, component: str) -> tuple[Growth, ...]:
    """What a component or a process reserves more from step to step, by its samples; steps are those that lie within the recording."""
    if len(steps) <= MIN_STEPS:
        return ()
    levels = _floors(samples, "reserved_bytes", steps)
    if levels is None:
        return ()
    paces = lasting_rises(levels, 0).paces(int(levels.max()), "grows")
    return tuple(_rows(component, None, paces, [number for number, _, _ in steps], "reserved"))


def _rows(
    component: str, owner: str | None, paces: Sequence[Pace], numbers: Sequence[int], measure: Measure = "allocated"
) -> list[Growth]:
    return [
        Growth(
            component=component,
            owner=owner,
            meaning=pace.meaning,
            measure=measure,
            total_bytes=pace.total,
            bytes_per_step=pace.bytes_per_step,
            low=pace.low,
            high=pace.high,
            first_step=numbers[pace.first],
            last_step=numbers[pace.last],
        )
        for pace in paces
    ]


def _recorded_at(events: pa.Table, samples: pa.Table) -> tuple[int, int] | None:
    """(first, last time of a recording); that of allocations only where nothing is sampled. None where nothing is recorded."""
    columns = [samples["sampled_ns"]] if samples.num_rows else [events["allocated_ns"], events["released_ns"]]
    times = [time for column in columns for time in ends_of(column) or ()]
    return (min(times), max(times)) if times else None


def steps_within(steps: Steps, first_ns: int, last_ns: int) -> Steps:
    """Those that a recording has anything of, in the order of time."""
    return sorted((step for step in steps if step[1] <= last_ns and step[2] > first_ns), key=lambda step: step[1:])


def bounds_of(steps: Steps) -> tuple[Ints, list[int]]:
    """(start of the first step and the ends of all, their numbers), in the order of time.

    A step contains its begin and not its end; what is between two steps belongs to the later one.
    """
    ordered = sorted(steps, key=lambda step: step[1:])
    bounds = [*(start for _, start, _ in ordered[:1]), *(end for _, _, end in ordered)]
    return np.asarray(bounds, dtype=np.int64), [number for number, _, _ in ordered]


@dataclass(frozen=True, slots=True)
class _Lasting:
    """Allocations that outlive the step in which they were made; times as indices of the bounds of steps."""

    owners: Ints
    """Numbers of names from 1; 0 for none."""
    names: Dictionary
    sizes: Ints
    first: Ints
    """First bound at which it is held: 0 for what is older than the steps."""
    end: Ints
    """First bound at which it is released; the number of bounds if that is none."""
    count: int
    """Number of bounds."""

    def levels(self, places: Ints | slice) -> Ints:
        """What some of them hold at each bound."""
        changes = np.zeros(self.count + 1, dtype=np.int64)
        np.add.at(changes, self.first[places], self.sizes[places])
        np.subtract.at(changes, self.end[places], self.sizes[places])
        return np.cumsum(changes)[:-1]

    def unsure(self, places: Ints | slice) -> int:
        """Last steps whose memory may yet be released: PATIENCE times as many as any of it was held."""
        first, end = self.first[places], self.end[places]
        return PATIENCE * int((end - first)[end < self.count].max(initial=0))

    def kept(self, places: Ints) -> Gains:
        """What each step allocates and no later one releases."""
        lost = places[self.end[places] == self.count]
        gains = np.zeros(self.count, dtype=np.int64)
        np.add.at(gains, self.first[lost], self.sizes[lost])
        return Gains(gains[1 : max(1, self.count - 1 - self.unsure(places))])


def _lasting(events: pa.Table, bounds: Ints) -> _Lasting:
    """Those that are allocated before the last bound; alike ones as one."""
    events = with_one_dictionary(events.select(["owner", "allocated_ns", "released_ns", "size_bytes"]), "owner")
    parts: list[tuple[Ints, ...]] = []
    names = Dictionary(pa.nulls(0, pa.string()))
    for block in blocks_of(events):
        times, is_known = integers(block["allocated_ns"])
        first = np.where(is_known, np.searchsorted(bounds, times, side="right"), 0)
        times, is_known = integers(block["released_ns"])
        end = np.where(is_known, np.searchsorted(bounds, times, side="right"), len(bounds))
        lasts = np.flatnonzero(end > first)
        owners, names = codes(block["owner"])
        sizes, _ = integers(block["size_bytes"])
        parts.append(_alike(owners[lasts], first[lasts], end[lasts], sizes[lasts]))
    owners, first, end, sizes = _alike(*map(np.concatenate, zip(*parts, strict=True)))
    return _Lasting(owners, names, sizes, first, end, len(bounds))


def _alike(owners: Ints, first: Ints, end: Ints, sizes: Ints) -> tuple[Ints, ...]:
    """Owners and times, each combination once, with the sum of the sizes."""
    keys, places = distinct_rows(owners, first, end)
    return *keys, sums_by(places, sizes, len(keys[0]))


def _floors(samples: pa.Table, column: str, steps: Steps) -> Ints | None:
    """Least value in each step, from that at its start on: what is held for part of a step only is not in it. None where nothing is recorded.

    Samples are in the order of time. At the start of a step the last value until then counts, or the first of all.
    """
    _, starts, ends = np.asarray(steps, dtype=np.int64).T
    at_start: Ints | None = None
    least = np.full(len(steps), np.iinfo(np.int64).max)
    for times, values in known_in(samples, column):
        at_start = np.full(len(steps), values[0]) if at_start is None else at_start
        first, last = np.searchsorted(times, starts, side="right"), np.searchsorted(times, ends)
        at_start[first > 0] = values[first[first > 0] - 1]
        for step in np.flatnonzero(last > first).tolist():
            least[step] = min(least[step], values[first[step] : last[step]].min())
    return None if at_start is None else np.minimum(at_start, least)


def _of_owner(lasting: _Lasting, places: Ints, size: int) -> tuple[Gains, list[Pace]]:
    """What an owner never releases; what it holds more at the ends of steps where only that shows growth."""
    kept = lasting.kept(places)
    paces = kept.paces(size)
    if _continues(paces):
        return kept, paces
    risen = lasting_rises(lasting.levels(places), lasting.unsure(places))
    replaced = [] if risen.is_warm_up else risen.paces(size)
    return (risen, replaced) if _continues(replaced) or not paces else (kept, paces)


def _leaks(paces: Sequence[Pace]) -> bool:
    return any(pace.meaning == "leak" for pace in paces)


def _continues(paces: Sequence[Pace]) -> bool:
    return any(pace.meaning in {"leak", "grows"} for pace in paces)


def _is_borne_out(recorded: Ints, pace: Pace, pool: Sequence[Pace]) -> bool:
    """Whether the recorded sum rises as growth of an owner would have it, over a third of its steps; growth without a pace has to be growth of the pool, too.

    Else releases are missing.
    """
    levels = recorded[pace.first : pace.last + 2]
    apart = max(1, len(levels) // 3)
    spans = SEEN_IN if _continues([pace]) else 1.0
    rises = np.quantile(levels[apart:] - levels[:-apart], spans) >= MIN_SEEN * pace.bytes_per_step * apart
    return bool(rises) and (pace.meaning in {"leak", "warm-up"} or any(one.meaning != "warm-up" for one in pool))


def _sum(gains: Sequence[Gains]) -> Gains:
    judged = min(len(each.sizes) for each in gains)
    return Gains(np.sum([each.sizes[:judged] for each in gains], axis=0))
