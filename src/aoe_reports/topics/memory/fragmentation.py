"""What an allocator reserves beyond what is in use."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints, Mask, integers
from aoe_reports.model.topics.memory import Fragmentation


def fragmentation_of(samples: pa.Table, unusable_bytes: int | None) -> Fragmentation | None:
    """Of one pool, by its samples as MEMORY_SAMPLE; None where what is reserved, or in use, is not recorded."""
    (reserved, has_reserved), (used, has_used) = integers(samples["reserved_bytes"]), _in_use(samples)
    both = has_reserved & has_used
    if not both.any():
        return None
    times, _ = integers(samples["sampled_ns"])
    if not both.all():
        times, reserved, used = times[both], reserved[both], used[both]
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, reserved, used = times[order], reserved[order], used[order]
    highest = int(reserved.argmax())
    rises = np.flatnonzero((reserved[1:] > reserved[:-1]) & (used[1:] > used[:-1]))
    taken, wanted = reserved[rises + 1] - reserved[rises], used[rises + 1] - used[rises]
    in_vain = wanted <= reserved[rises] - used[rises]
    return Fragmentation(
        reserved_bytes=int(reserved[highest]),
        at_ns=int(times[highest]),
        used_bytes=int(used[highest]),
        excess_bytes=int(reserved[highest] - used.max()),
        in_vain_bytes=int(taken[in_vain].sum()),
        in_vain=int(np.count_nonzero(in_vain)),
        unusable_bytes=unusable_bytes,
    )


def _in_use(samples: pa.Table) -> tuple[Ints, Mask]:
    """Active where that is recorded, else allocated."""
    active = integers(samples["active_bytes"])
    return active if active[1].any() else integers(samples["allocated_bytes"])
