"""Two modes of a series: nights that are now on one level, now on another, as clocks, caches and placements make them.

The values are cut in two where that leaves the least variance (Fisher 1958, "On grouping for maximum homogeneity"). They
are two modes when these lie far apart for their width. Values are natural logarithms of times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aoe_reports.stats.noise import FLOOR, Floats

MIN_NIGHTS = 20
"""Nights of which two modes can be told from one."""
MIN_SHARE = 0.1
"""Of the nights in the rarer mode: fewer are spikes."""
APART = 3.5
"""Widths that two modes lie apart at least: those of one bell cut in two lie 2.65 apart, of evenly spread values 3.46."""


ROUNDING = 1e-6
"""Share by which what many series show at a glance may differ from what one shows."""


class Modes(NamedTuple):
    """Where the two modes lie around their common mean, how wide one is, and the share of nights in the upper one."""

    mean: float
    lower: float
    upper: float
    sigma: float
    share: float


def find_modes(values: Floats, apart: float = APART, least_share: float = MIN_SHARE) -> Modes | None:
    """The two modes of values; None where they have one: modes nearer to each other, or one that is rarer."""
    count = len(values)
    if count < MIN_NIGHTS:
        return None
    ordered = np.sort(values)
    if _on_a_grid(ordered):
        return None
    cut = int(_cuts(ordered, np.cumsum(ordered), least_share))
    below, above = ordered[: cut + 1], ordered[cut + 1 :]
    squares = float(np.square(below - below.mean()).sum() + np.square(above - above.mean()).sum())
    sigma = max(float(np.sqrt(squares / (count - 2))), FLOOR)
    if above.mean() - below.mean() < apart * sigma:
        return None
    middle = float(values.mean())
    return Modes(middle, float(below.mean()) - middle, float(above.mean()) - middle, sigma, len(above) / count)


def may_have_modes(values: Floats) -> Any:
    """Which series (series, values) `find_modes` may find two modes in: at a glance, since most have one."""
    series, count = values.shape
    if count < MIN_NIGHTS:
        return np.zeros(series, dtype=bool)
    ordered = np.sort(values, axis=1)
    sums = np.cumsum(ordered, axis=1)
    cuts = _cuts(ordered, sums, MIN_SHARE)
    below, lower = np.take_along_axis(sums, cuts[:, None], axis=1)[:, 0], cuts + 1
    above, upper = sums[:, -1] - below, count - lower
    squares = np.square(ordered).sum(axis=1) - below * below / lower - above * above / upper
    sigma = np.maximum(np.sqrt(np.maximum(squares, 0.0) / (count - 2)), FLOOR)
    return (above / upper - below / lower >= (1 - ROUNDING) * APART * sigma) & ~_on_a_grid(ordered)


def _on_a_grid(ordered: Floats) -> Any:
    return (ordered[..., 1:] == ordered[..., :-1]).sum(axis=-1) > ordered.shape[-1] / 2


def _cuts(ordered: Floats, sums: Floats, least_share: float) -> Any:
    """The last index of the lower part of the split with the least variance, along the last axis."""
    count = ordered.shape[-1]
    lower, least = np.arange(1, count), max(int(np.ceil(least_share * count)), 3)
    between = np.square(sums[..., :-1] * (count / lower) - sums[..., -1:]) * lower / (count - lower)
    return least - 1 + between[..., least - 1 : count - least].argmax(axis=-1)
