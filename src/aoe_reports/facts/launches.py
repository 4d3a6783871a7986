"""When tasks of a device were launched: how long they took to begin, and how many waited at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aoe_reports.model.columns import Ints, Mask, exact_sum

_LATE_LAUNCHES = 100
"""One in so many launches may seem to be quicker than the clocks of host and device allow: those are mistaken, and left out."""
_MEDIAN, _HIGH = 0.5, 0.95


def clocks_of(lags: Ints, known: Mask, busy: Mask) -> tuple[int, int]:
    """(by how much the host's clock is to be moved, the least time that a launch takes then).

    No task begins before it is launched; of those of many launches the least may be mistaken.
    """
    told = lags[known & busy] if (known & busy).any() else lags[known]
    place = (len(told) - 1) // _LATE_LAUNCHES
    least = int(np.partition(told, place)[place]) if len(told) else 0
    return min(least, 0), max(least, 0)


@dataclass(frozen=True, slots=True)
class Queue:
    """What waited between two moments of each entry: how long each did, and how many did at a time; times in ns."""

    entries: int
    p50_ns: int
    p95_ns: int
    longest_ns: int
    waited_ns: int
    """All waits together, which is the length of the queue summed over time."""
    span_ns: int
    """From the first entry to the last exit."""
    empty_ns: int
    """For how much of that nothing waited."""
    most: int
    """How many waited at a time at most; what leaves when another enters does not wait beside it."""

    @property
    def mean_length(self) -> float | None:
        """How many waited at a time, on average; null where all happens at one moment."""
        return self.waited_ns / self.span_ns if self.span_ns else None

    @property
    def empty_share(self) -> float | None:
        """For which part of the time nothing waited."""
        return self.empty_ns / self.span_ns if self.span_ns else None


def queue_of(entered: Ints, left: Ints) -> Queue | None:
    """The queue that entries with these times pass through, swept exactly; None without any. None leaves before it entered."""
    if not len(entered):
        return None
    waits = left - entered
    every = np.concatenate([entered, left])
    order = np.argsort(every, kind="stable")
    moments, length = every[order], np.cumsum(np.where(order < len(entered), 1, -1))[:-1]
    lasting = np.diff(moments)  # nothing between what enters or leaves at one moment
    return Queue(
        entries=len(entered),
        p50_ns=_at(waits, _MEDIAN),
        p95_ns=_at(waits, _HIGH),
        longest_ns=int(waits.max()),
        waited_ns=exact_sum(waits),
        span_ns=int(moments[-1] - moments[0]),
        empty_ns=exact_sum(lasting[length == 0]),
        most=int(length.max(initial=0, where=lasting > 0)),
    )


def _at(values: Ints, share: float) -> int:
    """The least value that this share of all does not exceed."""
    place = max(int(np.ceil(share * len(values))) - 1, 0)
    return int(np.partition(values, place)[place])
