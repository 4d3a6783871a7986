"""Numbers of three decimals, as counters are, in a quarter of the room: as whole thousandths, which are exactly as many."""

from __future__ import annotations

from typing import Any

import numpy as np

from aoe_reports.model.arrays.columns import Floats

_THOUSANDTHS = 1000
_AT_ONCE = 1 << 15
"""Numbers that fit into the processor's cache with all intermediate arrays."""


def narrowed(values: Floats) -> Any:
    """Numbers as int16 or int32 thousandths where these are exactly the same; else as they are."""
    parts = [values[first : first + _AT_ONCE] for first in range(0, len(values), _AT_ONCE)]
    whole: Any = np.empty(len(values), dtype=np.int16)
    for number, part in enumerate(parts):
        thousandths = _thousandths(part)
        if thousandths is None:
            return values
        if thousandths.dtype.itemsize > whole.dtype.itemsize:
            whole = whole.astype(thousandths.dtype)
        whole[number * _AT_ONCE : number * _AT_ONCE + len(part)] = thousandths
    return whole


def _thousandths(values: Floats) -> Any:
    """A few numbers as thousandths; None where these are not the same, or too many."""
    with np.errstate(over="ignore"):
        whole = np.rint(values * _THOUSANDTHS)
    most = np.abs(whole).max(initial=0)
    for kind in (np.int16, np.int32):
        if most <= np.iinfo(kind).max:
            return whole.astype(kind) if (whole / _THOUSANDTHS == values).all() else None
    return None


def widened(numbers: Any) -> Floats:
    """The inverse of `narrowed`."""
    values: Floats = numbers.astype(np.float64)
    return values if numbers.dtype == np.float64 else np.divide(values, _THOUSANDTHS, out=values)
