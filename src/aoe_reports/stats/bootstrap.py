"""The bootstrap: how far a mean may lie from what was measured, by drawing from the measured values again and again.

Draws have fixed seeds and are the same for all groups of a size, so that the order of groups changes nothing. Single values are drawn
by their places; blocks by how often each is drawn, so that sums of blocks of many groups are resampled in one product.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.stats.grouping import quantile

SEED = 20260101
MIN_VALUES = 5
"""With fewer values a resampled mean says next to nothing of the spread."""

_MIN_KNOWN = 0.9
"""Something that is missing in more of the resamples stands in too few blocks."""


@lru_cache(maxsize=32)
def places_drawn(side: int, size: int, resamples: int) -> Any:
    """Which values make up each resample of one side: the same for all groups of a size, others for each side."""
    kind: Any = np.uint16
    return np.random.default_rng((SEED, side, size)).integers(0, size, (resamples, size), dtype=kind)


@lru_cache(maxsize=128)
def times_drawn(side: int, size: int, resamples: int) -> Any:
    """How often each block is in each resample of one side."""
    generator = np.random.default_rng((SEED, side, size))
    return generator.multinomial(size, [1 / size] * size, resamples).astype(np.float64)


def means_drawn(side: int, values: Any, resamples: int, *, most: int) -> Any:
    """Resampled means of single values; of more than `most` of them by the normal distribution that they are near to then."""
    if len(values) > most:
        error = float(values.std()) / len(values) ** 0.5
        return np.random.default_rng((SEED, side)).normal(float(values.mean()), error, resamples)
    return times_drawn(side, len(values), resamples) @ values / len(values)


def difference_of_means(before: Ints, after: Ints, *, level: float, resamples: int) -> tuple[float, float]:
    """Where the difference of two means lies, by single values; they are sorted, so that their order changes nothing."""
    sides = (before.astype(np.float64), after.astype(np.float64))
    means = [side[places_drawn(place, len(side), resamples)].mean(axis=1) for place, side in enumerate(sides)]
    low, high = np.quantile(means[1] - means[0], [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def widened_percentiles(drawn: Any, size: int, *, level: float) -> tuple[float, float] | None:
    """The percentile interval, made wider for few blocks: a resample varies by less than a new sample would."""
    known = np.sort(drawn[np.isfinite(drawn)])
    if len(known) < _MIN_KNOWN * len(drawn):
        return None
    low, middle, high = (quantile(known, part) for part in ((1 - level) / 2, 0.5, (1 + level) / 2))
    z, free = NormalDist().inv_cdf((1 + level) / 2), size - 1
    # Student's quantile over the normal one, unbiased
    wider = student_quantile(z, free) / z * float((size / free) ** 0.5)
    return middle - (middle - low) * wider, middle + (high - middle) * wider


def student_quantile(z: float, free: float) -> float:
    """Student's quantile with so many degrees of freedom where the normal one is `z`; within 4 % from 3 on."""
    student = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    student += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)  # Cornish and Fisher's expansion
    return float(student)
