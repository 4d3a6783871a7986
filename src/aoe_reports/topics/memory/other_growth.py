"""What grows beside the pool whose peak is taken apart: components of CANN, other allocators, the process where none of its parts grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.topics.memory import Growth
from aoe_reports.topics.memory.growth import Steps, growth_of_reserved, steps_within

if TYPE_CHECKING:
    from aoe_reports.topics.memory.samples import Samples

PROGRAM = "APP"
"""The component, and the process, that what all allocators reserve is part of."""


def growth_beside(pool: Samples, of_pool: Sequence[Growth], every: Sequence[Samples], steps: Steps) -> list[Growth]:
    """What other samples of the device reserve more from step to step; sums only where nothing grows that is part of them.

    An allocator is sampled when anything happens, so that a recording is as long as that of all allocators of its source. Others are sampled from time
    to time: what they had at the start of a step is known from the first sample on.
    """
    recorded_at = {
        place: (min(one.first_ns for one in together), max(one.last_ns for one in together))
        for place, together in lists_by_key(((one.source, one.scope), one) for one in every).items()
    }
    grown = [*of_pool]
    others = [one for one in every if one.component not in {pool.component, *pool.component.split("+")}]
    for one in sorted(others, key=_is_sum):
        first, last = recorded_at[one.source, one.scope]
        within = [step for step in steps_within(steps, first, last) if one.scope == "allocator" or step[1] >= first]
        rows = growth_of_reserved(one.rows, within, one.component)
        is_known = any(row.component == one.component or (_is_sum(one) and _lasts(row)) for row in grown)
        grown += [] if is_known else [row for row in rows if _lasts(row) or not _is_sum(one)]
    return grown[len(of_pool) :]


def _is_sum(samples: Samples) -> bool:
    return samples.scope in {"process", "device"} or samples.component == PROGRAM


def _lasts(growth: Growth) -> bool:
    return growth.meaning != "warm-up"
