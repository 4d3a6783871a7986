"""What an allocator reserves beyond what is in use."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.formats.spilled_table import in_order
from aoe_reports.model.arrays.columns import Ints, exact_sum, has_value
from aoe_reports.model.topics.memory import Fragmentation
from aoe_reports.topics.memory.samples import known_in


def fragmentation_of(samples: pa.Table, unusable_bytes: int | None) -> Fragmentation | None:
    """Of one pool, by its samples as MEMORY_SAMPLE; None where what is reserved, or in use, is not recorded."""
    in_use = "active_bytes" if has_value(samples, "active_bytes") else "allocated_bytes"
    highest: tuple[int, int, int] | None = None
    most_used = reserved_again = count = 0
    before: Ints = np.zeros((2, 0), dtype=np.int64)
    for times, *values in known_in(in_order(samples, "sampled_ns"), "reserved_bytes", in_use):
        place = int(values[0].argmax())
        if highest is None or values[0][place] > highest[0]:
            highest = int(values[0][place]), int(times[place]), int(values[1][place])
        most_used = max(most_used, int(values[1].max()))
        reserved, used = together = np.concatenate([before, values], axis=1)
        rises = np.flatnonzero(reserved[1:] > reserved[:-1])
        asked, free = used[rises + 1] - used[rises], reserved[rises] - used[rises]
        avoidable = rises[(asked > 0) & (asked <= free)]
        reserved_again += exact_sum(reserved[avoidable + 1] - reserved[avoidable])
        count += len(avoidable)
        before = together[:, -1:]
    if highest is None:
        return None
    return Fragmentation(
        reserved_bytes=highest[0],
        at_ns=highest[1],
        used_bytes=highest[2],
        excess_bytes=highest[0] - most_used,
        reserved_by_fragmentation_bytes=reserved_again,
        fragmentation_rises=count,
        unusable_bytes=unusable_bytes,
    )
