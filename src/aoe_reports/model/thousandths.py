"""Numbers of three decimals, as counters are, in a quarter of the room: as whole thousandths, which are exactly as many."""

from __future__ import annotations

from typing import Any

import numpy as np

from aoe_reports.model.columns import Floats

_THOUSANDTHS = 1000


def narrowed(values: Floats) -> Any:
    """Numbers as int16 or int32 thousandths where these are exactly the same; else as they are."""
    with np.errstate(over="ignore"):
        whole = np.rint(values * _THOUSANDTHS)
    most = np.abs(whole).max(initial=0)
    for kind in (np.int16, np.int32):
        if most <= np.iinfo(kind).max and (whole / _THOUSANDTHS == values).all():
            return whole.astype(kind)
    return values


def widened(numbers: Any) -> Floats:
    """The numbers of which `narrowed` made these."""
    values: Floats = numbers.astype(np.float64)
    return values if numbers.dtype == np.float64 else values / _THOUSANDTHS
