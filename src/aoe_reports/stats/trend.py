"""Whether values in their order rise or fall: Mann (1945) and Kendall's test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_FEW = 32
"""So few values are compared pair by pair."""


def trend_score(values: Any) -> float:
    """Standard normal score of values without a trend: above 0 they rise, below they fall; 0 of fewer than two values."""
    count = len(values)
    if not count > 1:
        return 0.0
    score = _rising_pairs(np.asarray(values))
    scale = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return math.copysign(max(abs(score) - 1, 0.0), score) / scale


def _rising_pairs(values: Any) -> int:
    """Pairs of which the later value is larger less those of which it is smaller; halves first, then pairs across both."""
    if len(values) <= _FEW:
        return int(np.sign(values[None, :] - values[:, None])[np.triu_indices(len(values), 1)].sum())
    half = len(values) // 2
    earlier, later = np.sort(values[:half]), values[half:]
    larger = np.searchsorted(earlier, later, side="left").sum()
    smaller = (half - np.searchsorted(earlier, later, side="right")).sum()
    return _rising_pairs(values[:half]) + _rising_pairs(later) + int(larger - smaller)
