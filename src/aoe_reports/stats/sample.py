"""Statistics that several layers need: sample mean and spread, median, robust deviation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

MAD_TO_SIGMA = 1.4826
"""Turns a median absolute deviation into a standard deviation, for normal noise."""


def sample_std(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation; null for fewer than two values."""
    if len(values) < 2:  # noqa: PLR2004 -- one value has no spread
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def robust_sigma(values: Sequence[float]) -> float:
    """Return the spread of most of the values, blind to a few outliers."""
    middle = median(values)
    return MAD_TO_SIGMA * median(abs(value - middle) for value in values)
