"""Where the savings went: what operators save of device time, and what of that makes a step shorter."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

import numpy as np

from aoe_reports.model.rows import column, fields_of, row
from aoe_reports.tuning.verify.sides import Both

T = TypeVar("T")


def rounded(value: float | None, digits: int) -> float | None:
    """A number with so many digits; null for one that is not finite."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits) + 0.0  # no -0.0


def rounded_row(one: T, digits: int) -> T:
    """A row whose numbers have so many digits."""
    told = {each.name: getattr(one, each.name) for each in fields_of(type(one))}
    floats = {name: rounded(value, digits) for name, value in told.items() if isinstance(value, float)}
    return replace(one, **floats)  # type: ignore[type-var]


@row
class Reconciliation:
    """Where the operators' savings went; us of a step, a saving is before - after.

    step_saving = operators + others - hidden_by_overlap + communication + free + unexplained
    """

    step_saving_us: float | None = column()
    claimed_us: float | None = column()
    """What the claims come to, over the calls of a step; null where none is about an operator of the profile."""
    operators_us: float = column()
    """What the tuned operators save of device time."""
    others_us: float = column()
    """What all other operators save."""
    hidden_by_overlap_us: float | None = column(default=None)
    """Device time that is saved where something else runs beside it, so that the step gains nothing."""
    communication_us: float | None = column(default=None)
    free_us: float | None = column(default=None)
    unexplained_us: float | None = column()


def reconcile(both: Both, claimed_share: Collection[tuple[int, float]], touched: Collection[int]) -> Reconciliation:
    """Put together what a step gained; `claimed_share`: (operator, time saved as a share) of each claim."""
    before, after = both.sides
    per_step = [
        totals.astype(np.float64) / side.shares.steps / 1000
        for totals, side in zip(both.totals, both.sides, strict=True)
    ]
    saved = per_step[0] - per_step[1]
    operators = float(saved[sorted(touched)].sum()) if touched else 0.0
    others = float(saved.sum()) - operators
    claimed = sum(share * float(per_step[0][group]) for group, share in claimed_share) if claimed_share else None
    step = None if before.step_us is None or after.step_us is None else before.step_us - after.step_us
    reconciliation = Reconciliation(
        step_saving_us=step,
        claimed_us=claimed,
        operators_us=operators,
        others_us=others,
        unexplained_us=None if step is None else step - operators - others,
    )
    communication, overlapped, free = (
        _saved(both, f"{name}_ns") for name in ("communication_not_overlapped", "overlapped", "free")
    )
    if communication is None or overlapped is None or free is None or step is None:
        return reconciliation
    beside = (_saved(both, "computing_ns") or 0.0) - operators - others
    hidden, communication = overlapped - beside, communication + overlapped
    return replace(
        reconciliation,
        hidden_by_overlap_us=hidden,
        communication_us=communication,
        free_us=free,
        unexplained_us=step - (operators + others - hidden + communication + free),
    )


def _saved(both: Both, name: str) -> float | None:
    """What one part of a step saves, in us; null if a profile does not contain it."""
    values = [getattr(side.shares, name) for side in both.sides]
    if None in values:
        return None
    before, after = both.sides
    return float(before.shares.per_step_us(values[0]) - after.shares.per_step_us(values[1]))
