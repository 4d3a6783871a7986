"""What an allocator reserves beyond what is in use."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import has_value
from aoe_reports.model.topics.memory import Fragmentation
from aoe_reports.topics.memory.growth import in_time


def fragmentation_of(samples: pa.Table, unusable_bytes: int | None) -> Fragmentation | None:
    """Of one pool, by its samples as MEMORY_SAMPLE; None where what is reserved, or in use, is not recorded."""
    in_use = "active_bytes" if has_value(samples, "active_bytes") else "allocated_bytes"
    times, reserved, used = in_time(samples, "reserved_bytes", in_use)
    if not len(times):
        return None
    highest = int(reserved.argmax())
    rises = np.flatnonzero(reserved[1:] > reserved[:-1])
    before, after = used[rises], used[rises + 1]
    avoidable = rises[(after > before) & (after - before <= reserved[rises] - before)]
    return Fragmentation(
        reserved_bytes=int(reserved[highest]),
        at_ns=int(times[highest]),
        used_bytes=int(used[highest]),
        excess_bytes=int(reserved[highest] - used.max()),
        reserved_by_fragmentation_bytes=int((reserved[avoidable + 1] - reserved[avoidable]).sum()),
        fragmentation_rises=len(avoidable),
        unusable_bytes=unusable_bytes,
    )
