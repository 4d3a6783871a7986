"""Memory that is allocated and released within a step, and the host's calls that take memory from the device."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from aoe_reports.formats.spilled_table import blocks_of, leave_pages, parts_of, rows_where, sorted_by
from aoe_reports.model.arrays.columns import Dictionary, Ints, codes, exact_sum, integers, places_by
from aoe_reports.model.topics.memory import Churn, Repeated
from aoe_reports.stats.grouping import quantile
from aoe_reports.topics.memory.growth import Steps, bounds_of
from aoe_reports.topics.memory.samples import with_one_dictionary

MIN_REPEATED_BYTES = 1 << 20
"""Smaller allocations come from segments that many of them share, and cost next to nothing."""
MIN_STEPS = 3
"""Of fewer steps nobody knows whether an allocation comes in each."""
_ALLOCATES = re.compile(
    r"(?:AscendCL@|Runtime@)?(?:aclrtMalloc|aclMallocMemInner|aclrtFree|rtMalloc|rtFree)(?!Host)\w*"
    r"|(?:\w+(?:::|\.))*empty_cache|npu::\w*malloc\w*",
    re.ASCII,
)
"""The allocator of a framework makes these calls where its cache does not serve.

aclMallocMemInner, aclrtFreePhysical and aclrtFree are those that Ascend/msprof-analyze sums (advisor, MemCollector).
"""


def is_allocation_call(name: str) -> bool:
    """Whether a call of the host takes memory from the device, or gives it back."""
    return _ALLOCATES.fullmatch(name) is not None


class ShortLived:
    """The allocations of one pool that are released in the step in which they are made; those of one owner are looked at at a time."""

    def __init__(self, events: pa.Table, steps: Steps) -> None:
        """Events as MEMORY_EVENT, steps on their clock."""
        events = with_one_dictionary(events.select(["owner", "allocated_ns", "released_ns", "size_bytes"]), "owner")
        bounds, _ = bounds_of(steps)
        self._steps = len(steps)
        self._names = Dictionary(pa.nulls(0, pa.string()))
        self._by_owner = sorted_by(self._inside(events, bounds), "owner")

    def _inside(self, events: pa.Table, bounds: Ints) -> Iterator[pa.Table]:
        """Those of each block, by numbers of owners and steps."""
        for block in blocks_of(events):
            (allocated, begins), (released, ends) = (integers(block[name]) for name in ("allocated_ns", "released_ns"))
            step = np.searchsorted(bounds, allocated, side="right")
            inside = begins & ends & (step > 0) & (step < len(bounds))
            inside &= np.searchsorted(bounds, released, side="right") == step
            owners, self._names = codes(block["owner"])
            columns = {
                "owner": owners.astype(np.int64),
                "size": integers(block["size_bytes"])[0],
                "begin": allocated,
                "held": released - allocated,
                "step": step,
            }
            yield pa.table({name: values[inside] for name, values in columns.items()})

    def _owners(self) -> Iterator[tuple[str, pa.Table]]:
        counts: Ints = np.zeros(len(self._names) + 1, dtype=np.int64)
        for part in parts_of(self._by_owner["owner"]):
            counts += np.bincount(integers(part)[0], minlength=len(counts))
        ends = np.cumsum(counts)
        for number in np.flatnonzero(counts).tolist():
            if number:
                yield self._names[number - 1], self._by_owner.slice(ends[number] - counts[number], counts[number])
                leave_pages()

    def churn(self) -> tuple[Churn, ...]:
        """By owner, those with the most bytes first."""
        found = []
        for owner, mine in self._owners():
            sizes, held = (integers(mine[name])[0] for name in ("size", "held"))
            held.sort()
            found.append(
                Churn(
                    owner=owner,
                    allocations=len(sizes),
                    bytes_per_step=exact_sum(sizes) / self._steps,
                    largest_bytes=int(sizes.max()),
                    median_ns=quantile(held, 0.5),
                )
            )
        return tuple(sorted(found, key=lambda churn: (-churn.bytes_per_step, churn.owner)))

    def repeated(self) -> tuple[Repeated, ...]:
        """Those of an owner and a size that come in every step, by bytes."""
        if self._steps < MIN_STEPS:
            return ()
        found = []
        for owner, mine in self._owners():
            large = rows_where(mine, lambda block: integers(block["size"])[0] >= MIN_REPEATED_BYTES)
            sizes, begins, held, steps = (integers(large[name])[0] for name in ("size", "begin", "held", "step"))
            for size, same in places_by(sizes):
                per_step = int(np.bincount(steps[same], minlength=self._steps + 1)[1:].min())
                if per_step:
                    found.append(
                        Repeated(
                            owner=owner,
                            size_bytes=size,
                            per_step=per_step,
                            at_once=_most_at_once(begins[same], begins[same] + held[same]),
                            steps=self._steps,
                        )
                    )
        return tuple(sorted(found, key=lambda repeated: (-repeated.size_bytes * repeated.per_step, repeated.owner)))


def churn_of(events: pa.Table, steps: Steps) -> tuple[tuple[Churn, ...], tuple[Repeated, ...]]:
    """(what owners allocate and release within steps, what of it is the same in each)."""
    short_lived = ShortLived(events, steps)
    return short_lived.churn(), short_lived.repeated()


def _most_at_once(begins: Ints, ends: Ints) -> int:
    """Most intervals that are open at a time; those that end as others begin are not."""
    begins, ends = np.sort(begins), np.sort(ends)
    return int((np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, side="right")).max())
