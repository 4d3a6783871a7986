"""Memory that is allocated and released within a step, and the host's calls that take memory from the device."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints, codes, exact_sum, integers, places_by
from aoe_reports.model.topics.memory import Churn, Repeated
from aoe_reports.stats.grouping import quantile
from aoe_reports.topics.memory.growth import Steps, bounds_of

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
    """The allocations of one pool that are released in the step in which they are made."""

    def __init__(self, events: pa.Table, steps: Steps) -> None:
        """Events as MEMORY_EVENT, steps on their clock."""
        bounds, _ = bounds_of(steps)
        (allocated, begins), (released, ends) = (integers(events[name]) for name in ("allocated_ns", "released_ns"))
        step = np.searchsorted(bounds, allocated, side="right").astype(np.int32)
        inside = begins & ends & (step > 0) & (step < len(bounds))
        inside &= np.searchsorted(bounds, released, side="right").astype(np.int32) == step
        owners, self._names = codes(events["owner"])
        self._steps = len(steps)
        self._step, self._owners = step[inside], owners[inside]
        self._sizes, self._times = integers(events["size_bytes"])[0][inside], (allocated[inside], released[inside])

    def churn(self) -> tuple[Churn, ...]:
        """By owner, those with the most bytes first."""
        allocated, released = self._times
        found = [
            Churn(
                owner=self._names[owner - 1],
                allocations=len(places),
                bytes_per_step=exact_sum(self._sizes[places]) / self._steps,
                largest_bytes=int(self._sizes[places].max()),
                median_ns=quantile(np.sort(released[places] - allocated[places]), 0.5),
            )
            for owner, places in places_by(self._owners)
            if owner
        ]
        return tuple(sorted(found, key=lambda churn: (-churn.bytes_per_step, churn.owner)))

    def repeated(self) -> tuple[Repeated, ...]:
        """Those of an owner and a size that come in every step, by bytes."""
        if self._steps < MIN_STEPS:
            return ()
        found = []
        for owner, places in places_by(self._owners):
            large = places[self._sizes[places] >= MIN_REPEATED_BYTES] if owner else places[:0]
            for size, same in places_by(self._sizes[large]):
                rows = large[same]
                per_step = int(np.bincount(self._step[rows], minlength=self._steps + 1)[1:].min())
                if per_step:
                    found.append(
                        Repeated(
                            owner=self._names[owner - 1],
                            size_bytes=size,
                            per_step=per_step,
                            at_once=_most_at_once(*(times[rows] for times in self._times)),
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
