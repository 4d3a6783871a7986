"""What says that the tuned bank was not in use when the second profile was taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aoe_reports.model.columns import has_value, integers
from aoe_reports.model.texts import say
from aoe_reports.tuning.verdict_rows import Row
from aoe_reports.tuning.verdict_sides import Both


def signs_of(operators: Sequence[Row], together: Row | None, both: Both, groups: Sequence[int]) -> tuple[str, ...]:
    """What says that the tuned bank was not in use when the second profile was taken."""
    if together is None or together.verdict != "not-reproduced":
        return ()
    rows = [row for row in operators if row.verdict != "not-comparable"]
    far = [row for row in rows if row.claimed_change is not None and (row.ci_low or 0.0) > row.claimed_change]
    if not far or any(row.verdict == "confirmed" for row in rows):
        return ()
    blocks = _block_changes(both, groups)
    if blocks:
        return ()  # other kernels ran: the bank was in use, and brought nothing
    return (
        say(
            (
                "the {count} tuned operators that were measured again are not faster in total, and {far} of them are "
                "certainly not as fast as claimed"
            ),
            count=len(rows),
            far=len(far),
        ),
        say("the profiles do not contain block counts, so it is not known whether other kernels ran")
        if blocks is None
        else say("all of them use the same number of blocks as before: the kernels are the same"),
    )


def _block_changes(both: Both, groups: Sequence[int]) -> int | None:
    """How many operators run on another number of blocks than before; null where nothing tells."""
    if not groups or not all(has_value(side.frame, "block_num") for side in both.sides):
        return None
    means = []
    for number, side in enumerate(both.sides):
        blocks, there = integers(side.frame["block_num"])
        of, count = both.groups_of[number], both.names.count
        sums = np.bincount(of, weights=np.where(there, blocks, 0).astype(np.float64), minlength=count)
        means.append(sums / np.maximum(np.bincount(of, minlength=count), 1))
    chosen = list(groups)
    return int((means[0][chosen] != means[1][chosen]).sum())
