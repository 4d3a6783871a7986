"""Whether values in their order rise or fall: Mann (1945) and Kendall's test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def trend_score(values: Any) -> float:
    """Standard normal score of values without a trend: above 0 they rise, below they fall; at least two values."""
    count = len(values)
    later = np.triu_indices(count, 1)
    score = float(np.sign(np.subtract.outer(values, values).T[later]).sum())
    scale = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return math.copysign(max(abs(score) - 1, 0.0), score) / scale
