"""A look at the times of a timeline before something is cut from it: from when to when it lasts, and the ranges of some names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aoe_reports.formats.trace.texts import Window, times_of


@dataclass(slots=True)
class Survey:
    """What the events of a file tell of times, all in ns."""

    prefix: str
    """What the names of ranges that are wanted begin with."""
    start_ns: int | None = None
    end_ns: int | None = None
    ranges: list[tuple[str, int, int]] = field(default_factory=list)
    """(name, start, end) of each such range, in the order of the file."""
    _start_us: float = np.inf
    _end_us: float = -np.inf

    def take(self, window: Window) -> None:
        """Take in some events."""
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
        """Take in what another file of the same capture tells."""
        self.ranges += other.ranges
        times = [time for time in (self.start_ns, other.start_ns) if time is not None]
        self.start_ns = min(times, default=None)
        times = [time for time in (self.end_ns, other.end_ns) if time is not None]
        self.end_ns = max(times, default=None)
