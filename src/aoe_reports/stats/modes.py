"""Two modes of a series: nights that are now on one level, now on another, as clocks, caches and placements make them.

The values are cut in two where that leaves the least variance (Fisher 1958, "On grouping for maximum homogeneity"). They
are two modes when these lie far apart for their width. Values are natural logarithms of times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aoe_reports.stats.noise import FLOOR, Floats

MIN_NIGHTS = 20
"""Nights of which two modes can be told from one."""
LEAST_SHARE = 0.1
"""Of the nights in the rarer mode: fewer are spikes."""
APART = 3.5
"""Widths that two modes lie apart at least: those of one bell cut in two lie 2.65 apart, of evenly spread values 3.46."""


class Modes(NamedTuple):
    """Where the two modes lie around their common mean, how wide one is, and the share of nights in the upper one."""

    mean: float
    lower: float
    upper: float
    sigma: float
    share: float


def find_modes(values: Floats, apart: float = APART, least_share: float = LEAST_SHARE) -> Modes | None:
    """The two modes of values; None where they have one: modes nearer to each other, or one that is rarer."""
    count = len(values)
    if count < MIN_NIGHTS:
        return None
    ordered = np.sort(values)
    if (ordered[1:] == ordered[:-1]).sum() > count / 2:
        return None  # a coarse timer: the steps of its grid are no modes
    sums, lower = np.cumsum(ordered), np.arange(1, count)
    least = max(int(np.ceil(least_share * count)), 3)
    between = np.square(sums[:-1] * (count / lower) - sums[-1]) * lower / (count - lower)
    cut = least - 1 + int(between[least - 1 : count - least].argmax())
    below, above = ordered[: cut + 1], ordered[cut + 1 :]
    squares = float(np.square(below - below.mean()).sum() + np.square(above - above.mean()).sum())
    sigma = max(float(np.sqrt(squares / (count - 2))), FLOOR)
    if above.mean() - below.mean() < apart * sigma:
        return None
    middle = float(values.mean())
    return Modes(middle, float(below.mean()) - middle, float(above.mean()) - middle, sigma, len(above) / count)
